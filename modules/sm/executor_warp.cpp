// What reaches across lanes or moves without registers: warp-level primitives, reductions of barriers,
// asynchronous copies.
#include <algorithm>
#include <cstring>

#include "sm/executor.h"

namespace weft::sm {
namespace {

using warp_formation::Groups;
using warp_formation::ThreadGroup;

unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

void add_predicates(std::uint32_t& bits, std::uint32_t lanes, std::uint32_t values) {
  bits = (bits & ~lanes) | (values & lanes);
}

}  // namespace

const void* Executor::lanes_of(const Source& source, unsigned chunk) {
  if (source.kind == Source::Kind::kRow) return registers_.chunk_base(chunk) + source.offset;
  return source.kind == Source::Kind::kConstant ? source.constant : nullptr;
}

std::uint32_t Executor::predicates_of(const Source& source, unsigned chunk) {
  const std::uint32_t bits = registers_.predicate(chunk, source.index);
  return source.negated ? ~bits : bits;
}

const std::uint32_t* Executor::words_of(const Source& source, unsigned chunk) {
  return static_cast<const std::uint32_t*>(lanes_of(source, chunk));
}

bool Executor::across_lanes(const Participants* parts, unsigned count, unsigned chunk,
                            const ResidentBlock& block) {
  const Operation& op = *parts[0].op;
  isa::Lanes lanes;
  for (unsigned i = 0; i < 3; ++i) {
    lanes.src[i] = lanes_of(op.src[i], chunk);
    if (op.src[i].kind == Source::Kind::kPredicate) lanes.predicate[i] = predicates_of(op.src[i], chunk);
  }
  lanes.active = parts[0].lanes;
  if (op.dst[0] >= 0) lanes.dst = registers_.chunk_base(chunk) + op.dst[0];
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
          add_predicates(predicates, parts[p].lanes, predicates_of(source, chunk));
        const auto* from = static_cast<const std::uint8_t*>(lanes_of(source, chunk));
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
  if (observer_ != nullptr && op.instruction->op == ptx::Opcode::kShfl)
    observe_shuffle(lanes, parts, count, chunk, block);
  op.function(lanes);
  for (unsigned p = 0; p < count; ++p) {
    const Operation& own = *parts[p].op;
    if (count > 1 && own.dst[0] >= 0) {
      std::uint32_t* row = registers_.chunk_base(chunk) + own.dst[0];
      for (std::uint32_t rest = parts[p].lanes; rest != 0; rest &= rest - 1)
        row[first_lane(rest)] = result[first_lane(rest)];
    }
    for (unsigned i = 0; i < 2; ++i) {
      if (own.dst_predicate[i] < 0) continue;
      add_predicates(registers_.predicate(chunk, static_cast<unsigned>(own.dst_predicate[i])), parts[p].lanes,
                     lanes.result[i]);
    }
  }
  return goes_on();
}

// Tells the observer of threads that read from others that do not take part.
void Executor::observe_shuffle(const isa::Lanes& lanes, const Participants* parts, unsigned count,
                               unsigned chunk, const ResidentBlock& block) {
  const auto* offsets = static_cast<const std::uint32_t*>(lanes.src[1]);
  const auto* bounds = static_cast<const std::uint32_t*>(lanes.src[2]);
  const std::uint32_t* members = words_of(parts[0].op->src[3], chunk);
  ObservedShuffle shuffle;
  shuffle.kernel = kernel_;
  shuffle.sm = sm_;
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
    if (shuffle.mask != 0) observer_->shuffle_from_outside(shuffle);
  }
}

void Executor::barrier_result(const Operation& op, unsigned chunk, std::uint32_t lanes, std::uint32_t votes,
                              std::uint32_t threads) {
  if (op.dst[0] >= 0) {
    std::uint32_t* row = registers_.chunk_base(chunk) + op.dst[0];
    for (; lanes != 0; lanes &= lanes - 1) row[first_lane(lanes)] = votes;
  } else if (op.dst_predicate[0] >= 0) {
    const bool holds = op.instruction->barrier == ptx::BarrierKind::kRedAnd ? votes == threads : votes != 0;
    add_predicates(registers_.predicate(chunk, static_cast<unsigned>(op.dst_predicate[0])), lanes,
                   holds ? ~0u : 0);
  }
}

// cp.async: the bytes move now, the transactions follow; what the source does not give is zero.
bool Executor::copy(const Operation& op, ptx::Pc pc, const Groups& groups, const ResidentBlock& block) {
  const ptx::Instruction& in = *op.instruction;
  const std::uint32_t size = op.element_bytes;
  alignas(64) std::uint64_t from[isa::kLanes], to[isa::kLanes];
  for (const ThreadGroup& group : groups) {
    std::uint32_t mask = guarded(in, group);
    if (mask == 0) continue;
    addresses(op, group.chunk, from);
    isa::addresses(lanes_of(op.src[1], group.chunk), isa::AddressKind::kNarrow, 0, to);
    const std::uint32_t* given = words_of(op.src[2], group.chunk);
    const bool may_ignore = op.src[3].kind == Source::Kind::kPredicate;
    const std::uint32_t ignored = may_ignore ? predicates_of(op.src[3], group.chunk) : 0;
    std::array<std::uint32_t, isa::kLanes> bytes{};
    std::uint32_t reading = 0;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned lane = first_lane(rest);
      bytes[lane] = (ignored >> lane & 1) != 0 ? 0 : given != nullptr ? given[lane] : size;
      if (bytes[lane] > size) {
        fault_ = {FaultKind::kIllegalInstruction,
                  place_name(pc, group.chunk, lane, block) + ": found " + std::to_string(bytes[lane]) +
                      " bytes to read, allowed are 0 to " + std::to_string(size)};
        return false;
      }
      if (bytes[lane] != 0) reading |= 1u << lane;
    }
    if (observer_ != nullptr) {
      group_ = static_cast<unsigned>(&group - groups.data);
      const std::uint32_t allowed =
          reading == 0 ? 0 : permitted(op, pc, in.space, group.chunk, reading, from, block);
      mask = permitted(op, pc, ptx::Space::kShared, group.chunk, mask & (allowed | ~reading), to, block);
      reading &= mask;
      if (mask == 0) continue;
    }
    std::uint8_t *source = nullptr, *target = nullptr;
    const LaneAccess* read = nullptr;
    if (reading != 0) {
      read = check(op, in.space, group.chunk, reading, from, block, source);
      if (read == nullptr) return refuse(op, pc, in.space, group.chunk, reading, from, block);
    }
    const std::size_t read_index = access_count_ - 1;
    const LaneAccess* written = check(op, ptx::Space::kShared, group.chunk, mask, to, block, target);
    if (written == nullptr) return refuse(op, pc, ptx::Space::kShared, group.chunk, mask, to, block);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned lane = first_lane(rest);
      std::uint8_t* place = target + written->address[lane];
      if ((reading >> lane & 1) != 0)
        std::memcpy(place, source + accesses_[read_index].address[lane], bytes[lane]);
      std::memset(place + bytes[lane], 0, size - bytes[lane]);
    }
  }
  return true;
}

}  // namespace weft::sm
