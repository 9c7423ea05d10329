#include "study/judge/plan_pareto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "study/judge/pareto_front.h"
#include "study/plan/place.h"
#include "study/plan/variant.h"
#include "study/terminal/table.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

// A candidate with what it came to, for each objective: the mean of logarithms.
struct Costs {
  const Candidate* candidate = nullptr;
  std::vector<double> log_means;
};

std::string front_text(const Plan& plan, const SqliteStore& store, const Candidate& group,
                       const std::vector<Objective>& objectives, const std::vector<std::size_t>& searched) {
  const std::vector<Candidate> candidates = candidates_of(plan, searched, group.points);
  std::vector<Costs> complete;
  std::string missing;
  for (const Candidate& candidate : candidates) {
    Costs costs{&candidate, {}};
    std::string reason;
    for (const Objective& objective : objectives) {
      const LogMean mean = log_mean(plan, store, candidate.points, objective.metric);
      if (reason.empty()) reason = mean.reason;
      costs.log_means.push_back(mean.value.value_or(0));
    }
    if (reason.empty()) {
      complete.push_back(std::move(costs));
    } else {
      missing += "not compared: " + name_of(plan, searched, candidate.values) + ": " + reason + "\n";
    }
  }
  if (complete.empty()) return missing;
  std::vector<std::vector<double>> numbers;
  for (const Costs& costs : complete) {
    auto& list = numbers.emplace_back();
    for (std::size_t i = 0; i < objectives.size(); ++i)
      list.push_back(objectives[i].most ? -costs.log_means[i] : costs.log_means[i]);
  }
  const auto better = dominated_by(numbers);
  std::vector<TextColumn> columns;
  for (const std::size_t axis : searched) columns.push_back({plan.axes[axis], Align::kLeft});
  for (const Objective& objective : objectives) columns.push_back({objective.metric});
  columns.push_back({"on the front", Align::kLeft});
  TextTable table(std::move(columns), searched.size());
  std::size_t front = 0;
  for (std::size_t i = 0; i < complete.size(); ++i) {
    std::vector<std::string> cells = complete[i].candidate->values;
    for (std::size_t k = 0; k < objectives.size(); ++k)
      cells.push_back(fmt::format("{:.4f}", std::exp(complete[i].log_means[k] - complete[0].log_means[k])));
    std::string by;
    if (better[i].has_value()) {
      for (const std::string& value : complete[*better[i]].candidate->values)
        by.append(by.empty() ? "no: " : " ").append(value);
    }
    front += by.empty() ? 1 : 0;
    cells.push_back(by.empty() ? "yes" : by);
    table.row(std::move(cells));
  }
  return table.text(kPageWidth) +
         fmt::format("{} of {} on the Pareto front; numbers as ratios to the first row\n", front,
                     complete.size()) +
         missing;
}

}  // namespace

std::vector<Objective> read_objectives(const std::string& text) {
  std::vector<Objective> list;
  for (const std::string& word : split("--pareto", text, ',')) {
    const std::size_t colon = word.rfind(':');
    Objective objective{word.substr(0, colon), false};
    if (colon != std::string::npos) {
      const std::string goal = word.substr(colon + 1);
      if (goal != "least" && goal != "most")
        throw InputError("--pareto", "found '" + word + "'; allowed: METRIC, METRIC:least, METRIC:most");
      objective.most = goal == "most";
    }
    if (objective.metric.empty())
      throw InputError("--pareto",
                       "found '" + word + "'; allowed: a metric, such as cycles, energy, area, ipc:most");
    const bool twice = std::any_of(list.begin(), list.end(),
                                   [&](const Objective& one) { return one.metric == objective.metric; });
    if (twice) throw InputError("--pareto", "duplicate '" + objective.metric + "'");
    list.push_back(std::move(objective));
  }
  return list;
}

std::vector<std::size_t> axes_named(const Plan& plan, const std::string& text) {
  std::vector<std::size_t> axes;
  for (const std::string& name : split("--per", text, ',')) {
    const auto found = std::find(plan.axes.begin(), plan.axes.end(), name);
    if (found == plan.axes.end())
      throw InputError("--per", "found '" + name + "'; allowed: " + joined(plan.axes));
    const auto axis = static_cast<std::size_t>(found - plan.axes.begin());
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  return axes;
}

std::vector<std::size_t> compared_axes(const Plan& plan, const std::vector<std::size_t>& per) {
  std::vector<std::size_t> others = work_axes(plan);
  if (plan.halving.has_value()) {
    others = plan.halving->mean_over;
    others.push_back(plan.halving->rungs);
  }
  others.insert(others.end(), per.begin(), per.end());
  std::vector<std::size_t> axes = other_axes(plan, others);
  if (axes.empty()) {
    throw InputError(
        "--pareto",
        "found no axis to compare; allowed: a plan with a further axis besides those of programs and --per");
  }
  return axes;
}

std::string pareto_text(const Plan& plan, const SqliteStore& store, const std::vector<std::size_t>& points,
                        const std::vector<Objective>& objectives, const std::vector<std::size_t>& per) {
  const std::vector<std::size_t> axes = compared_axes(plan, per);
  std::string text;
  for (const Candidate& group : candidates_of(plan, per, points)) {
    if (!per.empty()) text += name_of(plan, per, group.values) + "\n";
    text += front_text(plan, store, group, objectives, axes) + "\n";
  }
  return text;
}

}  // namespace weft::study
