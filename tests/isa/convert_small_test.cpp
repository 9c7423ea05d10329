// cvt to and from formats of 8 bits and fewer, and to tf32, on every code and every 16-bit float, and on f32
// at, beside and between all numbers of a format; against the interpreter, which looks for the nearest
// number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "interpreter/evaluate.h"
#include "isa/harness.h"

namespace weft::isa::test::convert_small_test {
namespace {

constexpr Type kSmall[] = {Type::kE4m3x2, Type::kE5m2x2, Type::kE2m3x2, Type::kE3m2x2, Type::kE2m1x2};

Instruction cvt(Type to, Type from, Rounding rounding, bool relu, bool finite) {
  Instruction in = make(Opcode::kCvt, to);
  in.from = from;
  in.rounding = rounding;
  in.relu = relu;
  in.saturates_finite = finite;
  return in;
}

// 32 operands at a time.
void check(const Instruction& in, const std::vector<std::array<std::uint32_t, 2>>& operands) {
  const LaneFunction base = find(in, InstructionSet::kBase), best = find(in);
  ASSERT_TRUE(base != nullptr && best != nullptr) << name(in);
  for (std::size_t first = 0; first < operands.size(); first += kLanes) {
    alignas(64) std::uint32_t a[kLanes] = {}, b[kLanes] = {}, d[kLanes] = {}, e[kLanes] = {};
    const std::size_t count = std::min<std::size_t>(kLanes, operands.size() - first);
    for (std::size_t i = 0; i < count; ++i) a[i] = operands[first + i][0], b[i] = operands[first + i][1];
    Lanes lanes;
    lanes.src[0] = a;
    lanes.src[1] = b;
    lanes.active = 0xffffffff;
    lanes.dst = d;
    base(lanes);
    lanes.dst = e;
    best(lanes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t expected = weft::test::evaluate(in, {a[i], b[i], 0, 0, 0}).value;
      ASSERT_EQ(d[i], expected) << name(in) << std::hex << " of " << a[i] << ", " << b[i];
      ASSERT_EQ(e[i], d[i]) << name(in) << std::hex << " of " << a[i] << ", " << b[i];
    }
  }
}

std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

std::vector<std::array<std::uint32_t, 2>> all_of_16_bits() {
  std::vector<std::array<std::uint32_t, 2>> all;
  all.reserve(0x8000);
  for (std::uint32_t x = 0; x < 0x8000; ++x) all.push_back({x << 16 | (x ^ 0x8000), 0});  // each once
  return all;
}

TEST(ConvertSmall, EveryPairOfCodesBecomesHalves) {
  std::vector<std::array<std::uint32_t, 2>> codes;
  codes.reserve(0x10000);
  for (std::uint32_t x = 0; x < 0x10000; ++x) codes.push_back({x, 0});
  for (const Type from : kSmall) {
    for (const bool relu : {false, true}) check(cvt(Type::kF16x2, from, Rounding::kRn, relu, false), codes);
  }
  check(cvt(Type::kBf16x2, Type::kUe8m0x2, Rounding::kRn, false, false), codes);
}

TEST(ConvertSmall, EveryHalfBecomesACode) {
  const auto halves = all_of_16_bits();
  for (const Type to : kSmall) check(cvt(to, Type::kF16x2, Rounding::kRn, false, true), halves);
  check(cvt(Type::kE5m2x2, Type::kF16x2, Rounding::kRn, true, true), halves);
  for (const Rounding rounding : {Rounding::kRz, Rounding::kRp}) {
    for (const bool finite : {false, true})
      check(cvt(Type::kUe8m0x2, Type::kBf16x2, rounding, false, finite), halves);
  }
}

// f32 whose lower 16 bits are 0, 1, the middle or all ones, around the numbers of the formats: all numbers,
// all midpoints, and what is beside them on either side; fewer elsewhere.
TEST(ConvertSmall, SinglesAtTiesAndBesideThem) {
  std::vector<std::array<std::uint32_t, 2>> singles;
  constexpr std::uint32_t kLow[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  for (std::uint32_t upper = 0; upper < 0x8000; upper += upper >= 0x3600 && upper < 0x4800 ? 8 : 128) {
    for (const std::uint32_t low : kLow)
      singles.push_back({upper << 16 | low, (upper ^ 0x8000) << 16 | (low ^ 1)});
  }
  for (const Type to : kSmall) check(cvt(to, Type::kF32, Rounding::kRn, false, true), singles);
  check(cvt(Type::kE4m3x2, Type::kF32, Rounding::kRn, true, true), singles);
  for (const Rounding rounding : {Rounding::kRz, Rounding::kRp}) {
    for (const bool finite : {false, true})
      check(cvt(Type::kUe8m0x2, Type::kF32, rounding, false, finite), singles);
  }
}

TEST(ConvertSmall, Tf32) {
  std::vector<std::array<std::uint32_t, 2>> singles;
  constexpr std::uint32_t kLow[] = {0, 1, 0x0fff, 0x1000, 0x1001, 0x1fff};
  for (std::uint32_t upper = 0; upper < 0x80000; upper += 7) {
    for (const std::uint32_t low : kLow) singles.push_back({upper << 13 | low, 0});
  }
  for (const std::uint32_t edge : {0x7f7fefffu, 0x7f7ff000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u,
                                   0xff7ff000u, 0xff800000u, 0xffffffffu})
    singles.push_back({edge, 0});
  for (const bool finite : {false, true}) {
    check(cvt(Type::kTf32, Type::kF32, Rounding::kRna, false, finite), singles);
    for (const bool relu : {false, true}) {
      check(cvt(Type::kTf32, Type::kF32, Rounding::kRn, relu, finite), singles);
      check(cvt(Type::kTf32, Type::kF32, Rounding::kRz, relu, finite), singles);
    }
  }
}

// Written down from the definitions of the formats (OCP 8-bit Floating Point Specification, tables 1 to 3).
TEST(ConvertSmall, KnownValues) {
  const auto of = [](const Instruction& in, float upper, float lower) {
    alignas(64) std::uint32_t a[kLanes] = {bits_of(upper)}, b[kLanes] = {bits_of(lower)}, d[kLanes] = {};
    Lanes lanes;
    lanes.dst = d;
    lanes.src[0] = a;
    lanes.src[1] = b;
    lanes.active = 1;
    find(in)(lanes);
    return d[0];
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const Instruction e4m3 = cvt(Type::kE4m3x2, Type::kF32, Rounding::kRn, false, true);
  EXPECT_EQ(of(e4m3, 1, 2), 0x3840u);
  EXPECT_EQ(of(e4m3, 448, -449), 0x7efeu);
  EXPECT_EQ(of(e4m3, 0x1p-9f, 0x1p-10f), 0x0100u);  // the smallest number; half of it is a tie
  EXPECT_EQ(of(e4m3, 0x1.8p-9f, -0x1p-6f),
            0x0288u);  // a tie between 1 and 2 smallest ones; the smallest normal number
  EXPECT_EQ(of(e4m3, nan, -infinity), 0x7ffeu);
  const Instruction e5m2 = cvt(Type::kE5m2x2, Type::kF32, Rounding::kRn, false, true);
  EXPECT_EQ(of(e5m2, 57344, 1e9f), 0x7b7bu);
  EXPECT_EQ(of(e5m2, 0x1p-16f, -nan), 0x017fu);
  const Instruction e2m1 = cvt(Type::kE2m1x2, Type::kF32, Rounding::kRn, false, true);
  EXPECT_EQ(of(e2m1, -6, 0.25f), 0xf0u);
  EXPECT_EQ(of(e2m1, nan, 0.75f), 0x72u);
  const Instruction tf32 = cvt(Type::kTf32, Type::kF32, Rounding::kRna, false, false);
  EXPECT_EQ(of(tf32, 0x1.002p0f, 0), 0x3f802000u);
  EXPECT_EQ(of(tf32, nan, 0), 0x7fffffffu);
}

}  // namespace
}  // namespace weft::isa::test::convert_small_test
