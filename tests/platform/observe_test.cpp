// Statistics that a run can ask for: the lane oracle and the census of stalled threads.
#include <gtest/gtest.h>

#include <cmath>

#include "platform/divergent_kernel.h"
#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"

namespace weft::test::observe_test {
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

Activity activity(bool same, const std::string& scheme, const std::string& permutation = "identity") {
  GpuBench bench({"sm.count=1", "sm.observe.lane_oracle=true", "warp_formation.scheme=" + scheme,
                  "datapath.lane_permutation=" + permutation});
  const auto out = bench.zeros(4);
  bench.load(two_arms(same));
  bench.run({1, 1, 1}, {64, 1, 1}, Arguments().add(out));
  return {bench.statistics().at("sm0").at("oracle").at("lane_activity").get<double>(),
          bench.device.gpu().totals()["lane_activity"]};
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

// ... unless the lanes of the second warp are mirrored.
class PermutedLanes : public ::testing::TestWithParam<std::string> {};

TEST_P(PermutedLanes, FillEachOtherThoughThePositionsAreEqual) {
  const Activity permuted = activity(true, GetParam(), "mirror_odd");
  EXPECT_DOUBLE_EQ(permuted.oracle, 1.0);
  EXPECT_DOUBLE_EQ(permuted.measured, 1.0);
}
INSTANTIATE_TEST_SUITE_P(Schemes, PermutedLanes, ::testing::Values("tbc", "harp", "crown"),
                         scheme_classes::name_of);

// swi packs nothing, but an arm of one warp and an arm of the other go in the same cycle.
TEST(PermutedLanesOfSwi, LetTwoWarpsShareTheLanes) {
  GpuBench bench({"sm.count=1", "sm.schedulers=1", "sm.schedulers_per_domain=1", "warp_formation.scheme=swi",
                  "datapath.lane_permutation=mirror_odd"});
  const auto out = bench.zeros(4);
  bench.load(two_arms(true));
  bench.run({1, 1, 1}, {64, 1, 1}, Arguments().add(out));
  const auto sm = bench.statistics().at("sm0");
  EXPECT_GT(sm.at("lanes_shared").get<unsigned>(), 0u);
  EXPECT_LE(sm.at("lanes_shared").get<unsigned>(), sm.at("issued_beside").get<unsigned>());
  EXPECT_LE(bench.device.gpu().totals()["lane_activity"], 1);
}

// Warp 1 waits at the barrier while warp 0 turns a loop of dependent additions.
TEST(StalledThreads, AreCountedInEveryCycleWithoutAnActiveLane) {
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
  bench.run({1, 1, 1}, {64, 1, 1}, Arguments().add(out));
  const auto stats = bench.statistics().at("sm0");
  const auto stalled = [&](const char* name) { return stats.at("stalled").at(name).get<double>(); };
  const auto scheduler = [&](const char* name) { return stats.at("scheduler0").at(name).get<double>(); };
  EXPECT_EQ(stalled("cycles"), scheduler("held_cycles") - scheduler("lane_cycles"));
  // The block's 64 threads are resident as long as the scheduler holds threads, but for a few cycles.
  EXPECT_NEAR(stalled("launched_thread_cycles") / (64 * scheduler("held_cycles")), 1, 0.01);
  EXPECT_EQ(stalled("reconvergence") + stalled("inactive"), 0);
  // But for the start and the end, 32 threads wait at the barrier and 32 for results.
  EXPECT_NEAR(stalled("barrier") / (32 * stalled("cycles")), 1, 0.05);
  EXPECT_NEAR((stalled("in_pipeline") + stalled("ready")) / (32 * stalled("cycles")), 1, 0.05);
  EXPECT_LE(stalled("barrier") + stalled("in_pipeline") + stalled("ready"), 64 * stalled("cycles"));
}

// An SM whose block is done is neither idle nor busy, and nobody is stalled there, however long others run.
TEST(StalledThreads, AreOfSchedulersThatHoldThreads) {
  GpuBench bench({"sm.count=2", "sm.observe.stalled_threads=true"}, "harp-fermi");
  const auto out = bench.zeros(4);
  bench.load(looped_kernel("add.u32 %r1, %r1, 1;"));
  const auto cycles =
      static_cast<double>(bench.run({1, 1, 1}, {32, 1, 1}, Arguments().add(out).add(2000u).add(0ull)));
  const auto stats = bench.statistics();
  const auto held = [&](const char* sm, const char* scheduler) {
    return stats.at(sm).at(scheduler).at("held_cycles").get<double>();
  };
  EXPECT_GT(held("sm0", "scheduler0"), 0.95 * cycles);
  EXPECT_EQ(held("sm0", "scheduler1") + held("sm1", "scheduler0") + held("sm1", "scheduler1"), 0);
  const Totals totals = bench.device.gpu().totals();
  const double beats = stats.at("sm0").at("active_beats").get<double>();
  EXPECT_DOUBLE_EQ(totals["idle_share_k"], 1 - beats / held("sm0", "scheduler0"));
  EXPECT_EQ(stats.at("sm1").at("stalled").at("cycles"), 0);
}

// Independent arithmetic of a full SM: lanes are active in every cycle, however many beats a warp has, and no
// reading of idle says otherwise.
TEST(IdleShares, AreZeroWhenTheLanesAreSaturated) {
  for (const unsigned warp : {8, 16, 32, 64}) {
    const std::string shares = apart([warp] {
      GpuBench bench({"sm.count=1", "warp_formation.warp_size=" + std::to_string(warp)}, "dwr-tesla");
      const auto out = bench.zeros(4 * 1024);
      std::string body;
      for (int i = 10; i < 26; ++i) body += "add.u32 %r" + std::to_string(i) + ", %r2, %r2;\n";
      bench.load(looped_kernel(body));
      bench.run({4, 1, 1}, {256, 1, 1}, Arguments().add(out).add(200u).add(0ull));
      const Totals t = bench.device.gpu().totals();
      const bool right = std::abs(t["idle_share_k"]) < 0.01 && t["depth_utilisation"] > 0.99 &&
                         t["idle_share_blocked"] < 0.01 && t["idle_share"] <= t["idle_share_blocked"];
      return right ? std::string("saturated")
                   : "K " + std::to_string(t["idle_share_k"]) + ", depth " +
                         std::to_string(t["depth_utilisation"]) + ", idle " +
                         std::to_string(t["idle_share"]) + " and " + std::to_string(t["idle_share_blocked"]);
    });
    EXPECT_EQ(shares, "saturated") << "warps of " << warp;
  }
}

// The same of lanes that each run warps of their own: a cycle has a beat of every lane.
TEST(IdleShares, AreZeroWhenLanesWithWarpsOfTheirOwnAreSaturated) {
  for (const char* const width : {"1", "4"}) {
    const std::string shares = apart([width] {
      GpuBench bench({"sm.count=1", "datapath.kind=temporal", std::string("datapath.lane_width=") + width},
                     "stsimt");
      const auto out = bench.zeros(4 * 1024);
      std::string body;
      for (int i = 10; i < 26; ++i) body += "add.u32 %r" + std::to_string(i) + ", %r2, %r2;\n";
      bench.load(looped_kernel(body));
      bench.run({4, 1, 1}, {256, 1, 1}, Arguments().add(out).add(100u).add(0ull));
      const Totals t = bench.device.gpu().totals();
      const bool right =
          t["idle_share_k"] > -1e-9 && t["idle_share_k"] < 0.03 && t["depth_utilisation"] > 0.97;
      return right ? std::string("saturated")
                   : "K " + std::to_string(t["idle_share_k"]) + ", depth " +
                         std::to_string(t["depth_utilisation"]);
    });
    EXPECT_EQ(shares, "saturated") << "lane width " << width;
  }
}

// A lone warp, of 32 threads in four beats on 8 lanes, in a chain of additions.
struct LoneWarp {
  explicit LoneWarp(unsigned threads)
      : bench({"sm.count=1", "sm.issue_alignment=false", "warp_formation.warp_size=32"}, "dwr-tesla") {
    const auto out = bench.zeros(4 * 32);
    bench.load(looped_kernel(repeated(40, "add.u32 %r1, %r1, 1;\n")));
    bench.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(out).add(100u).add(0ull));
    totals = bench.device.gpu().totals();
    const auto stats = bench.statistics().at("sm0").at("scheduler0");
    issued = stats.at("cycles").at("issued").get<double>();
    held = stats.at("held_cycles").get<double>();
  }

  GpuBench bench;
  Totals totals;
  double issued = 0, held = 0;
};

// Its four beats are busy, the rest of the pipeline's depth is idle.
TEST(IdleShares, CountTheBeatsOfAnIssueAsBusy) {
  const LoneWarp warp(32);
  EXPECT_NEAR(warp.totals["depth_utilisation"], 4 * warp.issued / warp.held, 1e-9);
  EXPECT_NEAR(warp.totals["idle_share"] + warp.totals["depth_utilisation"], 1, 0.01);
  EXPECT_NEAR(warp.totals["idle_share_k"], 1 - warp.totals["depth_utilisation"], 1e-9);
}

// Half of the threads have no lane in beats 2 and 3: those are no active lanes, and the scheduler is not
// idle.
TEST(IdleShares, DoNotTakeAnEmptyBeatForALane) {
  const LoneWarp warp(16);
  EXPECT_NEAR(warp.totals["depth_utilisation"], 2 * warp.issued / warp.held, 1e-9);
  EXPECT_NEAR(warp.totals["idle_share"], 1 - 4 * warp.issued / warp.held, 0.01);
}

// Observation does not depend on sleeping, and changes nothing else.
TEST(StalledThreads, DoNotDependOnSleeping) {
  for (const std::string& scheme : scheme_classes::all()) {
    const auto statistics = [scheme](bool sleeping) {
      return apart([=] {
        runtime::DeviceOptions options;
        options.sleeping = sleeping;
        GpuBench bench({"sm.count=2", "sm.observe.stalled_threads=true", "sm.observe.lane_oracle=true",
                        "warp_formation.scheme=" + scheme},
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
}  // namespace weft::test::observe_test
