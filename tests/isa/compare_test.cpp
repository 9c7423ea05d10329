// setp against the definitions of the PTX ISA, with every combination of the result.
#include <gtest/gtest.h>

#include <cmath>

#include "isa/harness.h"
#include "isa/mpfr_oracle.h"

namespace weft::isa::test::compare_test {
namespace {

using ptx::Combine;
using ptx::Compare;

// The sign of a - b, or 2 where they are unordered.
int order(Type type, std::uint64_t a, std::uint64_t b) {
  if (is_float_type(type)) {
    const double x = type == Type::kF32 ? as_float(a) : as_double(a);
    const double y = type == Type::kF32 ? as_float(b) : as_double(b);
    if (std::isnan(x) || std::isnan(y)) return 2;
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const Wide x = integer(type, a), y = integer(type, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

bool holds(Compare compare, int o) {
  const bool nan = o == 2;
  switch (compare) {
    case Compare::kEq:
      return o == 0;
    case Compare::kNe:
      return o == -1 || o == 1;
    case Compare::kLt:
    case Compare::kLo:
      return o == -1;
    case Compare::kLe:
    case Compare::kLs:
      return o == -1 || o == 0;
    case Compare::kGt:
    case Compare::kHi:
      return o == 1;
    case Compare::kGe:
    case Compare::kHs:
      return o == 1 || o == 0;
    case Compare::kEqu:
      return o == 0 || nan;
    case Compare::kNeu:
      return o != 0;
    case Compare::kLtu:
      return o == -1 || nan;
    case Compare::kLeu:
      return o == -1 || o == 0 || nan;
    case Compare::kGtu:
      return o == 1 || nan;
    case Compare::kGeu:
      return o == 1 || o == 0 || nan;
    case Compare::kNum:
      return !nan;
    default:
      return nan;
  }
}

Instruction setp(Type type, Compare compare) {
  Instruction in = make(Opcode::kSetp, type);
  in.compare = compare;
  return in;
}

const std::vector<Compare> kPlain = {Compare::kEq, Compare::kNe, Compare::kLt,
                                     Compare::kLe, Compare::kGt, Compare::kGe};
const std::vector<Compare> kForFloats = {Compare::kEqu, Compare::kNeu, Compare::kLtu, Compare::kLeu,
                                         Compare::kGtu, Compare::kGeu, Compare::kNum, Compare::kNan};

void check(const Instruction& in) {
  const Type type = in.type;
  check_random(in, Type::kPred, {type, type}, [&](const Bits& x) -> std::uint64_t {
    const auto get = [&](int n) { return in.ftz ? flush_bits(type, x[n]) : x[n]; };
    return holds(in.compare, order(type, get(0), get(1)));
  });
}

TEST(Compare, Integers) {
  for (const Type type : {Type::kB16, Type::kU16, Type::kS16, Type::kB32, Type::kU32, Type::kS32, Type::kB64,
                          Type::kU64, Type::kS64}) {
    for (const Compare compare : kPlain) check(setp(type, compare));
  }
  for (const Compare compare : {Compare::kLo, Compare::kLs, Compare::kHi, Compare::kHs}) {
    check(setp(Type::kU32, compare));
  }
}

TEST(Compare, Floats) {
  for (const Type type : {Type::kF32, Type::kF64}) {
    for (const Compare compare : kPlain) check(setp(type, compare));
    for (const Compare compare : kForFloats) check(setp(type, compare));
  }
  for (const Compare compare : kForFloats) {
    Instruction in = setp(Type::kF32, compare);
    in.ftz = true;
    check(in);
  }
  Instruction in = setp(Type::kF32, Compare::kEq);
  in.ftz = true;
  check(in);
  EXPECT_EQ(find(setp(Type::kS32, Compare::kNan)), nullptr);
}

TEST(Compare, SetWritesOnesOrOne) {
  const std::vector<Type> operands = {Type::kB16, Type::kU16, Type::kS16, Type::kB32, Type::kU32, Type::kS32,
                                      Type::kB64, Type::kU64, Type::kS64, Type::kF32, Type::kF64};
  for (const Type result : {Type::kU32, Type::kS32, Type::kF32}) {
    for (const Type type : operands) {
      for (const Compare compare : kPlain) {
        for (const Combine combine : {Combine::kNone, Combine::kAnd, Combine::kOr, Combine::kXor}) {
          Instruction in = make(Opcode::kSet, result);
          in.from = type;
          in.compare = compare;
          in.combine = combine;
          check_random(in, result, {type, type, Type::kPred}, interpreted(in), kRandomOperands / 4);
        }
      }
    }
    for (const Compare compare : kForFloats) {
      for (const bool ftz : {false, true}) {
        Instruction in = make(Opcode::kSet, result);
        in.from = Type::kF32;
        in.compare = compare;
        in.ftz = ftz;
        check_random(in, result, {Type::kF32, Type::kF32}, interpreted(in));
      }
    }
  }
  Instruction in = make(Opcode::kSet, Type::kF32);
  in.from = Type::kS32;
  in.compare = Compare::kLt;
  check_golden(in, Type::kF32, {Type::kS32, Type::kS32}, {{{0xffffffff, 0}, 0x3f800000}, {{0, 0}, 0}});
  in.type = Type::kU32;
  check_golden(in, Type::kU32, {Type::kS32, Type::kS32}, {{{0xffffffff, 0}, 0xffffffff}, {{0, 0}, 0}});
}

TEST(Compare, Testp) {
  using ptx::Mode;
  for (const Type type : {Type::kF32, Type::kF64}) {
    for (const Mode mode : {Mode::kFinite, Mode::kInfinite, Mode::kNumber, Mode::kNotANumber, Mode::kNormal,
                            Mode::kSubnormal}) {
      const Instruction in = make(Opcode::kTestp, type, mode);
      check_random(in, Type::kPred, {type}, interpreted(in));
    }
  }
  check_golden(
      make(Opcode::kTestp, Type::kF32, Mode::kNormal), Type::kPred, {Type::kF32},
      {{{0}, 1}, {{0x80000000}, 1}, {{1}, 0}, {{0x00800000}, 1}, {{0x7f800000}, 0}, {{0x7fc00000}, 0}});
  check_golden(make(Opcode::kTestp, Type::kF64, Mode::kSubnormal), Type::kPred, {Type::kF64},
               {{{0}, 0}, {{1}, 1}, {{0x800fffffffffffff}, 1}, {{0x0010000000000000}, 0}});
}

TEST(Compare, CombinesResultAndComplement) {
  Random random(1);
  alignas(64) std::uint32_t a[kLanes], b[kLanes];
  for (const Combine combine : {Combine::kNone, Combine::kAnd, Combine::kOr, Combine::kXor}) {
    Instruction in = setp(Type::kS32, Compare::kLt);
    in.combine = combine;
    for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
      Lanes lanes;
      std::uint32_t less = 0;
      for (unsigned i = 0; i < kLanes; ++i) {
        a[i] = static_cast<std::uint32_t>(random());
        b[i] = static_cast<std::uint32_t>(random());
        less |= (integer(Type::kS32, a[i]) < integer(Type::kS32, b[i]) ? 1u : 0u) << i;
      }
      const auto c = static_cast<std::uint32_t>(random());
      lanes.src[0] = a;
      lanes.src[1] = b;
      lanes.predicate[2] = c;
      lanes.active = 0xffffffff;
      find(in, set)(lanes);
      const auto join = [&](std::uint32_t p) {
        return combine == Combine::kAnd   ? p & c
               : combine == Combine::kOr  ? p | c
               : combine == Combine::kXor ? p ^ c
                                          : p;
      };
      EXPECT_EQ(lanes.result[0], join(less));
      EXPECT_EQ(lanes.result[1], join(~less));
    }
  }
}

}  // namespace
}  // namespace weft::isa::test::compare_test
