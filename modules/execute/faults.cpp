#include "execute/faults.h"

#include <algorithm>
#include <sstream>

#include "execute/fault_place.h"
#include "execute/lane_bits.h"

namespace weft::execute {
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

bool Faults::refuse(const Access& access, const AddressSpaces::Region& region) {
  const std::uint64_t size = access.op.element_bytes;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    const std::uint64_t a = access.address[lane];
    const bool outside =
        a < region.low || a - region.low >= region.bytes || a - region.low + size > region.bytes;
    const bool unmapped = !outside && region.low != 0 && !spaces_.is_mapped(a - region.low);
    const bool misaligned = (a & (size - 1)) != 0;
    if (!outside && !unmapped && !misaligned) continue;
    std::ostringstream out;
    out << access_name(access.op) << " of " << size << " bytes at 0x" << std::hex << a << std::dec;
    if (!outside && !unmapped) {
      out << " is not aligned to " << size << " bytes";
      return refuse(FaultKind::kMisalignedAddress, access, lane, out.str(), a);
    }
    out << " is not in " << (unmapped ? "any allocation of " : "") << region.name;
    if (region.low == 0) out << " (" << region.bytes << " bytes)";
    const bool deep = overflows_stack(access.op.instruction->space, a, region.bytes);
    if (deep) out << "; functions called too deeply overflow the thread's stack there (cudaLimitStackSize)";
    return refuse(deep ? FaultKind::kStackOverflow : FaultKind::kIllegalAddress, access, lane, out.str(), a);
  }
  return refuse(FaultKind::kIllegalAddress, state_.kernel->program.name + ": access refused");
}

bool Faults::refuse_local(const Access& access, unsigned lane) {
  std::ostringstream out;
  out << access_name(access.op) << " of " << static_cast<unsigned>(access.op.element_bytes) << " bytes at 0x"
      << std::hex << access.address[lane] << " is in local memory; allowed: global and shared memory";
  return refuse(FaultKind::kIllegalAddressSpace, access, lane, out.str(), access.address[lane]);
}

// A frame begins where the one before ends, and what a function saves for a call lies at the end of its
// frame: the first access beyond the stack is less than a frame beyond. Without recursion the stack is large
// enough.
bool Faults::overflows_stack(ptx::Space space, std::uint64_t address, std::uint64_t bytes) const {
  const ptx::Program& program = state_.kernel->program;
  if (space != ptx::Space::kLocal || !program.recursive) return false;
  std::uint64_t largest = 0;
  for (const ptx::FunctionCode& function : program.functions)
    largest = std::max(largest, function.frame_bytes);
  return address < bytes + largest;
}

Fault Faults::at(FaultKind kind, const Place& place, const std::string& what) const {
  Fault fault;
  fault.kind = kind;
  fault.text = place_name(place.pc, place.chunk, place.lane, place.block) + ": " + what;
  fault.place = {place.pc, thread_index(place.block, place.chunk, place.lane), place.block.index};
  return fault;
}

dispatch::Dim3 Faults::thread_index(const ResidentBlock& block, unsigned chunk, unsigned lane) const {
  const std::uint32_t thread = block.thread_of(chunk, lane);
  const auto& size = state_.kernel->launch.block;
  return {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
}

std::string Faults::thread_name(const ResidentBlock& block, unsigned chunk, unsigned lane) const {
  return execute::thread_name({0, thread_index(block, chunk, lane), block.index});
}

std::string Faults::place_name(ptx::Pc pc, unsigned chunk, unsigned lane, const ResidentBlock& block) const {
  return execute::place_name(state_.kernel->program, {pc, thread_index(block, chunk, lane), block.index});
}

std::string thread_name(const FaultPlace& place) {
  std::ostringstream out;
  out << "thread (" << place.thread[0] << "," << place.thread[1] << "," << place.thread[2] << ") of block ("
      << place.block[0] << "," << place.block[1] << "," << place.block[2] << ")";
  return out.str();
}

std::string place_name(const ptx::Program& program, const FaultPlace& place) {
  if (place.pc == FaultPlace::kNoPc) return program.name;
  return program.name + ": " + thread_name(place) + ", pc " + std::to_string(place.pc) + ", " +
         program.place(place.pc);
}

}  // namespace weft::execute
