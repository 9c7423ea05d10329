// f16 and bf16, one value at a time: the host computes in double, where inexact toward zero with the last bit
// set (rounding to odd), and <cmath> scales the result so that its last place is 1 and rounds it there.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <stdexcept>

#include "interpreter/bits.h"
#include "interpreter/evaluate.h"

namespace weft::test {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

namespace {

struct Format {
  int fraction, smallest;  // bits of the fraction, exponent of the smallest normal number
  std::uint64_t infinity;
};

Format format_of(Type type) {
  if (type == Type::kF16 || type == Type::kF16x2) return {10, -14, 0x7c00};
  return {7, -126, 0x7f80};
}

constexpr std::uint64_t kNan = 0x7fff;

int mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::kRz:
      return FE_TOWARDZERO;
    case Rounding::kRm:
      return FE_DOWNWARD;
    case Rounding::kRp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

double rounded(double x, int mode) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile double operand = x;
  const double result = std::nearbyint(operand);
  std::fesetround(before);
  return result;
}

// Runs `compute` toward zero; sets the last bit of its result if that is inexact.
template <class Compute>
double to_odd(Compute compute) {
  const int before = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  std::feclearexcept(FE_ALL_EXCEPT);
  volatile double result = compute();
  const bool inexact = std::fetestexcept(FE_INEXACT) != 0;
  std::fesetround(before);
  return inexact ? double_of(bits_of(static_cast<double>(result)) | 1) : static_cast<double>(result);
}

std::uint64_t to_half(Type type, double x, Rounding rounding) {
  const Format format = format_of(type);
  const std::uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return kNan;
  if (std::isinf(x)) return sign | format.infinity;
  if (x == 0) return sign;
  const int exponent = std::max(std::ilogb(x), format.smallest);
  const double units = std::fabs(rounded(std::ldexp(x, format.fraction - exponent), mode_of(rounding)));
  const double one = std::ldexp(1.0, format.fraction);
  const auto steps = static_cast<std::uint64_t>(exponent - format.smallest);
  // A normal number's hidden bit counts as a step of the exponent.
  const std::uint64_t bits = steps * static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(units);
  if (bits < format.infinity) return sign | bits;
  const bool finite = rounding == Rounding::kRz || (rounding == Rounding::kRm && sign == 0) ||
                      (rounding == Rounding::kRp && sign != 0);
  return sign | (finite ? format.infinity - 1 : format.infinity);
}

double clamped(const Instruction& in, double x) {
  if (in.sat) return !(x > 0) ? 0 : x > 1 ? 1 : x;
  if (in.relu && !std::isnan(x)) return x > 0 ? x : 0;
  if (in.saturates_finite) {
    const double largest = half_value(in.type, format_of(in.type).infinity - 1);
    if (std::fabs(x) > largest) return std::copysign(largest, x);
  }
  return x;
}

std::uint64_t extremum(const Instruction& in, std::uint64_t a, std::uint64_t b) {
  const Order order = order_of(in.mode);
  const std::uint64_t sign = order.product_of_signs ? (a ^ b) & 0x8000 : 0;
  if (order.magnitudes) a &= 0x7fff, b &= 0x7fff;
  const double x = half_value(in.type, a), y = half_value(in.type, b);
  const bool is_nan = order.nan_wins ? std::isnan(x) || std::isnan(y) : std::isnan(x) && std::isnan(y);
  if (is_nan) return kNan;
  const bool a_is_less = x < y || (x == y && std::signbit(x));
  const bool takes_a = std::isnan(y) || (!std::isnan(x) && (in.op == Opcode::kMin) == a_is_less);
  return (takes_a ? a : b) | sign;
}

std::uint64_t arithmetic(const Instruction& in, const std::uint64_t (&bits)[3]) {
  volatile double a = half_value(in.type, bits[0]), b = half_value(in.type, bits[1]),
                  c = half_value(in.type, bits[2]);
  double exact = 0;
  switch (in.op) {
    case Opcode::kAdd:
      exact = to_odd([&] { return a + b; });
      break;
    case Opcode::kSub:
      exact = to_odd([&] { return a - b; });
      break;
    case Opcode::kMul:
      exact = to_odd([&] { return a * b; });
      break;
    case Opcode::kFma:
      exact = to_odd([&] { return std::fma(a, b, c); });
      break;
    case Opcode::kEx2:
      exact = std::exp2(a);
      break;
    case Opcode::kTanh:
      exact = std::tanh(a);
      break;
    default:
      throw std::runtime_error("16-bit floating-point instruction without a meaning");
  }
  // An exact sum of zero is -0 toward zero only if it is so to nearest, too: both round it alike.
  return to_half(in.type, clamped(in, exact), Rounding::kRn);
}

std::uint64_t one_half(const Instruction& in, const Sources& s, unsigned shift) {
  std::uint64_t bits[3];
  for (unsigned n = 0; n < 3; ++n) {
    bits[n] = low_bits(s[n] >> shift, 16);
    if (in.ftz) bits[n] = flushed_half(in.type, bits[n]);
  }
  switch (in.op) {
    case Opcode::kNeg:
      return bits[0] ^ 0x8000;
    case Opcode::kAbs:
      return bits[0] & 0x7fff;
    case Opcode::kMin:
    case Opcode::kMax:
      return extremum(in, bits[0], bits[1]);
    default:
      return in.ftz ? flushed_half(in.type, arithmetic(in, bits)) : arithmetic(in, bits);
  }
}

std::uint64_t convert(const Instruction& in, std::uint64_t bits) {
  if (!is_half(in.type)) {  // a half is exact as f32
    Instruction from_single = in;
    from_single.from = Type::kF32;
    const double x = half_value(in.from, bits);
    std::uint64_t single = bits_of(static_cast<float>(x));
    if (std::isnan(x)) single = low_bits(bits, 16) << (in.from == Type::kF16 ? 13 : 16) | 0x7fc00000;
    if (std::isnan(x) && in.from == Type::kF16)
      single = (bits & 0x3ff) << 13 | (bits & 0x8000) << 16 | 0x7fc00000;
    return evaluate_float(from_single, {single, 0, 0, 0, 0});
  }
  if (is_half(in.from)) {
    double x = half_value(in.from, bits);
    if (in.rounding == Rounding::kRni) x = rounded(x, FE_TONEAREST);
    if (in.rounding == Rounding::kRmi) x = std::floor(x);
    if (in.rounding == Rounding::kRpi) x = std::ceil(x);
    if (in.rounding == Rounding::kRzi) x = std::trunc(x);
    return to_half(in.type, clamped(in, x), in.rounding);
  }
  if (in.from == Type::kF64) return to_half(in.type, clamped(in, double_of(bits)), in.rounding);
  if (in.from == Type::kF32) {
    const float x = float_of(bits);
    const bool flushes = in.ftz && std::fpclassify(x) == FP_SUBNORMAL;
    return to_half(in.type, clamped(in, flushes ? std::copysign(0.0, x) : x), in.rounding);
  }
  const Integer value = number(in.from, bits);
  const double x = to_odd([&] {
    if (value < 0) {
      volatile auto narrow = static_cast<std::int64_t>(value);
      return static_cast<double>(narrow);
    }
    volatile auto narrow = static_cast<std::uint64_t>(value);
    return static_cast<double>(narrow);
  });
  return to_half(in.type, clamped(in, x), in.rounding);
}

}  // namespace

double half_value(Type type, std::uint64_t bits) {
  const Format format = format_of(type);
  const std::uint64_t magnitude = bits & 0x7fff;
  double value = 0;
  if (magnitude > format.infinity) {
    value = std::nan("");
  } else if (magnitude == format.infinity) {
    value = HUGE_VAL;
  } else {
    const std::uint64_t one = std::uint64_t{1} << format.fraction;
    const auto field = static_cast<int>(magnitude / one);
    const std::uint64_t significand = magnitude % one + (field != 0 ? one : 0);
    value = std::ldexp(static_cast<double>(significand),
                       format.smallest - format.fraction + std::max(field - 1, 0));
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint64_t flushed_half(Type type, std::uint64_t bits) {
  const double x = half_value(type, bits);
  return x != 0 && std::fabs(x) < std::ldexp(1.0, format_of(type).smallest) ? bits & 0x8000 : bits;
}

std::uint64_t evaluate_half(const Instruction& in, const Sources& s) {
  if (in.op == Opcode::kCvt) return convert(in, s[0]);
  const std::uint64_t low = one_half(in, s, 0);
  if (in.type == Type::kF16 || in.type == Type::kBf16) return low;
  return low | one_half(in, s, 16) << 16;
}

}  // namespace weft::test
