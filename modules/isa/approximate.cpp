// Approximate functions, within the error bounds that the PTX ISA gives for .approx and .full. They are
// evaluated in double precision by series of our own and rounded once: libm may choose other code, and other
// last bits, on another processor.
#include "isa/half.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

// Adding and subtracting 1.5 * 2^52 rounds to an integer, which then stands in the low bits of the sum.
constexpr double kRounder = 6755399441055744.0;

// 2^x by splitting x = n + f, |f| <= 1/2, and the exponential series of f ln 2: the first term left out, of
// degree 13, is below 2^-52.
struct Ex2 {
  // For |x| <= 200.
  static WEFT_ALWAYS_INLINE double power(double limited) {
    const double sum = limited + kRounder;
    const double t = (limited - (sum - kRounder)) * 0.69314718055994530942;
    double series = 1.0 / 479001600;
    series = series * t + 1.0 / 39916800;
    series = series * t + 1.0 / 3628800;
    series = series * t + 1.0 / 362880;
    series = series * t + 1.0 / 40320;
    series = series * t + 1.0 / 5040;
    series = series * t + 1.0 / 720;
    series = series * t + 1.0 / 120;
    series = series * t + 1.0 / 24;
    series = series * t + 1.0 / 6;
    series = series * t + 0.5;
    series = series * t + 1.0;
    series = series * t + 1.0;
    const double scale = bit_cast<double>((bit_cast<u64>(sum) + 1023) << 52);
    return series * scale;
  }
  static WEFT_ALWAYS_INLINE double wide(float a) {
    const double value = power(a > 200.0f ? 200.0 : a < -200.0f ? -200.0 : static_cast<double>(a));
    return a == a ? value : static_cast<double>(a);
  }
  static WEFT_ALWAYS_INLINE float of(float a) { return static_cast<float>(wide(a)); }
};

// tanh x = (y - 1) / (y + 1) with y = e^2x; below 2^-10, where that cancels, x - x^3/3 + 2x^5/15: the first
// term left out is below 2^-64 of x. Beyond 20 it is 1 to 2^-57.
struct Tanh {
  static WEFT_ALWAYS_INLINE double wide(float a) {
    const double x = static_cast<double>(a), square = x * x;
    const double limited = a > 20.0f ? 20.0 : a < -20.0f ? -20.0 : x;
    const double y = Ex2::power(limited * 2.88539008177792681472);
    const double quotient = (y - 1.0) / (y + 1.0);
    const double series = x * (1.0 + square * (square * (2.0 / 15) - 1.0 / 3));
    const double value = square < 0x1p-20 ? series : quotient;
    return a == a ? value : x;
  }
  static WEFT_ALWAYS_INLINE float of(float a) { return static_cast<float>(wide(a)); }
};

// The same functions of 16-bit floats.
template <class Function, class Format, bool kFtz>
struct Short {
  static WEFT_ALWAYS_INLINE u16 of(u16 a) {
    const u16 result = narrow<Format>(Function::wide(Format::widen(kFtz ? flush_half<Format>(a) : a)));
    return kFtz ? flush_half<Format>(result) : result;
  }
};
template <class Function, class Format>
LaneFunction find_short(bool packed, bool ftz) {
  if (packed) {
    return ftz ? &apply<Both<Short<Function, Format, true>>, u32, u32>
               : &apply<Both<Short<Function, Format, false>>, u32, u32>;
  }
  return ftz ? &apply<Short<Function, Format, true>, u16, u16>
             : &apply<Short<Function, Format, false>, u16, u16>;
}
template <class Function>
LaneFunction find_short(Type type, bool ftz) {
  switch (type) {
    case Type::kF16:
    case Type::kF16x2:
      return find_short<Function, F16>(type == Type::kF16x2, ftz);
    case Type::kBf16:
    case Type::kBf16x2:
      return find_short<Function, Bf16>(type == Type::kBf16x2, ftz);
    default:
      return nullptr;
  }
}

// log2 x = e + 2 / ln 2 * artanh((m - 1) / (m + 1)) with x = 2^e m, m in [sqrt 1/2, sqrt 2): |s| < 0.172, and
// the first term left out, s^17 / 17, is below 2^-45.
struct Lg2 {
  static WEFT_ALWAYS_INLINE float of(float a) {
    const double x = static_cast<double>(a);  // f32 subnormals are normal here
    const u64 bits = bit_cast<u64>(x);
    const u64 above = bits - 0x3fe6a09e667f3bcdu;  // sqrt 1/2
    const u64 exponent = above & 0xfff0000000000000u;
    const double m = bit_cast<double>(bits - exponent);
    // The exponent field as a double: its biased integer put in the low bits of 2^52.
    const double e = bit_cast<double>(((exponent >> 52) ^ 0x800u) | 0x4330000000000000u) - 4503599627372544.0;
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double series = 1.0 / 19;
    series = series * z + 1.0 / 17;
    series = series * z + 1.0 / 15;
    series = series * z + 1.0 / 13;
    series = series * z + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    series = series * z + 1.0;
    const double value = e + 2.88539008177792681472 * s * series;
    const float infinity = __builtin_inff();
    const float special = a == 0.0f ? -infinity : a == infinity ? infinity : __builtin_nanf("");
    const bool regular = (a > 0.0f) & (a < infinity);
    return regular ? static_cast<float>(value) : special;
  }
};

// sin and cos of x = k pi/2 + r, |r| <= pi/4, from k mod 4 and r.
struct Reduced {
  double r;
  u64 quadrant;  // only the low two bits count
};

// Cody-Waite reduction with pi/2 in three parts: the products are exact up to |x| = 2^20.
constexpr float kCodyWaiteLimit = 0x1p20f;
WEFT_ALWAYS_INLINE Reduced reduce(float a) {
  const double x = static_cast<double>(a);
  const double sum = x * 0.63661977236758134308 + kRounder;
  const double k = sum - kRounder;
  const double r =
      ((x - k * 1.57079632673412561417) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
  return {r, bit_cast<u64>(sum)};
}

// Payne-Hanek reduction, for finite |x| >= 2^20: x = m 2^e times 2/pi modulo 4 needs only the bits of 2/pi
// from 2^(1 - e) down. They are kept to 2^-126, the product with m < 2^24 to 2^-102.
Reduced reduce_large(float a) {
  __extension__ using u128 = unsigned __int128;
  constexpr u64 two_over_pi[] = {0, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
                                 0xfe5163abdebbc561u};
  const u32 bits = bit_cast<u32>(a);
  const u64 m = (bits & 0x7fffffu) | 0x800000u;
  const u32 exponent = (bits >> 23) & 0xff;     // e + 150
  const u32 skipped = exponent - 150 - 2 + 64;  // bits, the leading zero word included; at least 59
  const u32 word = skipped / 64, shift = skipped % 64;
  const u64* w = two_over_pi + word;
  const auto joined = [shift](u64 high, u64 low) {
    return shift == 0 ? high : high << shift | low >> (64 - shift);
  };
  const u128 window = static_cast<u128>(joined(w[0], w[1])) << 64 | joined(w[1], w[2]);
  const u128 turns = window * m;  // in quarters, two integer bits, modulo 4
  const u64 quadrant = static_cast<u64>((turns + (u128{1} << 125)) >> 126);
  const u128 fraction = turns - (static_cast<u128>(quadrant) << 126);
  const double r = (static_cast<double>(static_cast<s64>(fraction >> 64)) * 0x1p-62 +
                    static_cast<double>(static_cast<u64>(fraction)) * 0x1p-126) *
                   1.57079632679489661923;
  return (bits >> 31) != 0 ? Reduced{-r, u64{0} - quadrant} : Reduced{r, quadrant};
}

// Taylor series to degree 15 and 16: the first terms left out are below 2^-54.
template <unsigned kQuarter>
WEFT_ALWAYS_INLINE float circular_of(Reduced reduced) {
  const double r = reduced.r, z = r * r;
  const u64 quadrant = reduced.quadrant + kQuarter;
  double sine = -1.0 / 1307674368000;
  sine = sine * z + 1.0 / 6227020800;
  sine = sine * z - 1.0 / 39916800;
  sine = sine * z + 1.0 / 362880;
  sine = sine * z - 1.0 / 5040;
  sine = sine * z + 1.0 / 120;
  sine = sine * z - 1.0 / 6;
  sine = r * (z * sine + 1.0);
  double cosine = 1.0 / 20922789888000;
  cosine = cosine * z - 1.0 / 87178291200;
  cosine = cosine * z + 1.0 / 479001600;
  cosine = cosine * z - 1.0 / 3628800;
  cosine = cosine * z + 1.0 / 40320;
  cosine = cosine * z - 1.0 / 720;
  cosine = cosine * z + 1.0 / 24;
  cosine = cosine * z - 0.5;
  cosine = cosine * z + 1.0;
  const double magnitude = (quadrant & 1) != 0 ? cosine : sine;
  return static_cast<float>(bit_cast<double>(bit_cast<u64>(magnitude) ^ ((quadrant & 2) << 62)));
}

// sin for kQuarter 0, cos for 1. Large arguments are rare, and done again one by one.
template <unsigned kQuarter, bool kFtz>
void circular(Lanes& lanes) {
  const void* const src = lanes.src[0];
  alignas(64) float value[kLanes];
  u32 large = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const float a = kFtz ? flush(read<float>(src, i)) : read<float>(src, i);
    const bool small = __builtin_fabsf(a) < kCodyWaiteLimit;
    value[i] = circular_of<kQuarter>(reduce(small ? a : 0.0f));
    large |= small ? 0u : 1u;
  }
  if (__builtin_expect(large != 0, 0)) {
    for (unsigned i = 0; i < kLanes; ++i) {
      const float a = read<float>(src, i);
      if (__builtin_fabsf(a) < kCodyWaiteLimit) continue;
      value[i] =
          __builtin_fabsf(a) < __builtin_inff() ? circular_of<kQuarter>(reduce_large(a)) : __builtin_nanf("");
    }
  }
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    computed[i] = bit_cast<u32>(canonical(kFtz ? flush(value[i]) : value[i]));
  }
  commit(lanes.dst, computed, lanes.active);
}
template <unsigned kQuarter>
LaneFunction find_circular(const Instruction& in) {
  if (in.type != Type::kF32 || in.sat) return nullptr;
  return in.ftz ? &circular<kQuarter, true> : &circular<kQuarter, false>;
}

struct Rsqrt {
  static WEFT_ALWAYS_INLINE float of(float a) {
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
  }
  static WEFT_ALWAYS_INLINE double of(double a) { return 1.0 / __builtin_sqrt(a); }
};
struct Rcp {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return V{1} / a;
  }
};
struct Sqrt {
  static WEFT_ALWAYS_INLINE float of(float a) { return __builtin_sqrtf(a); }
};

// div.full covers the whole range. div.approx is a * (1 / b) whose reciprocal underflows for 2^126 < |b| <
// 2^128: then the result is 0, of an infinite a NaN.
struct DivFull {
  static WEFT_ALWAYS_INLINE float of(float a, float b) { return a / b; }
};
struct DivApprox {
  static WEFT_ALWAYS_INLINE float of(float a, float b) {
    const float magnitude = __builtin_fabsf(b);
    const bool vanishes = (magnitude > 0x1p126f) & (magnitude < __builtin_inff());
    const float zero = bit_cast<float>(bit_cast<u32>(b) & 0x80000000u);
    return vanishes ? a * zero : a / b;
  }
};

// rcp and rsqrt .approx.ftz.f64: the upper 32 bits of the operand give the upper 32 bits of the result, whose
// lower half is zero; rounded to nearest.
template <class Op>
struct UpperHalf {
  static WEFT_ALWAYS_INLINE double of(double a) {
    const double upper = flush(bit_cast<double>(bit_cast<u64>(a) & 0xffffffff00000000u));
    const double exact = Op::of(upper);
    const u64 rounded = (bit_cast<u64>(exact) + 0x80000000u) & 0xffffffff00000000u;
    const double result = flush(bit_cast<double>(rounded));
    return exact == exact && a == a ? result : bit_cast<double>(kNan64);
  }
};

template <class Op, class... A>
LaneFunction single(const Instruction& in) {
  if (in.type != Type::kF32 || in.sat) return nullptr;
  return in.ftz ? &apply<Single<Op, true, false>, float, A...>
                : &apply<Single<Op, false, false>, float, A...>;
}

}  // namespace

LaneFunction find_approximate(const Instruction& in) {
  const bool is_double = in.type == Type::kF64;
  switch (in.op) {
    case Opcode::kDiv:
      return in.full ? single<DivFull, float, float>(in) : single<DivApprox, float, float>(in);
    case Opcode::kRcp:
      if (is_double) return in.ftz ? &apply<UpperHalf<Rcp>, double, double> : nullptr;
      return single<Rcp, float>(in);
    case Opcode::kSqrt:
      return single<Sqrt, float>(in);
    case Opcode::kRsqrt:
      if (is_double) return in.ftz ? &apply<UpperHalf<Rsqrt>, double, double> : &apply_double<Rsqrt, 0>;
      return single<Rsqrt, float>(in);
    case Opcode::kEx2:
      return single<Ex2, float>(in);
    case Opcode::kTanh:
      return single<Tanh, float>(in);
    case Opcode::kLg2:
      return single<Lg2, float>(in);
    case Opcode::kSin:
      return find_circular<0>(in);
    case Opcode::kCos:
      return find_circular<1>(in);
    default:
      return nullptr;
  }
}

LaneFunction find_approximate_half(const Instruction& in) {
  if (in.sat || in.relu) return nullptr;
  if (in.op == Opcode::kEx2) return find_short<Ex2>(in.type, in.ftz);
  return in.op == Opcode::kTanh ? find_short<Tanh>(in.type, in.ftz) : nullptr;
}

}  // namespace weft::isa::WEFT_ISA_VERSION
