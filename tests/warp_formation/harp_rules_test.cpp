// The rules of HARP, which CROWN shares: reconvergence barriers, exits, blocks, calls, warp-level primitives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "warp_formation/reincarnating_options.h"
#include "warp_formation/reincarnation_bench.h"

namespace weft::warp_formation::test::harp_rules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = Outcome::Kind;

// Four threads of kBranch: the first two go to one side, the others to the other.
void take_the_branch(Steps& steps) {
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
}

void issue_for(Steps& steps, int cycles) {
  for (int i = 0; i < cycles; ++i) {
    steps.cycle();
    steps.issue();
  }
}

TEST(Harp, OneSidedIfReachesTheBarrierAtOnce) {
  const ptx::Program program = kernel("  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\nD:\n  ret;");
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{2, {0, 1}}, {1, {2, 3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("1100"));
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 - - 2 3"));
  EXPECT_EQ(steps.unit().census().reconvergence, 2u);
}

TEST(Harp, ALoopTakesOneBarrierEntryHoweverOftenItTurns) {
  // Threads leave one by one; those inside are registered already.
  const ptx::Program program = kernel("L:\n  add.u32 %r1, %r1, 1;\n  @%p1 bra L;\n  ret;");
  Driver driver(program, config_of("harp"), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned visit) { return visit < 3 * thread; };
  driver.launch(4);
  driver.run(1000);
  EXPECT_EQ(driver.statistic("barrier_entries_opened"), 1);
  EXPECT_EQ(driver.statistic("barrier_reserved"), 4);
  EXPECT_THAT(driver.trace().back().threads, ElementsAre(0u, 1u, 2u, 3u));
}

TEST(Harp, ThreadsThatExitLeaveTheirBarriers) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  take_the_branch(steps);
  steps.cycle();
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 0 1");
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 2: 2 3");
  steps.resolve(1, {{kD, {0, 1}}});
  EXPECT_THAT(barriers(steps), ElementsAre("1100"));
  // The partners exit inside the region: the others must not wait for them for ever.
  steps.resolve(2, {{kD, {2, 3}}}, Kind::kExit);
  EXPECT_THAT(barriers(steps), IsEmpty());
  EXPECT_EQ(steps.unit().census().total(), 2u);
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 0 1");
}

TEST(Harp, ABarrierWhoseThreadsAllExitIsFree) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  take_the_branch(steps);
  issue_for(steps, 5);
  steps.resolve(1, {{kD, {0, 1}}}, Kind::kExit);
  steps.resolve(2, {{kD, {2, 3}}}, Kind::kExit);
  EXPECT_EQ(steps.unit().dump(), "");
}

// 17 branches nested in one another, of which 16 find a place in their set.
TEST(Harp, AFullSetOfBarriersIsAMissAndThreadsStillArrive) {
  std::string body;
  for (int i = 0; i < 17; ++i) body += "  @%p1 bra E" + std::to_string(i) + ";\n";
  body += "  add.u32 %r1, %r1, 1;\n";
  for (int i = 16; i >= 0; --i) body += "E" + std::to_string(i) + ":\n  add.u32 %r2, %r2, 1;\n";
  const ptx::Program program = kernel(body + "  ret;");
  const auto run = [&](std::uint64_t ways) {
    Config config = config_of("harp");
    config.own<HarpOptions>().barrier_ways = ways;
    config.own<HarpOptions>().barrier_entries = 8 * ways;
    Geometry geometry = four_lanes(32);
    geometry.lanes = 32;
    auto driver = std::make_unique<Driver>(program, config, geometry);
    // Thread i leaves at branch i.
    driver->holds = [](unsigned thread, ptx::Pc pc, unsigned) { return thread == pc; };
    driver->launch(32);
    driver->run(1000);
    return driver;
  };
  const auto issues = [](const Driver& driver, ptx::Pc pc) {
    return std::count_if(driver.trace().begin(), driver.trace().end(),
                         [&](const Record& r) { return r.pc == pc; });
  };
  const auto enough = run(17), full = run(16);
  constexpr ptx::Pc kInnermost = 18;  // E16, which threads 16 to 31 reach
  EXPECT_EQ(enough->statistic("barrier_missed"), 0);
  EXPECT_EQ(enough->statistic("barrier_peak"), 17);
  EXPECT_EQ(issues(*enough, kInnermost), 1);
  EXPECT_EQ(full->statistic("barrier_missed"), 16);
  EXPECT_EQ(full->statistic("barrier_peak"), 16);
  EXPECT_EQ(issues(*full, kInnermost), 2);
  EXPECT_EQ(issues(*full, kInnermost + 1), 1) << "E15 has its barrier";
  EXPECT_THAT(full->trace().back().threads, SizeIs(32));
}

TEST(Harp, BlocksThatDoNotFillAWarpKeepTheirLanes) {
  const ptx::Program program = kernel(kBranch);
  Geometry geometry = four_lanes(64);
  geometry.lanes = 16;
  Driver driver(program, config_of("harp"), geometry);
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread % 2 == 0; };
  driver.launch(12);
  driver.launch(12);  // a block of its own: the two never share a warp
  driver.run(100);
  for (const Record& record : driver.trace()) {
    if (record.pc == kA || record.pc == kD) {
      EXPECT_THAT(record.threads, SizeIs(12));
    }
  }
  EXPECT_EQ(driver.statistic("divergent_branches"), 2);
}

TEST(Harp, ThreadsOfDifferentBlocksNeverMerge) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(64));
  steps.launch(4, 0, 0);
  steps.launch(4, 1, 1);  // threads 32 to 35
  for (int i = 0; i < 2; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  steps.resolve(1, {{kLow, {34, 35}}, {kHigh, {32, 33}}});  // lanes that are free
  EXPECT_THAT(lookup(steps),
              ElementsAre("0: pc 1 0 1 - -", "1: pc 2 - - 2 3", "2: pc 1 - - 34 35", "3: pc 2 32 33 - -"));
  EXPECT_EQ(steps.statistic("ready_lookup/merges"), 0);
}

TEST(Harp, BlockBarriersInBothArmsAreCountedAndPassed) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n  ret;");
  Driver driver(program, config_of("harp"), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread % 2 == 0; };
  driver.launch(8);
  driver.run(200);
  EXPECT_GE(driver.statistic("bar_in_divergence"), 2);
  EXPECT_THAT(driver.trace().back().threads, SizeIs(4));
}

// After the barrier of the second arm comes the reconvergence point itself.
TEST(Harp, AThreadReachesItsReconvergencePointWhenItsBlockBarrierOpens) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  take_the_branch(steps);
  issue_for(steps, 5);
  steps.resolve(1, {{kD, {0, 1}}}, Kind::kBarrier);
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  EXPECT_EQ(steps.unit().census().barrier, 2u);
  EXPECT_EQ(steps.statistic("bar_in_divergence"), 1);
  steps.unit().barrier_released(0, 0);
  EXPECT_THAT(barriers(steps), ElementsAre("1100"));
}

// `if (i >= n) return;` before a block barrier: with one final `ret`, the early threads wait there.
TEST(Harp, ThreadsThatWaitToExitAreToldToBlockBarriers) {
  const ptx::Program program = kernel("  @%p1 bra out;\n  bar.sync 0;\n  add.u32 %r1, %r1, 1;\nout:\n  ret;");
  Config config = config_of("harp");
  config.reconvergence = Reconvergence::kPlain;
  Steps steps(program, config, four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{3, {0, 1, 2}}, {1, {3}}});
  EXPECT_EQ(steps.unit().waiting_to_exit(0), 3u);
  EXPECT_EQ(steps.unit().waiting_to_exit(1), 0u);
}

// A reconvergence point belongs to a call depth: the same PC one call deeper is somewhere else.
TEST(Harp, ReconvergenceNeedsTheCallDepthOfTheBranch) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  take_the_branch(steps);
  issue_for(steps, 5);
  steps.resolve(1, {{kD, {0, 1}}}, Kind::kGo, 1);
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  steps.resolve(2, {{kD, {2, 3}}}, Kind::kGo, 0);
  EXPECT_THAT(barriers(steps), ElementsAre("0011"));
}

TEST(Harp, ManyWaysAtOnceGiveAWarpEach) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{kD, {1}}, {kHigh, {0}}, {kLow, {3}}, {kA, {2}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 0 - - 2 -", "1: pc 1 - - - 3", "2: pc 2 0 - - -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0100"));
}

TEST(Harp, ReleasedThreadsGoOnWithoutThoseOfOtherWarps) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{1, {0, 1, 2, 3}}}, Kind::kWarpSync);
  EXPECT_EQ(steps.unit().census().warp_sync, 4u);
  steps.release_sync({1, 2});
  EXPECT_EQ(steps.unit().census().warp_sync, 2u);
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 - 1 2 -"));
  steps.release_sync({0, 3});
  EXPECT_EQ(steps.unit().census().warp_sync, 0u);
  EXPECT_EQ(steps.unit().census().total(), 4u);
}

}  // namespace
}  // namespace weft::warp_formation::test::harp_rules_test
