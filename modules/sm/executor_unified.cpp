// Global accesses to system memory (unified memory).
#include <algorithm>

#include "common/hex.h"
#include "sm/executor.h"
#include "sm/system_memory.h"

namespace weft::sm {

// Lanes of the mask whose element lies in a window of system memory.
std::uint32_t Executor::in_system(std::uint32_t mask, const std::uint64_t* address,
                                  std::uint64_t size) const {
  if (memory_.system == nullptr || memory_.system->empty()) return 0;
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (memory_.system->contains(address[lane], size)) lanes |= 1u << lane;
  }
  return lanes;
}

bool Executor::unified(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
                       const std::uint64_t* address, const ResidentBlock& block) {
  const std::uint64_t size = op.element_bytes;
  const std::uint32_t here = in_system(mask, address, size);
  ++outside_uses_;
  bool aligned = true;
  for (std::uint32_t rest = here; rest != 0; rest &= rest - 1) {
    aligned = aligned && (address[__builtin_ctz(rest)] & (size - 1)) == 0;
  }
  if (here == 0) return refuse(op, pc, ptx::Space::kGlobal, chunk, mask, address, block);
  if (!aligned) return refuse(op, pc, chunk, here, address, 0, UINT64_MAX, "system memory", block);
  if (here != mask && !reach(op, pc, ptx::Space::kGlobal, chunk, mask & ~here, address, block)) return false;
  for (std::uint32_t rest = here; rest != 0;) {
    const auto first = static_cast<unsigned>(__builtin_ctz(rest));
    const SystemMemory::Region* const region = memory_.system->direct(address[first], size);
    std::uint32_t together = 0;  // lanes of the same region, or without one
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(others));
      if (region == nullptr ? memory_.system->direct(address[lane], size) == nullptr
                            : region->holds(address[lane], size)) {
        together |= 1u << lane;
      }
    }
    rest &= ~together;
    if (region != nullptr) {
      in_region(op, chunk, together, address, *region);
    } else if (memory_.untimed) {
      if (!move_untimed(op, pc, chunk, together, address, block)) return false;
    } else {
      stage(op, chunk, together, address);
    }
  }
  return true;
}

LaneAccess& Executor::record_system(const Operation& op, unsigned chunk, std::uint32_t mask,
                                    const std::uint64_t* address) {
  LaneAccess& lanes = record(ptx::Space::kGlobal, chunk, mask, op.element_bytes);
  lanes.low = UINT64_MAX;
  lanes.high = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t place = address[lane] + kSystemSpace;
    lanes.address[lane] = place;
    lanes.low = std::min(lanes.low, place);
    lanes.high = std::max(lanes.high, place);
  }
  return lanes;
}

void Executor::in_region(const Operation& op, unsigned chunk, std::uint32_t mask,
                         const std::uint64_t* address, const SystemMemory::Region& region) {
  record_system(op, chunk, mask, address);
  alignas(64) std::uint64_t offset[isa::kLanes];
  const std::uint64_t first = address[__builtin_ctz(mask)] - region.first;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    offset[lane] = (mask >> lane & 1) != 0 ? address[lane] - region.first : first;
  }
  transfer(op.memory, op, chunk, mask, region.data, offset);
}

// The bytes move when each thread's transaction completes; what the threads write is read here.
void Executor::stage(const Operation& op, unsigned chunk, std::uint32_t mask, const std::uint64_t* address) {
  LaneAccess& lanes = record_system(op, chunk, mask, address);
  staged_.resize(std::max<std::size_t>(staged_.size(), std::size_t{access_count_} * isa::kLanes));
  lanes.staged = true;
  StagedLane* const staged = &staged_[std::size_t{access_count_ - 1} * isa::kLanes];
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    staged[lane] = {};
    if (op.instruction->op == ptx::Opcode::kSt) {
      one_lane(op, chunk, lane, staged[lane].bytes.data(), nullptr);
    } else if (op.instruction->op != ptx::Opcode::kLd) {
      const bool wide = ptx::bytes_of(op.instruction->type) == 8;
      for (unsigned i = 0; i < staged[lane].operand.size(); ++i)
        staged[lane].operand[i] = lane_value(op.src[i + 1], wide, chunk, lane);
    }
  }
}

void Executor::one_lane(const Operation& op, unsigned chunk, unsigned lane, std::uint8_t* bytes,
                        const StagedLane* operands) {
  alignas(64) const std::uint64_t offset[isa::kLanes] = {};
  alignas(64) std::uint64_t captured[2][isa::kLanes];
  isa::MemoryLanes lanes = memory_operands(op, chunk);
  lanes.base = bytes;
  lanes.offset = offset;
  lanes.active = 1u << lane;
  for (unsigned i = 0; operands != nullptr && i < 2; ++i) {
    if (ptx::bytes_of(op.instruction->type) == 8) {
      captured[i][lane] = operands->operand[i];
    } else {
      reinterpret_cast<std::uint32_t*>(captured[i])[lane] = static_cast<std::uint32_t>(operands->operand[i]);
    }
    if (lanes.src[i] != nullptr) lanes.src[i] = captured[i];
  }
  op.memory(lanes);
}

void Executor::complete(const Operation& op, unsigned chunk, unsigned lane, StagedLane& staged) {
  if (op.instruction->op == ptx::Opcode::kSt) return;
  one_lane(op, chunk, lane, staged.bytes.data(), op.instruction->op == ptx::Opcode::kLd ? nullptr : &staged);
}

bool Executor::move_untimed(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
                            const std::uint64_t* address, const ResidentBlock& block) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    alignas(16) std::array<std::uint8_t, 16> bytes{};
    const ptx::Opcode opcode = op.instruction->op;
    bool done = opcode == ptx::Opcode::kSt ||
                memory_.system->move(false, address[lane], bytes.data(), op.element_bytes);
    if (done) one_lane(op, chunk, lane, bytes.data(), nullptr);
    if (done && opcode != ptx::Opcode::kLd)
      done = memory_.system->move(true, address[lane], bytes.data(), op.element_bytes);
    if (done) continue;
    fault_ = {FaultKind::kIllegalAddress,
              place_name(pc, chunk, lane, block) + ": system memory does not answer an access of " +
                  std::to_string(op.element_bytes) + " bytes at " + hex(address[lane])};
    return false;
  }
  return true;
}

}  // namespace weft::sm
