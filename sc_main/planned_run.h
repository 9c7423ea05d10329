// One run of `weft compare`: a workload under a scheme, with the folder of its results. Results that are
// there already count if they are complete and of the very same run (run_record.h).
#ifndef WEFT_SC_MAIN_PLANNED_RUN_H
#define WEFT_SC_MAIN_PLANNED_RUN_H

#include <sys/stat.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sc_main/comparison.h"
#include "sc_main/processes.h"
#include "sc_main/session.h"

namespace weft::cli {

// Which results that are there count.
enum class Reuse : std::uint8_t { kNone, kOfThisBuild, kOfAnyBuild };

class PlannedRun {
 public:
  // `scheme` is its name in the table; `session.out` the folder, which is made.
  PlannedRun(std::string workload, std::string scheme, std::string size, SessionOptions session);

  // The row while there are no results, and why.
  Row unfinished(const std::string& why) const;
  // The row of the results in the folder, if they are of this run. Those of another build are, if its
  // configuration lacks no more than keys that are at their defaults in this one.
  std::optional<Row> finished(Reuse reuse = Reuse::kOfThisBuild) const;
  // From now on the results lie in another folder.
  void move_to(const std::string& folder) { session_.out = folder; }
  // The effective configuration, as text; empty: it will be refused.
  const std::string& effective() const { return effective_; }
  // Whether what lies in the folder is of this build, and of this run.
  bool is_of_this_build() const;
  // "0.1.0 3f2a...": which build made the results in the folder; empty: none are there.
  std::string build() const;

  Job job() const;
  // Before the job starts.
  void starts();
  // The row of a job that has ended, by its exit code (run_apart). What a run before it left is no result of
  // this one.
  Row ended(int exit_code) const;

 private:
  bool is_of_any_build(const nlohmann::ordered_json& record) const;
  struct stat results() const;  // of stats.json; zeros: it is not there

  std::string workload_, scheme_, size_;
  SessionOptions session_;
  nlohmann::ordered_json record_;  // null: it will be refused
  std::string effective_;          // configuration
  struct stat before_ = {};
};

}  // namespace weft::cli

#endif
