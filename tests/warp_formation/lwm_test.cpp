// Large warps: packing of columns on the masks of CROWN's slide 18, when a large warp goes on, fetch groups.
// Four lanes; a block of eight threads is two rows of a large warp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/lwm_options.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::lwm_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Config lwm(LwmRefetch refetch = LwmRefetch::kLast) {
  Config config;
  config.scheme = "lwm";
  config.own<LwmOptions>().large_warp = 32;
  config.own<LwmOptions>().refetch = refetch;
  return config;
}

// Block B is run by rows 0110 and 0001: no column has two of them, so one packed warp. Block C is run by 1001
// and 1110: two of them in the first column, so two.
TEST(Lwm, PacksTheColumnsOfSlide18) {
  const ptx::Program program = kernel(R"(
  @%p1 bra C;              // 0: A
  add.u32 %r1, %r1, 1;     // 1: B
  bra D;                   // 2
C:
  add.u32 %r1, %r1, 1;     // 3: C
D:
  ret;                     // 4: D
)");
  Driver driver(program, lwm(), four_lanes(32));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread != 1 && thread != 2 && thread != 7; };
  driver.launch(8);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(0, Threads{4, 5, 6, 7}),
                          Pair(1, Threads{1, 2, 7}), Pair(2, Threads{1, 2, 7}), Pair(3, Threads{0, 3, 5, 6}),
                          Pair(3, Threads{4}), Pair(4, Threads{0, 1, 2, 3}), Pair(4, Threads{4, 5, 6, 7})));
  EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(driver.statistic("deepest_stack"), 3);
  EXPECT_EQ(driver.statistic("divergent_branches"), 1);
  EXPECT_EQ(driver.statistic("packed_warps"), 8);
  EXPECT_EQ(driver.statistic("large_instructions"), 5);
}

// One packed warp per cycle, as many as the fullest column has threads; the front end stays with the large
// warp.
TEST(Lwm, AnInstructionTakesAsManyCyclesAsItsFullestColumn) {
  const ptx::Program program = kernel("  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\nD:\n  ret;");
  Driver driver(program, lwm(), four_lanes(64));
  // Column 0 of rows 0, 2 and 5, column 3 of row 1.
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) {
    const unsigned t = thread % 32;
    return t != 0 && t != 8 && t != 20 && t != 7;
  };
  driver.launch(32);
  driver.launch(32);
  driver.run(200);
  std::vector<Threads> add;
  for (const auto& record : driver.trace()) {
    if (record.pc == 1 && record.slot == 0) add.push_back(record.threads);
  }
  EXPECT_THAT(add, ElementsAre(Threads{0, 7}, Threads{8}, Threads{20}));
  // Eight cycles of the branch in a row, then the other block's.
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(driver.trace()[i].cycle, i + 1);
    EXPECT_EQ(driver.trace()[i].slot, i / 8);
  }
}

TEST(Lwm, BranchesThatAllTakeAlikeIssueOnce) {
  const ptx::Program program = kernel("  bra D;\nD:\n  ret;");
  Driver driver(program, lwm(), four_lanes(32));
  driver.launch(32);
  driver.run(100);
  EXPECT_EQ(driver.trace()[0].threads.size(), 32u);
  EXPECT_EQ(driver.trace().size(), 1u + 8u);
  EXPECT_EQ(driver.statistic("single_slot_branches"), 1);
}

const std::string kLoadAndAdd = "  ld.global.u32 %r1, [%rd1];\n  add.u32 %r1, %r1, 1;\n  ret;";

TEST(LwmRefetch, LastWaitsForEveryPackedWarp) {
  const ptx::Program program = kernel(kLoadAndAdd);
  Steps steps(program, lwm(), four_lanes(32));
  steps.launch(8);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.unit().census().issued, 4u);
  EXPECT_EQ(steps.unit().census().ready, 4u);
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(0, {{1, {0, 1, 2, 3}}});
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(1, {{1, {4, 5}}});
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(1, {{1, {6, 7}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0 1 2 3");
}

TEST(LwmRefetch, FirstPacksThreadsWhosePackedWarpIsDone) {
  const ptx::Program program = kernel(kLoadAndAdd);
  Steps steps(program, lwm(LwmRefetch::kFirst), four_lanes(32));
  steps.launch(8);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1, 2, 3}}});
  // Done, but the instruction is not issued as a whole yet.
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(1, {{1, {4}}});
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(1, {{1, {5, 6, 7}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "pc 1: 4 5 6 7");
  // The ret is control: it waits for both.
  steps.resolve(3, {{2, {4, 5, 6, 7}}});
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(2, {{2, {0, 1, 2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 2: 0 1 2 3");
}

TEST(LwmRefetch, FirstGoesOnWhileOthersWaitForMemory) {
  const ptx::Program program = kernel(kLoadAndAdd);
  Steps steps(program, lwm(LwmRefetch::kFirst), four_lanes(32));
  steps.launch(8);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");
  steps.resolve(1, {{1, {4, 5, 6, 7}}});
  EXPECT_EQ(steps.issue(), "pc 1: 4 5 6 7");
  EXPECT_EQ(steps.issue(), "");
  EXPECT_EQ(steps.unit().census().issued, 8u);
  steps.resolve(2, {{2, {4, 5, 6, 7}}});
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(0, {{1, {0, 1, 2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0 1 2 3");
}

TEST(LwmRefetch, FirstWaitsForTheLastBeforeThreadsReconverge) {
  const ptx::Program program =
      kernel("  @%p1 bra D;\n  ld.global.u32 %r1, [%rd1];\nD:\n  add.u32 %r1, %r1, 1;\n  ret;");
  Steps steps(program, lwm(LwmRefetch::kFirst), four_lanes(32));
  steps.launch(8);
  steps.issue();
  steps.issue();
  steps.resolve(0, {{1, {0, 1, 2, 3}}});
  steps.resolve(1, {{1, {4, 5, 6}}, {2, {7}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "pc 1: 4 5 6");
  steps.resolve(3, {{2, {4, 5, 6}}});
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(2, {{2, {0, 1, 2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 2: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "pc 2: 4 5 6 7");
}

// Threads that exit leave at once, the others when their packed warp comes.
TEST(Lwm, ExitsInParts) {
  const ptx::Program program = kernel("  @%p1 exit;\n  ret;");
  Driver driver(program, lwm(), four_lanes(32));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread < 6; };
  driver.launch(8);
  driver.run(100);  // the driver compares the census with the live threads after every cycle
  EXPECT_THAT(issues(driver), ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(0, Threads{4, 5, 6, 7}),
                                          Pair(1, Threads{6, 7})));
}

// Two original warps in one large warp meet at the block barrier from different arms, which is legal.
TEST(Lwm, PathsThatWaitAtABlockBarrierStandAside) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n  ret;");
  Config config = lwm();
  config.own<LwmOptions>().large_warp = 64;
  Geometry geometry = four_lanes(64);
  geometry.lanes = 32;
  Driver driver(program, config, geometry);
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 32; };
  driver.launch(64);
  driver.step();
  driver.step();
  driver.step();
  driver.step();
  EXPECT_EQ(driver.unit().census().barrier, 32u);
  driver.run(100);
  std::vector<ptx::Pc> pcs;
  for (const auto& record : driver.trace()) pcs.push_back(record.pc);
  // The second arm is at the reconvergence point when the barrier opens; the first one still has its branch
  // to run.
  EXPECT_THAT(pcs, ElementsAre(0, 0, 1, 3, 2, 4, 4));
  EXPECT_EQ(driver.statistic("bar_in_divergence"), 2);
}

// The first half waits at a barrier in its arm, the others wait for it where the arm ends: they go on, to the
// barrier behind it, and all leave together.
TEST(Lwm, ThreadsLeaveTheirReconvergencePointForABarrier) {
  const ptx::Program program = kernel("  @%p1 bra J;\n  bar.sync 0;\nJ:\n  @%p2 bar.sync 0;\n  ret;");
  Driver driver(program, lwm(), four_lanes(32));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 16; };
  driver.launch(32);
  driver.run(1000);
  EXPECT_EQ(driver.statistic("lone_departures"), 1);
  EXPECT_EQ(issues_of(driver, 1), 4u);
  // Each thread comes to the second barrier once, half of them with their guard false.
  EXPECT_EQ(issues_of(driver, 2), 8u);
  EXPECT_EQ(issues_of(driver, 3), 8u);
}

// The slots of the first 16 issues of two large warps, each a fetch group of its own.
std::vector<unsigned> fetch_groups(std::uint64_t timeout) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  add.u32 %r1, %r1, 1;\n  ret;");
  Config config = lwm();
  config.scheduling.name = "two_level";
  config.own<LwmOptions>().group_threads = 32;
  config.own<LwmOptions>().timeout_instructions = timeout;
  Driver driver(program, config, four_lanes(64));
  driver.launch(32);
  driver.launch(32);
  driver.run(200);
  std::vector<unsigned> slots;
  for (unsigned i = 0; i < 16; ++i) slots.push_back(driver.trace()[i].slot);
  return slots;
}

TEST(Lwm, AFetchGroupKeepsItsTurnUntilTheTimeout) {
  EXPECT_EQ(fetch_groups(0), std::vector<unsigned>(16, 0));
  EXPECT_EQ(fetch_groups(8), (std::vector<unsigned>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));
}

// Public explanations of the paper: 224 bytes for four large warps of 256 threads.
TEST(Lwm, StorageBesideTheStacks) {
  const ptx::Program program = kernel("  ret;");
  Config config = lwm();
  config.own<LwmOptions>().large_warp = 256;
  Driver driver(program, config, four_lanes(1024));
  EXPECT_EQ(driver.statistic("storage_bits"), 224 * 8);
}

}  // namespace
}  // namespace weft::warp_formation::test::lwm_test
