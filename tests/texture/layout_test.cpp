// Where texels lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "texture/image.h"
#include "weft/common/error.h"

namespace weft::texture::layout_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

ArrayShape shape_of(Geometry geometry, std::uint32_t width, std::uint32_t height = 1,
                    std::uint32_t depth = 1) {
  ArrayShape s;
  s.geometry = geometry;
  s.format = {ChannelKind::kFloat, 32, 1};
  s.width = width, s.height = height, s.depth = depth;
  return s;
}

// The first group of 64 bytes by 8 rows, worked out by hand from the formula in image.h.
TEST(Layout, GroupOfBytesByHand) {
  const Image image = array_image(shape_of(Geometry::k2d, 40, 20));
  const Level& l = image.levels[0];
  EXPECT_EQ(image.offset_of(l, 0, 0, 0), 0u);
  EXPECT_EQ(image.offset_of(l, 12, 0, 0), 12u);
  EXPECT_EQ(image.offset_of(l, 0, 1, 0), 16u);
  EXPECT_EQ(image.offset_of(l, 16, 0, 0), 32u);
  EXPECT_EQ(image.offset_of(l, 16, 1, 0), 48u);
  EXPECT_EQ(image.offset_of(l, 0, 2, 0), 64u);
  EXPECT_EQ(image.offset_of(l, 32, 0, 0), 256u);
  EXPECT_EQ(image.offset_of(l, 63, 7, 0), 511u);
  // 160 bytes of a row are three groups; rows of groups follow each other.
  EXPECT_EQ(image.offset_of(l, 64, 0, 0), 512u);
  EXPECT_EQ(image.offset_of(l, 0, 8, 0), 3u * 512);
  EXPECT_EQ(image.bytes, 3u * 3 * 512);
}

// A line of 128 bytes holds 32 bytes of four rows.
TEST(Layout, ACacheLineIsATile) {
  const Image image = array_image(shape_of(Geometry::k2d, 64, 64));
  std::set<std::uint64_t> lines;
  for (std::uint32_t y = 4; y < 8; ++y) {
    for (std::uint64_t x = 32; x < 64; ++x) lines.insert(image.offset_of(image.levels[0], x, y, 0) / 128);
  }
  EXPECT_EQ(lines.size(), 1u);
}

TEST(Layout, EveryByteHasAPlaceOfItsOwn) {
  ArrayShape shapes[] = {shape_of(Geometry::k1d, 77), shape_of(Geometry::k2d, 33, 19),
                         shape_of(Geometry::k3d, 9, 10, 11), shape_of(Geometry::kCube, 12, 12),
                         shape_of(Geometry::k1d, 30)};
  shapes[1].levels = 6;
  shapes[2].levels = 4;
  shapes[3].layered = true, shapes[3].layers = 2;
  shapes[4].layered = true, shapes[4].layers = 5;
  for (const ArrayShape& shape : shapes) {
    const Image image = array_image(shape);
    std::set<std::uint64_t> places;
    std::uint64_t count = 0;
    for (unsigned k = 0; k < image.level_count; ++k) {
      const Level& l = image.levels[k];
      const std::uint32_t slices = l.size[2] * image.layers * (shape.geometry == Geometry::kCube ? 6 : 1);
      for (std::uint32_t z = 0; z < slices; ++z) {
        for (std::uint32_t y = 0; y < l.size[1]; ++y) {
          for (std::uint64_t x = 0; x < l.size[0] * 4u; ++x, ++count)
            places.insert(image.offset_of(l, x, y, z));
        }
      }
    }
    EXPECT_EQ(places.size(), count);
    EXPECT_LT(*places.rbegin(), image.bytes);
  }
}

TEST(Layout, LevelsHalve) {
  ArrayShape shape = shape_of(Geometry::k2d, 20, 5);
  shape.levels = 5;
  const Image image = array_image(shape);
  const std::array<std::uint32_t, 3> sizes[] = {{20, 5, 1}, {10, 2, 1}, {5, 1, 1}, {2, 1, 1}, {1, 1, 1}};
  for (unsigned k = 0; k < 5; ++k) EXPECT_EQ(image.levels[k].size, sizes[k]);
}

TEST(Layout, PitchedRows) {
  const Image image = pitched_image({ChannelKind::kUnsigned, 8, 4}, 10, 3, 64);
  EXPECT_EQ(image.offset_of(image.levels[0], 12, 2, 0), 140u);
  EXPECT_EQ(image.bytes, 2u * 64 + 40);
}

TEST(Layout, RefusesImpossibleShapes) {
  const auto refuses = [](const ArrayShape& shape, const char* text) {
    EXPECT_THAT([&] { array_image(shape); },
                Throws<InputError>(Property(&InputError::what, HasSubstr(text))));
  };
  refuses(shape_of(Geometry::k2d, 0, 4), "width is 0; allowed: 1 to 65536");
  refuses(shape_of(Geometry::k1d, 4, 2), "height is 2; allowed: 1");
  refuses(shape_of(Geometry::kCube, 4, 5), "height is 5; allowed: 4");
  refuses(shape_of(Geometry::k3d, 4, 4, 5000), "depth is 5000");
  ArrayShape levels = shape_of(Geometry::k2d, 8, 4);
  levels.levels = 5;
  refuses(levels, "levels is 5; allowed: 1 to 4");
  ArrayShape volume = shape_of(Geometry::k3d, 4, 4, 4);
  volume.layered = true;
  refuses(volume, "layers of 3d");
  EXPECT_THAT([] { pitched_image({ChannelKind::kUnsigned, 8, 4}, 10, 3, 32); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("at least 40"))));
  EXPECT_THAT([] { pitched_image({ChannelKind::kUnsigned, 8, 4}, 10, 3, std::uint64_t{1} << 63); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("up to 68719476736"))));
}

}  // namespace
}  // namespace weft::texture::layout_test
