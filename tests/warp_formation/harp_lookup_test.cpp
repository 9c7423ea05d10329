// The lookup tables of HARP and CROWN, and how warps move between tables in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "warp_formation/reincarnating_options.h"
#include "warp_formation/reincarnation_bench.h"

namespace weft::warp_formation::test::harp_lookup_test {
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
    config.own<HarpOptions>().waiting_lookup = config.own<CrownOptions>().waiting_lookup = entries;
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

Config searched_in(unsigned latency, CommitStep search) {
  Config config = config_of("harp");
  config.own<HarpOptions>().barrier_latency = latency;
  config.own<HarpOptions>().barrier_search = search;
  return config;
}

// Of the cycles of the search, which is pipelined, the first is that of write-back.
TEST(Harp, ACommittingWarpIsIssuedAgainWhenTheBarriersAreSearched) {
  const ptx::Program program = kernel(kBranch);
  for (const unsigned latency : {1u, 2u, 4u}) {
    for (const CommitStep search : {CommitStep::kWriteBack, CommitStep::kOwnCycle}) {
      Steps steps(program, searched_in(latency, search), four_lanes(4));
      steps.launch(4);
      steps.cycle();
      steps.issue();
      steps.resolve(0, {{kHigh, {0, 1, 2, 3}}});
      EXPECT_EQ(cycles_to_issue(steps), search == CommitStep::kWriteBack ? latency - 1 : latency);
    }
  }
}

// A warp that is born again enters the Second-Level in the cycle after the search, and leaves it in the next.
TEST(Harp, ARevivedWarpIsIssuedWhenTheBarriersAreSearched) {
  const ptx::Program program = kernel(kBranch);
  for (const unsigned latency : {1u, 2u, 4u}) {
    Steps steps(program, searched_in(latency, CommitStep::kWriteBack), four_lanes(4));
    steps.launch(4);
    steps.cycle();
    steps.issue();
    steps.resolve(0, {{kLow, {0, 1}}, {kD, {2, 3}}});
    for (int i = 0; i < 3; ++i) steps.cycle();
    ASSERT_EQ(steps.issue(), "pc 1: 0 1");
    steps.resolve(1, {{kD, {0, 1}}});
    EXPECT_EQ(cycles_to_issue(steps), latency);
    EXPECT_EQ(steps.statistic("reincarnations"), 1);
  }
}

// A load's warp is in the Second-Level as its data is written, or a cycle later.
TEST(Harp, AWarpLeavesTheWaitingLookupAsItsDataIsWritten) {
  const ptx::Program program = kernel("  ld.global.u32 %r1, [%rd1];\n  ret;");
  for (const CommitStep departure : {CommitStep::kWriteBack, CommitStep::kOwnCycle}) {
    Config config = config_of("harp");
    config.own<HarpOptions>().waiting_lookup = 8;
    config.own<HarpOptions>().waiting_departure = departure;
    Steps steps(program, config, four_lanes(4));
    steps.launch(4);
    steps.cycle();
    steps.issue();
    steps.unit().memory_issued(0);
    ASSERT_THAT(steps.lines("waits for memory in the Waiting-Lookup"), SizeIs(1));
    steps.resolve(0, {{1, {0, 1, 2, 3}}});
    EXPECT_EQ(cycles_to_issue(steps), departure == CommitStep::kWriteBack ? 0u : 1u);
  }
}

TEST(Harp, FewReadyWarpsOpenTheReadyLookup) {
  const ptx::Program program = kernel(kBranch);
  Config config = config_of("harp");
  config.own<HarpOptions>().first_level = 1;
  config.own<HarpOptions>().lookup_threshold = 2;
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

// Two warps, of which the first has been ready for longer, at their PCs after so many instructions: which is
// issued?
std::string first_to_go(WarpPriority priority, std::array<ptx::Pc, 2> pcs, std::array<int, 2> instructions) {
  const ptx::Program program =
      kernel("  add.u32 %r1, %r1, 1;\n  add.u32 %r1, %r1, 1;\n  add.u32 %r1, %r1, 1;\n  ret;");
  Config config = config_of("harp");
  config.own<HarpOptions>().priority = priority;
  Steps steps(program, config, four_lanes(8));
  steps.launch(8);
  const std::array<Steps::Threads, 2> threads{{{0, 1, 2, 3}, {4, 5, 6, 7}}};
  std::array<IssueId, 2> last{0, 1};
  const auto both = [&] {
    steps.cycle();
    steps.cycle();
  };
  both();
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");
  IssueId next = 2;
  for (unsigned w = 0; w < 2; ++w) {
    for (int i = 1; i < instructions[w]; ++i) {
      steps.resolve(last[w], {{0, threads[w]}});
      both();
      EXPECT_NE(steps.issue(), "");
      last[w] = next++;
    }
  }
  for (unsigned w = 0; w < 2; ++w) {
    steps.resolve(last[w], {{pcs[w], threads[w]}});
    both();
  }
  const std::string issue = steps.issue();
  return issue.substr(issue.find(": ") + 2, 1) == "0" ? "first" : "second";
}

// HARP 7.4: the oldest warp goes first, or one that is behind: at the lowest PC, or after the fewest
// instructions.
TEST(Harp, APriorityLetsThoseGoFirstThatAreBehind) {
  EXPECT_EQ(first_to_go(WarpPriority::kOldest, {2, 1}, {3, 1}), "first");
  EXPECT_EQ(first_to_go(WarpPriority::kLowestPc, {2, 1}, {1, 3}), "second");
  EXPECT_EQ(first_to_go(WarpPriority::kLowestPc, {1, 2}, {3, 1}), "first");
  EXPECT_EQ(first_to_go(WarpPriority::kLowestPc, {1, 1}, {3, 1}), "first") << "the older one";
  EXPECT_EQ(first_to_go(WarpPriority::kLaggard, {1, 2}, {3, 1}), "second");
  EXPECT_EQ(first_to_go(WarpPriority::kLaggard, {2, 1}, {1, 3}), "first");
  EXPECT_EQ(first_to_go(WarpPriority::kLaggard, {2, 1}, {2, 2}), "first") << "the older one";
}

// From the Second-Level, too: here the First-Level has room for one warp only.
TEST(Harp, APriorityHoldsInTheSecondLevel) {
  const ptx::Program program = kernel(kBranch);
  for (const WarpPriority priority : {WarpPriority::kOldest, WarpPriority::kLowestPc}) {
    Config config = config_of("harp");
    config.own<HarpOptions>().first_level = 1;
    config.own<HarpOptions>().priority = priority;
    Steps steps(program, config, four_lanes(12));
    steps.launch(12);
    steps.cycle();
    ASSERT_EQ(steps.issue(), "pc 0: 0 1 2 3");
    steps.cycle();
    ASSERT_EQ(steps.issue(), "pc 0: 4 5 6 7");
    // The third warp keeps the First-Level while the others come back, the one that is ahead first.
    steps.cycle();
    steps.resolve(0, {{kHigh, {0, 1, 2, 3}}});
    steps.cycle();
    steps.resolve(1, {{kLow, {4, 5, 6, 7}}});
    steps.cycle();
    ASSERT_EQ(steps.issue(), "pc 0: 8 9 10 11");
    steps.cycle();
    EXPECT_EQ(steps.issue().substr(6), priority == WarpPriority::kOldest ? "0 1 2 3" : "4 5 6 7");
  }
}

// Operands of the first warp wait for arithmetic, those of the second for a load.
struct TwoWaits final : SmView {
  Stall ready(unsigned scheduler, const Issue& issue) const override {
    (scheduler == 0 ? waiting_for_arithmetic_ : waiting_for_memory_).add(issue.context);
    return scheduler == 0 ? Stall::kDependence : Stall::kMemory;
  }
};

// What the second scheduler finds out changes what the first one says, from the next cycle on: until then the
// SM must not sleep, or it would count the cycles to come for the old reason.
TEST(Harp, AReasonThatAnotherSchedulerChangesIsToldInTheNextCycle) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  ret;");
  for (const std::string scheme : {"harp", "crown"}) {
    for (const unsigned entries : {0u, 8u}) {
      Geometry geometry = four_lanes(8);
      geometry.schedulers = 2;
      geometry.barrel = false;
      const TwoWaits sm;
      const auto unit = create(TwoHalfWarpsAtALoad::tables(scheme, entries), geometry);
      unit->attach(program, sm);
      unit->launch({0, 0, 8});
      Issue issue;
      unit->advance(1);
      EXPECT_EQ(unit->pick(0, issue), Stall::kDependence);
      EXPECT_EQ(unit->pick(1, issue), Stall::kMemory);
      EXPECT_EQ(unit->next_event(1), 2u);
      unit->advance(2);
      EXPECT_EQ(unit->pick(0, issue), Stall::kMemory);
      EXPECT_EQ(unit->pick(1, issue), Stall::kMemory);
      EXPECT_EQ(unit->next_event(2), kNoEvent) << "only memory can change anything";
    }
  }
}

}  // namespace
}  // namespace weft::warp_formation::test::harp_lookup_test
