#include "study/page/report_series.h"

#include <algorithm>
#include <string>
#include <vector>

#include "study/session/csv_reader.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

// What the page draws. Ratios would have to be made again from their parts, and are not taken.
bool is_counter(const std::string& name) {
  static const std::vector<std::string> kCounters = {"cycles",
                                                     "thread_instructions",
                                                     "executed_thread_instructions",
                                                     "warp_instructions",
                                                     "active_beats",
                                                     "active_lanes",
                                                     "memory_thread_instructions",
                                                     "data_requests",
                                                     "l1d_accesses",
                                                     "l1d_hits",
                                                     "held_cycles",
                                                     "lane_cycles",
                                                     "shared_accesses"};
  return name.rfind("cycles_", 0) == 0 || name.rfind("stalled_", 0) == 0 ||
         std::find(kCounters.begin(), kCounters.end(), name) != kCounters.end();
}

bool is_gauge(const std::string& name) {
  return name == "live_threads" || name == "ready_warps" || name.rfind("warp_formation.", 0) == 0;
}

// Points of equal length in intervals; the last one may be shorter.
class Points {
 public:
  struct Column {
    std::string name;
    std::size_t at = 0;
    bool gauge = false;
    std::vector<double> values;
  };
  explicit Points(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void begin_interval(double cycle) {
    cycles_.push_back(cycle);
    for (Column& column : columns_) column.values.push_back(0);
  }
  bool is_in(double cycle) const { return !cycles_.empty() && cycles_.back() == cycle; }
  void add(const CsvReader& row) {
    for (Column& column : columns_) column.values.back() += row.number(column.at);
  }
  // Joins intervals until there are few enough.
  void reduce() {
    const std::size_t together = (cycles_.size() + kMostPoints - 1) / kMostPoints;
    if (together <= 1) return;
    const std::size_t points = (cycles_.size() + together - 1) / together;
    for (std::size_t p = 0; p < points; ++p) {
      const std::size_t first = p * together, end = std::min(first + together, cycles_.size());
      cycles_[p] = cycles_[end - 1];
      for (Column& column : columns_) {
        double value = 0;
        for (std::size_t i = first; i < end; ++i)
          value = column.gauge ? column.values[i] : value + column.values[i];
        column.values[p] = value;
      }
    }
    cycles_.resize(points);
    for (Column& column : columns_) column.values.resize(points);
  }
  ordered_json json() const {
    ordered_json json{{"cycle", cycles_}, {"columns", ordered_json::object()}};
    for (const Column& column : columns_) json["columns"][column.name] = column.values;
    return json;
  }
  std::vector<Column>& columns() { return columns_; }

 private:
  std::vector<double> cycles_;
  std::vector<Column> columns_;
};

}  // namespace

ordered_json sample_series(const ResultRun& run) {
  const auto text = run.text("samples.csv");
  if (!text.has_value()) return nullptr;
  CsvReader table(*text, run.file("samples.csv"));
  const std::size_t cycle = table.column("cycle");
  std::vector<Points::Column> columns;
  for (std::size_t i = 0; i < table.names().size(); ++i) {
    const std::string& name = table.names()[i];
    if (is_counter(name) || is_gauge(name)) columns.push_back({name, i, is_gauge(name), {}});
  }
  Points points(std::move(columns));
  while (table.next()) {
    const double now = table.number(cycle);
    if (!points.is_in(now)) points.begin_interval(now);
    points.add(table);
  }
  points.reduce();
  return points.json();
}

ordered_json power_series(const ResultRun& run) {
  const auto text = run.text("power.csv");
  if (!text.has_value()) return nullptr;
  CsvReader table(*text, run.file("power.csv"));
  const std::size_t cycle = table.column("cycle"), cycles = table.column("cycles"),
                    power = table.column("power_w");
  Points points({{"cycles", cycles, false, {}}, {"power_w", power, false, {}}});
  while (table.next()) {
    points.begin_interval(table.number(cycle));
    points.columns()[0].values.back() = table.number(cycles);
    points.columns()[1].values.back() = table.number(power) * table.number(cycles);  // averaged below
  }
  points.reduce();
  for (std::size_t i = 0; i < points.columns()[0].values.size(); ++i) {
    const double length = points.columns()[0].values[i];
    double& value = points.columns()[1].values[i];
    value = length == 0 ? 0 : value / length;
  }
  return points.json();
}

}  // namespace weft::study
