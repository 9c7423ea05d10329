// Priorities of basic blocks, and thread frontiers (Diamos et al., SIMD re-convergence at thread frontiers,
// MICRO 2011).
//
// If of all threads of a warp those run that are in the block of the highest priority, the others wait at
// blocks of lower priority, which are the frontier of the block that runs. The paper wants the priorities so
// that threads meet early: a block comes before the blocks that it leads to.
//
// Here the priority of a block is the longest path from it to the exit, over edges that do not lead back to
// the head of a loop. All blocks of a loop come before those that follow the loop, so that threads that have
// left it wait for those that turn; a head comes before the rest of its loop. Equal blocks come in the order
// of their PCs.
#ifndef WEFT_PTX_FRONTIERS_H
#define WEFT_PTX_FRONTIERS_H

#include <cstdint>
#include <vector>

#include "ptx/flow.h"

namespace weft::ptx {

// Steps that the search for loops may take which edges of a function enter or leave. Each edge takes one for
// each such loop. Beyond it an edge counts as one within a loop, which then may not come before what follows
// it.
inline constexpr std::uint64_t kLoopSearch = 5'000'000;

// Sets `rank` of the function's blocks: 0 for the block of the highest priority.
void rank_blocks(FlowGraph& flow);

// The blocks of a function at which threads may wait while others run `block`, in the order of their numbers.
// At most the square of the number of blocks in time.
std::vector<std::uint32_t> thread_frontier(const std::vector<BasicBlock>& blocks, std::uint32_t block);

// Conservative branches: where the PC of a warp goes if each thread has a PC of its own, and the hardware
// does not know where others of the warp wait (the paper's second form, on Sandy Bridge; ReconvergenceTFGen6
// in GPU Ocelot). From the end of a block it goes to the block of the highest priority among the block's
// successors and the blocks at which threads may wait. From there it goes on in the order of priorities until
// it comes to threads.
//
// By rank of a block: the rank of that target; kNoRank: there is none. Threads may wait where a block leads
// that may have run before: one of higher priority, or one of a loop around. These are at least the blocks of
// the thread frontier.
inline constexpr std::uint32_t kNoRank = UINT32_MAX;
std::vector<std::uint32_t> conservative_targets(const std::vector<BasicBlock>& blocks);

}  // namespace weft::ptx

#endif
