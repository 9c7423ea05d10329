// Timing: latencies, bandwidth, order, refresh.
#include "dram/dram_channel.h"

#include <random>
#include <string>
#include <vector>

#include "dram/fr_fcfs.h"
#include "dram_bench.h"

namespace weft::dram {
namespace {

using bench::atomic;
using bench::read;
using bench::write;

// Bank groups off, so that the two bursts of a request follow each other at the plain column gap.
ChannelConfig plain() {
  ChannelConfig config;
  config.scheduler.bank_groups = 1;
  config.scheduler.timing.ccdl = 2;
  return config;
}

// 1 cycle to arrive, CL, one burst of 2 cycles behind the other.
constexpr Cycle kHit = 1 + 12 + 2 + 2;
constexpr Cycle kMiss = kHit + 12;           // tRCD
constexpr Cycle kConflict = kHit + 12 + 12;  // tRP + tRCD

TEST(DramLatency, IsTheSumOfTheTimings) {
  DramBench bench(
      "b", plain(),
      {{read(at(0, 0)), read(at(0, 0, 512), 128, 200), read(at(0, 1), 128, 400), read(at(1, 1), 128, 600),
        read(at(1, 1, 64), 64, 800), read(at(1, 1, 70), 32, 1000), read(at(1, 1, 48), 32, 1200)}});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kMiss);
  EXPECT_EQ(bench.latency(1), kHit);
  EXPECT_EQ(bench.latency(2), kConflict);
  EXPECT_EQ(bench.latency(3), kMiss);
  EXPECT_EQ(bench.latency(4), kHit - 2) << "one burst";
  EXPECT_EQ(bench.latency(5), kHit - 2) << "part of a burst";
  EXPECT_EQ(bench.latency(6), kHit) << "32 bytes over two bursts";
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["row_hits"], 4);
  EXPECT_EQ(statistics["row_misses"], 2);
  EXPECT_EQ(statistics["row_conflicts"], 1);
  EXPECT_EQ(statistics["activates"], 3);
  EXPECT_EQ(statistics["read_latency"], 4 * kHit - 4 + 2 * kMiss + kConflict);
}

TEST(DramLatency, OfWritesAndBetweenReadAndWrite) {
  DramBench bench("b", plain(),
                  {{write(at(0, 0)), write(at(0, 0, 128), 64, 200), read(at(0, 0), 64, 201),
                    read(at(1, 0), 64, 400), read(at(1, 0), 64, 600), write(at(1, 0), 64, 601)}});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), 1u + 12 + 4 + 2 + 2);  // tRCD + tWL + two bursts
  EXPECT_EQ(bench.latency(1), 1u + 4 + 2);           // tWL + burst
  // The write command goes at 201, its data end at 207, the read command goes tWTR later, at 212.
  EXPECT_EQ(bench.latency(2), (212 - 201) + 12u + 2);
  // The read command goes at 601, its data end at 615; two idle cycles; the write's data start at 617, end at
  // 619.
  EXPECT_EQ(bench.latency(5), 619u - 601);
}

// tRAS and tRC bind when a row is closed soon after it was opened.
TEST(DramLatency, RowCycleTimeBindsConflicts) {
  DramBench bench("b", plain(), {{read(at(0, 0), 64), read(at(0, 1), 64), read(at(0, 2), 64)}});
  sc_core::sc_start();
  bench.expect_complete();
  // Activates at 2, 42, 82: tRC = tRAS + tRP = 40 apart.
  const std::vector<bench::Record>& records = bench.initiators[0]->records;
  EXPECT_EQ(records[0].begin_response, 2u + 12 + 12 + 2);
  EXPECT_EQ(records[1].begin_response, 42u + 12 + 12 + 2);
  EXPECT_EQ(records[2].begin_response, 82u + 12 + 12 + 2);
}

TEST(DramLatency, ActivatesOfDifferentBanksKeepTheirDistance) {
  DramBench bench("b", plain(), {{read(at(0, 0), 64), read(at(1, 0), 64), read(at(2, 0), 64)}});
  sc_core::sc_start();
  bench.expect_complete();
  const std::vector<bench::Record>& records = bench.initiators[0]->records;
  EXPECT_EQ(records[1].begin_response - records[0].begin_response, 6u);  // tRRD
  // The third activate would fall on the edge of the first read command, which goes first.
  EXPECT_EQ(records[2].begin_response - records[1].begin_response, 7u);
}

// The bank of a lone read is kept for tRC = 40 from its activate, 28 cycles beyond the read command tRCD
// later.
TEST(DramActivity, GoesOnAfterTheQueueIsEmpty) {
  DramBench bench("b", plain(), {{read(at(0, 0), 64), read(at(1, 0), 64, 200)}});
  sc_core::sc_start();
  bench.expect_complete();
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["active_cycles"], statistics["queue_cycles"].get<int>() + 28);
  EXPECT_EQ(statistics["data_cycles"], 4);
}

TEST(DramLatency, BankGroupsWidenTheColumnGap) {
  ChannelConfig config = plain();
  config.scheduler.bank_groups = 4;
  config.scheduler.timing.ccdl = 5;
  DramBench bench("b", config, {{read(at(0, 0)), read(at(0, 0), 128, 200)}});
  sc_core::sc_start();
  EXPECT_EQ(bench.latency(1), kHit - 2 + 5);
}

TEST(DramLatency, ExtraLatencyAddsBeforeTheQueue) {
  ChannelConfig config = plain();
  config.extra_latency = 100;
  DramBench bench("b", config, {{read(at(0, 0)), read(at(0, 0), 128, 500)}});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.latency(0), kMiss + 100);
  EXPECT_EQ(bench.latency(1), kHit + 100);
}

TEST(DramLatency, AtomicsKeepTheirBankBusyPerLane) {
  ChannelConfig config = plain();
  config.atomic_interval = 3;
  DramBench bench("b", config, {{atomic(at(0, 0), 10), read(at(0, 0), 64), read(at(1, 0), 64)}});
  sc_core::sc_start();
  bench.expect_complete();
  const Cycle done = 2 + 12 + 12 + 2 + 30;  // arrival at 1, tRCD, CL, burst, ten lanes
  const std::vector<bench::Record>& records = bench.initiators[0]->records;
  EXPECT_EQ(records[0].begin_response, done);
  EXPECT_EQ(records[1].begin_response, done + 12 + 2) << "the same bank waits";
  EXPECT_LT(records[2].begin_response, done) << "another bank does not";
  EXPECT_EQ(bench.statistics()["atomics"], 1);
}

std::vector<bench::Access> stream(unsigned requests) {
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < requests; ++i) accesses.push_back(read(i * 128u));
  return accesses;
}

// The GTX480's channel, bank groups and refresh on: 64 bytes per 2 cycles at best, less what refreshes take.
TEST(DramBandwidth, AStreamOfReadsReachesNinetyPercent) {
  constexpr unsigned kRequests = 8000;
  ChannelConfig config;
  config.scheduler.timing.refi = 3600;
  config.scheduler.timing.rfc = 100;
  DramBench bench("b", config, {stream(kRequests)});
  sc_core::sc_start();
  bench.expect_complete();
  const auto cycles = static_cast<double>(bench.initiators[0]->last_response());
  const auto refreshes = bench.statistics()["refreshes"].get<double>();
  EXPECT_GE(refreshes, 8);
  const double available = cycles - refreshes * 100;
  const double share = kRequests * 128.0 / (available * config.scheduler.timing.peak_bytes_per_cycle());
  EXPECT_GT(share, 0.90);
  EXPECT_LE(share, 1.0);
  EXPECT_EQ(bench.statistics()["data_cycles"], kRequests * 4);
}

// Two rows of one bank in turn: FR-FCFS opens each once, FCFS opens a row per request.
std::vector<bench::Access> alternating_rows() {
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 8; ++i) accesses.push_back(read(at(0, i % 2, i * 64), 64));
  return accesses;
}

TEST(DramOrder, FcfsServesInOrderOfArrival) {
  ChannelConfig config = plain();
  config.scheduler.order.name = "fcfs";
  DramBench bench("b", config, {alternating_rows()});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.initiators[0]->completion_order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(bench.statistics()["activates"], 8);
}

TEST(DramOrder, FrFcfsServesRowHitsFirst) {
  DramBench bench("b", plain(), {alternating_rows()});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.initiators[0]->completion_order, (std::vector<std::size_t>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(bench.statistics()["activates"], 2);
}

TEST(DramOrder, FrFcfsStopsOvertakingAtItsLimit) {
  ChannelConfig config = plain();
  config.scheduler.order.own<FrFcfsOptions>().row_hit_limit = 2;
  DramBench bench("b", config, {alternating_rows()});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.initiators[0]->completion_order, (std::vector<std::size_t>{0, 2, 4, 1, 3, 5, 7, 6}));
}

ChannelConfig closing(const std::string& order = "fr_fcfs") {
  ChannelConfig config = plain();
  config.scheduler.order.name = order;
  config.scheduler.page_policy.name = "closed";
  return config;
}

// A row that nobody waits for is closed behind its request: another row is opened without a precharge, but so
// is the same one.
TEST(DramPages, ClosedRowsCostAnActivateAndSaveAPrecharge) {
  const auto apart = [](std::uint64_t row) {
    return std::vector<bench::Access>{read(at(0, 0)), read(at(0, row), 128, 200)};
  };
  DramBench open_same("os", plain(), {apart(0)}), open_other("oo", plain(), {apart(1)});
  DramBench closed_same("cs", closing(), {apart(0)}), closed_other("co", closing(), {apart(1)});
  sc_core::sc_start();
  EXPECT_EQ(open_same.latency(1), kHit);
  EXPECT_EQ(open_other.latency(1), kConflict);
  for (const DramBench* bench : {&closed_same, &closed_other}) {
    EXPECT_EQ(bench->latency(1), kMiss);
    EXPECT_EQ(bench->statistics()["activates"], 2);
    EXPECT_EQ(bench->statistics()["precharges"], 2);
    EXPECT_EQ(bench->statistics()["row_misses"], 2);
  }
}

// The bank is ready for the next row when it would be after a precharge as early as may be: tRAS and tRP
// after the activate.
TEST(DramPages, AClosedRowKeepsItsTimings) {
  const std::vector<bench::Access> accesses{read(at(0, 0), 64), read(at(0, 1), 64, 10)};
  DramBench open("o", plain(), {accesses}), closed("c", closing(), {accesses});
  sc_core::sc_start();
  const Timing& timing = plain().scheduler.timing;
  EXPECT_EQ(open.statistics()["row_conflicts"], 1);
  EXPECT_EQ(closed.statistics()["row_conflicts"], 0);
  EXPECT_EQ(closed.latency(1), open.latency(1));
  EXPECT_GE(closed.latency(1) + 10, timing.ras + timing.rp + timing.rcd + timing.cl + timing.burst_cycles());
}

// As long as another request for the row waits it stays open, whatever the order.
TEST(DramPages, ClosedRowsWaitForWhoWantsThem) {
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 4; ++i) accesses.push_back(read(at(0, 0, i * 64), 64));
  DramBench hits_first("h", closing(), {accesses}), in_order("i", closing("fcfs"), {accesses});
  sc_core::sc_start();
  for (const DramBench* bench : {&hits_first, &in_order}) {
    EXPECT_EQ(bench->statistics()["activates"], 1);
    EXPECT_EQ(bench->statistics()["row_hits"], 3);
  }
}

// A request for a busy bank stops a younger one for an idle bank under FCFS, not under FR-FCFS.
TEST(DramOrder, FcfsBlocksBehindABusyBank) {
  ChannelConfig in_order = plain();
  in_order.scheduler.order.name = "fcfs";
  const std::vector<bench::Access> accesses{read(at(0, 0), 64), read(at(0, 1), 64), read(at(1, 0), 64)};
  DramBench fcfs("fcfs", in_order, {accesses});
  DramBench fr_fcfs("fr", plain(), {accesses});
  sc_core::sc_start();
  fcfs.expect_complete();
  fr_fcfs.expect_complete();
  EXPECT_EQ(fr_fcfs.initiators[0]->completion_order, (std::vector<std::size_t>{0, 2, 1}));
  // Its activate goes tRRD after the first one, or when the first request has sent its read command, at 14.
  EXPECT_EQ(fr_fcfs.initiators[0]->records[2].begin_response, 2u + 6 + 12 + 12 + 2);
  EXPECT_EQ(fcfs.initiators[0]->records[2].begin_response, 15u + 12 + 12 + 2);
}

TEST(DramRefresh, ClosesRowsAndDelaysRequests) {
  ChannelConfig config = plain();
  config.scheduler.timing.refi = 1000;
  config.scheduler.timing.rfc = 90;
  // The row opened at 2 is closed by the refresh at 1000: precharge, tRP, tRFC, then the row is opened anew.
  DramBench bench("b", config, {{read(at(0, 0)), read(at(0, 0), 128, 999), read(at(0, 0), 128, 5500)}});
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.initiators[0]->records[1].begin_response, 1000u + 12 + 90 + 12 + 12 + 2 + 2);
  EXPECT_EQ(bench.latency(2), kMiss) << "the refreshes of the idle time have closed the row";
  EXPECT_EQ(bench.statistics()["refreshes"], 5);
}

TEST(DramDeterminism, SleepingChangesNothing) {
  std::mt19937_64 random(11);
  std::vector<std::vector<bench::Access>> ports(2);
  Cycle at = 0;
  for (int i = 0; i < 3000; ++i) {
    at += random() % 7 == 0 ? random() % 400 : random() % 6;
    const std::uint64_t address = random() % 4096 * 64;
    const unsigned bytes = random() % 2 == 0 ? 64 : 32;
    switch (random() % 4) {
      case 0:
        ports[i % 2].push_back(write(address, bytes, at));
        break;
      case 1:
        ports[i % 2].push_back(atomic(address, 1 + random() % 32, at));
        break;
      default:
        ports[i % 2].push_back(read(address, bytes, at));
    }
  }
  ChannelConfig config;
  config.scheduler.queue_size = 6;
  config.response_queue = 2;
  config.extra_latency = 5;
  config.scheduler.timing.refi = 700;
  config.scheduler.timing.rfc = 60;
  bench::MockInitiator::Options options;
  options.response_hold = 3;
  DramBench sleeping("sleeping", config, ports, options, true);
  DramBench awake("awake", config, ports, options, false);
  sc_core::sc_start(200, sc_core::SC_US);
  sleeping.expect_complete();
  awake.expect_complete();
  EXPECT_EQ(sleeping.statistics().dump(1), awake.statistics().dump(1));
  EXPECT_GT(sleeping.statistics()["blocked"].get<int>(), 0);
  for (int port = 0; port < 2; ++port) {
    EXPECT_EQ(sleeping.initiators[port]->completion_order, awake.initiators[port]->completion_order);
    for (std::size_t i = 0; i < ports[port].size(); ++i) {
      EXPECT_EQ(sleeping.initiators[port]->records[i].begin_response,
                awake.initiators[port]->records[i].begin_response);
    }
  }
}

}  // namespace
}  // namespace weft::dram
