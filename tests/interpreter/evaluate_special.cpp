// prmt, lop3, shf, bfind, bmsk, fns, sad, mul24, mad24, dp2a, dp4a and the carries: the definitions of the
// PTX ISA, bit by bit or in 128-bit numbers.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "interpreter/bits.h"
#include "interpreter/evaluate.h"

namespace weft::test {

using ptx::Instruction;
using ptx::Mode;
using ptx::Opcode;
using ptx::Type;
using ptx::Width;

namespace {

constexpr std::uint64_t kNotFound = 0xffffffff;

bool bit(std::uint64_t value, std::uint64_t position) {
  return ((value >> position) & 1) != 0;
}

// The tables of prmt's modes: by the low bits of c, the source bytes of result bytes 3, 2, 1, 0.
std::uint64_t permute(const Instruction& in, const Sources& s) {
  static const unsigned kF4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, kB4e[] = {0x5670, 0x6701, 0x7012, 0x0123},
                        kRc8[] = {0x0000, 0x1111, 0x2222, 0x3333}, kEcl[] = {0x3210, 0x3211, 0x3222, 0x3333},
                        kEcr[] = {0x0000, 0x1110, 0x2210, 0x3210}, kRc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  const auto c = static_cast<unsigned>(s[2]);
  const unsigned selectors = in.mode == Mode::kF4e    ? kF4e[c % 4]
                             : in.mode == Mode::kB4e  ? kB4e[c % 4]
                             : in.mode == Mode::kRc8  ? kRc8[c % 4]
                             : in.mode == Mode::kEcl  ? kEcl[c % 4]
                             : in.mode == Mode::kEcr  ? kEcr[c % 4]
                             : in.mode == Mode::kRc16 ? kRc16[c % 4]
                                                      : c;
  std::uint64_t result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned selector = selectors / (1u << (4 * k)) % 16, from = selector % 8;
    const std::uint64_t byte = (from < 4 ? s[0] >> (8 * from) : s[1] >> (8 * (from - 4))) % 256;
    const std::uint64_t chosen = selector < 8 ? byte : byte < 128 ? 0 : 255;
    result += chosen << (8 * k);
  }
  return result;
}

std::uint64_t funnel_shift(const Instruction& in, const Sources& s) {
  const bool clamps = in.mode == Mode::kLeftClamp || in.mode == Mode::kRightClamp;
  const bool left = in.mode == Mode::kLeftClamp || in.mode == Mode::kLeftWrap;
  const std::uint64_t amount = clamps ? std::min<std::uint64_t>(s[2], 32) : s[2] % 32;
  std::uint64_t result = 0;
  for (std::uint64_t k = 0; k < 32; ++k) {
    const std::uint64_t from = left ? 32 + k - amount : k + amount;  // of {b, a}
    if (from < 32 ? bit(s[0], from) : bit(s[1], from - 32)) result |= std::uint64_t{1} << k;
  }
  return result;
}

std::uint64_t find_bit(const Instruction& in, std::uint64_t a) {
  const unsigned width = width_of(in.type);
  const bool sign = is_signed_integer(in.type) && bit(a, width - 1);
  for (unsigned i = width; i-- > 0;) {
    if (bit(a, i) != sign) return in.mode == Mode::kShiftAmount ? width - 1 - i : i;
  }
  return kNotFound;
}

std::uint64_t bit_mask(const Instruction& in, std::uint64_t a, std::uint64_t b) {
  if (in.mode == Mode::kWrap) {
    a %= 32;
    b %= 32;
  }
  std::uint64_t mask = 0;
  for (std::uint64_t i = 0; i < 32; ++i) {
    if (i >= a && i < a + b) mask |= std::uint64_t{1} << i;
  }
  return mask;
}

std::uint64_t find_nth(std::uint64_t mask, std::uint64_t base, Integer offset) {
  if (base > 31) return kNotFound;
  if (offset == 0) return bit(mask, base) ? base : kNotFound;
  Integer count = offset < 0 ? -offset - 1 : offset - 1;
  for (auto at = static_cast<Integer>(base); at >= 0 && at < 32; at += offset < 0 ? -1 : 1) {
    if (bit(mask, static_cast<std::uint64_t>(at)) && count-- == 0) return static_cast<std::uint64_t>(at);
  }
  return kNotFound;
}

Integer product24(const Instruction& in, std::uint64_t a, std::uint64_t b) {
  const auto narrow = [&](std::uint64_t x) -> Integer {
    const auto low = static_cast<Integer>(x % (1 << 24));
    return in.type == Type::kS32 && low >= 1 << 23 ? low - (1 << 24) : low;
  };
  const Integer product = narrow(a) * narrow(b);
  if (in.width == Width::kHi) return number(in.type, static_cast<std::uint64_t>(product >> 16));
  return number(in.type, static_cast<std::uint64_t>(product));
}

Integer dot_product(const Instruction& in, const Sources& s) {
  const auto part = [](Type type, std::uint64_t word, unsigned bits, unsigned k) -> Integer {
    const auto value = static_cast<Integer>((word >> (bits * k)) % (1u << bits));
    return type == Type::kS32 && value >= 1 << (bits - 1) ? value - (1 << bits) : value;
  };
  auto sum = static_cast<Integer>(s[2]);
  if (in.op == Opcode::kDp4a) {
    for (unsigned k = 0; k < 4; ++k) sum += part(in.type, s[0], 8, k) * part(in.from, s[1], 8, k);
  } else {
    const unsigned first = in.width == Width::kHi ? 2 : 0;
    for (unsigned k = 0; k < 2; ++k) sum += part(in.type, s[0], 16, k) * part(in.from, s[1], 8, first + k);
  }
  return sum;
}

std::uint64_t video(const Instruction& in, const Sources& s) {
  const Integer range = Integer{1} << (32 / in.vector);
  const auto part = [&](Type type, std::uint64_t word, unsigned k) -> Integer {
    Integer value = static_cast<Integer>(low_bits(word, 32));
    for (unsigned i = 0; i < k; ++i) value /= range;
    value %= range;
    return type == Type::kS32 && value >= range / 2 ? value - range : value;
  };
  const Integer low = in.type == Type::kS32 ? -range / 2 : 0;
  Integer total = static_cast<Integer>(s[2]), place = 1, merged = 0;
  for (unsigned k = 0; k < in.vector; ++k, place *= range) {
    const Integer a = part(in.from, s[0], k), b = part(in.second, s[1], k);
    Integer x = 0;
    if (in.op == Opcode::kVadd) x = a + b;
    if (in.op == Opcode::kVsub) x = a - b;
    if (in.op == Opcode::kVavrg) x = a + b >= 0 ? (a + b + 1) / 2 : (a + b - 1) / 2;
    if (in.op == Opcode::kVabsdiff) x = std::max(a - b, b - a);
    if (in.op == Opcode::kVmin) x = std::min(a, b);
    if (in.op == Opcode::kVmax) x = std::max(a, b);
    total += x;
    if (in.sat) x = std::clamp(x, low, low + range - 1);
    merged += ((x % range + range) % range) * place;
  }
  return low_bits(static_cast<std::uint64_t>(in.accumulate ? total : merged), 32);
}

// Scalar video (PTX ISA 9.0, 9.7.18.1), in whole numbers of 128 bits.
Integer video_part(ptx::VideoAccess::Part part, bool is_signed, std::uint64_t word) {
  using Part = ptx::VideoAccess::Part;
  unsigned width = 32, at = 0;
  if (part >= Part::kByte0 && part <= Part::kByte3) width = 8, at = 8 * (static_cast<unsigned>(part) - 1);
  if (part >= Part::kHalf0) width = 16, at = part == Part::kHalf0 ? 0 : 16;
  const Integer range = Integer{1} << width;
  const Integer value = (static_cast<Integer>(low_bits(word, 32)) >> at) % range;
  return is_signed && value >= range / 2 ? value - range : value;
}

std::uint64_t video_multiply(const Instruction& in, const Sources& s) {
  const ptx::VideoAccess& v = in.video;
  const Integer a = video_part(v.a, in.from == Type::kS32, s[0]),
                b = video_part(v.b, in.second == Type::kS32, s[1]);
  const bool is_signed = in.from == Type::kS32 || in.second == Type::kS32 || v.negate_product || v.negate_sum;
  Integer sum = v.negate_product ? -(a * b) : a * b;
  // What is negated of c are its 32 bits: -(~c) - 1, of the sign that the result has.
  const std::uint64_t c = low_bits(v.negate_sum ? ~s[2] : s[2], 32);
  sum += video_part(ptx::VideoAccess::Part::kWord, is_signed, c) + (v.plus_one || v.negate_sum ? 1 : 0);
  const Integer scale = Integer{1} << v.shift;
  Integer scaled = sum / scale;
  if (sum % scale < 0) --scaled;
  const Integer low = is_signed ? -(Integer{1} << 31) : 0, high = low + (Integer{1} << 32) - 1;
  if (in.sat) scaled = std::clamp(scaled, low, high);
  return low_bits(static_cast<std::uint64_t>(scaled), 32);
}

bool video_compare(ptx::Compare compare, Integer a, Integer b) {
  switch (compare) {
    case ptx::Compare::kEq:
      return a == b;
    case ptx::Compare::kNe:
      return a != b;
    case ptx::Compare::kLt:
      return a < b;
    case ptx::Compare::kLe:
      return a <= b;
    case ptx::Compare::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

std::uint64_t video_scalar(const Instruction& in, const Sources& s) {
  using Part = ptx::VideoAccess::Part;
  using Second = ptx::VideoAccess::Second;
  if (in.op == Opcode::kVmad) return video_multiply(in, s);
  const ptx::VideoAccess& v = in.video;
  const bool is_signed = in.type == Type::kS32;
  const Integer a = video_part(v.a, in.from == Type::kS32, s[0]),
                b = video_part(v.b, in.second == Type::kS32, s[1]);
  const Integer steps = in.mode == Mode::kWrap ? b % 32 : std::min<Integer>(b, 32);
  Integer x = 0;
  if (in.op == Opcode::kVadd) x = a + b;
  if (in.op == Opcode::kVsub) x = a - b;
  if (in.op == Opcode::kVabsdiff) x = std::max(a - b, b - a);
  if (in.op == Opcode::kVmin) x = std::min(a, b);
  if (in.op == Opcode::kVmax) x = std::max(a, b);
  if (in.op == Opcode::kVshl) x = a * (Integer{1} << steps);
  if (in.op == Opcode::kVshr) x = a >> steps;
  if (in.op == Opcode::kVset) x = video_compare(in.compare, a, b) ? 1 : 0;
  const unsigned width = v.d == Part::kWord ? 32 : v.d >= Part::kHalf0 ? 16 : 8;
  const Integer range = Integer{1} << width, low = is_signed ? -range / 2 : 0;
  if (in.sat) x = std::clamp(x, low, low + range - 1);
  const Integer c = video_part(Part::kWord, is_signed, s[2]);
  if (v.second == Second::kAdd) x += c;
  if (v.second == Second::kMin) x = std::min(x, c);
  if (v.second == Second::kMax) x = std::max(x, c);
  const std::uint64_t result = low_bits(static_cast<std::uint64_t>(x), width);
  if (v.d == Part::kWord) return result;
  const unsigned at =
      v.d >= Part::kHalf0 ? (v.d == Part::kHalf0 ? 0 : 16) : 8 * (static_cast<unsigned>(v.d) - 1);
  return low_bits((s[2] & ~(low_bits(~std::uint64_t{0}, width) << at)) | result << at, 32);
}

}  // namespace

std::uint64_t evaluate_special(const Instruction& in, const Sources& s) {
  const auto value = [&](unsigned n) { return number(in.type, s[n]); };
  switch (in.op) {
    case Opcode::kPrmt:
      return permute(in, s);
    case Opcode::kLop3: {
      std::uint64_t result = 0;
      for (unsigned i = 0; i < 32; ++i) {
        const unsigned row = (bit(s[0], i) ? 4 : 0) + (bit(s[1], i) ? 2 : 0) + (bit(s[2], i) ? 1 : 0);
        if (bit(s[3], row)) result |= std::uint64_t{1} << i;
      }
      return result;
    }
    case Opcode::kShf:
      return funnel_shift(in, s);
    case Opcode::kBfind:
      return find_bit(in, s[0]);
    case Opcode::kBmsk:
      return bit_mask(in, s[0], s[1]);
    case Opcode::kFns:
      return find_nth(s[0], s[1], number(Type::kS32, s[2]));
    case Opcode::kSad: {
      const Integer difference = value(0) - value(1);
      return in_register(in.type,
                         static_cast<std::uint64_t>(value(2) + (difference < 0 ? -difference : difference)));
    }
    case Opcode::kMul24:
      return in_register(in.type, static_cast<std::uint64_t>(product24(in, s[0], s[1])));
    case Opcode::kMad24: {
      Integer sum = product24(in, s[0], s[1]) + value(2);
      if (in.sat) sum = std::clamp<Integer>(sum, -(Integer{1} << 31), (Integer{1} << 31) - 1);
      return in_register(in.type, static_cast<std::uint64_t>(sum));
    }
    case Opcode::kDp2a:
    case Opcode::kDp4a:
      return low_bits(static_cast<std::uint64_t>(dot_product(in, s)), 32);
    default:
      return in.vector == 1 ? video_scalar(in, s) : video(in, s);
  }
}

Result evaluate_carry(const Instruction& in, const Sources& s) {
  const unsigned width = width_of(in.type);
  const auto natural = [&](std::uint64_t bits) { return static_cast<Integer>(low_bits(bits, width)); };
  const bool reads = in.op == Opcode::kAddc || in.op == Opcode::kSubc || in.op == Opcode::kMadc;
  const Integer carry = reads && s[2] != 0 ? 1 : 0;
  Integer exact = 0;
  if (in.op == Opcode::kAdd || in.op == Opcode::kAddc) {
    exact = natural(s[0]) + natural(s[1]) + carry;
  } else if (in.op == Opcode::kSub || in.op == Opcode::kSubc) {
    // The carry of a + ~b + carry says that nothing is borrowed (modules/isa/carry.cpp).
    const Integer borrow = reads ? 1 - carry : 0;
    exact = natural(s[0]) - natural(s[1]) - borrow;
    return {low_bits(static_cast<std::uint64_t>(exact), width), false, exact >= 0};
  } else {
    Instruction product = in;
    product.op = Opcode::kMul;
    product.carry_out = false;
    exact = natural(evaluate(product, s).value) + natural(s[3]) + carry;
  }
  Result result;
  result.value = low_bits(static_cast<std::uint64_t>(exact), width);
  result.q = exact < 0 || (exact >> width) != 0;
  return result;
}

bool evaluate_testp(const Instruction& in, std::uint64_t bits) {
  const int kind = in.type == Type::kF64 ? std::fpclassify(double_of(bits)) : std::fpclassify(float_of(bits));
  switch (in.mode) {
    case Mode::kFinite:
      return kind != FP_NAN && kind != FP_INFINITE;
    case Mode::kInfinite:
      return kind == FP_INFINITE;
    case Mode::kNumber:
      return kind != FP_NAN;
    case Mode::kNotANumber:
      return kind == FP_NAN;
    case Mode::kNormal:
      return kind == FP_NORMAL || kind == FP_ZERO;
    default:
      return kind == FP_SUBNORMAL;
  }
}

}  // namespace weft::test
