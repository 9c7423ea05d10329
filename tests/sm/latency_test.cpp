// Load-to-use latency of each level, by one thread that follows a chain of pointers; coalescing.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test::latency_test {
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
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false", "l2.sector_bytes=0"}));
  const auto& config = bench.device.gpu().config();
  EXPECT_DOUBLE_EQ(chase(bench, 128), beyond_l1(config, static_cast<double>(config.l2.bank.latency)));
}

// The bank looks at a sector per cycle.
TEST(LoadToUse, L2HitOfFourSectors) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false", "l2.sector_bytes=32"}));
  const auto& config = bench.device.gpu().config();
  ASSERT_EQ(config.sm.coalescer.block_bytes, 128u);
  EXPECT_DOUBLE_EQ(chase(bench, 128), beyond_l1(config, static_cast<double>(config.l2.bank.latency + 3)));
}

// An L2 of one line per bank, and a chain through two lines of one row: each load misses and finds its row
// open.
TEST(LoadToUse, DramRowHit) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false", "l2.sector_bytes=0", "l2.sets=1", "l2.ways=1"}));
  const auto& config = bench.device.gpu().config();
  // modules/dram/README.md, and modules/l2/README.md: a miss takes latency + memory's + 1.
  const auto& timing = config.dram.channel.scheduler.timing;
  const auto bursts = config.l2.bank.tags.line_bytes / timing.burst_bytes();
  ASSERT_GE(bursts, 1u);
  const auto dram = 1 + config.dram.channel.extra_latency + timing.cl +
                    (bursts - 1) * timing.column_gap_same_group() + timing.burst_cycles();
  EXPECT_DOUBLE_EQ(chase(bench, 128),
                   beyond_l1(config, static_cast<double>(config.l2.bank.latency + dram + 1)));
}

// Two rows of one bank: each load closes the row of the other, long after t_ras.
TEST(LoadToUse, DramRowConflict) {
  GpuBench bench(with(kOneClock, {"sm.l1d.enabled=false", "l2.sector_bytes=0", "l2.sets=1", "l2.ways=1"}));
  const auto& config = bench.device.gpu().config();
  const auto& timing = config.dram.channel.scheduler.timing;
  const auto& map = config.dram.map;
  const auto bursts = config.l2.bank.tags.line_bytes / timing.burst_bytes();
  const auto dram = 1 + config.dram.channel.extra_latency + timing.rp + timing.rcd + timing.cl +
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
    const double requests = bench.sum_over_sms({"memory", "read_requests"});
    // Two warps, five turns; the blocks are 128 bytes, 32 words.
    EXPECT_EQ(requests - before, 2 * 5 * stride) << stride;
    before = requests;
  }
}

// A warp counts in a line of its own, ten turns; each thread then stores one word elsewhere.
struct CountInMemory {
  explicit CountInMemory(const std::vector<std::string>& overrides)
      : bench(with({"sm.count=2"}, overrides)), out(bench.zeros(4096)), data(bench.zeros(4096)) {
    bench.load(looped_kernel("ld.global.u32 %r8, [%rd5]; add.u32 %r8, %r8, 1; st.global.u32 [%rd5], %r8;",
                             "mul.wide.u32 %rd4, %r2, 4;\n add.u64 %rd5, %rd3, %rd4;"));
  }
  std::uint64_t run() {
    return bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out).add(10u).add(data));
  }
  double memory(const char* counter) { return bench.sum_over_sms({"memory", counter}); }
  GpuBench bench;
  const runtime::Address out, data;
};

TEST(DataCache, WrittenThroughEveryStoreIsSent) {
  CountInMemory count({"sm.l1d.write_hit=update"});
  count.run();
  EXPECT_EQ(count.memory("write_requests"), 11);
  EXPECT_EQ(count.memory("read_requests"), 1);
  EXPECT_EQ(count.memory("coalesced_requests"), 21);
}

TEST(DataCache, WrittenBackALineIsSentAtTheEndOfTheKernel) {
  CountInMemory count({"sm.l1d.write_policy=back"});
  count.run();
  EXPECT_EQ(count.memory("stores_absorbed"), 10);
  EXPECT_EQ(count.memory("write_backs"), 1);
  EXPECT_EQ(count.memory("write_requests"), 2) << "and the result";
  EXPECT_EQ(count.bench.read(count.data, 32), std::vector<std::uint32_t>(32, 10));
  count.run();
  EXPECT_EQ(count.memory("read_requests"), 2) << "the cache was empty again";
  EXPECT_EQ(count.memory("write_backs"), 2);
  EXPECT_EQ(count.bench.read(count.data, 32), std::vector<std::uint32_t>(32, 20));
}

// The result, 32 words, is stored once: all of a line, and half of one.
TEST(DataCache, AStoreThatMissesTakesAPlaceAndFetchesWhatItDoesNotWrite) {
  for (const unsigned threads : {32u, 16u}) {
    const std::string requests = apart([threads] {
      CountInMemory count({"sm.l1d.write_policy=back", "sm.l1d.write_miss=fetch"});
      count.bench.run({1, 1, 1}, {threads, 1, 1},
                      runtime::Arguments().add(count.out).add(10u).add(count.data));
      EXPECT_EQ(count.memory("stores_allocated"), 1);
      EXPECT_EQ(count.memory("stores_absorbed"), 10);
      EXPECT_EQ(count.memory("write_backs"), 2);
      return std::to_string(static_cast<int>(count.memory("read_requests")));
    });
    EXPECT_EQ(requests, threads == 32 ? "1" : "2");
  }
}

// Half of a warp: two sectors of each line.
TEST(DataCache, SectorsAreFetchedAndWrittenBackOneByOne) {
  CountInMemory count({"sm.l1d.write_policy=back", "sm.l1d.write_miss=fetch", "sm.l1d.sector_bytes=32",
                       "sm.coalescer.block_bytes=32"});
  count.bench.run({1, 1, 1}, {16, 1, 1}, runtime::Arguments().add(count.out).add(10u).add(count.data));
  EXPECT_EQ(count.memory("read_requests"), 2);
  EXPECT_EQ(count.memory("stores_absorbed"), 20);
  EXPECT_EQ(count.memory("stores_allocated"), 2);
  EXPECT_EQ(count.memory("write_backs"), 4);
  EXPECT_EQ(count.bench.read(count.data, 16), std::vector<std::uint32_t>(16, 10));
}

TEST(DataCache, KeptItServesTheNextKernel) {
  CountInMemory count({"sm.l1d.write_policy=back", "sm.l1d.kept=true", "sm.count=1"});
  const std::uint64_t first = count.run();
  const std::uint64_t second = count.run();
  EXPECT_LT(second, first);
  EXPECT_EQ(count.memory("write_backs"), 0);
  EXPECT_EQ(count.memory("stores_absorbed"), 20);
  EXPECT_EQ(count.memory("read_requests"), 1);
  EXPECT_EQ(count.bench.read(count.data, 32), std::vector<std::uint32_t>(32, 20));
}

TEST(DataCache, WithoutMergingEachWarpFetches) {
  for (const bool merge : {true, false}) {
    const std::string requests = apart([merge] {
      GpuBench bench(
          {"sm.count=1", "sm.max_blocks=1", std::string("sm.l1d.merge_loads=") + (merge ? "true" : "false")});
      const auto out = bench.zeros(4096), data = bench.zeros(4096);
      bench.load(looped_kernel("ld.global.u32 %r8, [%rd3]; add.u32 %r1, %r8, 1;"));
      bench.run({1, 1, 1}, {256, 1, 1}, runtime::Arguments().add(out).add(3u).add(data));
      return std::to_string(static_cast<int>(bench.sum_over_sms({"memory", "read_requests"})));
    });
    EXPECT_EQ(requests, merge ? "1" : "8");
  }
}

// Two warps at a word each, on a machine of 16 lanes: a request of the warp, or of each half.
TEST(DataCache, CoalescedByBeatEachHalfOfAWarpHasARequest) {
  GpuBench bench({"sm.count=1", "sm.coalescer.scope=beat", "sm.l1d.enabled=false"}, "harp-fermi");
  const auto out = bench.zeros(4096), data = bench.zeros(4096);
  bench.load(looped_kernel("ld.global.u32 %r8, [%rd3];"));
  bench.run({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out).add(3u).add(data));
  EXPECT_EQ(bench.sum_over_sms({"memory", "read_requests"}), 2 * 2 * 3);
}

// Once and for all fetches: no misses, and nothing but the buffer's refill.
TEST(InstructionCache, WithoutOneNothingIsFetchedFromMemory) {
  GpuBench bench({"sm.count=1", "sm.l1i.enabled=false"}, "harp-fermi");
  const double cycles = bench.cycles_per_copy("add.u32 %r1, %r1, %r2;", {32, 1, 1});
  const auto depth = static_cast<double>(bench.device.gpu().config().sm.pipeline_depth);
  EXPECT_NEAR(cycles, depth + 2, 0.01) << "a warp of two beats, which may start in every other cycle";
  EXPECT_EQ(bench.sum_over_sms({"front_end", "l1i", "misses"}), 0);
  EXPECT_EQ(bench.sum_over_sms({"front_end", "l1i", "mshr", "allocated"}), 0);
}

}  // namespace
}  // namespace weft::test::latency_test
