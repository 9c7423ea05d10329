// SIMD video: two or four parts of a word, each computed as an integer, merged into the result or added to
// the third operand. PTX ISA 9.0, 9.7.15.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

struct Add {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return a + b; }
};
struct Sub {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return a - b; }
};
struct Average {  // halves are rounded away from zero
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }
};
struct AbsoluteDifference {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return a < b ? b - a : a - b; }
};
struct Min {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return a < b ? a : b; }
};
struct Max {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return a > b ? a : b; }
};

// Lanes::variant: how the parts of a and b are extended, and how results are bounded.
constexpr u32 kSignedA = 1, kSignedB = 2, kSatUnsigned = 4, kSatSigned = 8;

// kAccumulate: results are added to c; else they are put together.
template <class Op, unsigned kParts, bool kAccumulate>
void parts(Lanes& lanes) {
  constexpr unsigned kWidth = 32 / kParts;
  constexpr u32 kMask = (1u << kWidth) - 1, kSign = 1u << (kWidth - 1);
  const u32 variant = lanes.variant;
  // x ^ sign - sign extends the sign of a part; with 0 nothing changes.
  const u32 sign_a = (variant & kSignedA) != 0 ? kSign : 0, sign_b = (variant & kSignedB) != 0 ? kSign : 0;
  const auto half = static_cast<s32>(kSign), all = static_cast<s32>(kMask);
  const s32 low = (variant & kSatUnsigned) != 0 ? 0 : (variant & kSatSigned) != 0 ? -half : -4 * half;
  const s32 high = (variant & kSatUnsigned) != 0 ? all : (variant & kSatSigned) != 0 ? half - 1 : 4 * half;
  const void *a = lanes.src[0], *b = lanes.src[1], *c = lanes.src[2];
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 word_a = read<u32>(a, i), word_b = read<u32>(b, i);
    u32 result = kAccumulate ? read<u32>(c, i) : 0;
    for (unsigned k = 0; k < kParts; ++k) {
      const u32 part_a = (word_a >> (kWidth * k)) & kMask, part_b = (word_b >> (kWidth * k)) & kMask;
      s32 x =
          Op::of(static_cast<s32>((part_a ^ sign_a) - sign_a), static_cast<s32>((part_b ^ sign_b) - sign_b));
      if constexpr (kAccumulate) {
        result += static_cast<u32>(x);
      } else {
        x = x < low ? low : x > high ? high : x;
        result |= (static_cast<u32>(x) & kMask) << (kWidth * k);
      }
    }
    computed[i] = result;
  }
  commit(lanes.dst, computed, lanes.active);
}

bool is_word(Type type) {
  return type == Type::kU32 || type == Type::kS32;
}

template <class Op, unsigned kParts>
LaneFunction with_finish(const Instruction& in) {
  if (in.accumulate && in.sat) return nullptr;
  u32 variant = (in.from == Type::kS32 ? kSignedA : 0) | (in.second == Type::kS32 ? kSignedB : 0);
  if (in.accumulate) return {&parts<Op, kParts, true>, variant};
  if (in.sat) variant |= in.type == Type::kS32 ? kSatSigned : kSatUnsigned;
  return {&parts<Op, kParts, false>, variant};
}
template <class Op>
LaneFunction with_parts(const Instruction& in) {
  if (in.vector == 2) return with_finish<Op, 2>(in);
  return in.vector == 4 ? with_finish<Op, 4>(in) : nullptr;
}

}  // namespace

LaneFunction find_video(const Instruction& in) {
  if (!is_word(in.type) || !is_word(in.from) || !is_word(in.second)) return nullptr;
  if (in.vector == 1) return find_video_scalar(in);
  switch (in.op) {
    case Opcode::kVadd:
      return with_parts<Add>(in);
    case Opcode::kVsub:
      return with_parts<Sub>(in);
    case Opcode::kVavrg:
      return with_parts<Average>(in);
    case Opcode::kVabsdiff:
      return with_parts<AbsoluteDifference>(in);
    case Opcode::kVmin:
      return with_parts<Min>(in);
    case Opcode::kVmax:
      return with_parts<Max>(in);
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
