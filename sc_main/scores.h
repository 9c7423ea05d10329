// Numbers by which the candidates of a plan are compared, from a store of its runs.
#ifndef WEFT_SC_MAIN_SCORES_H
#define WEFT_SC_MAIN_SCORES_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sc_main/plan.h"
#include "sc_main/sqlite_store.h"

namespace weft::cli {

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

}  // namespace weft::cli

#endif
