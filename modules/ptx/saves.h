// Values that live across calls: the caller keeps them in its frame, because the callee uses the same rows.
#ifndef WEFT_PTX_SAVES_H
#define WEFT_PTX_SAVES_H

#include <vector>

#include "ptx/liveness.h"

namespace weft::ptx {

struct SavePlan {
  std::vector<std::vector<VirtualId>> live;  // per call of a device function in order: what outlives it
  std::uint64_t bytes = 0;  // room that the frame needs, the link register of a function included
};
// Throws InputError if all calls together save more than `most` values.
SavePlan plan_saves(const Draft& draft, const FlowGraph& flow, const Liveness& liveness,
                    std::uint64_t most = kMaxSavedValues);

// Surrounds each call by stores and loads of what outlives it: wide registers, then others, then predicates
// packed into words. The draft's frame has room for plan.bytes from `saves` on.
void insert_saves(Draft& draft, const SavePlan& plan);

// An access to the frame, `place` bytes from its low end, on behalf of the instruction `serves`.
DraftInstruction frame_access(const Draft& draft, const DraftInstruction& serves, bool is_load,
                              VirtualId data, std::uint64_t place);
// Branches go to where their targets have moved: `moved` by the PC before.
void retarget(std::vector<DraftInstruction>& code, std::vector<std::vector<Pc>>& tables,
              const std::vector<Pc>& moved);

}  // namespace weft::ptx

#endif
