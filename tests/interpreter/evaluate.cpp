#include "interpreter/evaluate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "interpreter/bits.h"

namespace weft::test {

using ptx::Atomic;
using ptx::Combine;
using ptx::Compare;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using ptx::Width;

namespace {

[[noreturn]] void no_meaning(const Instruction& in) {
  throw std::runtime_error("instruction without a meaning: opcode " +
                           std::to_string(static_cast<int>(in.op)) + ", type " +
                           std::to_string(static_cast<int>(in.type)));
}

bool bit(std::uint64_t value, unsigned position) {
  return ((value >> position) & 1) != 0;
}

Integer saturated(Type type, Integer value) {
  const unsigned width = width_of(type);
  const bool is_signed = is_signed_integer(type);
  const Integer high = (Integer{1} << (is_signed ? width - 1 : width)) - 1;
  const Integer low = is_signed ? -high - 1 : 0;
  return std::clamp(value, low, high);
}

// The bits of a product from `width` up. 128 bits hold the product of two 64-bit numbers only if it is seen
// as unsigned where they are.
Integer high_product(Type type, Integer a, Integer b) {
  __extension__ using Natural = unsigned __int128;
  const unsigned width = width_of(type);
  if (is_signed_integer(type)) return (a * b) >> width;
  return static_cast<Integer>((static_cast<Natural>(a) * static_cast<Natural>(b)) >> width);
}

std::uint64_t modular_product(Integer a, Integer b) {
  return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
}

Type wide_type(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    default:
      return Type::kS64;
  }
}

std::uint64_t evaluate_product(const Instruction& in, const Sources& s) {
  const Integer a = number(in.type, s[0]), b = number(in.type, s[1]);
  const bool sum = in.op == Opcode::kMad;
  if (in.width == Width::kWide) {
    const Type wide = wide_type(in.type);
    return in_register(wide, static_cast<std::uint64_t>(a * b) + (sum ? s[2] : 0));
  }
  if (in.width == Width::kHi) {
    const Integer product = high_product(in.type, a, b);
    const Integer high = number(in.type, static_cast<std::uint64_t>(product));
    const Integer total = sum ? high + number(in.type, s[2]) : high;
    return in_register(in.type, static_cast<std::uint64_t>(in.sat ? saturated(in.type, total) : total));
  }
  return in_register(in.type, modular_product(a, b) + (sum ? s[2] : 0));
}

std::uint64_t evaluate_shift(const Instruction& in, std::uint64_t value, std::uint64_t amount) {
  const unsigned width = width_of(in.type);
  const auto by = static_cast<unsigned>(std::min<std::uint64_t>(low_bits(amount, 32), width));
  if (in.op == Opcode::kShl) return by == width ? 0 : in_register(in.type, value << by);
  return in_register(in.type, static_cast<std::uint64_t>(number(in.type, value) >> by));
}

// PTX ISA, bfe and bfi: the definitions, bit by bit.
std::uint64_t extract_field(Type type, std::uint64_t a, unsigned position, unsigned length) {
  const unsigned last = width_of(type) - 1;
  const bool sign = is_signed_integer(type) && length != 0 && bit(a, std::min(position + length - 1, last));
  std::uint64_t field = 0;
  for (unsigned i = 0; i <= last; ++i) {
    const bool taken = i < length && position + i <= last ? bit(a, position + i) : sign;
    if (taken) field |= std::uint64_t{1} << i;
  }
  return field;
}
std::uint64_t insert_field(Type type, std::uint64_t a, std::uint64_t into, unsigned position,
                           unsigned length) {
  for (unsigned i = 0; i < length && position + i < width_of(type); ++i) {
    const std::uint64_t place = std::uint64_t{1} << (position + i);
    into = bit(a, i) ? into | place : into & ~place;
  }
  return into;
}

std::uint64_t evaluate_count(const Instruction& in, std::uint64_t a) {
  const unsigned width = width_of(in.type);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < width; ++i) {
    if (in.op == Opcode::kPopc) result += bit(a, i) ? 1 : 0;
    if (in.op == Opcode::kBrev && bit(a, i)) result |= std::uint64_t{1} << (width - 1 - i);
    if (in.op == Opcode::kClz) result = bit(a, i) ? 0 : result + 1;
  }
  return result;
}

enum class Order { kLess, kEqual, kGreater, kUnordered };

Order order_of(const Instruction& in, std::uint64_t a, std::uint64_t b) {
  const Type type = in.op == Opcode::kSet ? in.from : in.type;
  if (is_floating(type) || is_half(type)) {
    const auto value = [&](std::uint64_t bits) {
      if (is_half(type)) return half_value(type, in.ftz ? flushed_half(type, bits) : bits);
      if (type == Type::kF64) return double_of(bits);
      const float x = float_of(bits);
      return in.ftz && std::fpclassify(x) == FP_SUBNORMAL ? 0.0 : static_cast<double>(x);
    };
    const double x = value(a), y = value(b);
    if (std::isnan(x) || std::isnan(y)) return Order::kUnordered;
    return x < y ? Order::kLess : x > y ? Order::kGreater : Order::kEqual;
  }
  const Integer x = number(type, a), y = number(type, b);
  return x < y ? Order::kLess : x > y ? Order::kGreater : Order::kEqual;
}

bool holds(Compare compare, Order order) {
  const bool less = order == Order::kLess, equal = order == Order::kEqual, greater = order == Order::kGreater;
  const bool unordered = order == Order::kUnordered;
  switch (compare) {
    case Compare::kEq:
      return equal;
    case Compare::kNe:
      return less || greater;
    case Compare::kLt:
    case Compare::kLo:
      return less;
    case Compare::kLe:
    case Compare::kLs:
      return less || equal;
    case Compare::kGt:
    case Compare::kHi:
      return greater;
    case Compare::kGe:
    case Compare::kHs:
      return greater || equal;
    case Compare::kEqu:
      return equal || unordered;
    case Compare::kNeu:
      return !equal;
    case Compare::kLtu:
      return less || unordered;
    case Compare::kLeu:
      return !greater;
    case Compare::kGtu:
      return greater || unordered;
    case Compare::kGeu:
      return !less;
    case Compare::kNum:
      return !unordered;
    case Compare::kNan:
      return unordered;
  }
  return false;
}

bool is_pair(Type type) {
  return type == Type::kF16x2 || type == Type::kBf16x2;
}

Result evaluate_setp(const Instruction& in, const Sources& s) {
  const bool held = holds(in.compare, order_of(in, s[0], s[1])), c = s[2] != 0;
  bool other = !held;
  if (is_pair(in.op == Opcode::kSet ? in.from : in.type)) {
    other = holds(in.compare, order_of(in, s[0] >> 16, s[1] >> 16));
  }
  const auto join = [&](bool p) {
    switch (in.combine) {
      case Combine::kAnd:
        return p && c;
      case Combine::kOr:
        return p || c;
      case Combine::kXor:
        return p != c;
      default:
        return p;
    }
  };
  Result result;
  result.p = join(held);
  result.q = join(other);
  return result;
}

std::uint64_t evaluate_set(const Instruction& in, const Sources& s) {
  const Result flags = evaluate_setp(in, s);
  std::uint64_t one = is_pair(in.from) ? 0xffff : 0xffffffff;
  if (in.type == Type::kF16 || in.type == Type::kF16x2) one = 0x3c00;
  if (in.type == Type::kBf16 || in.type == Type::kBf16x2) one = 0x3f80;
  if (in.type == Type::kF32) one = bits_of(1.0f);
  if (in.type == Type::kU16) one = 0xffff;
  return (flags.p ? one : 0) | (is_pair(in.from) && flags.q ? one << 16 : 0);
}

Result evaluate_predicate(const Instruction& in, bool a, bool b) {
  Result result;
  switch (in.op) {
    case Opcode::kMov:
      result.p = a;
      break;
    case Opcode::kNot:
      result.p = !a;
      break;
    case Opcode::kAnd:
      result.p = a && b;
      break;
    case Opcode::kOr:
      result.p = a || b;
      break;
    case Opcode::kXor:
      result.p = a != b;
      break;
    default:
      no_meaning(in);
  }
  return result;
}

// One of the integer operations whose result is the exact number, wrapped or saturated.
Integer exact_integer(const Instruction& in, Integer a, Integer b) {
  switch (in.op) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSub:
      return a - b;
    case Opcode::kNeg:
      return -a;
    case Opcode::kAbs:
      return a < 0 ? -a : a;
    case Opcode::kMin:
      return std::min(a, b);
    case Opcode::kMax:
      return std::max(a, b);
    case Opcode::kDiv:
      return b == 0 ? -1 : a / b;
    case Opcode::kRem:
      return b == 0 ? -1 : a % b;
    default:
      no_meaning(in);
  }
}

std::uint64_t evaluate_bits(const Instruction& in, const Sources& s) {
  switch (in.op) {
    case Opcode::kMov:
      return in_register(in.type, s[0]);
    case Opcode::kSelp:
      return in_register(in.type, s[2] != 0 ? s[0] : s[1]);
    case Opcode::kCvta:
      return in_register(in.type, in.to_space ? s[0] - s[1] : s[0] + s[1]);
    case Opcode::kAnd:
      return in_register(in.type, s[0] & s[1]);
    case Opcode::kOr:
      return in_register(in.type, s[0] | s[1]);
    case Opcode::kXor:
      return in_register(in.type, s[0] ^ s[1]);
    case Opcode::kNot:
      return in_register(in.type, ~s[0]);
    case Opcode::kCnot:
      return number(in.type, s[0]) == 0 ? 1 : 0;
    case Opcode::kShl:
    case Opcode::kShr:
      return evaluate_shift(in, s[0], s[1]);
    case Opcode::kBfe:
      return extract_field(in.type, s[0], s[1] & 0xff, s[2] & 0xff);
    case Opcode::kBfi:
      return insert_field(in.type, s[0], s[1], s[2] & 0xff, s[3] & 0xff);
    default:
      return evaluate_count(in, s[0]);
  }
}

}  // namespace

unsigned source_width(const Instruction& in, unsigned n) {
  switch (in.op) {
    case Opcode::kShl:
    case Opcode::kShr:
      return n == 1 ? 32 : width_of(in.type) == 64 ? 64 : 32;
    case Opcode::kBfe:
      return n != 0 || width_of(in.type) != 64 ? 32 : 64;
    case Opcode::kBfi:
      return n >= 2 || width_of(in.type) != 64 ? 32 : 64;
    case Opcode::kMad:
      return n == 2 ? result_width(in) : width_of(in.type) == 64 ? 64 : 32;
    case Opcode::kSet:
    case Opcode::kCvt:
      return width_of(in.from) == 64 ? 64 : 32;
    default:
      return width_of(in.type) == 64 ? 64 : 32;
  }
}

unsigned result_width(const Instruction& in) {
  switch (in.op) {
    case Opcode::kMul:
    case Opcode::kMad:
      return width_of(in.type) == 64 || (in.width == Width::kWide && width_of(in.type) == 32) ? 64 : 32;
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBfind:
      return 32;
    default:
      return width_of(in.type) == 64 ? 64 : 32;
  }
}

bool writes_predicates(const Instruction& in) {
  return in.op == Opcode::kSetp || in.op == Opcode::kTestp || in.type == Type::kPred;
}

Result evaluate(const Instruction& in, const Sources& s) {
  if (in.op == Opcode::kSetp) return evaluate_setp(in, s);
  if (in.carry_out) return evaluate_carry(in, s);
  if (in.type == Type::kPred) return evaluate_predicate(in, s[0] != 0, s[1] != 0);
  Result result;
  switch (in.op) {
    case Opcode::kSet:
      result.value = evaluate_set(in, s);
      return result;
    case Opcode::kTestp:
      result.p = evaluate_testp(in, s[0]);
      return result;
    case Opcode::kAddc:
    case Opcode::kSubc:
    case Opcode::kMadc:
      return evaluate_carry(in, s);
    case Opcode::kPrmt:
    case Opcode::kLop3:
    case Opcode::kShf:
    case Opcode::kBfind:
    case Opcode::kBmsk:
    case Opcode::kFns:
    case Opcode::kSad:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kDp2a:
    case Opcode::kDp4a:
    case Opcode::kVadd:
    case Opcode::kVsub:
    case Opcode::kVavrg:
    case Opcode::kVabsdiff:
    case Opcode::kVmin:
    case Opcode::kVmax:
    case Opcode::kVshl:
    case Opcode::kVshr:
    case Opcode::kVmad:
    case Opcode::kVset:
      result.value = evaluate_special(in, s);
      return result;
    case Opcode::kMov:
    case Opcode::kSelp:
    case Opcode::kCvta:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kCnot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kBfe:
    case Opcode::kBfi:
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBrev:
      result.value = evaluate_bits(in, s);
      return result;
    case Opcode::kCvt:
      if (is_small(in.type) || is_small(in.from)) {
        result.value = evaluate_small(in, s);
      } else if (is_half(in.type) || is_half(in.from)) {
        result.value = evaluate_half(in, s);
      } else if (is_floating(in.type) || is_floating(in.from)) {
        result.value = evaluate_float(in, s);
      } else {
        const Integer value = number(in.from, s[0]);
        result.value =
            in_register(in.type, static_cast<std::uint64_t>(in.sat ? saturated(in.type, value) : value));
      }
      return result;
    default:
      break;
  }
  if (is_half(in.type)) {
    result.value = evaluate_half(in, s);
  } else if (is_floating(in.type)) {
    result.value = evaluate_float(in, s);
  } else if (in.op == Opcode::kMul || in.op == Opcode::kMad) {
    result.value = evaluate_product(in, s);
  } else {
    const Integer value = exact_integer(in, number(in.type, s[0]), number(in.type, s[1]));
    result.value =
        in_register(in.type, static_cast<std::uint64_t>(in.sat ? saturated(in.type, value) : value));
  }
  return result;
}

std::uint64_t evaluate_atomic(const Instruction& in, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  const Integer x = number(in.type, old), y = number(in.type, b);
  switch (in.atomic) {
    case Atomic::kAdd:
      if (is_half(in.type)) {
        Instruction sum;
        sum.op = Opcode::kAdd;
        sum.type = sum.from = in.type;
        return evaluate_half(sum, {old, b, 0, 0, 0});
      }
      if (is_floating(in.type)) return add_float(in.type, in.space != ptx::Space::kShared, old, b);
      return low_bits(old + b, width_of(in.type));
    case Atomic::kMin:
    case Atomic::kMax:
      if (is_half(in.type)) {
        Instruction extremum;
        extremum.op = in.atomic == Atomic::kMin ? Opcode::kMin : Opcode::kMax;
        extremum.type = extremum.from = in.type;
        return evaluate_half(extremum, {old, b, 0, 0, 0});
      }
      return (in.atomic == Atomic::kMin ? y < x : y > x) ? b : old;
    case Atomic::kInc:
      return x >= y ? 0 : old + 1;
    case Atomic::kDec:
      return x == 0 || x > y ? b : old - 1;
    case Atomic::kExch:
      return b;
    case Atomic::kCas:
      return x == y ? c : old;
    case Atomic::kAnd:
      return old & b;
    case Atomic::kOr:
      return old | b;
    case Atomic::kXor:
      return old ^ b;
    default:
      no_meaning(in);
  }
}

}  // namespace weft::test
