// Thread block compaction, event by event. Warps of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "warp_formation/driver.h"
#include "warp_formation/kernels.h"

namespace weft::warp_formation::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Threads = std::vector<unsigned>;
using Issued = std::tuple<Cycle, ptx::Pc, Threads>;

Config tbc(SbrOrder order = SbrOrder::kFallthroughFirst) {
  Config config;
  config.scheme = "tbc";
  config.warp_size = 4;
  config.tbc.order = order;
  return config;
}

Geometry four_lanes(unsigned threads) {
  Geometry geometry;
  geometry.threads = threads;
  geometry.simd_width = 4;
  geometry.slots = 2;
  geometry.chunks = 2;
  geometry.barrel = true;
  return geometry;
}

std::vector<Issued> issues(const Driver& driver) {
  std::vector<Issued> list;
  for (const auto& record : driver.trace()) list.emplace_back(record.cycle, record.pc, record.threads);
  return list;
}

const std::string kIfElse = R"(
  @%p1 bra C;              // 0: A
  bra D;                   // 1: B
C:
  add.u32 %r1, %r1, 1;     // 2: C
D:
  ret;)";

// CROWN slide 18, lane 0 first: W0 takes C 1001, B 0110; W1 takes C 1110, B 0001.
bool to_c(unsigned thread, ptx::Pc, unsigned) {
  return (0b01111001 >> thread & 1) != 0;
}

TEST(Tbc, CompactsTheMasksOfSlide18) {
  const ptx::Program program = kernel(kIfElse);
  Driver driver(program, tbc(), four_lanes(8));
  driver.holds = to_c;
  driver.launch(8);
  driver.run(100);
  // The block meets at the branch in cycle 3, and the compactor makes a warp per cycle: one for B, two for C
  // (threads 0 and 4 share a lane), and the static ones for D.
  EXPECT_THAT(issues(driver),
              ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 0, {4, 5, 6, 7}}, Issued{3, 1, {1, 2, 7}},
                          Issued{4, 2, {0, 3, 5, 6}}, Issued{5, 2, {4}}, Issued{6, 3, {0, 1, 2, 3}},
                          Issued{7, 3, {4, 5, 6, 7}}));
  EXPECT_EQ(driver.statistic("deepest_stack"), 3);
  EXPECT_EQ(driver.statistic("divergent_branches"), 1);
  EXPECT_EQ(driver.statistic("compactions"), 3);
  EXPECT_EQ(driver.statistic("compacted_warps"), 2 + 1 + 2 + 2);
  EXPECT_EQ(driver.statistic("uncompacted_warps"), 2 + 2 + 2);
}

TEST(Tbc, OrderSaysWhichArmRunsFirst) {
  const ptx::Program program = kernel(kIfElse);
  for (const auto& [order, first] : {std::pair{SbrOrder::kFallthroughFirst, 1u},
                                     {SbrOrder::kTakenFirst, 2u},
                                     {SbrOrder::kMinorityFirst, 1u}}) {
    Driver driver(program, tbc(order), four_lanes(8));
    driver.holds = to_c;  // five of eight
    driver.launch(8);
    driver.run(100);
    EXPECT_EQ(driver.trace()[2].pc, first);
  }
  Driver driver(program, tbc(SbrOrder::kMinorityFirst), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread == 6; };
  driver.launch(8);
  driver.run(100);
  EXPECT_EQ(driver.trace()[2].pc, 2u);
}

// Threads 0 and 5, of different warps and lanes, go on looping: one warp holds both. Loops do not grow the
// stack, and the static warps are back behind the loop.
TEST(Tbc, ALoopIsCompactedAtEachTurn) {
  const ptx::Program program = kernel("AGAIN:\n  add.u32 %r1, %r1, 1;\n  @%p1 bra AGAIN;\n  ret;");
  Driver driver(program, tbc(), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned visit) {
    return (thread == 0 || thread == 5) && visit < 3;
  };
  driver.launch(8);
  driver.run(200);
  std::vector<Threads> added;
  for (const auto& record : driver.trace()) {
    if (record.pc == 0) added.push_back(record.threads);
  }
  EXPECT_THAT(added, ElementsAre(Threads{0, 1, 2, 3}, Threads{4, 5, 6, 7}, Threads{0, 5}, Threads{0, 5},
                                 Threads{0, 5}));
  EXPECT_EQ(driver.trace().size(), 2u * 5 + 2);
  EXPECT_EQ(driver.trace().back().threads, (Threads{4, 5, 6, 7}));
  EXPECT_EQ(driver.statistic("deepest_stack"), 2);
}

// Where all threads go one way there is nothing to push, but the warps still meet.
TEST(Tbc, AUniformBranchKeepsTheEntry) {
  const ptx::Program program = kernel(kIfElse);
  Driver driver(program, tbc(), four_lanes(8));
  driver.holds = [](unsigned, ptx::Pc, unsigned) { return true; };
  driver.launch(8);
  driver.run(100);
  EXPECT_THAT(issues(driver), ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 0, {4, 5, 6, 7}},
                                          Issued{3, 2, {0, 1, 2, 3}}, Issued{4, 2, {4, 5, 6, 7}},
                                          Issued{5, 3, {0, 1, 2, 3}}, Issued{6, 3, {4, 5, 6, 7}}));
  EXPECT_EQ(driver.statistic("uniform_branches"), 1);
  EXPECT_EQ(driver.statistic("deepest_stack"), 1);
}

// Blocks do not wait for each other: the second runs on while a warp of the first is held up.
TEST(Tbc, OtherBlocksHideTheWaiting) {
  const ptx::Program program = kernel(kIfElse);
  Driver driver(program, tbc(), four_lanes(16));
  driver.holds = to_c;
  driver.refuse = [&driver](unsigned, const Issue& issue) {
    return issue.slot == 0 && issue.groups.data[0].mask == 0b11110000 && driver.now() < 50 ? Stall::kFetch
                                                                                           : Stall::kNone;
  };
  driver.launch(8);
  driver.launch(8);
  driver.run(200);
  Cycle last_of_second = 0, branch_of_first = 0;
  for (const auto& record : driver.trace()) {
    if (record.slot == 1) last_of_second = std::max(last_of_second, record.cycle);
    if (record.slot == 0 && record.pc == 1) branch_of_first = record.cycle;
  }
  EXPECT_LT(last_of_second, 50u);
  EXPECT_GT(branch_of_first, 50u);
}

TEST(Tbc, ExitsInsideArmsDoNotLeaveTheBlockWaiting) {
  const ptx::Program program = kernel(R"(
  @%p1 bra C;              // 0
  @%p2 exit;               // 1
  bra D;                   // 2
C:
  exit;                    // 3
D:
  ret;)");
  // Threads 1 and 2 exit under the guard, 7 does not; all of C's threads exit.
  Driver driver(program, tbc(), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? to_c(thread, pc, visit) : thread != 7;
  };
  driver.launch(8);
  driver.run(100);
  EXPECT_EQ(driver.trace().back().pc, 3u);
  Threads returned;
  for (const auto& record : driver.trace()) {
    if (record.pc == 4) returned.insert(returned.end(), record.threads.begin(), record.threads.end());
  }
  EXPECT_THAT(returned, ElementsAre(7));
}

// `if (i >= n) return;` before a barrier that is followed by the return: those that left wait in the entry
// below, and those at the barrier arrive at the reconvergence point only when it opens.
TEST(Tbc, ABarrierRightBeforeTheReconvergencePoint) {
  const ptx::Program program = kernel(R"(
  @%p1 bra D;              // 0
  bar.sync 0;              // 1
D:
  ret;)");
  Driver driver(program, tbc(), four_lanes(8));
  driver.holds = [](unsigned, ptx::Pc, unsigned) { return false; };
  driver.launch(8);
  driver.run(100);
  EXPECT_EQ(driver.trace().size(), 6u);
  // Two threads leave early. The stand-in for the SM knows nothing of waiting_to_exit, so ask the unit.
  Driver early(program, tbc(), four_lanes(8));
  early.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread < 2; };
  early.launch(8);
  for (int i = 0; i < 20; ++i) early.step();
  EXPECT_EQ(early.unit().waiting_to_exit(0), 2u);
  EXPECT_EQ(early.unit().census().barrier, 6u);
  EXPECT_EQ(early.unit().census().reconvergence, 2u);
}

TEST(Tbc, FourWaysAtOnce) {
  ptx::Program program = kernel(
      "  @%p1 bra X1;\n  bra D;\nX1:\n  bra D;\nX2:\n  bra D;\nX3:\n  add.u32 %r1, %r1, 1;\nD:\n  ret;");
  Driver driver(program, tbc(), four_lanes(8));
  driver.jump = [](unsigned thread, ptx::Pc pc) {
    return pc == 0 ? ptx::Pc{1 + (thread % 4 + thread / 4) % 4} : ptx::kNoPc;
  };
  driver.launch(8);
  driver.run(100);
  // Thread t of W0 and t - 1 of W1 go the same way: all four arms take one warp of two threads.
  std::vector<std::pair<ptx::Pc, Threads>> arms;
  for (const auto& record : driver.trace()) {
    if (record.pc >= 1 && record.pc <= 4) arms.emplace_back(record.pc, record.threads);
  }
  using Arm = std::pair<ptx::Pc, Threads>;
  EXPECT_THAT(arms, ElementsAre(Arm{1, {0, 7}}, Arm{2, {1, 4}}, Arm{3, {2, 5}}, Arm{4, {3, 6}}));
  EXPECT_EQ(driver.statistic("deepest_stack"), 5);
}

// The holder of a lock waits below the threads that spin: as under a stack per warp, and now for the whole
// block.
TEST(Tbc, ASpinLockInsideABlockHangsAndIsDumped) {
  const ptx::Program program = kernel("SPIN:\n  @%p1 bra SPIN;\n  ret;");
  Driver driver(program, tbc(), four_lanes(8));
  driver.holds = [&driver](unsigned thread, ptx::Pc, unsigned) {
    return thread != 0 && driver.visits().count({0, 1}) == 0;
  };
  driver.launch(8);
  try {
    driver.run(500);
    FAIL() << "no deadlock";
  } catch (const ContractError& error) {
    EXPECT_THAT(error.what(), HasSubstr("8 threads are still live"));
    EXPECT_THAT(error.what(), HasSubstr("entry that waits at pc 1"));
    EXPECT_THAT(error.what(), HasSubstr("reconverges at pc 1"));
  }
}

class Willing final : public SmView {
 public:
  Stall ready(unsigned, const Issue&) const override { return Stall::kNone; }
};

TEST(Tbc, WarpSyncKeepsAWarpUntilAllItsThreadsAreReleased) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  ret;");
  const auto unit = create(tbc(), four_lanes(4));
  const Willing sm;
  unit->attach(program, sm);
  unit->launch({0, 0, 4});
  unit->advance(1);
  Issue issue;
  ASSERT_EQ(unit->pick(0, ~0u, issue), Stall::kNone);
  unit->issued(7, issue);
  const ThreadGroup all{0b1111, 0, 0, false}, some{0b0101, 0, 0, false}, rest{0b1010, 0, 0, false};
  Outcome outcome;
  outcome.kind = Outcome::Kind::kWarpSync;
  outcome.next_pc = 1;
  outcome.groups = {&all, 1};
  unit->resolved(7, {&outcome, 1});
  EXPECT_EQ(unit->census().warp_sync, 4u);
  unit->warp_sync_released({&some, 1});
  EXPECT_EQ(unit->pick(0, ~0u, issue), Stall::kReconvergence);
  unit->warp_sync_released({&rest, 1});
  ASSERT_EQ(unit->pick(0, ~0u, issue), Stall::kNone);
  EXPECT_EQ(issue.pc, 1u);
  EXPECT_EQ(unit->census().ready, 4u);
}

}  // namespace
}  // namespace weft::warp_formation::test
