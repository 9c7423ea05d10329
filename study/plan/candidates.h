// What a plan chooses among: combinations of the values of some axes, each with the points at which it is
// tried.
#ifndef WEFT_STUDY_PLAN_CANDIDATES_H
#define WEFT_STUDY_PLAN_CANDIDATES_H

#include <cstddef>
#include <string>
#include <vector>

#include "study/plan/plan.h"

namespace weft::study {

struct Candidate {
  std::vector<std::string> values;  // of its axes
  std::vector<std::size_t> points;  // of the plan
};

// The points by the values of `axes`, in the order in which they come first.
std::vector<Candidate> candidates_of(const Plan& plan, const std::vector<std::size_t>& axes,
                                     const std::vector<std::size_t>& points);
// All points of a plan.
std::vector<std::size_t> all_points(const Plan& plan);
// Axes that say what is run, not on what: workload, program, size, seed.
std::vector<std::size_t> work_axes(const Plan& plan);
// The axes that are not among these.
std::vector<std::size_t> other_axes(const Plan& plan, const std::vector<std::size_t>& axes);
// "scheme harp, sm.l1d.ways 4"
std::string name_of(const Plan& plan, const std::vector<std::size_t>& axes,
                    const std::vector<std::string>& values);

}  // namespace weft::study

#endif
