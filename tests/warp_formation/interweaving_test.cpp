// Instructions that begin beside others, step by step: sbi and swi. Warps of 4 threads on 4 lanes, so that
// masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/split_options.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::interweaving_test {
namespace {

using ::testing::ElementsAre;

Config scheme(const std::string& name) {
  Config config;
  config.scheme = name;
  config.warp_size = 4;
  return config;
}
Geometry under_scoreboard(unsigned threads) {
  Geometry geometry = four_lanes(threads);
  geometry.barrel = false;
  return geometry;
}

// if (a) { X1; X2; } else Y; Z;
const std::string kIfElse = R"(
  @%p1 bra E;              // 0: a; meets at 5
  add.u32 %r1, %r1, 1;     // 1: X1
  add.u32 %r1, %r1, 1;     // 2: X2
  bra J;                   // 3
E:
  add.u32 %r1, %r1, 1;     // 4: Y
J:
  add.u32 %r1, %r1, 1;     // 5: Z
  ret;                     // 6)";

// The worked example of the README: the two paths go in the same cycles, and the shorter one waits.
TEST(Sbi, TwoPathsOfAWarpBeginInOneCycle) {
  const ptx::Program program = kernel(kIfElse);
  Steps steps(program, scheme("sbi"), under_scoreboard(4));
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.beside(), "");
  steps.resolve(0, {{1, {0, 1}}, {4, {2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 4: 2 3");
  EXPECT_EQ(steps.beside(), "pc 1: 0 1");
  steps.resolve(2, {{2, {0, 1}}});
  steps.resolve(1, {{5, {2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 2: 0 1");
  EXPECT_EQ(steps.beside(), "") << "2 and 3 wait where the paths meet";
  EXPECT_EQ(steps.statistic("constrained"), 1);
  steps.resolve(3, {{3, {0, 1}}});
  EXPECT_EQ(steps.issue(), "pc 3: 0 1");
  steps.resolve(4, {{5, {0, 1}}});
  EXPECT_EQ(steps.issue(), "pc 5: 0 1 2 3");
  EXPECT_EQ(steps.statistic("merges"), 1);
  EXPECT_EQ(steps.statistic("beside_own_warp"), 1);
  EXPECT_EQ(steps.statistic("deepest_stack"), 2);
}

TEST(Sbi, WithoutConstraintsTheSecondPathGoesOnAlone) {
  const ptx::Program program = kernel(kIfElse);
  Config config = scheme("sbi");
  config.own<SbiOptions>().constraints = false;
  Steps steps(program, config, under_scoreboard(4));
  steps.launch(4);
  steps.issue();
  steps.resolve(0, {{1, {0, 1}}, {4, {2, 3}}});
  steps.issue();
  steps.beside();
  steps.resolve(2, {{2, {0, 1}}});
  steps.resolve(1, {{5, {2, 3}}});
  EXPECT_NE(steps.issue(), "");
  EXPECT_NE(steps.beside(), "");
  EXPECT_EQ(steps.statistic("constrained"), 0);
}

// Of three paths the two in the first blocks run. The third has its turn when one of them is done.
TEST(Sbi, AThirdPathWaits) {
  const ptx::Program program = kernel(R"(
  @%p1 bra E;              // 0
  @%p2 bra C;              // 1
  add.u32 %r1, %r1, 1;     // 2
  bra J;                   // 3
C:
  add.u32 %r1, %r1, 1;     // 4
  bra J;                   // 5
E:
  add.u32 %r1, %r1, 1;     // 6
J:
  ret;                     // 7)");
  Steps steps(program, scheme("sbi"), under_scoreboard(4));
  steps.launch(4);
  steps.issue();
  steps.resolve(0, {{1, {0, 1, 2}}, {6, {3}}});
  EXPECT_EQ(steps.issue(), "pc 6: 3");
  EXPECT_EQ(steps.beside(), "pc 1: 0 1 2");
  steps.resolve(2, {{2, {0}}, {4, {1, 2}}});
  steps.resolve(1, {{6, {3}}});  // as if there were another instruction
  EXPECT_NE(steps.issue(), "");
  EXPECT_NE(steps.beside(), "");
  EXPECT_THAT(steps.lines("waits for its turn at "), ElementsAre("pc 6 (k.ptx:15:3), 1 thread, mask 8"));
}

// Two warps whose threads part the other way round: beside a path of one goes a path of the other, the one
// with the most threads that fits.
TEST(Swi, AnotherWarpFillsTheLanes) {
  const ptx::Program program = kernel(kIfElse);
  Steps steps(program, scheme("swi"), under_scoreboard(12));
  steps.launch(12);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.beside(), "") << "all lanes are taken";
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");
  EXPECT_EQ(steps.issue(), "pc 0: 8 9 10 11");
  steps.resolve(1, {{1, {4}}, {4, {5, 6, 7}}});
  steps.resolve(2, {{1, {9, 10}}, {4, {8, 11}}});
  steps.resolve(0, {{1, {0, 3}}, {4, {1, 2}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0 3");
  EXPECT_EQ(steps.beside(), "pc 1: 9 10") << "thread 4 has lane 0";
  EXPECT_EQ(steps.beside(), "") << "another path of these warps has to wait";
  EXPECT_EQ(steps.statistic("beside_other_warps"), 1);
}

TEST(Swi, OfAnotherSetNobodyIsLookedUp) {
  const ptx::Program program = kernel(kIfElse);
  Config config = scheme("swi");
  config.own<SwiOptions>().sets = 2;
  Steps steps(program, config, under_scoreboard(12));
  steps.launch(12);
  for (unsigned i = 0; i < 3; ++i) steps.issue();
  steps.resolve(0, {{1, {0}}, {4, {1, 2, 3}}});
  steps.resolve(1, {{1, {5, 6, 7}}, {4, {4}}});
  steps.resolve(2, {{1, {9}}, {4, {8, 10, 11}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0");
  EXPECT_EQ(steps.beside(), "pc 1: 9") << "threads 5 to 7 would be more, but their warp has an odd number";
}

// With `branches` the other path of the same warp goes as well as another warp.
TEST(Swi, WithBranchesItIsBoth) {
  const ptx::Program program = kernel(kIfElse);
  Config config = scheme("swi");
  config.own<SwiOptions>().branches = true;
  Steps steps(program, config, under_scoreboard(8));
  steps.launch(8);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");
  steps.resolve(0, {{1, {0}}, {4, {1, 2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 4: 1 2 3");
  EXPECT_EQ(steps.beside(), "pc 1: 0") << "no thread of the other warp has come back";
  EXPECT_EQ(steps.statistic("beside_own_warp"), 1);
  EXPECT_EQ(steps.statistic("beside_other_warps"), 0);
}

}  // namespace
}  // namespace weft::warp_formation::test::interweaving_test
