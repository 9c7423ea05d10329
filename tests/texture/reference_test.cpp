// .texref, .surfref and .samplerref: as clang's back end writes them (tests/conformance/textures/*.ll), and
// with initial values as the PTX ISA describes them (5.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "texture/image_bench.h"
#include "texture/sampler.h"

namespace weft::test::reference_test {
namespace {

constexpr std::size_t kThreads = 64;

PlainImage plain_2d(std::mt19937& random) {
  return random_image(random, 2, {15, 11, 1}, 1, 'f', 32, 4);
}

std::vector<Four> read(const runtime::Device& device, runtime::Address from) {
  std::vector<Four> result(kThreads);
  device.copy_from(result.data(), from, kThreads * 16);
  return result;
}

TEST(References, TextureOfAModule) {
  ImageBench bench("references_clang19.ptx");
  std::mt19937 random(2);
  const PlainImage plain = plain_2d(random);
  texture::Sampler s;
  s.filter = texture::Filter::kLinear;
  runtime::bind(bench.device, bench.module, "texture",
                runtime::create_texture(bench.device, {bench.array(plain), s}));
  const auto at = random_coordinates(random, kThreads, -3, 18);
  const auto in = bench.vector_of(at), out = bench.device.allocate(kThreads * 16);
  bench.device.launch(bench.module, "by_reference", {1, 1, 1}, {kThreads, 1, 1},
                      runtime::Arguments().add(in).add(out));
  bench.device.synchronise();
  PlainSampler how;
  how.linear = true;
  const auto found = read(bench.device, out);
  for (std::size_t t = 0; t < kThreads; ++t) {
    ASSERT_EQ(found[t], fetch(plain, how, {at[t][0], at[t][1], 0}, 0)) << t;
  }
}

// The kernel adds the texel, the texture's width and the surface's.
TEST(References, ParametersAndQueries) {
  ImageBench bench("references_clang19.ptx");
  std::vector<std::int32_t> texels(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) texels[i] = static_cast<std::int32_t>(1000 + i);
  texture::Image linear = texture::linear_image({texture::ChannelKind::kSigned, 32, 1}, kThreads);
  linear.address = bench.device.allocate(linear.bytes);
  bench.device.copy_to(linear.address, texels.data(), linear.bytes);
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kSigned, 32, 1};
  shape.width = 7, shape.height = 3;
  const texture::Image target = runtime::create_array(bench.device, shape);
  const auto out = bench.device.allocate(kThreads * 4);
  bench.device.launch(bench.module, "by_parameter", {1, 1, 1}, {kThreads, 1, 1},
                      runtime::Arguments()
                          .add(runtime::create_texture(bench.device, {linear, {}}))
                          .add(runtime::create_surface(bench.device, target))
                          .add(out));
  bench.device.synchronise();
  std::vector<std::int32_t> found(kThreads);
  bench.device.copy_from(found.data(), out, kThreads * 4);
  for (std::size_t i = 0; i < kThreads; ++i) EXPECT_EQ(found[i], texels[i] + static_cast<int>(kThreads) + 7);
  std::vector<std::int32_t> stored(21);
  runtime::copy_from_array(bench.device, stored.data(), target);
  EXPECT_GE(stored[0], 1000);  // of whichever thread came last
  EXPECT_EQ(stored[1], 0);
}

// sust.p converts: to 16 bits, with saturation.
TEST(References, SurfaceOfAModuleFormatted) {
  ImageBench bench("references_clang19.ptx");
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kSigned, 16, 4};
  shape.width = 8, shape.height = 2;
  const texture::Image image = runtime::create_array(bench.device, shape);
  runtime::bind(bench.device, bench.module, "surface", runtime::create_surface(bench.device, image));
  bench.device.launch(bench.module, "to_surface", {1, 1, 1}, {8, 1, 1}, runtime::Arguments().add(32764));
  bench.device.synchronise();
  std::vector<std::int16_t> found(64);
  runtime::copy_from_array(bench.device, found.data(), image);
  for (int t = 0; t < 8; ++t) {
    const auto* texel = &found[32 + 4 * static_cast<std::size_t>(t)];
    EXPECT_THAT(std::vector<int>(texel, texel + 4),
                ::testing::ElementsAre(std::min(32764 + t, 32767), t, -5, 32767));
    EXPECT_EQ(found[static_cast<std::size_t>(4 * t)], 0);
  }
}

TEST(References, SamplerAsAParameter) {
  ImageBench bench("samplers_clang19.ptx");
  std::mt19937 random(4);
  const PlainImage plain = plain_2d(random);
  const auto object = runtime::create_texture(bench.device, {bench.array(plain), {}});
  texture::Sampler s;
  s.filter = texture::Filter::kLinear;
  s.normalized_coordinates = true;
  s.address = {texture::AddressMode::kWrap, texture::AddressMode::kMirror, texture::AddressMode::kClamp};
  const auto at = random_coordinates(random, kThreads, -2, 3);
  const auto in = bench.vector_of(at), out = bench.device.allocate(kThreads * 16);
  bench.device.launch(bench.module, "sampled", {1, 1, 1}, {kThreads, 1, 1},
                      runtime::Arguments().add(object).add(texture::encode(s)).add(in).add(out));
  bench.device.synchronise();
  PlainSampler how;
  how.linear = how.normalised_coordinates = true;
  how.beyond = {Beyond::kWrap, Beyond::kMirror, Beyond::kClamp};
  const auto found = read(bench.device, out);
  for (std::size_t t = 0; t < kThreads; ++t) {
    ASSERT_EQ(found[t], fetch(plain, how, {at[t][0], at[t][1], 0}, 0)) << t;
  }
}

TEST(References, SamplerWithAnInitialValue) {
  runtime::Device device(load_config("gtx480", {"sm.count=1"}), {});
  auto& module = device.load_module(R"(.version 8.0
.target sm_35, texmode_independent
.address_size 64
.global .texref image;
.global .samplerref repeat = { addr_mode_0 = wrap, addr_mode_1 = clamp_to_edge, filter_mode = nearest };
.global .samplerref whole = { addr_mode_0 = clamp_to_border, filter_mode = linear, force_unnormalized_coords = 1 };
.visible .entry k(.param .u64 out) {
  .reg .f32 %f<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.f32 %f1, 1.3125;
  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [image, repeat, {%f1}];
  tex.1d.v4.f32.f32 {%f6, %f7, %f8, %f9}, [image, whole, {%f1}];
  st.global.v2.f32 [%rd1], {%f2, %f6};
  ret;
})",
                                    "k.ptx");
  texture::ArrayShape shape;
  shape.geometry = texture::Geometry::k1d;
  shape.format = {texture::ChannelKind::kFloat, 32, 1};
  shape.width = 4;
  const texture::Image image = runtime::create_array(device, shape);
  const float texels[] = {10, 20, 30, 40};
  runtime::copy_to_array(device, image, texels);
  runtime::bind(device, module, "image", runtime::create_texture(device, {image, {}}));
  const auto out = device.allocate(8);
  device.launch(module, "k", {1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(out));
  device.synchronise();
  float found[2];
  device.copy_from(found, out, 8);
  EXPECT_EQ(found[0], 20);                        // 4 * 0.3125 = 1.25: texel 1
  EXPECT_EQ(found[1], 10 + (20 - 10) * 0.8125f);  // 1.3125 - 0.5 between texels 0 and 1
}

TEST(References, MistakesInTheText) {
  const auto message = [](const std::string& line) -> std::string {
    try {
      const auto module =
          ptx::parse(".version 8.0\n.target sm_35\n.address_size 64\n" + line + "\n", "m.ptx");
      for (const auto& kernel : module.kernels) ptx::decode(module, kernel, {{"image", 0x1'0000'0000}});
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message(".global .samplerref s = { addr_mode_0 = bend };"),
              HasSubstr("m.ptx:4:41: expected wrap, mirror"));
  EXPECT_THAT(message(".global .samplerref s = { colour = wrap };"), HasSubstr("found the field 'colour'"));
  EXPECT_THAT(message(".global .texref t = { width = 4 };"), HasSubstr("only a .samplerref"));
  const auto body = [](const std::string& line) {
    return ".global .texref image;\n.entry k() { .reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n" +
           line + "\nret; }";
  };
  EXPECT_EQ(message(body("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [image, {%f1,%f2}];")), "no error");
  EXPECT_THAT(message(body("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [image, {%f1}];")),
              HasSubstr("found 1 coordinates, expected 2"));
  EXPECT_THAT(message(body("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [image, {%rd1,%rd2}];")),
              HasSubstr("of type .b64, expected .f32"));
  EXPECT_THAT(message(body("tex.2d.v4.f32.f32 {%f1,%f2}, [image, {%f1,%f2}];")),
              HasSubstr("found 2 destinations"));
  EXPECT_THAT(message(body("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [other, {%f1,%f2}];")),
              HasSubstr("'other' is neither a 64-bit register nor a .texref"));
  EXPECT_THAT(message(body("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [image, {%f1,%f2}], {%r1,%r2};")),
              HasSubstr("offsets and depth comparison are not executable yet"));
  EXPECT_THAT(message(body("sust.b.2d.b32.trap [image, {%r1,%r2}], {%r3};")), HasSubstr("nor a .surfref"));
  EXPECT_THAT(message(body("sust.b.2d.v4.b64.trap [%rd1, {%r1,%r2}], {%rd1,%rd1,%rd1,%rd1};")),
              HasSubstr("at most 16 bytes"));
  EXPECT_THAT(message(body("tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [image, {%r1,%r2,%r3,%r3}];")),
              HasSubstr("multi-sampled"));
}

}  // namespace
}  // namespace weft::test::reference_test
