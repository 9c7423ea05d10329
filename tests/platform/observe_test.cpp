// Statistics that a run can ask for: the lane oracle and the census of stalled threads.
#include <gtest/gtest.h>

#include "platform/divergent_kernel.h"
#include "platform/gpu_bench.h"

namespace weft::test {
namespace {

using runtime::Arguments;

// Two warps; in each, half of the threads take either arm. `same`: the same half in both.
std::string two_arms(bool same) {
  const std::string which =
      same ? "  and.b32 %r3, %r2, 31;\n"
           : "  mov.u32 %r4, 16; add.u32 %r3, %r2, 0;\n"
             "  setp.ge.u32 %p2, %r2, 32;\n  @%p2 add.u32 %r3, %r2, %r4;\n  and.b32 %r3, %r3, 31;\n";
  return kernel_text(".param .u64 out", "  mov.u32 %r2, %tid.x;\n" + which + R"(
  setp.lt.u32 %p1, %r3, 16;
  @%p1 bra B;
  add.u32 %r5, %r5, 1; add.u32 %r5, %r5, 2; add.u32 %r5, %r5, 3;
  bra D;
B:
  add.u32 %r5, %r5, 4; add.u32 %r5, %r5, 5;
D:
  ret;)");
}

struct Activity {
  double oracle = 0, measured = 0;
};

Activity activity(bool same, const std::string& scheme) {
  GpuBench bench({"sm.count=1", "sm.observe.lane_oracle=true", "warp_formation.scheme=" + scheme});
  const auto out = bench.zeros(4);
  bench.load(two_arms(same));
  bench.run({1, 1, 1}, {64, 1, 1}, Arguments().add(out));
  return {bench.statistics().at("sm0").at("oracle").at("lane_activity").get<double>(),
          bench.device.gpu().totals().lane_activity};
}

// The halves complement each other: every instruction of an arm fits one issue of 32 lanes, so the oracle's
// lanes are all active. A stack keeps half of them idle in the arms; block compaction fills them too.
TEST(LaneOracle, ComplementaryLanesFillEachOther) {
  const Activity sbr = activity(false, "sbr");
  EXPECT_DOUBLE_EQ(sbr.oracle, 1.0);
  EXPECT_LT(sbr.measured, 0.95);
}
TEST(LaneOracle, BlockCompactionReachesIt) {
  const Activity tbc = activity(false, "tbc");
  EXPECT_DOUBLE_EQ(tbc.oracle, 1.0);
  EXPECT_DOUBLE_EQ(tbc.measured, 1.0);
}

// The same lanes in both warps: no regrouping helps, and the stack is as good as the oracle.
TEST(LaneOracle, EqualLanesCannotBeFilled) {
  const Activity sbr = activity(true, "sbr");
  EXPECT_LT(sbr.oracle, 0.95);
  EXPECT_DOUBLE_EQ(sbr.oracle, sbr.measured);
}

// Warp 1 waits at the barrier while warp 0 turns a loop of dependent additions.
TEST(StalledThreads, AreCountedInEveryCycleWithoutAnIssue) {
  GpuBench bench(
      {"sm.count=1", "sm.schedulers=1", "sm.schedulers_per_domain=1", "sm.observe.stalled_threads=true"});
  const auto out = bench.zeros(4);
  bench.load(kernel_text(".param .u64 out", R"(
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra WAIT;
  mov.u32 %r3, 0;
AGAIN:
  add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 4000;
  @%p2 bra AGAIN;
WAIT:
  bar.sync 0;
  ret;)"));
  const auto cycles = static_cast<double>(bench.run({1, 1, 1}, {64, 1, 1}, Arguments().add(out)));
  const auto stats = bench.statistics().at("sm0");
  const auto stalled = [&](const char* name) { return stats.at("stalled").at(name).get<double>(); };
  const double issued = stats.at("scheduler0").at("cycles").at("issued").get<double>();
  EXPECT_EQ(stalled("cycles"), cycles - issued);
  EXPECT_EQ(stalled("reconvergence") + stalled("inactive"), 0);
  // But for the start and the end, 32 threads wait at the barrier and 32 for results.
  EXPECT_NEAR(stalled("barrier") / (32 * stalled("cycles")), 1, 0.05);
  EXPECT_NEAR((stalled("in_pipeline") + stalled("ready")) / (32 * stalled("cycles")), 1, 0.05);
  EXPECT_LE(stalled("barrier") + stalled("in_pipeline") + stalled("ready"), 64 * stalled("cycles"));
}

// Observation does not depend on sleeping, and changes nothing else.
TEST(StalledThreads, DoNotDependOnSleeping) {
  for (const char* scheme : {"sbr", "dwf", "tbc"}) {
    const auto statistics = [scheme](bool sleeping) {
      return apart([=] {
        runtime::DeviceOptions options;
        options.sleeping = sleeping;
        GpuBench bench({"sm.count=2", "sm.observe.stalled_threads=true", "sm.observe.lane_oracle=true",
                        std::string("warp_formation.scheme=") + scheme},
                       "harp-fermi", options);
        run_divergent(bench);
        return bench.statistics().dump();
      });
    };
    const std::string awake = statistics(false);
    EXPECT_NE(awake.find("\"stalled\""), std::string::npos);
    EXPECT_EQ(awake, statistics(true)) << scheme;
  }
}

// The heap elects by itself only while the pool holds warps, so that it does not matter who steps it when.
TEST(DynamicWarpFormation, ElectionsDoNotDependOnSleeping) {
  for (const char* heuristic : {"majority_heap", "pdom_priority"}) {
    const auto statistics = [heuristic](bool sleeping) {
      return apart([=] {
        runtime::DeviceOptions options;
        options.sleeping = sleeping;
        GpuBench bench({"sm.count=2", "warp_formation.scheme=dwf", "warp_formation.dwf.starvation_limit=500",
                        std::string("warp_formation.dwf.heuristic=") + heuristic},
                       "gtx480", options);
        run_divergent(bench);
        return bench.statistics().dump();
      });
    };
    EXPECT_EQ(statistics(false), statistics(true)) << heuristic;
  }
}

}  // namespace
}  // namespace weft::test
