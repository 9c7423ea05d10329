// Parts of the SM's core, each by itself: instructions in flight, outcomes, the account of cycles,
// asynchronous copies, the front end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sm/async_copies.h"
#include "sm/cycle_account.h"
#include "sm/front_end.h"
#include "sm/in_flight.h"
#include "sm/outcome_list.h"

namespace weft::sm::core_parts_test {
namespace {

using warp_formation::Stall;
using warp_formation::ThreadGroup;

ThreadGroup group_of(std::uint16_t chunk, std::uint32_t mask) {
  ThreadGroup group;
  group.chunk = chunk;
  group.mask = mask;
  return group;
}

// An issue of one group whose threads in `executing` hold their guard.
void fill(InFlight& flight, std::uint16_t chunk, std::uint32_t mask, std::uint32_t executing) {
  flight.group_count = 1;
  flight.groups[0] = group_of(chunk, mask);
  flight.executing[0] = executing;
}

TEST(InFlightTable, KeepsARecordUntilItsLastReferenceIsGone) {
  InFlightTable table(2);
  const std::uint16_t first = table.take(), second = table.take();
  EXPECT_NE(first, second);
  EXPECT_TRUE(table.full());
  table[first].references = 2;
  table[second].references = 1;
  EXPECT_FALSE(table.release(first));
  EXPECT_TRUE(table.release(second));
  unsigned left = 0;
  table.each([&](const InFlight& record) { left += record.references; });
  EXPECT_EQ(left, 1u);
  EXPECT_TRUE(table.release(first));
  EXPECT_TRUE(table.empty());
}

TEST(InFlightTable, IsEmptyAfterAResetInTheMiddle) {
  InFlightTable table(3);
  table[table.take()].references = 4;
  table[table.take()].references = 1;
  table.reset();
  EXPECT_TRUE(table.empty());
  table.each([](const InFlight&) { ADD_FAILURE() << "a stale record"; });
  EXPECT_EQ(table.take(), 0) << "as after construction";
}

TEST(OutcomeList, LeavesOutWhatHasNoThreads) {
  OutcomeList list;
  list.begin(OutcomeList::Kind::kGo, 7, 1);
  list.add(group_of(0, ~0u), 0);
  list.begin(OutcomeList::Kind::kBarrier, 8, 1, 3);
  list.add(group_of(0, ~0u), 0x0f);
  list.add(group_of(1, ~0u), 0xf0);
  EXPECT_FALSE(list.is_one_way());
  list.begin(OutcomeList::Kind::kGo, 9, 2);
  const warp_formation::Outcomes outcomes = list.outcomes();
  ASSERT_EQ(outcomes.count, 1u);
  EXPECT_EQ(outcomes.data[0].next_pc, 8u);
  EXPECT_EQ(outcomes.data[0].argument, 3u);
  ASSERT_EQ(outcomes.data[0].groups.count, 2u);
  EXPECT_EQ(outcomes.data[0].groups.data[1].chunk, 1);
  EXPECT_EQ(outcomes.data[0].groups.data[1].mask, 0xf0u);
  EXPECT_FALSE(outcomes.data[0].whole);
}

TEST(OutcomeList, HasRoomForThreadsThatAllGoApart) {
  OutcomeList list;
  for (unsigned g = 0; g < warp_formation::kMaxGroups; ++g) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      list.begin(OutcomeList::Kind::kGo, g * isa::kLanes + lane, 0);
      list.add(group_of(static_cast<std::uint16_t>(g), ~0u), 1u << lane);
    }
  }
  const warp_formation::Outcomes outcomes = list.outcomes();
  ASSERT_EQ(outcomes.count, warp_formation::kMaxGroups * isa::kLanes);
  for (std::uint32_t i = 0; i < outcomes.count; ++i) {
    ASSERT_EQ(outcomes.data[i].groups.data[0].chunk, i / isa::kLanes);
    ASSERT_EQ(outcomes.data[i].groups.data[0].mask, 1u << i % isa::kLanes) << "groups must not move";
  }
}

TEST(CycleAccount, PutsEachCycleOfEachSchedulerIntoOneBucket) {
  CycleAccount account(2, 2, false, true);
  account.start(100);
  account.set(0, Stall::kNone);
  account.set(1, Stall::kMemory);
  account.bring_to(101);
  account.set(0, Stall::kBarrier);  // and asleep until 150
  account.bring_to(150);
  account.bring_to(150);
  account.bring_to(120);
  const auto of = [&](unsigned scheduler, Stall stall) {
    return account.buckets(scheduler)[static_cast<unsigned>(stall)];
  };
  EXPECT_EQ(of(0, Stall::kNone), 1u);
  EXPECT_EQ(of(0, Stall::kBarrier), 49u);
  EXPECT_EQ(of(1, Stall::kMemory), 50u);
  account.start(1000);
  account.bring_to(1010);
  EXPECT_EQ(of(0, Stall::kEmpty), 10u) << "cycles between kernels are nobody's";
}

// One that is not asked stays as it was, and its beats are counted when it is asked again.
TEST(CycleAccount, BringsSchedulersApart) {
  CycleAccount account(2, 1, false, true);
  statistics::Group root;
  account.bind(root);
  account.start(10);
  datapath::Times times;
  times.beats = 4;
  times.lane_beats = 0b1011;
  account.issued(0, times);
  account.set(0, Stall::kNone);
  account.bring_to(11, 0);
  account.set(0, Stall::kMemory);
  account.bring_to(13, 1);
  account.bring_to(20);
  EXPECT_EQ(account.buckets(0)[static_cast<unsigned>(Stall::kNone)], 1u);
  EXPECT_EQ(account.buckets(0)[static_cast<unsigned>(Stall::kMemory)], 9u);
  EXPECT_EQ(account.buckets(1)[static_cast<unsigned>(Stall::kEmpty)], 10u);
  EXPECT_EQ(root.sum({{"scheduler", 0}, "lane_cycles"}).value(), 3u);
  EXPECT_EQ(root.sum({{"scheduler", 0}, "no_ready_cycles"}).value(), 6u) << "beats end with cycle 13";
}

TEST(CycleAccount, SumsWhatThreadsWaitForInCyclesWithoutAnActiveLane) {
  statistics::Group root;
  CycleAccount account(1, 1, true, false);
  account.bind_stalled(root);
  account.start(0);
  warp_formation::Census census;
  census.issued = 3;
  census.ready = 4;
  census.barrier = 5;
  EXPECT_TRUE(account.wants_census(0, false));
  account.set(0, Stall::kMemory);
  account.take_census(0, census);
  account.resident(0, 20, 4);
  account.bring_to(10);
  // Two of three beats have a lane: the first cycle of the two after the issue is without one.
  datapath::Times times;
  times.beats = 3;
  times.lane_beats = 5;
  account.set(0, Stall::kNone);
  account.issued(0, times);
  EXPECT_FALSE(account.wants_census(0, true)) << "its lanes are active in this cycle";
  account.bring_to(11);
  account.set(0, Stall::kDependence);
  EXPECT_TRUE(account.wants_census(0, false));
  census = {};
  census.reconvergence = 7;
  account.take_census(0, census);
  account.bring_to(13);
  const auto stalled = root.sample().at("stalled");
  EXPECT_EQ(stalled.at("cycles"), 11);
  EXPECT_EQ(stalled.at("reconvergence"), 7);
  EXPECT_EQ(stalled.at("launched_thread_cycles"), 20 * 9);
  EXPECT_EQ(stalled.at("in_pipeline"), 70)
      << "with a scoreboard what waits for an operand is in the pipeline";
  EXPECT_EQ(stalled.at("barrier"), 50);
}

// Beats are busy and no idleness, with threads or without; only those with threads have lanes.
TEST(CycleAccount, TellsIdleCyclesFromBeats) {
  statistics::Group root;
  CycleAccount account(1, 1, false, true);
  account.bind(root);
  account.start(0);
  account.bring_to(5);  // no threads: neither idle nor busy
  datapath::Times times;
  times.beats = 4;
  times.lane_beats = 3;
  account.set(0, Stall::kNone);
  account.issued(0, times);
  account.bring_to(6);
  account.set(0, Stall::kDependence);
  account.bring_to(12);  // asleep
  account.set(0, Stall::kMemoryBusy);
  account.bring_to(15);
  account.set(0, Stall::kUnitBusy);
  account.bring_to(17);
  const auto of = [&](const char* name) { return root.sample().at("scheduler0").at(name); };
  EXPECT_EQ(of("held_cycles"), 12);
  EXPECT_EQ(of("lane_cycles"), 2);
  EXPECT_EQ(of("no_ready_cycles"), 3);
  EXPECT_EQ(of("memory_blocked_cycles"), 3);
}

TEST(AsyncCopies, KnowWhichGroupsOfWhichThreadsAreThere) {
  AsyncCopies copies;
  copies.start_kernel(true, 2, 8);
  copies.start_block(0, 2);
  InFlight first, second;
  fill(first, 1, 0xf, 0x3);
  copies.start(0, first);
  copies.commit(first);
  fill(second, 1, 0xf, 0x1);
  copies.start(1, second);
  copies.commit(second);
  EXPECT_EQ(copies.done(1, 0xf, true, 0), 0xcu) << "the guard did not hold for the others";
  copies.finish(0, first, 1, 0x3);
  EXPECT_EQ(copies.done(1, 0xf, false, 1), 0xfu) << "all but the last group";
  EXPECT_EQ(copies.done(1, 0xf, false, 0), 0xeu);
  copies.finish(1, second, 1, 0x1);
  EXPECT_EQ(copies.done(1, 0xf, true, 0), 0xfu);
}

TEST(AsyncCopies, ResumeWaitersInTheOrderInWhichTheyCame) {
  AsyncCopies copies;
  for (const std::uint16_t id : {4, 2, 9}) copies.add_waiter(id);
  std::vector<std::uint16_t> asked;
  const auto all_but_two = [&](std::uint16_t id) {
    asked.push_back(id);
    return id != 2;
  };
  copies.resume(all_but_two);
  copies.resume(all_but_two);
  EXPECT_THAT(asked, ::testing::ElementsAre(4, 2, 9, 2));
  copies.reset();
  asked.clear();
  copies.resume(all_but_two);
  EXPECT_THAT(asked, ::testing::IsEmpty());
}

class FrontEndTest : public ::testing::Test {
 protected:
  FrontEndTest() { front_end_.start_kernel(100, 0, "kernel"); }
  // The scheme wants the context to go on there.
  void want(unsigned context, ptx::Pc pc) {
    table_.set(context, pc);
    front_end_.follow(table_, 0);
  }
  // Cycles until the buffer holds the instruction; memory answers `latency` cycles after a miss.
  Cycle cycles_until_held(unsigned context, ptx::Pc pc, Cycle latency) {
    std::uint64_t line = sm::kNoLine;
    Cycle answer = kNever;
    for (Cycle cycle = 0; cycle < 1000; ++cycle, ++now_) {
      if (now_ == answer) front_end_.fill(now_, line);
      front_end_.arrive(now_);
      if (front_end_.holds(context, pc)) return cycle;
      const std::uint64_t missed = front_end_.step(now_, true);
      if (missed != sm::kNoLine) {
        line = missed;
        answer = now_ + latency;
      }
    }
    return kNever;
  }

  const machine::SmConfig config_;
  warp_formation::ContextTable table_{4};
  FrontEnd front_end_{config_, 4};
  Cycle now_ = 1;
};

TEST_F(FrontEndTest, FetchesALineOnceAndThenFromTheCache) {
  want(0, 0);
  const Cycle missed = cycles_until_held(0, 0, 200);
  EXPECT_GE(missed, 200u);
  want(1, 0);
  EXPECT_LT(cycles_until_held(1, 0, 200), 10u);
}

TEST_F(FrontEndTest, HoldsWhatTheSchemeWantsAndForgetsTheRest) {
  want(2, 5);
  cycles_until_held(2, 5, 50);
  EXPECT_FALSE(front_end_.holds(2, 6));
  want(2, 6);
  EXPECT_FALSE(front_end_.holds(2, 5)) << "a taken branch flushes the buffer";
  EXPECT_LT(cycles_until_held(2, 6, 50), 10u);
}

TEST(FrontEndWithoutACache, BringsAFetchOfInstructionsInACycleFromAnywhere) {
  machine::SmConfig config;
  config.l1i.enabled = false;
  config.l1i.tags.line_bytes = 16;  // of no account
  FrontEnd front_end(config, 1);
  warp_formation::ContextTable table(1);
  front_end.start_kernel(100, 0, "kernel");
  Cycle now = 1;
  for (const ptx::Pc pc : {0u, 31u, 7u, 15u, 98u}) {
    table.set(0, pc);
    front_end.follow(table, 0);
    EXPECT_EQ(front_end.step(now, false), sm::kNoLine);
    front_end.arrive(++now);
    ASSERT_TRUE(front_end.holds(0, pc));
    front_end.consume(0);
    EXPECT_TRUE(front_end.holds(0, pc + 1)) << "two of a fetch";
  }
}

// Three kernels one after the other: the same again, one elsewhere, and one that has taken the first one's
// place.
TEST(KeptInstructionCache, HoldsTheLinesOfCodeThatIsStillThere) {
  for (const bool kept : {false, true}) {
    machine::SmConfig config;
    config.l1i.kept = kept;
    FrontEnd front_end(config, 4);
    warp_formation::ContextTable table(4);
    Cycle now = 1;
    // Launches a kernel of 100 instructions and runs its first; whether that had to come from memory.
    const auto misses = [&](std::uint64_t offset, const char* kernel) {
      front_end.start_kernel(100, offset, kernel);
      table.set(0, ptx::kNoPc);
      front_end.follow(table, 0);
      table.set(0, 0);
      front_end.follow(table, 0);
      bool missed = false;
      for (; !front_end.holds(0, 0); ++now) {
        front_end.arrive(now);
        const std::uint64_t line = front_end.step(now, true);
        if (line == sm::kNoLine) continue;
        front_end.fill(now, line);
        missed = true;
      }
      return missed;
    };
    EXPECT_TRUE(misses(0, "first"));
    EXPECT_EQ(misses(0, "first"), !kept);
    EXPECT_TRUE(misses(4096, "second"));
    EXPECT_EQ(misses(0, "first"), !kept);
    EXPECT_EQ(misses(4096, "second"), !kept);
    EXPECT_TRUE(misses(0, "third")) << "other code in the same place";
    EXPECT_TRUE(misses(4096, "second")) << "the cache was emptied";
    EXPECT_EQ(misses(4096, "second"), !kept);
    front_end.reset();
    EXPECT_TRUE(misses(4096, "second"));
  }
}

TEST_F(FrontEndTest, ReportsTheContextsThatWaitForAFetch) {
  warp_formation::ContextSet waiting;
  std::uint32_t changed = 0;
  front_end_.report_to(waiting, changed, 0, {1, 2, 1, 2});
  want(3, 8);
  EXPECT_EQ(changed, 0u);
  cycles_until_held(3, 8, 20);
  EXPECT_FALSE(waiting.has(3));
  EXPECT_EQ(changed, 2u);
  EXPECT_TRUE(waiting.has(0));
  front_end_.reset();
  EXPECT_TRUE(waiting.has(3));
}

}  // namespace
}  // namespace weft::sm::core_parts_test
