// Correctly rounded floating-point arithmetic. PTX ISA, "Floating Point Instructions"; IEEE 754-2019 in the
// four rounding directions that PTX has.
#include "isa/floating.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

struct Add {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return a + b;
  }
};
struct Sub {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return a - b;
  }
};
struct Mul {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return a * b;
  }
};
struct Div {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return a / b;
  }
};
struct Fma {
  static WEFT_ALWAYS_INLINE float of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static WEFT_ALWAYS_INLINE double of(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Rcp {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return V{1} / a;
  }
};
struct Sqrt {
  static WEFT_ALWAYS_INLINE float of(float a) { return __builtin_sqrtf(a); }
  static WEFT_ALWAYS_INLINE double of(double a) { return __builtin_sqrt(a); }
};

template <class V>
using Bits = std::conditional_t<sizeof(V) == 8, u64, u32>;
template <class V>
inline constexpr Bits<V> kSign = Bits<V>{1} << (8 * sizeof(V) - 1);

// neg, abs and copysign touch the sign bit only, also of a NaN.
struct Neg {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return bit_cast<V>(bit_cast<Bits<V>>(a) ^ kSign<V>);
  }
};
struct Abs {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return bit_cast<V>(bit_cast<Bits<V>>(a) & ~kSign<V>);
  }
};
struct Copysign {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V sign, V magnitude) {
    return bit_cast<V>((bit_cast<Bits<V>>(magnitude) & ~kSign<V>) | (bit_cast<Bits<V>>(sign) & kSign<V>));
  }
};
template <class Op>
struct FlushedBits {
  static WEFT_ALWAYS_INLINE float of(float a) { return Op::of(flush(a)); }
};

WEFT_ALWAYS_INLINE float invalid(float) {
  return bit_cast<float>(kNan32);
}
WEFT_ALWAYS_INLINE double invalid(double) {
  return bit_cast<double>(kNan64);
}

// A NaN gives way to a number; -0 is less than +0. Equal operands differ in the sign of zero only, so joining
// their bits picks the negative one, intersecting them the positive one.
template <bool kMax>
struct Extremum {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    const Bits<V> x = bit_cast<Bits<V>>(a), y = bit_cast<Bits<V>>(b);
    const V equal = bit_cast<V>(kMax ? x & y : x | y);
    const V ordered = (kMax ? a > b : a < b) ? a : b;
    const V number = a == b ? equal : ordered;
    const V without_b = a == a ? a : invalid(a);
    return b != b ? without_b : a != a ? b : number;
  }
};
template <bool kMax>
struct FlushedExtremum {
  static WEFT_ALWAYS_INLINE float of(float a, float b) { return Extremum<kMax>::of(flush(a), flush(b)); }
};

// The forms of f32 with modifiers (ptx::Mode).
template <bool kMax, bool kFtz, ptx::Mode kMode>
struct ModalExtremum {
  static constexpr bool kXorsign = kMode == ptx::Mode::kXorsign || kMode == ptx::Mode::kXorsignNan;
  static constexpr bool kNanWins =
      kMode == ptx::Mode::kNan || kMode == ptx::Mode::kXorsignNan || kMode == ptx::Mode::kMagnitudeNan;
  static constexpr bool kMagnitudes = kMode != ptx::Mode::kNan;
  static WEFT_ALWAYS_INLINE float of(float a, float b) {
    const float x = kFtz ? flush(a) : a, y = kFtz ? flush(b) : b;
    const float number = kMagnitudes ? Extremum<kMax>::of(Abs::of(x), Abs::of(y)) : Extremum<kMax>::of(x, y);
    const float result = kNanWins && !(x == x && y == y) ? invalid(x) : number;
    const u32 sign = kXorsign ? (bit_cast<u32>(a) ^ bit_cast<u32>(b)) & kSign<float> : 0;
    return result == result ? bit_cast<float>(bit_cast<u32>(result) | sign) : result;
  }
};
template <bool kMax, ptx::Mode kMode>
LaneFunction modal(bool ftz) {
  return ftz ? &apply<ModalExtremum<kMax, true, kMode>, float, float, float>
             : &apply<ModalExtremum<kMax, false, kMode>, float, float, float>;
}
template <bool kMax>
LaneFunction find_modal(const Instruction& in) {
  if (in.type != Type::kF32) return nullptr;
  switch (in.mode) {
    case ptx::Mode::kNan:
      return modal<kMax, ptx::Mode::kNan>(in.ftz);
    case ptx::Mode::kXorsign:
      return modal<kMax, ptx::Mode::kXorsign>(in.ftz);
    case ptx::Mode::kXorsignNan:
      return modal<kMax, ptx::Mode::kXorsignNan>(in.ftz);
    case ptx::Mode::kMagnitude:
      return modal<kMax, ptx::Mode::kMagnitude>(in.ftz);
    case ptx::Mode::kMagnitudeNan:
      return modal<kMax, ptx::Mode::kMagnitudeNan>(in.ftz);
    default:
      return nullptr;
  }
}

// Op on f32 with one operand for each n.
template <class Op, std::size_t... n>
void apply_single(Lanes& lanes) {
  apply_indexed<Op, float, std::enable_if_t<n + 1 != 0, float>...>(lanes, std::index_sequence<n...>{});
}

// Op on both f32 in 64 bits (.f32x2).
template <class Op>
struct Two {
  template <class... A>
  static WEFT_ALWAYS_INLINE u64 of(A... a) {
    const u32 lower = bit_cast<u32>(Op::of(bit_cast<float>(static_cast<u32>(a))...));
    const u32 upper = bit_cast<u32>(Op::of(bit_cast<float>(static_cast<u32>(a >> 32))...));
    return u64{upper} << 32 | lower;
  }
};
template <class Op, std::size_t... n>
void apply_two(Lanes& lanes) {
  apply_indexed<Two<Op>, u64, std::enable_if_t<n + 1 != 0, u64>...>(lanes, std::index_sequence<n...>{});
}

template <class Op, std::size_t... n>
struct Arithmetic {
  template <bool kFtz, bool kSat>
  static LaneFunction single(Rounding rounding) {
    return with_rounding<&apply_single<Single<Op, kFtz, kSat>, n...>>(rounding);
  }
  static LaneFunction two(const Instruction& in) {
    if (in.sat) return nullptr;
    return in.ftz ? with_rounding<&apply_two<Single<Op, true, false>, n...>>(in.rounding)
                  : with_rounding<&apply_two<Single<Op, false, false>, n...>>(in.rounding);
  }
  static LaneFunction find(const Instruction& in) {
    if (in.type == Type::kF64) {
      if (in.ftz || in.sat) return nullptr;
      return with_rounding<&apply_double<Op, n...>>(in.rounding);
    }
    if (in.type != Type::kF32) return nullptr;
    if (in.ftz) return in.sat ? single<true, true>(in.rounding) : single<true, false>(in.rounding);
    return in.sat ? single<false, true>(in.rounding) : single<false, false>(in.rounding);
  }
};
template <class Op>
using Arithmetic1 = Arithmetic<Op, 0>;
template <class Op>
using Arithmetic2 = Arithmetic<Op, 0, 1>;
template <class Op>
using Arithmetic3 = Arithmetic<Op, 0, 1, 2>;

LaneFunction find_two(const Instruction& in) {
  switch (in.op) {
    case Opcode::kAdd:
      return Arithmetic2<Add>::two(in);
    case Opcode::kSub:
      return Arithmetic2<Sub>::two(in);
    case Opcode::kMul:
      return Arithmetic2<Mul>::two(in);
    case Opcode::kFma:
      return Arithmetic3<Fma>::two(in);
    default:
      return nullptr;
  }
}

}  // namespace

LaneFunction find_float(const Instruction& in) {
  if (in.type == Type::kF32x2) return find_two(in);
  switch (in.op) {
    case Opcode::kAdd:
      return Arithmetic2<Add>::find(in);
    case Opcode::kSub:
      return Arithmetic2<Sub>::find(in);
    case Opcode::kMul:
      return Arithmetic2<Mul>::find(in);
    case Opcode::kDiv:
      return Arithmetic2<Div>::find(in);
    case Opcode::kFma:
    case Opcode::kMad:
      return Arithmetic3<Fma>::find(in);
    case Opcode::kRcp:
      return Arithmetic1<Rcp>::find(in);
    case Opcode::kSqrt:
      return Arithmetic1<Sqrt>::find(in);
    case Opcode::kNeg:
      return in.ftz ? choose<float>(in.type, Unary<FlushedBits<Neg>>{})
                    : choose<float, double>(in.type, Unary<Neg>{});
    case Opcode::kAbs:
      return in.ftz ? choose<float>(in.type, Unary<FlushedBits<Abs>>{})
                    : choose<float, double>(in.type, Unary<Abs>{});
    case Opcode::kMin:
      if (in.mode != ptx::Mode::kNone) return find_modal<false>(in);
      return in.ftz ? choose<float>(in.type, Binary<FlushedExtremum<false>>{})
                    : choose<float, double>(in.type, Binary<Extremum<false>>{});
    case Opcode::kMax:
      if (in.mode != ptx::Mode::kNone) return find_modal<true>(in);
      return in.ftz ? choose<float>(in.type, Binary<FlushedExtremum<true>>{})
                    : choose<float, double>(in.type, Binary<Extremum<true>>{});
    case Opcode::kCopysign:
      return choose<float, double>(in.type, Binary<Copysign>{});
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
