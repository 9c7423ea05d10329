// A tree of statistics as it stands in a file: what `Group::sample` wrote, asked with the same paths.
#ifndef WEFT_COMMON_STATISTICS_SAMPLE_H
#define WEFT_COMMON_STATISTICS_SAMPLE_H

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "weft/common/statistics.h"

namespace weft::statistics {

class Sample {
 public:
  // `json` must outlive it.
  explicit Sample(const nlohmann::ordered_json& json) : json_(json) {}

  // What the path names, groups or entries, in order. Instances of a kind count from 0 on without a gap.
  std::vector<const nlohmann::ordered_json*> find(Path path) const;
  bool has(Path path) const { return !find(path).empty(); }
  // The sum of the numbers that the path names. InputError if there are none; nlohmann's exception for
  // something else than a number.
  double sum(Path path) const;

 private:
  const nlohmann::ordered_json& json_;
};

}  // namespace weft::statistics

#endif
