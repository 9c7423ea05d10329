#include "execute/system_accesses.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "common/hex.h"
#include "execute/lane_bits.h"

namespace weft::execute {

bool SystemAccesses::run(const Access& access) {
  if (spaces_.memory().untimed) return run_untimed(access);
  record_by_windows(access);
  return true;
}

LaneAccess& SystemAccesses::record(const Access& access) {
  LaneAccess& lanes =
      record_.add(ptx::Space::kGlobal, access.chunk, access.group, access.mask, access.op.element_bytes);
  lanes.low = UINT64_MAX;
  lanes.high = 0;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    const std::uint64_t place = access.address[lane] + kSystemSpace;
    lanes.address[lane] = place;
    lanes.low = std::min(lanes.low, place);
    lanes.high = std::max(lanes.high, place);
  }
  return lanes;
}

// No transaction may reach from one window into the next.
void SystemAccesses::record_by_windows(const Access& access) {
  const SystemMemory& system = *spaces_.memory().system;
  for (std::uint32_t rest = access.mask; rest != 0;) {
    const SystemMemory::Window& window = *system.window_of(access.address[first_lane(rest)], 1);
    std::uint32_t together = 0;
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const unsigned lane = first_lane(others);
      if (access.address[lane] - window.base < window.bytes) together |= 1u << lane;
    }
    rest &= ~together;
    LaneAccess& lanes = record(access.of(together));
    lanes.window_first = window.base + kSystemSpace;
    lanes.window_last = lanes.window_first + (window.bytes - 1);
  }
}

void SystemAccesses::capture(const Operation& op, SystemLanes& lanes) const {
  const isa::MemoryLanes registers = operands_.memory_lanes(op, lanes.chunk);
  const std::size_t bytes = isa::kLanes * (ptx::bytes_of(op.instruction->type) == 8 ? 8 : 4);
  for (unsigned i = 0; i < lanes.operand.size(); ++i) {
    if (registers.src[i] != nullptr) std::memcpy(lanes.operand[i].data(), registers.src[i], bytes);
  }
}

void SystemAccesses::transfer(const Operation& op, const SystemLanes& lanes, std::uint32_t mask,
                              std::uint8_t* bytes) const {
  isa::MemoryLanes registers = operands_.memory_lanes(op, lanes.chunk);
  registers.base = bytes;
  registers.offset = lanes.offset.data();
  registers.active = mask;
  const ptx::Opcode opcode = op.instruction->op;
  for (unsigned i = 0; opcode != ptx::Opcode::kLd && opcode != ptx::Opcode::kSt && i < 2; ++i) {
    if (registers.src[i] != nullptr) registers.src[i] = lanes.operand[i].data();
  }
  op.memory(registers);
}

bool SystemAccesses::run_untimed(const Access& access) {
  SystemMemory& system = *spaces_.memory().system;
  const std::uint64_t size = access.op.element_bytes;
  const bool write = access.op.instruction->op != ptx::Opcode::kLd;
  for (std::uint32_t rest = access.mask; rest != 0;) {
    const SystemMemory::Region* const region = system.direct(access.address[first_lane(rest)], size, write);
    std::uint32_t together = 0;  // lanes of the same region, or without one
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const std::uint64_t address = access.address[first_lane(others)];
      if (region == nullptr ? system.direct(address, size, write) == nullptr : region->holds(address, size))
        together |= 1u << first_lane(others);
    }
    rest &= ~together;
    if (region != nullptr) {
      in_region(access.of(together), *region);
    } else if (!move(access.of(together))) {
      return false;
    }
  }
  return true;
}

void SystemAccesses::in_region(const Access& access, const SystemMemory::Region& region) {
  record(access);
  alignas(64) std::uint64_t offset[isa::kLanes];
  const std::uint64_t first = access.address[first_lane(access.mask)] - region.first;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane)
    offset[lane] = (access.mask >> lane & 1) != 0 ? access.address[lane] - region.first : first;
  operands_.transfer(access.op.memory, access, region.data, offset);
}

// Thread by thread.
bool SystemAccesses::move(const Access& access) {
  const SystemMemory& system = *spaces_.memory().system;
  const std::uint8_t size = access.op.element_bytes;
  const ptx::Opcode opcode = access.op.instruction->op;
  alignas(64) static constexpr std::uint64_t kZeros[isa::kLanes] = {};
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    const std::uint64_t address = access.address[lane];
    alignas(16) std::array<std::uint8_t, 16> bytes{};
    const auto refused = [&](const char* kind, const std::string& what) {
      return faults_.refuse(
          FaultKind::kIllegalAddress, access, lane,
          "system memory " + what + kind + std::to_string(size) + " bytes at " + hex(address), address);
    };
    if (opcode != ptx::Opcode::kSt) {
      const std::string instead = system.move(false, address, bytes.data(), size);
      if (!instead.empty()) return refused(" a read of ", instead);
    }
    operands_.transfer(access.op.memory, access.of(1u << lane), bytes.data(), kZeros);
    if (opcode == ptx::Opcode::kLd) continue;
    const std::string instead = system.move(true, address, bytes.data(), size);
    if (!instead.empty()) return refused(" a write of ", instead);
  }
  return true;
}

}  // namespace weft::execute
