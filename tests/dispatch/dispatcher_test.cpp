// The thread-block scheduler with SMs that only count.
#include "dispatch/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "dispatch/launch_queue.h"

namespace weft::dispatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct CountingSm final : BlockTarget {
  bool can_launch() const override { return blocks.size() - retired < room; }
  void launch_block(const Dim3& index) override {
    blocks.push_back(index);
    at.push_back(sc_core::sc_time_stamp());
  }
  bool drained() const override { return quiet && blocks.size() == retired; }
  std::size_t room = 2;
  std::size_t retired = 0;
  bool quiet = true;  // no transactions on their way
  std::vector<Dim3> blocks;
  std::vector<sc_core::sc_time> at;
};

struct Bench {
  explicit Bench(unsigned count, Cycle latency = 0) : sms(count) {
    std::vector<BlockTarget*> targets;
    targets.reserve(sms.size());
    for (auto& sm : sms) targets.push_back(&sm);
    dispatcher.emplace(clock, std::move(targets), latency);
    dispatcher->set_hooks(
        {[this] { return !waiting.empty(); },
         [this](Cycle) {
           dispatcher->start(begun++, waiting.front());
           waiting.pop_front();
         },
         [this](unsigned target, Dispatcher::Number number, Cycle) { assigned.emplace_back(target, number); },
         [this](Dispatcher::Number number, Cycle) { finished.push_back(number); }});
  }
  void launch(const Dim3& grid) {
    waiting.push_back(grid);
    dispatcher->poke();
  }
  void run(double nanoseconds) { sc_core::sc_start(nanoseconds, sc_core::SC_NS); }
  void retire(unsigned sm) {
    ++sms[sm].retired;
    dispatcher->block_retired(sm);
  }

  ClockDomain clock{"clock", 1000};
  std::vector<CountingSm> sms;
  std::optional<Dispatcher> dispatcher;
  std::deque<Dim3> waiting;
  Dispatcher::Number begun = 0;
  using Assigned = std::pair<unsigned, Dispatcher::Number>;
  std::vector<Assigned> assigned;
  std::vector<Dispatcher::Number> finished;
};

TEST(Dispatcher, HandsOutBlocksXFirstRoundRobinOnePerSmAndCycle) {
  Bench bench(3);
  bench.launch({2, 2, 2});
  bench.run(20);
  EXPECT_THAT(bench.sms[0].blocks, ElementsAre(Dim3{0, 0, 0}, Dim3{1, 1, 0}));
  EXPECT_THAT(bench.sms[1].blocks, ElementsAre(Dim3{1, 0, 0}, Dim3{0, 0, 1}));
  EXPECT_THAT(bench.sms[2].blocks, ElementsAre(Dim3{0, 1, 0}, Dim3{1, 0, 1}));
  for (const auto& sm : bench.sms)
    EXPECT_EQ(sm.at[1] - sm.at[0], bench.clock.time_of(2) - bench.clock.time_of(1));
  EXPECT_THAT(bench.finished, IsEmpty());
}

// The first blocks come so many edges after the launch's turn, the others without a further delay.
TEST(Dispatcher, FirstBlocksWaitForTheLatencyOfALaunch) {
  Bench bench(2, 7);
  bench.launch({4, 1, 1});
  bench.launch({1, 1, 1});
  bench.run(20);
  const auto edge = [&](std::uint64_t number) { return bench.clock.time_of(number); };
  EXPECT_EQ(bench.sms[0].at[0] - bench.sms[0].at[1], edge(1) - edge(2));
  const sc_core::sc_time first = bench.sms[0].at[0];
  for (int i = 0; i < 2; ++i) {
    bench.retire(0);
    bench.retire(1);
  }
  EXPECT_THAT(bench.sms[0].blocks, ElementsAre(Dim3{0, 0, 0}, Dim3{2, 0, 0}));
  bench.run(20);
  ASSERT_THAT(bench.sms[0].blocks, ElementsAre(Dim3{0, 0, 0}, Dim3{2, 0, 0}, Dim3{0, 0, 0}));
  EXPECT_EQ(bench.sms[0].at[2] - sc_core::sc_time(20, sc_core::SC_NS), first);
}

TEST(Dispatcher, FillsTheRoomThatARetiredBlockLeaves) {
  Bench bench(2);
  bench.launch({6, 1, 1});
  bench.run(20);
  EXPECT_EQ(bench.sms[0].blocks.size() + bench.sms[1].blocks.size(), 4u);
  bench.retire(1);
  bench.run(20);
  EXPECT_EQ(bench.sms[0].blocks.size(), 2u);
  EXPECT_THAT(bench.sms[1].blocks, ElementsAre(Dim3{1, 0, 0}, Dim3{3, 0, 0}, Dim3{4, 0, 0}));
}

TEST(Dispatcher, EndsALaunchWhenAllHasRetiredAndDrained) {
  Bench bench(2);
  bench.launch({3, 1, 1});
  bench.run(20);
  bench.sms[1].quiet = false;
  for (int i = 0; i < 2; ++i) bench.retire(0);
  bench.retire(1);
  bench.run(20);
  EXPECT_THAT(bench.finished, IsEmpty()) << "transactions are still under way";
  bench.sms[1].quiet = true;
  bench.dispatcher->poke();
  bench.run(20);
  EXPECT_THAT(bench.finished, ElementsAre(0));
  EXPECT_FALSE(bench.dispatcher->active());
  bench.launch({1, 1, 1});
  bench.run(20);
  EXPECT_TRUE(bench.dispatcher->active());
}

// Four SMs, two launches of two blocks: each SM gets one block, all at the same edge.
TEST(Dispatcher, SmallLaunchesRunSideBySide) {
  Bench bench(4);
  bench.launch({2, 1, 1});
  bench.launch({2, 1, 1});
  bench.run(20);
  using A = Bench::Assigned;
  // The first is alone as it begins and gets all SMs, the second those that are left.
  EXPECT_THAT(bench.assigned, ElementsAre(A{0, 0}, A{1, 0}, A{2, 0}, A{3, 0}, A{2, 1}, A{3, 1}));
  for (unsigned sm : {0u, 1u, 2u, 3u}) {
    EXPECT_THAT(bench.sms[sm].blocks, ElementsAre(Dim3{sm % 2, 0, 0}));
    EXPECT_EQ(bench.sms[sm].at[0], bench.sms[0].at[0]);
  }
  EXPECT_EQ(bench.dispatcher->blocks(), 4u);
  bench.retire(2);
  bench.retire(3);
  bench.run(20);
  EXPECT_THAT(bench.finished, ElementsAre(1));
  bench.retire(0);
  bench.run(20);
  EXPECT_THAT(bench.finished, ElementsAre(1));
  EXPECT_EQ(bench.dispatcher->blocks_done(), 3u);
  bench.retire(1);
  bench.run(20);
  EXPECT_THAT(bench.finished, ElementsAre(1, 0));
  EXPECT_FALSE(bench.dispatcher->active());
}

// One block fits an SM. The second launch waits until the first has placed its last block and an SM has
// drained; then both run, and the second takes the other SM when the first leaves it.
TEST(Dispatcher, ALaunchTakesTheSmsThatTheOneBeforeLeaves) {
  Bench bench(2);
  for (auto& sm : bench.sms) sm.room = 1;
  bench.launch({3, 1, 1});
  bench.launch({2, 1, 1});
  bench.run(20);
  EXPECT_EQ(bench.begun, 1u);
  bench.retire(0);  // makes room for the first launch's third block
  bench.run(20);
  EXPECT_EQ(bench.begun, 1u);
  bench.sms[1].quiet = false;
  bench.retire(1);
  bench.run(20);
  EXPECT_EQ(bench.begun, 1u) << "the SM still has transactions of the first launch";
  bench.sms[1].quiet = true;
  bench.dispatcher->poke();
  bench.run(20);
  EXPECT_EQ(bench.begun, 2u);
  EXPECT_THAT(bench.sms[1].blocks, ElementsAre(Dim3{1, 0, 0}, Dim3{0, 0, 0}));
  EXPECT_THAT(bench.finished, IsEmpty());
  bench.retire(0);
  bench.run(20);
  EXPECT_THAT(bench.finished, ElementsAre(0)) << "its SMs have drained or went to the other launch";
  EXPECT_THAT(bench.sms[0].blocks, ElementsAre(Dim3{0, 0, 0}, Dim3{2, 0, 0}, Dim3{1, 0, 0}));
  bench.retire(0);
  bench.retire(1);
  bench.run(20);
  EXPECT_THAT(bench.finished, ElementsAre(0, 1));
}

TEST(LaunchQueue, IsInOrderWithinAQueueAndOldestFirstAcross) {
  LaunchQueue<int> queue;
  queue.push(7, 1);
  queue.push(7, 2);
  queue.push(3, 3);
  queue.push(7, 4);
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(queue.take(), 3) << "queue 7 is busy";
  EXPECT_FALSE(queue.ready());
  queue.finished(7);
  EXPECT_EQ(queue.take(), 2);
  EXPECT_FALSE(queue.ready());
  EXPECT_FALSE(queue.empty());
  EXPECT_THAT(queue.clear(), ElementsAre(4));
  queue.push(7, 5);
  EXPECT_TRUE(queue.ready());
}

}  // namespace
}  // namespace weft::dispatch

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
