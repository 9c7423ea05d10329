// Correctly rounded arithmetic against MPFR in all four directions; NaNs, signs and subnormals by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "isa/harness.h"
#include "isa/mpfr_oracle.h"

namespace weft::isa::test::float_test {
namespace {

const std::vector<Rounding> kDirections = {Rounding::kRn, Rounding::kRz, Rounding::kRm, Rounding::kRp};

void check_all(Opcode op, unsigned operands) {
  for (const Type type : {Type::kF32, Type::kF64}) {
    for (const Rounding rounding : kDirections) {
      Instruction in = make(op, type);
      in.rounding = rounding;
      check_random(in, type, std::vector<Type>(operands, type),
                   [&](const Bits& x) { return exact_float(in, x); });
      if (type != Type::kF32) continue;
      for (const int modifiers : {1, 2, 3}) {
        in.ftz = (modifiers & 1) != 0;
        in.sat = (modifiers & 2) != 0;
        check_random(
            in, type, std::vector<Type>(operands, type), [&](const Bits& x) { return exact_float(in, x); },
            2000);
      }
    }
  }
}

TEST(Float, Add) {
  check_all(Opcode::kAdd, 2);
}
TEST(Float, Subtract) {
  check_all(Opcode::kSub, 2);
}
TEST(Float, Multiply) {
  check_all(Opcode::kMul, 2);
}
TEST(Float, Divide) {
  check_all(Opcode::kDiv, 2);
}
TEST(Float, FusedMultiplyAdd) {
  check_all(Opcode::kFma, 3);
}
TEST(Float, MadIsFused) {
  check_all(Opcode::kMad, 3);
}
TEST(Float, Reciprocal) {
  check_all(Opcode::kRcp, 1);
}
TEST(Float, SquareRoot) {
  check_all(Opcode::kSqrt, 1);
}

TEST(Float, RoundingModeIsRestored) {
  Instruction in = make(Opcode::kAdd, Type::kF32);
  in.rounding = Rounding::kRp;
  check_golden(in, Type::kF32, {Type::kF32, Type::kF32}, {{{0x3f800000, 0x00000001}, 0x3f800001}});
  in.rounding = Rounding::kRn;
  check_golden(in, Type::kF32, {Type::kF32, Type::kF32}, {{{0x3f800000, 0x00000001}, 0x3f800000}});
}

TEST(Float, NanRules) {
  check_golden(make(Opcode::kAdd, Type::kF32), Type::kF32, {Type::kF32, Type::kF32},
               {{{0xffc12345, 0x3f800000}, 0x7fffffff}, {{0x7f800000, 0xff800000}, 0x7fffffff}});
  check_golden(make(Opcode::kAdd, Type::kF64), Type::kF64, {Type::kF64, Type::kF64},
               {{{0x3ff0000000000000, 0x7ff0000000000123}, 0x7ff8000000000123},  // quiet, payload kept
                {{0xfff8000000000007, 0x7ff8000000000001}, 0xfff8000000000007},  // the first operand's
                {{0x7ff0000000000000, 0xfff0000000000000}, 0xfff8000000000000}});
}

TEST(Float, SubnormalsAndSaturation) {
  Instruction in = make(Opcode::kMul, Type::kF32);
  check_golden(in, Type::kF32, {Type::kF32, Type::kF32}, {{{0x00800000, 0x3f000000}, 0x00400000}});
  in.ftz = true;
  check_golden(in, Type::kF32, {Type::kF32, Type::kF32},
               {{{0x00800000, 0xbf000000}, 0x80000000},    // result flushed, sign kept
                {{0x807fffff, 0x7f000000}, 0x80000000}});  // operand flushed
  in.ftz = false;
  in.sat = true;
  check_golden(in, Type::kF32, {Type::kF32, Type::kF32},
               {{{0x40000000, 0x40000000}, 0x3f800000},
                {{0xc0000000, 0x40000000}, 0},
                {{0x7fc00000, 0x40000000}, 0},
                {{0x80000000, 0x40000000}, 0}});
}

// Which of two numbers min or max takes, by a total order in which -0 < +0.
template <class V>
V extremum(bool max, V a, V b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return less != max ? a : b;
}

TEST(Float, MinAndMax) {
  for (const bool max : {false, true}) {
    Instruction in = make(max ? Opcode::kMax : Opcode::kMin, Type::kF32);
    for (const bool ftz : {false, true}) {
      in.ftz = ftz;
      check_random(in, Type::kF32, {Type::kF32, Type::kF32}, [=](const Bits& x) -> std::uint64_t {
        if (is_nan_bits(Type::kF32, x[0]) && is_nan_bits(Type::kF32, x[1])) return 0x7fffffff;
        const auto get = [=](int n) { return as_float(ftz ? flush_bits(Type::kF32, x[n]) : x[n]); };
        return bits(extremum(max, get(0), get(1)));
      });
    }
    check_random(make(in.op, Type::kF64), Type::kF64, {Type::kF64, Type::kF64},
                 [=](const Bits& x) -> std::uint64_t {
                   if (is_nan_bits(Type::kF64, x[0]) && is_nan_bits(Type::kF64, x[1]))
                     return default_nan(Type::kF64);
                   return bits(extremum(max, as_double(x[0]), as_double(x[1])));
                 });
  }
  check_golden(make(Opcode::kMin, Type::kF32), Type::kF32, {Type::kF32, Type::kF32},
               {{{0, 0x80000000}, 0x80000000},
                {{0x80000000, 0}, 0x80000000},
                {{0x7fc00000, 0x3f800000}, 0x3f800000},
                {{0x3f800000, 0xffc00001}, 0x3f800000},
                {{0x7f800001, 0xffc00001}, 0x7fffffff}});
  check_golden(make(Opcode::kMax, Type::kF32), Type::kF32, {Type::kF32, Type::kF32},
               {{{0, 0x80000000}, 0}, {{0x80000000, 0}, 0}});
}

TEST(Float, SignOperations) {
  const std::uint64_t sign32 = 0x80000000, sign64 = 0x8000000000000000;
  for (const bool ftz : {false, true}) {
    const auto in32 = [=](std::uint64_t x) { return ftz ? flush_bits(Type::kF32, x) : x; };
    Instruction in = make(Opcode::kNeg, Type::kF32);
    in.ftz = ftz;
    check_random(in, Type::kF32, {Type::kF32}, [=](const Bits& x) { return in32(x[0]) ^ sign32; });
    in.op = Opcode::kAbs;
    check_random(in, Type::kF32, {Type::kF32}, [=](const Bits& x) { return in32(x[0]) & ~sign32; });
  }
  check_random(make(Opcode::kNeg, Type::kF64), Type::kF64, {Type::kF64},
               [=](const Bits& x) { return x[0] ^ sign64; });
  check_random(make(Opcode::kAbs, Type::kF64), Type::kF64, {Type::kF64},
               [=](const Bits& x) { return x[0] & ~sign64; });
  check_random(make(Opcode::kCopysign, Type::kF32), Type::kF32, {Type::kF32, Type::kF32},
               [=](const Bits& x) { return (x[1] & ~sign32) | (x[0] & sign32); });
  check_random(make(Opcode::kCopysign, Type::kF64), Type::kF64, {Type::kF64, Type::kF64},
               [=](const Bits& x) { return (x[1] & ~sign64) | (x[0] & sign64); });
}

}  // namespace
}  // namespace weft::isa::test::float_test
