// The two compiled versions of the kernels, as isa.cpp sees them. On a host that is not x86-64 only `base`
// exists.
#ifndef WEFT_ISA_VERSIONS_H
#define WEFT_ISA_VERSIONS_H

#include "isa/isa.h"

namespace weft::isa::base {
LaneFunction find(const ptx::Instruction& instruction);
MemoryFunction find_memory(const ptx::Instruction& instruction);
}  // namespace weft::isa::base

namespace weft::isa::x86_64_v3 {
LaneFunction find(const ptx::Instruction& instruction);
MemoryFunction find_memory(const ptx::Instruction& instruction);
}  // namespace weft::isa::x86_64_v3

#endif
