// Load-to-use latency of each level, by one thread that follows a chain of pointers; coalescing.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test {
namespace {

// All domains at one frequency, so that their cycles add up.
const std::vector<std::string> kOneClock = {"sm.count=1", "clocks.core_mhz=700",
                                            "clocks.interconnect_mhz=700", "clocks.memory_mhz=700"};

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

// Crossbar, one way: flits + router latency (modules/crossbar/README.md). The packet is a header of 8 bytes
// and data.
double crossing(const GpuConfig& config, std::uint64_t data) {
  const auto flit = config.crossbar.flit_bytes;
  return static_cast<double>((8 + data + flit - 1) / flit + config.crossbar.router_latency);
}

// Issue, probe in the next cycle, then the latency of the cache.
TEST(LoadToUse, L1Hit) {
  GpuBench bench(kOneClock);
  EXPECT_DOUBLE_EQ(chase(bench, 128), static_cast<double>(1 + bench.device.gpu().config().sm.l1d.latency));
}

// The probe's BEGIN_REQ starts the crossing; the SM takes the response at its first edge after the arrival,
// and the data are written one cycle later.
double beyond_l1(const GpuConfig& config, double memory) {
  const double probe = 1, taken = 1, written = 1;
  return probe + crossing(config, 0) + memory + crossing(config, config.sm.coalescer.block_bytes) + taken +
         written;
}

TEST(LoadToUse, L2Hit) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false"}));
  const auto& config = bench.device.gpu().config();
  EXPECT_DOUBLE_EQ(chase(bench, 128), beyond_l1(config, static_cast<double>(config.l2.bank.latency)));
}

// An L2 of one line per bank, and a chain through two lines of one row: each load misses and finds its row
// open.
TEST(LoadToUse, DramRowHit) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false", "l2.sets=1", "l2.ways=1"}));
  const auto& config = bench.device.gpu().config();
  // modules/gddr5/README.md, and modules/l2/README.md: a miss takes latency + memory's + 1.
  const auto& timing = config.gddr5.channel.scheduler.timing;
  const auto bursts = config.l2.bank.tags.line_bytes / timing.burst_bytes();
  ASSERT_GE(bursts, 1u);
  const auto dram = 1 + config.gddr5.channel.extra_latency + timing.cl +
                    (bursts - 1) * timing.column_gap_same_group() + timing.burst_cycles();
  EXPECT_DOUBLE_EQ(chase(bench, 128),
                   beyond_l1(config, static_cast<double>(config.l2.bank.latency + dram + 1)));
}

// Two rows of one bank: each load closes the row of the other, long after t_ras.
TEST(LoadToUse, DramRowConflict) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false", "l2.sets=1", "l2.ways=1"}));
  const auto& config = bench.device.gpu().config();
  const auto& timing = config.gddr5.channel.scheduler.timing;
  const auto& map = config.gddr5.map;
  const auto bursts = config.l2.bank.tags.line_bytes / timing.burst_bytes();
  const auto dram = 1 + config.gddr5.channel.extra_latency + timing.rp + timing.rcd + timing.cl +
                    (bursts - 1) * timing.column_gap_same_group() + timing.burst_cycles();
  const auto next_row = map.row_bytes * map.banks * map.channels;
  EXPECT_DOUBLE_EQ(chase(bench, next_row),
                   beyond_l1(config, static_cast<double>(config.l2.bank.latency + dram + 1)));
}

TEST(Coalescing, StrideSTakesSRequestsPerWarp) {
  GpuBench bench({"sm.count=1", "sm.l1d.enabled=false"});
  const auto out = bench.zeros(4096);
  const auto data = bench.zeros(32 * 32 * 4 + 128);
  double before = 0;
  for (const std::uint32_t stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
    bench.load(looped_kernel(
        "ld.global.u32 %r8, [%rd5];",
        "mul.wide.u32 %rd4, %r2, " + std::to_string(4 * stride) + ";\n add.u64 %rd5, %rd3, %rd4;"));
    bench.run({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out).add(5u).add(data));
    const double requests = bench.sum_over_sms("memory.read_requests");
    // Two warps, five turns; the blocks are 128 bytes, 32 words.
    EXPECT_EQ(requests - before, 2 * 5 * stride) << stride;
    before = requests;
  }
}

}  // namespace
}  // namespace weft::test
