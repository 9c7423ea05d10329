// Likely-convergence points: where the threads that part at a branch probably meet before its reconvergence
// point, the immediate post-dominator (Fung, Aamodt: Thread block compaction, HPCA 2011).
//
// `if (a || b) X; else Y;` is the usual case. The threads that take a and those that take b both come to X,
// but Y is a way round it, so that X post-dominates neither branch, and under the post-dominators alone X
// runs twice. A loop with `continue` and `break` is another: its header is passed again by most threads,
// though not by all.
//
// The paper takes the points from a profile. Here they are a choice from the control-flow graph: every way
// out of a block is equally likely, and the point of a branch is the block that the paths of two of its ways
// out come to with the greatest likelihood (the product of both), the nearest among equals. Only ways that go
// forward count, as seen from the branch.
#ifndef WEFT_WARP_FORMATION_LIKELY_CONVERGENCE_H
#define WEFT_WARP_FORMATION_LIKELY_CONVERGENCE_H

#include <cstdint>
#include <string>
#include <vector>

#include "weft/common/statistics.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// For each instruction of the program: the likely-convergence point of a branch (bra, brx) that has one, else
// kNoPc. It lies in the function of the branch, before its reconvergence point.
std::vector<ptx::Pc> likely_convergence_points(const ptx::Program& program,
                                               Reconvergence rule = Reconvergence::kBarrierAware);

// Registers what the stacks, or tables of barriers, count together; `each_stack(visit)` visits all of them.
template <class EachStack>
void bind_likely(statistics::Group& group, EachStack each_stack) {
  group.derived("likely_points", statistics::Quantity::kSum, units::kEntries,
                "entries made for likely-convergence points", [each_stack] {
                  std::uint64_t made = 0;
                  each_stack([&made](const auto& stack) { made += stack.likely_made(); });
                  return static_cast<double>(made);
                });
  group.derived("likely_joins", statistics::Quantity::kSum, statistics::Unit("joins"),
                "times that threads joined others at a likely-convergence point", [each_stack] {
                  std::uint64_t joins = 0;
                  each_stack([&joins](const auto& stack) { joins += stack.likely_joins(); });
                  return static_cast<double>(joins);
                });
}

}  // namespace weft::warp_formation

#endif
