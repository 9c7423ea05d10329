// Calls, returns, and the device runtime as instructions execute them.
#include <cstring>
#include <sstream>

#include "sm/executor.h"

namespace weft::sm {

using warp_formation::Groups;
using warp_formation::ThreadGroup;

std::uint64_t Executor::lane_value(const Source& source, bool wide, unsigned chunk, unsigned lane) const {
  const void* lanes = source.kind == Source::Kind::kRow
                          ? static_cast<const void*>(registers_.chunk_base(chunk) + source.offset)
                          : source.constant;
  if (lanes == nullptr) return 0;
  std::uint64_t value = 0;
  const std::size_t bytes = wide ? 8 : 4;
  std::memcpy(&value, static_cast<const std::uint8_t*>(lanes) + bytes * lane, bytes);
  return value;
}

void Executor::link(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask) {
  std::uint32_t* row = registers_.chunk_base(chunk) + op.dst[0];
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) row[__builtin_ctz(rest)] = pc + 1;
}

ptx::Pc Executor::target(const Operation& op, ptx::Pc pc, unsigned chunk, unsigned lane,
                         const ResidentBlock& block) {
  const ptx::Instruction& in = *op.instruction;
  const ptx::Program& program = kernel_->program;
  const std::uint64_t value = lane_value(op.src[0], in.op == ptx::Opcode::kCall, chunk, lane);
  std::ostringstream what;
  switch (in.op) {
    case ptx::Opcode::kBrx:
      if (value < in.target_count) return program.branch_targets[in.target + value];
      what << "branch by index " << value << ", the list has " << in.target_count << " targets";
      break;
    case ptx::Opcode::kReturn:
      if (value != 0 && value < program.code.size() && program.code[value - 1].op == ptx::Opcode::kCall) {
        return static_cast<ptx::Pc>(value);
      }
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
  fault_ = {FaultKind::kInvalidPc, place_name(pc, chunk, lane, block) + ": " + what.str()};
  return ptx::kNoPc;
}

}  // namespace weft::sm
