// Floating-point instructions on the host's float and double, one value at a time, under <cfenv>'s rounding
// modes.
#include <cfenv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "interpreter/bits.h"
#include "interpreter/evaluate.h"

namespace weft::test {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

namespace {

class WithRounding {
 public:
  explicit WithRounding(Rounding rounding) : before_(std::fegetround()) {
    switch (rounding) {
      case Rounding::kRz:
        std::fesetround(FE_TOWARDZERO);
        break;
      case Rounding::kRm:
        std::fesetround(FE_DOWNWARD);
        break;
      case Rounding::kRp:
        std::fesetround(FE_UPWARD);
        break;
      default:
        std::fesetround(FE_TONEAREST);
        break;
    }
  }
  ~WithRounding() { std::fesetround(before_); }

 private:
  int before_;
};

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
double flushed(double x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x;
}

template <class V>
V clamp_to_unit(V x) {
  if (!(x > 0)) return 0;
  return x > 1 ? V{1} : x;
}

// volatile keeps each operation between the two changes of the rounding mode.
template <class V>
V arithmetic(const Instruction& in, V a, V b, V c) {
  const WithRounding mode(in.rounding);
  volatile V x = a, y = b, z = c, result = 0;
  switch (in.op) {
    case Opcode::kAdd:
      result = x + y;
      break;
    case Opcode::kSub:
      result = x - y;
      break;
    case Opcode::kMul:
      result = x * y;
      break;
    case Opcode::kDiv:
      result = x / y;
      break;
    case Opcode::kFma:
    case Opcode::kMad:
      result = std::fma(x, y, z);
      break;
    case Opcode::kRcp:
      result = 1 / x;
      break;
    case Opcode::kSqrt:
      result = std::sqrt(x);
      break;
    default:
      throw std::runtime_error("floating-point instruction without a meaning");
  }
  return result;
}

unsigned operand_count(Opcode op) {
  switch (op) {
    case Opcode::kFma:
    case Opcode::kMad:
      return 3;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kDiv:
      return 2;
    default:
      return 1;
  }
}

// Values of the approximate f32 functions: the exact value, rounded to f32 through double.
float approximate(Opcode op, float a, float b) {
  const double x = a;
  switch (op) {
    case Opcode::kRsqrt:
      return static_cast<float>(1 / std::sqrt(x));
    case Opcode::kEx2:
      return static_cast<float>(std::exp2(x));
    case Opcode::kLg2:
      return static_cast<float>(std::log2(x));
    case Opcode::kSin:
      return static_cast<float>(std::sin(x));
    case Opcode::kCos:
      return static_cast<float>(std::cos(x));
    case Opcode::kTanh:
      return static_cast<float>(std::tanh(x));
    case Opcode::kDiv:  // .approx; PTX ISA: for 2^126 < |b| < 2^128 the reciprocal is 0
      if (std::fabs(b) > 0x1p126f && std::isfinite(b)) return a * std::copysign(0.0f, b);
      return a / b;
    default:
      throw std::runtime_error("approximate instruction without a meaning");
  }
}

std::uint64_t finish(const Instruction& in, float x) {
  if (in.ftz) x = flushed(x);
  if (in.sat) return bits_of(clamp_to_unit(x));
  return std::isnan(x) ? 0x7fffffff : bits_of(x);
}

std::uint64_t evaluate_single(const Instruction& in, const Sources& s) {
  float x[3];
  for (unsigned n = 0; n < 3; ++n) x[n] = in.ftz ? flushed(float_of(s[n])) : float_of(s[n]);
  const bool by_series = in.op == Opcode::kRsqrt || in.op == Opcode::kEx2 || in.op == Opcode::kLg2 ||
                         in.op == Opcode::kSin || in.op == Opcode::kCos || in.op == Opcode::kTanh ||
                         (in.op == Opcode::kDiv && in.approx && !in.full);
  if (by_series) return finish(in, approximate(in.op, x[0], x[1]));
  Instruction plain = in;
  if (in.approx || in.full) plain.rounding = Rounding::kRn;
  return finish(in, arithmetic(plain, x[0], x[1], x[2]));
}

constexpr std::uint64_t kQuiet = 0x0008000000000000, kInvalid = 0xfff8000000000000;

// rcp and rsqrt .approx.ftz.f64 work on the upper half of the operand and give an upper half.
std::uint64_t evaluate_upper(Opcode op, std::uint64_t bits) {
  const double x = flushed(double_of(bits & ~std::uint64_t{0xffffffff}));
  if (std::isnan(double_of(bits)) || (op == Opcode::kRsqrt && x < 0)) return kInvalid;
  const double exact = op == Opcode::kRcp ? 1 / x : 1 / std::sqrt(x);
  const std::uint64_t nearest = (bits_of(exact) + 0x80000000) >> 32 << 32;
  return bits_of(flushed(double_of(nearest)));
}

std::uint64_t evaluate_double(const Instruction& in, const Sources& s) {
  if (in.approx && in.ftz) return evaluate_upper(in.op, s[0]);
  for (unsigned n = 0; n < operand_count(in.op); ++n) {
    if (std::isnan(double_of(s[n]))) return s[n] | kQuiet;
  }
  const double result = in.op == Opcode::kRsqrt
                            ? 1 / std::sqrt(double_of(s[0]))
                            : arithmetic(in, double_of(s[0]), double_of(s[1]), double_of(s[2]));
  return std::isnan(result) ? kInvalid : bits_of(result);
}

// The bits of the less or the greater one; -0 is less than +0, and at most one is a NaN.
template <class V>
std::uint64_t extremum(bool least, V x, V y) {
  if (std::isnan(x)) return bits_of(y);
  if (std::isnan(y)) return bits_of(x);
  const bool x_is_less = x < y || (x == y && std::signbit(x));
  return bits_of(least == x_is_less ? x : y);
}

// neg, abs, copysign, min, max: no rounding.
template <class V>
std::uint64_t evaluate_sign(const Instruction& in, std::uint64_t a, std::uint64_t b,
                            V (*value)(std::uint64_t)) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(V) - 1);
  const auto operand = [&](std::uint64_t bits) { return in.ftz ? bits_of(flushed(value(bits))) : bits; };
  switch (in.op) {
    case Opcode::kNeg:
      return operand(a) ^ sign;
    case Opcode::kAbs:
      return operand(a) & ~sign;
    case Opcode::kCopysign:
      return (b & ~sign) | (a & sign);
    default:
      break;
  }
  const Order order = order_of(in.mode);
  const auto number = [&](std::uint64_t bits) {
    const V x = value(operand(bits));
    return order.magnitudes ? std::fabs(x) : x;
  };
  const V x = number(a), y = number(b);
  const bool is_nan = order.nan_wins ? std::isnan(x) || std::isnan(y) : std::isnan(x) && std::isnan(y);
  if (is_nan) return sizeof(V) == 4 ? 0x7fffffff : kInvalid;
  const std::uint64_t result = extremum(in.op == Opcode::kMin, x, y);
  return order.product_of_signs ? result | ((a ^ b) & sign) : result;
}

double to_integral(Rounding rounding, double x) {
  switch (rounding) {
    case Rounding::kRni: {
      const WithRounding nearest(Rounding::kRn);
      return std::nearbyint(x);
    }
    case Rounding::kRmi:
      return std::floor(x);
    case Rounding::kRpi:
      return std::ceil(x);
    default:
      return std::trunc(x);
  }
}

bool is_integral_rounding(Rounding r) {
  return r == Rounding::kRni || r == Rounding::kRzi || r == Rounding::kRmi || r == Rounding::kRpi;
}

// PTX ISA, cvt: clamped; a NaN is 0, or the most negative number if either type has 64 bits.
std::uint64_t float_to_integer(const Instruction& in, double x) {
  const unsigned width = width_of(in.type);
  if (std::isnan(x)) {
    if (in.from != Type::kF64 && width != 64) return 0;
    return in_register(in.type, std::uint64_t{1} << (width - 1));
  }
  const bool is_signed = is_signed_integer(in.type);
  const Integer high = (Integer{1} << (is_signed ? width - 1 : width)) - 1, low = is_signed ? -high - 1 : 0;
  const double integral = to_integral(in.rounding, x);
  const Integer value = integral >= 0x1p64 ? high : integral < -0x1p64 ? low : static_cast<Integer>(integral);
  return in_register(in.type, static_cast<std::uint64_t>(value > high ? high : value < low ? low : value));
}

template <class V>
V integer_to_float(const Instruction& in, Integer value) {
  const WithRounding mode(in.rounding);
  volatile V result = 0;
  if (value < 0) {
    volatile auto narrow = static_cast<std::int64_t>(value);
    result = static_cast<V>(narrow);
  } else {
    volatile auto narrow = static_cast<std::uint64_t>(value);
    result = static_cast<V>(narrow);
  }
  return result;
}

std::uint64_t finish_double(const Instruction& in, double x) {
  return bits_of(in.sat ? clamp_to_unit(x) : x);
}

std::uint64_t convert(const Instruction& in, std::uint64_t bits) {
  if (!is_floating(in.from)) {
    const Integer value = number(in.from, bits);
    return in.type == Type::kF32 ? finish(in, integer_to_float<float>(in, value))
                                 : finish_double(in, integer_to_float<double>(in, value));
  }
  const bool from_single = in.from == Type::kF32;
  if (from_single && in.ftz) bits = bits_of(flushed(float_of(bits)));
  const double x = from_single ? static_cast<double>(float_of(bits)) : double_of(bits);
  if (!is_floating(in.type)) return float_to_integer(in, x);
  if (std::isnan(x)) {
    if (in.sat) return 0;
    if (in.type == Type::kF32) return 0x7fffffff;
    if (!from_single) return bits | kQuiet;
    return ((bits & 0x80000000) << 32) | 0x7ff8000000000000 | ((bits & 0x007fffff) << 29);
  }
  if (in.type == in.from) {
    const double integral = is_integral_rounding(in.rounding) ? to_integral(in.rounding, x) : x;
    return from_single ? finish(in, static_cast<float>(integral)) : finish_double(in, integral);
  }
  if (in.type == Type::kF64) return finish_double(in, x);
  const WithRounding mode(in.rounding);
  volatile double wide = x;
  volatile float narrow = static_cast<float>(wide);
  return finish(in, narrow);
}

}  // namespace

Order order_of(ptx::Mode mode) {
  switch (mode) {
    case ptx::Mode::kNan:
      return {true, false, false};
    case ptx::Mode::kXorsign:
      return {false, true, true};
    case ptx::Mode::kXorsignNan:
      return {true, true, true};
    case ptx::Mode::kMagnitude:
      return {false, true, false};
    case ptx::Mode::kMagnitudeNan:
      return {true, true, false};
    default:
      return {};
  }
}

std::uint64_t evaluate_float(const Instruction& in, const Sources& s) {
  if (in.type == Type::kF32x2) {
    Instruction half = in;
    half.type = half.from = Type::kF32;
    Sources lower{}, upper{};
    for (unsigned n = 0; n < s.size(); ++n) lower[n] = low_bits(s[n], 32), upper[n] = s[n] >> 32;
    return low_bits(evaluate_float(half, lower), 32) | evaluate_float(half, upper) << 32;
  }
  switch (in.op) {
    case Opcode::kCvt:
      return convert(in, s[0]);
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kCopysign:
    case Opcode::kMin:
    case Opcode::kMax:
      return in.type == Type::kF32 ? evaluate_sign<float>(in, s[0], s[1], float_of)
                                   : evaluate_sign<double>(in, s[0], s[1], double_of);
    default:
      return in.type == Type::kF32 ? evaluate_single(in, s) : evaluate_double(in, s);
  }
}

std::uint64_t add_float(Type type, bool ftz, std::uint64_t a, std::uint64_t b) {
  Instruction in;
  in.op = Opcode::kAdd;
  in.type = type;
  in.ftz = ftz && type == Type::kF32;
  return evaluate_float(in, {a, b, 0, 0, 0});
}

}  // namespace weft::test
