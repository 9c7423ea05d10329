// Arithmetic on f16, bf16 and pairs of them. PTX ISA 9.0, 9.7.4. Sums and products are computed in double and
// rounded a second time to the format. That is right: of f16 they are exact, and of bf16 (8 bits) a double
// has more than the 2 * 8 + 2 bits that make the second rounding harmless (Figueroa, "When is double rounding
// innocuous?", 1995). A fused multiply-add needs more: it is rounded to odd first (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008).
#include "isa/half.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

struct Add {
  static WEFT_ALWAYS_INLINE double of(double a, double b) { return a + b; }
};
struct Sub {
  static WEFT_ALWAYS_INLINE double of(double a, double b) { return a - b; }
};
struct Mul {
  static WEFT_ALWAYS_INLINE double of(double a, double b) { return a * b; }
};
struct Fma {
  static WEFT_ALWAYS_INLINE double of(double a, double b, double c) {
    const double product = a * b, sum = product + c;  // the product is exact
    const double c_part = sum - product, product_part = sum - c_part;
    const double error = (product - product_part) + (c - c_part);  // exact, Knuth's two-sum
    const u64 bits = bit_cast<u64>(sum);
    const bool inexact = (error > 0) | (error < 0), even = (bits & 1) == 0;
    const bool outward = (error > 0) == (sum > 0);
    const u64 odd = outward ? bits + 1 : bits - 1;
    return bit_cast<double>(inexact && even ? odd : bits);
  }
};

enum class Clamp { kNone, kSat, kRelu };

template <class Op, class Format, bool kFtz, Clamp kClamp>
struct Arithmetic {
  template <class... A>
  static WEFT_ALWAYS_INLINE u16 of(A... bits) {
    double x = Op::of(static_cast<double>(Format::widen(kFtz ? flush_half<Format>(bits) : bits))...);
    if constexpr (kClamp == Clamp::kSat) x = saturate(x);
    if constexpr (kClamp == Clamp::kRelu) x = x <= 0 ? 0.0 : x;
    const u16 result = narrow<Format>(x);
    return kFtz ? flush_half<Format>(result) : result;
  }
};

template <class Format, bool kFtz>
struct Neg {
  static WEFT_ALWAYS_INLINE u16 of(u16 a) {
    return static_cast<u16>((kFtz ? flush_half<Format>(a) : a) ^ 0x8000);
  }
};
template <class Format, bool kFtz>
struct Abs {
  static WEFT_ALWAYS_INLINE u16 of(u16 a) {
    return static_cast<u16>((kFtz ? flush_half<Format>(a) : a) & 0x7fff);
  }
};

// As of f32: a number wins over a NaN, -0 is less than +0. Magnitudes of one sign are ordered as integers.
template <class Format, bool kFtz, bool kMax>
struct Extremum {
  static WEFT_ALWAYS_INLINE s32 order(u32 bits) {
    const auto magnitude = static_cast<s32>(bits & 0x7fff);
    return (bits & 0x8000) != 0 ? -1 - magnitude : magnitude;
  }
  static WEFT_ALWAYS_INLINE u16 of(u16 a, u16 b) {
    if constexpr (kFtz) {
      a = flush_half<Format>(a);
      b = flush_half<Format>(b);
    }
    const bool a_is_nan = (a & 0x7fff) > Format::kInfinity, b_is_nan = (b & 0x7fff) > Format::kInfinity;
    const u16 number = (kMax ? order(a) > order(b) : order(a) < order(b)) ? a : b;
    const u16 without_b = a_is_nan ? kNan16 : a;
    return b_is_nan ? without_b : a_is_nan ? b : number;
  }
};

// .NaN: a NaN wins; .xorsign.abs: of the magnitudes, with the product of the signs.
template <class Format, bool kFtz, bool kMax, bool kNanWins, bool kXorsign>
struct ModalExtremum {
  static WEFT_ALWAYS_INLINE u16 of(u16 a, u16 b) {
    const u16 keep = kXorsign ? 0x7fff : 0xffff;
    const u16 result = Extremum<Format, kFtz, kMax>::of(a & keep, b & keep);
    const bool nan = (a & 0x7fff) > Format::kInfinity || (b & 0x7fff) > Format::kInfinity;
    if (kNanWins && nan) return kNan16;
    if ((result & 0x7fff) > Format::kInfinity) return result;
    return static_cast<u16>(result | (kXorsign ? (a ^ b) & 0x8000 : 0));
  }
};

template <class Op, std::size_t kOperands>
LaneFunction one_or_two(bool packed) {
  if constexpr (kOperands == 1) return packed ? &apply<Both<Op>, u32, u32> : &apply<Op, u16, u16>;
  if constexpr (kOperands == 2) return packed ? &apply<Both<Op>, u32, u32, u32> : &apply<Op, u16, u16, u16>;
  if constexpr (kOperands == 3) {
    return packed ? &apply<Both<Op>, u32, u32, u32, u32> : &apply<Op, u16, u16, u16, u16>;
  }
}

template <class Op, class Format, std::size_t kOperands>
LaneFunction arithmetic(const Instruction& in, bool packed) {
  if (in.rounding != Rounding::kDefault && in.rounding != Rounding::kRn) return nullptr;
  if constexpr (kOperands == 3) {
    if (in.relu && in.sat) return nullptr;
    if (in.relu) {
      return in.ftz ? one_or_two<Arithmetic<Op, Format, true, Clamp::kRelu>, kOperands>(packed)
                    : one_or_two<Arithmetic<Op, Format, false, Clamp::kRelu>, kOperands>(packed);
    }
  }
  if (in.relu) return nullptr;
  if (in.sat) {
    return in.ftz ? one_or_two<Arithmetic<Op, Format, true, Clamp::kSat>, kOperands>(packed)
                  : one_or_two<Arithmetic<Op, Format, false, Clamp::kSat>, kOperands>(packed);
  }
  return in.ftz ? one_or_two<Arithmetic<Op, Format, true, Clamp::kNone>, kOperands>(packed)
                : one_or_two<Arithmetic<Op, Format, false, Clamp::kNone>, kOperands>(packed);
}

template <class Format, bool kFtz, bool kMax>
LaneFunction find_modal(const Instruction& in, bool packed) {
  switch (in.mode) {
    case ptx::Mode::kNan:
      return one_or_two<ModalExtremum<Format, kFtz, kMax, true, false>, 2>(packed);
    case ptx::Mode::kXorsign:
      return one_or_two<ModalExtremum<Format, kFtz, kMax, false, true>, 2>(packed);
    case ptx::Mode::kXorsignNan:
      return one_or_two<ModalExtremum<Format, kFtz, kMax, true, true>, 2>(packed);
    default:
      return nullptr;
  }
}

template <class Format, bool kFtz>
LaneFunction find_sign_or_order(const Instruction& in, bool packed) {
  if (in.sat || in.relu || in.rounding != Rounding::kDefault) return nullptr;
  if (in.mode != ptx::Mode::kNone) {
    if (in.op == Opcode::kMin) return find_modal<Format, kFtz, false>(in, packed);
    return in.op == Opcode::kMax ? find_modal<Format, kFtz, true>(in, packed) : nullptr;
  }
  switch (in.op) {
    case Opcode::kNeg:
      return one_or_two<Neg<Format, kFtz>, 1>(packed);
    case Opcode::kAbs:
      return one_or_two<Abs<Format, kFtz>, 1>(packed);
    case Opcode::kMin:
      return one_or_two<Extremum<Format, kFtz, false>, 2>(packed);
    case Opcode::kMax:
      return one_or_two<Extremum<Format, kFtz, true>, 2>(packed);
    default:
      return nullptr;
  }
}

template <class Format>
LaneFunction find_format(const Instruction& in, bool packed) {
  switch (in.op) {
    case Opcode::kAdd:
      return arithmetic<Add, Format, 2>(in, packed);
    case Opcode::kSub:
      return arithmetic<Sub, Format, 2>(in, packed);
    case Opcode::kMul:
      return arithmetic<Mul, Format, 2>(in, packed);
    case Opcode::kFma:
      return arithmetic<Fma, Format, 3>(in, packed);
    default:
      return in.ftz ? find_sign_or_order<Format, true>(in, packed)
                    : find_sign_or_order<Format, false>(in, packed);
  }
}

}  // namespace

LaneFunction find_half(const Instruction& in) {
  switch (in.type) {
    case Type::kF16:
      return find_format<F16>(in, false);
    case Type::kF16x2:
      return find_format<F16>(in, true);
    // PTX ISA: of bf16 there is neither .ftz nor .sat.
    case Type::kBf16:
      return in.ftz || in.sat ? nullptr : find_format<Bf16>(in, false);
    case Type::kBf16x2:
      return in.ftz || in.sat ? nullptr : find_format<Bf16>(in, true);
    default:
      return nullptr;
  }
}

// atom.add on halves (atomic.cpp): neither flushes nor saturates.
u32 add_halves(Type type, u32 a, u32 b) {
  switch (type) {
    case Type::kF16:
      return Arithmetic<Add, F16, false, Clamp::kNone>::of(static_cast<u16>(a), static_cast<u16>(b));
    case Type::kF16x2:
      return Both<Arithmetic<Add, F16, false, Clamp::kNone>>::of(a, b);
    case Type::kBf16:
      return Arithmetic<Add, Bf16, false, Clamp::kNone>::of(static_cast<u16>(a), static_cast<u16>(b));
    default:
      return Both<Arithmetic<Add, Bf16, false, Clamp::kNone>>::of(a, b);
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
