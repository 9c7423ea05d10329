#include "study/judge/comparison.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/csv.h"
#include "measures/measures.h"
#include "study/judge/pareto.h"
#include "study/terminal/table.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

using measures::Subject;

// A column: its heading, its name in files, the digits that the table shows, the value in a row, and what the
// legend says. Without `value`, it is the derived value of this name.
struct Column {
  const char* heading;
  const char* name;
  Subject subject;
  int digits;
  std::optional<double> (*value)(const Measures& m);
  const char* legend;

  std::optional<double> of(const Measures& m) const { return value != nullptr ? value(m) : m.of(name); }
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

const Column kCounted[] = {
    {"cycles", "cycles", Subject::kTime, 0, member<&Measures::cycles>, "core cycles in which a launch ran"},
    {"", "thread_instructions", Subject::kNone, 0, member<&Measures::thread_instructions>, ""},
    {"", "executed_thread_instructions", Subject::kNone, 0, member<&Measures::executed_thread_instructions>,
     ""}};
// Derived values that stand in this order; others follow in the order of their table.
constexpr const char* kFirst[] = {"ipc",
                                  "lane_activity",
                                  "oracle_lane_activity",
                                  "coalescing_rate",
                                  "stalled_share",
                                  "idle_share_k",
                                  "idle_share",
                                  "idle_share_blocked",
                                  "depth_utilisation",
                                  "simd_efficiency",
                                  "stalled_of_launched"};
const Column kCosts[] = {
    {"", "storage_bits_per_sm", Subject::kNone, 0, member<&Measures::storage_bits>, ""},
    {"mJ", "energy_mj", Subject::kCost, 4, millijoules, "energy, with the memory devices"},
    {"W", "watts", Subject::kCost, 2, optional_member<&Measures::watts>, "mean power"},
    {"EDP nJs", "edp_njs", Subject::kCost, 4, nanojoule_seconds, "energy x time"},
    {"mm2/SM", "scheme_mm2_per_sm", Subject::kCost, 4, optional_member<&Measures::scheme_mm2>,
     "area of the scheme's tables in an SM"},
    {"", "area_mm2_per_sm", Subject::kNone, 6, optional_member<&Measures::area_mm2>, ""},
    {"", "ed2p", Subject::kNone, 9, optional_member<&Measures::ed2p>, ""},
    {"", "bound_busy", Subject::kNone, 3, member<&Measures::bound_busy>, ""},
    {"CPU s", "cpu_seconds", Subject::kCost, 2, member<&Measures::cpu_seconds>,
     "CPU time of this computer in the simulation"},
};

std::vector<Column> all_columns() {
  std::vector<Column> columns(std::begin(kCounted), std::end(kCounted));
  const auto add = [&columns](const measures::Definition& row) {
    columns.push_back({row.column, row.name, row.subject, row.digits, nullptr, row.legend});
  };
  for (const char* const name : kFirst) add(measures::get(name));
  for (const measures::Definition& row : measures::rows()) {
    const bool placed = std::any_of(std::begin(kFirst), std::end(kFirst),
                                    [&row](std::string_view name) { return name == row.name; });
    if (!placed && (row.outputs & measures::kComparison) != 0) add(row);
  }
  columns.insert(columns.end(), std::begin(kCosts), std::end(kCosts));
  return columns;
}
const std::vector<Column>& columns() {
  static const std::vector<Column> list = all_columns();
  return list;
}

constexpr const char *kSpeedup = "speed-up", *kBoundBy = "bound by";

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

bool ran(const Row& row) {
  return row.measures && row.exit_code == 0;
}

// The columns of a subject in which a row has something.
std::vector<const Column*> columns_of(const Comparison& comparison, Subject subject) {
  std::vector<const Column*> list;
  for (const Column& column : columns()) {
    const bool there = std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const Row& row) {
      return ran(row) && column.of(*row.measures).has_value();
    });
    if (column.subject == subject && there) list.push_back(&column);
  }
  return list;
}

// What the runs came to, by subject. Runs that came to nothing are in the first table, with the reason.
std::string part(const Comparison& comparison, Subject subject, const std::vector<const Column*>& shown,
                 const Paint& paint) {
  const bool first = subject == Subject::kTime;
  std::vector<TextColumn> columns{{"workload", Align::kLeft}, {"scheme", Align::kLeft}};
  for (const Column* column : shown) columns.push_back({column->heading});
  if (first) {
    columns.push_back({kSpeedup});
    columns.push_back({kBoundBy, Align::kLeft});
  }
  TextTable table(std::move(columns), 2);
  std::string workload;
  for (const Row& row : comparison.rows) {
    if (!first && !ran(row)) continue;
    std::vector<std::string> cells{row.workload == workload ? "" : row.workload, row.scheme};
    workload = row.workload;
    if (!ran(row)) {
      table.remark(std::move(cells), paint.bad(row.result.substr(0, row.result.find('\n'))));
      continue;
    }
    for (const Column* column : shown) {
      const auto value = column->of(*row.measures);
      cells.push_back(value ? fixed(*value, column->digits) : "-");
    }
    if (first) {
      const auto ratio = comparison.speedup(row);
      cells.push_back(ratio ? fixed(*ratio, 3) : "-");
      cells.push_back(row.measures->bound_by);
    }
    table.row(std::move(cells));
  }
  return table.empty() ? "" : table.text(kPageWidth, paint);
}

std::string means_text(const Comparison& comparison, const Paint& paint) {
  TextTable means({{"speed-up over", Align::kLeft},
                   {comparison.rows[0].scheme, Align::kLeft},
                   {"harmonic"},
                   {"geometric"}},
                  2);
  for (const std::string& scheme : schemes_of(comparison)) {
    const auto mean = comparison.means(scheme);
    means.row({"", scheme, mean ? fixed(mean->harmonic, 3) : "-", mean ? fixed(mean->geometric, 3) : "-"});
  }
  return means.text(kPageWidth, paint);
}

}  // namespace

std::string table(const Comparison& comparison, const Paint& paint) {
  std::string text;
  TextTable legend({{"", Align::kLeft}, {"", Align::kLeft}}, 1, 2);
  const auto add = [&](const std::string& more) {
    text += (text.empty() || more.empty() ? "" : "\n") + more;
  };
  for (const Subject subject : {Subject::kTime, Subject::kThreads, Subject::kCost}) {
    const auto columns = columns_of(comparison, subject);
    add(part(comparison, subject, columns, paint));
    for (const Column* column : columns) legend.row({column->heading, column->legend});
    if (subject != Subject::kTime || columns.empty()) continue;
    legend.row({kSpeedup, "cycles of the first scheme / cycles of this scheme"});
    legend.row(
        {kBoundBy, "the part that limits the run, and its utilisation; latency: no part is saturated"});
  }
  add(pareto_text(comparison, paint));
  if (!comparison.rows.empty() && comparison.rows.back().workload != comparison.rows[0].workload)
    add(means_text(comparison, paint));
  if (!legend.empty()) add(paint.heading("columns") + "\n" + legend.text());
  return text;
}

std::string csv(const Comparison& comparison) {
  std::ostringstream out;
  out << "config,workload,size,scheme,exit_code,result";
  for (const Column& column : columns()) out << "," << column.name;
  out << ",speedup,bound_by\n";
  out << std::setprecision(17);
  for (const Row& row : comparison.rows) {
    out << as_cell(comparison.config) << "," << as_cell(row.workload) << "," << as_cell(comparison.size)
        << "," << as_cell(row.scheme) << "," << row.exit_code << "," << as_cell(row.result);
    for (const Column& column : columns()) {
      out << ",";
      const auto value = row.measures ? column.of(*row.measures) : std::nullopt;
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
    for (const Column& column : columns()) {
      const auto value = row.measures ? column.of(*row.measures) : std::nullopt;
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

}  // namespace weft::study
