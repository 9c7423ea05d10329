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

enum class Finish { kMerge, kSatUnsigned, kSatSigned, kAccumulate };

// A and B say how parts are extended: u32 or s32.
template <class Op, unsigned kParts, Finish kFinish>
struct Parts {
  static constexpr unsigned kWidth = 32 / kParts;
  template <class V>
  static WEFT_ALWAYS_INLINE s32 part(V word, unsigned k) {
    return static_cast<s32>(static_cast<V>(static_cast<u32>(word) << (32 - kWidth - kWidth * k)) >>
                            (32 - kWidth));
  }
  template <class A, class B>
  static WEFT_ALWAYS_INLINE u32 of(A a, B b, u32 c) {
    constexpr s32 low = kFinish == Finish::kSatSigned ? -(1 << (kWidth - 1)) : 0;
    constexpr s32 high = low + ((1 << kWidth) - 1);
    u32 result = kFinish == Finish::kAccumulate ? c : 0;
    for (unsigned k = 0; k < kParts; ++k) {
      s32 x = Op::of(part(a, k), part(b, k));
      if constexpr (kFinish == Finish::kAccumulate) {
        result += static_cast<u32>(x);
      } else {
        if constexpr (kFinish != Finish::kMerge) x = x < low ? low : x > high ? high : x;
        result |= (static_cast<u32>(x) & ((1u << kWidth) - 1)) << (kWidth * k);
      }
    }
    return result;
  }
};

bool is_word(Type type) {
  return type == Type::kU32 || type == Type::kS32;
}

template <class Kernel>
LaneFunction with_sources(const Instruction& in) {
  if (in.from == Type::kS32) {
    return in.second == Type::kS32 ? &apply<Kernel, u32, s32, s32, u32> : &apply<Kernel, u32, s32, u32, u32>;
  }
  return in.second == Type::kS32 ? &apply<Kernel, u32, u32, s32, u32> : &apply<Kernel, u32, u32, u32, u32>;
}
template <class Op, unsigned kParts>
LaneFunction with_finish(const Instruction& in) {
  if (in.accumulate) return in.sat ? nullptr : with_sources<Parts<Op, kParts, Finish::kAccumulate>>(in);
  if (!in.sat) return with_sources<Parts<Op, kParts, Finish::kMerge>>(in);
  return in.type == Type::kS32 ? with_sources<Parts<Op, kParts, Finish::kSatSigned>>(in)
                               : with_sources<Parts<Op, kParts, Finish::kSatUnsigned>>(in);
}
template <class Op>
LaneFunction with_parts(const Instruction& in) {
  if (in.vector == 2) return with_finish<Op, 2>(in);
  return in.vector == 4 ? with_finish<Op, 4>(in) : nullptr;
}

}  // namespace

LaneFunction find_video(const Instruction& in) {
  if (!is_word(in.type) || !is_word(in.from) || !is_word(in.second)) return nullptr;
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
