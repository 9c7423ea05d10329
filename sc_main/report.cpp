#include "sc_main/report.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <utility>

namespace weft::cli {

using nlohmann::ordered_json;

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts kilobytes
}

std::string fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

namespace {

// What ran without timing. There are no cycles, so nothing that counts them.
ordered_json functional_json(const runtime::Device& device) {
  const functional::Counters& counters = device.functional_counters();
  ordered_json json;
  json["launches"] = counters.launches;
  json["thread_instructions"] = counters.thread_instructions;
  json["warp_instructions"] = counters.warp_instructions;
  json["functional_cpu_seconds"] = device.functional_effort().cpu_seconds;
  return json;
}

ordered_json report_json(const check::Report& report) {
  return {{"kind", report.kind},
          {"kernel", report.kernel},
          {"pc", report.pc},
          {"text", report.text},
          {"count", report.count}};
}

}  // namespace

ordered_json statistics_json(const Outcome& outcome, runtime::Device& device) {
  Gpu& gpu = device.gpu();
  const Totals totals = gpu.totals();
  ordered_json json;
  json["workload"] = outcome.workload;
  json["size"] = outcome.size;
  json["mode"] = outcome.mode;
  json["config"] = gpu.config().name;
  json["scheme"] = gpu.config().warp_formation.scheme;
  json["verified"] = outcome.verified.has_value() ? ordered_json(*outcome.verified) : ordered_json(nullptr);
  json["message"] = outcome.message;
  json["interrupted"] = outcome.interrupted;
  json["fault"] = outcome.fault.empty() ? ordered_json(nullptr) : ordered_json(outcome.fault);
  if (!outcome.checks.empty()) {
    json["checks"] = {{"of", outcome.checks}, {"reports", ordered_json::array()}};
    for (const check::Report& report : device.reports())
      json["checks"]["reports"].push_back(report_json(report));
  }
  if (outcome.mode == "functional") {
    json.update(functional_json(device));
  } else {
    json["cycles"] = totals.cycles;
    json["thread_instructions"] = totals.thread_instructions;
    json["warp_instructions"] = totals.warp_instructions;
    json["ipc"] = totals.ipc;
    json["lane_activity"] = totals.lane_activity;
    json["simd_efficiency"] = totals.simd_efficiency;
    json["idle_share"] = totals.idle_share;
    json["coalescing_rate"] = totals.coalescing_rate;
    if (outcome.mode == "fast-forward") json["functional"] = functional_json(device);
  }
  json["cpu_seconds"] = device.effort().cpu_seconds;
  json["wall_seconds"] = device.effort().wall_seconds;
  json["peak_memory_bytes"] = peak_memory_bytes();
  json["ptx"] = {
      {"file", outcome.code.file}, {"compiler", outcome.code.compiler}, {"fnv1a", fnv1a(outcome.code.ptx)}};
  if (outcome.mode != "functional") json["statistics"] = gpu.statistics().sample();
  return json;
}

std::vector<BucketShare> scheduler_cycles(const statistics::Registry& registry) {
  static const std::regex bucket_name(R"(sm\d+\.scheduler\d+\.cycles\.(\w+))");
  struct Bucket {
    std::uint64_t cycles = 0;
    std::string meaning;
  };
  std::map<std::string, Bucket> buckets;
  std::uint64_t sum = 0;
  std::smatch match;
  for (const auto& entry : registry.entries()) {
    if (entry.counter == nullptr || entry.unit != "cycles" ||
        !std::regex_match(entry.name, match, bucket_name))
      continue;
    Bucket& bucket = buckets[match[1]];
    bucket.cycles += *entry.counter;
    bucket.meaning = entry.description;
    sum += *entry.counter;
  }
  std::vector<BucketShare> shares;
  if (sum == 0) return shares;
  for (const auto& [name, bucket] : buckets) {
    shares.push_back({name, bucket.meaning, static_cast<double>(bucket.cycles) / static_cast<double>(sum)});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  return shares;
}

namespace {

// Speed is in thread instructions per second of this process.
void functional_lines(std::ostream& out, const runtime::Device& device) {
  const functional::Counters& counters = device.functional_counters();
  const double seconds = device.functional_effort().cpu_seconds;
  const auto line = [&](const char* name) -> std::ostream& {
    return out << std::left << std::setw(22) << name;
  };
  line("without timing") << counters.launches << " launches, " << counters.blocks << " blocks\n";
  line("thread instructions") << counters.thread_instructions << "\n";
  line("warp instructions") << counters.warp_instructions << "\n";
  out << std::fixed << std::setprecision(3);
  line("CPU seconds") << seconds << "\n";
  if (seconds > 0) {
    line("million per second") << static_cast<double>(counters.thread_instructions) / seconds * 1e-6
                               << " thread instructions\n";
  }
}

}  // namespace

std::string summary(const Outcome& outcome, runtime::Device& device) {
  Gpu& gpu = device.gpu();
  const Totals totals = gpu.totals();
  std::ostringstream out;
  const auto line = [&](const char* name) -> std::ostream& {
    return out << std::left << std::setw(22) << name;
  };

  line("workload") << outcome.workload;
  for (const auto& [name, value] : outcome.size) out << " " << name << "=" << value;
  out << "\n";
  line("config") << gpu.config().name << ", scheme " << gpu.config().warp_formation.scheme << "\n";
  line("result");
  if (outcome.interrupted) {
    out << "abandoned: " << outcome.fault;
  } else if (!outcome.fault.empty()) {
    out << "fault: " << outcome.fault.substr(0, outcome.fault.find('\n'));
  } else if (!outcome.verified.has_value()) {
    out << "done, nothing to compare with";
  } else {
    out << (*outcome.verified ? "verified: " : "WRONG: ") << outcome.message;
  }
  out << "\n";
  if (outcome.mode != "timed") functional_lines(out, device);
  if (outcome.mode == "functional") return out.str();
  line("core cycles") << totals.cycles << "\n";
  line("thread instructions") << totals.thread_instructions << "\n";
  line("warp instructions") << totals.warp_instructions << "\n";
  out << std::fixed << std::setprecision(3);
  line("IPC") << totals.ipc << " thread instructions per core cycle\n";
  line("lane activity") << totals.lane_activity << "\n";
  line("SIMD efficiency") << totals.simd_efficiency << "\n";
  line("idle share") << totals.idle_share << "\n";
  line("coalescing rate") << totals.coalescing_rate << "\n";

  const auto buckets = scheduler_cycles(gpu.statistics());
  if (!buckets.empty()) {
    out << "\nwhere the scheduler cycles went\n" << std::setprecision(1);
    for (const BucketShare& bucket : buckets) {
      if (bucket.share == 0) continue;
      const auto bar = static_cast<std::size_t>(std::lround(bucket.share * 30));
      out << std::right << std::setw(7) << bucket.share * 100 << " %  " << std::left << std::setw(31)
          << std::string(bar, '#') << bucket.bucket << ": " << bucket.meaning << "\n";
    }
  }
  return out.str();
}

std::string text_of(const ordered_json& json) {
  // Foreign text (a path, a comment of a PTX file) may not be UTF-8; that must not cost the results.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string write_results(const std::string& folder, const Outcome& outcome, runtime::Device& device,
                          const ordered_json& record, std::vector<TextFile> more) {
  std::vector<TextFile> files = std::move(more);
  files.push_back({"config.json", text_of(effective_config(device.gpu().config()))});
  files.push_back({"summary.txt", summary(outcome, device)});
  files.push_back({"run.json", text_of(record)});
  files.push_back({"stats.json", text_of(statistics_json(outcome, device))});
  return save_files(folder, files);
}

}  // namespace weft::cli
