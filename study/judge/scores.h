// Numbers by which the candidates of a plan are compared, from a store of its runs.
#ifndef WEFT_STUDY_JUDGE_SCORES_H
#define WEFT_STUDY_JUDGE_SCORES_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/plan/plan.h"
#include "study/run/sqlite_store.h"

namespace weft::study {

// A number of a run: a metric of the store, or "energy" (energy.joules), "edp" (energy.edp), "area" (mm2 of
// the tables and registers of an SM). Nothing: the run is not there, or has no such number.
std::optional<double> value_of(const SqliteStore& store, const std::string& run, const std::string& metric);

// What a metric is over points: the mean of its logarithms. Without it, why: a run that failed or lacks the
// metric, or a value that has no logarithm. `open`: of runs that are not in the store.
struct LogMean {
  std::optional<double> value;
  std::string reason;
  bool open = false;
};
LogMean log_mean(const Plan& plan, const SqliteStore& store, const std::vector<std::size_t>& points,
                 const std::string& metric);

}  // namespace weft::study

#endif
