#include "study/judge/experiment_plan.h"

#include <algorithm>
#include <utility>

#include "study/judge/library.h"
#include "study/plan/plan_file.h"
#include "weft/common/error.h"
#include "workloads/workload.h"

namespace weft::study {

ExperimentPlan::ExperimentPlan(const Experiment& experiment, const std::vector<Sensitivity>& sensitivities,
                               std::uint64_t seeds)
    : experiment_(experiment) {
  plan_.name = experiment.name;
  plan_.title = experiment.title;
  plan_.axes = {"program", "variant"};
  if (!sensitivities.empty() || seeds > 1) plan_.axes.emplace_back("change");
  PlanBuilder builder(plan_);
  add(builder, {});
  const auto needed = headline_variants();
  for (const Sensitivity& one : sensitivities) {
    for (const std::string& setting : one.settings) add(builder, {setting, &one, 0}, &needed);
  }
  for (std::uint64_t seed = 1; seed < seeds; ++seed)
    add(builder, {"seed " + std::to_string(seed), nullptr, seed}, &needed);
}

std::vector<std::string> ExperimentPlan::headline_variants() const {
  std::vector<std::string> names;
  for (const ClaimPlan& plan : experiment_.claims) {
    const auto& ids = experiment_.headline;
    if (std::find(ids.begin(), ids.end(), plan.claim->id) != ids.end()) variants_of(*plan.value, names);
  }
  return names;
}

void ExperimentPlan::add(PlanBuilder& builder, const Change& change, const std::vector<std::string>* needed) {
  changes_.push_back(change);
  auto& places = places_.emplace_back();
  for (const ExperimentProgram& program : experiment_.programs) {
    for (const ExperimentVariant& variant : experiment_.variants) {
      if (needed != nullptr && std::find(needed->begin(), needed->end(), variant.name) == needed->end()) {
        places.emplace_back();
        continue;
      }
      std::vector<std::string> values{program.abbr, variant.name};
      if (plan_.axes.size() > 2) values.push_back(change.name);
      places.emplace_back(builder.add(std::move(values), run_of(program, variant, change), experiment_.file));
    }
  }
}

Run ExperimentPlan::run_of(const ExperimentProgram& program, const ExperimentVariant& variant,
                           const Change& change) const {
  Run run;
  run.program = program.workload;
  run.size = program.size;
  run.kind = program.kind;
  run.file = program.file;
  run.arguments = program.arguments;
  if (change.seed != 0 && !program.is_own() && workloads::has_seed(*workloads::find(program.workload)))
    run.size += ",seed=" + std::to_string(change.seed);
  run.config = experiment_.config;
  run.overrides = experiment_.overrides;
  for (const auto* more : {&program.overrides, &variant.overrides})
    run.overrides.insert(run.overrides.end(), more->begin(), more->end());
  if (change.of != nullptr) run.overrides.push_back(change.name);
  run.label = (program.kernel.empty() ? program.abbr : program.workload) + " " + variant.label +
              (change.name.empty() ? "" : " " + change.name);
  run.guess = guess(program);
  return run;
}

// Programs that are kernels of one workload share its runs.
std::optional<double> ExperimentPlan::guess(const ExperimentProgram& program) const {
  if (program.is_own()) return program.seconds;
  double sum = 0;
  for (const ExperimentProgram& one : experiment_.programs) {
    if (one.workload != program.workload || one.size != program.size) continue;
    if (!one.seconds) return {};
    sum += *one.seconds;
  }
  return sum;
}

Results ExperimentPlan::results_of(std::size_t change, const Executor& executor,
                                   const FolderStore& store) const {
  std::vector<RunResult> list;
  for (std::size_t i = 0; i < places_[change].size(); ++i) {
    const std::optional<std::size_t>& run = places_[change][i];
    if (run) {
      const std::size_t variants = experiment_.variants.size();
      const std::string& kernel = experiment_.programs[i / variants].kernel;
      const Row row =
          row_of(plan_.runs[*run].program, experiment_.variants[i % variants].name, executor.end(*run));
      list.push_back(result_of(row, store.folder_of(plan_.runs[*run]), experiment_.measures, kernel));
    } else {
      RunResult none;
      none.row.result = "not needed";
      list.push_back(none);
    }
  }
  return {experiment_, std::move(list)};
}

Results ExperimentPlan::results(const Executor& executor, const FolderStore& store) const {
  return results_of(0, executor, store);
}

std::vector<SettingResult> ExperimentPlan::settings(const Executor& executor, const FolderStore& store,
                                                    const Rules& rules, bool whole) const {
  std::vector<SettingResult> list;
  for (std::size_t i = 1; i < places_.size(); ++i) {
    if (changes_[i].of == nullptr) continue;
    Results of = results_of(i, executor, store);
    auto claims = judge_headline(experiment_, of, rules, whole);
    list.push_back({changes_[i].of, changes_[i].name, std::move(of), std::move(claims), false});
  }
  return list;
}

std::vector<SeedResult> ExperimentPlan::seeds(const Executor& executor, const FolderStore& store,
                                              const Rules& rules, bool whole) const {
  std::vector<SeedResult> list;
  for (std::size_t i = 1; i < places_.size(); ++i) {
    if (changes_[i].of != nullptr) continue;
    Results of = results_of(i, executor, store);
    auto claims = judge_headline(experiment_, of, rules, whole);
    list.push_back({changes_[i].name, std::move(of), std::move(claims)});
  }
  return list;
}

std::map<std::string, std::size_t> ExperimentPlan::other_builds(const Executor& executor,
                                                                const FolderStore& store) const {
  std::map<std::string, std::size_t> count;
  for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
    if (!executor.end(i).measures) continue;
    if (const std::string build = store.other_build(plan_.runs[i]); !build.empty()) ++count[build];
  }
  return count;
}

Plan plan_named(const std::string& name) {
  if (names_file(name)) return plan_of_file(name);
  const Library library = read_library(experiment_folder());
  if (!library.has(name)) {
    throw InputError("weft sweep", "found '" + name + "'; allowed: a file (.json), or an experiment: " +
                                       joined(library.names()));
  }
  const Experiment experiment = library.read(name);
  return ExperimentPlan(experiment).plan();
}

}  // namespace weft::study
