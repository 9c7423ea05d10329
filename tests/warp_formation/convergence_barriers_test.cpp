// Convergence barriers, step by step. Warps of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "warp_formation/convergence_options.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::convergence_barriers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Kind = Outcome::Kind;

ConvergenceOptions yielding(std::uint64_t after, YieldingLoops loops = YieldingLoops::kPolling) {
  ConvergenceOptions options;
  options.yield_after = after;
  options.yield_in = loops;
  return options;
}
Config with(const ConvergenceOptions& options = {}) {
  Config config;
  config.scheme = "convergence_barriers";
  config.warp_size = 4;
  config.own<ConvergenceOptions>() = options;
  return config;
}

// if (a || b) X; else Y;   Thread 0 takes a, thread 1 takes b, the others run Y. Two ways lead to X, and two
// to J: barriers X and J are joined at pc 0. Who goes to Y leaves X.
//
//   after   places of the threads (0 1 2 3)   X: members, waiting   J: members, waiting   runs next
//   0       3 1 1 1                           0123, 0               0123, none            pc 1: 1 2 3
//   1       3 3 2 2                           01, 01: opens         0123, none            pc 2: 2 3 (tie:
//   lower PC) 2       3 3 5 5                                                 0123, 23              pc 3: 0 1
//   3       4 4 5 5                                                 0123, 23              pc 4: 0 1
//   4       5 5 5 5                                                 0123, 0123: opens     pc 5: 0 1 2 3
const std::string kShortCircuit = R"(
  @%p1 bra X;              // 0: a
  @%p2 bra X;              // 1: b
  bra J;                   // 2: Y
X:
  add.u32 %r1, %r1, 1;     // 3
  add.u32 %r1, %r1, 1;     // 4
J:
  ret;                     // 5)";

Driver short_circuit(const ConvergenceOptions& options) {
  static const ptx::Program program = kernel(kShortCircuit);
  Driver driver(program, with(options), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned) { return thread == pc; };
  driver.launch(4);
  driver.run(100);
  return driver;
}

TEST(ConvergenceBarriers, WaysThatMeetBeforeThePostDominatorRunOnce) {
  const Driver driver = short_circuit({});
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{1, 2, 3}), Pair(2, Threads{2, 3}),
                          Pair(3, Threads{0, 1}), Pair(4, Threads{0, 1}), Pair(5, Threads{0, 1, 2, 3})));
  EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4, 5, 6)) << "barriers cost nothing";
  EXPECT_EQ(driver.statistic("joins"), 2);
  EXPECT_EQ(driver.statistic("leaves"), 1);
  EXPECT_EQ(driver.statistic("waits"), 4) << "two paths at each";
  EXPECT_EQ(driver.statistic("opened"), 2);
  EXPECT_EQ(driver.statistic("most_barriers"), 2);
  EXPECT_EQ(driver.statistic("spills"), 0);
  EXPECT_EQ(driver.statistic("forced_openings"), 0);
}

// With barriers at post-dominators alone X runs once for each way to it, as under a stack.
TEST(ConvergenceBarriers, PostDominatorsAloneLetWaysApart) {
  ConvergenceOptions options;
  options.places = BarrierPlaces::kPostDominators;
  const Driver driver = short_circuit(options);
  EXPECT_EQ(issues_of(driver, 3), 2u);
  EXPECT_EQ(issues_of(driver, 5), 1u);
  EXPECT_EQ(driver.statistic("joins"), 1);
  EXPECT_EQ(driver.statistic("leaves"), 0);
}

// 2 joins before pc 0, a wait and a leave before pc 2 and 3, ...: 7 issue slots, in which nothing issues.
TEST(ConvergenceBarriers, MayTakeAnIssueSlotEach) {
  ConvergenceOptions options;
  options.cost = BarrierCost::kIssueSlot;
  const Driver driver = short_circuit(options);
  EXPECT_EQ(driver.statistic("barrier_slots"), 2 + 4 + 1);
  EXPECT_EQ(driver.trace().back().cycle, 6u + 7u);
}

TEST(ConvergenceBarriers, BeyondTheRegistersBarriersSpill) {
  ConvergenceOptions options;
  options.registers = 1;
  EXPECT_EQ(short_circuit(options).statistic("spills"), 1);
  EXPECT_EQ(short_circuit(options).statistic("storage_bits"), 4 * (32 + 16 + 2) + 1 * 4);
  EXPECT_EQ(short_circuit({}).statistic("storage_bits"), 4 * (32 + 16 + 2) + 16 * 4);
}

TEST(ConvergenceBarriers, OrderSaysWhichSideRunsFirst) {
  const ptx::Program program =
      kernel("  @%p1 bra E;\n  add.u32 %r1, %r1, 1;\n  bra J;\nE:\n  add.u32 %r1, %r1, 1;\nJ:\n  ret;");
  const auto first_side = [&](PathOrder order, unsigned taken) {
    ConvergenceOptions options;
    options.order = order;
    Driver driver(program, with(options), four_lanes(4));
    driver.holds = [taken](unsigned thread, ptx::Pc, unsigned) { return thread < taken; };
    driver.launch(4);
    driver.run(100);
    return issues(driver)[1].first;
  };
  EXPECT_EQ(first_side(PathOrder::kFewerThreads, 1), 3u);
  EXPECT_EQ(first_side(PathOrder::kFewerThreads, 3), 1u);
  EXPECT_EQ(first_side(PathOrder::kMoreThreads, 1), 1u);
  EXPECT_EQ(first_side(PathOrder::kMoreThreads, 3), 3u);
  EXPECT_EQ(first_side(PathOrder::kLowerPc, 1), 1u);
}

// if (a) { if (b) X; Y }: thread 1, which waits at the inner barrier, does not open the outer one for
// thread 0. Thread 3 exits in X, and holds neither.
TEST(ConvergenceBarriers, WhoWaitsAtAnInnerBarrierHoldsTheOuterOne) {
  const ptx::Program program = kernel(
      "  @%p1 bra Z;\n  @%p2 bra Y;\n  add.u32 %r1, %r1, 1;\n  @%p3 exit;\nY:\n  add.u32 %r1, %r1, 1;\nZ:\n"
      "  ret;");
  Driver driver(program, with(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned) {
    return (pc == 0 && thread == 0) || (pc == 1 && thread == 1) || (pc == 3 && thread == 3);
  };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{1, 2, 3}), Pair(2, Threads{2, 3}),
                          Pair(3, Threads{2, 3}), Pair(4, Threads{1, 2}), Pair(5, Threads{0, 1, 2})));
}

// Who waits at a block barrier counts as if it had come: the others must reach their own.
TEST(ConvergenceBarriers, WhoWaitsAtABlockBarrierHoldsNobody) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  add.u32 %r1, %r1, 1;\nD:\n  bar.sync 0;\n  ret;");
  Driver driver(program, with(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 2; };
  driver.launch(4);
  driver.run(100);
  EXPECT_EQ(driver.statistic("bar_in_divergence"), 2) << "at 1, and at 4 without the first";
  EXPECT_EQ(driver.statistic("opened"), 1);
  EXPECT_EQ(driver.statistic("forced_openings"), 0);
}

// Two loops, of which the first has two entries: their merges' regions overlap, and the paths wait for each
// other in a circle. The last barrier that was joined opens.
TEST(ConvergenceBarriers, PathsThatWaitForEachOtherGoOn) {
  const ptx::Program program =
      kernel("  @%p1 bra B;\nA:\n  add.u32 %r1, %r1, 1;\nB:\n  add.u32 %r1, %r1, 1;\n  @%p2 bra A;\n  ret;");
  Driver driver(program, with(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? thread >= 2 : visit < thread;
  };
  driver.launch(4);
  driver.run(200);
  EXPECT_GT(driver.statistic("forced_openings"), 0);
}

// Thread 0 leaves the loop at once and waits behind it for the others, which poll and wait for thread 0.
const std::string kPoll = R"(
L:
  ld.volatile.global.u32 %r3, [%rd1];   // 0
  setp.ne.u32 %p1, %r3, 0;              // 1
  @%p1 bra L;                           // 2
  add.u32 %r1, %r1, 1;                  // 3
  ret;                                  // 4)";

// Which PC comes after so many turns of the others, and for how many threads.
std::string after_turns(ptx::Program program, const ConvergenceOptions& options, unsigned turns) {
  Steps steps(program, with(options), four_lanes(4));
  steps.launch(4);
  IssueId id = 0;
  for (unsigned turn = 0; turn < turns; ++turn) {
    const Threads threads = turn == 0 ? Threads{0, 1, 2, 3} : Threads{1, 2, 3};
    for (ptx::Pc pc = 0; pc < 2; ++pc) {
      steps.issue();
      steps.resolve(id++, {{pc + 1, threads}});
    }
    steps.issue();
    if (turn == 0) {
      steps.resolve(id++, {{3, {0}}, {0, {1, 2, 3}}});
    } else {
      steps.resolve(id++, {{0, {1, 2, 3}}});
    }
  }
  return steps.issue();
}

TEST(ConvergenceBarriers, YieldsAfterSoManyTurnsAndNotBefore) {
  const ptx::Program program = kernel(kPoll);
  const std::string spins = "pc 0: 1 2 3", goes = "pc 3: 0";
  EXPECT_EQ(after_turns(program, yielding(1), 1), goes);
  EXPECT_EQ(after_turns(program, yielding(3), 2), spins);
  EXPECT_EQ(after_turns(program, yielding(3), 3), goes);
  EXPECT_EQ(after_turns(program, yielding(4), 3), spins);
  EXPECT_EQ(after_turns(program, yielding(0), 50), spins) << "never";
}

TEST(ConvergenceBarriers, CodeForOlderTargetsDoesNotYield) {
  ptx::Program program = kernel(kPoll);
  program.target = 60;
  EXPECT_EQ(after_turns(program, yielding(1), 50), "pc 0: 1 2 3");
  program.target = 70;
  EXPECT_EQ(after_turns(program, yielding(1), 1), "pc 3: 0");
}

// A loop that only counts keeps its threads together, however long it turns.
TEST(ConvergenceBarriers, LoopsThatDoNotPollYieldOnlyIfAsked) {
  const ptx::Program program = kernel(
      "L:\n  ld.global.u32 %r3, [%rd1];\n  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra L;\n  add.u32 %r1, %r1, 1;\n"
      "  ret;");
  EXPECT_EQ(after_turns(program, yielding(1), 50), "pc 0: 1 2 3");
  EXPECT_EQ(after_turns(program, yielding(1, YieldingLoops::kAll), 1), "pc 3: 0");
}

// Groups that all poll take turns, `yield_after` of the loop each: with g groups, each runs again after at
// most yield_after x (g - 1) turns of the others.
TEST(ConvergenceBarriers, GroupsThatPollTakeTurns) {
  const std::string poll = "  ld.volatile.global.u32 %r3, [%rd1];\n  setp.ne.u32 %p2, %r3, 0;\n  @%p2 bra ";
  const ptx::Program program =
      kernel("  @%p1 bra M;\nL:\n" + poll + "L;\n  ret;\nM:\n" + poll + "M;\n  ret;");
  Driver driver(program, with(yielding(2)), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? thread >= 2 : visit < 4;
  };
  driver.launch(4);
  driver.run(1000);
  std::string branches;  // 3: of the first loop, 7: of the second
  for (const Record& record : driver.trace()) {
    if (record.pc == 3 || record.pc == 7) branches += std::to_string(record.pc);
  }
  EXPECT_EQ(branches, "3377337737") << "two turns each; the last one ends a loop";
}

// Threads of a barrier's region that came by different ways, as after a yield, have a barrier each.
TEST(ConvergenceBarriers, TheDumpSaysWhoWaitsForWhom) {
  const ptx::Program program = kernel(kShortCircuit);
  Steps steps(program, with(), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{3, {0}}, {1, {1, 2, 3}}});
  EXPECT_THAT(steps.lines("convergence barrier "),
              ElementsAre("0: taken part in by f, waited at by 1", "1: taken part in by f, waited at by 0"));
  EXPECT_THAT(steps.lines("waits for other threads at pc "),
              ElementsAre("3 (k.ptx:11:3), 1 threads, mask 1"));
}

}  // namespace
}  // namespace weft::warp_formation::test::convergence_barriers_test
