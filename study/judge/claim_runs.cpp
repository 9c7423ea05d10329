#include "study/judge/claim_runs.h"

#include <algorithm>
#include <optional>

namespace weft::study {
namespace {

// The value itself says what it looks at: it is computed from made-up numbers, and the questions are noted.
void add_runs(const Value& value, RunNames& names) {
  evaluate(value, [&](const std::string&, const std::string& variant, const std::string& program) {
    names.emplace(program, variant);
    return std::optional<double>(1);
  });
}

template <class Item, class Wanted>
void keep(std::vector<Item>& list, Wanted wanted) {
  list.erase(std::remove_if(list.begin(), list.end(), [&](const Item& item) { return !wanted(item); }),
             list.end());
}

}  // namespace

RunNames runs_of_types(const Experiment& experiment) {
  RunNames names;
  if (!experiment.classes) return names;
  for (const ExperimentProgram& program : experiment.programs)
    names.emplace(program.abbr, experiment.classes->variant);
  return names;
}

RunNames runs_of(const FindingPlan& finding) {
  RunNames names;
  if (finding.value) add_runs(*finding.value, names);
  for (const auto& [name, value] : finding.values) add_runs(value, names);
  return names;
}

RunNames runs_with_readings(const ClaimPlan& plan) {
  RunNames names = runs_of(plan);
  for (const ClaimPlan::Reading& reading : plan.readings) names.merge(runs_of(reading));
  return names;
}

Experiment with_claim_alone(Experiment experiment, const std::string& id) {
  keep(experiment.claims, [&](const ClaimPlan& plan) { return plan.claim->id == id; });
  keep(experiment.headline, [&](const std::string& one) { return one == id; });
  if (experiment.headline.empty()) {
    experiment.sensitivity.clear();
    experiment.price_times.clear();
  }
  experiment.comparisons.clear();
  experiment.numbers.clear();
  experiment.tables.clear();
  experiment.figures.clear();

  RunNames needed = runs_with_readings(experiment.claims.front());
  const bool any_type = [&] {
    bool any = false;
    experiment.each_value([&](const Value& value) { any = any || speaks_of_types(value); });
    return any;
  }();
  if (any_type) needed.merge(runs_of_types(experiment));
  if (!any_type) experiment.classes.reset();
  std::set<std::string> workloads, variants;
  for (const ExperimentProgram& program : experiment.programs) {
    const auto is_it = [&](const auto& name) { return name.first == program.abbr; };
    if (std::any_of(needed.begin(), needed.end(), is_it)) workloads.insert(program.workload);
  }
  for (const auto& [program, variant] : needed) variants.insert(variant);
  // Kernels of one workload stay together: what their run takes is the sum of what is known of them.
  keep(experiment.programs,
       [&](const ExperimentProgram& program) { return workloads.count(program.workload) != 0; });
  keep(experiment.variants,
       [&](const ExperimentVariant& variant) { return variants.count(variant.name) != 0; });
  return experiment;
}

std::vector<std::size_t> numbers_of(const Plan& plan, const RunNames& names, bool changed) {
  std::vector<std::size_t> numbers;
  for (const Point& point : plan.points) {
    const bool is_changed = point.values.size() > 2 && !point.values[2].empty();
    if (is_changed != changed || names.count({point.values[0], point.values[1]}) == 0) continue;
    if (std::find(numbers.begin(), numbers.end(), point.run) == numbers.end()) numbers.push_back(point.run);
  }
  return numbers;
}

}  // namespace weft::study
