// Issue rates and dependence of arithmetic.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test::arithmetic_test {
namespace {

const std::vector<std::string> kOneNarrowSm = {
    "sm.count=1",       "sm.schedulers=1",  "sm.schedulers_per_domain=1",
    "sm.simd_groups=1", "sm.simd_width=16", "warp_formation.scheduling=loose_round_robin"};

// A warp of 32 threads takes the 16 lanes for 2 cycles; enough warps hide every latency.
TEST(IssueRate, OneWarpOf32EveryTwoCyclesOn16Lanes) {
  GpuBench bench(kOneNarrowSm);
  constexpr unsigned kWarps = 32;
  const double cycles = bench.cycles_per_copy("add.u32 %r1, %r1, 1;", {kWarps * 32, 1, 1});
  EXPECT_NEAR(cycles, 2 * kWarps, 0.02 * 2 * kWarps);
}

// HARP's machine: two schedulers, each with 16 lanes of its own; barrel dependence over 8 stages.
TEST(IssueRate, EachOfTwoSchedulersOfHarpEveryTwoCycles) {
  GpuBench bench({"sm.count=1"}, "harp-fermi");
  constexpr unsigned kWarps = 24;
  const double cycles = bench.cycles_per_copy("add.u32 %r1, %r1, 1;", {kWarps * 32, 1, 1});
  EXPECT_NEAR(cycles, 2 * kWarps, 0.05 * 2 * kWarps);  // one block, hence one domain of the two
}

TEST(IssueRate, InitiationIntervalAndSfuWidth) {
  GpuBench bench(kOneNarrowSm);
  constexpr unsigned kWarps = 32;
  // 2 beats x interval 2.
  EXPECT_NEAR(bench.cycles_per_copy("mul.lo.u32 %r1, %r1, 3;", {kWarps * 32, 1, 1}), 4 * kWarps,
              0.04 * 4 * kWarps);
  // 32 threads on 4 lanes: 8 cycles, interval 1.
  EXPECT_NEAR(bench.cycles_per_copy("sin.approx.f32 %f1, %f1;", {kWarps * 32, 1, 1}), 8 * kWarps,
              0.04 * 8 * kWarps);
}

// Issue to write-back is pipeline_depth stages at a latency of 1; the dependent instruction issues in the
// cycle of the write-back: pipeline_depth + latency - 1 cycles later, and one beat later for each beat more
// than one.
TEST(Dependence, ScoreboardChain) {
  GpuBench bench({"sm.count=1"});
  const auto& sm = bench.device.gpu().config().sm;
  const auto add = sm.latency_of(ptx::Latency::kIntAdd).cycles,
             multiply = sm.latency_of(ptx::Latency::kIntMul).cycles;
  const auto interval = sm.latency_of(ptx::Latency::kIntMul).interval;
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy("add.u32 %r1, %r1, 1;", {32, 1, 1}),
                   static_cast<double>(sm.pipeline_depth + add - 1));
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy("mul.lo.u32 %r1, %r1, 3;", {32, 1, 1}),
                   static_cast<double>(sm.pipeline_depth + multiply - 1 + interval - 1));
}

TEST(Dependence, ScoreboardLetsIndependentInstructionsFollow) {
  GpuBench bench({"sm.count=1"});
  // Eight chains: bound by the front end, which brings fetch_width instructions and refills an empty buffer
  // only.
  std::string chains;
  for (int i = 10; i < 18; ++i)
    chains += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i) + ", 1;\n";
  const auto& sm = bench.device.gpu().config().sm;
  const double dependent =
      static_cast<double>(8 * (sm.pipeline_depth + sm.latency_of(ptx::Latency::kIntAdd).cycles - 1));
  EXPECT_LT(bench.cycles_per_copy(chains, {32, 1, 1}), dependent / 2);
}

// At most one instruction of a thread in flight, dependent or not.
TEST(Dependence, BarrelTurnsOncePerInstruction) {
  GpuBench bench({"sm.count=1"}, "dwr-tesla");
  const auto& sm = bench.device.gpu().config().sm;
  const auto beats = 32 / sm.simd_width;
  const auto end = sm.pipeline_depth + sm.latency_of(ptx::Latency::kIntAdd).cycles - 1 + beats - 1;
  ASSERT_TRUE(sm.issue_alignment);
  const auto last_beat = (end + beats - 1) / beats * beats;
  const auto turn = static_cast<double>(last_beat);
  EXPECT_NEAR(bench.cycles_per_copy("add.u32 %r1, %r1, 1;", {32, 1, 1}), turn, 0.01);
  EXPECT_NEAR(bench.cycles_per_copy("add.u32 %r10, %r11, 1;", {32, 1, 1}), turn, 0.01);
}

}  // namespace
}  // namespace weft::test::arithmetic_test
