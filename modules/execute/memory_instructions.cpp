#include "execute/memory_instructions.h"

#include <cstring>

#include "execute/lane_bits.h"

namespace weft::execute {

bool MemoryInstructions::run(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
                             const ResidentBlock& block) {
  const ptx::Instruction& in = *op.instruction;
  alignas(64) std::uint64_t address[isa::kLanes];
  for (const warp_formation::ThreadGroup& group : groups) {
    const std::uint32_t mask = operands_.guarded(in, group);
    if (mask == 0) continue;
    const isa::AddressSpan span =
        spaces_.addresses(in, operands_.lanes_of(op.src[0], group.chunk), mask, address);
    const auto number = static_cast<unsigned>(&group - groups.data);
    const Access access{op, block, pc, group.chunk, number, mask, in.space, address, &span};
    bool done = false;
    switch (in.space) {
      case ptx::Space::kGeneric:
        done = generic(access);
        break;
      case ptx::Space::kLocal:
        done = local(access);
        break;
      default:
        done = reach(access);
        break;
    }
    if (!done) return false;
  }
  return true;
}

bool MemoryInstructions::generic(const Access& access) {
  const AddressSpaces::Windows windows = spaces_.windows_of(access.address);
  const std::uint32_t in_shared = windows.shared & access.mask, in_local = windows.local & access.mask;
  alignas(64) std::uint64_t offset[isa::kLanes];
  if (in_shared != 0) {
    const std::uint64_t base = spaces_.map().shared_base;
    for (unsigned i = 0; i < isa::kLanes; ++i) offset[i] = access.address[i] - base;
    if (!reach(access.in(ptx::Space::kShared, offset, in_shared))) return false;
  }
  if (in_local != 0) {
    // PTX ISA, "atom" and "red": generic addresses are of global or shared memory.
    const ptx::Opcode opcode = access.op.instruction->op;
    if (opcode == ptx::Opcode::kAtom || opcode == ptx::Opcode::kRed)
      return faults_.refuse_local(access, first_lane(in_local));
    const std::uint64_t base = spaces_.map().local_base;
    for (unsigned i = 0; i < isa::kLanes; ++i) offset[i] = access.address[i] - base;
    if (!local(access.in(ptx::Space::kLocal, offset, in_local))) return false;
  }
  const std::uint32_t in_global = access.mask & ~(in_shared | in_local);
  return in_global == 0 || reach(access.in(ptx::Space::kGlobal, access.address, in_global));
}

bool MemoryInstructions::reach(const Access& access) {
  if (!watch_.on()) return direct(access);
  const std::uint32_t permitted = watch_.permitted(access);
  return permitted == 0 || direct(access.of(permitted));
}

bool MemoryInstructions::direct(const Access& access) {
  std::uint8_t* base = nullptr;
  const LaneAccess* const lanes = spaces_.record(access, record_, base);
  if (lanes == nullptr) {
    if (access.space == ptx::Space::kGlobal && spaces_.memory().system != nullptr) return unified(access);
    return faults_.refuse(access, spaces_.region(access.space, access.block));
  }
  operands_.transfer(access.space == ptx::Space::kShared ? access.op.shared_memory : access.op.memory, access,
                     base, lanes->address.data());
  return true;
}

// Threads in windows of system memory, and others.
bool MemoryInstructions::unified(const Access& access) {
  const std::uint64_t size = access.op.element_bytes;
  const std::uint32_t here = spaces_.in_system(access.mask, access.address, size);
  ++system_uses_;
  if (here == 0) return faults_.refuse(access, spaces_.region(access.space, access.block));
  if ((span_of(access.address, here).bits & (size - 1)) != 0)
    return faults_.refuse(access.of(here), {nullptr, 0, UINT64_MAX, "system memory"});
  if (here != access.mask && !direct(access.of(access.mask & ~here))) return false;
  return system_.run(access.of(here));
}

// An element of several words is gathered, handled, and scattered again.
bool MemoryInstructions::local(const Access& asked) {
  const Access access = watch_.on() ? asked.of(watch_.permitted(asked)) : asked;
  if (access.mask == 0) return true;
  const std::uint64_t size = access.op.element_bytes;
  const std::uint64_t bytes = spaces_.local_bytes();
  const isa::AddressSpan span = span_of(access.address, access.mask);
  if (span.high >= bytes || span.high + size > bytes || (span.bits & (size - 1)) != 0)
    return faults_.refuse(access, {nullptr, 0, bytes, "the thread's local memory"});
  std::uint8_t* const image = spaces_.memory().image;
  const auto place = [&](std::uint64_t word, unsigned lane) {
    return spaces_.local_place(word, access.chunk, lane);
  };
  const auto words = static_cast<unsigned>((size + 3) / 4);
  for (unsigned w = 0; w < words; ++w) {
    LaneAccess& lanes = record_.add(ptx::Space::kLocal, access.chunk, access.group, access.mask, 4);
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const unsigned lane = first_lane(rest);
      lanes.address[lane] = place(access.address[lane] / 4 + w, lane);
    }
    const isa::AddressSpan touched = span_of(lanes.address.data(), access.mask);
    lanes.low = touched.low;
    lanes.high = touched.high;
  }
  alignas(64) std::uint8_t element[isa::kLanes][16] = {};
  alignas(64) std::uint64_t offset[isa::kLanes];
  for (unsigned lane = 0; lane < isa::kLanes; ++lane)
    offset[lane] = lane * 16 + (size < 4 ? access.address[lane] % 4 : 0);
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    for (unsigned w = 0; w < words; ++w)
      std::memcpy(element[lane] + 4 * w, image + place(access.address[lane] / 4 + w, lane), 4);
  }
  operands_.transfer(access.op.memory, access, element[0], offset);
  if (access.op.instruction->op == ptx::Opcode::kLd) return true;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    for (unsigned w = 0; w < words; ++w)
      std::memcpy(image + place(access.address[lane] / 4 + w, lane), element[lane] + 4 * w, 4);
  }
  return true;
}

}  // namespace weft::execute
