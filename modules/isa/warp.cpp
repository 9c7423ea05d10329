// Across lanes: shfl, vote, match, redux, activemask, elect (PTX ISA 9.0, section 9.7.9). The active lanes
// are the threads that take part; nothing of other lanes is looked at.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {
namespace {

using ptx::Atomic;
using ptx::Mode;

WEFT_ALWAYS_INLINE u32 bit(unsigned lane) {
  return u32{1} << lane;
}
WEFT_ALWAYS_INLINE u32 word(const void* lanes, unsigned i) {
  return static_cast<const Aliased<u32>*>(lanes)[i];
}

// c: bits 0 to 4 clamp, bits 8 to 12 say which bits of the lane number stay inside the segment.
template <Mode mode>
void shuffle(Lanes& lanes) {
  alignas(64) u32 value[kLanes];
  u32 inside = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 b = word(lanes.src[1], i) & 31, c = word(lanes.src[2], i);
    const u32 segment = c >> 8 & 31, clamp = c & 31;
    const s32 lowest = static_cast<s32>(i & segment);
    const s32 highest = lowest | static_cast<s32>(clamp & ~segment);
    const s32 lane = static_cast<s32>(i);
    s32 from = 0;
    if constexpr (mode == Mode::kUp) from = lane - static_cast<s32>(b);
    if constexpr (mode == Mode::kDown) from = lane + static_cast<s32>(b);
    if constexpr (mode == Mode::kBfly) from = static_cast<s32>(i ^ b);
    if constexpr (mode == Mode::kIdx) from = lowest | static_cast<s32>(b & ~segment);
    const bool in = mode == Mode::kUp ? from >= highest : from <= highest;
    inside |= in ? bit(i) : 0;
    // PTX leaves open what comes from a thread that does not take part; silicon gives 0 (README.md).
    const u32 source = in ? static_cast<u32>(from & 31) : i;
    const u32 there = 0 - (lanes.active >> source & 1);
    value[i] = word(lanes.src[0], source) & there;
  }
  lanes.result[1] = inside;
  commit(lanes.dst, value, lanes.active);
}

void fill(Lanes& lanes, u32 value) {
  alignas(64) u32 all[kLanes];
  for (u32& lane : all) lane = value;
  commit(lanes.dst, all, lanes.active);
}

template <Mode mode>
void vote(Lanes& lanes) {
  const u32 holds = lanes.predicate[0] & lanes.active;
  if constexpr (mode == Mode::kBallot) return fill(lanes, holds);
  bool result = false;
  if constexpr (mode == Mode::kAll) result = holds == lanes.active;
  if constexpr (mode == Mode::kAny) result = holds != 0;
  if constexpr (mode == Mode::kUni) result = holds == 0 || holds == lanes.active;
  lanes.result[0] = result ? ~u32{0} : 0;
}

template <class V>
void match_any(Lanes& lanes) {
  alignas(64) u32 mask[kLanes] = {};
  for (u32 rest = lanes.active; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(rest));
    const V value = read<V>(lanes.src[0], i);
    for (unsigned k = 0; k < kLanes; ++k) mask[i] |= read<V>(lanes.src[0], k) == value ? bit(k) : 0;
    mask[i] &= lanes.active;
  }
  commit(lanes.dst, mask, lanes.active);
}

template <class V>
void match_all(Lanes& lanes) {
  bool same = true;
  const V value = read<V>(lanes.src[0], static_cast<unsigned>(__builtin_ctz(lanes.active)));
  for (u32 rest = lanes.active; rest != 0; rest &= rest - 1) {
    same = same && read<V>(lanes.src[0], static_cast<unsigned>(__builtin_ctz(rest))) == value;
  }
  lanes.result[1] = same ? ~u32{0} : 0;
  fill(lanes, same ? lanes.active : 0);
}

template <Atomic op, class V>
void reduce(Lanes& lanes) {
  V sum = read<V>(lanes.src[0], static_cast<unsigned>(__builtin_ctz(lanes.active)));
  for (u32 rest = lanes.active & (lanes.active - 1); rest != 0; rest &= rest - 1) {
    const V value = read<V>(lanes.src[0], static_cast<unsigned>(__builtin_ctz(rest)));
    if constexpr (op == Atomic::kAdd) sum = static_cast<V>(static_cast<u32>(sum) + static_cast<u32>(value));
    if constexpr (op == Atomic::kMin) sum = value < sum ? value : sum;
    if constexpr (op == Atomic::kMax) sum = value > sum ? value : sum;
    if constexpr (op == Atomic::kAnd) sum &= value;
    if constexpr (op == Atomic::kOr) sum |= value;
    if constexpr (op == Atomic::kXor) sum ^= value;
  }
  fill(lanes, static_cast<u32>(sum));
}

void active_mask(Lanes& lanes) {
  fill(lanes, lanes.active);
}

void elect(Lanes& lanes) {
  lanes.result[1] = lanes.active & (0 - lanes.active);
  fill(lanes, static_cast<u32>(__builtin_ctz(lanes.active)));
}

void meet(Lanes&) {}

LaneFunction find_shuffle(Mode mode) {
  return mode == Mode::kUp     ? &shuffle<Mode::kUp>
         : mode == Mode::kDown ? &shuffle<Mode::kDown>
         : mode == Mode::kBfly ? &shuffle<Mode::kBfly>
                               : &shuffle<Mode::kIdx>;
}

LaneFunction find_vote(Mode mode) {
  return mode == Mode::kAll   ? &vote<Mode::kAll>
         : mode == Mode::kAny ? &vote<Mode::kAny>
         : mode == Mode::kUni ? &vote<Mode::kUni>
                              : &vote<Mode::kBallot>;
}

template <class V>
LaneFunction find_reduce(Atomic op) {
  switch (op) {
    case Atomic::kAdd:
      return &reduce<Atomic::kAdd, V>;
    case Atomic::kMin:
      return &reduce<Atomic::kMin, V>;
    case Atomic::kMax:
      return &reduce<Atomic::kMax, V>;
    case Atomic::kAnd:
      return &reduce<Atomic::kAnd, V>;
    case Atomic::kOr:
      return &reduce<Atomic::kOr, V>;
    case Atomic::kXor:
      return &reduce<Atomic::kXor, V>;
    default:
      return nullptr;
  }
}

}  // namespace

LaneFunction find_warp(const Instruction& in) {
  const bool wide = in.type == Type::kB64;
  switch (in.op) {
    case Opcode::kShfl:
      return find_shuffle(in.mode);
    case Opcode::kVote:
      return find_vote(in.mode);
    case Opcode::kMatch:
      if (in.mode == Mode::kAny) return wide ? &match_any<u64> : &match_any<u32>;
      return wide ? &match_all<u64> : &match_all<u32>;
    case Opcode::kRedux:
      return in.type == Type::kS32 ? find_reduce<s32>(in.atomic) : find_reduce<u32>(in.atomic);
    case Opcode::kActivemask:
      return &active_mask;
    case Opcode::kElect:
      return &elect;
    case Opcode::kWarpBarrier:
      return &meet;
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
