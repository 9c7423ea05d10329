// The store of `weft sweep`: a SQLite database of runs and what they measured, which any SQLite reads. Whole
// at any time: a run is there with all of its values, or not at all, whenever the program is killed.
//
//   sweep(name, title, axes)                        axes: a JSON list
//   point(sweep, number, run)                       run: its id, which may not be done yet
//   label(sweep, point, axis, value)                as the sweep names it
//   run(number, id, program, size, config, scheme, settings, state, ...)
//   configuration(run, json)                        effective; a number of `run`
//   metric(number, name, kind)                      "sm3.memory.l1d.hits", "sm*.memory.l1d.hits"
//   value(run, metric, value)                       numbers of `run` and `metric`
//
// and views: result (a row per point: its sweep and its run), measurement (sweep, point, metric, value:
// long), total (run, kind, sum, least, most, instances).
#ifndef WEFT_STUDY_RUN_SQLITE_STORE_H
#define WEFT_STUDY_RUN_SQLITE_STORE_H

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "study/plan/plan.h"
#include "study/run/processes.h"
#include "study/run/run_store.h"

namespace SQLite {  // NOLINT(readability-identifier-naming): the library's name
class Database;
}

namespace weft::study {

// How a run ended, in words of the store: "done", "wrong" (results), "refused", "fault" (or hang), "killed"
// (by a signal), "time", "memory" (limits).
struct StoredRun {
  std::string state, reason;  // reason: what the run said; empty if done
  JobEnd end;
  std::string bound_by;
  std::vector<std::pair<std::string, double>> values;  // by metric, each once
};

// Every number of a stats.json by its path with dots; statistics without "statistics." before them.
std::vector<std::pair<std::string, double>> metrics_of(const nlohmann::ordered_json& results);
// "sm3.memory.l1d.hits" -> "sm*.memory.l1d.hits", as `weft list statistics` names them.
std::string kind_of_metric(const std::string& name);

class SqliteStore : public RunStore {
 public:
  // Opens the file, or makes it. Runs write to FILE.runs/ID, and if `keep` that folder stays when the
  // database has their results. Throws InputError if the file is another database, or cannot be written.
  explicit SqliteStore(const std::string& file, bool keep = false);
  ~SqliteStore() override;

  std::optional<RunEnd> end_of(const Run& run) const override;
  std::optional<double> seconds_of(const Run& run) const override;
  std::string what_counts() const override { return "build, configuration and program"; }
  std::string folder() const override { return folder_; }
  std::string folder_of(const Run& run) const override { return folder_ + "/" + run.id; }
  bool keeps_folders() const override { return keep_; }
  void begins(const Run& run) override;
  RunEnd take(const Run& run, const Job& job, const JobEnd& end) override;
  void abandon(const Run& run) override;

  // The state of a run; nothing: it is not there.
  std::optional<std::string> state_of(const std::string& id) const;
  // How it ended, in words of StoredRun; nothing: it is not there.
  struct End {
    std::string state, reason;
  };
  std::optional<End> ended(const std::string& id) const;
  // The points of a sweep, or these of them, in place of those of that name that are there. Points are
  // numbered as in the sweep, from 1.
  void describe(const Plan& plan);
  void describe(const Plan& plan, const std::vector<std::size_t>& points);
  // A run, in place of the one that is there.
  void record(const Run& run, const StoredRun& result);

  // A number of a run; nothing: the run is not there, or did not come to it.
  std::optional<double> value_of(const std::string& run, const std::string& metric) const;

  struct Summary {
    std::string name, title;
    std::uint64_t points = 0, done = 0, failed = 0;
  };
  std::vector<Summary> sweeps() const;
  // A row per point: number, axes, run (in the table "run.state"...), and each metric of the whole machine;
  // those of instances are in the database.
  std::string csv(const std::string& sweep) const;
  nlohmann::ordered_json json(const std::string& sweep) const;

 private:
  struct Statements;  // that are used for each run, prepared once

  // The number of a metric, which is a run's so many-th.
  std::int64_t metric(const std::string& name, std::size_t place);

  const std::string folder_;
  const bool keep_;
  const std::unique_ptr<SQLite::Database> database_;
  const std::unique_ptr<Statements> statements_;
  std::unordered_map<std::string, std::int64_t> metrics_;
  std::vector<const std::pair<const std::string, std::int64_t>*> last_metrics_;  // of the last run, by place
};

}  // namespace weft::study

#endif
