#include "execute/copy_instructions.h"

#include <array>
#include <cstring>

#include "execute/lane_bits.h"

namespace weft::execute {

bool CopyInstructions::run(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
                           const ResidentBlock& block) {
  const ptx::Instruction& in = *op.instruction;
  alignas(64) std::uint64_t from[isa::kLanes], to[isa::kLanes];
  for (const warp_formation::ThreadGroup& group : groups) {
    const std::uint32_t mask = operands_.guarded(in, group);
    if (mask == 0) continue;
    const isa::AddressSpan span =
        spaces_.addresses(in, operands_.lanes_of(op.src[0], group.chunk), mask, from);
    isa::addresses(operands_.lanes_of(op.src[1], group.chunk), isa::AddressKind::kNarrow, 0, to);
    const auto number = static_cast<unsigned>(&group - groups.data);
    const Access source{op, block, pc, group.chunk, number, mask, in.space, from, &span};
    if (!copy(source, source.in(ptx::Space::kShared, to, mask))) return false;
  }
  return true;
}

// For the threads of one chunk.
bool CopyInstructions::copy(const Access& from, const Access& to) {
  const Operation& op = from.op;
  const std::uint32_t size = op.element_bytes;
  const std::uint32_t* const given = operands_.words_of(op.src[2], from.chunk);
  const bool may_ignore = op.src[3].kind == Source::Kind::kPredicate;
  const std::uint32_t ignored = may_ignore ? operands_.predicates_of(op.src[3], from.chunk) : 0;
  std::array<std::uint32_t, isa::kLanes> bytes{};  // to read, by lane
  std::uint32_t mask = to.mask, reading = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    bytes[lane] = (ignored >> lane & 1) != 0 ? 0 : given != nullptr ? given[lane] : size;
    if (bytes[lane] > size) {
      return faults_.refuse(
          FaultKind::kIllegalInstruction, from, lane,
          "found " + std::to_string(bytes[lane]) + " bytes to read; allowed: 0 to " + std::to_string(size));
    }
    if (bytes[lane] != 0) reading |= 1u << lane;
  }
  if (watch_.on()) {
    const std::uint32_t may_read = reading == 0 ? 0 : watch_.permitted(from.of(reading));
    mask = watch_.permitted(to.of(mask & (may_read | ~reading)));
    reading &= mask;
    if (mask == 0) return true;
  }
  const Access read = from.of(reading), write = to.of(mask);
  std::uint8_t *source = nullptr, *target = nullptr;
  if (reading != 0 && spaces_.record(read, record_, source) == nullptr)
    return faults_.refuse(read, spaces_.region(read.space, read.block));
  const unsigned read_number = record_.count() - 1;
  const LaneAccess* const written = spaces_.record(write, record_, target);
  if (written == nullptr) return faults_.refuse(write, spaces_.region(write.space, write.block));
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    std::uint8_t* const place = target + written->address[lane];
    if ((reading >> lane & 1) != 0)
      std::memcpy(place, source + record_[read_number].address[lane], bytes[lane]);
    std::memset(place + bytes[lane], 0, size - bytes[lane]);
  }
  return true;
}

}  // namespace weft::execute
