// The data of an experiment: the numbers of its runs (run_numbers.h) as compact JSON, from which its page,
// verdicts and figures come out without a run. `weft reproduce` writes DIR/data/NAME.json, and reads it with
// --from-results.
//
//   command       that wrote it, without options about where
//   config        effective configuration of the first run; `machines` are changes of it (RFC 6902)
//   work          what ran, but for the machine (Run::work)
//   builds        of Weft that made the runs
//   prices        picojoules per event, by setting of energy.* keys ("": the machine's own)
//   counters      keys of the numbers of a run, in their order; `not_counted`: keys that no run had;
//                 `changed_counters`, `changed_not_counted`: the same for runs with a change
//   runs          program, variant, and change ("sm.pipeline_depth=8", "seed 1") if there is one; `machine`,
//                 `work`, `build` and `prices`: places in the lists above (0 if not given); result
//                 ("verified" if not given) and exit code; numbers, null for what a run did not count
//
// Runs of the machine as it is have the counters of all derived values and of the experiment's measures.
// Those with a change have the counters of the headline.
#ifndef WEFT_STUDY_JUDGE_RESULTS_DATA_H
#define WEFT_STUDY_JUDGE_RESULTS_DATA_H

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "study/judge/experiment_plan.h"

namespace weft::study {

std::string data_text(const ExperimentPlan& plan, const RunTable& table, const std::string& command);

// Where the data of an experiment, or of a slice of it, lie below a folder of results.
std::string data_file(const std::string& folder, const std::string& named);

class ResultsData {
 public:
  // Throws InputError if the file is not there, or is not such a file.
  explicit ResultsData(const std::string& file);

  const std::string& command() const { return command_; }
  // Changes of the machine or of the inputs for which there are runs, sorted.
  std::set<std::string> changes() const;

  // The runs of the plan. `missing` gets what the data do not have of it, in sentences: runs, runs of the
  // machine and the program as they are now, counters. Throws InputError for the data of another experiment.
  RunTable table(const ExperimentPlan& plan, std::vector<std::string>& missing) const;

 private:
  using Name = std::tuple<std::string, std::string, std::string>;  // change, program, variant

  const std::string file_;
  std::string experiment_, command_;
  std::set<std::string> keys_, changed_keys_;  // of numbers
  std::map<Name, RunResult> runs_;
};

// These, with the settings alone for which the data have runs.
std::vector<Sensitivity> settings_in(const ResultsData& data, std::vector<Sensitivity> sensitivities);

}  // namespace weft::study

#endif
