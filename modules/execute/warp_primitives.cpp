#include "execute/warp_primitives.h"

#include <cstring>

#include "execute/lane_bits.h"

namespace weft::execute {

void WarpPrimitives::run(const Participants* parts, unsigned count, unsigned chunk,
                         const ResidentBlock& block) const {
  const Operation& op = *parts[0].op;
  isa::Lanes lanes;
  for (unsigned i = 0; i < 3; ++i) {
    lanes.src[i] = operands_.lanes_of(op.src[i], chunk);
    if (op.src[i].kind == Source::Kind::kPredicate)
      lanes.predicate[i] = operands_.predicates_of(op.src[i], chunk);
  }
  lanes.active = parts[0].lanes;
  if (op.dst[0] >= 0) lanes.dst = operands_.registers_of(chunk) + op.dst[0];
  // Threads that came from several places have their operands in several rows: they are put together.
  alignas(64) std::uint32_t merged[3][2 * isa::kLanes] = {};
  alignas(64) std::uint32_t result[isa::kLanes] = {};
  if (count > 1) {
    const std::size_t bytes = ptx::bytes_of(op.instruction->type) == 8 ? 8 : 4;
    for (unsigned i = 0; i < 3; ++i) {
      const std::size_t width = i == 0 ? bytes : 4;
      std::uint32_t predicates = 0;
      for (unsigned p = 0; p < count; ++p) {
        const Source& source = parts[p].op->src[i];
        if (source.kind == Source::Kind::kPredicate)
          predicates |= parts[p].lanes & operands_.predicates_of(source, chunk);
        const auto* from = static_cast<const std::uint8_t*>(operands_.lanes_of(source, chunk));
        auto* to = reinterpret_cast<std::uint8_t*>(merged[i]);
        for (std::uint32_t rest = from == nullptr ? 0 : parts[p].lanes; rest != 0; rest &= rest - 1)
          std::memcpy(to + first_lane(rest) * width, from + first_lane(rest) * width, width);
      }
      lanes.src[i] = merged[i];
      lanes.predicate[i] = predicates;
    }
    for (unsigned p = 1; p < count; ++p) lanes.active |= parts[p].lanes;
    lanes.dst = result;
  }
  if (watch_.on() && op.instruction->op == ptx::Opcode::kShfl)
    observe_shuffle(lanes, parts, count, chunk, block);
  op.function(lanes);
  for (unsigned p = 0; p < count; ++p) {
    const Operation& own = *parts[p].op;
    if (count > 1 && own.dst[0] >= 0) {
      std::uint32_t* row = operands_.registers_of(chunk) + own.dst[0];
      for (std::uint32_t rest = parts[p].lanes; rest != 0; rest &= rest - 1)
        row[first_lane(rest)] = result[first_lane(rest)];
    }
    for (unsigned i = 0; i < 2; ++i) {
      if (own.dst_predicate[i] < 0) continue;
      operands_.set_predicates(chunk, own.dst_predicate[i], parts[p].lanes, lanes.result[i]);
    }
  }
}

// Tells the observer of threads that read from others that do not take part.
void WarpPrimitives::observe_shuffle(const isa::Lanes& lanes, const Participants* parts, unsigned count,
                                     unsigned chunk, const ResidentBlock& block) const {
  const auto* offsets = static_cast<const std::uint32_t*>(lanes.src[1]);
  const auto* bounds = static_cast<const std::uint32_t*>(lanes.src[2]);
  const std::uint32_t* members = operands_.words_of(parts[0].op->src[3], chunk);
  ObservedShuffle shuffle;
  shuffle.block = &block;
  shuffle.chunk = chunk;
  shuffle.names_members = members != nullptr;
  if (members != nullptr) shuffle.members = members[first_lane(parts[0].lanes)];
  for (unsigned p = 0; p < count; ++p) {
    shuffle.pc = parts[p].pc;
    shuffle.mask = 0;
    for (std::uint32_t rest = parts[p].lanes; rest != 0; rest &= rest - 1) {
      const unsigned lane = first_lane(rest);
      const isa::ShuffleSource source =
          isa::shuffle_source(parts[p].op->instruction->mode, lane, offsets[lane], bounds[lane]);
      if (!source.inside || (lanes.active >> source.lane & 1) != 0) continue;
      shuffle.mask |= 1u << lane;
      shuffle.from[lane] = static_cast<std::uint8_t>(source.lane);
    }
    if (shuffle.mask != 0) watch_.shuffle_from_outside(shuffle);
  }
}

void WarpPrimitives::barrier_result(const Operation& op, unsigned chunk, std::uint32_t lanes,
                                    std::uint32_t votes, std::uint32_t threads) const {
  if (op.dst[0] >= 0) {
    std::uint32_t* row = operands_.registers_of(chunk) + op.dst[0];
    for (; lanes != 0; lanes &= lanes - 1) row[first_lane(lanes)] = votes;
  } else if (op.dst_predicate[0] >= 0) {
    const bool holds = op.instruction->barrier == ptx::BarrierKind::kRedAnd ? votes == threads : votes != 0;
    operands_.set_predicates(chunk, op.dst_predicate[0], lanes, holds ? ~0u : 0);
  }
}

}  // namespace weft::execute
