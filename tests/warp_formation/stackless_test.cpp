// Reconvergence without a stack, step by step. Warps of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"
#include "warp_formation/yield_options.h"

namespace weft::warp_formation::test::stackless_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Kind = Outcome::Kind;

Config stackless(std::uint64_t yield_after = 0) {
  Config config;
  config.scheme = "stackless";
  config.warp_size = 4;
  config.own<StacklessOptions>().yield_after = yield_after;
  return config;
}

// if (a || b) X; else Y;   Thread 0 takes a, thread 1 takes b, the others run Y. X is no post-dominator of
// either branch: a stack runs it once for each way to it.
//
//   after   places of the threads (0 1 2 3)   runs next
//   0       3 1 1 1                           pc 1: 1 2 3
//   1       3 3 2 2                           pc 2: 2 3   (Y comes before X)
//   2       3 3 5 5                           pc 3: 0 1   (X, which both ways to it share)
//   3       4 4 5 5                           pc 4: 0 1
//   4       5 5 5 5                           pc 5: 0 1 2 3
const std::string kShortCircuit = R"(
  @%p1 bra X;              // 0: a
  @%p2 bra X;              // 1: b
  bra J;                   // 2: Y
X:
  add.u32 %r1, %r1, 1;     // 3
  add.u32 %r1, %r1, 1;     // 4
J:
  ret;                     // 5)";

TEST(Stackless, WaysThatMeetBeforeThePostDominatorRunOnce) {
  const ptx::Program program = kernel(kShortCircuit);
  Driver driver(program, stackless(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned) { return thread == pc; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{1, 2, 3}), Pair(2, Threads{2, 3}),
                          Pair(3, Threads{0, 1}), Pair(4, Threads{0, 1}), Pair(5, Threads{0, 1, 2, 3})));
  EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(driver.statistic("divergent_branches"), 2);
  EXPECT_EQ(driver.statistic("uniform_branches"), 1);
  EXPECT_EQ(driver.statistic("merges"), 2) << "at X, and at the end";
  EXPECT_EQ(driver.statistic("most_paths"), 2);
  EXPECT_EQ(driver.statistic("yields"), 0);
}

// 32 bits of PC and 16 of call depth for each of 8 threads.
TEST(Stackless, StorageIsAPcAndADepthForEachThread) {
  Driver driver(kernel("  ret;"), stackless(), four_lanes(8));
  EXPECT_EQ(driver.statistic("storage_bits"), 8 * 48);
}

// The first paths leave a loop and wait behind it, at a higher PC, for those that turn.
TEST(Stackless, ThreadsThatLeaveALoopWaitForTheOthers) {
  const ptx::Program program = kernel("L:\n  add.u32 %r1, %r1, 1;\n  @%p1 bra L;\n  ret;");
  Driver driver(program, stackless(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned visit) { return visit < thread; };
  driver.launch(4);
  driver.run(100);
  EXPECT_EQ(issues_of(driver, 0), 4u);
  EXPECT_EQ(issues_of(driver, 2), 1u);
  EXPECT_EQ(driver.statistic("most_paths"), 2);
}

// Threads in a call run before those that did not call, though the function lies behind them all; the caller
// at the lower PC runs before the deeper one has returned only if it is as deep.
TEST(Stackless, TheDeepestCallRunsFirst) {
  const ptx::Program program = kernel(
      "  @%p1 bra A;\n  add.u32 %r1, %r1, 1;\nA:\n  add.u32 %r1, %r1, 1;\n"
      "  add.u32 %r1, %r1, 1;\n  ret;");
  Steps steps(program, stackless(), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1}}, {2, {2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0 1");
  steps.resolve(1, {{3, {0, 1}}}, Kind::kGo, 1);
  EXPECT_EQ(steps.issue(), "pc 3: 0 1") << "in the function";
  EXPECT_THAT(steps.lines("), call depth "), ElementsAre("1, 2 threads, mask 3"));
  steps.resolve(2, {{4, {0, 1}}}, Kind::kGo, 2);
  EXPECT_EQ(steps.issue(), "pc 4: 0 1");
  steps.resolve(3, {{3, {0, 1}}}, Kind::kGo, 0);
  EXPECT_EQ(steps.issue(), "pc 2: 2 3");
  steps.resolve(4, {{3, {2, 3}}}, Kind::kGo, 0);
  EXPECT_EQ(steps.issue(), "pc 3: 0 1 2 3") << "as deep again, and at one place";
}

// Equal PCs at different depths are different places.
TEST(Stackless, RecursionDoesNotJoinThreadsOfDifferentDepths) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  add.u32 %r1, %r1, 1;\n  ret;");
  Steps steps(program, stackless(), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1}}}, Kind::kGo, 1);
  steps.resolve(0, {{1, {2, 3}}}, Kind::kGo, 2);
  EXPECT_EQ(steps.issue(), "pc 1: 2 3");
  EXPECT_EQ(steps.statistic("merges"), 0);
}

// A path at a block barrier steps aside. Both arms meet behind their barriers, once these open.
TEST(Stackless, APathAtABarrierStepsAside) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n  ret;");
  Driver driver(program, stackless(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 2; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{0, 1}), Pair(3, Threads{2, 3}),
                          Pair(2, Threads{0, 1}), Pair(4, Threads{0, 1, 2, 3})));
  EXPECT_EQ(driver.statistic("bar_in_divergence"), 2);
  EXPECT_EQ(driver.statistic("path_switches"), 1);
}

// Threads 2 and 3 wait behind a loop that the others turn `turns` times.
double yields(std::uint64_t yield_after, unsigned turns) {
  const ptx::Program program = kernel(
      "  @%p1 bra OUT;\nL:\n  add.u32 %r1, %r1, 1;\n  @%p2 bra L;\nOUT:\n  add.u32 %r1, %r1, 1;\n  ret;");
  Driver driver(program, stackless(yield_after), four_lanes(4));
  driver.holds = [turns](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? thread >= 2 : visit < turns;
  };
  driver.launch(4);
  driver.run(1000);
  return driver.statistic("yields");
}

TEST(Stackless, YieldsAfterSoManyBranchesBackwardAndNotBefore) {
  EXPECT_EQ(yields(3, 2), 0);
  EXPECT_EQ(yields(3, 3), 1);
  EXPECT_EQ(yields(1, 0), 0);
  EXPECT_EQ(yields(1, 1), 1);
  EXPECT_EQ(yields(0, 100), 0) << "never";
}

// The others, once let go first, run to their end; then the loop goes on.
TEST(Stackless, WhoWasLetGoFirstRunsOn) {
  const ptx::Program program =
      kernel("  @%p1 bra OUT;\nL:\n  @%p2 bra L;\nOUT:\n  add.u32 %r1, %r1, 1;\n  ret;");
  Driver driver(program, stackless(2), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? thread >= 2 : visit < 4;
  };
  driver.launch(4);
  driver.run(100);
  const Threads all = {0, 1, 2, 3}, turn = {0, 1}, out = {2, 3};
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, all), Pair(1, turn), Pair(1, turn), Pair(2, out), Pair(3, out),
                          Pair(1, turn), Pair(1, turn), Pair(1, turn), Pair(2, turn), Pair(3, turn)));
  EXPECT_EQ(driver.statistic("yields"), 1);
}

// Groups that all turn take turns, so many branches each.
TEST(Stackless, GroupsThatSpinTakeTurns) {
  const ptx::Program program = kernel("  @%p1 bra M;\nL:\n  @%p2 bra L;\n  ret;\nM:\n  @%p3 bra M;\n  ret;");
  Driver driver(program, stackless(2), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? thread >= 2 : visit < 4;
  };
  driver.launch(4);
  driver.run(100);
  std::string order;
  for (const Record& record : driver.trace()) order += std::to_string(record.pc);
  EXPECT_EQ(order, "0113311331234") << "two turns each";
}

}  // namespace
}  // namespace weft::warp_formation::test::stackless_test
