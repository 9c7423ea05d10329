// Mip levels and gathers, by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "texture/sample.h"

namespace weft::texture::level_test {
namespace {

constexpr std::uint64_t kBase = 0x1'0000'0000;

// 8 x 8 texels with four levels; every texel of level k is 10^k.
struct Pyramid {
  Image image;
  std::vector<std::uint8_t> memory;
  Pyramid() {
    ArrayShape shape;
    shape.format = {ChannelKind::kFloat, 32, 1};
    shape.width = shape.height = 8;
    shape.levels = 4;
    image = array_image(shape);
    image.address = kBase;
    memory.resize(image.bytes);
    float value = 1;
    for (unsigned k = 0; k < 4; ++k, value *= 10) {
      const Level& l = image.levels[k];
      for (std::uint32_t y = 0; y < l.size[1]; ++y) {
        for (std::uint32_t x = 0; x < l.size[0]; ++x)
          std::memcpy(&memory[image.offset_of(l, x * 4, y, 0)], &value, 4);
      }
    }
  }
  float at(const Sampler& sampler, float level, unsigned* taps = nullptr) const {
    Coordinates c;
    c.x = {0.3f, 0.6f, 0};
    c.level = level;
    Footprint footprint;
    locate(image, sampler, c, footprint);
    if (taps != nullptr) *taps = footprint.count;
    const std::uint32_t bits = sample(image, sampler, footprint, memory.data(), kBase)[0];
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
};

Sampler normalised() {
  Sampler s;
  s.normalized_coordinates = true;
  return s;
}

TEST(Levels, TheNearestOne) {
  const Pyramid p;
  const Sampler s = normalised();
  EXPECT_EQ(p.at(s, 0), 1);
  EXPECT_EQ(p.at(s, 0.49f), 1);
  EXPECT_EQ(p.at(s, 0.5f), 10);
  EXPECT_EQ(p.at(s, 2), 100);
  EXPECT_EQ(p.at(s, 9), 1000);
  EXPECT_EQ(p.at(s, -9), 1);
}

TEST(Levels, BetweenTwo) {
  const Pyramid p;
  Sampler s = normalised();
  s.level_filter = Filter::kLinear;
  unsigned taps = 0;
  EXPECT_EQ(p.at(s, 0.5f, &taps), 5.5f);
  EXPECT_EQ(taps, 2u);
  EXPECT_EQ(p.at(s, 1.25f), 32.5f);
  EXPECT_EQ(p.at(s, 1, &taps), 10);
  EXPECT_EQ(taps, 1u);
  s.filter = Filter::kLinear;  // a level of equal texels stays as it is
  EXPECT_EQ(p.at(s, 0.5f, &taps), 5.5f);
  EXPECT_EQ(taps, 8u);
  EXPECT_EQ(p.at(s, 0x1p-8f), 1 + 9 / 256.0f);
}

TEST(Levels, BiasAndLimits) {
  const Pyramid p;
  Sampler s = normalised();
  s.level_bias = 1;
  EXPECT_EQ(p.at(s, 0), 10);
  s.least_level = 2;
  EXPECT_EQ(p.at(s, 0), 100);
  s.least_level = 0, s.greatest_level = 1;
  EXPECT_EQ(p.at(s, 3), 10);
}

// Slopes in texels of level 0: 8 texels over the range 0 to 1.
TEST(Levels, OfSlopes) {
  const Pyramid p;
  const Sampler s = normalised();
  EXPECT_EQ(level_of(p.image, s, {0.125f, 0, 0}, {0, 0.0625f, 0}), 0);
  EXPECT_EQ(level_of(p.image, s, {0.125f, 0, 0}, {0, 0.5f, 0}), 2);
  EXPECT_NEAR(level_of(p.image, s, {0.375f, 0.5f, 0}, {}), 2.321928f, 1e-6);  // 5 texels
  EXPECT_LT(level_of(p.image, s, {}, {}), 0);
}

// Texels 10 y + x; the middle between (1,1), (2,1), (1,2) and (2,2).
TEST(Gather, CounterClockwiseFromTheLowerLeft) {
  ArrayShape shape;
  shape.format = {ChannelKind::kUnsigned, 8, 2};
  shape.width = shape.height = 4;
  Image image = array_image(shape);
  image.address = kBase;
  std::vector<std::uint8_t> memory(image.bytes);
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t x = 0; x < 4; ++x) {
      memory[image.offset_of(image.levels[0], 2 * x, y, 0)] = static_cast<std::uint8_t>(10 * y + x);
      memory[image.offset_of(image.levels[0], 2 * x, y, 0) + 1] = static_cast<std::uint8_t>(100 + 10 * y + x);
    }
  }
  Coordinates c;
  c.x = {2, 2, 0};
  Footprint footprint;
  locate_gather(image, {}, c, footprint);
  EXPECT_EQ(gather(image, {}, footprint, 0, memory.data(), kBase), (Channels{21, 22, 12, 11}));
  EXPECT_EQ(gather(image, {}, footprint, 1, memory.data(), kBase), (Channels{121, 122, 112, 111}));
}

}  // namespace
}  // namespace weft::texture::level_test
