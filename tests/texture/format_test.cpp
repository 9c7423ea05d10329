// Channels to registers and back.
#include "texture/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "weft/common/error.h"

namespace weft::texture::format_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

std::uint32_t bits_of(float f) {
  std::uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

TEST(Format, IntegersAreExtendedAndMissingChannelsAre001) {
  const std::uint8_t texel[] = {0x80, 0x7f, 0xff, 0x01};
  EXPECT_EQ(load({ChannelKind::kUnsigned, 8, 4}, false, texel), (Channels{0x80, 0x7f, 0xff, 1}));
  EXPECT_EQ(load({ChannelKind::kSigned, 8, 4}, false, texel), (Channels{0xffffff80, 0x7f, 0xffffffff, 1}));
  EXPECT_EQ(load({ChannelKind::kSigned, 16, 2}, false, texel), (Channels{0x7f80, 0x1ff, 0, 1}));
  EXPECT_EQ(load({ChannelKind::kUnsigned, 32, 1}, false, texel), (Channels{0x01ff7f80, 0, 0, 1}));
  EXPECT_EQ(load({ChannelKind::kUnsigned, 8, 1}, true, texel)[3], bits_of(1.0f));
  EXPECT_EQ(load({ChannelKind::kFloat, 32, 1}, false, texel)[3], bits_of(1.0f));
}

TEST(Format, NormalisedValuesEndAtOne) {
  const std::uint8_t texel[] = {255, 128, 0, 51};
  const Channels u = load({ChannelKind::kUnsigned, 8, 4}, true, texel);
  EXPECT_EQ(u, (Channels{bits_of(1), bits_of(128.0f / 255), 0, bits_of(0.2f)}));
  const std::uint8_t lowest[] = {0x80, 0x81, 0x7f, 0xff};
  const Channels s = load({ChannelKind::kSigned, 8, 4}, true, lowest);
  EXPECT_EQ(s, (Channels{bits_of(-1), bits_of(-1), bits_of(1), bits_of(-1.0f / 127)}));
  const std::uint8_t wide[] = {0xff, 0xff, 0x00, 0x80};
  EXPECT_EQ(load({ChannelKind::kUnsigned, 16, 1}, true, wide)[0], bits_of(1));
  EXPECT_EQ(load({ChannelKind::kSigned, 16, 2}, true, wide)[1], bits_of(-1));
}

// Every half is a sum of powers of two; going there and back must not change it.
TEST(Format, EveryHalfSurvives) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const unsigned exponent = half >> 10 & 31, fraction = half & 1023;
    const float value = half_to_float(static_cast<std::uint16_t>(half));
    if (exponent == 31 && fraction != 0) {
      ASSERT_TRUE(std::isnan(value));
      continue;
    }
    const double magnitude = exponent == 31 ? INFINITY
                             : exponent == 0
                                 ? fraction * 0x1p-24
                                 : (1024 + fraction) * std::pow(2.0, static_cast<int>(exponent) - 25);
    ASSERT_EQ(value, half >> 15 != 0 ? -magnitude : magnitude) << half;
    ASSERT_EQ(float_to_half(value), half);
  }
}

TEST(Format, HalvesRoundToNearestEven) {
  EXPECT_EQ(float_to_half(1 + 0x1p-11f), 0x3c00);             // halfway, even below
  EXPECT_EQ(float_to_half(1 + 0x3p-11f), 0x3c02);             // halfway, even above
  EXPECT_EQ(float_to_half(1 + 0x1p-11f + 0x1p-23f), 0x3c01);  // above halfway
  EXPECT_EQ(float_to_half(65519.996f), 0x7bff);
  EXPECT_EQ(float_to_half(65520), 0x7c00);
  EXPECT_EQ(float_to_half(-1e10f), 0xfc00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0);  // halfway to the smallest subnormal
  EXPECT_EQ(float_to_half(0x1.8p-25f), 1);
  EXPECT_EQ(float_to_half(2047 * 0x1p-25f), 0x400);  // 1023.5 steps: up to the smallest normal
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  EXPECT_EQ(float_to_half(std::nanf("")), 0x7fff);
}

TEST(Format, FormattedStoresSaturate) {
  std::uint8_t texel[16] = {};
  store({ChannelKind::kUnsigned, 8, 4}, {300, 255, 0xffffffff, 7}, texel);
  EXPECT_THAT(std::vector<int>(texel, texel + 4), ::testing::ElementsAre(255, 255, 255, 7));
  store({ChannelKind::kSigned, 8, 4}, {300, static_cast<std::uint32_t>(-300), 0xffffffff, 7}, texel);
  EXPECT_THAT(std::vector<int>(texel, texel + 4), ::testing::ElementsAre(127, 128, 255, 7));
  store({ChannelKind::kFloat, 16, 1}, {bits_of(1.5f), 0, 0, 0}, texel);
  EXPECT_EQ(texel[0] | texel[1] << 8, 0x3e00);
  store({ChannelKind::kSigned, 32, 1}, {0x80000000, 0, 0, 0}, texel);
  EXPECT_EQ(texel[3], 0x80);
}

TEST(Format, RefusesWhatDoesNotExist) {
  for (const Format f : {Format{ChannelKind::kFloat, 8, 1}, Format{ChannelKind::kUnsigned, 8, 3},
                         Format{ChannelKind::kUnsigned, 64, 1}, Format{ChannelKind::kUnsigned, 8, 0}}) {
    EXPECT_THAT([&] { check(f, "image"); },
                Throws<InputError>(Property(&InputError::what, HasSubstr("allowed: 1, 2 or 4"))));
  }
}

}  // namespace
}  // namespace weft::texture::format_test
