// One run of `weft compare`: a workload under a scheme, with the folder of its results. Results that are
// there already count if they are complete and of the very same run (run_record.h).
#ifndef WEFT_SC_MAIN_PLANNED_RUN_H
#define WEFT_SC_MAIN_PLANNED_RUN_H

#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sc_main/comparison.h"
#include "sc_main/processes.h"
#include "sc_main/session.h"

namespace weft::cli {

class PlannedRun {
 public:
  // `scheme` is its name in the table; `session.out` the folder, which is made.
  PlannedRun(std::string workload, std::string scheme, std::string size, SessionOptions session);

  // The row while there are no results, and why.
  Row unfinished(const std::string& why) const;
  // The row of the results in the folder, if they are of this run.
  std::optional<Row> finished() const;

  Job job() const;
  // Before the job starts.
  void starts();
  // The row of a job that has ended, by its exit code (run_apart). What a run before it left is no result of
  // this one.
  Row ended(int exit_code) const;

 private:
  struct stat results() const;  // of stats.json; zeros: it is not there

  std::string workload_, scheme_, size_;
  SessionOptions session_;
  nlohmann::ordered_json record_;  // null: it will be refused
  struct stat before_ = {};
};

}  // namespace weft::cli

#endif
