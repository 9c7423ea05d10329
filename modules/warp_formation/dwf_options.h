// The keys of dwf.
#ifndef WEFT_WARP_FORMATION_DWF_OPTIONS_H
#define WEFT_WARP_FORMATION_DWF_OPTIONS_H

#include <cstdint>
#include <string>

#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// Which warp of its pool dynamic warp formation issues next.
enum class DwfHeuristic : std::uint8_t {
  kMajority,      // of the PC with most threads, until none of it is left
  kMajorityHeap,  // the same with a heap of limited ports, whose updates stall the election
  kMinority,      // of the PC with fewest threads, until none of it is left
  kFifo,          // the oldest
  kPdomPriority,  // whose threads have passed the fewest reconvergence points
  kLowestPc
};

struct DwfOptions final : OptionsOf<DwfOptions> {
  std::uint64_t lut_entries = 256, lut_ways = 2;
  DwfHeuristic heuristic = DwfHeuristic::kMajority;
  std::uint64_t commit_bandwidth = 1;
  std::uint64_t starvation_limit = 0;
  struct Heap {
    std::uint64_t nodes = 128, lut_entries = 32, lut_ways = 4, reads = 4, writes = 4;
    void describe(config::Visitor& v);
  } heap;

  void describe(config::Visitor& v) override;
  void check(const std::string& where) const override;
  void randomise(Random& random) override;
};

}  // namespace weft::warp_formation

#endif
