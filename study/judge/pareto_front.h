// Which of several things no other one beats, in any number of numbers of which less is better.
#ifndef WEFT_STUDY_JUDGE_PARETO_FRONT_H
#define WEFT_STUDY_JUDGE_PARETO_FRONT_H

#include <cstddef>
#include <optional>
#include <vector>

namespace weft::study {

// Whether `a` is as good as `b` in each, and better in one. Throws std::invalid_argument unless they have as
// many.
bool dominates(const std::vector<double>& a, const std::vector<double>& b);

// For each, one on the Pareto front that dominates it (the first); nothing: it is on the front itself.
// Numbers must be finite.
std::vector<std::optional<std::size_t>> dominated_by(const std::vector<std::vector<double>>& costs);

}  // namespace weft::study

#endif
