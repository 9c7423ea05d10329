#include "study/page/report_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/demangle.h"
#include "common/statistics_sample.h"
#include "measures/sources.h"
#include "platform/energy_machine.h"
#include "study/page/instruction_lines.h"
#include "study/page/report_series.h"
#include "study/session/csv_reader.h"
#include "study/session/energy_results.h"
#include "weft/common/error.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::study {

using nlohmann::ordered_json;
using warp_formation::Stall;

namespace {

// Sums over all instances; null where the statistics have no such counter.
ordered_json sum_of(const statistics::Sample& sample, statistics::Path path) {
  return sample.has(path) ? ordered_json(sample.sum(path)) : ordered_json(nullptr);
}

// "degree=6 n=2000"
std::string size_text(const ordered_json& results) {
  std::string text;
  if (!results.contains("size") || !results["size"].is_object()) return text;
  for (const auto& [name, value] : results["size"].items())
    text += (text.empty() ? "" : " ") + name + "=" +
            (value.is_string() ? value.get<std::string>() : value.dump());
  return text;
}

std::string result_text(const ordered_json& results) {
  if (results.contains("fault") && results["fault"].is_string()) {
    const std::string fault = results["fault"];
    return (results.value("interrupted", false) ? "abandoned: " : "fault: ") +
           fault.substr(0, fault.find('\n'));
  }
  if (results.value("interrupted", false)) return "abandoned";
  if (!results.contains("verified") || !results["verified"].is_boolean())
    return "done, no reference to compare with";
  return (results["verified"] ? "verified: " : "WRONG: ") + results.value("message", "");
}

ordered_json copied(const ordered_json& from, const std::vector<const char*>& keys) {
  ordered_json json = ordered_json::object();
  for (const char* key : keys) {
    if (from.contains(key) && from[key].is_number()) json[key] = from[key];
  }
  return json;
}

ordered_json bucket_model(const statistics::Sample& sample) {
  ordered_json buckets = ordered_json::object();
  for (unsigned b = 0; b < warp_formation::kStalls; ++b) {
    const char* name = warp_formation::bucket_name(static_cast<Stall>(b));
    buckets[name] = sample.sum({"sm", "scheduler", "cycles", name});
  }
  return buckets;
}

// Each counter of a group of every SM, summed; null without the group.
ordered_json group_model(const statistics::Sample& sample, statistics::Path path) {
  const auto groups = sample.find(path);
  if (groups.empty()) return nullptr;
  ordered_json sums = ordered_json::object();
  for (const ordered_json* group : groups) {
    for (const auto& [name, value] : group->items()) {
      if (value.is_number()) sums[name] = sums.value(name, 0.0) + value.get<double>();
    }
  }
  return sums;
}

// The derived values that `number` has the counters for, over something.
void add_derived(ordered_json& json, const measures::NumberOf& number) {
  for (const measures::Definition& row : measures::rows()) {
    const auto value = measures::value_of(row, number, statistics::kNothing);
    if (value.has_value() && !std::isnan(*value)) json[row.name] = *value;
  }
}

ordered_json cache_model(const ordered_json& results) {
  const statistics::Sample sample(results.at("statistics"));
  struct Cache {
    const char* name;
    const char* hit_rate;
    ordered_json counters;
  };
  const std::vector<Cache> caches = {
      {"L1 instructions", "l1i_hit_rate", group_model(sample, {"sm", "front_end", "l1i"})},
      {"L1 data", "l1d_hit_rate", group_model(sample, {"sm", "memory", "l1d"})},
      {"L1 constants", "l1c_hit_rate", group_model(sample, {"sm", "memory", "l1c"})},
      {"L1 textures", "l1t_hit_rate", group_model(sample, {"sm", "memory", "l1t"})},
      {"L2", "l2_hit_rate", group_model(sample, {"l2", "tags"})}};
  ordered_json list = ordered_json::array();
  for (const Cache& cache : caches) {
    if (cache.counters.is_null() || cache.counters.value("accesses", 0.0) == 0) continue;
    ordered_json row{{"name", cache.name}};
    for (const char* key : {"accesses", "hits", "pending_hits", "misses", "evictions"})
      row[key] = cache.counters.value(key, 0.0);
    row["hit_rate"] = measures::value_in(results, measures::get(cache.hit_rate)).value_or(0);
    list.push_back(std::move(row));
  }
  return list;
}

ordered_json dram_model(const statistics::Sample& sample) {
  ordered_json list = ordered_json::array();
  for (const ordered_json* channel : sample.find({"dram"})) {
    ordered_json row = copied(*channel, {"reads", "writes", "bytes_read", "bytes_written", "row_hits",
                                         "row_misses", "row_conflicts", "refreshes", "data_cycles",
                                         "active_cycles", "queue_average", "queue_most"});
    const auto number = [&](const measures::Counter& counter) -> std::optional<double> {
      const std::string_view path = counter.path;
      const std::string name(path.substr(path.rfind('.') + 1));
      return path.rfind("dram", 0) == 0 && row.contains(name) ? std::optional(row[name].get<double>())
                                                              : std::nullopt;
    };
    row["efficiency"] = measures::value_of(measures::get("dram_efficiency"), number).value_or(0);
    list.push_back(std::move(row));
  }
  return list;
}

// launches.csv, by kernel, in the order of first launches; null without the table.
ordered_json launch_model(const ResultRun& run, unsigned lanes) {
  const auto text = run.text("launches.csv");
  if (!text.has_value()) return nullptr;
  CsvReader table(*text, run.file("launches.csv"));
  static constexpr std::array<const char*, 12> kSummed = {"launches",
                                                          "cycles",
                                                          "thread_instructions",
                                                          "warp_instructions",
                                                          "active_beats",
                                                          "active_lanes",
                                                          "memory_thread_instructions",
                                                          "data_requests",
                                                          "blocks",
                                                          "threads",
                                                          "code_registers",
                                                          "energy_nj"};
  const std::size_t kernel = table.column("kernel");
  std::vector<std::pair<std::size_t, const char*>> columns;
  for (const char* name : kSummed) {
    if (const auto at = table.find(name)) columns.emplace_back(*at, name);
  }
  ordered_json list = ordered_json::array();
  std::map<std::string, std::size_t> known;
  while (table.next()) {
    const auto [place, is_new] = known.emplace(table.cell(kernel), list.size());
    if (is_new) list.push_back({{"kernel", demangled_name(table.cell(kernel))}});
    ordered_json& row = list[place->second];
    for (const auto& [at, name] : columns) row[name] = row.value(name, 0.0) + table.number(at);
  }
  const measures::NumberOf of_run = measures::numbers_of(run.results);
  for (ordered_json& row : list) {
    const ordered_json counted = row;
    add_derived(row, [&](const measures::Counter& counter) -> std::optional<double> {
      if (&counter == &measures::kLanes) return lanes;
      if (&counter == &measures::kBeatsInACycle) return of_run(counter);
      const auto found = counted.find(counter.column);
      return found == counted.end() ? std::nullopt : std::optional(found->get<double>());
    });
  }
  return list;
}

ordered_json counts_model(const LineCounts& c, unsigned lanes) {
  ordered_json json{{"issues", c.issues},
                    {"threads", c.threads},
                    {"active_beats", c.active_beats},
                    {"active_lanes", c.active_lanes},
                    {"memory_threads", c.memory_threads},
                    {"coalesced_requests", c.coalesced_requests},
                    {"data_requests", c.data_requests},
                    {"shared_accesses", c.shared_accesses},
                    {"shared_conflict_cycles", c.shared_conflict_cycles},
                    {"cycles", c.cycles}};
  for (const char* const name : {"lane_activity", "threads_per_request"}) {
    if (const auto value = c.of(name, lanes)) json[name] = *value;
  }
  return json;
}

ordered_json lines_model(const ProfiledKernel& kernel, const LineProfile& profile, LinesOf what) {
  ordered_json list = ordered_json::array();
  const std::vector<CountedLine> lines = lines_of(kernel, what);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const CountedLine& line = lines[i];
    // Lines between, of which nothing was executed, for the eye: braces, comments, labels.
    const bool follows = i > 0 && line.line != 0 && lines[i - 1].file == line.file;
    const std::uint32_t from = follows ? lines[i - 1].line + 1 : line.line;
    for (std::uint32_t between = from; between < line.line && line.line - from < 200; ++between) {
      const std::string& text = profile.line(line.file, between);
      const std::size_t begin = text.find_first_not_of(" \t");
      if (begin == std::string::npos || text.compare(begin, 4, ".loc") == 0) continue;
      list.push_back({{"file", line.file}, {"line", between}, {"text", text}});
    }
    ordered_json row = counts_model(line.counts, profile.lanes);
    row["file"] = line.file;
    row["line"] = line.line;
    row["text"] = profile.line(line.file, line.line);
    list.push_back(std::move(row));
  }
  return list;
}

ordered_json place_model(const ProfiledInstruction& in, const LineProfile& profile) {
  return {{"pc", *in.pc},
          {"source", in.source_line == 0 ? "" : in.source_file + ":" + std::to_string(in.source_line)},
          {"source_text", profile.line(in.source_file, in.source_line)},
          {"ptx", in.ptx_line == 0 ? "" : in.ptx_file + ":" + std::to_string(in.ptx_line)},
          {"ptx_text", profile.line(in.ptx_file, in.ptx_line)}};
}

ordered_json kernel_model(const ProfiledKernel& kernel, const LineProfile& profile) {
  ordered_json json{{"name", demangled_name(kernel.name)},
                    {"program", kernel.program},
                    {"shape", kernel.shape},
                    {"sum", counts_model(kernel.sum(), profile.lanes)},
                    {"rest", counts_model(kernel.rest, profile.lanes)},
                    {"branches", ordered_json::array()},
                    {"memory", ordered_json::array()}};
  for (const BranchCost& cost : branch_costs(kernel)) {
    ordered_json row = place_model(*cost.branch, profile);
    row["issues"] = cost.branch->counts.issues;
    row["parted"] = cost.branch->counts.parted;
    row["threads"] = cost.branch->counts.threads;
    row["taken"] = cost.branch->counts.executed;
    row["places"] = cost.places;
    row["empty"] = cost.empty;
    row["lost"] = std::round(cost.lost);
    json["branches"].push_back(std::move(row));
  }
  for (const ProfiledInstruction& in : kernel.instructions) {
    const LineCounts& c = in.counts;
    if (c.memory_threads == 0 && c.shared_accesses == 0) continue;
    ordered_json row = place_model(in, profile);
    row["kind"] = in.kind + " " + in.space;
    row.update(counts_model(c, profile.lanes));
    json["memory"].push_back(std::move(row));
  }
  json["source"] = lines_model(kernel, profile, LinesOf::kSource);
  json["ptx"] = lines_model(kernel, profile, LinesOf::kPtx);
  return json;
}

ordered_json profile_model(const ResultRun& run) {
  if (!run.text("instructions.csv").has_value()) return nullptr;
  const LineProfile profile = read_line_profile(run);
  ordered_json json{{"lanes", profile.lanes}, {"kernels", ordered_json::array()}};
  for (const ProfiledKernel& kernel : profile.kernels)
    json["kernels"].push_back(kernel_model(kernel, profile));
  return json;
}

// Of a run that observed events, as `stats.json` has it, or, where that has none, made of it as it would be
// there.
ordered_json energy_model(const ResultRun& run) {
  if (run.results.contains("energy") && run.results["energy"].is_object()) return run.results["energy"];
  if (!run.config.contains("sm") || !run.config["sm"].contains("observe") ||
      !run.config["sm"]["observe"].value("events", false))
    return nullptr;
  const GpuConfig config = load_config(run.file("config.json"));
  const energy::Technology technology = technology_of(config.energy);
  const auto energy = energy_of(run.statistics(), config, technology);
  return energy.has_value() ? energy::json_of(*energy, technology) : ordered_json(nullptr);
}

ordered_json run_model(const ResultRun& run) {
  const ordered_json& results = run.results;
  const statistics::Sample sample(run.statistics());
  const auto text_of = [&](const char* key) {
    return results.contains(key) && results[key].is_string() ? results[key].get<std::string>() : "";
  };
  const auto part_of = [&](const char* key) {
    return results.contains(key) && results[key].is_object() ? results[key] : ordered_json(nullptr);
  };
  ordered_json json{{"folder", run.folder},        {"workload", text_of("workload")},
                    {"size", size_text(results)},  {"config", text_of("config")},
                    {"scheme", text_of("scheme")}, {"result", result_text(results)}};
  json["numbers"] = copied(results, {"cycles", "thread_instructions", "executed_thread_instructions",
                                     "warp_instructions", "lanes"});
  for (const measures::Definition& row : measures::rows()) {
    if (const auto value = measures::value_in(results, row)) json["numbers"][row.name] = *value;
  }
  json["bound"] = part_of("bound_by");
  json["utilisation"] = part_of("utilisation");
  json["schedulers"] = sample.find({"sm", "scheduler"}).size();
  json["sms"] = sample.find({"sm"}).size();
  json["buckets"] = bucket_model(sample);
  json["memory_busy"] = group_model(sample, {"sm", "memory_busy"});
  json["waited_in"] = group_model(sample, {"sm", "memory", "waited_in"});
  json["stalled"] = group_model(sample, {"sm", "stalled"});
  json["max_threads"] = run.config.contains("sm") ? run.config["sm"].value("max_threads", 0) : 0;
  json["memory"] = {{"threads", sum_of(sample, {"sm", "memory", "memory_thread_instructions"})},
                    {"coalesced_requests", sum_of(sample, {"sm", "memory", "coalesced_requests"})},
                    {"data_requests", sum_of(sample, {"sm", "memory", "data_requests"})}};
  json["caches"] = cache_model(results);
  json["dram"] = dram_model(sample);
  json["energy"] = energy_model(run);
  if (json["energy"].is_object()) json["energy"].erase("events");
  const ordered_json profile = profile_model(run);
  const unsigned lanes = results.value("lanes", profile.is_object() ? profile.value("lanes", 0U) : 0U);
  json["launches"] = launch_model(run, lanes);
  json["profile"] = profile;
  json["series"] = sample_series(run);
  json["power"] = power_series(run);
  return json;
}

void flatten(const ordered_json& json, const std::string& path, std::map<std::string, ordered_json>& values) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      std::string below = path;
      if (!below.empty()) below += '/';
      flatten(value, below.append(key), values);
    }
  } else {
    values[path] = json;
  }
}

// The shortest of these that tells the runs apart.
std::vector<std::string> labels_of(const std::vector<ResultRun>& runs) {
  const auto text = [](const ResultRun& run, const char* key) {
    return run.results.contains(key) && run.results[key].is_string() ? run.results[key].get<std::string>()
                                                                     : "";
  };
  using Labelling = std::function<std::string(const ResultRun&)>;
  if (runs.size() == 1) {
    const std::string workload = text(runs[0], "workload");
    return {workload.empty() ? std::filesystem::path(runs[0].folder).lexically_normal().filename().string()
                             : workload};
  }
  const std::vector<Labelling> labellings = {
      [&](const ResultRun& run) { return text(run, "scheme"); },
      [&](const ResultRun& run) { return text(run, "scheme") + " on " + text(run, "config"); },
      [&](const ResultRun& run) { return text(run, "workload") + ", " + text(run, "scheme"); },
      [&](const ResultRun& run) {
        return text(run, "workload") + ", " + text(run, "scheme") + " on " + text(run, "config");
      },
      [&](const ResultRun& run) {
        return std::filesystem::path(run.folder).lexically_normal().filename().string();
      },
      [&](const ResultRun& run) { return run.folder; }};
  std::vector<std::string> labels;
  for (const Labelling& labelling : labellings) {
    labels.clear();
    for (const ResultRun& run : runs) labels.push_back(labelling(run));
    const std::set<std::string> different(labels.begin(), labels.end());
    if (different.size() == runs.size() && different.count("") == 0) return labels;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] += " (" + std::to_string(i + 1) + ")";
  return labels;
}

}  // namespace

ordered_json config_differences(const std::vector<ResultRun>& runs) {
  std::vector<std::map<std::string, ordered_json>> configs(runs.size());
  std::set<std::string> keys;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    flatten(runs[i].config, "", configs[i]);
    for (const auto& [key, value] : configs[i]) keys.insert(key);
  }
  ordered_json differences = ordered_json::array();
  for (const std::string& key : keys) {
    ordered_json values = ordered_json::array();
    for (const auto& config : configs) {
      const auto found = config.find(key);
      values.push_back(found == config.end() ? ordered_json(nullptr) : found->second);
    }
    if (std::any_of(values.begin(), values.end(), [&](const auto& value) { return value != values[0]; }))
      differences.push_back({{"key", key}, {"values", values}});
  }
  return differences;
}

ordered_json report_model(const std::vector<ResultRun>& runs) {
  ordered_json model{
      {"weft", WEFT_VERSION}, {"measures", ordered_json::array()}, {"runs", ordered_json::array()}};
  for (const measures::Definition& row : measures::rows()) {
    model["measures"].push_back({{"name", row.name},
                                 {"heading", row.heading},
                                 {"unit", row.unit.name()},
                                 {"meaning", row.meaning},
                                 {"formula", measures::formula_of(row)},
                                 {"digits", row.digits}});
  }
  const std::vector<std::string> labels = labels_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    try {
      ordered_json run = run_model(runs[i]);
      run["name"] = labels[i];
      model["runs"].push_back(std::move(run));
    } catch (const ordered_json::exception& error) {
      throw InputError(runs[i].file("stats.json"),
                       std::string(error.what()) + "; allowed: a file as weft has written it");
    }
  }
  model["differences"] = runs.size() > 1 ? config_differences(runs) : ordered_json::array();
  return model;
}

}  // namespace weft::study
