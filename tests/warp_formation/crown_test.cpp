// CROWN, step by step: the worked example of its slides, its storage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warp_formation/reincarnation_bench.h"

namespace weft::warp_formation::test::crown_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The example of the CROWN slides (s18): both warps commit before a departure, C is listed first. Returns
// the warps of C and B in the order in which they are issued.
std::vector<std::string> slide_18(Steps& steps) {
  steps.launch(8);
  for (int i = 0; i < 2; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(0, {{kLow, {0, 3}}, {kHigh, {1, 2}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 0 - - 3", "1: pc 2 - 1 2 -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  steps.resolve(1, {{kLow, {4, 5, 6}}, {kHigh, {7}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 0 5 6 3", "1: pc 2 - 1 2 7", "2: pc 1 4 - - -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "0000"));
  std::vector<std::string> issued;
  for (int i = 0; i < 20 && issued.size() < 3; ++i) {
    steps.cycle();
    if (const std::string issue = steps.issue(); !issue.empty()) issued.push_back(issue);
  }
  // The warps are in the table from the third cycle on, that of the commits; each takes a cycle to enter the
  // scheduler, which has none, and one to leave it.
  EXPECT_EQ(steps.now(), 3 + 2 * issued.size());
  return issued;
}

TEST(Crown, RunsSlide18) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("crown"), four_lanes(8));
  EXPECT_THAT(slide_18(steps), ElementsAre("pc 1: 0 3 5 6", "pc 2: 1 2 7", "pc 1: 4"));
  steps.resolve(2, {{kD, {0, 3, 5, 6}}});
  EXPECT_THAT(barriers(steps), ElementsAre("1001", "0110"));
  steps.resolve(3, {{kD, {1, 2, 7}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0111"));  // W5 = {T0..T3} is born again
  steps.resolve(4, {{kD, {4}}});
  EXPECT_THAT(barriers(steps), IsEmpty());  // W6 = {T4..T7}
  steps.cycle();                            // W5 enters the scheduler
  EXPECT_EQ(steps.issue(), "");
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 0 1 2 3");
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 4 5 6 7");
}

TEST(Crown, Slide18HoldsForInsertionOrderButNotForRefreshedOrder) {
  const ptx::Program program = kernel(kBranch);
  Steps inserted(program, config_of("crown", LookupDepart::kFifoInsert), four_lanes(8));
  EXPECT_THAT(slide_18(inserted), ElementsAre("pc 1: 0 3 5 6", "pc 2: 1 2 7", "pc 1: 4"));
  Steps refreshed(program, config_of("crown", LookupDepart::kFifoRefresh), four_lanes(8));
  EXPECT_THAT(slide_18(refreshed), ElementsAre("pc 1: 0 3 5 6", "pc 1: 4", "pc 2: 1 2 7"));
}

TEST(Crown, StorageIsThatOfSlide49) {
  const ptx::Program program = kernel("  ret;");
  Geometry geometry = four_lanes(1024);
  geometry.lanes = 8;
  Config config;
  config.scheme = "crown";
  Steps steps(program, config, geometry);
  EXPECT_EQ(steps.statistic("storage_bits"), 7472 * 8);
}

}  // namespace
}  // namespace weft::warp_formation::test::crown_test
