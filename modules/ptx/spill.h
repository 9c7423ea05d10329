// Registers that do not fit are kept in local memory, as compilers do it: each has a place in the function's
// frame, is loaded before every instruction that reads it and stored after every one that writes it. The
// loads and stores are instructions like others, marked Instruction::spill. Predicates are not spilled.
#ifndef WEFT_PTX_SPILL_H
#define WEFT_PTX_SPILL_H

#include <cstdint>
#include <vector>

#include "ptx/allocation.h"

namespace weft::ptx {

// The spilled registers of one function, from its frame's `spills` on.
struct SpillArea {
  std::uint64_t bytes = 0;
};

struct Fitted {
  FlowGraph flow;
  Allocation allocation;  // of the draft as it is now
  bool fits = false;      // false: it needs more, whatever is spilled
};

// Allocates the registers of the draft; if it needs more than `max_rows`, spills those that cost least (by
// uses, weighted by the depth of loops, against the crowded places where they lie idle) until it does not.
// `area` nullptr: nothing is spilled. `kept`: by block, as find_scalars gave them; spilling leaves the blocks
// and the scalar registers alone.
Fitted fit_registers(Draft& draft, std::uint32_t max_rows, std::uint32_t max_predicates, SpillArea* area,
                     const KeptScalars& kept = {});

}  // namespace weft::ptx

#endif
