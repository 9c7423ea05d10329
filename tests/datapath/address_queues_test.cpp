// Queues of memory instructions, one for each scheduler, in front of the part of the load-store unit that all
// share: against cycles worked out by hand, and against the rules at random.
#include "datapath/address_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "datapath/issues.h"
#include "platform/gpu_bench.h"

namespace weft::datapath::test {
namespace {

AddressQueue queues_of(std::uint64_t entries, std::uint64_t address, std::uint64_t shared) {
  AddressQueue c;
  c.entries = entries;
  c.address_interval = address;
  c.shared_interval = shared;
  return c;
}

// Five entries; the address unit takes four cycles. Each instruction issues as soon as there is an entry.
TEST(AddressQueues, AFullQueueLetsOneInAsOneLeaves) {
  AddressQueues queues(queues_of(5, 4, 2), 4);
  Cycle now = 0;
  std::vector<Cycle> issued, entered;
  for (unsigned i = 0; i < 10; ++i) {
    now = queues.free(now, 0);
    issued.push_back(now);
    entered.push_back(queues.enter(now, 0));
    ++now;
  }
  EXPECT_EQ(issued, (std::vector<Cycle>{0, 1, 2, 3, 4, 5, 6, 8, 12, 16}));
  EXPECT_EQ(entered, (std::vector<Cycle>{0, 4, 8, 12, 16, 20, 24, 28, 32, 36}));
  EXPECT_EQ(queues.next_free(17, kNever), 20u);
}

// The part that all share takes one in two cycles: four sub-cores with one instruction every four cycles each
// are too many for it.
TEST(AddressQueues, SchedulersShareTheSecondPart) {
  AddressQueues queues(queues_of(5, 4, 2), 4);
  std::vector<Cycle> entered;
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned s = 0; s < 4; ++s) entered.push_back(queues.enter(round, s));
  }
  EXPECT_EQ(entered, (std::vector<Cycle>{0, 2, 4, 6, 8, 10, 12, 14}));
}

// A place that nobody can use goes to whoever comes first: scheduler 1 does not wait behind the queue of 0.
TEST(AddressQueues, AScheduleHasGaps) {
  AddressQueues queues(queues_of(5, 4, 2), 4);
  for (unsigned i = 0; i < 3; ++i) queues.enter(0, 0);  // 0, 4, 8
  EXPECT_EQ(queues.enter(0, 1), 2u);
  EXPECT_EQ(queues.enter(1, 1), 6u);
}

TEST(AddressQueues, KeepTheRulesAtRandom) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 30; ++round) {
    const std::uint64_t entries = 1 + random() % 6, address = 1 + random() % 5, shared = 1 + random() % 4;
    const unsigned schedulers = 1 + random() % 4;
    AddressQueues queues(queues_of(entries, address, shared), schedulers);
    std::vector<std::vector<Cycle>> entered(schedulers);
    std::vector<Cycle> all, issued(schedulers, 0);  // issued: the first of each
    for (Cycle now = 0; now < 400; ++now) {
      for (unsigned s = 0; s < schedulers; ++s) {
        auto& own = entered[s];
        const auto waiting = static_cast<std::uint64_t>(
            std::count_if(own.begin(), own.end(), [&](Cycle c) { return c > now; }));
        ASSERT_EQ(queues.free(now, s) == now, waiting < entries);
        if (waiting == entries || random() % 3 == 0) continue;
        const Cycle at = queues.enter(now, s);
        ASSERT_GE(at, now);
        // In order, and the address unit's k-th instruction is not before k intervals.
        if (!own.empty()) {
          ASSERT_GT(at, own.back());
          ASSERT_GE(at, issued[s] + address * own.size());
        } else {
          issued[s] = now;
        }
        own.push_back(at);
        all.push_back(at);
      }
    }
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i) ASSERT_GE(all[i] - all[i - 1], shared);
  }
}

TEST(AddressQueues, TheLoadStoreUnitBeginsWhenAnInstructionLeaves) {
  Machine m;
  m.schedulers = 4;
  m.pipeline_depth = 4;
  Config c{"spatial"};
  c.address_queue = queues_of(5, 4, 2);
  const auto datapath = create(c, m);
  const Threads warp(1, {{~0u, 0, 0, true}});
  const Work load(ptx::Unit::kMemory);
  EXPECT_FALSE(datapath->has_one_way_to_memory());
  EXPECT_EQ(start(*datapath, 10, load, warp, 0).addresses, 10u);
  const Times second = start(*datapath, 11, load, warp, 0);
  EXPECT_EQ(second.addresses, 14u);
  EXPECT_EQ(second.end, 14u + 4);
  EXPECT_EQ(start(*datapath, 11, load, warp, 1).addresses, 12u);
  datapath->reset(0);
  EXPECT_EQ(start(*datapath, 0, load, warp, 0).addresses, 0u);
}

// Eight stores to one word of shared memory for each of 32 warps: the load-store unit alone does one a
// cycle, with queues one in two cycles. One warp is held up by the address unit of its sub-core, for four
// cycles each.
TEST(AddressQueues, SetTheRateOfAnSm) {
  std::string stores;
  for (int i = 0; i < 8; ++i) stores += "st.shared.u32 [%r20], %r2;\n";
  const auto rate = [&](unsigned warps, const char* entries) {
    return std::stod(weft::test::apart([&] {
      weft::test::GpuBench bench({"sm.count=1", "sm.schedulers=4", "sm.schedulers_per_domain=1",
                                  "sm.block_placement=sub_cores", "sm.memory_queue=64", "sm.memory_width=32",
                                  "sm.simd_groups=4", "sm.fetch_width=16", "sm.instruction_buffer=16",
                                  std::string("datapath.address_queue.entries=") + entries});
      return std::to_string(bench.cycles_per_copy(stores, {warps * 32, 1, 1}, 0,
                                                  ".shared .u32 words[32];\n mov.u32 %r20, words;"));
    }));
  };
  const double alone = rate(32, "0"), queued = rate(32, "5");
  EXPECT_GE(alone, 0.99 * 256);
  EXPECT_LE(alone, 1.1 * 256);
  EXPECT_GE(queued, 0.99 * 512);
  EXPECT_LE(queued, 1.1 * 512);
  EXPECT_GE(rate(1, "5"), 0.99 * 8 * 4);
}

}  // namespace
}  // namespace weft::datapath::test
