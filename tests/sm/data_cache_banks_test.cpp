// Banks of the data cache: how many requests of an instruction enter and leave in a cycle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "sm/load_store_bench.h"
#include "weft/common/error.h"

namespace weft::sm::data_cache_banks_test {
namespace {

using load_store_bench::at_home;
using load_store_bench::Bench;
using load_store_bench::Issue;
using load_store_bench::lanes;
using ::testing::ElementsAre;

constexpr std::uint64_t kSector = 32, kLatency = 10;

machine::SmConfig with_banks(std::uint64_t banks) {
  machine::SmConfig config = lanes(32);
  config.coalescer.block_bytes = config.l1d.sector_bytes = kSector;
  config.l1d.tags.line_bytes = 128;
  config.l1d.tags.sets = 4;
  config.l1d.tags.ways = 16;
  config.l1d.latency = kLatency;
  config.l1d.lookup = machine::Lookup::kLast;
  config.l1d.banks = banks;
  config.memory_queue = 64;
  config.check("");
  return config;
}

// One thread per sector.
Issue at_sectors(const std::vector<std::uint64_t>& sectors) {
  Issue issue;
  issue.add(at_home(0, static_cast<std::uint32_t>((std::uint64_t{1} << sectors.size()) - 1)),
            [&](unsigned, unsigned position) { return sectors[position] * kSector; });
  return issue;
}

// The sector and the cycle of each request that leaves.
struct Left {
  std::uint64_t sector = 0;
  Cycle at = 0;
  bool operator==(const Left& other) const { return sector == other.sector && at == other.at; }
};
std::ostream& operator<<(std::ostream& out, const Left& left) {
  return out << left.sector << " at " << left.at;
}
std::vector<Left> run(Bench& bench, Cycle cycles) {
  std::vector<Left> left;
  for (std::size_t told = bench.sent.size(); cycles != 0; --cycles) {
    bench.run(1);
    for (; told < bench.sent.size(); ++told) left.push_back({bench.sent[told].address / kSector, bench.now});
  }
  return left;
}

// The sectors are in the cache afterwards.
void fetch(Bench& bench, std::uint64_t sectors) {
  for (std::uint64_t sector = 0; sector < sectors; ++sector) {
    bench.accept(99, ptx::Opcode::kLd, at_sectors({sector}));
    bench.run(bench.config.l1d.latency + 3);
    bench.answer(bench.sent.size() - 1);
    bench.run(3);
  }
  bench.finished.clear();
}

TEST(DataCacheBanks, OneRequestPerBankAndCycle) {
  for (const std::uint64_t banks : {1, 2, 4, 8}) {
    Bench bench(with_banks(banks));
    bench.accept(1, ptx::Opcode::kLd, at_sectors({0, 1, 2, 3}));
    const std::vector<Left> left = run(bench, 30);
    // Looked up in the last of its ten cycles, the first of which is cycle 2.
    std::vector<Left> expected;
    for (std::uint64_t i = 0; i < 4; ++i) expected.push_back({i, 2 + kLatency - 1 + i / banks});
    EXPECT_EQ(left, expected) << banks;
  }
}

// Eight loads of a line that hits: 32 bytes per bank and cycle.
TEST(DataCacheBanks, HitsHaveTheBandwidthOfTheBanks) {
  for (const std::uint64_t banks : {1, 2, 4, 8}) {
    Bench bench(with_banks(banks));
    fetch(bench, 4);
    const Cycle start = bench.now;
    for (std::uint16_t id = 0; id < 8; ++id) bench.accept(id, ptx::Opcode::kLd, at_sectors({0, 1, 2, 3}));
    while (bench.finished.size() < 8 && bench.now < start + 100) bench.run(1);
    const Cycle each = 4 / std::min<std::uint64_t>(banks, 4);
    EXPECT_EQ(bench.now - start, 8 * each + kLatency) << banks;
  }
}

// GA10x as Huerta et al. (MICRO 2025) measured it: 32, 34 and 38 cycles for loads of 32, 64 and 128 bits.
TEST(DataCacheBanks, WiderLoadsOfAWarpTakeLongerByTheirSectors) {
  std::vector<Cycle> found;
  for (const std::uint32_t bytes : {4, 8, 16}) {
    machine::SmConfig config = with_banks(2);
    config.l1d.latency = 30;
    Bench bench(config);
    fetch(bench, 16);
    Issue issue;
    issue.add(
        at_home(0), [&](unsigned, unsigned position) { return std::uint64_t{bytes} * position; },
        ptx::Space::kGlobal, bytes);
    const Cycle start = bench.now;
    bench.accept(1, ptx::Opcode::kLd, issue);
    while (bench.finished.empty() && bench.now < start + 100) bench.run(1);
    found.push_back(bench.now - start);
  }
  EXPECT_THAT(found, ElementsAre(32, 34, 38));
}

TEST(DataCacheBanks, StopAtTheFirstConflict) {
  Bench bench(with_banks(4));
  statistics::Group group;
  bench.unit.bind(group);
  bench.accept(1, ptx::Opcode::kLd, at_sectors({0, 4, 1, 2}));  // 0 and 4 are of bank 0
  const Cycle first = 2 + kLatency - 1;
  EXPECT_THAT(run(bench, 30),
              ElementsAre(Left{0, first}, Left{4, first + 1}, Left{1, first + 1}, Left{2, first + 1}));
  EXPECT_EQ(group.sample().at("bank_conflicts"), 1);
}

TEST(DataCacheBanks, ARefusedRequestHoldsUpItsBankOnly) {
  machine::SmConfig config = with_banks(4);
  config.l1d.mshrs = {1, 1};
  Bench bench(config);
  fetch(bench, 8);
  bench.accept(1, ptx::Opcode::kLd, at_sectors({100}));  // takes the only MSHR
  bench.accept(2, ptx::Opcode::kLd, at_sectors({104}));  // waits for it, in bank 0
  bench.accept(3, ptx::Opcode::kLd, at_sectors({4}));    // hits, behind the one that waits
  bench.accept(4, ptx::Opcode::kLd, at_sectors({5}));    // hits, in bank 1
  run(bench, 40);
  EXPECT_THAT(bench.finished, ElementsAre(4));
  bench.answer(bench.sent.size() - 1);
  run(bench, 5);
  EXPECT_THAT(bench.finished, ElementsAre(4, 1, 3));
  bench.answer(bench.sent.size() - 1);
  run(bench, 5);
  EXPECT_THAT(bench.finished, ElementsAre(4, 1, 3, 2));
  EXPECT_TRUE(bench.unit.idle());
}

// A queue per bank and the rule for entering them, cycle by cycle: when each of 300 random loads ends, if all
// of them hit.
TEST(DataCacheBanks, AsQueues) {
  constexpr std::uint64_t kSectors = 64;
  for (const std::uint64_t banks : {1, 2, 4, 16}) {
    Bench bench(with_banks(banks));
    fetch(bench, kSectors);
    std::mt19937 random(static_cast<unsigned>(banks));
    struct Load {
      std::deque<std::uint64_t> sectors;
      Cycle end = 0;
    };
    std::vector<Load> expected;
    std::deque<std::size_t> waiting;
    std::vector<Cycle> found;
    std::size_t finished = 0;
    for (unsigned turn = 0; turn < 3000; ++turn) {
      if (expected.size() < 300 && random() % 3 == 0 && bench.unit.can_accept()) {
        std::vector<std::uint64_t> sectors(1 + random() % 8);
        for (std::uint64_t& sector : sectors) sector = random() % kSectors;
        bench.accept(static_cast<std::uint16_t>(expected.size()), ptx::Opcode::kLd, at_sectors(sectors));
        Load load;
        for (const std::uint64_t sector : sectors) {
          if (std::find(load.sectors.begin(), load.sectors.end(), sector) == load.sectors.end())
            load.sectors.push_back(sector);
        }
        waiting.push_back(expected.size());
        expected.push_back(load);
        found.push_back(0);
      }
      bench.run(1);
      for (; finished < bench.finished.size(); ++finished) found[bench.finished[finished]] = bench.now;
      if (waiting.empty()) continue;
      Load& head = expected[waiting.front()];
      std::vector<bool> taken(banks, false);
      while (!head.sectors.empty() && !taken[head.sectors.front() % banks]) {
        taken[head.sectors.front() % banks] = true;
        head.sectors.pop_front();
      }
      if (!head.sectors.empty()) continue;
      head.end = bench.now + kLatency;  // of the last one that entered
      waiting.pop_front();
    }
    ASSERT_EQ(bench.finished.size(), expected.size());
    ASSERT_EQ(expected.size(), 300u);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(found[i], expected[i].end) << banks << " " << i;
  }
}

// Asleep until the next event, the unit does the same.
TEST(DataCacheBanks, NextEventMissesNothing) {
  std::vector<std::vector<Left>> played;
  for (const bool sleeps : {false, true}) {
    machine::SmConfig config = with_banks(4);
    config.l1d.mshrs.entries = 3;
    Bench bench(config);
    bench.accept(1, ptx::Opcode::kLd, at_sectors({0, 4, 8, 12, 1}));
    bench.accept(2, ptx::Opcode::kSt, at_sectors({2, 6, 3}));
    bench.accept(3, ptx::Opcode::kLd, at_sectors({20, 21, 22, 23}));
    std::vector<Left>& left = played.emplace_back();
    Cycle next = 2;
    for (Cycle now = 2; now < 200; ++now) {
      bench.now = now;
      if (now % 40 == 0) {
        for (std::size_t i = 0; i < left.size(); ++i) {
          if (bench.sent[i].command == tlm::TLM_READ_COMMAND && bench.sent[i].bytes != 0) bench.answer(i);
          bench.sent[i].bytes = 0;
        }
      } else if (sleeps && now < next) {
        continue;
      }
      bench.unit.events(now);
      bench.unit.step(now);
      while (!bench.unit.outgoing().empty()) {
        bench.sent.push_back(bench.unit.outgoing().take());
        bench.unit.try_again();
        left.push_back({bench.sent.back().address / kSector, now});
      }
      next = bench.unit.next_event(now);
    }
    EXPECT_EQ(left.size(), 12u);
  }
  EXPECT_EQ(played[0], played[1]);
}

// Address and bytes of each request that loads of these sectors send, one load after the other.
std::vector<std::pair<std::uint64_t, std::uint32_t>> requests(
    std::uint64_t request_sectors, const std::vector<std::vector<std::uint64_t>>& loads,
    ptx::Mode mode = ptx::Instruction().mode) {
  machine::SmConfig config = with_banks(4);
  config.request_sectors = request_sectors;
  Bench bench(config);
  for (std::size_t id = 0; id < loads.size(); ++id) {
    ptx::Instruction load = load_store_bench::instruction(ptx::Opcode::kLd);
    load.mode = mode;
    const Issue issue = at_sectors(loads[id]);
    bench.unit.accept(static_cast<std::uint16_t>(id), load, issue.groups.data(), issue.accesses.data(),
                      static_cast<unsigned>(issue.accesses.size()), true, bench.at_once());
  }
  bench.run(40);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
  for (std::size_t i = 0; i < bench.sent.size(); ++i) {
    found.emplace_back(bench.sent[i].address, bench.sent[i].bytes);
    bench.answer(i);
  }
  bench.run(5);
  EXPECT_EQ(bench.finished.size(), loads.size()) << "every thread has its data";
  for (std::size_t id = 0; id < loads.size(); ++id)
    EXPECT_EQ(bench.returned[static_cast<unsigned>(id)], loads[id].size());
  EXPECT_TRUE(bench.unit.idle());
  return found;
}

TEST(RequestSectors, NeighboursWithinAnAlignedGroupAreOneRequest) {
  using Sent = std::pair<std::uint64_t, std::uint32_t>;
  for (const ptx::Mode mode : {ptx::Instruction().mode, ptx::Mode::kPastL1}) {
    EXPECT_THAT(requests(4, {{0, 1, 2, 3}}, mode), ElementsAre(Sent{0, 128}));
    EXPECT_THAT(requests(2, {{0, 1, 2, 3}}, mode), ElementsAre(Sent{0, 64}, Sent{64, 64}));
    EXPECT_THAT(requests(1, {{0, 1}}, mode), ElementsAre(Sent{0, 32}, Sent{32, 32}));
    EXPECT_THAT(requests(4, {{1, 2}}, mode), ElementsAre(Sent{32, 64}));
    EXPECT_THAT(requests(2, {{1, 2}}, mode), ElementsAre(Sent{32, 32}, Sent{64, 32})) << "two groups";
    EXPECT_THAT(requests(4, {{0, 2}}, mode), ElementsAre(Sent{0, 32}, Sent{64, 32})) << "no neighbours";
    EXPECT_THAT(requests(4, {{2, 3, 4, 5}}, mode), ElementsAre(Sent{128, 64}, Sent{64, 64})) << "two lines";
    EXPECT_THAT(requests(4, {{0}, {1}}, mode), ElementsAre(Sent{0, 32}, Sent{32, 32})) << "two loads";
  }
}

// In a cycle all four banks look up a sector of one line, and the queue has one place.
TEST(RequestSectors, ASectorThatJoinsNeedsNoPlaceInTheQueue) {
  machine::SmConfig config = with_banks(4);
  config.request_sectors = 4;
  config.miss_queue = 1;
  Bench bench(config);
  statistics::Group group;
  bench.unit.bind(group);
  bench.accept(1, ptx::Opcode::kLd, at_sectors({0, 1, 2, 3}));
  for (unsigned cycle = 0; cycle < 20; ++cycle) {
    ++bench.now;
    bench.unit.events(bench.now);
    bench.unit.step(bench.now);
  }
  ASSERT_EQ(bench.unit.outgoing().size(), 1u);
  EXPECT_EQ(bench.unit.outgoing().take().bytes, 128u);
  EXPECT_EQ(group.sample().at("read_requests"), 1);
  EXPECT_EQ(group.sample().at("joined_reads"), 3);
  EXPECT_EQ(group.sample().at("blocked_cycles"), 0);
}

// Message, with the key that is at fault.
std::string refusal(const machine::SmConfig& config) {
  try {
    config.check("sm");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(DataCacheBanks, AreRefusedWhereRequestsDoNotPassThroughStages) {
  machine::SmConfig config = with_banks(4);
  config.l1d.lookup = machine::Lookup::kFirst;
  EXPECT_THAT(refusal(config), ::testing::HasSubstr("sm/l1d/banks: found 4 with lookup = first"));
  config = with_banks(4);
  config.l1d.latency = 1;
  EXPECT_THAT(refusal(config), ::testing::HasSubstr("sm/l1d/banks: found 4"));
  config = with_banks(4);
  config.l1d.banks = 3;
  EXPECT_THAT(refusal(config), ::testing::HasSubstr("found 3; allowed: powers of two from 1 to 32"));
  config = with_banks(4);
  config.request_sectors = 3;
  EXPECT_THAT(refusal(config), ::testing::HasSubstr("sm/request_sectors: found 3; allowed: 1, 2 and 4"));
}

}  // namespace
}  // namespace weft::sm::data_cache_banks_test
