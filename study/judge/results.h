// The runs of an experiment, and what they say about the claims.
#ifndef WEFT_STUDY_JUDGE_RESULTS_H
#define WEFT_STUDY_JUDGE_RESULTS_H

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/experiment.h"
#include "study/judge/verdict.h"

namespace weft::study {

// Of one setting of the machine. `runs` are by program, then by variant, as in the experiment.
class Results {
 public:
  Results(const Experiment& experiment, std::vector<RunResult> runs)
      : experiment_(&experiment), runs_(std::move(runs)) {}

  const RunResult& run(std::size_t program, std::size_t variant) const {
    return runs_[program * experiment_->variants.size() + variant];
  }
  // None: the run has not ended well, or its statistics do not have it, or there is no such run.
  std::optional<double> at(const std::string& measure, const std::string& variant,
                           const std::string& program) const;
  const std::vector<RunResult>& runs() const { return runs_; }
  // `at`, for values; it must not outlive these results.
  Lookup lookup() const;
  std::optional<double> value(const Value& value) const;

 private:
  const Experiment* experiment_;
  std::vector<RunResult> runs_;
};

// Gives each program the type that its runs show, and each value the programs of its types. A program
// without that measure keeps none.
void classify(Experiment& experiment, const Results& results);
// The program's type if the limit were moved by so much.
std::string type_at(const ExperimentClass& classes, double measured, double moved = 0);

struct ClaimResult {
  const Claim* claim = nullptr;
  std::optional<Finding> finding;  // none: a run or a measure is missing
  std::optional<Verdict> verdict;  // none: that, or the experiment ran in part only
  // Other readings and settings under which the verdict is another one: "geometric mean: 1.05, same trend".
  std::vector<std::string> flips;
  std::optional<Verdict> worst;  // of all of these and the plain one: whatever is not printed
  std::optional<Verdict> plain;  // the verdict before any of these: at the defaults
};

// The verdict is another one under `name`, another reading or setting: it depends on what is not printed.
void add_flip(ClaimResult& result, const std::string& name, const std::optional<Finding>& other,
              Verdict verdict);

// What comes out of the runs; none: a run or a measure is missing.
std::optional<Finding> finding_of(const FindingPlan& plan, const Lookup& at);

// What came out, in the words of a table; "-" for nothing.
std::string shown(const Claim& claim, const std::optional<Finding>& finding);
std::string printed(const Claim& claim);

// One result per claim of the experiment, in its order. `whole`: all programs ran at their sizes; else there
// are no verdicts.
std::vector<ClaimResult> judge_all(const Experiment& experiment, const Results& results, const Rules& rules,
                                   bool whole);

// A setting of something that is not printed, and the headline claims under it.
struct SettingResult {
  const Sensitivity* of = nullptr;
  std::string setting;
  Results results;
  std::vector<ClaimResult> claims;  // those of the headline, in its order
  bool computed = false;            // from the runs of the machine as it is
};
// The headline with other inputs: of programs whose inputs are generated from a seed.
struct SeedResult {
  std::string name;  // "seed 3"
  Results results;
  std::vector<ClaimResult> claims;
};
std::vector<ClaimResult> judge_headline(const Experiment& experiment, const Results& results,
                                        const Rules& rules, bool whole);
// Marks the claims whose verdict another setting turns into another one.
void mark_flips(const std::vector<SettingResult>& settings, std::vector<ClaimResult>& claims);

nlohmann::ordered_json json_of(const ClaimResult& result);
// What is written beside the page: everything, and the values of all runs as a long table.
nlohmann::ordered_json json_of(const Experiment& experiment, const Results& results,
                               const std::vector<ClaimResult>& claims,
                               const std::vector<SettingResult>& settings,
                               const std::vector<SeedResult>& seeds);
std::string csv_of(const Experiment& experiment, const Results& results,
                   const std::vector<SettingResult>& settings, const std::vector<SeedResult>& seeds);

}  // namespace weft::study

#endif
