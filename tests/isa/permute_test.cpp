// prmt, lop3, shf, bfind, bmsk, fns: hand-made cases, then random operands against the interpreter.
#include <gtest/gtest.h>

#include "isa/harness.h"

namespace weft::isa::test::permute_test {
namespace {

using ptx::Mode;

const Type kB32 = Type::kB32, kU32 = Type::kU32;

TEST(Permute, Bytes) {
  const std::vector<Type> types = {kB32, kB32, kB32};
  for (const Mode mode :
       {Mode::kNone, Mode::kF4e, Mode::kB4e, Mode::kRc8, Mode::kEcl, Mode::kEcr, Mode::kRc16}) {
    const Instruction in = make(Opcode::kPrmt, kB32, mode);
    check_random(in, kB32, types, interpreted(in));
  }
  const std::uint64_t a = 0x83828180, b = 0x87868584;  // byte k holds 0x80 + k
  const auto check = [&](Mode mode, std::uint64_t c, std::uint64_t expected) {
    check_golden(make(Opcode::kPrmt, kB32, mode), kB32, types, {{{a, b, c}, expected}});
  };
  check(Mode::kNone, 0x7531, 0x87858381);
  check(Mode::kNone, 0xffff0246, 0x80828486);
  check(Mode::kNone, 0xf008, 0xff8080ff);  // bit 3: the sign of the byte
  check(Mode::kF4e, 1, 0x84838281);
  check(Mode::kF4e, 7, 0x86858483);
  check(Mode::kB4e, 0, 0x85868780);
  check(Mode::kB4e, 3, 0x80818283);
  check(Mode::kRc8, 2, 0x82828282);
  check(Mode::kEcl, 1, 0x83828181);
  check(Mode::kEcr, 2, 0x82828180);
  check(Mode::kRc16, 0, 0x81808180);
  check(Mode::kRc16, 3, 0x83828382);
}

TEST(Permute, LogicOfThree) {
  Random random(3);
  const Instruction in = make(Opcode::kLop3, kB32);
  const Oracle oracle = interpreted(in);
  for (std::uint64_t table = 0; table < 256; ++table) {
    std::vector<Golden> cases(64);
    for (Golden& each : cases) {
      each.operands = {random_operand(kB32, random), random_operand(kB32, random),
                       random_operand(kB32, random), table};
      each.expected = oracle(each.operands);
    }
    check_golden(in, kB32, {kB32, kB32, kB32, kU32}, cases);
  }
  // PTX ISA, lop3: the table of a function is its value at a = 0xf0, b = 0xcc, c = 0xaa.
  const std::uint64_t a = 0x12345678, b = 0x9abcdef0, c = 0x0f1e2d3c;
  for (const auto& [table, expected] : {std::pair<std::uint64_t, std::uint64_t>{0x96, a ^ b ^ c},
                                        {0x80, a & b & c},
                                        {0xfe, a | b | c},
                                        {0xea, (a & b) | c},
                                        {0xca, (a & b) | (~a & c & 0xffffffff)},
                                        {0x40, a & b & ~c}}) {
    check_golden(in, kB32, {kB32, kB32, kB32, kU32}, {{{a, b, c, table}, expected}});
  }
}

TEST(Permute, FunnelShift) {
  const std::vector<Type> types = {kB32, kB32, kU32};
  for (const Mode mode : {Mode::kLeftClamp, Mode::kLeftWrap, Mode::kRightClamp, Mode::kRightWrap}) {
    const Instruction in = make(Opcode::kShf, kB32, mode);
    check_random(in, kB32, types, interpreted(in));
  }
  const std::uint64_t a = 0x89abcdef, b = 0x01234567;
  const auto check = [&](Mode mode, std::uint64_t c, std::uint64_t expected) {
    check_golden(make(Opcode::kShf, kB32, mode), kB32, types, {{{a, b, c}, expected}});
  };
  check(Mode::kLeftWrap, 8, 0x23456789);
  check(Mode::kRightWrap, 8, 0x6789abcd);
  check(Mode::kLeftWrap, 32, b);
  check(Mode::kLeftClamp, 32, a);
  check(Mode::kLeftClamp, 0xffffffff, a);
  check(Mode::kRightWrap, 32, a);
  check(Mode::kRightClamp, 32, b);
  check(Mode::kRightClamp, 0, a);
}

TEST(Permute, FindsBits) {
  for (const Type type : {kU32, Type::kS32, Type::kU64, Type::kS64}) {
    for (const Mode mode : {Mode::kNone, Mode::kShiftAmount}) {
      const Instruction in = make(Opcode::kBfind, type, mode);
      check_random(in, kU32, {type}, interpreted(in));
    }
  }
  check_golden(make(Opcode::kBfind, kU32), kU32, {kU32},
               {{{0}, 0xffffffff}, {{1}, 0}, {{0x80000000}, 31}, {{0x00800000}, 23}});
  check_golden(make(Opcode::kBfind, kU32, Mode::kShiftAmount), kU32, {kU32},
               {{{0}, 0xffffffff}, {{1}, 31}, {{0x80000000}, 0}});
  check_golden(make(Opcode::kBfind, Type::kS32), kU32, {Type::kS32},
               {{{0xffffffff}, 0xffffffff}, {{0xfffffffe}, 0}, {{0x80000000}, 30}, {{0x40000000}, 30}});
  check_golden(make(Opcode::kBfind, Type::kS64), kU32, {Type::kS64}, {{{0x8000000000000000}, 62}, {{4}, 2}});
}

TEST(Permute, MasksAndNthBits) {
  for (const Mode mode : {Mode::kClamp, Mode::kWrap}) {
    const Instruction in = make(Opcode::kBmsk, kB32, mode);
    check_random(in, kB32, {kU32, kU32}, interpreted(in));
  }
  check_golden(make(Opcode::kBmsk, kB32, Mode::kClamp), kB32, {kU32, kU32},
               {{{4, 8}, 0xff0}, {{0, 32}, 0xffffffff}, {{32, 1}, 0}, {{30, 5}, 0xc0000000}, {{3, 0}, 0}});
  check_golden(make(Opcode::kBmsk, kB32, Mode::kWrap), kB32, {kU32, kU32},
               {{{36, 40}, 0xff0}, {{0, 32}, 0}, {{31, 31}, 0x80000000}});

  const Instruction fns = make(Opcode::kFns, kB32);
  const Oracle oracle = interpreted(fns);
  Random random(5);
  std::vector<Golden> cases(4 * kRandomOperands);
  for (Golden& each : cases) {
    each.operands = {random_operand(kB32, random), random() % 34, (random() % 80 - 40) & 0xffffffff};
    each.expected = oracle(each.operands);
  }
  check_golden(fns, kB32, {kB32, kB32, Type::kS32}, cases);
  check_golden(fns, kB32, {kB32, kB32, Type::kS32},
               {{{0xaaaaaaaa, 3, 1}, 3},
                {{0xaaaaaaaa, 3, 2}, 5},
                {{0xaaaaaaaa, 3, 0xffffffff}, 3},
                {{0xaaaaaaaa, 3, 0xfffffffe}, 1},
                {{0xaaaaaaaa, 3, 0xfffffffd}, 0xffffffff},
                {{0xaaaaaaaa, 2, 0}, 0xffffffff},
                {{0xffffffff, 0, 32}, 31},
                {{0xffffffff, 31, 0x80000000}, 0xffffffff}});
}

}  // namespace
}  // namespace weft::isa::test::permute_test
