// Convergence barriers: where the threads of a warp wait for each other, if each has a PC of its own.
//
// NVIDIA's GPUs since Volta have no reconvergence stack. The compiler places barriers instead (US patent
// 10,067,768): threads join a barrier before they may part, and wait at it where they meet. This pass places
// them by two rules:
//
// - `merges` is what ptxas does (tests/silicon: 98.5 % of the masks of an H100, where code has no branch
//   through a table). There is a barrier at each block to which several ways lead, and at each block to which
//   a loop is left. Threads join it in the block's immediate dominator, moved out of loops that do not hold
//   the block. Who leaves the region between the two for elsewhere leaves the barrier.
// - `post_dominators` has only those barriers whose block is the immediate post-dominator of a branch that
//   may part threads: of the branch's region, or of a loop that is left there.
//
// A loop polls if a branch in it depends on what a volatile, relaxed or acquiring load or an atomic in it
// returned: ptxas places YIELD there. The threads that go on in such a loop may be what the others wait for.
#ifndef WEFT_PTX_CONVERGENCE_H
#define WEFT_PTX_CONVERGENCE_H

#include <vector>

#include "ptx/draft.h"
#include "ptx/flow.h"

namespace weft::ptx {

// Blocks and edges that the search for the regions of a function's barriers may see together. Barriers beyond
// it are not placed: threads then meet later, or not at all.
inline constexpr std::uint64_t kConvergenceSearch = 4'000'000;

// The barriers of one function; PCs are those of the function.
struct Convergence {
  std::uint32_t barriers = 0;
  std::vector<std::vector<BarrierAction>> actions;  // by PC
  std::vector<std::uint8_t> turns;                  // by PC: Turn
};

// Whether what a load or atomic returns may be another thread's doing.
bool is_poll(const Instruction& i);

// `polls`: by PC, whether the instruction polls, or calls a function in which one does.
Convergence find_convergence(const Draft& draft, const std::vector<bool>& polls, const FlowGraph& flow);

}  // namespace weft::ptx

#endif
