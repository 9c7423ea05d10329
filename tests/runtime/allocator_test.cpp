#include "runtime/allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "weft/common/error.h"

namespace weft::runtime::allocator_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr std::uint64_t kBase = 0x1'0000'0000;

TEST(Allocator, GivesTheLowestHoleThatFits) {
  Allocator allocator(kBase, 4096);
  const auto a = allocator.allocate(300);
  const auto b = allocator.allocate(1);
  const auto c = allocator.allocate(256);
  EXPECT_EQ(a, kBase);
  EXPECT_EQ(b, kBase + 512);
  EXPECT_EQ(c, kBase + 768);
  allocator.release(a);
  EXPECT_EQ(allocator.allocate(513), kBase + 1024);  // does not fit the hole of 512 bytes
  EXPECT_EQ(allocator.allocate(512), kBase);
}

TEST(Allocator, JoinsAHoleWithBothNeighbours) {
  Allocator allocator(kBase, 1024);
  const auto a = allocator.allocate(256), b = allocator.allocate(256), c = allocator.allocate(512);
  EXPECT_EQ(allocator.free_bytes(), 0u);
  EXPECT_EQ(allocator.release(a).all.bytes, 256u);
  EXPECT_EQ(allocator.release(c).all.bytes, 512u);
  EXPECT_EQ(allocator.largest_hole(), 512u);
  const Allocator::Hole hole = allocator.release(b);
  EXPECT_EQ(hole.added.address, b);
  EXPECT_EQ(hole.added.bytes, 256u);
  const Range whole = hole.all;
  EXPECT_EQ(whole.address, kBase);
  EXPECT_EQ(whole.bytes, 1024u);
  EXPECT_EQ(allocator.largest_hole(), 1024u);
}

TEST(Allocator, KnowsWhatLiesInsideOneAllocation) {
  Allocator allocator(kBase, 4096);
  const auto a = allocator.allocate(100);
  allocator.allocate(100);
  EXPECT_TRUE(allocator.contains(a, 100));
  EXPECT_TRUE(allocator.contains(a + 99, 1));
  EXPECT_FALSE(allocator.contains(a + 99, 2));
  EXPECT_FALSE(allocator.contains(a, 257)) << "reaches into the neighbour";
  EXPECT_FALSE(allocator.contains(a - 1, 1));
  EXPECT_FALSE(allocator.contains(a + 1, UINT64_MAX)) << "the end must not wrap around";
  EXPECT_FALSE(allocator.contains(0, 1));
}

TEST(Allocator, SaysWhatIsFreeWhenMemoryIsExhausted) {
  Allocator allocator(kBase, 1024);
  allocator.allocate(700);
  EXPECT_THAT(
      [&] { allocator.allocate(257); },
      Throws<InputError>(Property(&InputError::what, HasSubstr("asked for 257 bytes; free: 256 bytes"))));
  EXPECT_THAT([&] { allocator.allocate(UINT64_MAX); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("18446744073709551615"))));
  EXPECT_THROW(allocator.allocate(0), InputError);
  EXPECT_EQ(allocator.allocate(256), kBase + 768) << "a refusal leaves the free list as it was";
}

TEST(Allocator, KnowsWhereTheLastAllocationEnds) {
  Allocator allocator(kBase, 4096);
  EXPECT_EQ(allocator.end_of_live(), kBase);
  const auto first = allocator.allocate(300), second = allocator.allocate(1);
  EXPECT_EQ(allocator.end_of_live(), kBase + 768);
  allocator.release(first);
  EXPECT_EQ(allocator.end_of_live(), kBase + 768) << "a hole in front changes nothing";
  allocator.release(second);
  EXPECT_EQ(allocator.end_of_live(), kBase);
}

TEST(Allocator, RefusesToFreeWhatIsNotAllocated) {
  Allocator allocator(kBase, 1024);
  const auto a = allocator.allocate(512);
  EXPECT_THROW(allocator.release(a + 256), InputError);
  allocator.release(a);
  EXPECT_THROW(allocator.release(a), InputError);
}

TEST(Allocator, NeverOverlapsAndLosesNothing) {
  constexpr std::uint64_t kBytes = 1 << 16;
  Allocator allocator(kBase, kBytes);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> live;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 && !live.empty()) {
      const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      allocator.release(victim->first);
      live.erase(victim);
      continue;
    }
    const std::uint64_t bytes = random() % 3000 + 1;
    if (bytes > allocator.largest_hole()) continue;
    const auto address = allocator.allocate(bytes);
    ASSERT_EQ(address % Allocator::kAlignment, 0u);
    ASSERT_GE(address, kBase);
    ASSERT_LE(address + bytes, kBase + kBytes);
    const auto next = live.lower_bound(address);
    ASSERT_TRUE(next == live.end() || address + bytes <= next->first);
    ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= address);
    live[address] = bytes;
  }
  for (const auto& [address, bytes] : live) allocator.release(address);
  EXPECT_EQ(allocator.largest_hole(), kBytes);
}

}  // namespace
}  // namespace weft::runtime::allocator_test
