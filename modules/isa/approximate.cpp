// Approximate functions, within the error bounds that the PTX ISA gives for .approx and .full. They are
// evaluated in double precision by series of our own and rounded once: libm may choose other code, and other
// last bits, on another processor.
#include "isa/floating.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

// Adding and subtracting 1.5 * 2^52 rounds to an integer, which then stands in the low bits of the sum.
constexpr double kRounder = 6755399441055744.0;

// 2^x by splitting x = n + f, |f| <= 1/2, and the exponential series of f ln 2: the first term left out, of
// degree 9, is below 2^-32.
struct Ex2 {
  static WEFT_ALWAYS_INLINE float of(float a) {
    const double limited = a > 200.0f ? 200.0 : a < -200.0f ? -200.0 : static_cast<double>(a);
    const double sum = limited + kRounder;
    const double t = (limited - (sum - kRounder)) * 0.69314718055994530942;
    double series = 1.0 / 40320;
    series = series * t + 1.0 / 5040;
    series = series * t + 1.0 / 720;
    series = series * t + 1.0 / 120;
    series = series * t + 1.0 / 24;
    series = series * t + 1.0 / 6;
    series = series * t + 0.5;
    series = series * t + 1.0;
    series = series * t + 1.0;
    const double scale = bit_cast<double>((bit_cast<u64>(sum) + 1023) << 52);
    const double value = series * scale;
    return a == a ? static_cast<float>(value) : a;
  }
};

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
    double series = 1.0 / 15;
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
    return (a > 0.0f) & (a < infinity) ? static_cast<float>(value) : special;
  }
};

// sin and cos of x = k pi/2 + r, |r| <= pi/4: Cody-Waite reduction with pi/2 in three parts, exact for k <
// 2^20, and the Taylor series to degree 13 and 14 (error below 2^-45). PTX bounds the error up to |x| = 100
// pi only; beyond |x| = 2^20 the result is a deterministic value in [-1, 1].
template <unsigned kQuarter>
struct Circular {
  static WEFT_ALWAYS_INLINE float of(float a) {
    const double x = static_cast<double>(a);
    const double sum = x * 0.63661977236758134308 + kRounder;
    const double k = sum - kRounder;
    const u64 quadrant = bit_cast<u64>(sum) + kQuarter;
    const double reduced =
        ((x - k * 1.57079632673412561417) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
    const double limited = reduced > 0.8 ? 0.8 : reduced < -0.8 ? -0.8 : reduced;
    const double r = limited == limited ? limited : 0.0, z = r * r;
    double sine = 1.0 / 6227020800;
    sine = sine * z - 1.0 / 39916800;
    sine = sine * z + 1.0 / 362880;
    sine = sine * z - 1.0 / 5040;
    sine = sine * z + 1.0 / 120;
    sine = sine * z - 1.0 / 6;
    sine = r * (z * sine + 1.0);
    double cosine = -1.0 / 87178291200;
    cosine = cosine * z + 1.0 / 479001600;
    cosine = cosine * z - 1.0 / 3628800;
    cosine = cosine * z + 1.0 / 40320;
    cosine = cosine * z - 1.0 / 720;
    cosine = cosine * z + 1.0 / 24;
    cosine = cosine * z - 0.5;
    cosine = cosine * z + 1.0;
    const double magnitude = (quadrant & 1) != 0 ? cosine : sine;
    const double value = bit_cast<double>(bit_cast<u64>(magnitude) ^ ((quadrant & 2) << 62));
    return __builtin_fabsf(a) < __builtin_inff() ? static_cast<float>(value) : __builtin_nanf("");
  }
};
using Sin = Circular<0>;
using Cos = Circular<1>;

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
    case Opcode::kLg2:
      return single<Lg2, float>(in);
    case Opcode::kSin:
      return single<Sin, float>(in);
    case Opcode::kCos:
      return single<Cos, float>(in);
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
