// The texture unit in time: latencies as the sum of the configured stages, requests by lines of the texture
// cache.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "texture/image_bench.h"

namespace weft::test::timing_test {
namespace {

std::vector<std::string> one_clock(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"sm.count=1", "clocks.core_mhz=700", "clocks.interconnect_mhz=700",
                                  "clocks.memory_mhz=700", "sm.texture.latency=47"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Linear memory whose texels 0 and 32 k are numbers of each other: a chain through two lines of 128 bytes, k
// lines apart.
runtime::Object two_numbers(GpuBench& bench, std::uint32_t lines) {
  std::vector<std::uint32_t> texels(32 * lines + 1, 0);
  texels[0] = 32 * lines;
  texture::Image image = texture::linear_image({texture::ChannelKind::kSigned, 32, 1},
                                               static_cast<std::uint32_t>(texels.size()));
  image.address = bench.words(texels);
  return runtime::create_texture(bench.device, {image, {}});
}

constexpr const char* kChase = "tex.1d.v4.s32.s32 {%r8, %r9, %r10, %r11}, [%rd3, {%r8}];";

// Issue, the texel's probe in the next cycle, the cache's latency, the filter.
TEST(TextureTiming, Hit) {
  GpuBench bench(one_clock());
  const auto& sm = bench.device.gpu().config().sm;
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy(kChase, {1, 1, 1}, two_numbers(bench, 1), "mov.u32 %r8, 0;"),
                   static_cast<double>(1 + sm.l1t.latency + 47));
}

// 32 threads take turns of four at the address stage: seven cycles more. (Threads start at 0 and go on
// together.)
TEST(TextureTiming, FullWarp) {
  GpuBench bench(one_clock());
  const auto& sm = bench.device.gpu().config().sm;
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy(kChase, {32, 1, 1}, two_numbers(bench, 1), "mov.u32 %r8, 0;"),
                   static_cast<double>(1 + 7 + sm.l1t.latency + 47));
}

// A texture cache of one line: every fetch goes to the L2, as a load does (tests/sm/latency_test.cpp), then
// through the filter.
TEST(TextureTiming, Miss) {
  GpuBench bench(one_clock({"sm.l1t.sets=1", "sm.l1t.ways=1", "l2.sector_bytes=0"}));
  const auto& config = bench.device.gpu().config();
  const auto flits = [&](std::uint64_t data) {
    return (8 + data + config.crossbar.flit_bytes - 1) / config.crossbar.flit_bytes;
  };
  const auto crossing = flits(0) + flits(config.sm.l1t.tags.line_bytes) + 2 * config.crossbar.router_latency;
  const auto probe = 1u, taken = 1u, written = 1u;
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy(kChase, {1, 1, 1}, two_numbers(bench, 8), "mov.u32 %r8, 0;"),
                   static_cast<double>(probe + crossing + config.l2.bank.latency + taken + written + 47));
}

// A query needs no memory: the unit's latency after the cycle of issue.
TEST(TextureTiming, Query) {
  GpuBench bench(one_clock());
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy("txq.width.b32 %r8, [%rd3];", {1, 1, 1}, two_numbers(bench, 1)), 48);
}

// 64 x 64 texels of f32; a line of 128 bytes is a tile of 8 x 4.
double requests_of(GpuBench& bench, const std::string& x, const std::string& y, texture::Filter filter) {
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kFloat, 32, 1};
  shape.width = shape.height = 64;
  texture::Sampler s;
  s.filter = filter;
  const auto object = runtime::create_texture(bench.device, {runtime::create_array(bench.device, shape), s});
  bench.load(looped_kernel("tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd3, {%f1, %f2}];",
                           "and.b32 %r8, %r2, 7; shr.u32 %r9, %r2, 3; cvt.rn.f32.u32 %f1, " + x +
                               "; cvt.rn.f32.u32 %f2, " + y +
                               "; add.f32 %f1, %f1, 0f3F000000; add.f32 %f2, %f2, 0f3F000000;"));
  const double before = bench.sum_over_sms({"memory", "read_requests"});
  bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(bench.zeros(256)).add(1u).add(object));
  return bench.sum_over_sms({"memory", "read_requests"}) - before;
}

TEST(TextureTiming, RequestsAreTiles) {
  GpuBench bench({"sm.count=1"});
  EXPECT_EQ(requests_of(bench, "%r8", "%r9", texture::Filter::kPoint), 1);  // 8 x 4 texels
  EXPECT_EQ(requests_of(bench, "%r2", "%r1", texture::Filter::kPoint), 4);  // a row of 32
  // At texels' middles the second texel of each axis has no weight but is read all the same: 9 x 5 texels.
  EXPECT_EQ(requests_of(bench, "%r8", "%r9", texture::Filter::kLinear), 4);
}

TEST(TextureTiming, CountsFetchesAndTexels) {
  GpuBench bench({"sm.count=1"});
  requests_of(bench, "%r8", "%r9", texture::Filter::kLinear);
  EXPECT_EQ(bench.sum_over_sms({"memory", "texture_fetches"}), 32);
  EXPECT_EQ(bench.sum_over_sms({"memory", "texels"}), 128);
}

}  // namespace
}  // namespace weft::test::timing_test
