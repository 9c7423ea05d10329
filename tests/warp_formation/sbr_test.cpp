// Stack-based reconvergence, step by step: the worked example of the CROWN slides, and every corner case of
// the algorithm. Warps of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/sbr_options.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::sbr_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Config sbr(SbrOrder order = SbrOrder::kFallthroughFirst) {
  Config config;
  config.scheme = "sbr";
  config.warp_size = 4;
  config.own<SbrOptions>().order = order;
  return config;
}

// One warp of four threads through `program`; the guard at `pc` holds for the threads of `taken[pc]`.
struct OneWarp {
  OneWarp(const ptx::Program& p, const std::vector<std::pair<ptx::Pc, unsigned>>& guards,
          SbrOrder order = SbrOrder::kFallthroughFirst)
      : program(p), driver(program, sbr(order), four_lanes(4)) {
    driver.holds = [guards](unsigned thread, ptx::Pc pc, unsigned) {
      for (const auto& [at, mask] : guards) {
        if (at == pc) return (mask >> thread & 1) != 0;
      }
      return false;
    };
    driver.launch(4);
  }
  const ptx::Program& program;
  Driver driver;
};

const std::string kIfElse = R"(
  @%p1 bra C;              // A
  bra D;                   // B
C:
  add.u32 %r1, %r1, 1;     // C
D:
  ret;)";

// CROWN slides 13 and 14: A 1111, B 0110 (if), C 1001 (else), D 1111.
TEST(Sbr, RunsTheWorkedExampleOfTheSlides) {
  const ptx::Program program = kernel(kIfElse);
  ASSERT_EQ(program.code.size(), 4u);
  ASSERT_EQ(program.code[0].reconvergence, 3u);
  OneWarp warp(program, {{0, 0b1001}});
  warp.driver.run(100);
  EXPECT_THAT(issues(warp.driver), ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{1, 2}),
                                               Pair(2, Threads{0, 3}), Pair(3, Threads{0, 1, 2, 3})));
  EXPECT_THAT(cycles(warp.driver), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(warp.driver.statistic("deepest_stack"), 3);
  EXPECT_EQ(warp.driver.statistic("divergent_branches"), 1);
  unsigned lanes = 0, slots = 0;
  for (const auto& record : warp.driver.trace()) {
    lanes += static_cast<unsigned>(record.threads.size());
    slots += record.rows * 4;
  }
  EXPECT_EQ(lanes, 12u);
  EXPECT_EQ(slots, 16u);
}

std::vector<ptx::Pc> arms(SbrOrder order, unsigned taken) {
  const ptx::Program program = kernel(kIfElse);
  OneWarp warp(program, {{0, taken}}, order);
  warp.driver.run(100);
  return {warp.driver.trace()[1].pc, warp.driver.trace()[2].pc};
}

TEST(Sbr, OrderSaysWhichArmRunsFirst) {
  const ptx::Pc fallthrough = 1, taken = 2;
  EXPECT_THAT(arms(SbrOrder::kFallthroughFirst, 0b0111), ElementsAre(fallthrough, taken));
  EXPECT_THAT(arms(SbrOrder::kFallthroughFirst, 0b0001), ElementsAre(fallthrough, taken));
  EXPECT_THAT(arms(SbrOrder::kTakenFirst, 0b0111), ElementsAre(taken, fallthrough));
  EXPECT_THAT(arms(SbrOrder::kTakenFirst, 0b0001), ElementsAre(taken, fallthrough));
  // Groups form from the highest lane down, so the one without the highest lane comes out on top.
  EXPECT_THAT(arms(SbrOrder::kGs2Lane, 0b1001), ElementsAre(fallthrough, taken));
  EXPECT_THAT(arms(SbrOrder::kGs2Lane, 0b0110), ElementsAre(taken, fallthrough));
  EXPECT_THAT(arms(SbrOrder::kMinorityFirst, 0b0001), ElementsAre(taken, fallthrough));
  EXPECT_THAT(arms(SbrOrder::kMinorityFirst, 0b0111), ElementsAre(fallthrough, taken));
  EXPECT_THAT(arms(SbrOrder::kMinorityFirst, 0b0011), ElementsAre(fallthrough, taken));  // a tie
}

TEST(Sbr, OneSidedIfPushesOneEntry) {
  const ptx::Program program = kernel("  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\nD:\n  ret;");
  OneWarp warp(program, {{0, 0b0011}});
  warp.driver.run(100);
  EXPECT_THAT(issues(warp.driver), ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{2, 3}),
                                               Pair(2, Threads{0, 1, 2, 3})));
  EXPECT_EQ(warp.driver.statistic("deepest_stack"), 2);
}

TEST(Sbr, UniformBranchesPushNothing) {
  const ptx::Program program = kernel(kIfElse);
  for (const unsigned taken : {0b0000u, 0b1111u}) {
    OneWarp warp(program, {{0, taken}});
    warp.driver.run(100);
    EXPECT_EQ(warp.driver.trace().size(), 3u);
    EXPECT_EQ(warp.driver.statistic("deepest_stack"), 1);
    EXPECT_EQ(warp.driver.statistic("divergent_branches"), 0);
  }
}

TEST(Sbr, FourWaysAtOnce) {
  ptx::Program program = kernel(R"(
  @%p1 bra X1;
  bra D;
X1:
  bra D;
X2:
  bra D;
X3:
  add.u32 %r1, %r1, 1;
D:
  ret;)");
  OneWarp warp(program, {});
  warp.driver.jump = [](unsigned thread, ptx::Pc pc) { return pc == 0 ? ptx::Pc{4 - thread} : ptx::kNoPc; };
  warp.driver.run(100);
  // Fall-through first, then by PC; all meet at D.
  EXPECT_THAT(issues(warp.driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{3}), Pair(2, Threads{2}),
                          Pair(3, Threads{1}), Pair(4, Threads{0}), Pair(5, Threads{0, 1, 2, 3})));
  EXPECT_EQ(warp.driver.statistic("deepest_stack"), 5);
}

TEST(Sbr, LoopsDoNotGrowTheStack) {
  const ptx::Program program = kernel(R"(
  add.u32 %r1, %r1, 1;
AGAIN:
  add.u32 %r1, %r1, 1;
  @%p1 bra AGAIN;
  ret;)");
  Driver driver(program, sbr(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned visit) { return visit < 10 * (thread + 1); };
  driver.launch(4);
  driver.run(1000);
  EXPECT_EQ(driver.statistic("deepest_stack"), 2);
  // 41 turns of the loop, the number of the thread that stays longest; the last instruction once.
  EXPECT_EQ(driver.trace().size(), 1 + 41 * 2 + 1);
  EXPECT_THAT(driver.trace().back().threads, ElementsAre(0, 1, 2, 3));
}

TEST(Sbr, BlockThatBranchesToItself) {
  const ptx::Program program = kernel("B:\n  @%p1 bra B;\n  ret;");
  Driver driver(program, sbr(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned visit) { return visit < thread; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(0, Threads{1, 2, 3}), Pair(0, Threads{2, 3}),
                          Pair(0, Threads{3}), Pair(1, Threads{0, 1, 2, 3})));
  EXPECT_EQ(driver.statistic("deepest_stack"), 2);
}

TEST(Sbr, BranchToItsOwnReconvergencePoint) {
  const ptx::Program program = kernel("  @%p1 bra D;\nD:\n  ret;");
  OneWarp warp(program, {{0, 0b0101}});
  warp.driver.run(100);
  EXPECT_THAT(issues(warp.driver), ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{0, 1, 2, 3})));
}

TEST(Sbr, BreakSharesTheReconvergencePointOfItsLoop) {
  const ptx::Program program = kernel(R"(
AGAIN:
  @%p1 bra OUT;            // break
  add.u32 %r1, %r1, 1;
  @%p2 bra AGAIN;
OUT:
  ret;)");
  Driver driver(program, sbr(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? visit == thread : visit < 2;
  };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{1, 2, 3}), Pair(2, Threads{1, 2, 3}),
                          Pair(0, Threads{1, 2, 3}), Pair(1, Threads{2, 3}), Pair(2, Threads{2, 3}),
                          Pair(0, Threads{2, 3}), Pair(1, Threads{3}), Pair(2, Threads{3}),
                          Pair(3, Threads{0, 1, 2, 3})));
  EXPECT_EQ(driver.statistic("deepest_stack"), 2);
}

// Two entries into one block from different arms: it runs twice, and reconvergence comes late.
TEST(Sbr, UnstructuredFlowRepeatsTheSharedBlock) {
  const ptx::Program program = kernel(R"(
  @%p1 bra C;              // 0: A
  @%p2 bra S;              // 1: B
  bra D;                   // 2
C:
  @%p3 bra D;              // 3: C falls into the shared block
S:
  add.u32 %r1, %r1, 1;     // 4: shared by B and C
D:
  ret;)");
  OneWarp warp(program, {{0, 0b1100}, {1, 0b0001}, {3, 0b1000}});
  warp.driver.run(100);
  EXPECT_THAT(issues(warp.driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{0, 1}), Pair(2, Threads{1}),
                          Pair(4, Threads{0}), Pair(3, Threads{2, 3}), Pair(4, Threads{2}),
                          Pair(5, Threads{0, 1, 2, 3})));
}

// The if-arm exits: the virtual exit post-dominates the branch, so there is no point at which threads meet
// again.
TEST(Sbr, WithoutAReconvergencePointPathsEndApart) {
  const ptx::Program program = kernel(R"(
  @%p1 bra C;
  exit;
C:
  add.u32 %r1, %r1, 1;
  ret;)");
  ASSERT_EQ(program.code[0].reconvergence, ptx::kNoPc);
  OneWarp warp(program, {{0, 0b0110}});
  warp.driver.run(100);
  EXPECT_THAT(issues(warp.driver), ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{0, 3}),
                                               Pair(2, Threads{1, 2}), Pair(3, Threads{1, 2})));
}

TEST(Sbr, PredicatedExitLeavesEveryEntry) {
  const ptx::Program program = kernel(R"(
  @%p1 bra C;              // 0
  @%p2 exit;               // 1
  bra D;                   // 2
C:
  add.u32 %r1, %r1, 1;     // 3
D:
  ret;)");
  OneWarp warp(program, {{0, 0b1001}, {1, 0b0010}});
  warp.driver.run(100);
  EXPECT_EQ(warp.driver.trace().back().pc + 1, program.code.size());
  unsigned issued_thread_1 = 0;
  for (const auto& record : warp.driver.trace()) {
    issued_thread_1 += static_cast<unsigned>(std::count(record.threads.begin(), record.threads.end(), 1u));
  }
  EXPECT_EQ(issued_thread_1, 2u);  // the branch and the exit
}

TEST(Sbr, AWholeArmMayExit) {
  const ptx::Program program = kernel(R"(
  @%p1 bra D;
  @%p2 exit;
D:
  ret;)");
  OneWarp warp(program, {{0, 0b0011}, {1, 0b1111}});
  warp.driver.run(100);
  EXPECT_THAT(issues(warp.driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{2, 3}), Pair(2, Threads{0, 1})));
}

TEST(Sbr, BarrierHoldsEveryWarpOfItsBlockOnly) {
  const ptx::Program program = kernel("  @%p1 bra B;\n  add.u32 %r1, %r1, 1;\nB:\n  bar.sync 0;\n  ret;");
  Driver driver(program, sbr(), four_lanes(16));
  // Only the first warp of each block takes the long way.
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread % 32 >= 4; };
  driver.launch(6);  // a full warp and half of one
  driver.launch(4);
  driver.run(200);
  Cycle last_arrival = 0, first_leave = ~Cycle{0};
  for (const auto& record : driver.trace()) {
    if (record.slot != 0) continue;
    if (record.pc == 2) last_arrival = std::max(last_arrival, record.cycle);
    if (record.pc == 3) first_leave = std::min(first_leave, record.cycle);
  }
  EXPECT_GT(first_leave, last_arrival);
}

TEST(Sbr, ExitReleasesABarrier) {
  const ptx::Program program = kernel("  @%p1 exit;\n  bar.sync 0;\n  ret;");
  Driver driver(program, sbr(), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 4; };
  driver.refuse = [&](unsigned, const Issue& issue) {
    return issue.context == 1 && driver.now() < 20 ? Stall::kFetch
                                                   : Stall::kNone;  // the second warp comes late
  };
  driver.launch(8);
  driver.run(100);
  EXPECT_GT(driver.trace().back().cycle, 20u);
}

TEST(Sbr, AWarpWaitsForAllPartsOfItsLoad) {
  const ptx::Program program = kernel("  ld.global.u32 %r1, [%rd1];\n  ret;");
  Driver driver(program, sbr(), four_lanes(4));
  driver.memory_latency = 50;
  driver.launch(4);
  driver.run(200);
  EXPECT_THAT(issues(driver), ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{0, 1, 2, 3})));
}

TEST(Sbr, SpinLockInsideAWarpHangsAndIsDumped) {
  // The holder of the lock is below the spinning threads: the known deadlock of stack-based reconvergence.
  const ptx::Program program = kernel("SPIN:\n  @%p1 bra SPIN;\n  ret;");
  Driver driver(program, sbr(), four_lanes(4));
  driver.holds = [&driver](unsigned thread, ptx::Pc, unsigned) {
    return thread != 0 && driver.visits().count({0, 1}) == 0;  // until thread 0 has run what follows
  };
  driver.launch(4);
  try {
    driver.run(500);
    FAIL() << "no deadlock";
  } catch (const ContractError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("4 threads are still live"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("reconverges at pc 1"));
  }
}

// Threads 0 and 2 wait at a primitive for another warp of their chunk while 1 and 3, which it does not name,
// go on to the block barrier behind it. When 0 and 2 are released they must come there too, or it never
// opens.
TEST(Sbr, ThreadsReleasedFromAPrimitiveFollowOthersToABarrier) {
  const ptx::Program program = kernel(R"(
  @%p1 bra L0;             // 0
  bra L1;                  // 1
L0:
  bar.warp.sync -1;        // 2
L1:
  bar.sync 0;              // 3
  ret;                     // 4)");
  Steps steps(program, sbr(), four_lanes(4));
  steps.launch(4);
  const auto next = [&] {
    steps.cycle();
    return steps.issue();
  };
  EXPECT_EQ(next(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {1, 3}}, {2, {0, 2}}});
  EXPECT_EQ(next(), "pc 1: 1 3");
  steps.resolve(1, {{3, {1, 3}}});
  EXPECT_EQ(next(), "pc 2: 0 2");
  steps.resolve(2, {{3, {0, 2}}}, Outcome::Kind::kWarpSync);
  EXPECT_EQ(next(), "pc 3: 1 3");
  steps.resolve(3, {{4, {1, 3}}}, Outcome::Kind::kBarrier);
  EXPECT_EQ(next(), "");
  steps.release_sync({0, 2});
  EXPECT_EQ(steps.unit().census().barrier, 2u);
  EXPECT_EQ(next(), "pc 3: 0 2");
  steps.resolve(4, {{4, {0, 2}}}, Outcome::Kind::kBarrier);
  EXPECT_EQ(steps.unit().census().barrier, 4u);
  EXPECT_EQ(next(), "");
  steps.unit().barrier_released(0, 0);
  EXPECT_EQ(next(), "pc 4: 0 1 2 3");
}

}  // namespace
}  // namespace weft::warp_formation::test::sbr_test
