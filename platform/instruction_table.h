// instructions.csv: a row per instruction of the kernels that ran on the SMs, in the order of their first
// launches, and one per kernel of what belongs to no instruction.
#ifndef WEFT_PLATFORM_INSTRUCTION_TABLE_H
#define WEFT_PLATFORM_INSTRUCTION_TABLE_H

#include <string>

#include "sm/instruction_profile.h"

namespace weft {

// The columns: study/session/results.md. The row without an instruction has an empty `pc`.
std::string instruction_csv(const sm::InstructionProfile& profile);

}  // namespace weft

#endif
