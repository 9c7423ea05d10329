// sad, mul24, mad24, dp2a, dp4a: hand-made cases, then random operands against the interpreter.
#include <gtest/gtest.h>

#include "isa/harness.h"

namespace weft::isa::test::sum_test {
namespace {

using ptx::Width;

const Type kU32 = Type::kU32, kS32 = Type::kS32;

TEST(Sum, AbsoluteDifference) {
  for (const Type type : {Type::kU16, Type::kS16, kU32, kS32, Type::kU64, Type::kS64}) {
    const Instruction in = make(Opcode::kSad, type);
    check_random(in, type, {type, type, type}, interpreted(in));
  }
  check_golden(make(Opcode::kSad, kS32), kS32, {kS32, kS32, kS32},
               {{{0x80000000, 0x7fffffff, 1}, 0}, {{3, 5, 10}, 12}, {{0xffffffff, 1, 0}, 2}});
  check_golden(make(Opcode::kSad, kU32), kU32, {kU32, kU32, kU32}, {{{0xffffffff, 1, 0}, 0xfffffffe}});
}

Instruction with_width(Opcode op, Type type, Width width) {
  Instruction in = make(op, type);
  in.width = width;
  return in;
}

TEST(Sum, Products24) {
  for (const Type type : {kU32, kS32}) {
    for (const Width width : {Width::kLo, Width::kHi}) {
      const Instruction mul = with_width(Opcode::kMul24, type, width);
      check_random(mul, type, {type, type}, interpreted(mul));
      const Instruction mad = with_width(Opcode::kMad24, type, width);
      check_random(mad, type, {type, type, type}, interpreted(mad));
    }
  }
  Instruction in = with_width(Opcode::kMad24, kS32, Width::kHi);
  in.sat = true;
  check_random(in, kS32, {kS32, kS32, kS32}, interpreted(in));
  check_golden(
      in, kS32, {kS32, kS32, kS32},
      {{{0x7fffff, 0x7fffff, 0x7fffffff}, 0x7fffffff}, {{0x800000, 0x7fffff, 0x80000000}, 0x80000000}});
  check_golden(with_width(Opcode::kMul24, kS32, Width::kLo), kS32, {kS32, kS32},
               {{{0x00ffffff, 5}, 0xfffffffb}, {{0xff000002, 3}, 6}});
  check_golden(with_width(Opcode::kMul24, kU32, Width::kHi), kU32, {kU32, kU32},
               {{{0xffffff, 0xffffff}, 0xfffffe00}, {{0xff010000, 0x10000}, 0x10000}});
}

TEST(Sum, DotProducts) {
  for (const Type a : {kU32, kS32}) {
    for (const Type b : {kU32, kS32}) {
      Instruction in = make(Opcode::kDp4a, a);
      in.from = b;
      check_random(in, kU32, {a, b, kU32}, interpreted(in));
      in.op = Opcode::kDp2a;
      for (const Width width : {Width::kLo, Width::kHi}) {
        in.width = width;
        check_random(in, kU32, {a, b, kU32}, interpreted(in));
      }
    }
  }
  Instruction in = make(Opcode::kDp4a, kS32);
  check_golden(in, kU32, {kS32, kS32, kU32},
               {{{0x01020304, 0x01010101, 100}, 110}, {{0xffffffff, 0x01020304, 0}, 0xfffffff6}});
  in.from = kU32;
  check_golden(in, kU32, {kS32, kU32, kU32}, {{{0x80, 0xff, 0}, 0xffff8080}});
  in = with_width(Opcode::kDp2a, kU32, Width::kHi);
  check_golden(in, kU32, {kU32, kU32, kU32}, {{{0xffff0002, 0x03050000, 1}, 0xffff * 3 + 2 * 5 + 1}});
  in.width = Width::kLo;
  check_golden(in, kU32, {kU32, kU32, kU32}, {{{0xffff0002, 0x03050100, 1}, 0xffff + 1}});
}

TEST(Sum, Video) {
  for (const Opcode op :
       {Opcode::kVadd, Opcode::kVsub, Opcode::kVavrg, Opcode::kVabsdiff, Opcode::kVmin, Opcode::kVmax}) {
    for (int variant = 0; variant < 48; ++variant) {
      Instruction in = make(op, variant % 2 != 0 ? kS32 : kU32);
      in.from = variant / 2 % 2 != 0 ? kS32 : kU32;
      in.second = variant / 4 % 2 != 0 ? kS32 : kU32;
      in.vector = variant / 8 % 2 != 0 ? 4 : 2;
      in.sat = variant / 16 == 1;
      in.accumulate = variant / 16 == 2;
      check_random(in, kU32, {in.from, in.second, kU32}, interpreted(in));
    }
  }
  Instruction in = make(Opcode::kVabsdiff, kU32);
  in.second = kU32;
  in.vector = 4;
  const std::vector<Type> types = {kU32, kU32, kU32};
  check_golden(in, kU32, types, {{{0x01ff8000, 0x0200807f, 99}, 0x01ff007f}});
  in.accumulate = true;
  check_golden(in, kU32, types, {{{0x01ff8000, 0x0200807f, 99}, 0x01 + 0xff + 0x7f + 99}});
  in = make(Opcode::kVadd, kS32);
  in.second = kS32;
  in.vector = 2;
  in.sat = true;
  check_golden(in, kU32, types, {{{0x7fff8000, 0x0001ffff, 0}, 0x7fff8000}});
  in = make(Opcode::kVavrg, kU32);
  in.second = kU32;
  in.vector = 4;
  check_golden(in, kU32, types, {{{0x000102ff, 0x000001ff, 0}, 0x000102ff}});
}

}  // namespace
}  // namespace weft::isa::test::sum_test
