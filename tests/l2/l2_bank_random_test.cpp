// Random accesses to a bank of the L2: against a list per set, on narrow queues, asleep and awake.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cache/reference_cache.h"
#include "l2/l2_bench.h"

namespace weft::l2 {
namespace {

using bench::atomic;
using bench::read;
using bench::write;

struct CacheCase {
  std::string replacement;
  std::uint64_t sectors;
  WriteMiss write_miss;
};
class L2BankAsLists : public ::testing::TestWithParam<CacheCase> {};

// 10,000 random reads and writes, one after the other: what goes to memory is what a list per set says.
TEST_P(L2BankAsLists, FetchesAndWritesBack) {
  const CacheCase& wanted = GetParam();
  test::ReferenceCache::Rules rules;
  rules.sectors = wanted.sectors;
  rules.replacement = wanted.replacement;
  rules.store = test::ReferenceCache::Store::kBack;
  rules.allocates = true;
  rules.fetches_parts = wanted.write_miss == WriteMiss::kFetch;
  test::ReferenceCache reference(rules);
  Config config = small();
  config.tags.sets = rules.sets;
  config.tags.ways = rules.ways;
  config.tags.replacement.name = wanted.replacement;
  config.sector_bytes = wanted.sectors == 1 ? 0 : config.tags.line_bytes / wanted.sectors;
  config.write_miss = wanted.write_miss;

  const unsigned bytes = static_cast<unsigned>(config.unit_bytes());
  std::mt19937 random(1);
  std::vector<bench::Access> accesses;
  std::vector<std::string> expected;
  for (Cycle i = 0; i < 10'000; ++i) {
    const std::uint64_t sector = random() % (2 * rules.sets * rules.ways * rules.sectors);
    const bool reads = random() % 2 == 0, whole = random() % 2 == 0;
    const Cycle at = i * 2 * kMiss;
    accesses.push_back(reads ? read(sector * bytes, bytes, at)
                             : write(sector * bytes, whole ? bytes : bytes / 2, at));
    for (std::string& left : reads ? reference.load(sector) : reference.store(sector, whole))
      expected.push_back(std::move(left));
  }
  L2Bench bench("b", config, accesses);
  sc_core::sc_start();
  bench.expect_complete();
  std::vector<std::string> left;
  for (const bench::MockMemory::Seen& seen : bench.memory.seen) {
    const std::string run = seen.bytes == bytes ? "" : "x" + std::to_string(seen.bytes / bytes);
    left.push_back((seen.kind == AccessKind::kWriteBack ? "W" : "R") + std::to_string(seen.address / bytes) +
                   run);
  }
  EXPECT_EQ(left, expected);
  EXPECT_EQ(bench.statistics()["tags"]["hits"], reference.hits());
  EXPECT_GT(reference.hits(), 1000u);
}
INSTANTIATE_TEST_SUITE_P(, L2BankAsLists, ::testing::ValuesIn([] {
                           std::vector<CacheCase> cases;
                           for (const char* replacement : {"lru", "fifo"}) {
                             for (const std::uint64_t sectors : {1, 4}) {
                               for (const WriteMiss write_miss : {WriteMiss::kFetch, WriteMiss::kNoFetch})
                                 cases.push_back({replacement, sectors, write_miss});
                             }
                           }
                           return cases;
                         }()),
                         [](const auto& info) {
                           const CacheCase& c = info.param;
                           return c.replacement + std::to_string(c.sectors) + "Sectors" +
                                  (c.write_miss == WriteMiss::kFetch ? "Fetch" : "NoFetch");
                         });

// Random traffic on queues of one or two, slow at both ends.
std::vector<bench::Access> storm(unsigned seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<bench::Access> accesses;
  Cycle at = 0;
  for (int i = 0; i < count; ++i) {
    at += random() % 11 == 0 ? random() % 300 : random() % 4;
    const std::uint64_t address = random() % 64 * 128;
    switch (random() % 5) {
      case 0:
        accesses.push_back(write(address, 128, at));
        break;
      case 1:
        accesses.push_back(write(address + 32, 32, at));
        break;
      case 2:
        accesses.push_back(atomic(address, 1 + random() % 32, at));
        break;
      case 3:
        accesses.push_back(read(address / 256 * 256, 256, at));
        break;
      default:
        accesses.push_back(read(address, 128, at));
    }
  }
  return accesses;
}

void stall_and_drain(const Config& config) {
  bench::MockMemory::Options memory = memory_options();
  memory.places = 1;
  bench::MockInitiator::Options options;
  options.response_hold = 7;
  L2Bench bench("b", config, storm(1, 3000), memory, options);
  sc_core::sc_start();
  bench.expect_complete();
  const auto statistics = bench.statistics();
  EXPECT_GT(statistics["blocked"].get<int>(), 1000);
  EXPECT_GT(statistics["queue_stalls"].get<int>(), 100);
  EXPECT_EQ(
      statistics["reads"].get<int>() + statistics["writes"].get<int>() + statistics["atomics"].get<int>(),
      3000);
  EXPECT_EQ(statistics["fetches"].get<int>() + statistics["write_backs"].get<int>(),
            static_cast<int>(bench.below.transactions()));
}

TEST(L2Bank, NarrowQueuesStallAndDrain) {
  stall_and_drain(narrow());
}

TEST(L2Bank, NarrowQueuesStallAndDrainWithSectors) {
  stall_and_drain(narrow_sectored());
}

void compare_sleeping_with_awake(const Config& config) {
  bench::MockMemory::Options memory = memory_options();
  memory.places = 2;
  bench::MockInitiator::Options options;
  options.response_hold = 2;
  L2Bench sleeping("sleeping", config, storm(2, 2000), memory, options, true);
  L2Bench awake("awake", config, storm(2, 2000), memory, options, false);
  sc_core::sc_start(1000, sc_core::SC_US);
  sleeping.expect_complete();
  awake.expect_complete();
  EXPECT_EQ(sleeping.statistics().dump(1), awake.statistics().dump(1));
  EXPECT_EQ(sleeping.initiator.completion_order, awake.initiator.completion_order);
  for (std::size_t i = 0; i < sleeping.initiator.records.size(); ++i) {
    ASSERT_EQ(sleeping.initiator.records[i].begin_response, awake.initiator.records[i].begin_response) << i;
  }
}

TEST(L2Bank, SleepingChangesNothing) {
  compare_sleeping_with_awake(narrow());
}

TEST(L2Bank, SleepingChangesNothingWithSectors) {
  compare_sleeping_with_awake(narrow_sectored());
}

}  // namespace
}  // namespace weft::l2
