// Why an access cannot be: what is said of it, and where.
#include <algorithm>
#include <sstream>

#include "sm/executor.h"

namespace weft::sm {
namespace {

const char* access_name(const Operation& op) {
  switch (op.instruction->op) {
    case ptx::Opcode::kLd:
      return "load";
    case ptx::Opcode::kSt:
      return "store";
    default:
      return op.memory == nullptr ? "copy" : "atomic";
  }
}

}  // namespace

bool Executor::refuse(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
                      const std::uint64_t* address, std::uint64_t low, std::uint64_t bytes, const char* what,
                      const ResidentBlock& block) {
  const std::uint64_t size = op.element_bytes;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t a = address[lane];
    const bool outside = a < low || a - low >= bytes || a - low + size > bytes;
    const bool unmapped = !outside && low != 0 && memory_.mapped[(a - low) >> memory_.page_shift] == 0;
    const bool misaligned = (a & (size - 1)) != 0;
    if (!outside && !unmapped && !misaligned) continue;
    std::ostringstream out;
    out << place_name(pc, chunk, lane, block) << ": " << access_name(op) << " of " << size << " bytes at 0x"
        << std::hex << a << std::dec;
    if (outside || unmapped) {
      out << " is not in " << (unmapped ? "any allocation of " : "") << what;
      if (low == 0) out << " (" << bytes << " bytes)";
      const bool deep = overflows_stack(op.instruction->space, a, bytes);
      if (deep) out << "; functions called too deeply overflow the thread's stack there (cudaLimitStackSize)";
      fault_ = {deep ? FaultKind::kStackOverflow : FaultKind::kIllegalAddress, out.str()};
    } else {
      out << " is not aligned to " << size << " bytes";
      fault_ = {FaultKind::kMisalignedAddress, out.str()};
    }
    return false;
  }
  fault_ = {FaultKind::kIllegalAddress, kernel_->program.name + ": access refused"};
  return false;
}

// Atomics on local memory through generic addresses.
bool Executor::refuse_space(const Operation& op, ptx::Pc pc, unsigned chunk, unsigned lane,
                            std::uint64_t address, const ResidentBlock& block) {
  std::ostringstream out;
  out << place_name(pc, chunk, lane, block) << ": " << access_name(op) << " of " << op.element_bytes
      << " bytes at 0x" << std::hex << address << " is in local memory, allowed are global and shared memory";
  fault_ = {FaultKind::kIllegalAddressSpace, out.str()};
  return false;
}

// A frame begins where the one before ends, and what a function saves for a call lies at the end of its
// frame: the first access beyond the stack is less than a frame beyond. Without recursion the stack is large
// enough.
bool Executor::overflows_stack(ptx::Space space, std::uint64_t address, std::uint64_t bytes) const {
  if (space != ptx::Space::kLocal || !kernel_->program.recursive) return false;
  std::uint64_t largest = 0;
  for (const ptx::FunctionCode& function : kernel_->program.functions)
    largest = std::max(largest, function.frame_bytes);
  return address < bytes + largest;
}

std::string Executor::thread_name(const ResidentBlock& block, unsigned chunk, unsigned lane) const {
  const std::uint32_t thread = (chunk - block.first_chunk) * isa::kLanes + lane;
  const auto& size = kernel_->launch.block;
  std::ostringstream out;
  out << "thread (" << thread % size[0] << "," << thread / size[0] % size[1] << ","
      << thread / size[0] / size[1] << ") of block (" << block.index[0] << "," << block.index[1] << ","
      << block.index[2] << ")";
  return out.str();
}

std::string Executor::place_name(ptx::Pc pc, unsigned chunk, unsigned lane,
                                 const ResidentBlock& block) const {
  return kernel_->program.name + ": " + thread_name(block, chunk, lane) + ", pc " + std::to_string(pc) +
         ", " + kernel_->program.place(pc);
}

}  // namespace weft::sm
