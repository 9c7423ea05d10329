// Where the results of a plan's runs are kept: as folders (folder_store.h) or in an SQLite database
// (sqlite_store.h). An executor asks a store which runs are there, lets each run write into a folder, and
// hands the folder over when the run has ended.
#ifndef WEFT_STUDY_RUN_RUN_STORE_H
#define WEFT_STUDY_RUN_RUN_STORE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "study/plan/plan.h"
#include "study/run/processes.h"
#include "study/run/run_measures.h"

namespace weft::study {

// How a run ended.
struct RunEnd {
  enum class State : std::uint8_t {
    kNotFinished,  // `reason`: "interrupted", or nothing
    kNotRun,       // an interrupt came before
    kDone,         // its results are verified
    kWrong,        // results
    kRefused,      // configuration, size or program
    kFault,        // or hang
    kNoResults,    // it ended well, but its results cannot be read
    kKilled,       // by a signal
    kTime,         // limits of the plan
    kMemory
  };
  State state = State::kNotFinished;
  std::string reason;                        // what the run said; empty if done
  double cpu_seconds = 0;                    // of the simulation; 0: not known
  int code = 3;                              // exit code, as `weft run` has them
  std::shared_ptr<const Measures> measures;  // in a store of folders, of a run that came to its end

  bool there() const { return state >= State::kDone; }
  bool done() const { return state == State::kDone; }
  std::string text() const;  // "verified", "fault: ..."
};

// By its exit code, its limits, and what it said; not yet by its results.
RunEnd end_of_job(const Job& job, const JobEnd& end);
// A row of a table of results.
Row row_of(const std::string& workload, const std::string& scheme, const RunEnd& end);

class RunStore {
 public:
  RunStore() = default;
  virtual ~RunStore() = default;
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  // How a run ended whose results are there; nothing: it is to be done.
  virtual std::optional<RunEnd> end_of(const Run& run) const = 0;
  // CPU seconds that the run takes: as it did before, else the mean of runs of its machine, program and size.
  // Nothing: no such run was done.
  virtual std::optional<double> seconds_of(const Run& run) const = 0;
  // What results have in common with the plan if they count: "build, configuration and program".
  virtual std::string what_counts() const = 0;

  // The folder of all runs, for the files of a cluster.
  virtual std::string folder() const = 0;
  // ... and of one.
  virtual std::string folder_of(const Run& run) const = 0;
  // Whether those of runs must survive a failure of the machine.
  virtual bool keeps_folders() const = 0;

  // Before the run starts: makes its folder.
  virtual void begins(const Run& run) = 0;
  // The run has ended: takes its results from the folder.
  virtual RunEnd take(const Run& run, const Job& job, const JobEnd& end) = 0;
  // It was interrupted.
  virtual void abandon(const Run& run) = 0;
};

}  // namespace weft::study

#endif
