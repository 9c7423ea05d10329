// Constant expressions: literals, precedence, signedness.
#include "ptx/ptx_text.h"

namespace weft::ptx::testing::expression_test {
namespace {

std::uint64_t value(const std::string& expression, const std::string& type = ".b64") {
  const Module m = parse(module_of(".global " + type + " x = " + expression + ";\n"), "m.ptx");
  std::uint64_t bits = 0;
  for (std::size_t i = m.variables[0].initial.size(); i-- > 0;) bits = bits << 8 | m.variables[0].initial[i];
  return bits;
}

TEST(Expression, Literals) {
  EXPECT_EQ(value("42"), 42u);
  EXPECT_EQ(value("0x2aU"), 42u);
  EXPECT_EQ(value("0b101010"), 42u);
  EXPECT_EQ(value("052"), 42u);
  EXPECT_EQ(value("18446744073709551615U"), UINT64_MAX);
  EXPECT_EQ(value("0f3F800000", ".f32"), 0x3F800000u);
  EXPECT_EQ(value("0dBFF0000000000000", ".f64"), 0xBFF0000000000000u);
  EXPECT_EQ(value("1.5e1", ".f64"), 0x402E000000000000u);
  EXPECT_EQ(value("-0f3F800000", ".f32"), 0xBF800000u);
}

TEST(Expression, PrecedenceIsThatOfC) {
  EXPECT_EQ(value("2+3*4"), 14u);
  EXPECT_EQ(value("(2+3)*4"), 20u);
  EXPECT_EQ(value("1<<2+1"), 8u);
  EXPECT_EQ(value("10-4-3"), 3u);
  EXPECT_EQ(value("1|2^3&6"), static_cast<std::uint64_t>(1 | (2 ^ (3 & 6))));
  EXPECT_EQ(value("7>3 && 2==2 || 0"), 1u);
  EXPECT_EQ(value("-2*3+7"), 1u);
  EXPECT_EQ(value("~0 & 0xff"), 0xffu);
  EXPECT_EQ(value("!0 + !5"), 1u);
}

TEST(Expression, Ternary) {
  EXPECT_EQ(value("1 ? 2 : 3"), 2u);
  EXPECT_EQ(value("0 ? 2 : 0 ? 4 : 5"), 5u);
  EXPECT_EQ(value("(2 > 1 ? 10 : 20) + 1"), 11u);
}

TEST(Expression, Signedness) {
  EXPECT_EQ(value("-1 < 0"), 1u);
  EXPECT_EQ(value("-1 < 0U"), 0u);
  EXPECT_EQ(value("-8 >> 1"), static_cast<std::uint64_t>(-4));
  EXPECT_EQ(value("(.u64)-8 >> 60"), 15u);
  EXPECT_EQ(value("(.s64)18446744073709551615 < 0"), 1u);
  EXPECT_EQ(value("-7 / 2"), static_cast<std::uint64_t>(-3));
  EXPECT_EQ(value("-7 % 3"), static_cast<std::uint64_t>(-1));
  EXPECT_EQ(value("(-9223372036854775807 - 1) / -1"), 0x8000000000000000u);
}

TEST(Expression, InOperands) {
  const Program p =
      decode_body("mov.u32 %r1, 3+4*(2-1); ld.global.u32 %r2, [%rd1+-4]; ld.global.u32 %r2, [%rd1-4]; ret;");
  EXPECT_EQ(p.constants[p.code[0].src[0].index].lanes[31], 7u);
  EXPECT_EQ(p.code[1].offset, -4);
  EXPECT_EQ(p.code[2].offset, -4);
}

}  // namespace
}  // namespace weft::ptx::testing::expression_test
