// The plan of an experiment: its programs x its variants, on the machine as it is and, for the headline,
// under other values of what a paper does not print and for other inputs.
#ifndef WEFT_STUDY_JUDGE_EXPERIMENT_PLAN_H
#define WEFT_STUDY_JUDGE_EXPERIMENT_PLAN_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "study/judge/experiment.h"
#include "study/judge/results.h"
#include "study/plan/plan.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"

namespace weft::study {

// Results of the runs of a plan: by change, then by program and variant as in the experiment.
using RunTable = std::vector<std::vector<RunResult>>;

class ExperimentPlan {
 public:
  // `seeds`: how many inputs the headline is run for, the sizes' own among them. All that is passed must
  // outlive it. Throws InputError for a configuration that is refused.
  explicit ExperimentPlan(const Experiment& experiment, const std::vector<Sensitivity>& sensitivities = {},
                          std::uint64_t seeds = 1);

  const Experiment& experiment() const { return experiment_; }
  // Axes: program, variant, and change (empty: the machine as it is) if there are any.
  const Plan& plan() const { return plan_; }

  // A run, with its place in a table.
  struct Entry {
    std::size_t change = 0, place = 0;
    const ExperimentProgram* program = nullptr;
    const ExperimentVariant* variant = nullptr;
    const Run* run = nullptr;

    Extent extent() const { return program->kernel.empty() ? Extent::kRun : Extent::kKernel; }
  };
  std::vector<Entry> entries() const;
  // "sm.pipeline_depth=8", "seed 3"; empty: the machine as it is.
  const std::string& name_of(std::size_t change) const { return changes_[change].name; }
  // Keys of the numbers of which the experiment's measures are made.
  std::set<std::string> keys(const Entry& entry) const;
  // What is read of a run: these and more.
  Wanted wanted(const Entry& entry) const;

  // How many runs with results each build made.
  std::map<std::string, std::size_t> builds(const RunTable& table) const;

  // Without results.
  RunTable empty_table() const;
  // With those that the executor has done.
  RunTable read_runs(const Executor& executor, const FolderStore& store) const;

  // Results of the machine as it is.
  Results results(const RunTable& table) const { return {experiment_, table[0]}; }
  // ... under each setting that is not printed.
  std::vector<SettingResult> settings(const RunTable& table, const Rules& rules, bool whole) const;
  // ... with the inputs of other seeds than the sizes' own.
  std::vector<SeedResult> seeds(const RunTable& table, const Rules& rules, bool whole) const;

 private:
  // What is not as in the experiment: a value of the machine, or the seed of the inputs, or nothing.
  struct Change {
    std::string name;                    // for people; empty: nothing
    const Sensitivity* of = nullptr;     // a value of the machine, in `overrides`
    std::vector<std::string> overrides;  // "path=value"
    std::uint64_t seed = 0;
  };
  // Adds what the claims of the headline are made of.
  void look_at_headline();
  // Adds the runs with a change, of all variants or of those needed.
  void add(PlanBuilder& builder, const Change& change, const std::vector<std::string>* needed = nullptr);
  std::vector<std::string> headline_variants_;
  std::set<std::string> headline_measures_;
  Run run_of(const ExperimentProgram& program, const ExperimentVariant& variant, const Change& change) const;
  std::optional<double> guess(const ExperimentProgram& program) const;

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
