// Designs that find which of many factors matter with few runs: R. L. Plackett and J. P. Burman, The Design
// of Optimum Multifactorial Experiments, Biometrika 33(4), 1946. Each factor is at one of two levels, half of
// the runs at each; any two factors are at each of their four combinations equally often. A foldover adds
// each run with all levels exchanged: then effects are free of the interactions of two factors.
#ifndef WEFT_STUDY_PLAN_SCREENING_DESIGN_H
#define WEFT_STUDY_PLAN_SCREENING_DESIGN_H

#include <cstddef>
#include <vector>

namespace weft::study {

inline constexpr std::size_t kMostFactors = 23;

// A row per run, with the level of each factor: false the first, true the second. As many rows as the next
// multiple of 4 above the number of factors, twice that with a foldover. Throws std::invalid_argument unless
// there are 1 to kMostFactors.
std::vector<std::vector<bool>> screening_design(std::size_t factors, bool foldover);

// For each factor the mean of `results`, one for each row of the design, at its second level less that at its
// first.
std::vector<double> effects_of(const std::vector<std::vector<bool>>& design,
                               const std::vector<double>& results);

}  // namespace weft::study

#endif
