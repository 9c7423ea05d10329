// Formats of 8 bits and fewer, and tf32, by search: every number of the format is computed from its
// definition, and the nearest one taken.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "interpreter/bits.h"
#include "interpreter/evaluate.h"

namespace weft::test {

using ptx::Instruction;
using ptx::Rounding;
using ptx::Type;

namespace {

constexpr std::uint64_t kNan16 = 0x7fff, kNan32 = 0x7fffffff;

struct Format {
  int exponent_bits, fraction_bits, bias;
  unsigned numbers;  // codes without a sign that are finite
  bool has_nan, has_infinity;
  unsigned bits() const { return exponent_bits == 2 && fraction_bits == 1 ? 4 : 8; }
  unsigned sign() const { return 1u << (exponent_bits + fraction_bits); }
};

Format format_of(Type type) {
  switch (type) {
    case Type::kE4m3x2:
      return {4, 3, 7, 0x7f, true, false};
    case Type::kE5m2x2:
      return {5, 2, 15, 0x7c, true, true};
    case Type::kE2m3x2:
      return {2, 3, 1, 0x20, false, false};
    case Type::kE3m2x2:
      return {3, 2, 3, 0x20, false, false};
    default:
      return {2, 1, 1, 0x8, false, false};
  }
}

double value_of(const Format& f, unsigned code) {
  const unsigned fraction = code & ((1u << f.fraction_bits) - 1);
  const int exponent = static_cast<int>(code >> f.fraction_bits);
  const double one = std::ldexp(1.0, -f.fraction_bits);
  if (exponent == 0) return std::ldexp(fraction * one, 1 - f.bias);
  return std::ldexp(1 + fraction * one, exponent - f.bias);
}

// The code of the nearest number, the even one of two that are as near, the largest one beyond them.
unsigned nearest(const Format& f, double x, bool relu) {
  if (std::isnan(x)) return f.has_nan ? f.sign() - 1 : f.numbers - 1;
  const double magnitude = std::fabs(x);
  unsigned best = 0;
  for (unsigned code = 1; code < f.numbers; ++code) {
    const double better = std::fabs(magnitude - value_of(f, code)),
                 before = std::fabs(magnitude - value_of(f, best));
    if (better < before || (better == before && code % 2 == 0)) best = code;
  }
  if (magnitude > value_of(f, f.numbers - 1)) best = f.numbers - 1;  // far away the differences are equal
  if (!std::signbit(x)) return best;
  return relu ? 0 : best | f.sign();
}

// 2^(code - 127), toward zero or up.
unsigned exponent_of(double x, const Instruction& in) {
  if (std::isnan(x)) return 0xff;
  const double magnitude = std::fabs(x);
  unsigned code = 0;
  while (code < 0xff && std::ldexp(1.0, static_cast<int>(code) - 127) < magnitude) ++code;
  const bool exact = code < 0xff && std::ldexp(1.0, static_cast<int>(code) - 127) == magnitude;
  if (in.rounding == Rounding::kRz && code > 0 && !exact) --code;
  if (std::isinf(x)) code = 0xff;
  return in.saturates_finite ? std::min(code, 0xfeu) : code;
}

std::uint64_t to_tf32(const Instruction& in, std::uint64_t bits) {
  const double x = float_of(bits);
  if (std::isnan(x)) return kNan32;
  if (in.relu && std::signbit(x)) return 0;
  const std::uint64_t sign = bits & 0x80000000, down = bits & 0x7fffe000, up = down + 0x2000;
  std::uint64_t result = down;
  if (in.rounding != Rounding::kRz && !std::isinf(x)) {
    // Beyond the largest number the next one counts as 2^128.
    const double below = float_of(down),
                 above = up == 0x7f800000 ? 0x1p128 : static_cast<double>(float_of(up));
    const double to_below = std::fabs(x) - below, to_above = above - std::fabs(x);
    const bool tie_goes_up = in.rounding == Rounding::kRna || (down >> 13) % 2 == 1;
    if (to_above < to_below || (to_above == to_below && tie_goes_up)) result = up;
  }
  if (in.saturates_finite && result == 0x7f800000) result = 0x7f7fe000;
  return sign | result;
}

std::uint64_t half_of(double x, bool relu) {
  if (std::isnan(x)) return kNan16;
  Instruction to_half;
  to_half.op = ptx::Opcode::kCvt;
  to_half.type = Type::kF16;
  to_half.from = Type::kF32;
  to_half.rounding = Rounding::kRn;
  if (relu && std::signbit(x)) x = 0;
  return evaluate_half(to_half, {bits_of(static_cast<float>(x)), 0, 0, 0, 0});
}

std::uint64_t from_code(Type type, unsigned code, bool relu) {
  const Format f = format_of(type);
  const unsigned magnitude = code & (f.sign() - 1);
  const double sign = (code & f.sign()) != 0 ? -1 : 1;
  if (f.has_infinity && magnitude == f.numbers) return half_of(sign * HUGE_VAL, relu);
  if (magnitude >= f.numbers) return kNan16;
  return half_of(std::copysign(value_of(f, magnitude), sign), relu);
}

std::uint64_t power_of_code(unsigned code) {
  if (code == 0xff) return kNan16;
  return code == 0 ? 0x40 : std::uint64_t{code} << 7;
}

}  // namespace

bool is_small(Type type) {
  return type >= Type::kTf32;
}

std::uint64_t evaluate_small(const Instruction& in, const Sources& s) {
  if (in.type == Type::kTf32) return to_tf32(in, s[0]);
  if (in.from == Type::kUe8m0x2) return power_of_code(s[0] >> 8 & 0xff) << 16 | power_of_code(s[0] & 0xff);
  if (is_small(in.from)) {
    const unsigned bits = format_of(in.from).bits(), mask = (1u << bits) - 1;
    const auto codes = static_cast<unsigned>(s[0]);
    return from_code(in.from, codes >> bits & mask, in.relu) << 16 |
           from_code(in.from, codes & mask, in.relu);
  }
  double upper = 0, lower = 0;
  if (in.from == Type::kF32) {
    upper = float_of(s[0]), lower = float_of(s[1]);
  } else {
    upper = half_value(in.from, low_bits(s[0] >> 16, 16)), lower = half_value(in.from, low_bits(s[0], 16));
  }
  if (in.type == Type::kUe8m0x2) return exponent_of(upper, in) << 8 | exponent_of(lower, in);
  const Format f = format_of(in.type);
  return nearest(f, upper, in.relu) << f.bits() | nearest(f, lower, in.relu);
}

}  // namespace weft::test
