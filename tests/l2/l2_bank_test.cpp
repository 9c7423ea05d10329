#include "l2/l2_bank.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "l2/l2_bench.h"
#include "weft/common/error.h"

namespace weft::l2 {
namespace {

using bench::atomic;
using bench::read;
using bench::write;

TEST(L2Bank, LatencyOfHitsAndMisses) {
  L2Bench bench("b", small(),
                {read(0), read(0, 128, 200), read(32, 32, 400), write(64, 32, 600), write(512, 32, 800)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kMiss);
  EXPECT_EQ(bench.latency(1), kLatency);
  EXPECT_EQ(bench.latency(2), kLatency);
  EXPECT_EQ(bench.latency(3), kLatency);
  EXPECT_EQ(bench.latency(4), kMiss) << "a write to a part of an absent line fetches it";
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["tags"]["hits"], 3);
  EXPECT_EQ(statistics["tags"]["misses"], 2);
  EXPECT_EQ(statistics["fetches"], 2);
  EXPECT_EQ(bench.memory.seen[0].bytes, 128u);
}

TEST(L2Bank, AcceptsOneRequestPerCycle) {
  std::vector<bench::Access> accesses{read(0)};
  for (Cycle i = 0; i < 100; ++i) accesses.push_back(read(0, 32, 200));
  L2Bench bench("b", small(), accesses);
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.initiator.last_response(), 200 + 99 + kLatency);
}

TEST(L2Bank, MissesToOneLineAreMergedAndAnsweredInOrder) {
  L2Bench bench("b", small(), {read(0), read(64, 64), read(32, 32), read(128)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.memory.seen.size(), 2u);
  EXPECT_EQ(bench.initiator.completion_order, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(bench.latency(0), kMiss);
  EXPECT_EQ(bench.initiator.records[2].begin_response, bench.initiator.records[0].begin_response + 2);
  EXPECT_EQ(bench.statistics()["mshr"]["merged"], 2);
  EXPECT_EQ(bench.statistics()["tags"]["pending_hits"], 2);
}

TEST(L2Bank, DirtyVictimsAreWrittenBack) {
  // Set 0 holds lines 0, 4, 8, ...: 512 bytes apart. The third line evicts the least recently used, which is
  // dirty.
  L2Bench bench("b", small(), {write(0), read(512, 128, 200), read(1024, 128, 400), read(1536, 128, 600)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kLatency) << "a write of a whole line needs no fetch";
  EXPECT_EQ(bench.written_back(), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(bench.statistics()["write_backs"], 1);
  EXPECT_EQ(bench.statistics()["tags"]["evictions"], 2);
  EXPECT_EQ(bench.statistics()["fetches"], 3);
}

TEST(L2Bank, AWriteThatWaitedForItsLineLeavesItDirty) {
  L2Bench bench("b", small(),
                {read(0), write(0, 32), read(512, 128, 200), read(1024, 128, 400), read(1536, 128, 600)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.written_back(), (std::vector<std::uint64_t>{0}));
}

TEST(L2Bank, PartialWritesNeedNoFetchWhereTheConfigurationSaysSo) {
  Config config = small();
  config.write_miss = WriteMiss::kNoFetch;
  L2Bench bench("b", config, {write(0, 32), atomic(128, 1, 200)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kLatency);
  EXPECT_EQ(bench.latency(1), kMiss + 1) << "an atomic reads its line";
  EXPECT_EQ(bench.statistics()["fetches"], 1);
}

Config sectored() {
  Config config = small();
  config.sector_bytes = 32;
  return config;
}

// A sector is looked up, fetched and handed on per cycle.
TEST(L2Bank, SectorsAreFetchedOneByOne) {
  L2Bench bench("b", sectored(), {read(32, 32), read(0, 128, 200), read(64, 64, 400), read(128, 128, 600)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kMiss);
  EXPECT_EQ(bench.latency(1), kMiss + 3)
      << "sectors 0, 2, 3: the last is looked up three cycles after the first";
  EXPECT_EQ(bench.latency(2), kLatency + 1) << "a hit of two sectors";
  EXPECT_EQ(bench.latency(3), kMiss + 3);
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["fetches"], 1 + 3 + 4);
  EXPECT_EQ(statistics["tags"]["misses"], 1 + 3 + 4);
  EXPECT_EQ(statistics["tags"]["hits"], 1 + 2);
  EXPECT_EQ(statistics["reads"], 4);
  for (const bench::MockMemory::Seen& seen : bench.memory.seen) EXPECT_EQ(seen.bytes, 32u);
}

// As GPGPU-Sim 4.2: two parts make a whole sector, and a read of one that lacks bytes fetches it.
TEST(L2Bank, ASectorThatIsWrittenInPartIsFetchedWhenItIsRead) {
  Config config = sectored();
  config.write_miss = WriteMiss::kLazyFetch;
  L2Bench bench("b", config,
                {write(0, 16), write(16, 16, 200), read(0, 32, 400), write(32, 8, 600), read(32, 32, 800),
                 read(32, 32, 1000), read(512, 32, 1200), read(1024, 32, 1400)});
  sc_core::sc_start();
  bench.expect_complete();
  for (const std::size_t hit : {0u, 1u, 2u, 3u, 5u}) EXPECT_EQ(bench.latency(hit), kLatency) << hit;
  EXPECT_EQ(bench.latency(4), kMiss);
  EXPECT_EQ(bench.statistics()["fetches"], 3);
  EXPECT_EQ(bench.statistics()["tags"]["hits"], 1 + 1 + 1) << "a second part, and reads of what is there";
  EXPECT_EQ(bench.written_back(), (std::vector<std::uint64_t>{0})) << "both sectors, as one run";
}

TEST(L2Bank, AWriteOfAWholeSectorNeedsNoFetchOfItAndAPartFetchesTheSector) {
  L2Bench bench("b", sectored(), {write(32, 32), write(128, 4, 200), write(256, 40, 400), read(32, 32, 600)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kLatency);
  EXPECT_EQ(bench.latency(1), kMiss);
  EXPECT_EQ(bench.latency(2), kMiss + 1) << "the second sector is written in part";
  EXPECT_EQ(bench.latency(3), kLatency);
  EXPECT_EQ(bench.statistics()["fetches"], 2);
  std::vector<std::uint64_t> fetched;
  for (const bench::MockMemory::Seen& seen : bench.memory.seen) fetched.push_back(seen.address);
  EXPECT_EQ(fetched, (std::vector<std::uint64_t>{128, 256 + 32}));
}

// Line 0 has the dirty sectors 0, 1 and 3: two runs.
TEST(L2Bank, OnlyDirtySectorsAreWrittenBack) {
  L2Bench bench("b", sectored(),
                {write(0, 64), write(96, 32), read(64, 32, 100), read(512, 32, 200), read(1024, 32, 400)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.written_back(), (std::vector<std::uint64_t>{0, 96}));
  std::vector<unsigned> bytes;
  for (const bench::MockMemory::Seen& seen : bench.memory.seen) {
    if (seen.kind == AccessKind::kWriteBack) bytes.push_back(seen.bytes);
  }
  EXPECT_EQ(bytes, (std::vector<unsigned>{64, 32}));
  EXPECT_EQ(bench.statistics()["write_backs"], 2);
  EXPECT_EQ(bench.statistics()["tags"]["dirty_evictions"], 1);
}

TEST(L2Bank, AtomicsAreSerialisedByTheirLanes) {
  Config config = small();
  config.atomic_interval = 2;
  L2Bench bench("b", config, {atomic(0, 32), atomic(0, 8, 200), atomic(0, 5, 200), read(0, 32, 200)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kMiss + 64);
  EXPECT_EQ(bench.latency(1), kLatency + 16);
  // The second one's lookup waits until the first has left the bank, and the read for both.
  EXPECT_EQ(bench.initiator.records[2].begin_response, 200 + kLatency + 16 + 10);
  EXPECT_EQ(bench.initiator.records[3].begin_response, 200 + kLatency + 16 + 10 + 1);
  EXPECT_EQ(bench.statistics()["atomic_cycles"], 2 * (32 + 8 + 5));
}

TEST(L2Bank, ARequestMaySpanTwoLines) {
  L2Bench bench("b", small(), {read(128, 128), read(0, 256, 200), write(64, 128, 400)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(1), kMiss + 0) << "line 0 is looked up first, and is the one that is absent";
  EXPECT_EQ(bench.latency(2), kLatency + 1) << "two lookups";
}

TEST(L2Bank, FullMshrsStallLookupsInOrderAndCountOnce) {
  Config config = small();
  config.mshrs = {2, 1};
  L2Bench bench("b", config, {read(0), read(0, 32), read(128), read(256), read(1024), read(0, 32)});
  sc_core::sc_start();
  bench.expect_complete();
  // The last one hits, once its lookup comes, and need not wait for the miss before it.
  EXPECT_EQ(bench.initiator.completion_order, (std::vector<std::size_t>{0, 1, 2, 3, 5, 4}));
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["mshr"]["entry_full"], 1);
  EXPECT_EQ(statistics["mshr"]["no_entry"], 1);
  EXPECT_EQ(statistics["mshr"]["most_in_use"], 2);
  EXPECT_EQ(statistics["tags"]["accesses"], 6);
}

TEST(L2Bank, AFullSetStalls) {
  L2Bench bench("b", small(), {read(0), read(512), read(1024)});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.statistics()["tags"]["set_full"], 1);
  // Its lookup succeeds at the edge at which the first line comes, 1 + kMiss; then it goes to memory itself.
  EXPECT_EQ(bench.initiator.records[2].begin_response, 1 + kMiss + kMemory + 1);
}

class L2BankDmi : public ::testing::TestWithParam<bool> {};

TEST_P(L2BankDmi, ForeignAccessesMoveDataWithAndWithout) {
  bench::MockMemory::Options memory = memory_options();
  memory.grant_dmi = GetParam();
  bench::MockInitiator::Options options;
  options.foreign = true;
  L2Bench bench("b", small(),
                {write(0, 64), read(0, 64), read(16, 8), read(512, 128), read(1024, 128), read(1536, 128)},
                memory, options);
  for (unsigned i = 0; i < 64; ++i) bench.initiator.data[0].push_back(static_cast<unsigned char>(i + 1));
  bench.memory.image[1024] = 99;
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.memory.image[63], 64) << "and the write-back has not undone it";
  EXPECT_EQ(bench.written_back(), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(bench.initiator.data[1], bench.initiator.data[0]);
  EXPECT_EQ(bench.initiator.data[2].front(), 17);
  EXPECT_EQ(bench.initiator.data[4].front(), 99);
}

INSTANTIATE_TEST_SUITE_P(Granted, L2BankDmi, ::testing::Bool());

TEST(L2Bank, TimedAccessesOfOurOwnLeaveTheImageAlone) {
  L2Bench bench("b", small(), {write(0), read(512, 128, 200), read(1024, 128, 400), read(1536, 128, 600)});
  for (auto& byte : bench.memory.image) byte = 5;
  sc_core::sc_start();
  bench.expect_complete();
  for (auto byte : bench.memory.image) ASSERT_EQ(byte, 5);
}

TEST(L2Bank, ErrorsComeBackAndLeaveNoLine) {
  bench::MockMemory::Options memory = memory_options();
  memory.bytes = 4096;
  memory.grant_dmi = false;  // so that only the fetch finds out
  L2Bench unknown("unknown", small(), {read(8192), read(8192, 32, 1), read(8192, 32, 300), read(0, 128, 500)},
                  memory);
  memory.grant_dmi = true;
  L2Bench known("known", small(),
                {read(8192), read(4096 - 32, 32), read(192, 128), {tlm::TLM_IGNORE_COMMAND, 0, 4, {}, 0, 0}},
                memory);
  sc_core::sc_start();
  unknown.expect_complete();
  for (int i : {0, 1, 2}) EXPECT_EQ(unknown.initiator.records[i].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(unknown.initiator.records[3].status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(unknown.latency(2), kMiss) << "the line was not kept";
  EXPECT_EQ(unknown.statistics()["memory_errors"], 2);
  known.expect_complete();
  EXPECT_EQ(known.initiator.records[0].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(known.initiator.records[1].status, tlm::TLM_OK_RESPONSE) << "the last bytes";
  EXPECT_EQ(known.initiator.records[2].status, tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(known.initiator.records[3].status, tlm::TLM_COMMAND_ERROR_RESPONSE);
}

TEST(L2Bank, ResetDropsLinesAndRequests) {
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 10; ++i) accesses.push_back(read(i * 128));
  L2Bench bench("b", small(), accesses);
  sc_core::sc_start(25, sc_core::SC_NS);
  EXPECT_FALSE(bench.bank.idle());
  bench.bank.reset();
  EXPECT_TRUE(bench.bank.idle());
  EXPECT_EQ(bench.bank.tags().find(0), cache::LineState::kInvalid);
}

TEST(L2Bank, RefusesWhatCannotBe) {
  ClockDomain domain("clock", 700);
  const memory::ChannelMap map(one_bank());
  Config config = small();
  config.tags.line_bytes = 512;
  EXPECT_THROW(L2Bank("a", config, domain, map, 0, 0), InputError);
  config = small();
  config.miss_queue = 1;
  EXPECT_THROW(config.check("/l2"), InputError);
  for (const std::uint64_t bytes :
       {2, 48, 256}) {  // less than 1/32 of a line, no power of two, more than a line
    config = small();
    config.sector_bytes = bytes;
    EXPECT_THROW(config.check("/l2"), InputError) << bytes;
  }
  config = narrow_sectored();
  config.check("/l2");
  config.miss_queue = 2;  // a fetch, and two runs of dirty sectors
  EXPECT_THROW(config.check("/l2"), InputError);
  config = narrow_sectored();
  config.write_back_buffers = 1;
  EXPECT_THROW(config.check("/l2"), InputError);
}

// Requests of SM 1 are far; those of SM 0, which the bench sends, are near.
TEST(L2Partitions, FarRequestsTakeTheLink) {
  Config config = small();
  config.partitions = 2;
  config.far_latency = 30;
  L2Bench near("n", config, {read(0), read(0, 128, 200)}), far("f", config, {read(0), read(0, 128, 200)}),
      plain("p", small(), {});
  near.bank.set_far({false, true});
  far.bank.set_far({true, false});
  sc_core::sc_start();
  near.expect_complete();
  far.expect_complete();
  EXPECT_EQ(near.latency(0), kMiss);
  EXPECT_EQ(near.latency(1), kLatency);
  EXPECT_EQ(far.latency(0), kMiss + 30);
  EXPECT_EQ(far.latency(1), kLatency + 30);
  EXPECT_EQ(near.statistics()["far"], 0);
  EXPECT_EQ(far.statistics()["far"], 2);
  EXPECT_FALSE(plain.statistics().contains("far"));
}

// One far request leaves the link per cycle, and all keep their order and time.
TEST(L2Partitions, TheLinkIsAPipeline) {
  Config config = small();
  config.partitions = 2;
  config.far_latency = 30;
  std::vector<bench::Access> accesses{read(0)};
  for (unsigned i = 0; i < 10; ++i) accesses.push_back(read(0, 32, 200 + i));
  L2Bench far("f", config, accesses);
  far.bank.set_far({true});
  sc_core::sc_start();
  far.expect_complete();
  for (std::size_t i = 1; i <= 10; ++i) EXPECT_EQ(far.latency(i), kLatency + 30) << i;
}

// Four sectors of a hit: one per cycle, two or four per cycle, or one in two cycles.
TEST(L2Width, SetsHowManySectorsAreLookedUpPerCycle) {
  const std::pair<std::uint64_t, Cycle> widths[] = {{0, 3}, {32, 3}, {64, 1}, {128, 0}, {16, 6}};
  std::vector<std::unique_ptr<L2Bench>> benches;
  for (const auto& [width, more] : widths) {
    Config config = sectored();
    config.bytes_per_cycle = width;
    config.check("/l2");
    benches.push_back(std::make_unique<L2Bench>("w" + std::to_string(width), config,
                                                std::vector<bench::Access>{read(0), read(0, 128, 300)}));
  }
  sc_core::sc_start();
  for (std::size_t i = 0; i < benches.size(); ++i) {
    benches[i]->expect_complete();
    EXPECT_EQ(benches[i]->latency(1), kLatency + widths[i].second) << widths[i].first << " bytes per cycle";
    EXPECT_EQ(benches[i]->statistics()["tags"]["hits"], 4);
  }
}

TEST(L2Config, RefusesWhatCannotBe) {
  Config config = small();
  config.bytes_per_cycle = 48;
  EXPECT_THROW(config.check("/l2"), InputError);
  config = small();
  config.far_latency = 5;
  EXPECT_THROW(config.check("/l2"), InputError);
  config.partitions = 2;
  EXPECT_NO_THROW(config.check("/l2"));
}

TEST(L2HostCopies, AreInTheCacheAtOnce) {
  Config config = small();
  config.sector_bytes = 32;
  L2Bench bench("b", config, {read(0, 128), read(128, 32, 100), read(160, 32, 200)});
  bench.bank.host_copied(0, 128);
  bench.bank.host_copied(130, 10);
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kLatency + 3) << "four sectors that hit";
  EXPECT_EQ(bench.latency(1), kLatency) << "the sector of bytes 130 to 139";
  EXPECT_EQ(bench.latency(2), kMiss) << "its neighbour";
  EXPECT_EQ(bench.statistics()["fetches"], 1);
}

}  // namespace
}  // namespace weft::l2
