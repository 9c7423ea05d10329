// What the tests of dynamic warp formation share: its configuration with warps of four threads.
#ifndef WEFT_TESTS_WARP_FORMATION_DWF_BENCH_H
#define WEFT_TESTS_WARP_FORMATION_DWF_BENCH_H

#include "warp_formation/dwf_options.h"
#include "warp_formation/four_lanes.h"

namespace weft::warp_formation::test {

inline Config dwf(DwfHeuristic heuristic = DwfHeuristic::kMajority) {
  Config config;
  config.scheme = "dwf";
  config.warp_size = 4;
  config.own<DwfOptions>().heuristic = heuristic;
  return config;
}

inline Config lut(std::uint64_t entries, std::uint64_t ways, DwfHeuristic heuristic = DwfHeuristic::kFifo) {
  Config config = dwf(heuristic);
  config.own<DwfOptions>().lut_entries = entries;
  config.own<DwfOptions>().lut_ways = ways;
  return config;
}

}  // namespace weft::warp_formation::test

#endif
