// The thread-block scheduler with SMs that only count.
#include "dispatch/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace weft::dispatch {
namespace {

using testing::ElementsAre;

struct CountingSm final : BlockTarget {
  bool can_launch() const override { return blocks.size() - retired < room; }
  void launch_block(const Dim3& index) override {
    blocks.push_back(index);
    at.push_back(sc_core::sc_time_stamp());
  }
  std::size_t room = 2;
  std::size_t retired = 0;
  std::vector<Dim3> blocks;
  std::vector<sc_core::sc_time> at;
};

struct Bench {
  explicit Bench(unsigned count) : sms(count) {
    std::vector<BlockTarget*> targets;
    targets.reserve(sms.size());
    for (auto& sm : sms) targets.push_back(&sm);
    dispatcher.emplace(clock, std::move(targets));
    dispatcher->set_hooks({[this](Cycle) {
                             if (!next.has_value()) return false;
                             dispatcher->start(*next);
                             next.reset();
                             return true;
                           },
                           [this] { return drained; }, [this](Cycle) { ++finished; }});
  }
  void launch(const Dim3& grid) {
    next = grid;
    dispatcher->poke();
  }
  void run(double nanoseconds) { sc_core::sc_start(nanoseconds, sc_core::SC_NS); }
  void retire(CountingSm& sm) {
    ++sm.retired;
    dispatcher->block_retired();
  }

  ClockDomain clock{"clock", 1000};
  std::vector<CountingSm> sms;
  std::optional<Dispatcher> dispatcher;
  std::optional<Dim3> next;
  bool drained = true;
  int finished = 0;
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
  EXPECT_EQ(bench.finished, 0);
}

TEST(Dispatcher, FillsTheRoomThatARetiredBlockLeaves) {
  Bench bench(2);
  bench.launch({6, 1, 1});
  bench.run(20);
  EXPECT_EQ(bench.sms[0].blocks.size() + bench.sms[1].blocks.size(), 4u);
  bench.retire(bench.sms[1]);
  bench.run(20);
  EXPECT_EQ(bench.sms[0].blocks.size(), 2u);
  EXPECT_THAT(bench.sms[1].blocks, ElementsAre(Dim3{1, 0, 0}, Dim3{3, 0, 0}, Dim3{4, 0, 0}));
}

TEST(Dispatcher, EndsALaunchWhenAllHasRetiredAndDrained) {
  Bench bench(2);
  bench.launch({3, 1, 1});
  bench.run(20);
  bench.drained = false;
  for (int i = 0; i < 2; ++i) bench.retire(bench.sms[0]);
  bench.retire(bench.sms[1]);
  bench.run(20);
  EXPECT_EQ(bench.finished, 0) << "transactions are still under way";
  bench.drained = true;
  bench.dispatcher->poke();
  bench.run(20);
  EXPECT_EQ(bench.finished, 1);
  EXPECT_FALSE(bench.dispatcher->active());
  bench.launch({1, 1, 1});
  bench.run(20);
  EXPECT_TRUE(bench.dispatcher->active());
}

}  // namespace
}  // namespace weft::dispatch

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
