// Banks and ports of HARP's re-convergence barriers (HARP 4.2.2): threads of a commit that are in more sets
// of a bank than it has ports cost cycles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "warp_formation/reconvergence_barriers.h"
#include "warp_formation/reincarnation_bench.h"

namespace weft::warp_formation::test::harp_conflicts_test {
namespace {

using ::testing::ElementsAre;

constexpr unsigned kWidth = 4;

ReconvergenceBarriers barriers_of(unsigned banks, unsigned ports, unsigned sets = 8) {
  ReincarnationTables tables;
  tables.barrier_ways = 2;
  tables.barrier_entries = std::uint64_t{2} * sets;
  tables.barrier_banks = banks;
  tables.barrier_ports = ports;
  return {tables, kWidth};
}

// Threads of these rows, one in each lane.
LaneSet in_rows(const std::vector<unsigned>& rows) {
  LaneSet set;
  for (unsigned lane = 0; lane < rows.size(); ++lane) {
    set.mask |= 1u << lane;
    set.row[lane] = static_cast<std::uint16_t>(rows[lane]);
  }
  return set;
}

unsigned further(unsigned banks, unsigned ports, const std::vector<unsigned>& rows) {
  ReconvergenceBarriers barriers = barriers_of(banks, ports);
  const unsigned cycles = barriers.further_cycles(in_rows(rows));
  EXPECT_EQ(barriers.counters().conflict_cycles, cycles);
  EXPECT_EQ(barriers.counters().conflicts, cycles == 0 ? 0u : 1u);
  return cycles;
}

TEST(BarrierConflicts, AreOfThreadsInOtherSetsOfTheSameBank) {
  const std::vector<unsigned> four{0, 1, 2, 3}, one{5, 5, 5, 5}, same_set{0, 8, 16, 1}, pairs{0, 0, 1, 1};
  // One bank: as many cycles as there are sets for a port.
  EXPECT_EQ(further(1, 1, four), 3u);
  EXPECT_EQ(further(1, 2, four), 1u);
  EXPECT_EQ(further(1, 3, four), 1u);
  EXPECT_EQ(further(1, 1, one), 0u) << "a row is in one set";
  EXPECT_EQ(further(1, 1, same_set), 1u) << "rows 0, 8 and 16 are in set 0";
  EXPECT_EQ(further(1, 1, pairs), 1u);
  // Two: lanes 0 and 2, 1 and 3.
  EXPECT_EQ(further(2, 1, four), 1u);
  EXPECT_EQ(further(2, 1, {0, 1, 0, 1}), 0u);
  EXPECT_EQ(further(3, 1, {0, 0, 0, 1}), 1u) << "lanes 0 and 3";
}

// The paper's two organisations: a bank per lane with a port each, or one bank with a port per lane.
TEST(BarrierConflicts, AreNoneInThePapersOrganisations) {
  EXPECT_FALSE(barriers_of(0, 1).may_conflict());
  EXPECT_FALSE(barriers_of(kWidth, 1).may_conflict());
  EXPECT_FALSE(barriers_of(1, kWidth).may_conflict());
  EXPECT_FALSE(barriers_of(1, 1, 1).may_conflict()) << "one set";
  EXPECT_FALSE(barriers_of(1, 1, 0).may_conflict()) << "no table";
  EXPECT_TRUE(barriers_of(1, kWidth - 1).may_conflict());
  EXPECT_TRUE(barriers_of(3, 1).may_conflict());
  EXPECT_EQ(further(0, 1, {0, 1, 2, 3}), 0u);
  EXPECT_EQ(further(1, kWidth, {0, 1, 2, 3}), 0u);
}

Config organised(std::uint64_t banks, std::uint64_t ports) {
  Config config = config_of("harp");
  config.own<HarpOptions>().barrier_banks = banks;
  config.own<HarpOptions>().barrier_ports = ports;
  return config;
}

const std::string kLongBranch = R"(
  @%p1 bra second;         // 0
  add.u32 %r1, %r1, 1;     // 1: one path
  bra D;                   // 2
second:
  add.u32 %r1, %r1, 1;     // 3: the other
  add.u32 %r1, %r1, 1;     // 4
D:
  ret;                     // 5)";
constexpr ptx::Pc kFirst = 1, kSecond = 3;

// Three warps part so that threads of three rows run at kFirst, and twice those of two at kSecond.
struct Merged {
  explicit Merged(const Config& config)
      : program(kernel(kLongBranch)), steps(program, config, four_lanes(12)) {
    steps.launch(12);
    for (int i = 0; i < 5; ++i) {
      steps.cycle();
      steps.issue();
    }
    steps.resolve(0, {{kFirst, {0}}, {kSecond, {1, 2, 3}}});
    steps.resolve(1, {{kFirst, {5}}, {kSecond, {4, 6, 7}}});
    steps.resolve(2, {{kFirst, {10, 11}}, {kSecond, {8, 9}}});
    std::vector<std::string> issued;
    for (int i = 0; i < 12; ++i) {
      steps.cycle();
      if (const std::string issue = steps.issue(); !issue.empty()) issued.push_back(issue);
    }
    EXPECT_THAT(issued, ElementsAre("pc 1: 0 5 10 11", "pc 3: 1 2 3 4", "pc 3: 6 7 8 9"));
  }
  double conflicts() const { return steps.statistic("barrier_conflicts"); }
  double cycles() const { return steps.statistic("barrier_conflict_cycles"); }

  ptx::Program program;
  Steps steps;
};

TEST(BarrierConflicts, DelayTheWarpThatGoesOn) {
  const std::vector<std::pair<Config, unsigned>> organisations{
      {organised(0, 1), 0}, {organised(1, 4), 0}, {organised(1, 1), 2}, {organised(1, 2), 1}};
  for (const auto& [config, later] : organisations) {
    Merged merged(config);
    const double before = merged.cycles();
    merged.steps.resolve(3, {{2, {0, 5, 10, 11}}});
    EXPECT_EQ(cycles_to_issue(merged.steps), later);
    EXPECT_EQ(merged.cycles() - before, later);
  }
}

// In one cycle three rows and two: the second commit's search ends three cycles later.
TEST(BarrierConflicts, HoldUpLaterCommits) {
  Merged merged(organised(1, 1));
  merged.steps.resolve(3, {{2, {0, 5, 10, 11}}});
  merged.steps.resolve(4, {{4, {1, 2, 3, 4}}});
  std::vector<std::string> issued;
  for (int i = 0; i < 5; ++i) {
    merged.steps.cycle();
    issued.push_back(merged.steps.issue());
  }
  EXPECT_THAT(issued, ElementsAre("", "", "pc 2: 0 5 10 11", "pc 4: 1 2 3 4", ""));
  EXPECT_EQ(merged.conflicts(), 2);
  EXPECT_EQ(merged.cycles(), 3);
}

// Warps that are born again wait for the search that finds them complete.
TEST(BarrierConflicts, DelayRevivedWarps) {
  for (const auto& [ports, later] : std::vector<std::pair<unsigned, unsigned>>{{4, 0}, {1, 2}}) {
    Merged merged(organised(1, ports));
    merged.steps.resolve(4, {{5, {1, 2, 3, 4}}});
    merged.steps.resolve(5, {{5, {6, 7, 8, 9}}});
    for (int i = 0; i < 6; ++i) merged.steps.cycle();
    merged.steps.resolve(3, {{5, {0, 5, 10, 11}}});
    EXPECT_EQ(cycles_to_issue(merged.steps), 1 + later);
    EXPECT_EQ(merged.steps.statistic("reincarnations"), 3);
  }
}

// A load that two merged warps wait for: its data are there, its threads in two sets.
TEST(BarrierConflicts, DelayTheWayOutOfTheWaitingLookup) {
  const ptx::Program program = kernel(R"(
  @%p1 bra second;
  ld.global.u32 %r1, [%rd1];
  bra D;
second:
  add.u32 %r1, %r1, 1;
D:
  ret;)");
  for (const auto& [banks, later] : std::vector<std::pair<unsigned, unsigned>>{{0, 0}, {1, 1}}) {
    Config config = organised(banks, 1);
    config.own<HarpOptions>().waiting_lookup = 8;
    Steps steps(program, config, four_lanes(8));
    steps.launch(8);
    for (int i = 0; i < 3; ++i) {
      steps.cycle();
      steps.issue();
    }
    steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
    steps.resolve(1, {{1, {6, 7}}, {3, {4, 5}}});
    std::vector<std::string> issued;
    for (int i = 0; i < 8; ++i) {
      steps.cycle();
      if (const std::string issue = steps.issue(); !issue.empty()) {
        issued.push_back(issue);
        if (issued.size() == 1) steps.unit().memory_issued(2);
      }
    }
    ASSERT_THAT(issued, ElementsAre("pc 1: 0 1 6 7", "pc 3: 2 3 4 5"));
    steps.resolve(2, {{2, {0, 1, 6, 7}}});
    EXPECT_EQ(cycles_to_issue(steps), later);
  }
}

}  // namespace
}  // namespace weft::warp_formation::test::harp_conflicts_test
