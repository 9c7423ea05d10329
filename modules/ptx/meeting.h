// Where the threads that part at a branch meet again, if there are block barriers: not always the immediate
// post-dominator.
//
// In `if (c) { if (d) return; ... } else { ... } __syncthreads();` the way out makes the end of the kernel
// the post-dominator of both branches, so that the threads of one arm would wait at the barrier for those of
// the other, which a reconvergence stack keeps back until the first have ended. So, with r the
// post-dominator: if a block with a block barrier can be reached from the branch without passing r, the point
// is the first block through which all such ways come. With one way left that is the start of it: threads
// that leave for elsewhere run first. If the ways have nothing in common r stays, as it does everywhere in a
// program without a block barrier.
#ifndef WEFT_PTX_MEETING_H
#define WEFT_PTX_MEETING_H

#include <cstdint>
#include <vector>

#include "ptx/draft.h"
#include "ptx/flow.h"
#include "ptx/reach.h"

namespace weft::ptx {

// Blocks that all searches of a function may see together. A search sees at most this divided by the number
// of its branches, and a branch for which that is not enough keeps its post-dominator: functions of up to
// 4,472 blocks are never cut short.
inline constexpr std::uint64_t kMeetingSearch = 20'000'000;

// By number of the function, whether a thread in it may come to an instruction of some kind: one of its own,
// or one of a function that it calls. A call through a register may reach every function with an address.
using IsKind = bool (*)(const Instruction&);
std::vector<bool> functions_with(IsKind is_kind, const std::vector<const Draft*>& functions,
                                 const Reach& reach);
// By PC of one function: instructions of that kind, and calls of `functions`, which are as above.
std::vector<bool> places_with(IsKind is_kind, const Draft& draft, const std::vector<bool>& functions,
                              const Reach& reach);

// Of any form: who keeps threads from bar.arrive keeps those waiting that it counts for.
bool is_block_barrier(const Instruction& i);

// Sets `meeting` of the function's blocks; `barriers`: the functions with block barriers.
void find_meeting_points(const Draft& draft, const std::vector<bool>& barriers, const Reach& reach,
                         FlowGraph& flow);

}  // namespace weft::ptx

#endif
