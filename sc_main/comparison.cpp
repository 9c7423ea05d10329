#include "sc_main/comparison.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/csv.h"
#include "common/statistics_sample.h"
#include "sc_main/pareto.h"

namespace weft::cli {

using nlohmann::ordered_json;

namespace {

// A column: its heading, its name in files, in which of the tables it stands (0: in none), the digits that
// the table shows, and the value in a row.
struct Column {
  const char* heading;
  const char* name;
  int table;
  int digits;
  std::optional<double> (*value)(const Measures& m);
};

template <auto Member>
std::optional<double> member(const Measures& m) {
  return std::optional(static_cast<double>(m.*Member));
}
template <auto Member>
std::optional<double> optional_member(const Measures& m) {
  return m.*Member;
}

std::optional<double> millijoules(const Measures& m) {
  return m.joules ? std::optional(*m.joules * 1e3) : std::nullopt;
}
std::optional<double> nanojoule_seconds(const Measures& m) {
  return m.edp ? std::optional(*m.edp * 1e9) : std::nullopt;
}

const Column kColumns[] = {
    {"cycles", "cycles", 1, 0, member<&Measures::cycles>},
    {"", "thread_instructions", 0, 0, member<&Measures::thread_instructions>},
    {"", "executed_thread_instructions", 0, 0, member<&Measures::executed_thread_instructions>},
    {"IPC", "ipc", 1, 2, member<&Measures::ipc>},
    {"lanes", "lane_activity", 1, 3, member<&Measures::lane_activity>},
    {"oracle", "oracle_lane_activity", 1, 3, optional_member<&Measures::oracle>},
    {"coalesce", "coalescing_rate", 1, 2, member<&Measures::coalescing_rate>},
    {"stalled", "stalled_share", 1, 3, optional_member<&Measures::stalled>},
    {"K", "idle_share_k", 1, 3, member<&Measures::idle_share_k>},
    {"not ready", "idle_share", 2, 3, member<&Measures::idle_share>},
    {"or blocked", "idle_share_blocked", 2, 3, member<&Measures::idle_share_blocked>},
    {"depth", "depth_utilisation", 2, 3, member<&Measures::depth_utilisation>},
    {"SIMD eff", "simd_efficiency", 2, 3, member<&Measures::simd_efficiency>},
    {"stalled of launched", "stalled_of_launched", 2, 3, optional_member<&Measures::stalled_of_launched>},
    {"", "stalled_reconvergence", 0, 3, optional_member<&Measures::at_reconvergence>},
    {"", "stalled_inactive", 0, 3, optional_member<&Measures::inactive>},
    {"barrier", "stalled_barrier", 2, 3, optional_member<&Measures::at_barrier>},
    {"", "storage_bits_per_sm", 0, 0, member<&Measures::storage_bits>},
    {"mJ", "energy_mj", 2, 4, millijoules},
    {"W", "watts", 2, 2, optional_member<&Measures::watts>},
    {"EDP nJs", "edp_njs", 2, 4, nanojoule_seconds},
    {"mm2/SM", "scheme_mm2_per_sm", 2, 4, optional_member<&Measures::scheme_mm2>},
    {"", "area_mm2_per_sm", 0, 6, optional_member<&Measures::area_mm2>},
    {"", "ed2p", 0, 9, optional_member<&Measures::ed2p>},
    {"", "bound_busy", 0, 3, member<&Measures::bound_busy>},
    {"CPU s", "cpu_seconds", 2, 2, member<&Measures::cpu_seconds>},
};

}  // namespace

std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::vector<std::string> schemes_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const Row& row : comparison.rows) {
    if (std::find(names.begin(), names.end(), row.scheme) == names.end()) names.push_back(row.scheme);
  }
  return names;
}

std::string aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> width;
  for (const auto& line : lines) {
    width.resize(std::max(width.size(), line.size()), 0);
    if (line.size() == 3) continue;
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  }
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < 2; ++c) width[c] = std::max(width[c], line[c].size());
  }
  std::ostringstream out;
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      const bool text =
          c < 2 || line.size() == 3 || lines[0][c] == "bound by" || lines[0][c] == "on the front";
      out << (c == 0 ? "" : "  ") << (text ? std::left : std::right)
          << std::setw(line.size() == 3 && c == 2 ? 0 : static_cast<int>(width[c])) << line[c];
    }
    out << "\n";
  }
  return out.str();
}

Measures Measures::of(const ordered_json& statistics) {
  Measures m;
  m.cycles = statistics.at("cycles").get<std::uint64_t>();
  m.thread_instructions = statistics.at("thread_instructions").get<std::uint64_t>();
  m.executed_thread_instructions = statistics.at("executed_thread_instructions").get<std::uint64_t>();
  m.ipc = statistics.at("ipc").get<double>();
  m.lane_activity = statistics.at("lane_activity").get<double>();
  m.simd_efficiency = statistics.at("simd_efficiency").get<double>();
  m.idle_share = statistics.at("idle_share").get<double>();
  m.idle_share_blocked = statistics.at("idle_share_blocked").get<double>();
  m.idle_share_k = statistics.at("idle_share_k").get<double>();
  m.depth_utilisation = statistics.at("depth_utilisation").get<double>();
  m.coalescing_rate = statistics.at("coalescing_rate").get<double>();
  const ordered_json& bound = statistics.at("bound_by");
  if (!bound.is_null()) {
    m.bound = bound.at("resource").get<std::string>();
    m.bound_by = bound.at("short").get<std::string>();
    m.bound_text = bound.at("text").get<std::string>();
    m.bound_waits = bound.at("waits").get<std::string>();
    m.bound_busy = bound.at("busy").get<double>();
  }
  m.cpu_seconds = statistics.at("cpu_seconds").get<double>();
  if (statistics.contains("energy")) {
    const ordered_json& energy = statistics.at("energy");
    m.joules = energy.at("joules").get<double>();
    m.watts = energy.at("watts").get<double>();
    m.edp = energy.at("edp").get<double>();
    m.ed2p = energy.at("ed2p").get<double>();
  }

  if (statistics.contains("area") && !statistics.at("area").is_null()) {
    const ordered_json& area = statistics.at("area");
    m.scheme_mm2 = area.at("scheme_mm2_per_sm").get<double>();
    m.area_mm2 = *m.scheme_mm2 + area.at("registers_mm2_per_sm").get<double>();
  }

  const statistics::Sample sample(statistics.at("statistics"));
  const auto ratio = [](double a, double b) { return b == 0 ? 0 : a / b; };
  if (sample.has({{"sm", 0}, "warp_formation", "storage_bits"})) {
    m.storage_bits = static_cast<std::uint64_t>(sample.sum({{"sm", 0}, "warp_formation", "storage_bits"}));
  }
  if (sample.has({"sm", "oracle"})) {
    m.oracle = ratio(sample.sum({"sm", "oracle", "executions"}),
                     sample.sum({"sm", "oracle", "issues"}) * statistics.at("lanes").get<double>());
  }
  if (sample.has({"sm", "stalled"})) {
    const auto of = [&](const char* state) { return sample.sum({"sm", "stalled", state}); };
    const double threads =
        of("in_pipeline") + of("ready") + of("barrier") + of("reconvergence") + of("inactive");
    m.at_barrier = ratio(of("barrier"), threads);
    m.at_reconvergence = ratio(of("reconvergence"), threads);
    m.inactive = ratio(of("inactive"), threads);
    m.stalled = ratio(of("reconvergence") + of("inactive"), threads);
    m.stalled_of_launched = ratio(of("reconvergence") + of("inactive"), of("launched_thread_cycles"));
  }
  return m;
}

std::optional<double> Comparison::speedup(const Row& row) const {
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& other) { return other.workload == row.workload; });
  if (!row.measures || first == rows.end() || !first->measures || row.measures->cycles == 0) return {};
  return static_cast<double>(first->measures->cycles) / static_cast<double>(row.measures->cycles);
}

std::optional<Comparison::Means> Comparison::means(const std::string& scheme) const {
  double inverse = 0, logarithm = 0, count = 0;
  for (const Row& row : rows) {
    if (row.scheme != scheme) continue;
    const auto ratio = speedup(row);
    if (!ratio) return {};
    inverse += 1 / *ratio;
    logarithm += std::log(*ratio);
    ++count;
  }
  if (count == 0) return {};
  return Means{count / inverse, std::exp(logarithm / count)};
}

namespace {

// One of the two tables: what the runs came to, and the readings of idle with the rest.
std::string part(const Comparison& comparison, int which) {
  std::vector<std::vector<std::string>> lines{{"workload", "scheme"}};
  for (const Column& column : kColumns) {
    if (column.table == which) lines[0].emplace_back(column.heading);
  }
  if (which == 1) {
    lines[0].emplace_back("speed-up");
    lines[0].emplace_back("bound by");
  }
  std::string workload;
  for (const Row& row : comparison.rows) {
    const bool ran = row.measures && row.exit_code == 0;
    if (which != 1 && !ran) continue;
    std::vector<std::string> line{row.workload == workload ? "" : row.workload, row.scheme};
    workload = row.workload;
    if (!ran) {
      line.push_back(row.result.substr(0, row.result.find('\n')));
      lines.push_back(line);
      continue;
    }
    for (const Column& column : kColumns) {
      if (column.table != which) continue;
      const auto value = column.value(*row.measures);
      line.push_back(value ? fixed(*value, column.digits) : "-");
    }
    if (which == 1) {
      const auto ratio = comparison.speedup(row);
      line.push_back(ratio ? fixed(*ratio, 3) : "-");
      line.push_back(row.measures->bound_by);
    }
    lines.push_back(line);
  }
  return lines.size() == 1 ? "" : aligned(lines);
}

}  // namespace

std::string table(const Comparison& comparison) {
  std::string text = part(comparison, 1);
  const std::string more = part(comparison, 2);
  if (!more.empty()) text += "\n" + more;
  const std::string pareto = pareto_text(comparison);
  if (!pareto.empty()) text += "\n" + pareto;
  const bool several =
      !comparison.rows.empty() && comparison.rows.back().workload != comparison.rows[0].workload;
  if (!several) return text;
  std::vector<std::vector<std::string>> means{
      {"speed-up over", comparison.rows[0].scheme, "harmonic", "geometric"}};
  for (const std::string& scheme : schemes_of(comparison)) {
    const auto mean = comparison.means(scheme);
    means.push_back(
        {"", scheme, mean ? fixed(mean->harmonic, 3) : "-", mean ? fixed(mean->geometric, 3) : "-"});
  }
  return text + "\n" + aligned(means);
}

std::string csv(const Comparison& comparison) {
  std::ostringstream out;
  out << "config,workload,size,scheme,exit_code,result";
  for (const Column& column : kColumns) out << "," << column.name;
  out << ",speedup,bound_by\n";
  out << std::setprecision(17);
  for (const Row& row : comparison.rows) {
    out << as_cell(comparison.config) << "," << as_cell(row.workload) << "," << as_cell(comparison.size)
        << "," << as_cell(row.scheme) << "," << row.exit_code << "," << as_cell(row.result);
    for (const Column& column : kColumns) {
      out << ",";
      const auto value = row.measures ? column.value(*row.measures) : std::nullopt;
      if (value) out << *value;
    }
    const auto ratio = comparison.speedup(row);
    out << ",";
    if (ratio) out << *ratio;
    out << "," << (row.measures ? row.measures->bound : "") << "\n";
  }
  return out.str();
}

ordered_json json(const Comparison& comparison) {
  ordered_json result{
      {"config", comparison.config}, {"size", comparison.size}, {"runs", ordered_json::array()}};
  for (const Row& row : comparison.rows) {
    ordered_json run{{"workload", row.workload},
                     {"scheme", row.scheme},
                     {"exit_code", row.exit_code},
                     {"result", row.result}};
    for (const Column& column : kColumns) {
      const auto value = row.measures ? column.value(*row.measures) : std::nullopt;
      ordered_json& cell = run[column.name];  // null so far
      if (!value.has_value()) continue;
      const double number = value.value_or(0);
      const bool whole = column.digits == 0;  // a count
      cell = whole ? ordered_json(static_cast<std::uint64_t>(number)) : ordered_json(number);
    }
    const auto ratio = comparison.speedup(row);
    run["bound_by"] = row.measures ? ordered_json(row.measures->bound) : ordered_json(nullptr);
    run["speedup"] = ratio ? ordered_json(*ratio) : ordered_json(nullptr);
    result["runs"].push_back(std::move(run));
  }
  for (const std::string& scheme : schemes_of(comparison)) {
    const auto mean = comparison.means(scheme);
    result["means"][scheme] = mean
                                  ? ordered_json{{"harmonic", mean->harmonic}, {"geometric", mean->geometric}}
                                  : ordered_json(nullptr);
  }
  result["pareto"] = pareto_json(comparison);
  return result;
}

}  // namespace weft::cli
