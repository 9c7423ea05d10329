#include "platform/utilisation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "weft/warp_formation/warp_formation.h"

namespace weft {
namespace {

using statistics::Entry;
using statistics::Group;
using statistics::Path;
using warp_formation::Stall;

// From here on a resource that moves one thing after the other is called saturated. A memory channel loses
// more than others to turn-rounds, refreshes and what its banks cannot overlap.
constexpr double kSaturated = 0.8, kDramSaturated = 0.65;
// Packets that wait behind others that go elsewhere keep an interface from being busier (with many inputs, 59
// % [Karol et al., 1987]), so a network is saturated from here on if most packets find it full.
constexpr double kNetworkSaturated = 0.5, kHeldUp = 0.5;
// A table of entries that is full for so long holds up what is before it.
constexpr double kFull = 0.5;

std::string percent(double share) {
  return std::to_string(std::lround(share * 100)) + " %";
}

class Collector {
 public:
  Collector(const Group& root, double cycles) : root_(root), cycles_(cycles) {}

  // What the paths name together are the instances; `speed`: cycles of their clock per core cycle.
  void add(const char* key, const char* name, Utilisation::Kind kind, double speed,
           std::initializer_list<Path> paths) {
    std::vector<double> busy;
    std::size_t first = 0;
    for (const Path& path : paths) {
      const auto entries = root_.find(path);
      busy.resize(std::max(busy.size(), first + entries.size()), 0);
      for (std::size_t i = 0; i < entries.size(); ++i) busy[first + i] += entries[i]->value();
    }
    add(key, name, kind, speed, busy);
  }
  void add(const char* key, const char* name, Utilisation::Kind kind, double speed,
           const std::vector<double>& busy) {
    if (busy.empty() || cycles_ == 0) return;
    Utilisation of{key, name, kind, busy.size(), 0, 0, 0, 0};
    if (kind == Utilisation::Kind::kNetwork) of.held_up = held_up_;
    for (std::size_t i = 0; i < busy.size(); ++i) {
      const double share = busy[i] / (cycles_ * speed);
      of.mean += share / static_cast<double>(busy.size());
      if (share > of.busiest) {
        of.busiest = share;
        of.which = i;
      }
    }
    all_.push_back(std::move(of));
  }
  // Of the networks that are added next.
  void held_up(std::uint64_t packets, std::uint64_t all) {
    held_up_ = all == 0 ? 0 : static_cast<double>(packets) / static_cast<double>(all);
  }
  std::vector<Utilisation> take() { return std::move(all_); }

 private:
  const Group& root_;
  const double cycles_;
  double held_up_ = 0;
  std::vector<Utilisation> all_;
};

// Of each channel, the time that its activates need at least: one after the other in a bank, and from bank to
// bank. What is left of a row's time for column commands is not in it.
std::vector<double> row_cycles(const Group& root, const dram::Timing& timing) {
  std::vector<double> cycles;
  for (const Entry* entry : root.find({"dram", "bank_activates"})) {
    std::uint64_t all = 0, most = 0;
    for (const std::uint64_t bank : *entry->histogram) {
      all += bank;
      most = std::max(most, bank);
    }
    cycles.push_back(static_cast<double>(std::max(all * timing.rrd, most * timing.rc)));
  }
  return cycles;
}

// What schedulers did instead of issuing, the two most frequent.
std::string waits(const Group& root) {
  static constexpr std::array<const char*, warp_formation::kStalls> kWords = {
      "issuing",
      "waiting for a unit",
      "waiting for the load-store unit",
      "waiting for loads",
      "waiting for arithmetic",
      "waiting for branches",
      "waiting for code",
      "waiting at block barriers",
      "waiting for threads of the warp",
      "in the scheme's tables",
      "without threads"};
  std::array<std::pair<double, unsigned>, warp_formation::kStalls> shares;
  double sum = 0;
  for (unsigned b = 0; b < warp_formation::kStalls; ++b) {
    const double cycles = static_cast<double>(
        root.sum({"sm", "scheduler", "cycles", bucket_name(static_cast<Stall>(b))}).value());
    sum += cycles;
    shares[b] = {static_cast<Stall>(b) == Stall::kNone ? 0 : cycles, b};
  }
  if (sum == 0) return "";
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (unsigned i = 0; i < 2; ++i) {
    if (shares[i].first / sum < 0.01) continue;
    text += (text.empty() ? "" : ", ") + percent(shares[i].first / sum) + " " + kWords[shares[i].second];
  }
  return text;
}

std::string of_instances(const Utilisation& u) {
  if (u.instances == 1) return "";
  return " (busiest of " + std::to_string(u.instances) + "; mean " + percent(u.mean) + ")";
}

}  // namespace

std::vector<Utilisation> utilisation_of(const Group& root, const GpuConfig& config, std::uint64_t cycles) {
  using Kind = Utilisation::Kind;
  const double interconnect = config.clocks.interconnect_mhz / config.clocks.core_mhz,
               memory = config.clocks.memory_mhz / config.clocks.core_mhz;
  Collector all(root, static_cast<double>(cycles));
  all.add("issue_port", "issue port", Kind::kWork, static_cast<double>(config.sm.issue_width),
          {{"sm", "scheduler", "port_cycles"}});
  all.add("simd", "SIMD group", Kind::kWork, 1, {{"sm", "simd_group", "busy_cycles"}});
  all.add("lane", "lane", Kind::kWork, 1, {{"sm", "lane", "busy_cycles"}});
  all.add("sfu", "SFU", Kind::kWork, 1, {{"sm", "sfu_group", "busy_cycles"}});
  all.add("sfu", "SFU", Kind::kWork, static_cast<double>(config.sm.sfu_groups * config.sm.sfu_width),
          {{"sm", "special_functions", "thread_instructions"}});
  all.add("int32_unit", "integer unit", Kind::kWork, 1, {{"sm", "int32_unit", "busy_cycles"}});
  all.add("fp32_unit", "single-precision unit", Kind::kWork, 1, {{"sm", "fp32_unit", "busy_cycles"}});
  all.add("fp64_unit", "double-precision unit", Kind::kWork, 1, {{"sm", "fp64_unit", "busy_cycles"}});
  all.add("sfu_unit", "special-function unit", Kind::kWork, 1, {{"sm", "sfu_unit", "busy_cycles"}});
  all.add("scalar_unit", "scalar unit", Kind::kWork, 1, {{"sm", "scalar_unit", "busy_cycles"}});
  all.add("load_store_port", "load-store port", Kind::kWork, 1, {{"sm", "load_store_port", "busy_cycles"}});
  all.add("load_store_unit", "load-store unit", Kind::kWork, 1,
          {{"sm", "memory", "request_cycles"},
           {"sm", "memory", "shared_cycles"},
           {"sm", "memory", "texture_cycles"}});
  all.add("l1_mshrs", "L1 MSHRs", Kind::kTable, 1, {{"sm", "memory", "l1d", "mshr", "full_cycles"}});
  all.add("texture_mshrs", "texture MSHRs", Kind::kTable, 1,
          {{"sm", "memory", "l1t", "mshr", "full_cycles"}});
  const auto packets = [&root](const char* name) { return root.sum({"crossbar", name}).value(); };
  all.held_up(packets("request_stalls"), packets("request_packets"));
  all.add("crossbar_request_in", "crossbar from SMs", Kind::kNetwork, interconnect,
          {{"crossbar", "interface", "request_flits"}});
  all.add("crossbar_request_out", "crossbar to memory", Kind::kNetwork, interconnect,
          {{"crossbar", "port", "request_flits"}});
  all.add("l2_bank", "L2 bank", Kind::kWork, interconnect,
          {{"l2", "lookup_cycles"}, {"l2", "atomic_cycles"}});
  all.held_up(packets("response_stalls"), packets("response_packets"));
  all.add("crossbar_response_in", "crossbar from memory", Kind::kNetwork, interconnect,
          {{"crossbar", "port", "response_flits"}});
  all.add("crossbar_response_out", "crossbar to SMs", Kind::kNetwork, interconnect,
          {{"crossbar", "interface", "response_flits"}});
  all.add("dram_bus", "DRAM bus", Kind::kDram, memory, {{"dram", "data_cycles"}});
  all.add("dram_rows", "DRAM rows", Kind::kDram, memory,
          row_cycles(root, config.dram.channel.scheduler.timing));
  return all.take();
}

// A full table may be the queue in front of something that is saturated, so the things that work go first.
Bound bound_of(const std::vector<Utilisation>& utilisation, const Group& root) {
  const Utilisation *most = nullptr, *bound = nullptr;
  const auto limit = [](const Utilisation& u) {
    return u.kind == Utilisation::Kind::kTable                             ? kFull
           : u.kind == Utilisation::Kind::kDram                            ? kDramSaturated
           : u.kind == Utilisation::Kind::kNetwork && u.held_up >= kHeldUp ? kNetworkSaturated
                                                                           : kSaturated;
  };
  for (const bool tables : {false, true}) {
    for (const Utilisation& u : utilisation) {
      if ((u.kind == Utilisation::Kind::kTable) != tables) continue;
      if (!tables && (most == nullptr || u.busiest > most->busiest)) most = &u;
      if (u.busiest < limit(u)) continue;
      if (bound == nullptr || u.busiest / limit(u) > bound->busiest / limit(*bound)) bound = &u;
    }
    if (bound != nullptr) break;
  }
  if (most == nullptr) return {};
  if (bound != nullptr) {
    const std::string held_up =
        bound->held_up >= kHeldUp ? ", " + percent(bound->held_up) + " of the packets held up" : "";
    const bool table = bound->kind == Utilisation::Kind::kTable;
    return {bound->key, bound->busiest, std::string(bound->name) + " " + percent(bound->busiest),
            std::string(bound->name) + ", " + percent(bound->busiest) +
                (table ? " of the time full" : " busy") + held_up + of_instances(*bound),
            ""};
  }
  const std::string nearest = std::string(most->name) + " " + percent(most->busiest);
  return {"latency", most->busiest, "latency (" + nearest + ")",
          "latency: no part is saturated; the busiest is the " + std::string(most->name) + ", " +
              percent(most->busiest) + of_instances(*most),
          waits(root)};
}

}  // namespace weft
