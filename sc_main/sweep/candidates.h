// What a sweep chooses among: combinations of the values of some axes, each with the points at which it was
// tried, and one number for what a metric came to over them.
#ifndef WEFT_SC_MAIN_SWEEP_CANDIDATES_H
#define WEFT_SC_MAIN_SWEEP_CANDIDATES_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sc_main/sweep/sweep_plan.h"
#include "sc_main/sweep/sweep_store.h"

namespace weft::cli {

struct Candidate {
  std::vector<std::string> values;  // of its axes
  std::vector<std::size_t> points;  // of the sweep
};

// The points by the values of `axes`, in the order in which they come first.
std::vector<Candidate> candidates_of(const Sweep& sweep, const std::vector<std::size_t>& axes,
                                     const std::vector<std::size_t>& points);
// All points of a sweep.
std::vector<std::size_t> all_points(const Sweep& sweep);
// Axes that say what is run, not on what: workload, program, size, seed.
std::vector<std::size_t> work_axes(const Sweep& sweep);
// The axes that are not among these.
std::vector<std::size_t> other_axes(const Sweep& sweep, const std::vector<std::size_t>& axes);
// "scheme harp, sm.l1d.ways 4"
std::string name_of(const Sweep& sweep, const std::vector<std::size_t>& axes,
                    const std::vector<std::string>& values);

// A number of a run: a metric of the store, or "energy" (energy.joules), "edp" (energy.edp), "area" (mm2 of
// the tables and registers of an SM). Nothing: the run is not there, or has no such number.
std::optional<double> value_of(const SweepStore& store, const std::string& run, const std::string& metric);

// What a metric is over points: the mean of its logarithms. Without it, why: a run that failed or lacks the
// metric, or a value that has no logarithm. `open`: of runs that are not in the store.
struct LogMean {
  std::optional<double> value;
  std::string reason;
  bool open = false;
};
LogMean log_mean(const Sweep& sweep, const SweepStore& store, const std::vector<std::size_t>& points,
                 const std::string& metric);

}  // namespace weft::cli

#endif
