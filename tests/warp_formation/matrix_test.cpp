// The rows of the test matrix that can be counted, for the schemes they are about; README.md of this folder
// lists where the other rows are tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "warp_formation/dwr_options.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/lwm_options.h"
#include "warp_formation/reincarnating_options.h"
#include "warp_formation/schemes.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation::test::matrix_test {
namespace {

using ::testing::SizeIs;

// On four lanes; with the tables of the papers.
Config scheme(const std::string& name) {
  Config config;
  config.scheme = name;
  config.warp_size = 4;
  config.own<DwrOptions>().largest_warp = 8;
  config.own<LwmOptions>().large_warp = 32;
  return config;
}

TEST(SchemeClasses, ASchemeWithoutARowIsTold) {
  try {
    scheme_classes::has_reconvergence_points("unknown");
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("scheme unknown"), ::testing::HasSubstr("schemes.h")));
  }
}

class EveryScheme : public ::testing::TestWithParam<std::string> {};

// A loop around a one-sided if, `turns` turns and up to two more.
Driver loop_of(const ptx::Program& program, const std::string& name, unsigned turns) {
  Driver driver(program, scheme(name), four_lanes(8));
  driver.holds = [turns](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? (thread + visit) % 2 == 0 : visit < turns + thread % 3;
  };
  driver.launch(8);
  driver.run(10'000);
  return driver;
}

// What ends in a cycle may go on in that cycle: no table of a scheme stands between.
TEST_P(EveryScheme, AWarpGoesOnInTheCycleInWhichItsInstructionEnds) {
  // A LAT barrier takes a time of its own, which other tests fix.
  const std::string load = GetParam() == "dwr" ? "ld.shared.u32 %r2, [%r3];" : "ld.global.u32 %r2, [%rd1];";
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n" + load +
                                      "\n  @%p1 bra NEXT;\n  exit;\nNEXT:\n  mul.lo.u32 %r1, %r1, %r1;\n"
                                      "  bar.sync 0;\n  add.u32 %r1, %r1, 1;\n  ret;");
  Driver driver(program, scheme(GetParam()), four_lanes(4));
  driver.holds = [](unsigned, ptx::Pc, unsigned) { return true; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(cycles(driver), ::testing::ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

// The stack has the loop's reconvergence entry, the loop, and the if; each warp of HARP a barrier for the
// loop and one for the if; the pool of DWF no more warps than threads. The number of turns has no part in it.
TEST_P(EveryScheme, LoopsDoNotGrowItsTables) {
  const scheme_classes::Promises& promises = scheme_classes::promises_of(GetParam());
  const ptx::Program program =
      kernel("L:\n  @%p1 bra SKIP;\n  add.u32 %r1, %r1, 1;\nSKIP:\n  @%p2 bra L;\n  ret;");
  for (const unsigned turns : {3u, 60u}) {
    const Driver driver = loop_of(program, GetParam(), turns);
    EXPECT_EQ((driver.visits().at({7, 2})), turns + 2);
    if (promises.table == nullptr) continue;
    EXPECT_LE(driver.statistic(promises.table), promises.most) << turns << " turns";
  }
}

// Two blocks, neither a whole number of warps: each goes through its barriers when its own threads have come.
TEST_P(EveryScheme, BlocksOfDifferentSizesHaveBarriersOfTheirOwn) {
  const ptx::Program program = kernel(
      "TURN:\n  @%p1 bra SKIP;\n  ld.global.u32 %r2, [%rd1];\nSKIP:\n  bar.sync 0;\n  @%p2 bra TURN;\n  "
      "ret;");
  constexpr ptx::Pc kBarrier = 2, kReturn = 4;
  Driver driver(program, scheme(GetParam()), four_lanes(128));
  driver.memory_latency = 30;
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? thread % 3 == 0 : visit < 4;
  };
  const unsigned large = driver.launch(41), small = driver.launch(6);
  driver.run(10'000);
  std::map<unsigned, std::vector<Cycle>> barriers, returns;
  for (const auto& record : driver.trace()) {
    if (record.pc == kBarrier)
      barriers[record.slot].insert(barriers[record.slot].end(), record.threads.size(), record.cycle);
    if (record.pc == kReturn) returns[record.slot].push_back(record.cycle);
  }
  for (const auto& [slot, threads] : {std::pair{large, 41u}, std::pair{small, 6u}}) {
    ASSERT_THAT(barriers[slot], SizeIs(5 * threads));
    // The k-th arrivals of all threads come before any thread's arrival k + 1.
    for (unsigned k = 1; k < 5; ++k) EXPECT_LT(barriers[slot][k * threads - 1], barriers[slot][k * threads]);
    EXPECT_LT(barriers[slot].back(), returns[slot].front());
  }
}

// Threads of one warp at the barriers of both arms. A barrier counts threads, so it opens when both arms have
// run, under a stack too.
TEST_P(EveryScheme, BarriersInBothArmsOfAWarpOpen) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n  ret;");
  Driver driver(program, scheme(GetParam()), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread % 2 == 0; };
  driver.launch(8);
  EXPECT_NO_THROW(driver.run(1000));
  const bool counts = GetParam() != "min_pc";
  if (counts && scheme_classes::runs_one_path_at_a_time(GetParam())) {
    EXPECT_EQ(driver.statistic("bar_in_divergence"), 4) << "of two warps";
    EXPECT_EQ(driver.statistic("path_switches"), 2);
  }
}

// if (p1) ...; else { if (p2) return; ... }  barrier. The return is one of its own, or shared by all threads,
// alone or with what goes before it.
TEST_P(EveryScheme, AnEarlyReturnBeforeABarrierHoldsNobodyUp) {
  const auto body = [](const std::string& leave, const std::string& end) {
    return "  @%p1 bra E;\n  @%p2 " + leave + ";\n  add.u32 %r1, %r1, 1;\n  bra J;\nE:\n" +
           "  add.u32 %r1, %r1, 2;\nJ:\n  bar.sync 0;\n  add.u32 %r1, %r1, 3;\n" + end;
  };
  constexpr ptx::Pc kBarrier = 5;
  for (const auto& [leave, end] : {std::pair{"ret", "  ret;"},
                                   {"bra D", "D:\n  ret;"},
                                   {"bra D", "D:\n  st.global.u32 [%rd1], %r1;\n  ret;"}}) {
    const ptx::Program program = kernel(body(leave, end));
    for (const bool taken : {true, false}) {
      Driver driver(program, scheme(GetParam()), four_lanes(16));
      driver.holds = [taken](unsigned thread, ptx::Pc pc, unsigned) {
        return pc == 0 ? thread % 2 == 0 : taken && thread % 4 == 1;
      };
      driver.launch(16);
      ASSERT_NO_THROW(driver.run(1000)) << leave << " " << end << (taken ? ", taken" : ", not taken");
      unsigned waited = 0;
      for (const Record& record : driver.trace()) {
        if (record.pc == kBarrier) waited += static_cast<unsigned>(record.threads.size());
      }
      EXPECT_EQ(waited, taken ? 12u : 16u);
    }
  }
}

// Both arms have a barrier, so that they meet behind them; one thread of the first goes round its barrier, to
// where all of the warp are expected, and those that it left to the barrier do not wait for it.
TEST_P(EveryScheme, WhoGoesRoundABarrierToAnOuterPointHoldsNobodyUp) {
  const ptx::Program program = kernel(R"(
  @%p1 bra E;              // 0: meets at 6
  @%p2 bra M;              // 1: meets at 2, before the barrier
  bar.sync 0;              // 2
M:
  bra J;                   // 3
E:
  @%p3 exit;               // 4
  bar.sync 0;              // 5
J:
  add.u32 %r1, %r1, 1;     // 6
  ret;                     // 7)");
  ASSERT_EQ(program.code[1].reconvergence, 2u);
  // Of the second arm some wait, or all have ended.
  for (const bool ended : {false, true}) {
    Driver driver(program, scheme(GetParam()), four_lanes(16));
    driver.holds = [ended](unsigned thread, ptx::Pc pc, unsigned) {
      return pc == 0 ? thread % 4 == 3 : pc == 1 ? thread % 4 == 1 : ended;
    };
    driver.launch(16);
    ASSERT_NO_THROW(driver.run(1000)) << ended;
    EXPECT_EQ((driver.visits().count({1, 2})), 0u);
    EXPECT_EQ((driver.visits().at({0, 2})), 1u);
  }
}

// Threads that leave for a shared return run first, so that the others come to the barrier together; at the
// post-dominator they would wait for these.
TEST_P(EveryScheme, WhoLeavesBeforeABarrierRunsFirstUnlessPointsArePlain) {
  if (!scheme_classes::has_reconvergence_points(GetParam())) GTEST_SKIP() << "its threads wait at no point";
  const ptx::Program program = kernel("  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\n  bar.sync 0;\nD:\n  ret;");
  for (const Reconvergence rule : {Reconvergence::kBarrierAware, Reconvergence::kPlain}) {
    Config config = scheme(GetParam());
    config.reconvergence = rule;
    Driver driver(program, config, four_lanes(4));
    driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread % 2 == 1; };
    driver.launch(4);
    driver.run(1000);
    const auto first = [&](ptx::Pc pc) {
      return std::find_if(driver.trace().begin(), driver.trace().end(),
                          [pc](const Record& r) { return r.pc == pc; });
    };
    EXPECT_EQ(first(3) < first(1), rule == Reconvergence::kBarrierAware);
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme, ::testing::ValuesIn(scheme_names()),
                         [](const auto& info) { return info.param; });

// Figure 6 of HARP on the masks of CROWN's slide 18: A, then B with a load that takes long, or C, then D
// twice.
struct Figure6 {
  explicit Figure6(const std::string& name)
      : program(
            kernel("  @%p1 bra C;\n  ld.global.u32 %r2, [%rd1];\n  bra D;\nC:\n  add.u32 %r1, %r1, 1;\nD:\n"
                   "  add.u32 %r3, %r3, 1;\n  ret;")),
        driver(program, scheme(name), four_lanes(8)) {
    driver.memory_latency = 40;
    driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return (0b01111001 >> thread & 1) != 0; };
    driver.launch(8);
    driver.run(1000);
  }
  unsigned b() const { return issues_of(driver, 1); }
  unsigned c() const { return issues_of(driver, 3); }
  unsigned d() const { return issues_of(driver, 4) + issues_of(driver, 5); }
  // Whether C was issued before the load of B was there.
  bool hides_b() const {
    const auto when = [this](ptx::Pc pc) {
      return std::find_if(driver.trace().begin(), driver.trace().end(),
                          [&](const Record& r) { return r.pc == pc; })
          ->cycle;
    };
    return when(3) < when(2);
  }
  ptx::Program program;
  Driver driver;
};

TEST(Figure6, CompactionFillsLanesAndLeavesTheLoadsTimeIdle) {
  for (const char* name : {"lwm", "tbc", "capri"}) {
    const Figure6 run(name);
    EXPECT_EQ(run.b(), 1u) << name;
    EXPECT_EQ(run.c(), 2u) << name;
    EXPECT_EQ(run.d(), 4u) << name;
    EXPECT_FALSE(run.hides_b()) << name;
  }
}

// Under the stack each warp runs B and C apart. Regrouping needs no more issues than that, and no fewer than
// the fullest lane has threads: two in C, one in B.
TEST(Figure6, WarpsThatAreFormedAnewHideTheLoad) {
  const Figure6 sbr("sbr"), dwf("dwf"), harp("harp");
  EXPECT_EQ(sbr.b(), 2u);
  EXPECT_EQ(sbr.c(), 2u);
  EXPECT_FALSE(sbr.hides_b());
  EXPECT_EQ(harp.b(), 1u);
  EXPECT_EQ(harp.c(), 2u);
  EXPECT_TRUE(harp.hides_b());
  EXPECT_LE(dwf.b(), 2u);
  EXPECT_EQ(dwf.c(), 2u);
  EXPECT_TRUE(dwf.hides_b());
}

TEST(Figure6, OnlyDynamicFormationNeedsMoreIssuesBehindTheBranch) {
  EXPECT_EQ(Figure6("sbr").d(), 4u);
  EXPECT_GT(Figure6("dwf").d(), 4u);
  const Figure6 harp("harp");
  EXPECT_EQ(harp.d(), 4u);
  for (const Record& record : harp.driver.trace()) {
    EXPECT_TRUE(record.pc < 4 || record.threads.size() == 4);
  }
}

// NNC-like: each sub-warp has an arm of 17 loads, so that every one is in vain. Whoever comes second to a
// pair of loads has its PC ignored; once round, nobody waits at those.
TEST(DwrSiblingArms, OneOfEachPairOfLoadsIsIgnored) {
  constexpr unsigned kLoads = 17;
  std::string loads;
  for (unsigned i = 0; i < kLoads; ++i) loads += "  ld.global.u32 %r2, [%rd1];\n";
  const ptx::Program program = kernel("  @%p1 bra C;\n" + loads + "  bra D;\nC:\n" + loads + "D:\n  ret;");
  Driver driver(program, scheme("dwr"), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 4; };
  driver.launch(8);
  driver.run(10'000);
  EXPECT_EQ(driver.statistic("lats"), 2 * kLoads);
  EXPECT_EQ(driver.statistic("ignored_lats"), kLoads);
  EXPECT_EQ(driver.statistic("ilt_inserts"), kLoads);
  EXPECT_EQ(driver.statistic("ilt_evictions"), 0);
  EXPECT_EQ(driver.statistic("average_large_issue"), 1);
}

// Sixteen rows of four lanes: two warps part, and their paths merge lanes of different rows, so of different
// sets; then the merged warp parts. Linked entries make one warp of it again, split ones a warp for each set.
TEST(HarpMultiset, AMergedWarpThatPartsComesBackAsTheSpanSays) {
  const ptx::Program program = kernel(R"(
  @%p1 bra C;              // 0: warps {0..3}, {4..7}
  ld.global.u32 %r2, [%rd1];  // 1: B
  @%p2 bra J;              // 2: parts again
  add.u32 %r1, %r1, 1;     // 3
J:
  add.u32 %r3, %r3, 1;     // 4: J
C:
  ret;                     // 5)");
  const auto run = [&](BarrierSpan span) {
    Config config = scheme("harp");
    config.own<HarpOptions>().barrier_span = span;
    auto driver = std::make_unique<Driver>(program, config, four_lanes(8));
    // B: 0 1 of the first row and 6 7 of the second; of these 0 and 6 skip.
    const std::set<unsigned> b = {0, 1, 6, 7}, skip = {0, 6};
    driver->holds = [=](unsigned thread, ptx::Pc pc, unsigned) {
      return pc == 0 ? b.count(thread) == 0 : skip.count(thread) != 0;
    };
    driver->launch(8);
    driver->run(1000);
    return driver;
  };
  const auto linked = run(BarrierSpan::kLinked), split = run(BarrierSpan::kSplit);
  EXPECT_EQ(issues_of(*linked, 2), 1u) << "B's halves merge";
  EXPECT_EQ(linked->statistic("barrier_multiset"), 1);
  EXPECT_EQ(split->statistic("barrier_multiset"), 1);
  EXPECT_EQ(issues_of(*linked, 4), 1u);
  EXPECT_EQ(issues_of(*split, 4), 2u);
}

}  // namespace
}  // namespace weft::warp_formation::test::matrix_test
