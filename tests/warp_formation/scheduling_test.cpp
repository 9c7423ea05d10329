// The scheduling policies that schemes share.
#include "weft/warp_formation/scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "warp_formation/two_level_options.h"

namespace weft::warp_formation::scheduling_test {
namespace {

using ::testing::ElementsAre;

// A scheduler over contexts that are ready unless `stalls` says otherwise; collects what it issues.
struct Bench {
  Bench(const std::string& scheduling, unsigned contexts, unsigned group = 8, unsigned timeout = 0)
      : scheduler(config(scheduling, group, timeout), contexts) {
    for (unsigned c = 0; c < contexts; ++c) {
      scheduler.arrived(c);
      eligible.add(c);
    }
  }
  static Config config(const std::string& scheduling, unsigned group, unsigned timeout) {
    Config c;
    c.scheduling.name = scheduling;
    c.scheduling.own<TwoLevelOptions>().group_warps = group;
    c.scheduling.own<TwoLevelOptions>().timeout_instructions = timeout;
    return c;
  }
  Stall pick() {
    return scheduler.pick(eligible, [&](unsigned context) {
      const auto found = stalls.find(context);
      if (found != stalls.end()) return found->second;
      issued.push_back(context);
      return Stall::kNone;
    });
  }
  std::vector<unsigned> take(unsigned n) {
    issued.clear();
    for (unsigned i = 0; i < n; ++i) pick();
    return issued;
  }
  WarpScheduler scheduler;
  ContextSet eligible;
  std::map<unsigned, Stall> stalls;
  std::vector<unsigned> issued;
};

TEST(LooseRoundRobin, GoesOnAfterTheLastIssued) {
  Bench bench("loose_round_robin", 4);
  EXPECT_THAT(bench.take(6), ElementsAre(0, 1, 2, 3, 0, 1));
  bench.stalls[2] = Stall::kMemory;  // skipped, without a lost cycle
  EXPECT_THAT(bench.take(4), ElementsAre(3, 0, 1, 3));
  bench.stalls.clear();
  bench.eligible.remove(0);
  EXPECT_THAT(bench.take(4), ElementsAre(1, 2, 3, 1));
}

TEST(GreedyThenOldest, StaysThenTakesTheOldest) {
  Bench bench("greedy_then_oldest", 4);
  EXPECT_THAT(bench.take(3), ElementsAre(0, 0, 0));
  bench.stalls[0] = Stall::kDependence;
  EXPECT_THAT(bench.take(2), ElementsAre(1, 1));
  bench.stalls.clear();  // 0 is ready again, but 1 is the greedy one
  EXPECT_THAT(bench.take(1), ElementsAre(1));
  bench.stalls[1] = Stall::kMemory;
  EXPECT_THAT(bench.take(1), ElementsAre(0));
  // A context that leaves and comes back is the youngest.
  bench.scheduler.left(0);
  bench.scheduler.arrived(0);
  bench.stalls[0] = Stall::kMemory;
  bench.stalls[1] = Stall::kMemory;
  EXPECT_THAT(bench.take(1), ElementsAre(2));
  bench.stalls = {{2, Stall::kMemory}};
  EXPECT_THAT(bench.take(1), ElementsAre(1));
}

TEST(GreedyThenYoungest, StaysThenTakesTheYoungest) {
  Bench bench("greedy_then_youngest", 4);
  EXPECT_THAT(bench.take(2), ElementsAre(3, 3));
  bench.stalls[3] = Stall::kDependence;
  EXPECT_THAT(bench.take(2), ElementsAre(2, 2));
  bench.stalls.clear();  // 3 is ready again, but 2 is the greedy one
  EXPECT_THAT(bench.take(1), ElementsAre(2));
  bench.stalls[2] = Stall::kMemory;
  EXPECT_THAT(bench.take(1), ElementsAre(3));
  // A context that leaves and comes back is the youngest.
  bench.scheduler.left(0);
  bench.scheduler.arrived(0);
  bench.stalls[3] = Stall::kMemory;
  EXPECT_THAT(bench.take(1), ElementsAre(0));
  bench.stalls[0] = Stall::kMemory;
  EXPECT_THAT(bench.take(1), ElementsAre(1));
}

TEST(TwoLevel, StaysInItsGroupUntilThatWaitsForMemory) {
  Bench bench("two_level", 4, 2);
  EXPECT_THAT(bench.take(4), ElementsAre(0, 1, 0, 1));
  // A short wait of the whole group is filled by the next group, which does not take over.
  bench.stalls = {{0, Stall::kDependence}, {1, Stall::kDependence}};
  EXPECT_THAT(bench.take(1), ElementsAre(2));
  bench.stalls.clear();
  EXPECT_THAT(bench.take(2), ElementsAre(0, 1));
  // A long one hands over: the second group keeps its priority when the first is ready again.
  bench.stalls = {{0, Stall::kMemory}, {1, Stall::kMemory}};
  EXPECT_EQ(bench.take(1).size(), 1u);
  bench.stalls.clear();
  for (const unsigned context : bench.take(4)) EXPECT_GE(context, 2u);
}

TEST(TwoLevel, TheTimeoutMovesOn) {
  Bench bench("two_level", 4, 2, 3);
  std::vector<unsigned> groups;
  for (const unsigned context : bench.take(9)) groups.push_back(context / 2);
  EXPECT_THAT(groups, ElementsAre(0, 0, 0, 1, 1, 1, 0, 0, 0));
}

TEST(Policies, ReportTheMostTellingStall) {
  for (const char* scheduling :
       {"loose_round_robin", "greedy_then_oldest", "greedy_then_youngest", "two_level"}) {
    Bench bench(scheduling, 3, 1);
    bench.stalls = {{0, Stall::kFetch}, {1, Stall::kMemory}, {2, Stall::kBarrier}};
    EXPECT_EQ(bench.pick(), Stall::kMemory);
    bench.eligible = ContextSet();
    EXPECT_EQ(bench.pick(), Stall::kEmpty);
  }
}

TEST(ContextSet, FindsMembersAcrossWords) {
  ContextSet set;
  for (const unsigned i : {0u, 63u, 64u, 200u, 255u}) set.add(i);
  EXPECT_EQ(set.size(), 5u);
  EXPECT_EQ(set.next(1), 63u);
  EXPECT_EQ(set.next(64), 64u);
  EXPECT_EQ(set.next(65), 200u);
  set.remove(255);
  EXPECT_EQ(set.next(201), ContextSet::kMaxContexts);
}

}  // namespace
}  // namespace weft::warp_formation::scheduling_test
