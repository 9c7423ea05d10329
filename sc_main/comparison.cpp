#include "sc_main/comparison.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

namespace weft::cli {

using nlohmann::ordered_json;

namespace {

bool is_sm(const std::string& name) {
  return name.size() > 2 && name.compare(0, 2, "sm") == 0 &&
         std::all_of(name.begin() + 2, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// A column: its heading, its name in files, the digits that the table shows, and the value in a row.
struct Column {
  const char* heading;
  const char* name;
  int digits;
  std::optional<double> (*value)(const Measures& m);
};

const Column kColumns[] = {
    {"cycles", "cycles", 0, [](const Measures& m) { return std::optional(static_cast<double>(m.cycles)); }},
    {"", "thread_instructions", 0,
     [](const Measures& m) { return std::optional(static_cast<double>(m.thread_instructions)); }},
    {"IPC", "ipc", 2, [](const Measures& m) { return std::optional(m.ipc); }},
    {"lanes", "lane_activity", 3, [](const Measures& m) { return std::optional(m.lane_activity); }},
    {"oracle", "oracle_lane_activity", 3, [](const Measures& m) { return m.oracle; }},
    {"depth", "depth_utilisation", 3, [](const Measures& m) { return std::optional(m.depth_utilisation); }},
    {"SIMD eff", "simd_efficiency", 3, [](const Measures& m) { return std::optional(m.simd_efficiency); }},
    {"idle", "idle_share", 3, [](const Measures& m) { return std::optional(m.idle_share); }},
    {"coalesce", "coalescing_rate", 2, [](const Measures& m) { return std::optional(m.coalescing_rate); }},
    {"stalled", "stalled_share", 3, [](const Measures& m) { return m.stalled; }},
    {"", "stalled_reconvergence", 3, [](const Measures& m) { return m.at_reconvergence; }},
    {"", "stalled_inactive", 3, [](const Measures& m) { return m.inactive; }},
    {"barrier", "stalled_barrier", 3, [](const Measures& m) { return m.at_barrier; }},
    {"", "storage_bits_per_sm", 0,
     [](const Measures& m) { return std::optional(static_cast<double>(m.storage_bits)); }},
    {"CPU s", "cpu_seconds", 2, [](const Measures& m) { return std::optional(m.cpu_seconds); }},
};

std::string number(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' ? ' ' : c);
  return out + "\"";
}

std::vector<std::string> schemes_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const Row& row : comparison.rows) {
    if (std::find(names.begin(), names.end(), row.scheme) == names.end()) names.push_back(row.scheme);
  }
  return names;
}

// Columns as wide as their widest cell; the first two to the left. A row that says why stands as it is.
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
      const bool text = c < 2 || line.size() == 3;
      out << (c == 0 ? "" : "  ") << (text ? std::left : std::right)
          << std::setw(line.size() == 3 && c == 2 ? 0 : static_cast<int>(width[c])) << line[c];
    }
    out << "\n";
  }
  return out.str();
}

}  // namespace

Measures Measures::of(const ordered_json& statistics, const ordered_json& config) {
  Measures m;
  m.cycles = statistics.at("cycles").get<std::uint64_t>();
  m.thread_instructions = statistics.at("thread_instructions").get<std::uint64_t>();
  m.ipc = statistics.at("ipc").get<double>();
  m.lane_activity = statistics.at("lane_activity").get<double>();
  m.simd_efficiency = statistics.at("simd_efficiency").get<double>();
  m.idle_share = statistics.at("idle_share").get<double>();
  m.coalescing_rate = statistics.at("coalescing_rate").get<double>();
  m.cpu_seconds = statistics.at("cpu_seconds").get<double>();

  double beats = 0, executions = 0, issues = 0, threads = 0, barrier = 0, reconvergence = 0, inactive = 0;
  std::uint64_t sms = 0;
  bool oracle = false, stalled = false;
  for (const auto& [name, sm] : statistics.at("statistics").items()) {
    if (!is_sm(name)) continue;
    beats += sm.at("active_beats").get<double>();
    if (sms++ == 0) {
      for (const auto& [part, values] : sm.items()) {
        if (part.compare(0, 14, "warp_formation") == 0 && values.contains("storage_bits"))
          m.storage_bits += static_cast<std::uint64_t>(values.at("storage_bits").get<double>());
      }
    }
    if (sm.contains("oracle")) {
      oracle = true;
      executions += sm["oracle"].at("executions").get<double>();
      issues += sm["oracle"].at("issues").get<double>();
    }
    if (!sm.contains("stalled")) continue;
    stalled = true;
    const auto of = [&values = sm["stalled"]](const char* key) { return values.at(key).get<double>(); };
    threads += of("in_pipeline") + of("ready") + of("barrier") + of("reconvergence") + of("inactive");
    barrier += of("barrier");
    reconvergence += of("reconvergence");
    inactive += of("inactive");
  }
  const auto ratio = [](double a, double b) { return b == 0 ? 0 : a / b; };
  const auto& machine = config.at("sm");
  m.depth_utilisation = ratio(beats, static_cast<double>(m.cycles) * static_cast<double>(sms) *
                                         machine.at("simd_groups").get<double>());
  if (oracle) m.oracle = ratio(executions, issues * machine.at("simd_width").get<double>());
  if (stalled) {
    m.at_barrier = ratio(barrier, threads);
    m.at_reconvergence = ratio(reconvergence, threads);
    m.inactive = ratio(inactive, threads);
    m.stalled = ratio(reconvergence + inactive, threads);
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

std::string table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> lines{{"workload", "scheme"}};
  for (const Column& column : kColumns) {
    if (*column.heading != '\0') lines[0].emplace_back(column.heading);
  }
  lines[0].emplace_back("speed-up");
  std::string workload;
  for (const Row& row : comparison.rows) {
    std::vector<std::string> line{row.workload == workload ? "" : row.workload, row.scheme};
    workload = row.workload;
    if (!row.measures || row.exit_code != 0) {
      line.push_back(row.result.substr(0, row.result.find('\n')));
    } else {
      for (const Column& column : kColumns) {
        if (*column.heading == '\0') continue;
        const auto value = column.value(*row.measures);
        line.push_back(value ? number(*value, column.digits) : "-");
      }
      const auto ratio = comparison.speedup(row);
      line.push_back(ratio ? number(*ratio, 3) : "-");
    }
    lines.push_back(line);
  }
  std::string text = aligned(lines);
  const bool several =
      !comparison.rows.empty() && comparison.rows.back().workload != comparison.rows[0].workload;
  if (!several) return text;
  std::vector<std::vector<std::string>> means{
      {"speed-up over", comparison.rows[0].scheme, "harmonic", "geometric"}};
  for (const std::string& scheme : schemes_of(comparison)) {
    const auto mean = comparison.means(scheme);
    means.push_back(
        {"", scheme, mean ? number(mean->harmonic, 3) : "-", mean ? number(mean->geometric, 3) : "-"});
  }
  return text + "\n" + aligned(means);
}

std::string csv(const Comparison& comparison) {
  std::ostringstream out;
  out << "config,workload,size,scheme,exit_code,result";
  for (const Column& column : kColumns) out << "," << column.name;
  out << ",speedup\n";
  out << std::setprecision(17);
  for (const Row& row : comparison.rows) {
    out << quoted(comparison.config) << "," << quoted(row.workload) << "," << quoted(comparison.size) << ","
        << quoted(row.scheme) << "," << row.exit_code << "," << quoted(row.result);
    for (const Column& column : kColumns) {
      out << ",";
      const auto value = row.measures ? column.value(*row.measures) : std::nullopt;
      if (value) out << *value;
    }
    const auto ratio = comparison.speedup(row);
    out << ",";
    if (ratio) out << *ratio;
    out << "\n";
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
    run["speedup"] = ratio ? ordered_json(*ratio) : ordered_json(nullptr);
    result["runs"].push_back(std::move(run));
  }
  for (const std::string& scheme : schemes_of(comparison)) {
    const auto mean = comparison.means(scheme);
    result["means"][scheme] = mean
                                  ? ordered_json{{"harmonic", mean->harmonic}, {"geometric", mean->geometric}}
                                  : ordered_json(nullptr);
  }
  return result;
}

}  // namespace weft::cli
