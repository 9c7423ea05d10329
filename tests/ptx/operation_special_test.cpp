// Bit permutations, integer sums and extended precision: what is decoded, and what is refused.
#include <algorithm>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::operation_special_test {
namespace {

Instruction first(const std::string& statement) {
  return decode_body(statement).code.at(0);
}

void refused(const std::string& statement, const std::string& why) {
  const std::string message = message_of([&] { decode_body(statement); });
  EXPECT_EQ(message.rfind("k.ptx:6:", 0), 0u) << message;
  EXPECT_NE(message.find(why), std::string::npos) << message;
}

TEST(OperationSpecial, ModesBecomeFields) {
  EXPECT_EQ(first("prmt.b32 %r1, %r2, %r3, 0x3210;").mode, Mode::kNone);
  EXPECT_EQ(first("prmt.b32.rc16 %r1, %r2, %r3, %r4;").mode, Mode::kRc16);
  EXPECT_EQ(first("prmt.b32.f4e %r1, %r2, %r3, %r4;").mode, Mode::kF4e);
  EXPECT_EQ(first("prmt.f4e.b32 %r1, %r2, %r3, %r4;").mode, Mode::kF4e);
  EXPECT_EQ(first("shf.l.wrap.b32 %r1, %r2, %r3, 7;").mode, Mode::kLeftWrap);
  EXPECT_EQ(first("shf.r.clamp.b32 %r1, %r2, %r3, %r4;").mode, Mode::kRightClamp);
  EXPECT_EQ(first("bfind.shiftamt.s64 %r1, %rd2;").mode, Mode::kShiftAmount);
  EXPECT_EQ(first("bfind.u32 %r1, %r2;").mode, Mode::kNone);
  EXPECT_EQ(first("bmsk.clamp.b32 %r1, %r2, %r3;").mode, Mode::kClamp);
  EXPECT_EQ(first("fns.b32 %r1, %r2, 0, -1;").op, Opcode::kFns);
  EXPECT_EQ(first("lop3.b32 %r1, %r2, %r3, %r4, 0x96;").src[3].kind, Operand::Kind::kConstant);
  EXPECT_EQ(first("sad.u16 %rs1, %rs2, %rs3, %rs4;").latency, Latency::kIntAdd);
  EXPECT_EQ(first("mul24.hi.u32 %r1, %r2, %r3;").latency, Latency::kIntMul);
  EXPECT_TRUE(first("mad24.hi.sat.s32 %r1, %r2, %r3, %r4;").sat);
  const Instruction video = first("vabsdiff4.u32.s32.u32.add %r1, %r2, %r3, %r4;");
  EXPECT_TRUE(video.op == Opcode::kVabsdiff && video.vector == 4 && video.accumulate && !video.sat);
  EXPECT_TRUE(video.type == Type::kU32 && video.from == Type::kS32 && video.second == Type::kU32);
  EXPECT_TRUE(first("vsub2.s32.s32.s32.sat %r1, %r2, %r3, %r4;").sat);
  const Instruction dot = first("dp2a.hi.u32.s32 %r1, %r2, %r3, %r4;");
  EXPECT_EQ(dot.width, Width::kHi);
  EXPECT_EQ(dot.type, Type::kU32);
  EXPECT_EQ(dot.from, Type::kS32);
  EXPECT_EQ(first("dp4a.s32.u32 %r1, %r2, %r3, -1;").from, Type::kU32);
  const Instruction set = first("set.gtu.xor.ftz.f32.f32 %f1, %f2, %f3, !%p4;");
  EXPECT_EQ(set.compare, Compare::kGtu);
  EXPECT_EQ(set.combine, Combine::kXor);
  EXPECT_TRUE(set.ftz && set.src[2].negated);
  EXPECT_EQ(first("set.eq.u32.f64 %r1, %fd2, %fd3;").latency, Latency::kDoubleAdd);
  EXPECT_EQ(first("testp.subnormal.f64 %p1, %fd1;").mode, Mode::kSubnormal);
  EXPECT_EQ(first("testp.normal.f32 %p1, %f1;").dst[0].kind, Operand::Kind::kPredicate);
}

TEST(OperationSpecial, IllegalFormsAreRefused) {
  refused("prmt.u32 %r1, %r2, %r3, %r4;", "expected one of .b32");
  refused("prmt.b32.f4f %r1, %r2, %r3, %r4;", "expected no more modifiers");
  refused("lop3.b32 %r1, %r2, %r3, %r4, %r5;", "literal of 0 to 255");
  refused("lop3.b32 %r1, %r2, %r3, %r4, 256;", "literal of 0 to 255");
  refused("shf.l.b32 %r1, %r2, %r3, %r4;", "expected one of .clamp, .wrap");
  refused("shf.x.clamp.b32 %r1, %r2, %r3, %r4;", "expected one of .l, .r");
  refused("bfind.b32 %r1, %r2;", "expected one of");
  refused("bmsk.b32 %r1, %r2, %r3;", "expected one of .clamp, .wrap");
  refused("mul24.wide.u32 %r1, %r2, %r3;", "expected one of .hi, .lo");
  refused("mad24.lo.sat.s32 %r1, %r2, %r3, %r4;", ".sat needs .hi.s32");
  refused("mul24.hi.sat.s32 %r1, %r2, %r3;", "found .sat, expected no more modifiers");
  refused("dp4a.lo.u32.u32 %r1, %r2, %r3, %r4;", "found .lo, expected no more modifiers");
  refused("dp2a.u32.u32 %r1, %r2, %r3, %r4;", "expected one of .lo, .hi");
  refused("dp4a.u32 %r1, %r2, %r3, %r4;", "a modifier is missing");
  refused("set.lt.u32.b32 %r1, %r2, %r3;", "bits compare");
  refused("set.nan.u32.s32 %r1, %r2, %r3;", "floating-point");
  refused("set.eq.u64.u64 %rd1, %rd2, %rd3;", "expected one of");
  refused("set.eq.ftz.f32.f64 %f1, %fd2, %fd3;", ".ftz needs");
  refused("set.eq.and.u32.u32 %r1, %r2, %r3;", "found 3 operands, expected 4");
  refused("vadd4.u32.u32 %r1, %r2, %r3, %r4;", "a modifier is missing");
  refused("vadd4.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;", "no more modifiers");
  refused("vmin2.u32.u16.u32 %r1, %r2, %r3, %r4;", "expected one of .u32, .s32");
  refused("testp.zero.f32 %p1, %f1;", "expected one of");
  refused("testp.finite.u32 %p1, %r1;", "expected one of");
}

TEST(OperationSpecial, IllegalCarriesAreRefused) {
  refused("add.cc.u16 %rs1, %rs2, %rs3;", "expected one of");
  refused("add.cc.f32 %f1, %f2, %f3;", "expected one of");
  refused("add.cc.sat.s32 %r1, %r2, %r3;", "found .sat, expected no more modifiers");
  refused("addc.sat.s32 %r1, %r2, %r3;", "found .sat, expected no more modifiers");
  refused("madc.u32 %r1, %r2, %r3, %r4;", ".lo or .hi");
  refused("mad.wide.cc.u32 %rd1, %r2, %r3, %rd4;", ".lo or .hi");
  refused("madc.lo.sat.s32 %r1, %r2, %r3, %r4;", "found .sat, expected no more modifiers");
}

bool reads(const Instruction& i, std::uint16_t key) {
  return std::find(i.reads.begin(), i.reads.begin() + i.read_count, key) != i.reads.begin() + i.read_count;
}
bool writes(const Instruction& i, std::uint16_t key) {
  return std::find(i.writes.begin(), i.writes.begin() + i.write_count, key) !=
         i.writes.begin() + i.write_count;
}

// The condition code is a predicate of its own, live from one instruction of the chain to the next.
TEST(OperationSpecial, TheCarryIsAPredicate) {
  const Program p = decode_body(
      "setp.eq.u32 %p1, %r1, 0; add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, %r6; @%p1 madc.lo.cc.s32 "
      "%r4, "
      "%r5, %r6, %r7; madc.hi.u32 %r7, %r8, %r9, %r4; subc.u64 %rd1, %rd2, %rd3; @%p1 bra L; L: ret;");
  const Operand code = p.code[1].dst[1];
  ASSERT_EQ(code.kind, Operand::Kind::kPredicate);
  ASSERT_NE(code.index, p.code[0].dst[0].index);  // %p1 is live across
  EXPECT_EQ(p.predicates, 2);
  const auto key = static_cast<std::uint16_t>(p.rows + code.index);
  EXPECT_TRUE(writes(p.code[1], key));
  EXPECT_FALSE(reads(p.code[1], key));
  EXPECT_EQ(p.code[1].src[2].kind, Operand::Kind::kNone);
  for (const Pc pc : {2u, 3u, 4u, 5u}) {
    EXPECT_TRUE(reads(p.code[pc], key)) << pc;
    EXPECT_EQ(p.code[pc].src[2], code) << pc;
    EXPECT_EQ(writes(p.code[pc], key), pc < 4) << pc;
  }
  EXPECT_EQ(p.code[4].src[3].kind, Operand::Kind::kRow);  // the addend
  EXPECT_EQ(p.code[2].latency, Latency::kIntAdd);
  EXPECT_EQ(p.code[4].latency, Latency::kIntMul);
}

}  // namespace
}  // namespace weft::ptx::testing::operation_special_test
