#include "platform/sm_columns.h"

#include <ostream>

namespace weft {

using statistics::Entry;
using statistics::Path;
using statistics::Sum;
using warp_formation::Stall;

statistics::Columns sm_columns(const std::vector<const statistics::Group*>& sms) {
  statistics::Columns columns;
  const auto add = [&](std::string name, Path path) {
    Sum sum;
    for (const statistics::Group* sm : sms) sum += sm->sum(path);
    columns.push_back({std::move(name), std::move(sum)});
  };
  add("thread_instructions", {"thread_instructions"});
  add("executed_thread_instructions", {"executed_thread_instructions"});
  add("warp_instructions", {"warp_instructions"});
  add("active_beats", {"active_beats"});
  add("active_lanes", {"active_lanes"});
  add("blocks", {"blocks_launched"});
  add("threads", {"threads_launched"});
  add("memory_thread_instructions", {"memory", "memory_thread_instructions"});
  add("data_requests", {"memory", "data_requests"});
  add("write_bytes", {"memory", "write_bytes"});
  add("l1d_accesses", {"memory", "l1d", "accesses"});
  add("l1d_hits", {"memory", "l1d", "hits"});
  add("shared_accesses", {"memory", "shared_accesses"});
  add("shared_conflict_cycles", {"memory", "shared_conflict_cycles"});
  add("held_cycles", {"scheduler", "held_cycles"});
  add("lane_cycles", {"scheduler", "lane_cycles"});
  add("no_ready_cycles", {"scheduler", "no_ready_cycles"});
  add("memory_blocked_cycles", {"scheduler", "memory_blocked_cycles"});
  for (unsigned b = 0; b < warp_formation::kStalls; ++b) {
    const char* const bucket = bucket_name(static_cast<Stall>(b));
    add(std::string("cycles_") + bucket, {"scheduler", "cycles", bucket});
  }
  for (const char* const group : {"scalar", "lanes", "stalled"}) {
    for (const statistics::Group* of : sms.front()->groups({group})) {
      for (const auto& node : of->nodes()) {
        if (node.entry == nullptr || node.entry->kind != Entry::Kind::kCounter) continue;
        if (node.entry->quantity != statistics::Quantity::kSum) continue;
        add(group + ("_" + std::string(node.entry->name)), {group, node.entry->name});
      }
    }
  }
  for (const statistics::Group* lane : sms.front()->groups({"lane"})) {
    for (const auto& node : lane->nodes()) {
      const std::string_view name = node.entry->name;
      add(lane->name() + "_" + std::string(name), {{"lane", *lane->index()}, name});
    }
  }
  return columns;
}

namespace {

double ratio(std::uint64_t part, double whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / whole;
}

}  // namespace

std::uint64_t SmValues::scheduler_cycles() const {
  std::uint64_t sum = 0;
  for (unsigned b = 0; b < warp_formation::kStalls; ++b) sum += bucket(static_cast<Stall>(b));
  return sum;
}

double SmValues::ipc(std::uint64_t cycles) const {
  return ratio((*this)[SmColumn::kThreadInstructions], static_cast<double>(cycles));
}

double SmValues::lane_activity(std::uint64_t lanes) const {
  const double beats = static_cast<double>((*this)[SmColumn::kActiveBeats]);
  return ratio((*this)[SmColumn::kActiveLanes], beats * static_cast<double>(lanes));
}

double SmValues::idle_share() const {
  return ratio((*this)[SmColumn::kNoReadyCycles], held());
}

double SmValues::idle_share_blocked() const {
  return ratio((*this)[SmColumn::kNoReadyCycles] + (*this)[SmColumn::kMemoryBlockedCycles], held());
}

double SmValues::idle_share_k(const Beats& beats) const {
  if (held() == 0) return 0;
  return 1 - ratio((*this)[SmColumn::kActiveBeats], held() * static_cast<double>(beats.in_a_cycle));
}

double SmValues::depth_utilisation() const {
  return ratio((*this)[SmColumn::kLaneCycles], held());
}

double SmValues::coalescing_rate() const {
  return ratio((*this)[SmColumn::kMemoryThreads], static_cast<double>((*this)[SmColumn::kDataRequests]));
}

std::string share_names() {
  return "ipc,lane_activity,idle_share,idle_share_blocked,idle_share_k,depth_utilisation,coalescing_rate";
}

void write_shares(std::ostream& out, const SmValues& values, std::uint64_t cycles, const Beats& beats) {
  out << values.ipc(cycles) << "," << values.lane_activity(beats.lanes) << "," << values.idle_share() << ","
      << values.idle_share_blocked() << "," << values.idle_share_k(beats) << "," << values.depth_utilisation()
      << "," << values.coalescing_rate();
}

}  // namespace weft
