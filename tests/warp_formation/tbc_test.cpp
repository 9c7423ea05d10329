// Thread block compaction, event by event. Warps of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"
#include "warp_formation/tbc_block.h"
#include "warp_formation/tbc_options.h"

namespace weft::warp_formation::test::tbc_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Issued = std::tuple<Cycle, ptx::Pc, Threads>;

Config tbc(SbrOrder order = SbrOrder::kFallthroughFirst) {
  Config config;
  config.scheme = "tbc";
  config.warp_size = 4;
  config.own<TbcOptions>().order = order;
  return config;
}

std::vector<Issued> timed_issues(const Driver& driver) {
  std::vector<Issued> list;
  for (const auto& record : driver.trace()) list.emplace_back(record.cycle, record.pc, record.threads);
  return list;
}

using Kind = Outcome::Kind;

// What is issued in the next cycle.
std::string next(Steps& steps) {
  steps.cycle();
  return steps.issue();
}

// Launches 8 threads, whose two warps (issues 0 and 1) part at PC 0.
void part(Steps& steps, const std::vector<std::pair<ptx::Pc, Threads>>& paths) {
  steps.launch(8);
  for (unsigned warp = 0; warp < 2; ++warp) next(steps);
  for (IssueId warp = 0; warp < 2; ++warp) {
    for (const auto& [pc, threads] : paths) {
      Threads own;
      for (const unsigned t : threads) {
        if (t / 4 == warp) own.push_back(t);
      }
      if (!own.empty()) steps.resolve(warp, {{pc, own}});
    }
  }
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
  return thread < 8 && (0b01111001 >> thread & 1) != 0;
}

TEST(Tbc, CompactsTheMasksOfSlide18) {
  const ptx::Program program = kernel(kIfElse);
  Driver driver(program, tbc(), four_lanes(8));
  driver.holds = to_c;
  driver.launch(8);
  driver.run(100);
  // The block meets at the branch in cycle 3, and the compactor makes a warp per cycle: one for B, two for C
  // (threads 0 and 4 share a lane), and the static ones for D.
  EXPECT_THAT(timed_issues(driver),
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
  EXPECT_THAT(timed_issues(driver), ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 0, {4, 5, 6, 7}},
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
  Config config = tbc();
  config.reconvergence = Reconvergence::kPlain;
  Driver driver(program, config, four_lanes(8));
  driver.holds = [](unsigned, ptx::Pc, unsigned) { return false; };
  driver.launch(8);
  driver.run(100);
  EXPECT_EQ(driver.trace().size(), 6u);
  // Threads 0 and 1 leave early.
  Steps steps(program, config, four_lanes(8));
  part(steps, {{2, {0, 1}}, {1, {2, 3, 4, 5, 6, 7}}});
  EXPECT_EQ(next(steps), "pc 1: 2 3 4 5");
  EXPECT_EQ(next(steps), "pc 1: 6 7");
  steps.resolve(2, {{2, {2, 3, 4, 5}}}, Kind::kBarrier);
  steps.resolve(3, {{2, {6, 7}}}, Kind::kBarrier);
  EXPECT_EQ(steps.unit().waiting_to_exit(0), 2u);
  EXPECT_EQ(steps.unit().ending(0), 0b11u);
  EXPECT_EQ(steps.unit().ending(1), 0u);
  EXPECT_EQ(steps.unit().census().barrier, 6u);
  EXPECT_EQ(steps.unit().census().reconvergence, 2u);
  steps.unit().barrier_released(0, 0);
  EXPECT_EQ(next(steps), "pc 2: 0 1 2 3");
  EXPECT_EQ(next(steps), "pc 2: 4 5 6 7");
  EXPECT_EQ(steps.statistic("lone_departures"), 0);
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

// --- Threads that wait for others of the block

TEST(Tbc, ReleasedThreadsLeaveTheOthersOfTheirWarpBehind) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  ret;");
  Steps steps(program, tbc(), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(next(steps), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1, 2, 3}}}, Kind::kWarpSync);
  EXPECT_EQ(steps.unit().census().warp_sync, 4u);
  steps.release_sync({0, 2});
  EXPECT_EQ(steps.issue(), "") << "who else is released in this cycle is not known yet";
  EXPECT_EQ(next(steps), "pc 1: 0 2");
  EXPECT_EQ(steps.unit().census().warp_sync, 2u);
  steps.resolve(1, {{1, {0, 2}}}, Kind::kExit);
  EXPECT_EQ(next(steps), "");
  EXPECT_THAT(steps.lines("block slot 0: "), ElementsAre(HasSubstr("no path can run")));
  steps.release_sync({1, 3});
  EXPECT_EQ(next(steps), "pc 1: 1 3");
}

TEST(Tbc, AllReleasedInOneCycleStayTogether) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  ret;");
  Steps steps(program, tbc(), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(next(steps), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1, 2, 3}}}, Kind::kWarpSync);
  steps.release_sync({0, 2});
  steps.release_sync({1, 3});
  EXPECT_EQ(next(steps), "pc 1: 0 1 2 3");
  EXPECT_EQ(steps.statistic("path_switches"), 0);
}

const std::string kTwoArms = R"(
  @%p1 bra C;              // 0: A
  add.u32 %r1, %r1, 1;     // 1: B
  bra D;                   // 2
C:
  add.u32 %r1, %r1, 1;     // 3: C
D:
  add.u32 %r1, %r1, 1;     // 4
  ret;                     // 5)";

// The threads of B wait for those of C, and the other way round: each arm comes to the top when the other
// waits, and they meet at D all the same.
TEST(Tbc, BothArmsRunIfTheyWaitForEachOther) {
  const ptx::Program program = kernel(kTwoArms);
  for (const Kind kind : {Kind::kWarpSync, Kind::kBarrier}) {
    Steps steps(program, tbc(), four_lanes(8));
    part(steps, {{1, {0, 1, 2, 3}}, {3, {4, 5, 6, 7}}});
    EXPECT_EQ(next(steps), "pc 1: 0 1 2 3");
    steps.resolve(2, {{2, {0, 1, 2, 3}}}, kind);
    EXPECT_EQ(next(steps), "pc 3: 4 5 6 7");
    EXPECT_EQ(steps.unit().census().warp_sync + steps.unit().census().barrier, 4u);
    steps.resolve(3, {{4, {4, 5, 6, 7}}}, kind);
    if (kind == Kind::kBarrier) {
      steps.unit().barrier_released(0, 0);
    } else {
      steps.release_sync({0, 1, 2, 3, 4, 5, 6, 7});
    }
    EXPECT_EQ(next(steps), "pc 2: 0 1 2 3") << "C has arrived at D";
    steps.resolve(4, {{4, {0, 1, 2, 3}}});
    EXPECT_EQ(next(steps), "pc 4: 0 1 2 3");
    EXPECT_EQ(next(steps), "pc 4: 4 5 6 7");
    EXPECT_EQ(steps.statistic("path_switches"), 1);
    EXPECT_EQ(steps.statistic("lone_departures"), 0);
  }
}

// A compacted warp holds threads 0 and 5, of two original warps. 0 is released, 5 waits for a thread that
// needs 0 to go on: as warps of their own they would not hang, so they part here too.
TEST(Tbc, AThreadDoesNotWaitForThoseItWasCompactedWith) {
  const ptx::Program program = kernel(kTwoArms);
  Steps steps(program, tbc(), four_lanes(8));
  part(steps, {{1, {0, 5}}, {3, {1, 2, 3, 4, 6, 7}}});
  EXPECT_EQ(next(steps), "pc 1: 0 5");
  steps.resolve(2, {{2, {0}}});
  steps.resolve(2, {{2, {5}}}, Kind::kWarpSync);
  EXPECT_EQ(next(steps), "pc 2: 0");
}

// Threads 0 to 3 wait in the arm for the others, which have passed it by and wait for them at D. As warps
// they would go on; the branch at 0 is in no other, so they meet again at the exit only.
TEST(Tbc, AsALastResortThreadsGoOnFromTheReconvergencePointAlone) {
  const ptx::Program program =
      kernel("  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\nD:\n  add.u32 %r1, %r1, 1;\n  ret;");
  Steps steps(program, tbc(), four_lanes(8));
  part(steps, {{1, {0, 1, 2, 3}}, {2, {4, 5, 6, 7}}});
  EXPECT_EQ(next(steps), "pc 1: 0 1 2 3");
  steps.resolve(2, {{2, {0, 1, 2, 3}}}, Kind::kBarrier);
  EXPECT_EQ(steps.unit().census().reconvergence, 4u);
  EXPECT_EQ(next(steps), "pc 2: 4 5 6 7");
  steps.resolve(3, {{3, {4, 5, 6, 7}}}, Kind::kBarrier);
  EXPECT_EQ(steps.unit().census().barrier, 8u);
  EXPECT_EQ(steps.unit().ending(0), 0u) << "threads that come to their exit are at the barrier still";
  steps.unit().barrier_released(0, 0);
  EXPECT_EQ(next(steps), "pc 3: 4 5 6 7");
  EXPECT_EQ(steps.statistic("lone_departures"), 1);
}

// Threads of one warp at two barriers: it goes on when both have opened.
TEST(Tbc, ThreadsOfAWarpMayWaitAtDifferentBarriers) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  ret;");
  Steps steps(program, tbc(), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(next(steps), "pc 0: 0 1 2 3");
  ThreadGroup groups[] = {{0b0011, 0, 0, false}, {0b1100, 0, 0, false}};
  Outcome outcomes[2];
  for (unsigned i = 0; i < 2; ++i) {
    outcomes[i].kind = Kind::kBarrier;
    outcomes[i].next_pc = 1;
    outcomes[i].argument = 3 + i;
    outcomes[i].groups = {&groups[i], 1};
  }
  steps.unit().resolved(0, {outcomes, 2});
  steps.unit().barrier_released(0, 4);
  EXPECT_EQ(steps.issue(), "");
  EXPECT_EQ(steps.unit().census().barrier, 4u);
  steps.unit().barrier_released(0, 3);
  EXPECT_EQ(next(steps), "pc 1: 0 1 2 3");
}

// --- Where the warps of a block meet

// Of a guarded call only W0's threads part, and W1 goes on as a whole: it meets W0 nevertheless. The same
// holds for bra.uni, whose guard may differ between the warps of a block.
TEST(Tbc, WarpsMeetWhereThreadsMayPart) {
  ptx::Program program = kernel(kTwoArms);
  for (const ptx::Opcode op : {ptx::Opcode::kCall, ptx::Opcode::kBra}) {
    program.code[0].op = op;
    program.code[0].uniform = true;
    const std::uint16_t called = op == ptx::Opcode::kCall ? 1 : 0;
    Steps steps(program, tbc(), four_lanes(8));
    steps.launch(8);
    EXPECT_EQ(next(steps), "pc 0: 0 1 2 3");
    EXPECT_EQ(next(steps), "pc 0: 4 5 6 7");
    steps.resolve(1, {{1, {4, 5, 6, 7}}});
    EXPECT_EQ(next(steps), "");
    steps.resolve(0, {{1, {0, 1}}});
    steps.resolve(0, {{3, {2, 3}}}, Kind::kGo, called);
    EXPECT_EQ(next(steps), "pc 1: 0 1 6 7");
    EXPECT_EQ(next(steps), "pc 1: 4 5");
  }
  ptx::Instruction instruction;
  instruction.op = ptx::Opcode::kCall;
  instruction.target = 7;
  instruction.guard = -1;
  EXPECT_FALSE(may_part(instruction)) << "all call the same function";
  instruction.target = ptx::kNoPc;
  EXPECT_TRUE(may_part(instruction)) << "a call through a register";
}

// Threads return to two callers: as all are of one entry that reconverges nowhere, each caller's go their
// way. Within an entry that does, its point and call depth are kept.
TEST(Tbc, ReturnsToSeveralCallersMeetWhereTheirEntryDid) {
  ptx::Program program = kernel(kTwoArms + "\n  add.u32 %r1, %r1, 1;\n  ret;");
  program.code[1].op = ptx::Opcode::kReturn;
  Steps steps(program, tbc(), four_lanes(8));
  part(steps, {{1, {0, 1, 4, 5}}, {3, {2, 3, 6, 7}}});  // both arms at depth 0, D = 4
  EXPECT_EQ(next(steps), "pc 1: 0 1");
  EXPECT_EQ(next(steps), "pc 1: 4 5");
  steps.resolve(2, {{2, {0}}, {3, {1}}});
  steps.resolve(3, {{2, {4}}, {3, {5}}});
  EXPECT_EQ(next(steps), "pc 2: 0");
  EXPECT_EQ(next(steps), "pc 2: 4");
  EXPECT_THAT(steps.lines("entry that runs at pc 2 "),
              ElementsAre(HasSubstr("2 threads, reconverges at pc 4")));
  steps.resolve(4, {{4, {0}}}, Kind::kGo, 1);  // the same PC, one call deeper, is somewhere else
  steps.resolve(5, {{4, {4}}});
  EXPECT_EQ(next(steps), "pc 4: 0");
}

// What waits at a warp-level primitive does not wait at its exit, though the exit comes next.
TEST(Tbc, ThreadsAtAPrimitiveBeforeTheirExitAreStillNeeded) {
  const ptx::Program program = kernel(kTwoArms);
  Steps steps(program, tbc(), four_lanes(8));
  part(steps, {{1, {0, 1, 2, 3}}, {3, {4, 5, 6, 7}}});
  EXPECT_EQ(next(steps), "pc 1: 0 1 2 3");
  steps.resolve(2, {{5, {0, 1, 2, 3}}}, Kind::kWarpSync);
  EXPECT_EQ(next(steps), "pc 3: 4 5 6 7");
  EXPECT_EQ(steps.unit().ending(0), 0u);
  steps.release_sync({0, 1, 2, 3});
  EXPECT_EQ(steps.unit().ending(0), 0b1111u);
}

}  // namespace
}  // namespace weft::warp_formation::test::tbc_test
