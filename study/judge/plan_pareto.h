// The Pareto front of a sweep's candidates, in metrics of its store.
#ifndef WEFT_STUDY_JUDGE_PLAN_PARETO_H
#define WEFT_STUDY_JUDGE_PLAN_PARETO_H

#include <cstddef>
#include <string>
#include <vector>

#include "study/judge/scores.h"
#include "study/plan/candidates.h"
#include "study/plan/plan.h"
#include "study/run/sqlite_store.h"

namespace weft::study {

struct Objective {
  std::string metric;
  bool most = false;  // more of it is better
};

// "cycles,energy,ipc:most". Throws InputError.
std::vector<Objective> read_objectives(const std::string& text);

// Numbers of axes, "workload,size". Throws InputError.
std::vector<std::size_t> axes_named(const Plan& plan, const std::string& text);

// Axes whose combinations are compared: those that are neither in `per` nor say what is run (work_axes, or
// rungs and means of a halving). Throws InputError if none is left.
std::vector<std::size_t> compared_axes(const Plan& plan, const std::vector<std::size_t>& per);

// A table of the candidates at `points`, for each combination of the values of the axes `per`: geometric
// means over what is run, over those of the first candidate that has all; and which of them is on the front,
// or which one on it is as good in all objectives and better in one.
std::string pareto_text(const Plan& plan, const SqliteStore& store, const std::vector<std::size_t>& points,
                        const std::vector<Objective>& objectives, const std::vector<std::size_t>& per);

}  // namespace weft::study

#endif
