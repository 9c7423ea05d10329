// HARP, step by step: the worked examples of the paper, its storage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warp_formation/reincarnating_options.h"
#include "warp_formation/reincarnation_bench.h"

namespace weft::warp_formation::test::harp_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// HARP Figure 10, with B the path of the lower PC.
TEST(Harp, RunsFigure10) {
  const ptx::Program program = kernel(kBranch);
  ASSERT_EQ(program.code[kA].reconvergence, kD);
  Steps steps(program, config_of("harp"), four_lanes(8));
  steps.launch(8);
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");  // issue 0: W0
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");  // issue 1: W1
  // W0 commits: B{T1,T3}, C{T0,T2}.
  steps.resolve(0, {{kLow, {1, 3}}, {kHigh, {0, 2}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 - 1 - 3", "1: pc 2 0 - 2 -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  steps.cycle();
  EXPECT_EQ(steps.issue(), "");
  // One departure: W2 = {T1,T3} at B.
  steps.cycle();
  EXPECT_EQ(steps.issue(), "");
  EXPECT_THAT(lookup(steps), ElementsAre("1: pc 2 0 - 2 -"));
  // W1 commits: no B entry is left, T7 merges into C.
  steps.resolve(1, {{kLow, {4, 5, 6}}, {kHigh, {7}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 4 5 6 -", "1: pc 2 0 - 2 7"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "0000"));
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 1 3");  // issue 2: W2
  steps.cycle();                          // W3 = {T4,T5,T6} departs
  EXPECT_THAT(lookup(steps), ElementsAre("1: pc 2 0 - 2 7"));
  steps.resolve(2, {{kD, {1, 3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0101", "0000"));
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 4 5 6");  // issue 3: W3
  steps.cycle();                            // W4 = {T0,T2,T7} departs
  EXPECT_THAT(lookup(steps), IsEmpty());
  steps.resolve(3, {{kD, {4, 5, 6}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0101", "1110"));
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 2: 0 2 7");  // issue 4: W4
  EXPECT_EQ(steps.unit().census().reconvergence, 5u);
  steps.resolve(4, {{kD, {0, 2, 7}}});  // both barriers complete
  EXPECT_THAT(barriers(steps), IsEmpty());
  EXPECT_EQ(steps.unit().census().queued, 8u);
  steps.cycle();  // the first of them enters the scheduler ...
  EXPECT_EQ(steps.issue(), "");
  steps.cycle();  // ... and leaves it
  EXPECT_EQ(steps.issue(), "pc 3: 0 1 2 3");
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 4 5 6 7");
  EXPECT_EQ(steps.statistic("divergent_branches"), 2);
  EXPECT_EQ(steps.statistic("barrier_reserved"), 8);
  EXPECT_EQ(steps.statistic("barrier_missed"), 0);
  EXPECT_EQ(steps.statistic("barrier_entries_opened"), 2);
  EXPECT_EQ(steps.statistic("reincarnations"), 2);
  EXPECT_EQ(steps.statistic("ready_lookup/merges"), 1);
  EXPECT_EQ(steps.statistic("ready_lookup/merged_threads"), 1);
  EXPECT_EQ(steps.statistic("ready_lookup/departures"), 3);
  EXPECT_EQ(steps.statistic("transitions/lookup_to_second"), 3);
  EXPECT_EQ(steps.statistic("transitions/barrier_to_second"), 2);
  EXPECT_EQ(steps.statistic("ready_lookup/peak"), 2);
}

// After the second commit of Figure 10 the lookup holds {T4,T5,T6} in slot 0 and the older {T0,T2,T7} in
// slot 1. Which of them departs, and whether a merge counts as young, is what the policy says.
std::string third_warp_of_figure_10(LookupDepart depart) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp", depart), four_lanes(8));
  steps.launch(8);
  for (int i = 0; i < 2; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(0, {{kLow, {1, 3}}, {kHigh, {0, 2}}});
  steps.cycle();
  steps.cycle();
  steps.resolve(1, {{kLow, {4, 5, 6}}, {kHigh, {7}}});
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 1 3");
  steps.cycle();
  steps.cycle();
  return steps.issue();
}

TEST(Harp, DeparturePolicySaysWhichWarpLeavesTheLookup) {
  EXPECT_EQ(third_warp_of_figure_10(LookupDepart::kSlot), "pc 1: 4 5 6");
  EXPECT_EQ(third_warp_of_figure_10(LookupDepart::kFifoInsert), "pc 2: 0 2 7");
  EXPECT_EQ(third_warp_of_figure_10(LookupDepart::kFifoRefresh), "pc 1: 4 5 6");
}

TEST(Harp, StorageIsThatOfTable7) {
  const ptx::Program program = kernel("  ret;");
  Geometry geometry = four_lanes(768);
  geometry.lanes = 16;
  Config config;
  config.scheme = "harp";
  config.own<HarpOptions>().barrier_span = BarrierSpan::kSplit;
  Steps split(program, config, geometry);
  EXPECT_EQ(split.statistic("storage_bits"), 10880 * 8);
  EXPECT_EQ(split.statistic("link_storage_bits"), 0);
  config.own<HarpOptions>().barrier_span = BarrierSpan::kLinked;
  Steps linked(program, config, geometry);
  EXPECT_EQ(linked.statistic("storage_bits"), 10880 * 8);
  EXPECT_EQ(linked.statistic("link_storage_bits"), 128 * 7);
  linked.launch(16);
  EXPECT_THAT(linked.lines("storage: "), ElementsAre("10880 bytes of tables, 112 of links"));
}

}  // namespace
}  // namespace weft::warp_formation::test::harp_test
