// Kernels of our own as nvcc 13 compiles them (tests/conformance/textures/images.cu), in a whole GPU: every
// thread's result against the oracle, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "texture/image_bench.h"

namespace weft::test::compiled_test {
namespace {

constexpr const char* kModule = "images_nvcc13.ptx";
constexpr std::size_t kThreads = 512;

texture::Sampler device_sampler(const PlainSampler& plain) {
  constexpr texture::AddressMode kModes[] = {texture::AddressMode::kWrap, texture::AddressMode::kClamp,
                                             texture::AddressMode::kMirror, texture::AddressMode::kBorder};
  texture::Sampler s;
  for (unsigned i = 0; i < 3; ++i) s.address[i] = kModes[static_cast<unsigned>(plain.beyond[i])];
  s.filter = plain.linear ? texture::Filter::kLinear : texture::Filter::kPoint;
  s.normalized_coordinates = plain.normalised_coordinates;
  s.normalized_values = plain.as_float;
  s.border = plain.border;
  return s;
}

// Which kernel reads what how. `layer_in_w`: the fourth coordinate is a layer.
struct Case {
  const char* kernel;
  unsigned dimensions;
  std::array<int, 3> size;
  int layers;
  char kind;
  unsigned bits, channels;
  bool linear, normalised, as_float;
  Beyond beyond;
};

class Compiled : public ::testing::TestWithParam<Case> {};

void compare(const Case& c, bool functional) {
  std::mt19937 random(7);
  ImageBench bench(kModule, functional);
  const bool layered = c.layers > 1;
  const PlainImage plain = random_image(random, c.dimensions, c.size, c.layers, c.kind, c.bits, c.channels);
  PlainSampler how;
  how.beyond = {c.beyond, c.beyond, c.beyond};
  how.linear = c.linear, how.normalised_coordinates = c.normalised, how.as_float = c.as_float;
  how.border = {0.25f, 0.5f, 0.75f, 1};
  const float reach = c.normalised ? 1.0f : static_cast<float>(c.size[0]);
  auto coordinates = random_coordinates(random, kThreads, -reach, 2 * reach);
  for (auto& at : coordinates) at[3] = static_cast<float>(random() % (static_cast<unsigned>(c.layers) + 1));
  const auto object =
      runtime::create_texture(bench.device, {bench.array(plain, layered), device_sampler(how)});
  const auto found = bench.run(c.kernel, object, coordinates);
  for (std::size_t t = 0; t < kThreads; ++t) {
    const int layer = std::min(static_cast<int>(coordinates[t][3]), c.layers - 1);
    Four expected =
        fetch(plain, how, {coordinates[t][0], coordinates[t][1], coordinates[t][2]}, layered ? layer : 0);
    if (c.channels == 2) expected[2] = expected[3] = 0;  // fetch_2d_s16 writes two
    ASSERT_EQ(found[t], expected) << "thread " << t;
  }
}

TEST_P(Compiled, EveryThreadAgreesWithTheOracle) {
  compare(GetParam(), false);
}
TEST_P(Compiled, WithoutTiming) {
  compare(GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(
    Nvcc, Compiled,
    ::testing::Values(Case{"fetch_1d", 1, {61, 1, 1}, 1, 'f', 32, 4, true, true, false, Beyond::kMirror},
                      Case{"fetch_2d", 2, {33, 21, 1}, 1, 'f', 32, 4, true, false, false, Beyond::kClamp},
                      Case{"fetch_2d", 2, {33, 21, 1}, 1, 'u', 8, 4, true, true, true, Beyond::kWrap},
                      Case{"fetch_2d", 2, {20, 50, 1}, 1, 'f', 16, 4, false, true, false, Beyond::kBorder},
                      Case{"fetch_2d_u8", 2, {19, 17, 1}, 1, 'u', 8, 4, false, false, false, Beyond::kClamp},
                      Case{"fetch_2d_s16", 2, {40, 9, 1}, 1, 's', 16, 2, false, true, false, Beyond::kWrap},
                      Case{"fetch_3d", 3, {9, 7, 5}, 1, 'f', 32, 4, true, true, false, Beyond::kBorder},
                      Case{"fetch_3d", 3, {9, 7, 5}, 1, 's', 16, 4, true, true, true, Beyond::kMirror},
                      Case{"fetch_a1d", 1, {40, 1, 1}, 3, 'f', 32, 4, true, false, false, Beyond::kClamp},
                      Case{"fetch_a2d", 2, {12, 14, 1}, 5, 'f', 32, 4, true, true, false, Beyond::kWrap}),
    [](const auto& info) {
      return std::string(info.param.kernel) + "_" + info.param.kind + std::to_string(info.param.bits);
    });

// tex1Dfetch: texels by number; 0 outside.
TEST(CompiledLinear, ReadsMemoryByNumber) {
  ImageBench bench(kModule);
  std::mt19937 random(3);
  const PlainImage plain = random_image(random, 1, {100, 1, 1}, 1, 'u', 32, 4);
  texture::Image image = texture::linear_image(format_of(plain), 100);
  image.address = bench.device.allocate(image.bytes);
  bench.device.copy_to(image.address, plain.texels.data(), image.bytes);
  const auto object = runtime::create_texture(bench.device, {image, {}});
  const auto at = random_coordinates(random, kThreads, -20, 120);
  const auto found = bench.run("fetch_linear_u32", object, at);
  unsigned inside = 0;
  for (std::size_t t = 0; t < kThreads; ++t) {
    const int i = static_cast<int>(at[t][0]);
    Four expected{};
    if (i >= 0 && i < 100) {
      std::memcpy(expected.data(), &plain.texels[static_cast<std::size_t>(i) * 16], 16);
      ++inside;
    }
    ASSERT_EQ(found[t], expected) << i;
  }
  EXPECT_GT(inside, kThreads / 2);
  EXPECT_LT(inside, kThreads);
}

// Levels of equal texels: 1, 2 and 4 at lod 0, 1 and 2, halfway between in between.
TEST(CompiledLevels, OfALodAndOfSlopes) {
  ImageBench bench(kModule);
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kFloat, 32, 4};
  shape.width = shape.height = 4, shape.levels = 3;
  const texture::Image image = runtime::create_array(bench.device, shape);
  for (unsigned level = 0; level < 3; ++level) {
    const std::vector<float> texels(runtime::level_bytes(image, level) / 4, static_cast<float>(1u << level));
    runtime::copy_to_array(bench.device, image, texels.data(), level);
  }
  texture::Sampler s;
  s.normalized_coordinates = true;
  s.filter = s.level_filter = texture::Filter::kLinear;
  const auto object = runtime::create_texture(bench.device, {image, s});
  std::vector<std::array<float, 4>> lods(64), slopes(64);
  for (unsigned t = 0; t < 64; ++t) {
    lods[t] = {0.1f * static_cast<float>(t), 0.5f, static_cast<float>(t) / 32, 0};
    // 2^(t/32) texels of 4 along x, half of that along y
    slopes[t] = {0.5f, 0.25f, std::exp2(static_cast<float>(t) / 32) / 4,
                 std::exp2(static_cast<float>(t) / 32) / 8};
  }
  const auto by_lod = bench.run("fetch_2d_level", object, lods),
             by_slope = bench.run("fetch_2d_slopes", object, slopes);
  for (unsigned t = 0; t < 64; ++t) {
    const float lod = static_cast<float>(t) / 32;
    const float expected = lod < 1 ? 1 + lod : 2 + 2 * (lod - 1);
    float value;
    std::memcpy(&value, by_lod[t].data(), 4);
    EXPECT_EQ(value, expected) << lod;
    std::memcpy(&value, by_slope[t].data(), 4);
    EXPECT_NEAR(value, expected, 0.02) << lod;  // log2 of an f32, then 1/256
  }
}

TEST(CompiledGather, FourTexelsOfOneChannel) {
  ImageBench bench(kModule);
  std::mt19937 random(9);
  const PlainImage plain = random_image(random, 2, {16, 16, 1}, 1, 'f', 32, 4);
  const auto object = runtime::create_texture(bench.device, {bench.array(plain), {}});
  std::vector<std::array<float, 4>> at(64);
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned x = 1 + t % 15, y = 1 + t / 15;
    at[t] = {static_cast<float>(x), static_cast<float>(y), 0, 0};
  }
  const auto found = bench.run("gather_green", object, at);
  for (unsigned t = 0; t < 64; ++t) {
    const float x = at[t][0], y = at[t][1];
    const auto green = [&](float dx, float dy) { return fetch(plain, {}, {x + dx, y + dy, 0}, 0)[1]; };
    EXPECT_EQ(found[t],
              (Four{green(-0.5f, 0.5f), green(0.5f, 0.5f), green(0.5f, -0.5f), green(-0.5f, -0.5f)}))
        << t;
  }
}

TEST(CompiledCube, ReadsTheFaceThatTheDirectionMeets) {
  ImageBench bench(kModule);
  std::mt19937 random(5);
  PlainImage plain = random_image(random, 2, {8, 8, 1}, 6, 'f', 32, 4);
  plain.cube = true;
  const auto object = runtime::create_texture(bench.device, {bench.array(plain), {}});
  const auto directions = random_coordinates(random, kThreads, -1, 1);
  const auto found = bench.run("fetch_cube", object, directions);
  for (std::size_t t = 0; t < kThreads; ++t) {
    ASSERT_EQ(found[t], fetch_cube(plain, {directions[t][0], directions[t][1], directions[t][2]})) << t;
  }
}

// --- surfaces ---

// Runs a copying kernel from one array to another and returns what the second then holds.
std::vector<std::uint8_t> copied(ImageBench& bench, const std::string& kernel, const PlainImage& plain,
                                 bool layered, std::uint32_t threads, runtime::Arguments& arguments) {
  const texture::Image from = bench.array(plain, layered);
  PlainImage empty = plain;
  std::fill(empty.texels.begin(), empty.texels.end(), std::uint8_t{0});
  const texture::Image to = bench.array(empty, layered);
  runtime::Arguments all;
  all.add(runtime::create_surface(bench.device, from)).add(runtime::create_surface(bench.device, to));
  for (const auto& value : arguments.values()) all.add_bytes(value);
  bench.device.launch(bench.module, kernel, {1, 1, 1}, {threads, 1, 1}, all);
  bench.device.synchronise();
  std::vector<std::uint8_t> result(plain.texels.size());
  runtime::copy_from_array(bench.device, result.data(), to);
  return result;
}

TEST(CompiledSurfaces, Copy1dBackwards) {
  ImageBench bench(kModule);
  std::mt19937 random(1);
  const PlainImage plain = random_image(random, 1, {50, 1, 1}, 1, 'f', 32, 4);
  const auto result = copied(bench, "copy_1d", plain, false, 64, runtime::Arguments().add(50));
  for (std::size_t x = 0; x < 50; ++x) {
    ASSERT_EQ(std::memcmp(&result[(49 - x) * 16], &plain.texels[x * 16], 16), 0) << x;
  }
}

TEST(CompiledSurfaces, Copy2dTurned) {
  ImageBench bench(kModule);
  std::mt19937 random(1);
  const PlainImage plain = random_image(random, 2, {21, 13, 1}, 1, 'u', 8, 4);
  const auto result = copied(bench, "copy_2d", plain, false, 288, runtime::Arguments().add(21).add(13));
  for (std::size_t t = 0; t < 21 * 13; ++t) {
    ASSERT_EQ(std::memcmp(&result[(21 * 13 - 1 - t) * 4], &plain.texels[t * 4], 4), 0) << t;
  }
}

TEST(CompiledSurfaces, CopyVolumeAndLayers) {
  ImageBench bench(kModule);
  std::mt19937 random(1);
  const PlainImage volume = random_image(random, 3, {8, 4, 4}, 1, 'u', 8, 1);
  EXPECT_EQ(copied(bench, "copy_3d", volume, false, 128, runtime::Arguments().add(8).add(4)), volume.texels);
  const PlainImage layers = random_image(random, 2, {4, 8, 1}, 4, 'f', 32, 4);
  EXPECT_EQ(copied(bench, "copy_a2d", layers, true, 128, runtime::Arguments().add(4).add(8)), layers.texels);
}

TEST(CompiledSurfaces, Outside) {
  ImageBench bench(kModule);
  std::mt19937 random(1);
  PlainImage plain = random_image(random, 2, {16, 16, 1}, 1, 'u', 32, 1);
  const texture::Image image = bench.array(plain);
  const auto out = bench.device.allocate(256);
  bench.device.launch(bench.module, "outside", {1, 1, 1}, {32, 1, 1},
                      runtime::Arguments().add(runtime::create_surface(bench.device, image)).add(out));
  bench.device.synchronise();
  std::array<std::uint32_t, 64> words{};
  bench.device.copy_from(words.data(), out, 256);
  std::array<std::uint32_t, 256> before{}, after{};
  std::memcpy(before.data(), plain.texels.data(), 1024);
  runtime::copy_from_array(bench.device, after.data(), image);
  for (int t = 0; t < 32; ++t) {
    const int x = t - 8, clamped = std::clamp(x, 0, 15);
    const auto at = static_cast<std::size_t>(t);
    EXPECT_EQ(words[at], before[static_cast<std::size_t>(17 * clamped)]) << x;
    EXPECT_EQ(words[at + 32], x >= 0 && x < 16 ? before[static_cast<std::size_t>(x)] : 0) << x;
  }
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(after[i], i / 16 == 1 ? 1000 + 8 + i % 16 : before[i]) << i;
  }
}

}  // namespace
}  // namespace weft::test::compiled_test
