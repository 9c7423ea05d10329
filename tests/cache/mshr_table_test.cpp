#include "cache/mshr_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

namespace weft::cache {
namespace {

std::vector<std::uint32_t> drain(MshrTable& mshrs, Line line) {
  std::vector<std::uint32_t> waiters;
  mshrs.release(line, [&](std::uint32_t waiter) { waiters.push_back(waiter); });
  return waiters;
}

TEST(MshrTable, MergesInOrderAndTellsItsLimitsApart) {
  MshrTable mshrs({2, 3});
  EXPECT_EQ(mshrs.add(10, 1), MshrOutcome::kAllocated);
  EXPECT_EQ(mshrs.add(10, 2), MshrOutcome::kMerged);
  EXPECT_EQ(mshrs.add(10, 3), MshrOutcome::kMerged);
  EXPECT_EQ(mshrs.check(10), MshrOutcome::kEntryFull);
  EXPECT_EQ(mshrs.add(10, 4), MshrOutcome::kEntryFull);
  EXPECT_EQ(mshrs.add(11, 5), MshrOutcome::kAllocated);
  EXPECT_EQ(mshrs.add(12, 6), MshrOutcome::kNoEntry);
  EXPECT_EQ(drain(mshrs, 10), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(mshrs.add(12, 6), MshrOutcome::kAllocated);
  EXPECT_EQ(mshrs.in_use(), 2u);
}

TEST(MshrTable, AClosedEntryTakesNoMoreWaitersButKeepsItsPlace) {
  MshrTable mshrs({1, 4});
  mshrs.add(10, 1);
  mshrs.add(10, 2);
  const std::uint32_t entry = mshrs.close(10);
  EXPECT_FALSE(mshrs.contains(10));
  EXPECT_EQ(mshrs.check(10), MshrOutcome::kNoEntry);
  std::uint32_t waiter = 0;
  ASSERT_TRUE(mshrs.next_waiter(entry, waiter));
  EXPECT_EQ(waiter, 1u);
  EXPECT_TRUE(mshrs.has_waiter(entry));
  ASSERT_TRUE(mshrs.next_waiter(entry, waiter));
  EXPECT_EQ(waiter, 2u);
  EXPECT_FALSE(mshrs.next_waiter(entry, waiter));
  EXPECT_EQ(mshrs.check(10), MshrOutcome::kAllocated);
}

// Dense, strided and random lines in a table that is often full: collisions and shifts of the hash happen
// constantly.
TEST(MshrTable, AgreesWithAMapOnRandomTraffic) {
  constexpr std::size_t kEntries = 24;
  constexpr std::size_t kMerges = 3;
  MshrTable mshrs({kEntries, kMerges});
  std::map<Line, std::vector<std::uint32_t>> model;
  std::mt19937_64 random(7);
  for (std::uint32_t i = 0; i < 50000; ++i) {
    const Line line = (random() % 40) << (random() % 3 * 20);
    if (random() % 3 != 0) {
      const MshrOutcome expected =
          model.count(line) != 0
              ? (model[line].size() < kMerges ? MshrOutcome::kMerged : MshrOutcome::kEntryFull)
              : (model.size() < kEntries ? MshrOutcome::kAllocated : MshrOutcome::kNoEntry);
      ASSERT_EQ(mshrs.check(line), expected);
      ASSERT_EQ(mshrs.add(line, i), expected);
      if (expected == MshrOutcome::kAllocated || expected == MshrOutcome::kMerged) model[line].push_back(i);
    } else if (!model.empty()) {
      auto chosen = model.begin();
      std::advance(chosen, random() % model.size());
      ASSERT_TRUE(mshrs.contains(chosen->first));
      ASSERT_EQ(drain(mshrs, chosen->first), chosen->second);
      model.erase(chosen);
    }
    ASSERT_EQ(mshrs.in_use(), model.size());
  }
}

TEST(MshrTable, ResetEmptiesIt) {
  MshrTable mshrs({2, 2});
  mshrs.add(1, 1);
  mshrs.add(2, 2);
  mshrs.reset();
  EXPECT_FALSE(mshrs.contains(1));
  EXPECT_EQ(mshrs.add(3, 3), MshrOutcome::kAllocated);
  EXPECT_EQ(mshrs.add(4, 4), MshrOutcome::kAllocated);
}

}  // namespace
}  // namespace weft::cache
