#include "study/session/outcome.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "measures/sources.h"
#include "platform/energy_machine.h"
#include "study/session/energy_results.h"
#include "study/terminal/table.h"
#include "weft/platform/gpu.h"
#include "weft/warp_formation/plugins.h"

namespace weft::study {

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

ordered_json bound_json(const Bound& bound) {
  if (bound.by.empty()) return nullptr;
  return {{"resource", bound.by},
          {"busy", bound.busy},
          {"short", bound.in_short},
          {"text", bound.text},
          {"waits", bound.waits}};
}

ordered_json utilisation_json(const std::vector<Utilisation>& utilisation) {
  ordered_json json = ordered_json::object();
  for (const Utilisation& u : utilisation) {
    json[u.key] = {{"name", u.name},
                   {"busiest", u.busiest},
                   {"mean", u.mean},
                   {"instances", u.instances},
                   {"which", u.which}};
  }
  return json;
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
  if (!plugins().empty()) json["plugins"] = plugins_json();
  json["verified"] = outcome.verified.has_value() ? ordered_json(*outcome.verified) : ordered_json(nullptr);
  json["message"] = outcome.message;
  json["interrupted"] = outcome.interrupted;
  json["fault"] = outcome.fault.empty() ? ordered_json(nullptr) : ordered_json(outcome.fault);
  if (!outcome.checks.empty()) {
    json["checks"] = {{"of", outcome.checks}, {"reports", ordered_json::array()}};
    for (const check::Report& report : device.reports())
      json["checks"]["reports"].push_back(report_json(report));
    const std::vector<std::string> left_out = device.not_compared();
    if (!left_out.empty()) json["checks"]["not_compared"] = left_out;
  }
  if (outcome.mode == "functional") {
    json.update(functional_json(device));
  } else {
    json["cycles"] = totals.cycles;
    json["thread_instructions"] = totals.thread_instructions;
    json["executed_thread_instructions"] = totals.executed_thread_instructions;
    json["warp_instructions"] = totals.warp_instructions;
    json["lanes"] = totals.lanes;
    if (totals.beats_in_a_cycle != 1) json["beats_in_a_cycle"] = totals.beats_in_a_cycle;
    for (const DerivedValue& one : totals.derived) json[std::string(one.name)] = one.value;
    json["bound_by"] = bound_json(gpu.bound());
    json["utilisation"] = utilisation_json(gpu.utilisation());
    if (outcome.mode == "fast-forward") json["functional"] = functional_json(device);
    if (gpu.config().sm.observe.events) {
      const energy::Technology technology = technology_of(gpu.config().energy);
      const auto energy = energy_of(gpu.statistics().sample(), gpu.config(), technology);
      if (energy.has_value()) json["energy"] = energy::json_of(*energy, technology);
      json["area"] = area_json_of(gpu.config());
    }
  }
  json["cpu_seconds"] = device.effort().cpu_seconds;
  json["wall_seconds"] = device.effort().wall_seconds;
  json["peak_memory_bytes"] = peak_memory_bytes();
  json["ptx"] = {
      {"file", outcome.code.file}, {"compiler", outcome.code.compiler}, {"fnv1a", fnv1a(outcome.code.ptx)}};
  for (const Output& output : outcome.outputs)
    json["outputs"].push_back({{"name", output.name}, {"bytes", output.bytes}, {"xxh3", output.xxh3}});
  if (outcome.mode != "functional") json["statistics"] = gpu.statistics().sample();
  return json;
}

std::vector<BucketShare> scheduler_cycles(const statistics::Group& root) {
  struct Bucket {
    std::uint64_t cycles = 0;
    std::string meaning;
  };
  std::map<std::string, Bucket> buckets;
  std::uint64_t sum = 0;
  for (const statistics::Group* scheduler : root.groups({"sm", "scheduler", "cycles"})) {
    for (const auto& node : scheduler->nodes()) {
      Bucket& bucket = buckets[std::string(node.entry->name)];
      bucket.cycles += *node.entry->counter;
      bucket.meaning = node.entry->description;
      sum += *node.entry->counter;
    }
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
  const auto line = [&](const char* name) -> std::ostream& { return out << label(name); };
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

namespace {

// "cycles in which there were no threads": the heading says what is counted.
std::string short_of(const std::string& meaning) {
  const std::string common = "cycles in which ";
  return meaning.rfind(common, 0) == 0 ? meaning.substr(common.size()) : meaning;
}

void bar_line(std::ostream& out, double share, const std::string& text) {
  const auto bar = static_cast<std::size_t>(std::lround(std::min(share, 1.0) * 30));
  out << fmt::format("{:7.1f} %  {:31}{}\n", share * 100, std::string(bar, '#'), text);
}

// What kept the load-store unit while ready warps waited for it: shares of `memory_busy`.
void holds_line(std::ostream& out, const statistics::Group& root) {
  std::vector<std::pair<std::uint64_t, std::string>> holds;
  std::uint64_t sum = 0;
  for (const statistics::Group* sm : root.groups({"sm", "memory_busy"})) {
    std::size_t i = 0;
    for (const auto& node : sm->nodes()) {
      if (i == holds.size()) holds.emplace_back(0, node.entry->name);
      holds[i++].first += *node.entry->counter;
      sum += *node.entry->counter;
    }
  }
  if (sum == 0) return;
  std::stable_sort(holds.begin(), holds.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto percent = [](std::uint64_t part, std::uint64_t whole) {
    return std::to_string(std::lround(100 * static_cast<double>(part) / static_cast<double>(whole))) + " %";
  };
  std::string text;
  for (const auto& [cycles, name] : holds) {
    if (cycles * 100 < sum) break;
    text += (text.empty() ? "" : ", ") + name + " " + percent(cycles, sum);
  }
  out << "           memory_busy by cause:       " << text << "\n";
  std::string places;
  std::uint64_t waited = 0;
  constexpr std::array<const char*, 4> kPlaces = {"crossbar_request", "l2", "dram", "crossbar_response"};
  for (const char* place : kPlaces) waited += root.sum({"sm", "memory", "waited_in", place}).value();
  if (waited == 0) return;
  for (const char* place : kPlaces) {
    const std::uint64_t cycles = root.sum({"sm", "memory", "waited_in", place}).value();
    places += (places.empty() ? "" : ", ") + std::string(place) + " " + percent(cycles, waited);
  }
  out << "           place of awaited requests:  " << places << "\n";
}

// What sm.observe.lanes counted, over all SMs [ST-SIMT Table IV].
std::string lanes_text(const statistics::Group& root) {
  if (root.groups({"sm", "lanes"}).empty()) return "not observed: the datapath's lanes work together";
  const auto cycles = static_cast<double>(root.sum({"sm", "lanes", "cycles"}).value());
  const auto mean = [&](const char* name) {
    return cycles == 0 ? 0 : static_cast<double>(root.sum({"sm", "lanes", name}).value()) / cycles;
  };
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << "with a warp " << mean("static_lane_cycles")
       << " (static), with a warp that waits for no load " << mean("dynamic_lane_cycles") << " (dynamic), of "
       << root.groups({{"sm", 0}, "lane"}).size() << "; issue conflicts of 1, 2, 3 or more "
       << std::setprecision(1) << 100 * mean("conflicts_1") << ", " << 100 * mean("conflicts_2") << ", "
       << 100 * mean("conflicts_3_or_more") << " % of cycles";
  return text.str();
}

// Over all SMs.
std::string scalars_text(const statistics::Group& root) {
  const std::uint64_t scalars = root.sum({"sm", "scalar", "instructions"}).value();
  const auto share = measures::value_of(measures::get("scalar_share"), measures::numbers_of(root));
  std::ostringstream text;
  text << scalars << " (" << std::fixed << std::setprecision(1) << 100 * share.value_or(0)
       << " % of warp instructions), for " << root.sum({"sm", "scalar", "thread_instructions"}).value()
       << " threads";
  if (!root.groups({"sm", "scalar_unit"}).empty()) {
    text << "; " << root.sum({"sm", "scalar", "issued_beside"}).value()
         << " in the same cycle as a vector instruction of their scheduler";
  }
  return text.str();
}

void derived_lines(std::ostream& out, const Totals& totals) {
  for (const DerivedValue& one : totals.derived) {
    const measures::Definition& row = measures::get(one.name);
    const std::string name = label(*row.label == '\0' ? row.heading : row.label);
    out << name << (name.back() == ' ' ? "" : " ") << one.value;
    if (*row.remark != '\0') out << " " << row.remark;
    for (const measures::Term& factor : row.times) {
      if (factor.counter == &measures::kBeatsInACycle && totals.beats_in_a_cycle != 1)
        out << " x " << totals.beats_in_a_cycle << " lanes";
    }
    out << "\n";
  }
}

void busy_lines(std::ostream& out, std::vector<Utilisation> utilisation, const Paint& paint) {
  std::stable_sort(utilisation.begin(), utilisation.end(),
                   [](const auto& a, const auto& b) { return a.busiest > b.busiest; });
  out << "\n" << paint.heading("utilisation: the busiest part of each kind") << "\n";
  for (const Utilisation& u : utilisation) {
    if (u.busiest < 0.005) continue;
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << u.name;
    if (u.kind == Utilisation::Kind::kTable) text << " all in use";
    if (u.instances > 1) text << " (of " << u.instances << "; mean " << u.mean * 100 << " %)";
    bar_line(out, u.busiest, text.str());
  }
}

}  // namespace

std::string summary(const Outcome& outcome, runtime::Device& device, const Paint& paint) {
  Gpu& gpu = device.gpu();
  const Totals totals = gpu.totals();
  std::ostringstream out;
  const auto line = [&](const char* name) -> std::ostream& { return out << label(name); };

  line("workload") << outcome.workload;
  for (const auto& [name, value] : outcome.size) out << " " << name << "=" << value;
  out << "\n";
  line("config") << gpu.config().name << ", scheme " << gpu.config().warp_formation.scheme << "\n";
  line("result");
  if (outcome.interrupted) {
    out << paint.bad("abandoned") << ": " << outcome.fault;
  } else if (!outcome.fault.empty()) {
    out << paint.bad("fault") << ": " << outcome.fault.substr(0, outcome.fault.find('\n'));
  } else if (!outcome.verified.has_value()) {
    out << "done, no reference to compare with";
  } else {
    out << (*outcome.verified ? paint.good("verified") : paint.bad("WRONG")) << ": " << outcome.message;
  }
  out << "\n";
  if (outcome.mode != "timed") functional_lines(out, device);
  if (outcome.mode == "functional") return out.str();
  line("core cycles") << totals.cycles << "\n";
  line("thread instructions") << totals.thread_instructions << " issued, "
                              << totals.executed_thread_instructions << " executed (their guard holds)\n";
  line("warp instructions") << totals.warp_instructions << "\n";
  if (gpu.config().sm.scalarization.on())
    line("scalar instructions") << scalars_text(gpu.statistics()) << "\n";
  out << std::fixed << std::setprecision(3);
  derived_lines(out, totals);
  if (gpu.config().sm.observe.lanes) line("lanes") << lanes_text(gpu.statistics()) << "\n";

  const Bound bound = gpu.bound();
  if (!bound.by.empty()) line("bound by") << bound.text << "\n";
  if (!bound.waits.empty()) line("") << "schedulers: " << bound.waits << "\n";

  const auto buckets = scheduler_cycles(gpu.statistics());
  if (!buckets.empty()) {
    out << "\n" << paint.heading("breakdown of scheduler cycles") << "\n" << std::setprecision(1);
    for (const BucketShare& bucket : buckets) {
      if (bucket.share == 0) continue;
      bar_line(out, bucket.share, bucket.bucket + ": " + short_of(bucket.meaning));
    }
    holds_line(out, gpu.statistics());
    busy_lines(out, gpu.utilisation(), paint);
  }
  if (gpu.config().sm.observe.events) {
    const energy::Technology technology = technology_of(gpu.config().energy);
    const auto energy = energy_of(gpu.statistics().sample(), gpu.config(), technology);
    if (energy.has_value()) write_energy(out, *energy, technology, paint);
    const ordered_json area = area_json_of(gpu.config());
    if (!area.is_null()) {
      out << std::fixed << std::setprecision(4) << "  area of an SM       scheme's tables "
          << area.at("scheme_mm2_per_sm").get<double>() << " mm2, registers "
          << area.at("registers_mm2_per_sm").get<double>() << " mm2 (16 entries of each stack)\n";
    }
  }
  return out.str();
}

bool save_result(const std::string& path, const std::string& text) {
  const std::string elsewhere = save_file(path, text);
  if (!elsewhere.empty()) std::cerr << "weft: " << elsewhere << "\n";
  return elsewhere.empty();
}

std::string text_of(const ordered_json& json) {
  // Foreign text (a path, a comment of a PTX file) may not be UTF-8; that must not cost the results.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string write_results(const std::string& folder, const Outcome& outcome, runtime::Device& device,
                          const ordered_json& record, std::vector<TextFile> more, bool synced) {
  std::vector<TextFile> files = std::move(more);
  files.push_back({"config.json", text_of(effective_config(device.gpu().config()))});
  files.push_back({"summary.txt", summary(outcome, device)});
  files.push_back({"run.json", text_of(record)});
  files.push_back({"stats.json", text_of(statistics_json(outcome, device))});
  return save_files(folder, files, synced);
}

}  // namespace weft::study
