// An experiment with its runs, from reading its file to writing its page: what `weft reproduce NAME` does.
//
//   Reproduction one("harp-schemes", library, options);
//   one.plan(store, engine, Executor::Repeat::kNone);    // not if options.from gives data
//   one.executor().run();
//   one.write_results();
#ifndef WEFT_STUDY_PAGE_REPRODUCTION_H
#define WEFT_STUDY_PAGE_REPRODUCTION_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/experiment_plan.h"
#include "study/judge/library.h"
#include "study/judge/results_data.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"
#include "weft/common/error.h"

namespace weft::study {

// The options of `weft reproduce` that say what is shown.
struct ReproductionOptions {
  std::string only, size;    // a slice: these programs, at this size
  std::string keys;          // with `sensitivity`: these of the experiment's keys
  std::string out;           // folder of results
  std::string from;          // folder of results from whose data everything is made; empty: from runs
  std::uint64_t seeds = 1;   // inputs of the headline
  bool sensitivity = false;  // the headline under other settings
  bool figures = false;      // all of them

  bool whole() const { return only.empty() && size.empty(); }
};

// What `sensitivity` and `keys` ask for. Throws InputError.
std::vector<Sensitivity> sensitivities_of(const Experiment& experiment, const ReproductionOptions& options);

// There are no data of an experiment.
class NoData : public InputError {
 public:
  using InputError::InputError;
};

class Reproduction {
 public:
  // Library and options must outlive it. Throws InputError, and NoData.
  Reproduction(const std::string& name, const Library& library, const ReproductionOptions& options);

  // Plans the runs, whose results `store` keeps.
  void plan(FolderStore& store, const Engine& engine, Executor::Repeat repeat);

  const Experiment& experiment() const { return experiment_; }
  Executor& executor() { return *executor_; }

  // NAME.json, .csv, .md, data/NAME.json and verdicts.md. False: something is not where it should be, or the
  // data lack something.
  bool write_results();

  // The page without pictures, after write_results.
  const std::string& on_terminal() const { return on_terminal_; }
  // Lines of a group's table: how many runs are verified, and how many claims have which verdict, at the
  // defaults and whatever is not printed.
  std::vector<std::vector<std::string>> summary() const;

 private:
  void read_data();
  RunTable table_of_data();
  // A slice does not take the place of the whole.
  std::string named() const { return experiment_.name + (options_.whole() ? "" : "-slice"); }
  std::string base() const { return options_.out + "/" + named(); }

  const Library& library_;
  const ReproductionOptions& options_;
  Experiment experiment_;
  std::uint64_t seeds_;
  std::optional<ResultsData> data_;   // none: from the runs
  std::vector<std::string> missing_;  // what the data do not have
  std::vector<Sensitivity> to_run_;
  FolderStore* store_ = nullptr;
  std::unique_ptr<ExperimentPlan> plan_;
  std::unique_ptr<Executor> executor_;
  std::vector<ClaimResult> judged_;
  std::string on_terminal_;
};

}  // namespace weft::study

#endif
