// Turns the statements of one function into draft instructions.
//
// One rule per shape of instruction (lower_rules.h, lower_*.cpp) works with the parts of the function:
// draft_builder.h (instructions, temporaries, constants), operands.h (what operands mean), stack_frame.h,
// branches.h and calling_convention.h.
#ifndef WEFT_PTX_LOWER_H
#define WEFT_PTX_LOWER_H

#include <cstdint>

#include "ptx/draft.h"
#include "ptx/reach.h"
#include "ptx/symbols.h"

namespace weft::ptx {

// `saved_bytes`, `spilled_bytes`: room in the frame for values saved across calls and for spilled registers.
// Throws InputError for what an instruction cannot have as its operands.
Draft lower_statements(FunctionSymbols& symbols, const Reach& reach, std::uint64_t saved_bytes,
                       std::uint64_t spilled_bytes);

}  // namespace weft::ptx

#endif
