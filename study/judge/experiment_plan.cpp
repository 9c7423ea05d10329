#include "study/judge/experiment_plan.h"

#include <algorithm>
#include <utility>

#include "study/judge/library.h"
#include "study/judge/other_prices.h"
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
  look_at_headline();
  for (const Sensitivity& one : sensitivities) {
    for (const Sensitivity::Setting& setting : one.settings)
      add(builder, {setting.name, &one, setting.overrides, 0}, &headline_variants_);
  }
  for (std::uint64_t seed = 1; seed < seeds; ++seed)
    add(builder, {"seed " + std::to_string(seed), nullptr, {}, seed}, &headline_variants_);
}

void ExperimentPlan::look_at_headline() {
  for (const ClaimPlan& plan : experiment_.claims) {
    const auto& ids = experiment_.headline;
    if (std::find(ids.begin(), ids.end(), plan.claim->id) == ids.end()) continue;
    variants_of(*plan.value, headline_variants_);
    measures_of(*plan.value, headline_measures_);
  }
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
  run.key = program.key;
  run.arguments = program.arguments;
  if (change.seed != 0 && !program.is_own() && workloads::has_seed(*workloads::find(program.workload)))
    run.size += ",seed=" + std::to_string(change.seed);
  run.config = variant.config;
  run.overrides = experiment_.overrides;
  for (const auto* more : {&program.overrides, &variant.overrides})
    run.overrides.insert(run.overrides.end(), more->begin(), more->end());
  if (change.of != nullptr && change.of->concerns(variant.name))
    run.overrides.insert(run.overrides.end(), change.overrides.begin(), change.overrides.end());
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

std::vector<ExperimentPlan::Entry> ExperimentPlan::entries() const {
  std::vector<Entry> list;
  const std::size_t variants = experiment_.variants.size();
  for (std::size_t change = 0; change < places_.size(); ++change) {
    for (std::size_t place = 0; place < places_[change].size(); ++place) {
      const std::optional<std::size_t>& run = places_[change][place];
      if (!run) continue;
      list.push_back({change, place, &experiment_.programs[place / variants],
                      &experiment_.variants[place % variants], &plan_.runs[*run]});
    }
  }
  return list;
}

std::set<std::string> ExperimentPlan::keys(const Entry& entry) const {
  std::set<std::string> keys;
  for (const Measure& measure : experiment_.measures) {
    if (entry.change == 0 || headline_measures_.count(measure.name) != 0)
      add_keys(measure, entry.extent(), keys);
  }
  return keys;
}

Wanted ExperimentPlan::wanted(const Entry& entry) const {
  Wanted wanted;
  wanted.kernel = entry.program->kernel;
  wanted.keys = keys(entry);
  if (entry.change != 0) return wanted;
  add_keys_of_rows(entry.extent(), wanted.keys);
  wanted.events = true;
  for (const Sensitivity& one : experiment_.sensitivity) {
    if (!is_about_prices(one)) continue;
    for (const Sensitivity::Setting& setting : one.settings) wanted.prices.push_back(setting.name);
  }
  return wanted;
}

std::map<std::string, std::size_t> ExperimentPlan::builds(const RunTable& table) const {
  std::map<const Run*, std::string> made;  // programs that are kernels share runs
  for (const Entry& entry : entries()) {
    const RunResult& result = table[entry.change][entry.place];
    if (result.machine != nullptr) made[entry.run] = result.build;
  }
  std::map<std::string, std::size_t> count;
  for (const auto& [run, build] : made) ++count[build];
  return count;
}

RunTable ExperimentPlan::empty_table() const {
  RunResult none;
  none.result = "not needed";
  return RunTable(places_.size(),
                  std::vector<RunResult>(experiment_.programs.size() * experiment_.variants.size(), none));
}

RunTable ExperimentPlan::read_runs(const Executor& executor, const FolderStore& store) const {
  RunTable table = empty_table();
  for (const Entry& entry : entries()) {
    const RunEnd& end = executor.end(static_cast<std::size_t>(entry.run - plan_.runs.data()));
    RunResult& result = table[entry.change][entry.place];
    result.exit_code = end.code;
    result.result = end.text();
    result.work = entry.run->work;
    if (!end.measures || end.code != 0) continue;
    result.build = store.build_of(*entry.run);
    result.machine = entry.run->effective;
    result.reading = read_run(store.folder_of(*entry.run), wanted(entry));
    set_values(experiment_.measures, entry.extent(), result);
  }
  return table;
}

std::vector<SettingResult> ExperimentPlan::settings(const RunTable& table, const Rules& rules,
                                                    bool whole) const {
  std::vector<SettingResult> list;
  for (std::size_t i = 1; i < changes_.size(); ++i) {
    if (changes_[i].of == nullptr) continue;
    Results of(experiment_, table[i]);
    auto claims = judge_headline(experiment_, of, rules, whole);
    list.push_back({changes_[i].of, changes_[i].name, std::move(of), std::move(claims), false});
  }
  return list;
}

std::vector<SeedResult> ExperimentPlan::seeds(const RunTable& table, const Rules& rules, bool whole) const {
  std::vector<SeedResult> list;
  for (std::size_t i = 1; i < changes_.size(); ++i) {
    if (changes_[i].of != nullptr) continue;
    Results of(experiment_, table[i]);
    auto claims = judge_headline(experiment_, of, rules, whole);
    list.push_back({changes_[i].name, std::move(of), std::move(claims)});
  }
  return list;
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
