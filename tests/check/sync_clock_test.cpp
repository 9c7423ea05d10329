// What threads know of each other after barriers, worked out by hand.
#include "check/sync_clock.h"

#include <gtest/gtest.h>

namespace weft::check::sync_clock_test {
namespace {

// Has `of` done at its clock `clock` what comes before everything that `thread` does now?
bool knows(const SyncClock& clock, std::uint32_t thread, std::uint32_t of, SyncClock::Clock at) {
  return at <= clock.known(thread, of);
}

TEST(SyncClock, KnowsNothingAtTheStart) {
  SyncClock clock;
  clock.start(64);
  EXPECT_EQ(clock.own(3), 1u);
  EXPECT_FALSE(knows(clock, 5, 3, 1));
}

TEST(SyncClock, ABarrierOfTheBlockTellsEverythingBeforeIt) {
  SyncClock clock;
  clock.start(64);
  clock.arrive(0, 0, ~0u, true);
  clock.arrive(0, 1, ~0u, true);
  clock.release(0, true);
  EXPECT_TRUE(knows(clock, 5, 63, 1));
  EXPECT_EQ(clock.own(63), 2u);
  EXPECT_FALSE(knows(clock, 5, 63, 2)) << "not what comes after it";
}

TEST(SyncClock, ThreadsThatHaveExitedAreKnownAfterABarrier) {
  SyncClock clock;
  clock.start(64);
  clock.arrive(0, 0, ~0u, true);  // threads 32 to 63 have exited
  clock.release(0, true);
  EXPECT_TRUE(knows(clock, 5, 63, 1));
}

TEST(SyncClock, ACountedBarrierOfAllIsOneOfTheBlock) {
  SyncClock clock;
  clock.start(64);
  clock.arrive(0, 0, ~0u, true);
  clock.arrive(0, 1, ~0u, true);
  clock.release(0, false);
  EXPECT_TRUE(knows(clock, 5, 63, 1));
  EXPECT_FALSE(knows(clock, 5, 63, 2));
}

TEST(SyncClock, ABarrierOfAPartTellsThatPart) {
  SyncClock clock;
  clock.start(96);
  clock.arrive(1, 0, ~0u, true);
  clock.arrive(1, 1, ~0u, true);
  clock.release(1, false);
  EXPECT_TRUE(knows(clock, 0, 40, 1));
  EXPECT_FALSE(knows(clock, 0, 70, 1));
  EXPECT_FALSE(knows(clock, 70, 0, 1));
}

TEST(SyncClock, KnowledgeIsHandedOn) {
  SyncClock clock;
  clock.start(96);
  clock.arrive(1, 0, ~0u, true);  // warps 0 and 1 ...
  clock.arrive(1, 1, ~0u, true);
  clock.release(1, false);
  clock.arrive(2, 1, ~0u, true);  // ... then warps 1 and 2
  clock.arrive(2, 2, ~0u, true);
  clock.release(2, false);
  EXPECT_TRUE(knows(clock, 70, 0, 1)) << "through warp 1";
  EXPECT_FALSE(knows(clock, 70, 0, 2)) << "what warp 0 did after its barrier";
  EXPECT_FALSE(knows(clock, 0, 70, 1)) << "nothing comes back";
}

TEST(SyncClock, WhoOnlyArrivesTellsButLearnsNothing) {
  SyncClock clock;
  clock.start(64);
  clock.arrive(3, 0, ~0u, false);
  EXPECT_EQ(clock.own(0), 2u) << "what it does now is not covered";
  clock.arrive(3, 1, ~0u, true);
  clock.release(3, false);
  EXPECT_TRUE(knows(clock, 40, 0, 1));
  EXPECT_FALSE(knows(clock, 40, 0, 2));
  EXPECT_FALSE(knows(clock, 0, 40, 1));
}

TEST(SyncClock, AWarpSynchronisesAmongItself) {
  SyncClock clock;
  clock.start(64);
  clock.synchronise(1, 0x0000ffff);  // threads 32 to 47
  EXPECT_TRUE(knows(clock, 32, 47, 1));
  EXPECT_FALSE(knows(clock, 32, 47, 2));
  EXPECT_FALSE(knows(clock, 32, 48, 1));
}

}  // namespace
}  // namespace weft::check::sync_clock_test
