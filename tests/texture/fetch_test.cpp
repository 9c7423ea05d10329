// Every format, geometry, address mode and filter at random coordinates, bit for bit.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "texture/oracle.h"
#include "texture/sample.h"

namespace weft::texture::fetch_test {
namespace {

using test::Beyond;
using test::PlainImage;
using test::PlainSampler;

constexpr std::uint64_t kBase = 0x1'0000'0000;

struct Shape {
  Geometry geometry;
  bool layered;
  unsigned dimensions;
};
constexpr Shape kShapes[] = {{Geometry::k1d, false, 1},
                             {Geometry::k2d, false, 2},
                             {Geometry::k3d, false, 3},
                             {Geometry::k1d, true, 1},
                             {Geometry::k2d, true, 2}};

ChannelKind kind_of(char kind) {
  return kind == 'f' ? ChannelKind::kFloat : kind == 's' ? ChannelKind::kSigned : ChannelKind::kUnsigned;
}

// A block-linear image with the plain one's texels, in a memory of its own.
struct Stored {
  Image image;
  std::vector<std::uint8_t> memory;
};
Stored store(const PlainImage& plain, Geometry geometry, bool layered) {
  ArrayShape shape;
  shape.geometry = geometry;
  shape.layered = layered;
  shape.format = {kind_of(plain.kind), static_cast<std::uint8_t>(plain.bits),
                  static_cast<std::uint8_t>(plain.channels)};
  shape.width = static_cast<std::uint32_t>(plain.size[0]);
  shape.height = static_cast<std::uint32_t>(plain.size[1]);
  shape.depth = static_cast<std::uint32_t>(plain.size[2]);
  shape.layers = static_cast<std::uint32_t>(plain.cube ? plain.layers / 6 : plain.layers);
  Stored stored{array_image(shape), {}};
  stored.image.address = kBase;
  stored.memory.assign(stored.image.bytes, 0xee);
  const unsigned bytes = shape.format.bytes();
  const auto slices = static_cast<std::uint32_t>(plain.size[2] * plain.layers);
  std::size_t from = 0;
  for (std::uint32_t z = 0; z < slices; ++z) {
    for (std::uint32_t y = 0; y < shape.height; ++y) {
      for (std::uint32_t x = 0; x < shape.width; ++x, from += bytes) {
        std::memcpy(&stored.memory[stored.image.offset_of(stored.image.levels[0], x * bytes, y, z)],
                    &plain.texels[from], bytes);
      }
    }
  }
  return stored;
}

Sampler sampler_of(const PlainSampler& plain) {
  Sampler s;
  for (unsigned i = 0; i < 3; ++i) {
    s.address[i] = plain.beyond[i] == Beyond::kWrap     ? AddressMode::kWrap
                   : plain.beyond[i] == Beyond::kClamp  ? AddressMode::kClamp
                   : plain.beyond[i] == Beyond::kMirror ? AddressMode::kMirror
                                                        : AddressMode::kBorder;
  }
  s.filter = plain.linear ? Filter::kLinear : Filter::kPoint;
  s.normalized_coordinates = plain.normalised_coordinates;
  s.normalized_values = plain.as_float;
  s.border = plain.border;
  return s;
}

PlainSampler random_sampler(std::mt19937& random, bool floats, bool may_normalise) {
  PlainSampler s;
  for (auto& mode : s.beyond) mode = static_cast<Beyond>(random() % 4);
  s.normalised_coordinates = random() % 2 != 0;
  s.as_float = may_normalise && random() % 2 != 0;
  s.linear = (floats || s.as_float) && random() % 4 != 0;
  for (auto& c : s.border) c = static_cast<float>(random() % 17) / 8;
  return s;
}

// From three times the image to either side; often exactly on a texel's edge or middle.
float random_coordinate(std::mt19937& random, int size, bool normalised) {
  const float span = normalised ? 1.0f : static_cast<float>(size);
  const int choice = static_cast<int>(random() % 4);
  if (choice == 0)
    return span *
           (static_cast<float>(random() % (14 * static_cast<unsigned>(size))) / static_cast<float>(2 * size) -
            3);
  if (choice == 1) return span * (static_cast<float>(random()) * 0x1p-32f);
  return span * (7 * static_cast<float>(random()) * 0x1p-32f - 3);
}

struct Kind {
  char kind;
  unsigned bits;
};
class EveryFormat : public ::testing::TestWithParam<Kind> {};

TEST_P(EveryFormat, AgreesWithTheGuidesFormulas) {
  const auto [kind, bits] = GetParam();
  std::mt19937 random(1000 * static_cast<unsigned>(kind) + bits);
  std::uint64_t compared = 0, linear = 0;
  for (const Shape& shape : kShapes) {
    for (const unsigned channels : {1u, 2u, 4u}) {
      for (unsigned round = 0; round < 24; ++round) {
        const auto extent = [&] { return static_cast<int>(1 + random() % (shape.dimensions == 3 ? 9 : 40)); };
        const int layers = shape.layered ? static_cast<int>(1 + random() % 4) : 1;
        const std::array<int, 3> size{extent(), extent(), extent()};
        const PlainImage plain =
            test::random_image(random, shape.dimensions, size, layers, kind, bits, channels);
        const Stored stored = store(plain, shape.geometry, shape.layered);
        const PlainSampler how = random_sampler(random, kind == 'f', kind != 'f' && bits < 32);
        const Sampler sampler = sampler_of(how);
        ASSERT_NO_THROW(check(Texture{stored.image, sampler}));
        for (unsigned i = 0; i < 100; ++i) {
          std::array<float, 3> at{};
          for (unsigned d = 0; d < shape.dimensions; ++d) {
            at[d] = random_coordinate(random, plain.size[d], how.normalised_coordinates);
          }
          const auto layer = static_cast<std::uint32_t>(random() % (static_cast<unsigned>(layers) + 2));
          Coordinates coordinates;
          coordinates.x = at;
          coordinates.layer = layer;
          Footprint footprint;
          locate(stored.image, sampler, coordinates, footprint);
          ASSERT_EQ(footprint.count, how.linear ? 1u << shape.dimensions : 1u);
          const Channels found = sample(stored.image, sampler, footprint, stored.memory.data(), kBase);
          const int clamped = std::min(static_cast<int>(layer), layers - 1);
          const auto expected = test::fetch(plain, how, at, clamped);
          ASSERT_EQ(found, expected) << name_of(shape.geometry, shape.layered) << " "
                                     << name_of(stored.image.format) << (how.linear ? " linear " : " point ")
                                     << (how.normalised_coordinates ? "normalised " : "") << at[0] << " "
                                     << at[1] << " " << at[2] << " of " << size[0] << " x " << size[1]
                                     << " x " << size[2];
          ++compared;
          linear += how.linear ? 1 : 0;
        }
      }
    }
  }
  EXPECT_EQ(compared, 5u * 3 * 24 * 100);
  if (bits < 32 || kind == 'f') {
    EXPECT_GT(linear, compared / 5);
  }
}

INSTANTIATE_TEST_SUITE_P(Fetch, EveryFormat,
                         ::testing::Values(Kind{'u', 8}, Kind{'s', 8}, Kind{'u', 16}, Kind{'s', 16},
                                           Kind{'f', 16}, Kind{'u', 32}, Kind{'s', 32}, Kind{'f', 32}),
                         [](const auto& info) {
                           return std::string(1, info.param.kind) + std::to_string(info.param.bits);
                         });

// A row of four f32 texels 10, 20, 30, 40.
Stored four() {
  PlainImage plain;
  plain.size[0] = 4;
  plain.kind = 'f';
  plain.bits = 32;
  const std::array<float, 4> texels = {10, 20, 30, 40};
  plain.texels.resize(sizeof texels);
  std::memcpy(plain.texels.data(), texels.data(), sizeof texels);
  return store(plain, Geometry::k1d, false);
}

float first_of(const Stored& stored, const Sampler& sampler, float x) {
  Coordinates at;
  at.x[0] = x;
  Footprint footprint;
  locate(stored.image, sampler, at, footprint);
  const std::uint32_t bits = sample(stored.image, sampler, footprint, stored.memory.data(), kBase)[0];
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// The figures of the guide's appendix: the filter passes through texel i at x = i + 0.5.
TEST(Fetch, LinearFilterByHand) {
  const Stored stored = four();
  Sampler s;
  s.filter = Filter::kLinear;
  EXPECT_EQ(first_of(stored, s, 0.5f), 10);
  EXPECT_EQ(first_of(stored, s, 1.0f), 15);
  EXPECT_EQ(first_of(stored, s, 1.75f), 22.5f);
  EXPECT_EQ(first_of(stored, s, -7), 10);
  EXPECT_EQ(first_of(stored, s, 400), 40);
  // 1/512 beyond a texel's middle rounds up to the weight 1/256; a little less is 0.
  EXPECT_EQ(first_of(stored, s, 0.5f + 0x1p-9f), 10 + 10 / 256.0f);
  EXPECT_EQ(first_of(stored, s, 0.5f + 0x1.fcp-10f), 10);
  // The last step before the next texel rounds to the weight 1.
  EXPECT_EQ(first_of(stored, s, 1.5f - 0x1p-10f), 20);
  s.address[0] = AddressMode::kBorder;
  s.border[0] = 100;
  EXPECT_EQ(first_of(stored, s, 0), 55);
}

TEST(Fetch, AddressModesByHand) {
  const Stored stored = four();
  Sampler s;
  s.normalized_coordinates = true;
  s.address[0] = AddressMode::kWrap;
  EXPECT_EQ(first_of(stored, s, 1.25f), 20);
  EXPECT_EQ(first_of(stored, s, -0.125f), 40);
  EXPECT_EQ(first_of(stored, s, -0x1p-40f), 40);  // just below 0, where x - floor(x) would round to 1
  s.address[0] = AddressMode::kMirror;
  EXPECT_EQ(first_of(stored, s, 1.125f), 40);
  EXPECT_EQ(first_of(stored, s, -0.375f), 20);
  EXPECT_EQ(first_of(stored, s, 2.125f), 10);
}

TEST(Fetch, CoordinatesThatAreNoNumbers) {
  const Stored stored = four();
  const float infinite = std::numeric_limits<float>::infinity();
  for (const bool normalised : {false, true}) {
    for (const auto mode :
         {AddressMode::kClamp, AddressMode::kWrap, AddressMode::kMirror, AddressMode::kBorder}) {
      for (const auto filter : {Filter::kPoint, Filter::kLinear}) {
        Sampler s;
        s.normalized_coordinates = normalised;
        s.address[0] = mode;
        s.filter = filter;
        for (const float x : {infinite, -infinite, std::nanf(""), 3e38f, -3e38f}) {
          const float value = first_of(stored, s, x);
          EXPECT_TRUE(value >= 0 && value <= 40) << x;
        }
      }
    }
  }
  Sampler clamp;
  EXPECT_EQ(first_of(stored, clamp, infinite), 40);
  EXPECT_EQ(first_of(stored, clamp, -infinite), 10);
  EXPECT_EQ(first_of(stored, clamp, std::nanf("")), 10);
}

// The middle of each face (guide, table of cubemap faces), and a point off the middle.
TEST(Fetch, CubeFaces) {
  PlainImage plain;
  plain.dimensions = 2;
  plain.size = {2, 2, 1};
  plain.layers = 6;
  plain.cube = true;
  plain.kind = 'u';
  plain.bits = 32;
  for (std::uint32_t v = 0; v < 24; ++v) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&v);
    plain.texels.insert(plain.texels.end(), bytes, bytes + 4);
  }
  const Stored stored = store(plain, Geometry::kCube, false);
  const auto at = [&](float x, float y, float z) {
    Coordinates c;
    c.x = {x, y, z};
    Footprint footprint;
    const Sampler sampler;
    locate(stored.image, sampler, c, footprint);
    return sample(stored.image, sampler, footprint, stored.memory.data(), kBase)[0];
  };
  // Texel of face f at column i, row j: 4 f + 2 j + i. With s and t of the table slightly positive: i = j
  // = 1.
  EXPECT_EQ(at(1, -0.5f, -0.5f), 0u + 3);    // s = -z, t = -y
  EXPECT_EQ(at(-1, -0.5f, 0.5f), 4u + 3);    // s = z, t = -y
  EXPECT_EQ(at(0.5f, 1, 0.5f), 8u + 3);      // s = x, t = z
  EXPECT_EQ(at(0.5f, -1, -0.5f), 12u + 3);   // s = x, t = -z
  EXPECT_EQ(at(0.5f, -0.5f, 1), 16u + 3);    // s = x, t = -y
  EXPECT_EQ(at(-0.5f, -0.5f, -1), 20u + 3);  // s = -x, t = -y
  EXPECT_EQ(at(8, 2, 4), 0u + 0);            // s = -4/8, t = -2/8: the lower left quarter
}

}  // namespace
}  // namespace weft::texture::fetch_test
