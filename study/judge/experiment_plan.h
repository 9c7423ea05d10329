// The plan of an experiment: its programs x its variants, on the machine as it is and, for the headline,
// under other values of what a paper does not print and for other inputs.
#ifndef WEFT_STUDY_JUDGE_EXPERIMENT_PLAN_H
#define WEFT_STUDY_JUDGE_EXPERIMENT_PLAN_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/experiment.h"
#include "study/judge/results.h"
#include "study/plan/plan.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"

namespace weft::study {

class ExperimentPlan {
 public:
  // `seeds`: how many inputs the headline is run for, the sizes' own among them. All that is passed must
  // outlive it. Throws InputError for a configuration that is refused.
  explicit ExperimentPlan(const Experiment& experiment, const std::vector<Sensitivity>& sensitivities = {},
                          std::uint64_t seeds = 1);

  // Axes: program, variant, and change (empty: the machine as it is) if there are any.
  const Plan& plan() const { return plan_; }

  // Results of the machine as it is, when the executor has done the runs.
  Results results(const Executor& executor, const FolderStore& store) const;
  // ... under each setting that is not printed.
  std::vector<SettingResult> settings(const Executor& executor, const FolderStore& store, const Rules& rules,
                                      bool whole) const;
  // ... with the inputs of other seeds than the sizes' own.
  std::vector<SeedResult> seeds(const Executor& executor, const FolderStore& store, const Rules& rules,
                                bool whole) const;
  // How many results other builds made, by build.
  std::map<std::string, std::size_t> other_builds(const Executor& executor, const FolderStore& store) const;

 private:
  // What is not as in the experiment: a value of the machine, or the seed of the inputs, or nothing.
  struct Change {
    std::string name;                 // for people; empty: nothing
    const Sensitivity* of = nullptr;  // a value of the machine: `name` is "path=value"
    std::uint64_t seed = 0;
  };
  std::vector<std::string> headline_variants() const;
  // Adds the runs with a change, of all variants or of those needed.
  void add(PlanBuilder& builder, const Change& change, const std::vector<std::string>* needed = nullptr);
  Run run_of(const ExperimentProgram& program, const ExperimentVariant& variant, const Change& change) const;
  std::optional<double> guess(const ExperimentProgram& program) const;
  Results results_of(std::size_t change, const Executor& executor, const FolderStore& store) const;

  const Experiment& experiment_;
  Plan plan_;
  // The first one is none; and per program and variant the number of the run.
  std::vector<Change> changes_;
  std::vector<std::vector<std::optional<std::size_t>>> places_;
};

// The plan of a file (plan_file.h) or of an experiment. Throws InputError.
Plan plan_named(const std::string& name);

}  // namespace weft::study

#endif
