#include "sc_main/sweep/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace weft::cli {
namespace {

// Names for what has a longer one in stats.json, or several.
const std::map<std::string, std::vector<std::string>>& short_names() {
  static const std::map<std::string, std::vector<std::string>> kNames{
      {"energy", {"energy.joules"}},
      {"edp", {"energy.edp"}},
      {"area", {"area.scheme_mm2_per_sm", "area.registers_mm2_per_sm"}}};
  return kNames;
}

}  // namespace

std::vector<Candidate> candidates_of(const Sweep& sweep, const std::vector<std::size_t>& axes,
                                     const std::vector<std::size_t>& points) {
  std::vector<Candidate> candidates;
  std::map<std::vector<std::string>, std::size_t> numbers;
  for (const std::size_t point : points) {
    std::vector<std::string> values;
    for (const std::size_t axis : axes) values.push_back(sweep.points[point].values[axis]);
    const auto [found, fresh] = numbers.try_emplace(values, candidates.size());
    if (fresh) candidates.push_back({std::move(values), {}});
    candidates[found->second].points.push_back(point);
  }
  return candidates;
}

std::vector<std::size_t> all_points(const Sweep& sweep) {
  std::vector<std::size_t> points(sweep.points.size());
  std::iota(points.begin(), points.end(), 0);
  return points;
}

std::vector<std::size_t> work_axes(const Sweep& sweep) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    for (const char* name : {"workload", "program", "size", "seed"}) {
      if (sweep.axes[i] == name) axes.push_back(i);
    }
  }
  return axes;
}

std::vector<std::size_t> other_axes(const Sweep& sweep, const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) others.push_back(i);
  }
  return others;
}

std::string name_of(const Sweep& sweep, const std::vector<std::size_t>& axes,
                    const std::vector<std::string>& values) {
  std::string name;
  for (std::size_t i = 0; i < axes.size(); ++i)
    name += (i == 0 ? "" : ", ") + sweep.axes[axes[i]] + " " + values[i];
  return name;
}

std::optional<double> value_of(const SweepStore& store, const std::string& run, const std::string& metric) {
  const auto found = short_names().find(metric);
  if (found == short_names().end()) return store.value_of(run, metric);
  double sum = 0;
  for (const std::string& part : found->second) {
    const auto value = store.value_of(run, part);
    if (!value.has_value()) return {};
    sum += *value;
  }
  return sum;
}

LogMean log_mean(const Sweep& sweep, const SweepStore& store, const std::vector<std::size_t>& points,
                 const std::string& metric) {
  LogMean mean;
  double sum = 0;
  for (const std::size_t point : points) {
    const SweepRun& run = sweep.runs[sweep.points[point].run];
    const auto end = store.end_of(run.id);
    if (!end.has_value()) {
      mean.open = true;
      mean.reason = "not run yet";
      return mean;
    }
    const auto fails = [&](const std::string& why) {
      if (mean.reason.empty()) mean.reason = run.program + " " + run.size + ": " + why;
    };
    if (end->state != "done") {
      fails(end->state + (end->reason.empty() ? "" : ": " + end->reason));
      continue;
    }
    const auto value = value_of(store, run.id, metric);
    if (!value.has_value()) {
      fails("has no " + metric);
    } else if (!std::isfinite(*value) || *value <= 0) {
      fails(fmt::format("{} is {}, of which there is no geometric mean", metric, *value));
    } else {
      sum += std::log(*value);
    }
  }
  if (mean.reason.empty()) mean.value = sum / static_cast<double>(points.size());
  return mean;
}

}  // namespace weft::cli
