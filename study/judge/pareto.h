// What schemes cost and what they give, over all workloads of a comparison: speed, energy, area, and which
// of them no other one beats.
#ifndef WEFT_STUDY_JUDGE_PARETO_H
#define WEFT_STUDY_JUDGE_PARETO_H

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/comparison.h"

namespace weft::study {

// Over the first scheme, geometric means; area as it is.
struct SchemeCost {
  std::string scheme;
  double speedup = 0, energy = 0, edp = 0;
  double area_mm2 = 0;       // of the scheme's tables and the registers of an SM
  std::string dominated_by;  // one on the front that is as good in speed, energy and area, and better in one;
                             // empty: none
};

// Of the schemes all of whose runs have cycles, energy and area; nothing if there are fewer than two.
std::vector<SchemeCost> costs_of(const Comparison& comparison);

std::string pareto_text(const Comparison& comparison, const Paint& paint = {});
nlohmann::ordered_json pareto_json(const Comparison& comparison);

}  // namespace weft::study

#endif
