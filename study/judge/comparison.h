// The result of `weft compare`: a row per workload and scheme, as a table, as CSV and as JSON.
#ifndef WEFT_STUDY_JUDGE_COMPARISON_H
#define WEFT_STUDY_JUDGE_COMPARISON_H

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/run/run_measures.h"
#include "study/terminal/paint.h"

namespace weft::study {

struct Comparison {
  std::string config, size;
  std::vector<Row> rows;  // by workload, then by scheme, in the order asked for

  // Cycles of the first scheme on the same workload / those of this row; none if either did not finish.
  std::optional<double> speedup(const Row& row) const;
  // Harmonic and geometric mean of a scheme's speed-ups; none if one is missing.
  struct Means {
    double harmonic = 0, geometric = 0;
  };
  std::optional<Means> means(const std::string& scheme) const;
};

std::vector<std::string> schemes_of(const Comparison& comparison);
// A table for each subject, at most kPageWidth wide as far as names and reasons leave room, and a legend.
std::string table(const Comparison& comparison, const Paint& paint = {});
std::string csv(const Comparison& comparison);
nlohmann::ordered_json json(const Comparison& comparison);

std::string fixed(double value, int digits);

}  // namespace weft::study

#endif
