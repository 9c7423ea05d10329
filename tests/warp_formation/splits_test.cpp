// Schemes that let several splits of a warp run at a time, step by step: multi_path, dual_path and dws. Warps
// of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/split_options.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::splits_test {
namespace {

using ::testing::ElementsAre;
using Kind = Outcome::Kind;

Config scheme(const std::string& name) {
  Config config;
  config.scheme = name;
  config.warp_size = 4;
  return config;
}

// if (a) { if (b) X; else Y; } else Z;
const std::string kNested = R"(
  @%p1 bra E;              // 0: a; meets at 7
  @%p2 bra C;              // 1: b; meets at 5
  add.u32 %r1, %r1, 1;     // 2: Y
  bra D;                   // 3
C:
  add.u32 %r1, %r1, 1;     // 4: X
D:
  bra J;                   // 5
E:
  add.u32 %r1, %r1, 1;     // 6: Z
J:
  ret;                     // 7)";

// Threads 0, 1 and 2 take the outer then, of these 1 and 2 the inner: the places that `name` has under way,
// from the first branch on.
void part_twice(Steps& steps) {
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "") << "it is under way";
  steps.resolve(0, {{1, {0, 1, 2}}, {6, {3}}});
}

// All three paths are under way at a time. D runs when its two paths have come, the end when all three have.
TEST(MultiPath, AllPathsOfAWarpAreUnderWay) {
  const ptx::Program program = kernel(kNested);
  Steps steps(program, scheme("multi_path"), four_lanes(4));
  part_twice(steps);
  EXPECT_EQ(steps.issue(), "pc 6: 3");
  EXPECT_EQ(steps.issue(), "pc 1: 0 1 2");
  EXPECT_EQ(steps.issue(), "");
  steps.resolve(2, {{2, {0}}, {4, {1, 2}}});
  EXPECT_EQ(steps.issue(), "pc 4: 1 2");
  EXPECT_EQ(steps.issue(), "pc 2: 0");
  steps.resolve(1, {{7, {3}}});
  EXPECT_EQ(steps.issue(), "") << "thread 3 waits for the others";
  steps.resolve(3, {{5, {1, 2}}});
  EXPECT_EQ(steps.issue(), "") << "1 and 2 wait for thread 0";
  EXPECT_THAT(steps.lines("waits for "), ElementsAre("3 others at pc 7 (k.ptx:18:3), 1 thread, mask 8",
                                                     "1 others at pc 5 (k.ptx:14:3), 2 threads, mask 6"));
  steps.resolve(4, {{3, {0}}});
  EXPECT_EQ(steps.issue(), "pc 3: 0");
  steps.resolve(5, {{5, {0}}});
  EXPECT_EQ(steps.issue(), "pc 5: 0 1 2");
  steps.resolve(6, {{7, {0, 1, 2}}});
  EXPECT_EQ(steps.issue(), "pc 7: 0 1 2 3");
  EXPECT_EQ(steps.statistic("most_splits"), 3);
  EXPECT_EQ(steps.statistic("most_points"), 2);
}

// The stack of dual_path: while the inner branch's row is on top, Z is not issued, though it could be.
TEST(DualPath, OnlyTheInnermostBranchHasBothPathsUnderWay) {
  const ptx::Program program = kernel(kNested);
  Steps steps(program, scheme("dual_path"), four_lanes(4));
  part_twice(steps);
  EXPECT_EQ(steps.issue(), "pc 6: 3") << "a path of the outer branch, as long as it is the only one";
  EXPECT_EQ(steps.issue(), "pc 1: 0 1 2");
  steps.resolve(2, {{2, {0}}, {4, {1, 2}}});
  steps.resolve(1, {{6, {3}}});  // as if Z had another instruction
  EXPECT_EQ(steps.issue(), "pc 4: 1 2");
  EXPECT_EQ(steps.issue(), "pc 2: 0");
  EXPECT_EQ(steps.issue(), "") << "Z is beneath";
  steps.resolve(3, {{5, {1, 2}}});
  steps.resolve(4, {{5, {0}}});
  EXPECT_EQ(steps.issue(), "pc 6: 3") << "the row has gone";
  EXPECT_EQ(steps.issue(), "pc 5: 0 1 2");
  EXPECT_EQ(steps.statistic("deepest_stack"), 3);
}

// A branch of four targets has two rows: of its four paths two run at a time.
TEST(DualPath, OfMorePathsTwoRunAtATime) {
  const ptx::Program program = kernel(
      "  @%p1 bra E;\n  add.u32 %r1, %r1, 1;\n  add.u32 %r1, %r1, 1;\n  add.u32 %r1, %r1, 1;\nE:\n  ret;");
  Steps steps(program, scheme("dual_path"), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0}}, {2, {1}}, {3, {2, 3}}});
  EXPECT_NE(steps.issue(), "");
  EXPECT_NE(steps.issue(), "");
  EXPECT_EQ(steps.issue(), "");
  EXPECT_THAT(steps.lines("waits for its turn at "), ElementsAre("pc 3 (k.ptx:9:3), 2 threads, mask c"));
}

// A thread that left a spin loop waits for those that turn in it. It goes on after `timeout` cycles in which
// nobody came.
TEST(MultiPath, ATimeOutLetsThreadsGoOnAlone) {
  const ptx::Program program = kernel("L:\n  @%p1 bra L;\n  add.u32 %r1, %r1, 1;\n  ret;");
  Config config = scheme("multi_path");
  config.own<MultiPathOptions>().timeout = 5;
  Steps steps(program, config, four_lanes(4));
  steps.launch(4);
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0}}, {0, {1, 2, 3}}});
  for (unsigned i = 0; i < 5; ++i) {
    steps.cycle();
    EXPECT_THAT(steps.lines("waits for "), ElementsAre("3 others at pc 1 (k.ptx:8:3), 1 thread, mask 1"))
        << i;
  }
  steps.cycle();
  EXPECT_THAT(steps.lines("waits for "), ElementsAre());
  EXPECT_THAT(steps.lines("ready at "),
              ElementsAre("pc 1 (k.ptx:8:3), 1 thread, mask 1", "pc 0 (k.ptx:7:3), 3 threads, mask e"));
  EXPECT_EQ(steps.statistic("timeouts"), 1);
}

// --- dws ---------------------------------------------------------------------------------------------------

// if (a) X; else Y; then a block of `length` instructions.
std::string if_before(unsigned length) {
  std::string body = "  @%p1 bra E;\n  add.u32 %r1, %r1, 1;\n  bra J;\nE:\n  add.u32 %r1, %r1, 1;\nJ:\n";
  for (unsigned i = 1; i < length; ++i) body += "  add.u32 %r1, %r1, 1;\n";
  return body + "  ret;";
}

// The paths of a branch before a short block run at a time; before a longer one they take turns.
TEST(Dws, ABranchBeforeAShortBlockDividesTheWarp) {
  for (const unsigned length : {3u, 4u}) {
    const ptx::Program program = kernel(if_before(length));
    Config config = scheme("dws");
    config.own<DwsOptions>().short_block = 3;
    Steps steps(program, config, four_lanes(4));
    steps.launch(4);
    EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
    steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
    EXPECT_NE(steps.issue(), "");
    EXPECT_EQ(steps.issue().empty(), length == 4);
    EXPECT_EQ(steps.statistic("branch_divisions"), length == 3 ? 1 : 0);
    EXPECT_EQ(steps.statistic("full"), 0);
  }
}

// A divided warp has no point at the post-dominator (4): its splits pass it, and become one where they meet.
TEST(Dws, SplitsPassThePostDominatorAndMeetWhereOneCatchesUp) {
  const ptx::Program program = kernel(if_before(3));
  Steps steps(program, scheme("dws"), four_lanes(4));
  steps.launch(4);
  steps.issue();
  steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 3: 2 3");
  EXPECT_EQ(steps.issue(), "pc 1: 0 1");
  steps.resolve(1, {{4, {2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 4: 2 3") << "past the post-dominator";
  steps.resolve(2, {{2, {0, 1}}});
  EXPECT_EQ(steps.issue(), "pc 2: 0 1");
  steps.resolve(3, {{5, {2, 3}}});
  steps.resolve(4, {{5, {0, 1}}});  // as if it were one ahead
  EXPECT_EQ(steps.issue(), "pc 5: 0 1 2 3");
  EXPECT_EQ(steps.statistic("merges"), 1);
}

// A table of two entries has room for one divided warp: the second one's paths take turns.
TEST(Dws, WithoutRoomInTheTableAWarpIsNotDivided) {
  const ptx::Program program = kernel(if_before(3));
  Config config = scheme("dws");
  config.own<DwsOptions>().entries = 2;
  Steps steps(program, config, four_lanes(8));
  steps.launch(8);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");
  steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
  steps.resolve(1, {{1, {4, 5}}, {3, {6, 7}}});
  EXPECT_NE(steps.issue(), "");
  EXPECT_NE(steps.issue(), "");
  EXPECT_NE(steps.issue(), "");
  EXPECT_EQ(steps.issue(), "");
  EXPECT_THAT(steps.lines("waits for its turn at "), ElementsAre("pc 3 (k.ptx:10:3), 2 threads, mask c"));
  EXPECT_EQ(steps.statistic("branch_divisions"), 1);
  EXPECT_EQ(steps.statistic("full"), 1);
}

// Threads 0 and 1 have their data.
Steps half_loaded(const ptx::Program& program, MemorySplits memory, RunAhead run_ahead) {
  Config config = scheme("dws");
  config.own<DwsOptions>().memory = memory;
  config.own<DwsOptions>().run_ahead = run_ahead;
  Steps steps(program, config, four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.unit().memory_issued(0);
  steps.resolve(0, {{1, {0, 1}}});
  return steps;
}
const std::string kLoad =
    "  ld.global.u32 %r2, [%rd1];\n  add.u32 %r1, %r1, 1;\n  @%p1 bra E;\n  add.u32 %r1, %r1, 1;\nE:\n  ret;";

TEST(Dws, ThreadsWhoseDataHaveComeRunAhead) {
  const ptx::Program program = kernel(kLoad);
  Steps none = half_loaded(program, MemorySplits::kNone, RunAhead::kBeyondBranches);
  EXPECT_EQ(none.issue(), "");
  EXPECT_EQ(none.issue(), "");
  Steps aggressive = half_loaded(program, MemorySplits::kAggressive, RunAhead::kBeyondBranches);
  EXPECT_EQ(aggressive.issue(), "pc 1: 0 1");
  EXPECT_EQ(aggressive.statistic("memory_divisions"), 1);
  // Revive divides the warp when nothing can be issued; the new split is fetched for before it is offered.
  Steps revive = half_loaded(program, MemorySplits::kRevive, RunAhead::kBeyondBranches);
  EXPECT_EQ(revive.issue(), "");
  EXPECT_EQ(revive.issue(), "pc 1: 0 1");
  EXPECT_EQ(revive.statistic("memory_divisions"), 1);
}

// To the branch, where they wait for the others, or beyond it.
TEST(Dws, ThreadsRunAheadToTheNextBranchOrBeyond) {
  const ptx::Program program = kernel(kLoad);
  for (const RunAhead run_ahead : {RunAhead::kToBranch, RunAhead::kBeyondBranches}) {
    Steps steps = half_loaded(program, MemorySplits::kAggressive, run_ahead);
    EXPECT_EQ(steps.issue(), "pc 1: 0 1");
    steps.resolve(1, {{2, {0, 1}}});
    const bool waits = run_ahead == RunAhead::kToBranch;
    EXPECT_EQ(steps.issue(), waits ? "" : "pc 2: 0 1");
    if (!waits) continue;
    steps.resolve(0, {{1, {2, 3}}});
    EXPECT_EQ(steps.issue(), "pc 1: 2 3");
    steps.resolve(2, {{2, {2, 3}}});
    EXPECT_EQ(steps.issue(), "pc 2: 0 1 2 3");
  }
}

// Without either kind of division dws is sbr: the same threads in the same cycles.
TEST(Dws, WithoutDivisionsItIsSbr) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ptx::Program program = random_kernel(seed);
    std::vector<std::vector<Record>> traces;
    for (const char* name : {"sbr", "dws"}) {
      Config config = scheme(name);
      config.own<DwsOptions>().branches = BranchSplits::kNone;
      config.own<DwsOptions>().memory = MemorySplits::kNone;
      Driver driver(program, config, four_lanes(64));
      driver.holds = [&](unsigned thread, ptx::Pc pc, unsigned visit) {
        return random_guard(seed, program, thread, pc, visit);
      };
      driver.launch(50);
      driver.run(100'000);
      traces.push_back(driver.trace());
    }
    const bool has_barrier = std::any_of(program.code.begin(), program.code.end(),
                                         [](const auto& instruction) { return instruction.is_barrier(); });
    if (has_barrier) continue;  // paths that step aside have another order there
    EXPECT_EQ(traces[0], traces[1]) << "seed " << seed;
  }
}

// --- contexts ----------------------------------------------------------------------------------------------

// 64 warps, each with 8 splits, are more than the 256 contexts that there are. Splits wait for one, and each
// gets its turn: all threads come to the end.
TEST(MultiPath, SplitsWaitForAContextAndGetOne) {
  std::string body = "  @%p1 bra X;\n";
  for (unsigned i = 0; i < 8; ++i) body += "  add.u32 %r1, %r1, 1;\n";
  const ptx::Program program = kernel(body + "X:\n  ret;");
  Config config = scheme("multi_path");
  config.warp_size = 16;
  Geometry geometry = four_lanes(1024);
  geometry.slots = 1;
  geometry.chunks = 32;
  Driver driver(program, config, geometry);
  driver.jump = [](unsigned thread, ptx::Pc pc) { return pc == 0 ? 1 + thread % 8 : ptx::kNoPc; };
  driver.launch(1024);
  EXPECT_NO_THROW(driver.run(20'000));
  EXPECT_EQ(driver.statistic("most_splits"), 8);
  EXPECT_GT(driver.statistic("context_waits"), 0);
}

}  // namespace
}  // namespace weft::warp_formation::test::splits_test
