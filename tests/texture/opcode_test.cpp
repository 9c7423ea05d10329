// The texture and surface opcodes that compilers emit (tests/conformance/opcodes.txt), each written as PTX
// text and executed by 10,240 threads with random operands: fetches against the oracle, stores against a
// plain array.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "texture/image_bench.h"

namespace weft::test::opcode_test {
namespace {

constexpr std::size_t kThreads = 10'240;

// %r4 to %r7: the thread's operands; %r8 to %r11: its results.
std::string kernel(const std::string& instruction) {
  return R"(.version 8.8
.target sm_100
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 in, .param .u64 out) {
  .reg .b32 %r<16>; .reg .b16 %h<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [object];
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd4, %r1, 16;
  add.u64 %rd2, %rd2, %rd4;
  add.u64 %rd3, %rd3, %rd4;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2];
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd3];
  )" + instruction +
         "\n  st.global.v4.u32 [%rd3], {%r8, %r9, %r10, %r11};\n  ret;\n}\n";
}

// Runs the kernel with one thread per operand vector; `values`: before and after.
void run(ImageBench& bench, const std::string& instruction, runtime::Object object,
         const std::vector<Four>& operands, std::vector<Four>& values) {
  const auto in = bench.device.allocate(kThreads * 16), out = bench.device.allocate(kThreads * 16);
  bench.device.copy_to(in, operands.data(), kThreads * 16);
  bench.device.copy_to(out, values.data(), kThreads * 16);
  bench.device.launch(bench.device.load_module(kernel(instruction), "k.ptx"), "k", {kThreads / 128, 1, 1},
                      {128, 1, 1}, runtime::Arguments().add(object).add(in).add(out));
  bench.device.synchronise();
  bench.device.copy_from(values.data(), out, kThreads * 16);
}

std::uint32_t bits(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, 4);
  return word;
}
float real(std::uint32_t word) {
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

// --- fetches ---

struct Fetch {
  const char* opcode;
  const char* coordinates;  // registers
  unsigned dimensions;
  std::array<int, 3> size;
  int layers;
  char kind;
  bool linear;
};

class FetchOpcode : public ::testing::TestWithParam<Fetch> {};

TEST_P(FetchOpcode, RandomCoordinatesAgainstTheOracle) {
  const Fetch& c = GetParam();
  ImageBench bench("images_nvcc13.ptx");
  std::mt19937 random(11);
  const PlainImage plain = random_image(random, c.dimensions, c.size, c.layers, c.kind, 32, 4);
  PlainSampler how;
  how.linear = c.linear;
  texture::Sampler s;
  s.filter = c.linear ? texture::Filter::kLinear : texture::Filter::kPoint;
  const auto object = runtime::create_texture(bench.device, {bench.array(plain, c.layers > 1), s});
  const auto at = random_coordinates(random, kThreads, -20, 60);
  std::vector<Four> operands(kThreads), found(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    operands[t] = {bits(at[t][0]), bits(at[t][1]), bits(at[t][2]),
                   static_cast<std::uint32_t>(random()) % static_cast<unsigned>(c.layers)};
  }
  run(bench, std::string(c.opcode) + " {%r8, %r9, %r10, %r11}, [%rd1, {" + c.coordinates + "}];", object,
      operands, found);
  for (std::size_t t = 0; t < kThreads; ++t) {
    const Four expected = fetch(plain, how, {at[t][0], c.dimensions > 1 ? at[t][1] : 0.0f, at[t][2]},
                                static_cast<int>(operands[t][3]));
    ASSERT_EQ(found[t], expected) << c.opcode << ", thread " << t;
  }
}

std::string name_of_opcode(std::string opcode) {
  std::replace(opcode.begin(), opcode.end(), '.', '_');
  return opcode;
}

INSTANTIATE_TEST_SUITE_P(
    Opcodes, FetchOpcode,
    ::testing::Values(Fetch{"tex.1d.v4.f32.f32", "%r4", 1, {37, 1, 1}, 1, 'f', true},
                      Fetch{"tex.2d.v4.f32.f32", "%r4, %r5", 2, {37, 23, 1}, 1, 'f', true},
                      Fetch{"tex.2d.v4.s32.f32", "%r4, %r5", 2, {37, 23, 1}, 1, 's', false},
                      Fetch{"tex.2d.v4.u32.f32", "%r4, %r5", 2, {37, 23, 1}, 1, 'u', false},
                      Fetch{"tex.3d.v4.f32.f32", "%r4, %r5, %r6, %r6", 3, {37, 23, 11}, 1, 'f', true},
                      Fetch{"tex.a2d.v4.f32.f32", "%r7, %r4, %r5, %r5", 2, {37, 23, 1}, 7, 'f', true}),
    [](const auto& info) { return name_of_opcode(info.param.opcode); });

// Texels of linear memory by number; 0 outside.
class NumberOpcode : public ::testing::TestWithParam<const char*> {};

TEST_P(NumberOpcode, RandomNumbersAgainstMemory) {
  const std::string opcode = GetParam();
  ImageBench bench("images_nvcc13.ptx");
  std::mt19937 random(12);
  const PlainImage plain = random_image(random, 1, {3000, 1, 1}, 1, opcode[10], 32, 4);
  texture::Image image = texture::linear_image(format_of(plain), 3000);
  image.address = bench.device.allocate(image.bytes);
  bench.device.copy_to(image.address, plain.texels.data(), image.bytes);
  std::vector<Four> operands(kThreads), found(kThreads);
  for (auto& operand : operands) {
    // A tenth anywhere, the others near the texels.
    const auto word = static_cast<std::uint32_t>(random());
    operand[0] = word % 10 == 0 ? static_cast<std::uint32_t>(random()) : random() % 3400u - 200u;
  }
  run(bench, opcode + " {%r8, %r9, %r10, %r11}, [%rd1, {%r4}];",
      runtime::create_texture(bench.device, {image, {}}), operands, found);
  std::size_t inside = 0;
  for (std::size_t t = 0; t < kThreads; ++t) {
    Four expected{};
    if (operands[t][0] < 3000) {
      std::memcpy(expected.data(), &plain.texels[std::size_t{operands[t][0]} * 16], 16);
      ++inside;
    }
    ASSERT_EQ(found[t], expected) << operands[t][0];
  }
  EXPECT_GT(inside, kThreads / 2);
}

INSTANTIATE_TEST_SUITE_P(Opcodes, NumberOpcode,
                         ::testing::Values("tex.1d.v4.f32.s32", "tex.1d.v4.s32.s32", "tex.1d.v4.u32.s32"),
                         [](const auto& info) { return name_of_opcode(info.param); });

// tex.cube.v4.f32.f32
TEST(CubeOpcode, RandomDirections) {
  ImageBench bench("images_nvcc13.ptx");
  std::mt19937 random(13);
  PlainImage plain = random_image(random, 2, {16, 16, 1}, 6, 'f', 32, 4);
  plain.cube = true;
  const auto directions = random_coordinates(random, kThreads, -1, 1);
  std::vector<Four> operands(kThreads), found(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    for (std::size_t i = 0; i < 3; ++i) operands[t][i] = bits(directions[t][i]);
  }
  run(bench, "tex.cube.v4.f32.f32 {%r8, %r9, %r10, %r11}, [%rd1, {%r4, %r5, %r6, %r6}];",
      runtime::create_texture(bench.device, {bench.array(plain), {}}), operands, found);
  for (std::size_t t = 0; t < kThreads; ++t) {
    ASSERT_EQ(found[t], fetch_cube(plain, {directions[t][0], directions[t][1], directions[t][2]})) << t;
  }
}

// tex.level.2d.v4.f32.f32: the nearest of three levels, each with texels of its own.
TEST(LevelOpcode, RandomCoordinatesAndLevels) {
  ImageBench bench("images_nvcc13.ptx");
  std::mt19937 random(14);
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kFloat, 32, 4};
  shape.width = 32, shape.height = 16, shape.levels = 3;
  const texture::Image image = runtime::create_array(bench.device, shape);
  std::vector<PlainImage> levels;
  for (unsigned level = 0; level < 3; ++level) {
    levels.push_back(random_image(random, 2, {32 >> level, 16 >> level, 1}, 1, 'f', 32, 4));
    runtime::copy_to_array(bench.device, image, levels.back().texels.data(), level);
  }
  texture::Sampler s;
  s.normalized_coordinates = true;
  s.filter = texture::Filter::kLinear;
  PlainSampler how;
  how.linear = how.normalised_coordinates = true;
  const auto at = random_coordinates(random, kThreads, -0.5f, 1.5f);
  std::vector<Four> operands(kThreads), found(kThreads);
  std::vector<std::size_t> wanted(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    wanted[t] = random() % 3;
    const float lod = static_cast<float>(wanted[t]) + 0.4f * (at[t][2] - 0.5f);  // less than 0.5 away
    operands[t] = {bits(at[t][0]), bits(at[t][1]), 0, bits(lod)};
  }
  run(bench, "tex.level.2d.v4.f32.f32 {%r8, %r9, %r10, %r11}, [%rd1, {%r4, %r5}], %r7;",
      runtime::create_texture(bench.device, {image, s}), operands, found);
  for (std::size_t t = 0; t < kThreads; ++t) {
    ASSERT_EQ(found[t], fetch(levels[wanted[t]], how, {at[t][0], at[t][1], 0}, 0))
        << t << ", lod " << real(operands[t][3]);
  }
}

// --- stores ---

struct Store {
  const char* opcode;
  const char* place;  // x in bytes
  const char* values;
  unsigned dimensions;
  std::array<std::uint32_t, 3> size;
  std::uint32_t layers;
  unsigned bits, channels;
};

class StoreOpcode : public ::testing::TestWithParam<Store> {};

// Every thread stores into a texel of its own, in random order.
TEST_P(StoreOpcode, RandomValuesIntoAllTexels) {
  const Store& c = GetParam();
  ImageBench bench("images_nvcc13.ptx");
  std::mt19937 random(15);
  const std::size_t texel = c.bits / 8 * c.channels;
  PlainImage plain =
      random_image(random, c.dimensions,
                   {static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])},
                   static_cast<int>(c.layers), 'u', c.bits, c.channels);
  ASSERT_EQ(plain.texels.size(), kThreads * texel);
  const texture::Image image = bench.array(plain, c.layers > 1);
  std::vector<std::uint32_t> order(kThreads);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Four> operands(kThreads), values(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    const std::uint32_t x = order[t] % c.size[0], y = order[t] / c.size[0] % c.size[1],
                        rest = order[t] / c.size[0] / c.size[1];
    operands[t] = {x * static_cast<std::uint32_t>(texel), y, rest, 0};
    for (unsigned k = 0; k < c.channels; ++k) {
      values[t][k] = static_cast<std::uint32_t>(random());
      std::memcpy(&plain.texels[order[t] * texel + k * c.bits / 8], &values[t][k], c.bits / 8);
    }
  }
  const std::string store = std::string(c.opcode) + " [%rd1, {" + c.place + "}], {";
  const std::string narrow =
      "cvt.u16.u32 %h0, %r8; cvt.u16.u32 %h1, %r9; cvt.u16.u32 %h2, %r10; "
      "cvt.u16.u32 %h3, %r11;\n  ";
  run(bench, (c.bits == 8 ? narrow : "") + store + c.values + "};",
      runtime::create_surface(bench.device, image), operands, values);
  std::vector<std::uint8_t> found(plain.texels.size());
  runtime::copy_from_array(bench.device, found.data(), image);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i], plain.texels[i]) << c.opcode << ", byte " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Opcodes, StoreOpcode,
    ::testing::Values(
        Store{"sust.b.1d.v4.b32.trap", "%r4", "%r8, %r9, %r10, %r11", 1, {10'240, 1, 1}, 1, 32, 4},
        Store{"sust.b.2d.b32.trap", "%r4, %r5", "%r8", 2, {128, 80, 1}, 1, 32, 1},
        Store{"sust.b.2d.v4.b8.trap", "%r4, %r5", "%h0, %h1, %h2, %h3", 2, {128, 80, 1}, 1, 8, 4},
        Store{"sust.b.3d.b8.trap", "%r4, %r5, %r6, %r6", "%h0", 3, {32, 20, 16}, 1, 8, 1},
        Store{"sust.b.a2d.v4.b32.trap",
              "%r6, %r4, %r5, %r5",
              "%r8, %r9, %r10, %r11",
              2,
              {32, 32, 1},
              10,
              32,
              4}),
    [](const auto& info) { return name_of_opcode(info.param.opcode); });

}  // namespace
}  // namespace weft::test::opcode_test
