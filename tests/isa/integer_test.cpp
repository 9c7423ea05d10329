// Integer arithmetic against plain __int128 arithmetic, lane by lane.
#include <gtest/gtest.h>

#include "isa/harness.h"

namespace weft::isa::test::integer_test {
namespace {

using ptx::Width;

const std::vector<Type> kIntegers = {Type::kU16, Type::kS16, Type::kU32, Type::kS32, Type::kU64, Type::kS64};
const std::vector<Type> kSigned = {Type::kS16, Type::kS32, Type::kS64};

std::uint64_t wrap(Type type, Wide value) {
  return cell(type, static_cast<std::uint64_t>(value));
}

using Formula = Wide (*)(Wide a, Wide b);
void check_binary(Opcode op, Formula formula) {
  for (const Type type : kIntegers) {
    check_random(make(op, type), type, {type, type}, [=](const Bits& x) {
      return wrap(type, formula(integer(type, x[0]), integer(type, x[1])));
    });
  }
}

TEST(Integer, AddSubMinMax) {
  check_binary(Opcode::kAdd, [](Wide a, Wide b) { return a + b; });
  check_binary(Opcode::kSub, [](Wide a, Wide b) { return a - b; });
  check_binary(Opcode::kMin, [](Wide a, Wide b) { return a < b ? a : b; });
  check_binary(Opcode::kMax, [](Wide a, Wide b) { return a > b ? a : b; });
}

TEST(Integer, DivideAndRemainder) {
  check_binary(Opcode::kDiv, [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a / b; });
  check_binary(Opcode::kRem, [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a % b; });
}

TEST(Integer, DivisionCorners) {
  check_golden(make(Opcode::kDiv, Type::kS32), Type::kS32, {Type::kS32, Type::kS32},
               {{{0x80000000, 0xffffffff}, 0x80000000},  // most negative by -1
                {{7, 0}, 0xffffffff},
                {{0xfffffff9, 2}, 0xfffffffd},  // -7 / 2 = -3
                {{7, 0xfffffffe}, 0xfffffffd}});
  check_golden(make(Opcode::kRem, Type::kS32), Type::kS32, {Type::kS32, Type::kS32},
               {{{0x80000000, 0xffffffff}, 0},
                {{7, 0}, 0xffffffff},
                {{0xfffffff9, 2}, 0xffffffff},
                {{7, 0xfffffffe}, 1}});
  check_golden(make(Opcode::kDiv, Type::kS64), Type::kS64, {Type::kS64, Type::kS64},
               {{{0x8000000000000000, ~0ull}, 0x8000000000000000}, {{1, 0}, ~0ull}});
  check_golden(make(Opcode::kDiv, Type::kU16), Type::kU16, {Type::kU16, Type::kU16},
               {{{0xffff, 0}, 0xffff}, {{0xffff, 3}, 0x5555}});
  check_golden(make(Opcode::kDiv, Type::kS16), Type::kS16, {Type::kS16, Type::kS16},
               {{{0x8000, 0xffff}, 0xffff8000}});
}

TEST(Integer, NegateAndAbsolute) {
  for (const Type type : kSigned) {
    check_random(make(Opcode::kNeg, type), type, {type},
                 [=](const Bits& x) { return wrap(type, -integer(type, x[0])); });
    check_random(make(Opcode::kAbs, type), type, {type}, [=](const Bits& x) {
      const Wide a = integer(type, x[0]);
      return wrap(type, a < 0 ? -a : a);
    });
  }
}

// The upper half of a product. Two unsigned 64-bit numbers need all 128 bits for it.
std::uint64_t high_half(Type type, std::uint64_t a, std::uint64_t b) {
  __extension__ using Natural = unsigned __int128;
  const unsigned bits = bits_of(type);
  const Wide x = integer(type, a), y = integer(type, b);
  if (is_signed_type(type)) return wrap(type, (x * y) >> bits);
  return wrap(type, static_cast<Wide>((static_cast<Natural>(x) * static_cast<Natural>(y)) >> bits));
}

Type doubled(Type type) {
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

TEST(Integer, Multiply) {
  for (const Type type : kIntegers) {
    Instruction in = make(Opcode::kMul, type);
    in.width = Width::kLo;
    check_random(in, type, {type, type}, [=](const Bits& x) {
      const std::uint64_t low =
          static_cast<std::uint64_t>(integer(type, x[0])) * static_cast<std::uint64_t>(integer(type, x[1]));
      return wrap(type, low);
    });
    in.width = Width::kHi;
    check_random(in, type, {type, type}, [=](const Bits& x) { return high_half(type, x[0], x[1]); });
    if (bits_of(type) == 64) continue;
    in.width = Width::kWide;
    check_random(in, doubled(type), {type, type}, [=](const Bits& x) {
      return wrap(doubled(type), integer(type, x[0]) * integer(type, x[1]));
    });
  }
}

TEST(Integer, MultiplyAdd) {
  for (const Type type : kIntegers) {
    Instruction in = make(Opcode::kMad, type);
    in.width = Width::kLo;
    check_random(in, type, {type, type, type}, [=](const Bits& x) {
      const std::uint64_t low =
          static_cast<std::uint64_t>(integer(type, x[0])) * static_cast<std::uint64_t>(integer(type, x[1])) +
          static_cast<std::uint64_t>(integer(type, x[2]));
      return wrap(type, low);
    });
    in.width = Width::kHi;
    check_random(in, type, {type, type, type}, [=](const Bits& x) {
      return wrap(type, integer(type, high_half(type, x[0], x[1])) + integer(type, x[2]));
    });
    if (bits_of(type) == 64) continue;
    in.width = Width::kWide;
    const Type wide = doubled(type);
    check_random(in, wide, {type, type, wide}, [=](const Bits& x) {
      return wrap(wide, integer(type, x[0]) * integer(type, x[1]) + integer(wide, x[2]));
    });
  }
}

TEST(Integer, MultiplyCorners) {
  Instruction in = make(Opcode::kMul, Type::kU64);
  in.width = Width::kHi;
  check_golden(in, Type::kU64, {Type::kU64, Type::kU64},
               {{{~0ull, ~0ull}, ~0ull - 1}, {{1ull << 32, 1ull << 32}, 1}});
  in.type = Type::kS64;
  check_golden(in, Type::kS64, {Type::kS64, Type::kS64},
               {{{~0ull, 1}, ~0ull}, {{1ull << 63, 1ull << 63}, 1ull << 62}});
  in.width = Width::kWide;
  in.type = Type::kU16;
  check_golden(in, Type::kU32, {Type::kU16, Type::kU16}, {{{0xffff, 0xffff}, 0xfffe0001}});
  in.type = Type::kS16;
  check_golden(in, Type::kS32, {Type::kS16, Type::kS16},
               {{{0x8000, 0x8000}, 0x40000000}, {{0xffff, 1}, 0xffffffff}});
}

TEST(Integer, Saturation) {
  const auto clamp = [](Wide x) {
    return x > 0x7fffffff ? Wide{0x7fffffff} : x < -Wide{0x80000000} ? -Wide{0x80000000} : x;
  };
  const auto s32 = [](std::uint64_t x) { return integer(Type::kS32, x); };
  Instruction in = make(Opcode::kAdd, Type::kS32);
  in.sat = true;
  check_random(in, Type::kS32, {Type::kS32, Type::kS32},
               [=](const Bits& x) { return wrap(Type::kS32, clamp(s32(x[0]) + s32(x[1]))); });
  in.op = Opcode::kSub;
  check_random(in, Type::kS32, {Type::kS32, Type::kS32},
               [=](const Bits& x) { return wrap(Type::kS32, clamp(s32(x[0]) - s32(x[1]))); });
  in.op = Opcode::kMad;
  in.width = Width::kHi;
  check_random(in, Type::kS32, {Type::kS32, Type::kS32, Type::kS32}, [=](const Bits& x) {
    return wrap(Type::kS32, clamp(s32(high_half(Type::kS32, x[0], x[1])) + s32(x[2])));
  });
}

}  // namespace
}  // namespace weft::isa::test::integer_test
