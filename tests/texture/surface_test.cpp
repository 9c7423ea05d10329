// Places on surfaces; objects and their handles.
#include "texture/surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "texture/table.h"
#include "weft/common/error.h"

namespace weft::texture::surface_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr std::uint64_t kBase = 0x1'0000'0000;

// 5 x 3 texels of four bytes: rows of 20 bytes; three layers.
Image small() {
  ArrayShape shape;
  shape.layered = true;
  shape.layers = 3;
  shape.format = {ChannelKind::kUnsigned, 8, 4};
  shape.width = 5, shape.height = 3;
  Image image = array_image(shape);
  image.address = kBase;
  return image;
}

TEST(Surface, BytesAndTexels) {
  const Image image = small();
  const Place bytes = locate(image, {12, 1, 0}, 2, true, 4, Outside::kTrap);
  EXPECT_EQ(bytes.kind, Place::Kind::kInside);
  EXPECT_EQ(bytes.address, kBase + 2 * 512 + 16 + 12);  // a slice is one group; row 1 is 16 bytes in
  EXPECT_EQ(locate(image, {3, 1, 0}, 2, false, 4, Outside::kTrap).address, bytes.address);
  EXPECT_EQ(locate(image, {16, 0, 0}, 0, true, 4, Outside::kTrap).address, kBase + 32);
}

TEST(Surface, OutsideAndClamped) {
  const Image image = small();
  for (const auto& at : {std::array<std::int32_t, 3>{-4, 0, 0}, {20, 0, 0}, {0, -1, 0}, {0, 3, 0}}) {
    EXPECT_EQ(locate(image, at, 0, true, 4, Outside::kTrap).kind, Place::Kind::kOutside);
    EXPECT_EQ(locate(image, at, 0, true, 4, Outside::kZero).kind, Place::Kind::kOutside);
    EXPECT_EQ(locate(image, at, 0, true, 4, Outside::kClamp).kind, Place::Kind::kInside);
  }
  EXPECT_EQ(locate(image, {0, 0, 0}, 3, true, 4, Outside::kTrap).kind, Place::Kind::kOutside);
  EXPECT_EQ(locate(image, {400, 7, 0}, 9, true, 4, Outside::kClamp).address,
            locate(image, {16, 2, 0}, 2, true, 4, Outside::kTrap).address);
  // Of 20 bytes the last eight at which an access of eight fits begin at 8, and one of sixteen at 0.
  EXPECT_EQ(locate(image, {16, 0, 0}, 0, true, 8, Outside::kTrap).kind, Place::Kind::kOutside);
  EXPECT_EQ(locate(image, {400, 0, 0}, 0, true, 8, Outside::kClamp).address,
            locate(image, {8, 0, 0}, 0, true, 8, Outside::kTrap).address);
  EXPECT_EQ(locate(image, {6, 0, 0}, 0, true, 4, Outside::kZero).kind, Place::Kind::kMisaligned);
}

TEST(Table, HandlesNameOneKindAndOneLife) {
  Table table;
  const std::uint64_t t = table.add_texture({small(), {}}), s = table.add_surface(small());
  EXPECT_LT(t, 1ull << 32);
  EXPECT_NE(table.texture(t), nullptr);
  EXPECT_EQ(table.surface(t), nullptr);
  EXPECT_NE(table.surface(s), nullptr);
  EXPECT_EQ(table.texture(s), nullptr);
  for (const std::uint64_t wrong : std::vector<std::uint64_t>{0, t + 1, t | 1ull << 40, ~0ull})
    EXPECT_EQ(table.texture(wrong), nullptr);
  table.remove(t);
  EXPECT_EQ(table.texture(t), nullptr);
  const std::uint64_t again = table.add_texture({small(), {}});
  EXPECT_NE(again, t);
  EXPECT_EQ(table.texture(t), nullptr);
  EXPECT_THAT([&] { table.remove(t); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("unknown handle"))));
}

TEST(Table, SamplersAreValues) {
  Sampler s;
  s.address = {AddressMode::kMirror, AddressMode::kBorder, AddressMode::kWrap};
  s.filter = Filter::kLinear;
  s.normalized_coordinates = true;
  const std::uint64_t value = encode(s);
  EXPECT_TRUE(is_encoded_sampler(value));
  EXPECT_FALSE(is_encoded_sampler(value | 0x100));
  EXPECT_FALSE(is_encoded_sampler(0));
  Sampler back;
  decode(value, back);
  EXPECT_EQ(back.address, s.address);
  EXPECT_EQ(back.filter, s.filter);
  EXPECT_TRUE(back.normalized_coordinates);
  EXPECT_EQ(Table().texture(value), nullptr);
}

TEST(Table, RefusesWhatHardwareCannotDo) {
  const auto refuses = [](const Image& image, const Sampler& sampler, const char* text) {
    Table table;
    EXPECT_THAT([&] { table.add_texture({image, sampler}); },
                Throws<InputError>(Property(&InputError::what, HasSubstr(text))));
  };
  Sampler linear;
  linear.filter = Filter::kLinear;
  refuses(small(), linear, "linear filter on integers");
  Sampler values;
  values.normalized_values = true;
  refuses(linear_image({ChannelKind::kUnsigned, 32, 1}, 8), values, "normalised values");
  refuses(linear_image({ChannelKind::kFloat, 32, 1}, 8), linear, "linear memory");
  ArrayShape shape;
  shape.format = {ChannelKind::kFloat, 32, 1};
  shape.width = shape.height = 4, shape.levels = 2;
  refuses(array_image(shape), {}, "mip levels");
  Table table;
  EXPECT_THAT([&] { table.add_surface(linear_image({ChannelKind::kFloat, 32, 1}, 8)); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("an image of another kind"))));
}

}  // namespace
}  // namespace weft::texture::surface_test
