// A scheme for tests only, which uses every call of the contract that stack-based reconvergence does without.
// Not a serious design: each scheduler issues single threads, always one of those with the lowest PC, which
// may pass only after a turn in a table that `advance` empties.
#ifndef WEFT_TESTS_WARP_FORMATION_PROBE_SCHEME_H
#define WEFT_TESTS_WARP_FORMATION_PROBE_SCHEME_H

#include <cstdint>

namespace weft::warp_formation::test {

// What all instances together were called with.
struct ProbeCalls {
  std::uint64_t issued = 0, decoded = 0, memory_issued = 0, probed = 0, probed_hits = 0, returned = 0;
  std::uint64_t resolved_parts = 0, advanced = 0, moved = 0, barriers = 0, retired = 0, next_events = 0;
  std::uint64_t free_lanes = 0;  // picks with some lane free
};
ProbeCalls& probe_calls();

// Registers "probe".
void register_probe();

}  // namespace weft::warp_formation::test

#endif
