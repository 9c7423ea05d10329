#include "execute/calls.h"

#include <sstream>

#include "execute/lane_bits.h"

namespace weft::execute {

void Calls::link(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask) const {
  std::uint32_t* const row = operands_.registers_of(chunk) + op.dst[0];
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) row[first_lane(rest)] = pc + 1;
}

ptx::Pc Calls::target(const Kernel& kernel, const Access& access, unsigned lane) const {
  const ptx::Instruction& in = *access.op.instruction;
  const ptx::Program& program = kernel.program;
  const std::uint64_t value =
      operands_.value_of(access.op.src[0], in.op == ptx::Opcode::kCall, access.chunk, lane);
  std::ostringstream what;
  switch (in.op) {
    case ptx::Opcode::kBrx:
      if (value < in.target_count) return program.branch_targets[in.target + value];
      what << "branch by index " << value << ", the list has " << in.target_count << " targets";
      break;
    case ptx::Opcode::kReturn:
      if (value != 0 && value < program.code.size() && program.code[value - 1].op == ptx::Opcode::kCall)
        return static_cast<ptx::Pc>(value);
      what << "return to pc " << value
           << ", which no call left: the return address in the thread's stack was "
           << "overwritten";
      break;
    default: {
      const ptx::Pc entry = program.entry_of(value);
      if (entry != ptx::kNoPc) return entry;
      what << "call of 0x" << std::hex << value << ", which is not the address of a function";
    }
  }
  faults_.refuse(FaultKind::kInvalidPc, access, lane, what.str());
  return ptx::kNoPc;
}

}  // namespace weft::execute
