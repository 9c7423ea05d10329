// Approximate functions: within the error bounds that the PTX ISA documents, measured with MPFR, and their
// special values.
#include <gtest/gtest.h>

#include <cmath>

#include "isa/harness.h"
#include "isa/mpfr_oracle.h"

namespace weft::isa::test::approximate_test {
namespace {

Instruction approx(Opcode op, bool ftz = false) {
  Instruction in = make(op, Type::kF32);
  in.approx = true;
  in.ftz = ftz;
  return in;
}

constexpr std::uint64_t kOne = 0x3f800000, kInf = 0x7f800000, kMinusInf = 0xff800000, kNan = 0x7fffffff;
constexpr std::uint64_t kZero = 0, kMinusZero = 0x80000000, kSubnormal = 0x00000001;

void check_special(const Instruction& in, const std::vector<Golden>& cases) {
  check_golden(in, Type::kF32, {Type::kF32}, cases);
}

using Function = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
int reciprocal(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  return mpfr_ui_div(y, 1, x, mode);
}
int reciprocal_root(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  return mpfr_rec_sqrt(y, x, mode);
}
int exponential(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  return mpfr_exp2(y, x, mode);
}
int logarithm(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  return mpfr_log2(y, x, mode);
}
int root(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  return mpfr_sqrt(y, x, mode);
}
int sine(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  return mpfr_sin(y, x, mode);
}
int cosine(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  return mpfr_cos(y, x, mode);
}

// The largest error over random operands in [low, high]: absolute, or relative to results that are normal
// numbers.
double largest_error(const Instruction& in, Function exact, float low, float high, bool relative) {
  Random random(7);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<Bits> operands(kRandomOperands);
  for (Bits& each : operands) each[0] = bits(uniform(random));
  const auto results = evaluate(in, Type::kF32, {Type::kF32}, operands);
  double largest = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Number x(Type::kF32, operands[i][0]), y(100), difference(100);
    exact(y.get(), x.get(), MPFR_RNDN);
    mpfr_d_sub(difference.get(), as_float(results[i]), y.get(), MPFR_RNDN);
    if (relative) mpfr_div(difference.get(), difference.get(), y.get(), MPFR_RNDN);
    const double error = std::fabs(difference.to_double());
    if (!relative || std::fabs(y.to_double()) >= 0x1p-126) largest = std::max(largest, error);
    if (std::isnan(as_float(results[i]))) return NAN;
  }
  return largest;
}

TEST(Approximate, ErrorBounds) {
  EXPECT_LE(largest_error(approx(Opcode::kRcp), reciprocal, 1, 2, true), 0x1p-23);
  EXPECT_LE(largest_error(approx(Opcode::kRcp), reciprocal, -1e30f, 1e30f, true), 0x1p-23);
  EXPECT_LE(largest_error(approx(Opcode::kRsqrt), reciprocal_root, 1, 4, true), std::exp2(-22.9));
  EXPECT_LE(largest_error(approx(Opcode::kRsqrt), reciprocal_root, 0x1p-126f, 1e38f, true), std::exp2(-22.9));
  EXPECT_LE(largest_error(approx(Opcode::kSqrt), root, 0, 1e6f, true), 0x1p-23);
  EXPECT_LE(largest_error(approx(Opcode::kEx2), exponential, -126, 128, true), 0x1p-22);
  EXPECT_LE(largest_error(approx(Opcode::kEx2), exponential, -1, 1, true), 0x1p-22);
  EXPECT_LE(largest_error(approx(Opcode::kLg2), logarithm, 0.5f, 2, false), 0x1p-22);
  EXPECT_LE(largest_error(approx(Opcode::kLg2), logarithm, 2, 1e30f, true), 0x1p-22);
  EXPECT_LE(largest_error(approx(Opcode::kLg2), logarithm, 0x1p-149f, 0.5f, true), 0x1p-22);
  EXPECT_LE(largest_error(approx(Opcode::kSin), sine, -6.2831853f, 6.2831853f, false), std::exp2(-20.5));
  EXPECT_LE(largest_error(approx(Opcode::kCos), cosine, -6.2831853f, 6.2831853f, false), std::exp2(-20.5));
  EXPECT_LE(largest_error(approx(Opcode::kSin), sine, -314.0f, 314.0f, false), std::exp2(-14.7));
  EXPECT_LE(largest_error(approx(Opcode::kCos), cosine, -314.0f, 314.0f, false), std::exp2(-14.7));
  EXPECT_LE(largest_error(approx(Opcode::kSin), sine, -1e6f, 1e6f, false), std::exp2(-14.7));
}

TEST(Approximate, SpecialValues) {
  check_special(approx(Opcode::kRcp), {{{kMinusInf}, kMinusZero},
                                       {{kMinusZero}, kMinusInf},
                                       {{kZero}, kInf},
                                       {{kInf}, kZero},
                                       {{kNan}, kNan},
                                       {{0x7e800001}, 0x007fffff}});
  check_special(approx(Opcode::kRcp, true),
                {{{kSubnormal}, kInf}, {{0x807fffff}, kMinusInf}, {{0x7e800001}, kZero}});
  check_special(approx(Opcode::kSqrt), {{{0xbf800000}, kNan},
                                        {{kMinusZero}, kMinusZero},
                                        {{kInf}, kInf},
                                        {{kMinusInf}, kNan},
                                        {{0x80000001}, kNan}});
  check_special(approx(Opcode::kSqrt, true), {{{kSubnormal}, kZero}, {{0x80000001}, kMinusZero}});
  check_special(approx(Opcode::kRsqrt), {{{kMinusInf}, kNan},
                                         {{kMinusZero}, kMinusInf},
                                         {{kZero}, kInf},
                                         {{kInf}, kZero},
                                         {{0xbf800000}, kNan}});
  check_special(approx(Opcode::kRsqrt, true), {{{0x80000001}, kMinusInf}, {{kSubnormal}, kInf}});
  check_special(approx(Opcode::kEx2), {{{kMinusInf}, kZero},
                                       {{kZero}, kOne},
                                       {{kMinusZero}, kOne},
                                       {{kInf}, kInf},
                                       {{kNan}, kNan},
                                       {{bits(128.0f)}, kInf},
                                       {{bits(-149.0f)}, kSubnormal},
                                       {{bits(-1e10f)}, kZero},
                                       {{bits(1e10f)}, kInf},
                                       {{bits(3.0f)}, bits(8.0f)}});
  check_special(approx(Opcode::kEx2, true), {{{bits(-127.0f)}, kZero}, {{kSubnormal}, kOne}});
  check_special(approx(Opcode::kLg2), {{{kMinusInf}, kNan},
                                       {{0x80000001}, kNan},
                                       {{kMinusZero}, kMinusInf},
                                       {{kZero}, kMinusInf},
                                       {{kInf}, kInf},
                                       {{kSubnormal}, bits(-149.0f)},
                                       {{kOne}, kZero},
                                       {{bits(8.0f)}, bits(3.0f)},
                                       {{kNan}, kNan}});
  check_special(approx(Opcode::kLg2, true), {{{kSubnormal}, kMinusInf}, {{0x80000001}, kMinusInf}});
  check_special(approx(Opcode::kSin), {{{kMinusInf}, kNan},
                                       {{kZero}, kZero},
                                       {{kMinusZero}, kMinusZero},
                                       {{kNan}, kNan},
                                       {{kSubnormal}, kSubnormal}});
  check_special(approx(Opcode::kSin, true), {{{0x80000001}, kMinusZero}});
  check_special(approx(Opcode::kCos),
                {{{kInf}, kNan}, {{kZero}, kOne}, {{kMinusZero}, kOne}, {{kNan}, kNan}});
}

// PTX bounds the error up to 100 pi only; these are within one unit in the last place for every argument.
TEST(Approximate, CircularFunctionsOfAnyArgument) {
  Random random(5);
  std::vector<Bits> operands(kRandomOperands);
  for (Bits& each : operands) each[0] = random() & 0xffffffff;
  for (const Opcode op : {Opcode::kSin, Opcode::kCos}) {
    const auto results = evaluate(approx(op), Type::kF32, {Type::kF32}, operands);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!std::isfinite(as_float(operands[i][0]))) continue;
      Number x(Type::kF32, operands[i][0]), y(100);
      (op == Opcode::kSin ? sine : cosine)(y.get(), x.get(), MPFR_RNDN);
      const double exact = y.to_double();
      ASSERT_LE(std::fabs(as_float(results[i]) - exact), std::max(std::fabs(exact) * 0x1p-23, 0x1p-149))
          << std::hex << operands[i][0];
    }
  }
}

TEST(Approximate, Division) {
  Instruction in = approx(Opcode::kDiv);
  in.approx = true;
  const std::vector<Type> types = {Type::kF32, Type::kF32};
  check_golden(in, Type::kF32, types,
               {{{kOne, 0x7e800001}, kZero},  // |b| > 2^126
                {{kOne, 0xfe800001}, kMinusZero},
                {{kInf, 0x7e800001}, kNan},
                {{kInf, 0x7e800000}, kInf},  // |b| = 2^126
                {{kOne, kInf}, kZero},
                {{kZero, kZero}, kNan}});
  in.approx = false;
  in.full = true;
  check_golden(in, Type::kF32, types, {{{0x7e800001, 0x7e800001}, kOne}, {{kOne, 0x7e800001}, 0x007fffff}});
  in.ftz = true;
  check_golden(in, Type::kF32, types, {{{kOne, 0x7e800001}, kZero}});
  // Two units in the last place are allowed; this division is correctly rounded.
  Instruction exact = make(Opcode::kDiv, Type::kF32);
  in.ftz = false;
  check_random(in, Type::kF32, types, [&](const Bits& x) { return exact_float(exact, x); });
}

TEST(Approximate, DoubleHalves) {
  for (const bool is_rcp : {true, false}) {
    Instruction in = make(is_rcp ? Opcode::kRcp : Opcode::kRsqrt, Type::kF64);
    in.approx = true;
    in.ftz = true;
    Random random(3);
    std::uniform_real_distribution<double> uniform(1e-30, 1e30);
    std::vector<Bits> operands(1000);
    for (Bits& each : operands) each[0] = bits(uniform(random)) & 0xffffffff00000000;
    const auto results = evaluate(in, Type::kF64, {Type::kF64}, operands);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double x = as_double(operands[i][0]), exact = is_rcp ? 1 / x : 1 / std::sqrt(x);
      ASSERT_EQ(results[i] & 0xffffffff, 0u);
      ASSERT_LE(std::fabs(as_double(results[i]) / exact - 1), 0x1p-20) << x;
    }
    check_golden(in, Type::kF64, {Type::kF64},
                 {{{0}, bits(HUGE_VAL)},
                  {{1ull << 63}, bits(-HUGE_VAL)},
                  {{1}, bits(HUGE_VAL)},
                  {{bits(HUGE_VAL)}, 0},
                  {{bits(4.0)}, is_rcp ? bits(0.25) : bits(0.5)}});
  }
  Instruction in = make(Opcode::kRsqrt, Type::kF64);
  in.approx = true;
  check_golden(in, Type::kF64, {Type::kF64},
               {{{bits(16.0)}, bits(0.25)}, {{bits(-1.0)}, 0xfff8000000000000}});
}

}  // namespace
}  // namespace weft::isa::test::approximate_test
