// 16-bit floats: what is decoded, and what is refused.
#include "ptx/ptx_text.h"

namespace weft::ptx::testing::operation_half_test {
namespace {

Instruction first(const std::string& statement) {
  return decode_body(statement).code.at(0);
}

void refused(const std::string& statement, const std::string& why) {
  const std::string message = message_of([&] { decode_body(statement); });
  EXPECT_EQ(message.rfind("k.ptx:6:", 0), 0u) << message;
  EXPECT_NE(message.find(why), std::string::npos) << message;
}

TEST(OperationHalf, Decodes) {
  EXPECT_EQ(first("add.f16 %rs1, %rs2, %rs3;").latency, Latency::kFloatAdd);
  EXPECT_EQ(first("mul.rn.ftz.sat.f16x2 %r1, %r2, %r3;").latency, Latency::kFloatMul);
  EXPECT_EQ(first("sub.bf16x2 %r1, %r2, %r3;").type, Type::kBf16x2);
  EXPECT_TRUE(first("fma.rn.ftz.relu.f16 %rs1, %rs2, %rs3, %rs4;").relu);
  EXPECT_TRUE(first("fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4;").relu);
  EXPECT_EQ(first("neg.f16x2 %r1, %r2;").op, Opcode::kNeg);
  EXPECT_EQ(first("abs.bf16 %rs1, %rs2;").op, Opcode::kAbs);
  EXPECT_TRUE(first("max.ftz.f16x2 %r1, %r2, %r3;").ftz);
  const Instruction two = first("setp.lt.and.f16x2 %p1|%p2, %r1, %r2, %p3;");
  EXPECT_EQ(two.dst[1].kind, Operand::Kind::kPredicate);
  EXPECT_EQ(first("set.gt.f16x2.f16x2 %r1, %r2, %r3;").from, Type::kF16x2);
  EXPECT_EQ(first("set.eq.f16.f16 %rs1, %rs2, %rs3;").type, Type::kF16);
  EXPECT_EQ(first("set.nan.u32.f16x2 %r1, %r2, %r3;").type, Type::kU32);
  EXPECT_EQ(first("cvt.f32.f16 %f1, %rs1;").from, Type::kF16);
  EXPECT_EQ(first("cvt.rn.f16.f32 %rs1, %f1;").rounding, Rounding::kRn);
  EXPECT_EQ(first("cvt.rmi.f16.f16 %rs1, %rs2;").rounding, Rounding::kRmi);
  EXPECT_EQ(first("cvt.rzi.s8.f16 %rs1, %rs2;").type, Type::kS8);
  EXPECT_EQ(first("cvt.rn.bf16.u64 %rs1, %rd2;").from, Type::kU64);
  EXPECT_EQ(first("atom.add.noftz.f16x2 %r1, [%rd1], %r2;").type, Type::kF16x2);
  EXPECT_EQ(first("red.global.add.noftz.bf16 [%rd1], %rs2;").type, Type::kBf16);
}

TEST(OperationHalf, OneConversionOfTwoNumbersIsThreeInstructions) {
  const Program p = decode_body("cvt.rn.f16x2.f32 %r1, %f2, %f3; ret;");
  ASSERT_EQ(p.code.size(), 4u);
  EXPECT_EQ(p.code[0].type, Type::kF16);
  EXPECT_EQ(p.code[1].type, Type::kF16);
  EXPECT_EQ(p.code[2].op, Opcode::kBfi);
  EXPECT_EQ(p.code[2].src[0], p.code[0].dst[0]);  // the first operand is the upper half
  EXPECT_EQ(p.code[2].src[1], p.code[1].dst[0]);
}

TEST(OperationHalf, SleepingHasNoEffect) {
  const Program p = decode_body("nanosleep.u32 100; nanosleep.u32 %r1; ret;");
  ASSERT_EQ(p.code.size(), 3u);
  EXPECT_EQ(p.code[1].op, Opcode::kMov);
  refused("nanosleep.s32 %r1;", "expected one of .u32");
}

TEST(OperationHalf, IllegalFormsAreRefused) {
  refused("add.rz.f16 %rs1, %rs2, %rs3;", ".rn only");
  refused("add.ftz.bf16 %rs1, %rs2, %rs3;", "neither .ftz nor .sat");
  refused("mul.sat.bf16x2 %r1, %r2, %r3;", "neither .ftz nor .sat");
  refused("fma.f16 %rs1, %rs2, %rs3, %rs4;", "a rounding modifier is missing");
  refused("fma.rn.sat.relu.f16 %rs1, %rs2, %rs3, %rs4;", ".relu needs");
  refused("fma.rn.relu.f32 %f1, %f2, %f3, %f4;", ".relu needs");
  refused("abs.ftz.bf16 %rs1, %rs2;", ".ftz needs");
  refused("set.eq.f32.f16 %f1, %rs2, %rs3;", "cannot be the result of comparing .f16");
  refused("set.eq.f16.f16x2 %rs1, %r2, %r3;", "cannot be the result of comparing .f16x2");
  refused("set.eq.u16.f32 %rs1, %f2, %f3;", "cannot be the result of comparing .f32");
  refused("setp.eq.ftz.bf16 %p1, %rs2, %rs3;", ".ftz needs");
  refused("cvt.f16.f32 %rs1, %f2;", "expected .rn, .rz, .rm or .rp");
  refused("cvt.rn.f32.f16 %f1, %rs2;", "no such rounding");
  refused("cvt.rn.f16.f16 %rs1, %rs2;", "no such rounding");
  refused("cvt.s32.f16 %r1, %rs2;", "expected .rni");
  refused("cvt.rm.f16x2.f32 %r1, %f2, %f3;", ".rn or .rz");
  refused("cvt.rn.f16x2.f32 %r1, %f2;", "expected 3");
  refused("cvt.f32.f16x2 %f1, %r2;", "cannot be a source");
  refused("add.f16 %rs1, %rs2, 1.0;", "no literals");
  refused("add.f16 %r1, %r2, %r3;", "expected .f16");
  refused("atom.add.f16 %rs1, [%rd1], %rs2;", "needs .noftz");
  refused("atom.add.noftz.f32 %f1, [%rd1], %f2;", "expected one of");
  refused("atom.min.noftz.f16 %rs1, [%rd1], %rs2;", "need a vector");
}

}  // namespace
}  // namespace weft::ptx::testing::operation_half_test
