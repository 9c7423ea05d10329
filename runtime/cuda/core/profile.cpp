#include "runtime/cuda/core/profile.h"

#include <algorithm>
#include <cerrno>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "common/demangle.h"
#include "common/digest.h"
#include "common/output_files.h"
#include "measures/measures.h"
#include "runtime/characteristics.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/simulator.h"
#include "runtime/kernels_json.h"
#include "weft/platform/gpu.h"
#include "weft/runtime/device.h"
#include "weft/warp_formation/plugins.h"

namespace weft::cuda {
namespace {

using nlohmann::ordered_json;

const char* kind_name(Activity::Kind kind) {
  switch (kind) {
    case Activity::Kind::kKernel:
      return "kernel";
    case Activity::Kind::kHostToDevice:
      return "[copy host to device]";
    case Activity::Kind::kDeviceToHost:
      return "[copy device to host]";
    case Activity::Kind::kDeviceToDevice:
      return "[copy device to device]";
    case Activity::Kind::kHostToHost:
      return "[copy host to host]";
    case Activity::Kind::kFill:
      return "[fill]";
  }
  return "";
}

std::string readable(const Activity& activity) {
  return activity.kind == Activity::Kind::kKernel ? demangled_name(activity.name) : kind_name(activity.kind);
}

// "1.234us": four digits.
std::string duration(double picoseconds) {
  if (picoseconds == 0) return "-";
  static constexpr const char* kUnits[] = {"ps", "ns", "us", "ms", "s"};
  unsigned unit = 0;
  for (; picoseconds >= 1000 && unit + 1 < std::size(kUnits); ++unit) picoseconds /= 1000;
  std::ostringstream text;
  text << std::fixed
       << std::setprecision(picoseconds >= 100  ? 1
                            : picoseconds >= 10 ? 2
                                                : 3)
       << picoseconds << kUnits[unit];
  return text.str();
}

ordered_json size_json(const dim3& size) {
  return {size.x, size.y, size.z};
}

ordered_json counts_json(const Activity::Counts& counts) {
  ordered_json json{{"cycles", counts.cycles},
                    {"thread_instructions", counts.thread_instructions},
                    {"warp_instructions", counts.warp_instructions}};
  const measures::Definition& ipc_row = measures::get("ipc");
  json[ipc_row.name] = measures::value_of(ipc_row, [&](const measures::Counter& counter) {
                         return std::optional(static_cast<double>(
                             &counter == &measures::kCycles ? counts.cycles : counts.thread_instructions));
                       }).value_or(0);
  return json;
}

ordered_json record_json(const Activity& activity) {
  ordered_json json{{"name", readable(activity)},
                    {"stream", activity.stream},
                    {"start_ns", static_cast<double>(activity.start) / 1000},
                    {"duration_ns", static_cast<double>(activity.duration) / 1000}};
  if (activity.kind == Activity::Kind::kKernel) {
    json["grid"] = size_json(activity.grid);
    json["block"] = size_json(activity.block);
    json.update(counts_json(activity.counts));
    if (activity.overlaps) {
      for (const char* unknown : {"thread_instructions", "warp_instructions", "ipc"}) json[unknown] = nullptr;
    }
  } else {
    json["bytes"] = activity.bytes;
  }
  if (activity.launch != 0) json["launch"] = activity.launch;
  if (activity.launch != 0 || !activity.timed) json["timed"] = activity.timed;
  return json;
}

}  // namespace

Profile::Counts Profile::counts(runtime::Device& device) {
  const Progress timed = device.gpu().progress();
  const Totals totals = device.gpu().totals();
  const functional::Counters& functional = device.functional_counters();
  return {timed.cycles, totals.thread_instructions + functional.thread_instructions,
          totals.warp_instructions + functional.warp_instructions};
}

// Kernels arrive in the order of their ends. One that began before another ended shares the machine with it:
// whose instructions are whose is not known then, neither of this one nor of those.
void Profile::count_instructions(Activity& activity) {
  activity.overlaps = activity.start < last_end_;
  if (!activity.overlaps) {
    const Counts mine = activity.up_to_its_end - last_;
    activity.counts.thread_instructions = mine.thread_instructions;
    activity.counts.warp_instructions = mine.warp_instructions;
  }
  for (auto other = records_.rbegin(); other != records_.rend(); ++other) {
    if (other->kind != Activity::Kind::kKernel) continue;
    if (other->end() <= activity.start) break;
    if (other->overlaps) continue;
    other->overlaps = true;
    Counts& sum = counts_of(sums_[readable(*other)], *other);
    sum.thread_instructions -= other->counts.thread_instructions;
    sum.warp_instructions -= other->counts.warp_instructions;
    other->counts.thread_instructions = other->counts.warp_instructions = 0;
  }
  last_ = activity.up_to_its_end;
  last_end_ = activity.end();
}

void Profile::add(Activity activity) {
  if (activity.kind == Activity::Kind::kKernel) count_instructions(activity);
  Sum& sum = sums_[readable(activity)];
  sum.kind = activity.kind;
  if (activity.timed) {
    ++sum.calls;
    sum.total += activity.duration;
    sum.least = std::min(sum.least, activity.duration);
    sum.most = std::max(sum.most, activity.duration);
  } else {
    ++sum.untimed_calls;
  }
  sum.bytes += activity.bytes;
  Counts& counts = counts_of(sum, activity);
  counts.cycles += activity.counts.cycles;
  counts.thread_instructions += activity.counts.thread_instructions;
  counts.warp_instructions += activity.counts.warp_instructions;
  if (records_.size() < kMostRecords) {
    records_.push_back(std::move(activity));
  } else {
    ++left_out_;
  }
}

std::string Profile::summary() const {
  std::vector<std::pair<std::string, Sum>> rows(sums_.begin(), sums_.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  double total = 0;
  for (const auto& [name, sum] : rows) total += static_cast<double>(sum.total);
  std::ostringstream out;
  const auto cells = [&](const std::string& share, const std::string& time, const std::string& calls,
                         const std::string& average, const std::string& least, const std::string& most,
                         const std::string& name) {
    out << std::right << std::setw(8) << share << std::setw(11) << time << std::setw(9) << calls
        << std::setw(11) << average << std::setw(11) << least << std::setw(11) << most << "  " << name
        << "\n";
  };
  out << "weft: simulated time of the device by activity\n";
  if (!note_.empty()) out << "weft: " << note_ << "\n";
  cells("Share", "Time", "Calls", "Avg", "Min", "Max", "Name");
  for (const auto& [name, sum] : rows) {
    if (sum.calls == 0) continue;
    std::ostringstream share;
    share << std::fixed << std::setprecision(2)
          << (total == 0 ? 0 : 100 * static_cast<double>(sum.total) / total) << "%";
    cells(share.str(), duration(static_cast<double>(sum.total)), std::to_string(sum.calls),
          duration(static_cast<double>(sum.total) / static_cast<double>(sum.calls)),
          duration(static_cast<double>(sum.least)), duration(static_cast<double>(sum.most)), name);
  }
  for (const auto& [name, sum] : sums_) {
    if (sum.untimed_calls != 0)
      cells("-", "-", std::to_string(sum.untimed_calls), "-", "-", "-", name + " (not timed)");
  }
  return out.str();
}

void Profile::keep_statistics(runtime::Device& device) {
  last_ = {};  // the device counts from 0 again
  findings_.insert(findings_.end(), device.reports().begin(), device.reports().end());
  Counts counts = Profile::counts(device);
  if (counts.thread_instructions == 0) return;
  const functional::Counters& functional = device.functional_counters();
  // Where some launches were timed, numbers are of those.
  const bool mixed = counts.cycles != 0 && functional.thread_instructions != 0;
  if (mixed) counts = counts - Counts{0, functional.thread_instructions, functional.warp_instructions};
  ordered_json json = counts_json(counts);
  if (mixed) json["untimed_thread_instructions"] = functional.thread_instructions;
  const Totals totals = device.gpu().totals();
  json["executed_thread_instructions"] = totals.executed_thread_instructions;
  json["lanes"] = totals.lanes;
  for (const char* const name : {"lane_activity", "simd_efficiency", "idle_share", "idle_share_blocked",
                                 "idle_share_k", "depth_utilisation", "coalescing_rate"})
    json[name] = totals[name];
  const Bound bound = device.gpu().bound();
  json["bound_by"] = nullptr;
  if (!bound.by.empty()) {
    json["bound_by"] = {{"resource", bound.by},
                        {"busy", bound.busy},
                        {"short", bound.in_short},
                        {"text", bound.text},
                        {"waits", bound.waits}};
  }
  json["statistics"] = device.gpu().statistics().sample();
  devices_.push_back(json.dump());
}

// What the program copied from the device: `weft compare` looks whether it is what a functional run copies.
ordered_json Profile::outputs_json() const {
  ordered_json json = ordered_json::array();
  const std::size_t single = std::min(copies_.size(), kMostOutputs);
  for (std::size_t i = 0; i < single; ++i) {
    json.push_back({{"name", "copy " + std::to_string(i + 1) + " from the device"},
                    {"bytes", copies_[i].bytes},
                    {"xxh3", copies_[i].xxh3}});
  }
  if (single == copies_.size()) return json;
  Digest others;
  std::uint64_t bytes = 0;
  for (std::size_t i = single; i < copies_.size(); ++i) {
    others.add(copies_[i].xxh3.data(), copies_[i].xxh3.size());
    bytes += copies_[i].bytes;
  }
  json.push_back({{"name", "a copy from the device after copy " + std::to_string(single)},
                  {"bytes", bytes},
                  {"xxh3", others.text()}});
  return json;
}

ordered_json Profile::to_json(Context& context) const {
  ordered_json json;
  json["config"] = context.config().name;
  json["scheme"] = context.config().warp_formation.scheme;
  if (!plugins().empty()) json["plugins"] = plugins_json();
  json["mode"] = context.settings().functional ? "functional" : "timed";
  if (const Selection& selection = context.selection(); selection.is_some()) {
    json["selection"] = {{"option", selection.option()},
                         {"launches", selection.launches()},
                         {"timed_launches", selection.timed()}};
  }
  json["interrupted"] = context.cut_short();
  json["stood_in"] = context.stood_in();
  json["fault"] = static_cast<int>(context.sticky());
  if (!context.settings().checks.empty()) {
    json["checks"] = {{"of", context.settings().checks}, {"reports", ordered_json::array()}};
    for (const check::Report& finding : findings_) {
      json["checks"]["reports"].push_back({{"kind", finding.kind},
                                           {"kernel", finding.kernel},
                                           {"pc", finding.pc},
                                           {"text", finding.text},
                                           {"count", finding.count}});
    }
  }
  ordered_json by_name = ordered_json::object();
  for (const auto& [name, sum] : sums_) {
    ordered_json& entry = by_name[name];
    entry = {{"calls", sum.calls},
             {"total_ns", static_cast<double>(sum.total) / 1000},
             {"min_ns", sum.calls == 0 ? 0 : static_cast<double>(sum.least) / 1000},
             {"max_ns", static_cast<double>(sum.most) / 1000}};
    if (sum.kind == Activity::Kind::kKernel) {
      entry.update(counts_json(sum.counts));
    } else {
      entry["bytes"] = sum.bytes;
    }
    if (sum.untimed_calls != 0) entry["untimed_calls"] = sum.untimed_calls;
  }
  json["by_name"] = std::move(by_name);
  json["outputs"] = outputs_json();
  json["activities"] = ordered_json::array();
  for (const Activity& activity : records_) json["activities"].push_back(record_json(activity));
  json["activities_left_out"] = left_out_;
  json["devices"] = ordered_json::array();
  for (const std::string& device : devices_) json["devices"].push_back(ordered_json::parse(device));
  return json;
}

namespace {

std::string text(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// The files that only a simulator has; those that there are not are left out.
void add_files(std::vector<TextFile>& files, Simulator* simulator) {
  const auto add = [&files](const char* name, std::string content) {
    const bool none = content.empty();
    files.push_back({name, std::move(content), none});
  };
  std::string samples, power, launches, instructions, sources, characteristics;
  if (simulator != nullptr) {
    Recordings& recordings = simulator->device().gpu().recordings();
    samples = recordings.samples();
    power = recordings.power();
    launches = recordings.launches();
    instructions = recordings.instructions();
    if (!instructions.empty()) sources = runtime::kernels_json(simulator->device(), "");
    if (const runtime::Characteristics* const asked = simulator->characteristics()) {
      ordered_json json{{"workload", program_invocation_short_name}, {"size", ordered_json::object()}};
      json.update(asked->json(simulator->device()));
      characteristics = text(json);
    }
  }
  add("samples.csv", std::move(samples));
  add("power.csv", std::move(power));
  add("launches.csv", std::move(launches));
  add("instructions.csv", std::move(instructions));
  add("kernels.json", std::move(sources));
  add("characteristics.json", std::move(characteristics));
}

}  // namespace

std::string Profile::write(const std::string& folder, Context& context, Backend& backend) const {
  std::vector<TextFile> files{{"config.json", text(effective_config(context.config()))},
                              {"summary.txt", summary()}};
  add_files(files, backend.simulator());
  files.push_back({"stats.json", text(to_json(context))});
  return save_files(folder, files);
}

}  // namespace weft::cuda
