// A streaming kernel reaches 90 % of the narrowest stage on its way, whichever that is.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test::throughput_test {
namespace {

// Every thread sums 64 words, four loads at a time; a warp reads whole lines, each once. Bytes per core
// cycle.
double stream(GpuBench& bench) {
  constexpr std::uint32_t kBlocks = 48, kThreads = 256, kWords = 64, kAll = kBlocks * kThreads;
  const auto data = bench.zeros(std::uint64_t{kAll} * kWords * 4);
  const auto out = bench.zeros(4 * kAll);
  std::string body = R"(
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [data];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;
  shl.b32 %r4, %r3, 8;
  add.u32 %r4, %r4, %r2;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r9, 0;
  mov.u32 %r1, 0;
TURN:
)";
  for (int i = 0; i < 4; ++i) {
    body += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%rd2+" + std::to_string(i * kAll * 4) + "];\n";
  }
  body += R"(
  add.u64 %rd2, %rd2, )" +
          std::to_string(4 * kAll * 4) + R"(;
  add.u32 %r1, %r1, %r10; add.u32 %r1, %r1, %r11; add.u32 %r1, %r1, %r12; add.u32 %r1, %r1, %r13;
  add.u32 %r9, %r9, 4;
  setp.lt.u32 %p1, %r9, 64;
  @%p1 bra TURN;
  st.global.u32 [%rd1], %r1;
  ret;)";
  bench.load(kernel_text(".param .u64 out, .param .u64 data", body));
  const auto cycles = bench.run({kBlocks, 1, 1}, {kThreads, 1, 1}, runtime::Arguments().add(out).add(data));
  return static_cast<double>(kAll) * kWords * 4 / static_cast<double>(cycles);
}

// No L1, so that its MSHRs do not limit the lines under way.
std::vector<std::string> machine(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"sm.l1d.enabled=false",        "clocks.core_mhz=700",
                                  "clocks.interconnect_mhz=700", "clocks.memory_mhz=700",
                                  "dram.bank_groups=1",          "dram.t_ccdl=2"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Bytes of data per cycle that the stages let through: the response interface of each SM moves a flit per
// cycle, a line is its header and data in flits; the load-store unit takes a request per cycle, an L2 bank
// one line per cycle; a channel moves its burst in column_gap cycles.
struct Stages {
  double interfaces, units, banks, channels;
};
Stages stages(const GpuConfig& c) {
  const auto line = static_cast<double>(c.sm.coalescer.block_bytes);
  const auto whole_flits =
      (8 + c.sm.coalescer.block_bytes + c.crossbar.flit_bytes - 1) / c.crossbar.flit_bytes;
  const auto flits = static_cast<double>(whole_flits);
  const auto sms = static_cast<double>(c.sm.count), channels = static_cast<double>(c.dram.map.channels);
  return {sms / static_cast<double>(c.crossbar.sms_per_interface) * line / flits, sms * line,
          channels * static_cast<double>(c.l2.banks_per_channel) * line,
          channels * c.dram.channel.scheduler.timing.peak_bytes_per_cycle()};
}

TEST(Throughput, CrossbarResponsesAreTheNarrowest) {
  GpuBench bench(machine({"sm.count=2"}));
  const Stages s = stages(bench.device.gpu().config());
  ASSERT_LT(s.interfaces * 1.5, std::min({s.units, s.banks, s.channels}));
  const double reached = stream(bench);
  EXPECT_GE(reached, 0.9 * s.interfaces);
  EXPECT_LE(reached, s.interfaces);
}

TEST(Throughput, DramIsTheNarrowest) {
  GpuBench bench(machine({"sm.count=4", "dram.channels=1", "l2.sector_bytes=0"}));
  const Stages s = stages(bench.device.gpu().config());
  ASSERT_LT(s.channels * 1.5, std::min({s.units, s.banks, s.interfaces}));
  const double reached = stream(bench);
  EXPECT_GE(reached, 0.9 * s.channels);
  EXPECT_LE(reached, s.channels);
}

}  // namespace
}  // namespace weft::test::throughput_test
