// The table of re-convergence barriers alone: sets, ways, links, and a model of its own that it must agree
// with over random divergences, arrivals and exits.
#include "warp_formation/reconvergence_barriers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace weft::warp_formation::test::reconvergence_barriers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Place = ReconvergenceBarriers::Place;

constexpr unsigned kWidth = 4;

ReincarnationTables table(std::uint64_t sets, std::uint64_t ways, BarrierSpan span,
                          BarrierJoin join = BarrierJoin::kSameCommit) {
  ReincarnationTables config;
  config.barrier_ways = ways;
  config.barrier_entries = sets * ways;
  config.barrier_span = span;
  config.barrier_join = join;
  return config;
}

struct Bench {
  Bench(const ReincarnationTables& config, unsigned rows) : barriers(config, kWidth) {
    barriers.attach(100, [](ptx::Pc) { return false; });
    barriers.hold_rows(rows);
  }
  // Threads (numbers: row * 4 + lane) of the barriers completed since the last call.
  std::vector<std::vector<unsigned>> completed() {
    std::vector<std::vector<unsigned>> list;
    for (const auto& done : barriers.completed()) list.push_back(numbers(done.threads));
    barriers.completed().clear();
    return list;
  }
  static std::vector<unsigned> numbers(const LaneSet& set) {
    std::vector<unsigned> list;
    for (unsigned lane = 0; lane < kWidth; ++lane) {
      if ((set.mask >> lane & 1) != 0) list.push_back(set.row[lane] * kWidth + lane);
    }
    return list;
  }
  ReconvergenceBarriers barriers;
};

LaneSet threads(std::initializer_list<unsigned> numbers) {
  LaneSet set;
  for (const unsigned t : numbers) {
    set.mask |= 1u << (t % kWidth);
    set.row[t % kWidth] = static_cast<std::uint16_t>(t / kWidth);
  }
  return set;
}

constexpr Place kHere{7, 0, 0};

// A warp of rows 0 (even set) and 1 (odd set) diverges.
TEST(ReconvergenceBarriers, LinkedEntriesOfSeveralSetsCompleteTogether) {
  Bench bench(table(2, 2, BarrierSpan::kLinked), 8);
  bench.barriers.reserve(threads({0, 5, 2, 7}), kHere);
  EXPECT_EQ(bench.barriers.counters().opened, 2u);
  EXPECT_EQ(bench.barriers.counters().multiset, 1u);
  EXPECT_EQ(bench.barriers.arrive(threads({0, 2}), kHere), 0b0101u);
  EXPECT_THAT(bench.completed(), IsEmpty());
  EXPECT_EQ(bench.barriers.arrive(threads({5}), kHere), 0b0010u);
  EXPECT_THAT(bench.completed(), IsEmpty());
  bench.barriers.arrive(threads({7}), kHere);
  EXPECT_THAT(bench.completed(), ElementsAre(ElementsAre(0u, 5u, 2u, 7u)));
  EXPECT_EQ(bench.barriers.waiting(), 0u);
}

TEST(ReconvergenceBarriers, SplitEntriesOfSeveralSetsCompleteAlone) {
  Bench bench(table(2, 2, BarrierSpan::kSplit), 8);
  bench.barriers.reserve(threads({0, 5, 2, 7}), kHere);
  EXPECT_EQ(bench.barriers.counters().multiset, 1u);
  bench.barriers.arrive(threads({0, 2}), kHere);
  EXPECT_THAT(bench.completed(), ElementsAre(ElementsAre(0u, 2u)));
  bench.barriers.arrive(threads({5, 7}), kHere);
  EXPECT_THAT(bench.completed(), ElementsAre(ElementsAre(5u, 7u)));
}

// Rows 0 and 2 share a set, and the entry.
TEST(ReconvergenceBarriers, RowsOfOneSetShareAnEntry) {
  Bench bench(table(2, 2, BarrierSpan::kSplit), 8);
  bench.barriers.reserve(threads({0, 9}), kHere);
  EXPECT_EQ(bench.barriers.counters().opened, 1u);
  EXPECT_EQ(bench.barriers.counters().multiset, 0u);
}

TEST(ReconvergenceBarriers, JoiningMakesEarlyThreadsWaitForLaterOnes) {
  for (const BarrierJoin join : {BarrierJoin::kSameCommit, BarrierJoin::kAny}) {
    Bench bench(table(1, 4, BarrierSpan::kLinked, join), 8);
    bench.barriers.reserve(threads({0, 1}), kHere);
    bench.barriers.arrive(threads({0}), kHere);
    bench.barriers.reserve(threads({6, 7}), kHere);  // lanes 2 and 3: they fit
    bench.barriers.arrive(threads({1}), kHere);
    if (join == BarrierJoin::kSameCommit) {
      EXPECT_EQ(bench.barriers.counters().opened, 2u);
      EXPECT_THAT(bench.completed(), ElementsAre(ElementsAre(0u, 1u)));
    } else {
      EXPECT_EQ(bench.barriers.counters().opened, 1u);
      EXPECT_THAT(bench.completed(), IsEmpty());
      bench.barriers.arrive(threads({6, 7}), kHere);
      EXPECT_THAT(bench.completed(), ElementsAre(ElementsAre(0u, 1u, 6u, 7u)));
    }
  }
}

// Likely-convergence points: threads 6 and 7 find no room at their reconvergence point, and therefore do not
// join the barrier at a point before it, which has room in their lanes.
TEST(ReconvergenceBarriers, AThreadIsAtALikelyPointOnlyIfItIsAtTheReconvergencePoint) {
  constexpr Place kPoint{3, 0, 0}, kOther{9, 0, 0};
  Bench bench(table(1, 2, BarrierSpan::kLinked, BarrierJoin::kAny), 8);
  bench.barriers.reserve(threads({0, 1}), kHere);
  bench.barriers.reserve_likely(threads({0, 1}), kPoint, kHere);
  bench.barriers.reserve(threads({6, 7}), kOther);
  bench.barriers.reserve_likely(threads({6, 7}), kPoint, kOther);
  EXPECT_EQ(bench.barriers.counters().missed, 2u);
  EXPECT_FALSE(bench.barriers.expects(threads({6, 7})));
  EXPECT_EQ(bench.barriers.likely_made(), 1u);
  EXPECT_EQ(bench.barriers.arrive(threads({0}), kPoint), 0b0001u);
  // Thread 1 comes to the reconvergence point without having been at the other one.
  EXPECT_EQ(bench.barriers.arrive(threads({1}), kHere), 0b0010u);
  EXPECT_THAT(bench.completed(), ElementsAre(ElementsAre(0u)));
  EXPECT_FALSE(bench.barriers.any_likely());
}

// A barrier at a likely-convergence point and one at a reconvergence point of the same place are not joined.
TEST(ReconvergenceBarriers, ThoseOfLikelyPointsAreJoinedByTheirLikeOnly) {
  Bench bench(table(1, 4, BarrierSpan::kLinked, BarrierJoin::kAny), 8);
  bench.barriers.reserve_likely(threads({0, 1}), kHere, {ptx::kNoPc, 0, 0});
  bench.barriers.reserve(threads({6, 7}), kHere);
  EXPECT_EQ(bench.barriers.counters().opened, 2u);
  bench.barriers.arrive(threads({0}), kHere);
  bench.barriers.leave_likely(threads({1, 6}), [](const Place& place) { return place == kHere; });
  EXPECT_THAT(bench.completed(), ElementsAre(ElementsAre(0u)));
  EXPECT_TRUE(bench.barriers.expects(threads({6})));
  EXPECT_EQ(bench.barriers.likely_joins(), 1u);
}

TEST(ReconvergenceBarriers, SameThreadMayWaitAtSeveralPlacesButOncePerPlace) {
  Bench bench(table(1, 4, BarrierSpan::kLinked), 8);
  bench.barriers.reserve(threads({0, 1}), kHere);
  bench.barriers.reserve(threads({0, 1}), kHere);
  EXPECT_EQ(bench.barriers.counters().opened, 1u);
  bench.barriers.reserve(threads({0, 1}), {9, 0, 0});
  bench.barriers.reserve(threads({0, 1}), {7, 1, 0});  // one call deeper
  EXPECT_EQ(bench.barriers.counters().opened, 3u);
  EXPECT_TRUE(bench.barriers.expects(threads({1})));
  EXPECT_EQ(bench.barriers.arrive(threads({0, 1}), {9, 0, 0}), 3u);
  EXPECT_THAT(bench.completed(), SizeIs(1));
  EXPECT_TRUE(bench.barriers.expects(threads({1})));
}

// --- the model: groups of threads that wait for one another
// --------------------------------------------------

struct Model {
  struct Group {
    Place place;
    std::map<unsigned, bool> reached;  // thread -> is it there?
    std::set<unsigned> sets;           // a way of each is taken
  };
  unsigned sets, ways;
  bool linked;
  std::vector<Group> groups;
  std::uint64_t missed = 0;
  std::vector<std::vector<unsigned>> done;

  unsigned set_of(unsigned thread) const { return thread / kWidth % sets; }
  unsigned used(unsigned set) const {
    return static_cast<unsigned>(
        std::count_if(groups.begin(), groups.end(), [&](const Group& g) { return g.sets.count(set) != 0; }));
  }
  bool expected(unsigned thread, const Place& place) const {
    return std::any_of(groups.begin(), groups.end(), [&](const Group& g) {
      const auto at = g.reached.find(thread);
      return g.place == place && at != g.reached.end() && !at->second;
    });
  }
  void reserve(const std::vector<unsigned>& list, const Place& place) {
    std::vector<unsigned> fresh;
    for (const unsigned t : list) {
      if (!expected(t, place)) fresh.push_back(t);
    }
    std::map<unsigned, Group> by_set;
    Group whole{place, {}, {}};
    for (const unsigned t : fresh) {
      const unsigned set = set_of(t);
      if (by_set.count(set) == 0) {
        if (used(set) >= ways) {
          ++missed;
          continue;
        }
        by_set[set] = {place, {}, {set}};
      }
      by_set[set].reached[t] = false;
    }
    for (auto& [set, group] : by_set) {
      if (!linked) groups.push_back(group);
      whole.reached.insert(group.reached.begin(), group.reached.end());
      whole.sets.insert(set);
    }
    if (linked && !whole.reached.empty()) groups.push_back(whole);
  }
  void finish() {
    for (auto group = groups.begin(); group != groups.end();) {
      group->sets.clear();
      for (const auto& [t, there] : group->reached) group->sets.insert(set_of(t));
      const bool all = std::all_of(group->reached.begin(), group->reached.end(),
                                   [](const auto& member) { return member.second; });
      if (!all) {
        ++group;
        continue;
      }
      std::vector<unsigned> list;
      for (const auto& [t, there] : group->reached) list.push_back(t);
      if (!list.empty()) done.push_back(list);
      group = groups.erase(group);
    }
  }
  void arrive(const std::vector<unsigned>& list, const Place& place) {
    for (const unsigned t : list) {
      bool came = false;  // then nobody further in, in groups made later, waits for it
      for (Group& group : groups) {
        const auto at = group.reached.find(t);
        if (at == group.reached.end() || at->second) continue;
        if (came) {
          group.reached.erase(at);
        } else if (group.place == place) {
          at->second = came = true;
        }
      }
    }
    finish();
  }
  void exit(const std::vector<unsigned>& list) {
    for (const unsigned t : list) {
      for (Group& group : groups) {
        const auto at = group.reached.find(t);
        if (at != group.reached.end() && !at->second) group.reached.erase(at);
      }
    }
    finish();
  }
};

class AgainstModel : public ::testing::TestWithParam<BarrierSpan> {};

TEST_P(AgainstModel, RandomDivergencesArrivalsAndExits) {
  std::uint64_t missed = 0, completed = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const unsigned sets = 1 + random() % 4, ways = 1 + random() % 4, rows = 8;
    Bench bench(table(sets, ways, GetParam()), rows);
    Model model{sets, ways, GetParam() == BarrierSpan::kLinked, {}, 0, {}};
    std::set<unsigned> parked;  // threads that wait somewhere: they do nothing
    for (int step = 0; step < 300; ++step) {
      LaneSet set;
      for (unsigned lane = 0; lane < kWidth; ++lane) {
        const auto row = static_cast<std::uint16_t>(random() % rows);
        if (random() % 4 == 0 || parked.count(row * kWidth + lane) != 0) continue;
        set.mask |= 1u << lane;
        set.row[lane] = row;
      }
      const std::vector<unsigned> list = Bench::numbers(set);
      const Place place{static_cast<ptx::Pc>(random() % 3), static_cast<std::uint16_t>(random() % 2), 0};
      switch (random() % 8) {
        case 0:
          bench.barriers.exit(set);
          model.exit(list);
          break;
        case 1:
        case 2:
        case 3:
          bench.barriers.reserve(set, place);
          model.reserve(list, place);
          break;
        default:
          bench.barriers.arrive(set, place);
          model.arrive(list, place);
          break;
      }
      auto got = bench.completed();
      for (auto& threads : got) std::sort(threads.begin(), threads.end());
      completed += got.size();
      ASSERT_THAT(got, ::testing::UnorderedElementsAreArray(model.done)) << "step " << step;
      model.done.clear();
      ASSERT_EQ(bench.barriers.counters().missed, model.missed) << "step " << step;
      parked.clear();
      for (const auto& group : model.groups) {
        for (const auto& [t, there] : group.reached) {
          if (there) parked.insert(t);
        }
      }
      ASSERT_EQ(bench.barriers.waiting(), parked.size()) << "step " << step;
    }
    missed += model.missed;
  }
  EXPECT_GT(missed, 100u);
  EXPECT_GT(completed, 100u);
}

INSTANTIATE_TEST_SUITE_P(Spans, AgainstModel, ::testing::Values(BarrierSpan::kLinked, BarrierSpan::kSplit),
                         [](const auto& info) {
                           return info.param == BarrierSpan::kLinked ? "linked" : "split";
                         });

}  // namespace
}  // namespace weft::warp_formation::test::reconvergence_barriers_test
