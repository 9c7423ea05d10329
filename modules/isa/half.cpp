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

// Lanes::variant: modifiers, and kTwo for pairs.
constexpr u32 kFtz = 1, kSat = 2, kRelu = 4, kTwo = 8;
constexpr u32 kMax = 16, kNanWins = 32, kXorsign = 64, kAbs = 128, kBf16 = 256;

// Which bits of a subnormal are kept.
WEFT_ALWAYS_INLINE u32 subnormal_mask(u32 variant) {
  return (variant & kFtz) != 0 ? 0x8000 : 0xffff;
}
WEFT_ALWAYS_INLINE u32 flushed(u32 bits, u32 infinity, u32 subnormal) {
  return (bits & infinity) != 0 ? bits : bits & subnormal;
}
WEFT_ALWAYS_INLINE u32 half_of(const void* lanes, unsigned i, unsigned shift) {
  return (read<u32>(lanes, i) >> shift) & 0xffff;
}

// of(i, shift): the result of one half of lane i.
template <class Of>
WEFT_ALWAYS_INLINE void each_half(Lanes& lanes, Of of) {
  alignas(64) u32 computed[kLanes] = {};
  const unsigned end = (lanes.variant & kTwo) != 0 ? 32 : 16;
  for (unsigned shift = 0; shift < end; shift += 16) {
    for (unsigned i = 0; i < kLanes; ++i) computed[i] |= of(i, shift) << shift;
  }
  commit(lanes.dst, computed, lanes.active);
}

// Op on one operand for each n. What the modifiers do is numbers here: each would double the instances.
template <class Op, class Format, std::size_t... n>
void arithmetic(Lanes& lanes) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const u32 variant = lanes.variant, subnormal = subnormal_mask(variant);
  const bool sat = (variant & kSat) != 0;
  const double low = (variant & (kSat | kRelu)) != 0 ? 0 : -kInfinite, high = sat ? 1 : kInfinite;
  const double nan = sat ? 0 : bit_cast<double>(kNan64);
  const void* const src[] = {lanes.src[n]...};
  each_half(lanes, [&](unsigned i, unsigned shift) __attribute__((always_inline)) {
    double x = Op::of(static_cast<double>(
        Format::widen(flushed(half_of(src[n], i, shift), Format::kInfinity, subnormal)))...);
    // -0 is not above 0 either.
    x = x <= low ? low : x;
    x = x >= high ? high : x;
    x = x == x ? x : nan;
    return flushed(narrow<Format>(x), Format::kInfinity, subnormal);
  });
}

// neg, abs. The format matters for .ftz only, which bf16 has not.
void change_sign(Lanes& lanes) {
  const u32 variant = lanes.variant, subnormal = subnormal_mask(variant);
  const u32 kept = (variant & kAbs) != 0 ? 0x7fff : 0xffff, toggled = (variant & kAbs) != 0 ? 0 : 0x8000;
  const void* a = lanes.src[0];
  each_half(lanes, [&](unsigned i, unsigned shift) __attribute__((always_inline)) {
    return (flushed(half_of(a, i, shift), F16::kInfinity, subnormal) & kept) ^ toggled;
  });
}

// min, max. As of f32: a number wins over a NaN, -0 is less than +0. Magnitudes of one sign are ordered as
// integers. .NaN: a NaN wins; .xorsign.abs: of the magnitudes, with the product of the signs.
WEFT_ALWAYS_INLINE s32 order(u32 bits) {
  const auto magnitude = static_cast<s32>(bits & 0x7fff);
  return (bits & 0x8000) != 0 ? -1 - magnitude : magnitude;
}
// ~x is greater than ~y where x is less than y.
WEFT_ALWAYS_INLINE s32 reversal(u32 variant) {
  return (variant & kMax) != 0 ? 0 : -1;
}
void extremum(Lanes& lanes) {
  const u32 variant = lanes.variant, subnormal = subnormal_mask(variant);
  const u32 infinity = (variant & kBf16) != 0 ? Bf16::kInfinity : F16::kInfinity;
  const s32 reversed = reversal(variant);
  const u32 kept = (variant & kXorsign) != 0 ? 0x7fff : 0xffff, sign = (variant & kXorsign) != 0 ? 0x8000 : 0;
  const bool nan_wins = (variant & kNanWins) != 0;
  const void *first = lanes.src[0], *second = lanes.src[1];
  each_half(lanes, [&](unsigned i, unsigned shift) __attribute__((always_inline)) {
    const u32 a = half_of(first, i, shift), b = half_of(second, i, shift);
    const u32 x = flushed(a & kept, infinity, subnormal), y = flushed(b & kept, infinity, subnormal);
    const bool a_is_nan = (a & 0x7fff) > infinity, b_is_nan = (b & 0x7fff) > infinity;
    const u32 number = (order(x) ^ reversed) > (order(y) ^ reversed) ? x : y;
    const u32 result = (b_is_nan ? x : a_is_nan ? y : number) | ((a ^ b) & sign);
    return (a_is_nan & b_is_nan) | (nan_wins & (a_is_nan | b_is_nan)) ? u32{kNan16} : result;
  });
}

template <class Op, std::size_t... n>
LaneFunction with_format(u32 variant) {
  return (variant & kBf16) != 0 ? LaneFunction(&arithmetic<Op, Bf16, n...>, variant)
                                : LaneFunction(&arithmetic<Op, F16, n...>, variant);
}

LaneFunction find_arithmetic(const Instruction& in, u32 variant) {
  const bool rounded = in.rounding == Rounding::kDefault || in.rounding == Rounding::kRn;
  if (!rounded || (in.relu && (in.sat || in.op != Opcode::kFma))) return nullptr;
  variant |= (in.sat ? kSat : 0) | (in.relu ? kRelu : 0);
  switch (in.op) {
    case Opcode::kAdd:
      return with_format<Add, 0, 1>(variant);
    case Opcode::kSub:
      return with_format<Sub, 0, 1>(variant);
    case Opcode::kMul:
      return with_format<Mul, 0, 1>(variant);
    default:
      return with_format<Fma, 0, 1, 2>(variant);
  }
}

LaneFunction find_extremum(const Instruction& in, u32 variant) {
  if (in.op == Opcode::kMax) variant |= kMax;
  switch (in.mode) {
    case ptx::Mode::kNone:
      return {&extremum, variant};
    case ptx::Mode::kNan:
      return {&extremum, variant | kNanWins};
    case ptx::Mode::kXorsign:
      return {&extremum, variant | kXorsign};
    case ptx::Mode::kXorsignNan:
      return {&extremum, variant | kNanWins | kXorsign};
    default:
      return nullptr;
  }
}

template <class Format>
u16 add(u32 a, u32 b) {
  return narrow<Format>(Add::of(Format::widen(a & 0xffff), Format::widen(b & 0xffff)));
}
template <class Format>
u32 add_both(u32 a, u32 b) {
  return add<Format>(a, b) | static_cast<u32>(add<Format>(a >> 16, b >> 16)) << 16;
}

}  // namespace

LaneFunction find_half(const Instruction& in) {
  if (!is_half(in.type)) return nullptr;
  const bool two = in.type == Type::kF16x2 || in.type == Type::kBf16x2;
  const bool bf16 = in.type == Type::kBf16 || in.type == Type::kBf16x2;
  // PTX ISA: of bf16 there is neither .ftz nor .sat.
  if (bf16 && (in.ftz || in.sat)) return nullptr;
  const u32 variant = (two ? kTwo : 0) | (bf16 ? kBf16 : 0) | (in.ftz ? kFtz : 0);
  switch (in.op) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kFma:
      return find_arithmetic(in, variant);
    default:
      break;
  }
  if (in.sat || in.relu || in.rounding != Rounding::kDefault) return nullptr;
  switch (in.op) {
    case Opcode::kMin:
    case Opcode::kMax:
      return find_extremum(in, variant);
    case Opcode::kNeg:
      return in.mode == ptx::Mode::kNone ? LaneFunction(&change_sign, variant) : nullptr;
    case Opcode::kAbs:
      return in.mode == ptx::Mode::kNone ? LaneFunction(&change_sign, variant | kAbs) : nullptr;
    default:
      return nullptr;
  }
}

// atom.add on halves (atomic.cpp): neither flushes nor saturates.
u32 add_halves(Type type, u32 a, u32 b) {
  switch (type) {
    case Type::kF16:
      return add<F16>(a, b);
    case Type::kF16x2:
      return add_both<F16>(a, b);
    case Type::kBf16:
      return add<Bf16>(a, b);
    default:
      return add_both<Bf16>(a, b);
  }
}

// atom.min and atom.max on halves: likewise.
u32 extremum_halves(bool max, bool bf16, bool two, u32 a, u32 b) {
  const u32 infinity = bf16 ? Bf16::kInfinity : F16::kInfinity;
  const s32 reversed = reversal(max ? kMax : 0);
  u32 result = 0;
  for (unsigned shift = 0; shift < (two ? 32u : 16u); shift += 16) {
    const u32 x = a >> shift & 0xffff, y = b >> shift & 0xffff;
    const bool x_is_nan = (x & 0x7fff) > infinity, y_is_nan = (y & 0x7fff) > infinity;
    const u32 number = (order(x) ^ reversed) > (order(y) ^ reversed) ? x : y;
    const u32 chosen = x_is_nan && y_is_nan ? u32{kNan16} : y_is_nan ? x : x_is_nan ? y : number;
    result |= chosen << shift;
  }
  return result;
}

}  // namespace weft::isa::WEFT_ISA_VERSION
