#include "study/judge/scores.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace weft::study {
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

std::optional<double> value_of(const SqliteStore& store, const std::string& run, const std::string& metric) {
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

LogMean log_mean(const Plan& plan, const SqliteStore& store, const std::vector<std::size_t>& points,
                 const std::string& metric) {
  LogMean mean;
  double sum = 0;
  for (const std::size_t point : points) {
    const Run& run = plan.runs[plan.points[point].run];
    const auto end = store.ended(run.id);
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
      fails(fmt::format("{} is {}, which has no geometric mean", metric, *value));
    } else {
      sum += std::log(*value);
    }
  }
  if (mean.reason.empty()) mean.value = sum / static_cast<double>(points.size());
  return mean;
}

}  // namespace weft::study
