#include "execute/arithmetic.h"

#include <algorithm>

namespace weft::execute {

std::uint64_t Arithmetic::time(ptx::Special special, std::uint64_t cycle) const {
  const auto nanoseconds = static_cast<std::uint64_t>(static_cast<double>(cycle) * nanoseconds_per_cycle_);
  switch (special) {
    case ptx::Special::kClockHi:
      return cycle >> 32;
    case ptx::Special::kGlobaltimer:
    case ptx::Special::kGlobaltimerLo:
      return nanoseconds;
    case ptx::Special::kGlobaltimerHi:
      return nanoseconds >> 32;
    default:
      return cycle;
  }
}

void Arithmetic::run(const Operation& op, const warp_formation::Groups& groups, std::uint64_t cycle) {
  const ptx::Instruction& in = *op.instruction;
  alignas(64) std::uint64_t now[isa::kLanes];
  for (const warp_formation::ThreadGroup& group : groups) {
    isa::Lanes lanes;
    lanes.active = operands_.guarded(in, group);
    if (lanes.active == 0) continue;
    std::uint32_t* const base = operands_.registers_of(group.chunk);
    for (unsigned i = 0; i < 4; ++i) {
      const Source& source = op.src[i];
      switch (source.kind) {
        case Source::Kind::kNone:
          break;
        case Source::Kind::kRow:
          lanes.src[i] = base + source.offset;
          break;
        case Source::Kind::kConstant:
          lanes.src[i] = source.constant;
          break;
        case Source::Kind::kPredicate:
          if (i < 3) lanes.predicate[i] = operands_.predicates_of(source, group.chunk);
          break;
        case Source::Kind::kDynamic: {
          ++clock_reads_;
          const std::uint64_t value = time(static_cast<ptx::Special>(source.index), cycle);
          if (ptx::bytes_of(in.type) == 8) {
            std::fill(std::begin(now), std::end(now), value);
          } else {
            auto* words = reinterpret_cast<std::uint32_t*>(now);
            std::fill(words, words + isa::kLanes, static_cast<std::uint32_t>(value));
          }
          lanes.src[i] = now;
          break;
        }
      }
    }
    if (op.dst[0] >= 0) lanes.dst = base + op.dst[0];
    op.function(lanes);
    for (unsigned i = 0; i < 2; ++i) {
      if (op.dst_predicate[i] >= 0)
        operands_.set_predicates(group.chunk, op.dst_predicate[i], lanes.active, lanes.result[i]);
    }
  }
}

}  // namespace weft::execute
