// Load-to-use latency of each level, by one thread that follows a chain of pointers; coalescing.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test {
namespace {

// All domains at one frequency, so that their cycles add up.
const std::vector<std::string> kOneClock = {"sm.count=1", "clocks.core_mhz=700", "clocks.interconnect_mhz=700",
                                            "clocks.memory_mhz=700"};

std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

// Two pointers, `bytes` apart, each to the other.
runtime::Address two_pointers(GpuBench& bench, std::uint64_t bytes) {
  const auto a = bench.zeros(bytes + 8);
  const auto b = a + bytes;
  bench.device.copy_to(a, &b, 8);
  bench.device.copy_to(b, &a, 8);
  return a;
}

double chase(GpuBench& bench, std::uint64_t apart) {
  return bench.cycles_per_copy("ld.global.u64 %rd3, [%rd3];", {1, 1, 1}, two_pointers(bench, apart));
}

// Crossbar, one way: flits + router latency (modules/crossbar/README.md). The packet is a header of 8 bytes and data.
double crossing(const GpuConfig& config, std::uint64_t data) {
  const auto flit = config.crossbar.flit_bytes;
  return static_cast<double>((8 + data + flit - 1) / flit + config.crossbar.router_latency);
}

// Issue, probe in the next cycle, then the latency of the cache.
TEST(LoadToUse, L1Hit) {
  GpuBench bench(kOneClock);
  EXPECT_DOUBLE_EQ(chase(bench, 128), static_cast<double>(1 + bench.device.gpu().config().sm.l1d.latency));
}

// From the SM's probe to its BEGIN_REQ no time passes; the crossbar sees it at its next edge, and the SM the response
// at its own next edge, one cycle before the data are written.
double beyond_l1(const GpuConfig& config, double memory) {
  const double probe = 1, to_crossbar_edge = 1, to_sm_edge = 1, fill = 1;
  return probe + to_crossbar_edge + crossing(config, 0) + memory + crossing(config, config.sm.l1d.line_bytes) + to_sm_edge +
         fill;
}

TEST(LoadToUse, L2Hit) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false"}));
  const auto& config = bench.device.gpu().config();
  EXPECT_DOUBLE_EQ(chase(bench, 128), beyond_l1(config, static_cast<double>(config.l2.bank.latency)));
}

// An L2 of one line per bank, and a chain through two lines of one row: each load misses and finds its row open.
TEST(LoadToUse, DramRowHit) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false", "l2.sets=1", "l2.ways=1"}));
  const auto& config = bench.device.gpu().config();
  const auto& dram = config.gddr5.channel.scheduler.timing;
  (void)dram;
  GTEST_FAIL() << chase(bench, 128);
}

TEST(Coalescing, StrideSTakesSRequestsPerWarp) {
  GpuBench bench({"sm.count=1", "sm.l1d.enabled=false"});
  const auto out = bench.zeros(4096);
  const auto data = bench.zeros(32 * 32 * 4 + 128);
  double before = 0;
  for (const std::uint32_t stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
    bench.load(looped_kernel("ld.global.u32 %r8, [%rd5];", "mul.wide.u32 %rd4, %r2, " + std::to_string(4 * stride) +
                                                             ";\n add.u64 %rd5, %rd3, %rd4;"));
    bench.run({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out).add(5u).add(data));
    const double requests = bench.sum_over_sms("memory.read_requests");
    // Two warps, five turns; the blocks are 128 bytes, 32 words.
    EXPECT_EQ(requests - before, 2 * 5 * stride) << stride;
    before = requests;
  }
}

}  // namespace
}  // namespace weft::test
