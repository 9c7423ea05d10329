// The timings that GDDR6 and HBM have beyond GDDR5's, in cycles counted by hand. No SystemC.
#include "dram/bank_scheduler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weft/common/error.h"

namespace weft::dram::bank_scheduler_test {
namespace {

using Edge = BankScheduler::Edge;

// GDDR5's defaults with eight banks in two bank groups.
SchedulerConfig config() {
  SchedulerConfig config;
  config.bank_groups = 2;
  return config;
}

constexpr Edge kActivated = 12 + 12 + 2;  // a read's data after its activate: tRCD + CL + burst
constexpr Edge kWritten = 12 + 4 + 2;     // a write's: tRCD + WL + burst

BankRequest request(unsigned bank, bool write = false, std::uint64_t row = 0, unsigned bursts = 1) {
  BankRequest request;
  request.bank = bank;
  request.write = write;
  request.row = row;
  request.bursts = bursts;
  return request;
}

// When the data of each request have moved. All are there at cycle `from`. The scheduler is stepped where it
// says that something happens, and each cycle: both must agree.
std::vector<Edge> finished(const SchedulerConfig& config, std::vector<BankRequest> requests, Edge from = 0,
                           unsigned banks = 8) {
  BankScheduler each(config, banks, 1), sleeping(config, banks, 1);
  std::vector<Edge> done(requests.size()), slept(requests.size());
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    requests[i].handle = i;
    each.push(requests[i], from);
    sleeping.push(requests[i], from);
  }
  BankScheduler::Finished finished{};
  std::uint32_t started = 0;
  for (Edge now = from; !each.empty() && now < from + 100'000; ++now)
    if (each.step(now, finished, started)) done[finished.handle] = finished.done;
  for (Edge now = from; now != BankScheduler::kNever; now = sleeping.next(now))
    if (sleeping.step(now, finished, started)) slept[finished.handle] = finished.done;
  EXPECT_EQ(done, slept) << "a scheduler that sleeps does the same";
  return done;
}

TEST(BankScheduler, FiveActivatesNeedAWindow) {
  const std::vector<BankRequest> six{request(0), request(1), request(2), request(3), request(4), request(5)};
  const Edge rrd = config().timing.rrd;
  SchedulerConfig unlimited = config();
  unlimited.dual_command = true;  // so that no read keeps an activate from its cycle
  const std::vector<Edge> free = finished(unlimited, six);
  SchedulerConfig limited = unlimited;
  limited.timing.faw = 40;
  const std::vector<Edge> held = finished(limited, six);
  for (Edge i = 0; i < 6; ++i) EXPECT_EQ(free[i], i * rrd + kActivated);
  for (Edge i = 0; i < 4; ++i) EXPECT_EQ(held[i], free[i]) << "the first four";
  EXPECT_EQ(held[4], 40 + kActivated) << "tFAW after the first";
  EXPECT_EQ(held[5], 40 + rrd + kActivated) << "tFAW after the second";
}

// Banks 0, 2, 4 are a group; bank 1 is of the other one.
TEST(BankScheduler, ActivatesOfAGroupAreFartherApart) {
  SchedulerConfig grouped = config();
  grouped.timing.rrdl = 10;
  EXPECT_EQ(finished(grouped, {request(0), request(2), request(4)}),
            (std::vector<Edge>{kActivated, 10 + kActivated, 20 + kActivated}));
  EXPECT_EQ(finished(grouped, {request(0), request(1)}), (std::vector<Edge>{kActivated, 6 + kActivated}));
}

TEST(BankScheduler, AWriteMayComeSoonerAfterItsActivate) {
  SchedulerConfig split = config();
  split.timing.rcdwr = 7;
  EXPECT_EQ(finished(split, {request(0, true)}), (std::vector<Edge>{7 + 4 + 2}));
  EXPECT_EQ(finished(split, {request(0, false)}), (std::vector<Edge>{kActivated}));
  EXPECT_EQ(finished(config(), {request(0, true)}), (std::vector<Edge>{kWritten}));
}

// The activate of bank 2 or 1 goes at 6; it could read at 18. The write's command goes at 12, its last data
// at 18, and the read follows tWTRS or tWTRL behind.
TEST(BankScheduler, AReadWaitsLongerAfterAWriteOfItsGroup) {
  SchedulerConfig grouped = config();
  grouped.timing.wtrl = 11;
  const Edge data = 12 + 2;  // CL + burst
  EXPECT_EQ(finished(grouped, {request(0, true), request(2)}),
            (std::vector<Edge>{kWritten, kWritten + 11 + data}));
  EXPECT_EQ(finished(grouped, {request(0, true), request(1)}),
            (std::vector<Edge>{kWritten, kWritten + 5 + data}));
  EXPECT_EQ(finished(config(), {request(0, true), request(2)}),
            (std::vector<Edge>{kWritten, kWritten + 5 + data}));
}

// Two rows of one bank and a third request for another bank. Of the read of bank 0 and the activate of bank
// 1, both due at 12, one goes first unless both can go.
TEST(BankScheduler, ARowAndAColumnCommandCanGoTogether) {
  SchedulerConfig one = config(), two = config();
  one.timing.rrd = two.timing.rrd = 12;
  two.dual_command = true;
  const std::vector<BankRequest> requests{request(0), request(1)};
  EXPECT_EQ(finished(one, requests), (std::vector<Edge>{kActivated, 13 + kActivated}));
  EXPECT_EQ(finished(two, requests), (std::vector<Edge>{kActivated, 12 + kActivated}));
}

// Even banks are pseudo-channel 0, odd ones 1. Each has a data bus and activates of its own; commands are
// common.
TEST(BankScheduler, PseudoChannelsShareOnlyCommands) {
  SchedulerConfig split = config();
  split.pseudo_channels = 2;
  split.bank_groups = 1;
  split.timing.ccdl = 2;
  // Activates at 0 (bank 0), 1 (bank 1, another pseudo-channel) and 6 (bank 2).
  EXPECT_EQ(finished(split, {request(0), request(1), request(2)}),
            (std::vector<Edge>{kActivated, 1 + kActivated, 6 + kActivated}));
  // Eight bursts of each: one bus would need 2 x 8 x 2 cycles, two need half; commands go in turns.
  const std::vector<Edge> both = finished(split, {request(0, false, 0, 8), request(1, false, 0, 8)});
  EXPECT_EQ(both, (std::vector<Edge>{kActivated + 14, 1 + kActivated + 14}));
  SchedulerConfig joint = split;
  joint.pseudo_channels = 1;
  EXPECT_EQ(finished(joint, {request(0, false, 0, 8), request(1, false, 0, 8)})[1], kActivated + 30);
}

TEST(BankScheduler, CountsTheDataOfPseudoChannelsAsPartsOfTheChannel) {
  SchedulerConfig split = config();
  split.pseudo_channels = 2;
  BankScheduler scheduler(split, 8, 1);
  statistics::Group tree;
  scheduler.bind(tree);
  for (unsigned bank = 0; bank < 8; ++bank) scheduler.push(request(bank, false, 0, 3), 0);
  BankScheduler::Finished finished{};
  std::uint32_t started = 0;
  for (Edge now = 0; !scheduler.empty(); ++now) scheduler.step(now, finished, started);
  EXPECT_EQ(tree.sample()["data_cycles"], 8 * 3 * 2 / 2);
}

// A bank is refreshed every 800 / 8 = 100 cycles: bank 0 at 100, bank 1 at 200.
TEST(BankScheduler, OneBankIsRefreshedAtATime) {
  SchedulerConfig turns = config();
  turns.refresh = Refresh::kPerBank;
  turns.timing.refi = 800;
  turns.timing.rfc = 300;
  turns.timing.rfcpb = 50;
  turns.check("/dram");
  EXPECT_EQ(finished(turns, {request(0), request(1)}, 100),
            (std::vector<Edge>{150 + kActivated, 100 + kActivated}));
  EXPECT_EQ(finished(turns, {request(0), request(1)}, 200),
            (std::vector<Edge>{200 + kActivated, 250 + kActivated}));
  SchedulerConfig together = turns;
  together.refresh = Refresh::kAllBanks;
  EXPECT_EQ(finished(together, {request(0), request(1)}, 800),
            (std::vector<Edge>{1100 + kActivated, 1106 + kActivated}));
}

// An open row is closed for the refresh of its bank; the other bank's stays. Long idle times count every
// refresh.
TEST(BankScheduler, ARefreshOfABankClosesOnlyItsRow) {
  SchedulerConfig turns = config();
  turns.refresh = Refresh::kPerBank;
  turns.timing.refi = 800;
  turns.timing.rfcpb = 50;
  BankScheduler scheduler(turns, 8, 1);
  statistics::Group tree;
  scheduler.bind(tree);
  BankScheduler::Finished finished{};
  std::uint32_t started = 0;
  const auto serve = [&](Edge from, const std::vector<BankRequest>& requests) {
    for (const BankRequest& one : requests) scheduler.push(one, from);
    for (Edge now = from; !scheduler.empty(); ++now) scheduler.step(now, finished, started);
  };
  serve(10, {request(0), request(1)});
  serve(130, {request(0), request(1)});  // bank 0 was refreshed at 100
  EXPECT_EQ(tree.sample()["row_hits"], 1);
  EXPECT_EQ(tree.sample()["row_misses"], 3);
  EXPECT_EQ(tree.sample()["bank_refreshes"], 1);
  serve(100'050, {request(0)});
  EXPECT_EQ(tree.sample()["bank_refreshes"], 1000);
  EXPECT_EQ(tree.sample()["refreshes"], 1000 / 8);
  EXPECT_EQ(tree.sample()["row_misses"], 4);
}

// Writes are served in groups: four places for them, drained when more than two wait.
SchedulerConfig draining() {
  SchedulerConfig config = bank_scheduler_test::config();
  config.write_drain = {4, 2, 1};
  return config;
}

TEST(BankSchedulerDrain, ReadsGoBeforeOlderWritesUntilThoseAreMany) {
  const BankRequest read = request(3);
  const std::vector<BankRequest> two{request(0, true), request(1, true), read},
      three{request(0, true), request(1, true), request(2, true), read};
  EXPECT_EQ(finished(config(), two)[0], kWritten) << "one queue: the oldest first";
  const std::vector<Edge> patient = finished(draining(), two);
  EXPECT_EQ(patient[2], kActivated);
  EXPECT_GT(patient[0], patient[2]);
  const std::vector<Edge> urgent = finished(draining(), three);
  EXPECT_EQ(urgent[0], kWritten);
  EXPECT_GT(urgent[3], urgent[2]) << "none is left when the read is served";
}

// A write of bank 0 and a read of bank 1 wait; the write's burst may not pass the read of the same place.
TEST(BankSchedulerDrain, AccessesToOnePlaceStayInOrder) {
  const std::vector<Edge> written = finished(draining(), {request(0, true), request(1), request(0)});
  EXPECT_GT(written[2], written[0]);
  EXPECT_GT(written[0], written[1]);
  std::vector<BankRequest> read{request(0, false, 1), request(0), request(0, true), request(1, true),
                                request(2, true)};
  const std::vector<Edge> later = finished(draining(), read);
  EXPECT_GT(later[2], later[1]);
  read[2].first_burst = 1;  // another place of the row: nothing keeps it back
  EXPECT_LT(finished(draining(), read)[2], later[2]);
}

// Bank 0 has row 0 open and is precharged for a read of row 1 when writes become too many.
TEST(BankSchedulerDrain, APrechargedBankIsFreeForTheOtherKind) {
  BankScheduler scheduler(draining(), 8, 1);
  BankRequest opening = request(0), read = request(0, false, 1), write = request(0, true, 2);
  opening.handle = 0, read.handle = 1, write.handle = 2;
  scheduler.push(opening, 0);
  scheduler.push(read, 0);
  BankScheduler::Finished finished{};
  std::vector<std::uint32_t> order;
  std::uint32_t started = 0;
  for (Edge now = 0; now < 1'000; ++now) {
    const bool was_open = scheduler.open_row(0, now) == 0;
    if (scheduler.step(now, finished, started)) order.push_back(finished.handle);
    if (!was_open || scheduler.open_row(0, now) != BankScheduler::kNoRow) continue;
    scheduler.push(write, now);  // the read has precharged the bank
    for (unsigned bank = 1; bank <= 2; ++bank) {
      BankRequest other = request(bank, true);
      other.handle = 2 + bank;
      scheduler.push(other, now);
    }
  }
  ASSERT_EQ(order.size(), 5u);
  EXPECT_EQ(order.front(), 0u);
  EXPECT_EQ(order.back(), 1u) << "the writes go before the read that had the bank precharged";
}

TEST(BankSchedulerDrain, EachKindHasItsPlaces) {
  SchedulerConfig small = draining();
  small.queue_size = 1;
  BankScheduler scheduler(small, 8, 1);
  scheduler.push(request(0), 0);
  EXPECT_TRUE(scheduler.full(false));
  EXPECT_FALSE(scheduler.full(true));
  for (unsigned bank = 1; bank <= 4; ++bank) scheduler.push(request(bank, true), 0);
  EXPECT_TRUE(scheduler.full(true));
  EXPECT_EQ(scheduler.queued(), 5u);
}

std::string message(const SchedulerConfig& config) {
  try {
    config.check("/dram");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(BankSchedulerConfig, RefusesWhatCannotBe) {
  EXPECT_EQ(message(config()), "no error");
  SchedulerConfig wrong = config();
  wrong.timing.rrdl = 5;
  EXPECT_EQ(message(wrong), "/dram/t_rrdl: found 5; allowed: 0, or at least t_rrd = 6");
  wrong = config();
  wrong.timing.wtrl = 4;
  EXPECT_EQ(message(wrong), "/dram/t_wtrl: found 4; allowed: 0, or at least t_wtr = 5");
  wrong = config();
  wrong.refresh = Refresh::kPerBank;
  wrong.timing.refi = 4000;
  EXPECT_EQ(message(wrong),
            "/dram/refresh: found per_bank with t_rfcpb = 0; allowed with t_rfcpb of at least 1");
  SchedulerConfig drain = config();
  drain.write_drain = {20, 20, 5};
  EXPECT_EQ(message(drain),
            "/dram/write_drain: found low 5, high 20, queue 20; allowed: low <= high < queue");
  drain.write_drain = {32, 20, 5};
  EXPECT_EQ(message(drain), "no error");
  drain.order = PartChoice<RequestOrder>{"fcfs"};
  EXPECT_EQ(message(drain),
            "/dram/write_drain/queue: found 32; allowed: 0 with a scheduler that serves requests in order of "
            "arrival");
  wrong.timing.rfcpb = 2000;
  EXPECT_EQ(message(wrong),
            "/dram/t_refi: 4000 cycles; allowed: 0 (off) or at least 4104 (2 x (t_rc + t_rp + t_rfcpb))");
}

}  // namespace
}  // namespace weft::dram::bank_scheduler_test
