// The lookup tables of HARP and CROWN, and how warps move between tables in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warp_formation/reincarnation_bench.h"

namespace weft::warp_formation::test {
namespace {

using ::testing::SizeIs;

const std::string kLoads = R"(
  @%p1 bra C;                 // 0
  ld.global.u32 %r2, [%rd1];  // 1: B
  bra D;                      // 2
C:
  add.u32 %r1, %r1, 1;        // 3: C
D:
  ret;                        // 4: D)";

struct TwoHalfWarpsAtALoad {
  explicit TwoHalfWarpsAtALoad(std::uint64_t entries, const std::string& scheme = "harp")
      : program(kernel(kLoads)), steps(program, tables(scheme, entries), four_lanes(8)) {
    steps.launch(8);
    for (int i = 0; i < 2; ++i) {
      steps.cycle();
      steps.issue();
    }
    steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
    for (int i = 0; i < 4 && steps.issue() != "pc 1: 0 1"; ++i) steps.cycle();  // issue 2
    steps.unit().memory_issued(2);
    for (int i = 0; i < 4 && steps.issue().empty(); ++i) steps.cycle();  // issue 3: C{2,3}
    steps.resolve(1, {{1, {6, 7}}, {3, {4, 5}}});
    for (int i = 0; i < 4 && steps.issue() != "pc 1: 6 7"; ++i) steps.cycle();  // issue 4
    steps.unit().memory_issued(4);
  }
  static Config tables(const std::string& scheme, std::uint64_t entries) {
    Config config = config_of(scheme);
    config.harp.waiting_lookup = config.crown.waiting_lookup = entries;
    return config;
  }
  ptx::Program program;
  Steps steps;
};

TEST(Harp, WarpsAtTheSameLoadMergeInTheWaitingLookup) {
  TwoHalfWarpsAtALoad two(8);
  Steps& steps = two.steps;
  EXPECT_THAT(steps.lines("in the Waiting-Lookup"), SizeIs(1));
  EXPECT_EQ(steps.statistic("waiting_lookup/merges"), 1);
  EXPECT_EQ(steps.statistic("waiting_lookup/merged_threads"), 2);
  // It is ready when the data of all its threads are there, whichever issue they belong to.
  steps.resolve(2, {{2, {0}}});
  steps.resolve(4, {{2, {6, 7}}});
  steps.cycle();
  EXPECT_THAT(steps.lines("waits for memory in the Waiting-Lookup"), SizeIs(1));
  steps.resolve(2, {{2, {1}}});
  EXPECT_THAT(steps.lines("leaves the Waiting-Lookup"), SizeIs(1));
  std::string issue;
  for (int i = 0; i < 4 && issue != "pc 2: 0 1 6 7"; ++i) {
    steps.cycle();
    issue = steps.issue();
    if (issue == "pc 3: 4 5") issue = steps.issue();
  }
  EXPECT_EQ(issue, "pc 2: 0 1 6 7");
}

TEST(Harp, WithoutWaitingLookupWarpsWaitApart) {
  TwoHalfWarpsAtALoad two(0);
  EXPECT_THAT(two.steps.lines("waits for memory"), SizeIs(2));
  EXPECT_EQ(two.steps.statistic("waiting_lookup/bypasses"), 2);
  EXPECT_EQ(two.steps.statistic("waiting_lookup/merges"), 0);
}

// Full warps at a load, one place in the table: HARP passes it by, CROWN evicts the oldest.
TEST(Harp, AFullWaitingLookupIsPassedByUnderHarpAndEvictsUnderCrown) {
  for (const std::string scheme : {"harp", "crown"}) {
    const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  ret;");
    Steps steps(program, TwoHalfWarpsAtALoad::tables(scheme, 1), four_lanes(8));
    steps.launch(8);
    for (IssueId id = 0; id < 2; ++id) {
      steps.cycle();
      steps.issue();
      steps.unit().memory_issued(id);
    }
    const auto held = steps.lines("waits for memory in the Waiting-Lookup");
    ASSERT_THAT(held, SizeIs(1));
    EXPECT_EQ(held[0].substr(held[0].find("threads ")),
              scheme == "harp" ? "threads 0 1 2 3" : "threads 4 5 6 7");
    EXPECT_EQ(steps.statistic("waiting_lookup/bypasses"), scheme == "harp" ? 1 : 0);
    EXPECT_EQ(steps.statistic("waiting_lookup/evictions"), scheme == "harp" ? 0 : 1);
    // Either way the data brings both back.
    steps.resolve(0, {{1, {0, 1, 2, 3}}});
    steps.resolve(1, {{1, {4, 5, 6, 7}}});
    std::vector<std::string> issued;
    for (int i = 0; i < 6; ++i) {
      steps.cycle();
      if (const std::string issue = steps.issue(); !issue.empty()) issued.push_back(issue);
    }
    EXPECT_THAT(issued, ::testing::UnorderedElementsAre("pc 1: 0 1 2 3", "pc 1: 4 5 6 7"));
  }
}

// From commit to the next issue: one cycle from Second-Level to First-Level, and the barriers' pipeline.
TEST(Harp, BarrierLatencyDelaysTheReturnOfACommittingWarp) {
  for (const unsigned latency : {1u, 2u, 4u}) {
    const ptx::Program program = kernel(kBranch);
    Config config = config_of("harp");
    config.harp.barrier_latency = latency;
    Steps steps(program, config, four_lanes(4));
    steps.launch(4);
    steps.cycle();
    steps.issue();
    steps.resolve(0, {{kHigh, {0, 1, 2, 3}}});
    steps.cycle();  // the cycle of the commit
    EXPECT_EQ(steps.issue(), "");
    unsigned cycles = 0;
    for (std::string issue; issue.empty() && cycles < 10; ++cycles) {
      const Cycle next = steps.unit().next_event(steps.now());
      steps.cycle();
      issue = steps.issue();
      if (!issue.empty()) {
        EXPECT_EQ(next, steps.now()) << "the SM would have slept";
      }
    }
    EXPECT_EQ(cycles, latency);
  }
}

TEST(Harp, FewReadyWarpsOpenTheReadyLookup) {
  const ptx::Program program = kernel(kBranch);
  Config config = config_of("harp");
  config.harp.first_level = 1;
  config.harp.lookup_threshold = 2;
  Steps steps(program, config, four_lanes(16));
  steps.launch(16);
  steps.cycle();
  steps.issue();  // W0; three wait in the Second-Level, one of them moves on
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  steps.cycle();
  steps.cycle();
  EXPECT_THAT(lookup(steps), SizeIs(2)) << "two warps are ready";
  steps.issue();
  steps.cycle();
  EXPECT_THAT(lookup(steps), SizeIs(2)) << "at the start of the cycle two were";
  steps.cycle();
  EXPECT_THAT(lookup(steps), SizeIs(1));
}

}  // namespace
}  // namespace weft::warp_formation::test
