// What the load-store unit takes from the addresses of an issue: requests, and cycles of the banks of shared
// memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "sm/load_store_bench.h"
#include "sm/shared_banks.h"

namespace weft::sm::load_store_unit_test {
namespace {

using load_store_bench::at_home;
using load_store_bench::Bench;
using load_store_bench::consecutive;
using load_store_bench::in_row;
using load_store_bench::Issue;
using load_store_bench::LaneAccess;
using load_store_bench::lanes;
using ::testing::ElementsAre;

// --- coalescing ---

std::vector<std::string> requests(const machine::SmConfig& config, const Issue& issue) {
  Bench bench(config);
  bench.accept(0, ptx::Opcode::kSt, issue);
  bench.run(64);
  return bench.lines();
}

// 32 consecutive words are two lines of 64 bytes.
TEST(CoalescerScope, AWarpAtHomeOnSixteenLanes) {
  Issue warp;
  warp.add(at_home(0), consecutive);
  machine::SmConfig config = lanes(16);
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W1"));
  config.coalescer.scope = machine::CoalescerScope::kBeat;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W1")) << "a beat is a line here";
  config.coalescer.scope = machine::CoalescerScope::kIssue;
  config.coalescer.width_threads = 8;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0", "W1", "W1"));
}

// All threads at one word: a request of the whole warp, or one of each beat.
TEST(CoalescerScope, BeatsDoNotShareRequests) {
  Issue warp;
  warp.add(at_home(0), [](unsigned, unsigned) { return 0; });
  machine::SmConfig config = lanes(8);
  EXPECT_THAT(requests(config, warp), ElementsAre("W0"));
  config.coalescer.scope = machine::CoalescerScope::kBeat;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0", "W0", "W0"));
  config.memory_width = 16;  // a beat of the load-store unit is two rows
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
  config.coalescer.scope = machine::CoalescerScope::kIssue;
  config.coalescer.width_threads = 16;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
}

// Threads 0-7 of one chunk and 24-31 of another share row 0 of a regrouped warp, and a line.
TEST(CoalescerScope, ARowOfSeveralChunksIsOneBeat) {
  const auto one_line = [](unsigned chunk, unsigned position) { return 32 * chunk + 4 * (position % 8); };
  Issue warp;
  warp.add(in_row(0, 0, 0x000000ffu), one_line);
  warp.add(in_row(1, 0, 0xff000000u), one_line);
  machine::SmConfig config = lanes(16);
  config.coalescer.scope = machine::CoalescerScope::kBeat;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0"));
  warp.groups[1].row = 1;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
  config.coalescer.scope = machine::CoalescerScope::kIssue;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0"));
  config.coalescer.width_threads = 16;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
}

// Each thread of each beat returns once, and a beat's store carries its own bytes.
TEST(CoalescerScope, EveryThreadIsServed) {
  machine::SmConfig config = lanes(8);
  config.coalescer.scope = machine::CoalescerScope::kBeat;
  config.l1d.enabled = false;
  Bench bench(config);
  Issue warp;
  warp.add(at_home(0), [](unsigned, unsigned position) { return 4 * (position % 16); });
  bench.accept(3, ptx::Opcode::kLd, warp);
  bench.run(20);
  ASSERT_EQ(bench.sent.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.returned[3], 8 * i);
    bench.answer(i);
    bench.run(2);
  }
  EXPECT_EQ(bench.returned[3], 32u);
  EXPECT_THAT(bench.finished, ElementsAre(3));
  bench.accept(4, ptx::Opcode::kSt, warp);
  bench.run(20);
  ASSERT_EQ(bench.sent.size(), 8u);
  EXPECT_EQ(bench.sent[4].bytes, 32u);
  EXPECT_EQ(bench.sent[5].address, 32u);
}

// --- lanes that give addresses in turn ---

Issue one_line_per_thread(std::uint32_t threads, unsigned first_line,
                          ptx::Space space = ptx::Space::kGlobal) {
  Issue warp;
  warp.add(
      at_home(0, threads), [&](unsigned, unsigned position) { return 64 * (first_line + position); }, space);
  return warp;
}

// A store of eight threads is known in cycle 8, one that comes two cycles later with two threads in cycle 4.
TEST(AddressesInTurn, WhatIsKnownFirstGoesFirst) {
  Bench bench(lanes(8), 8);
  bench.accept_in_turn(1, ptx::Opcode::kSt, one_line_per_thread(0xff, 0), 0);
  bench.run(2);
  bench.accept_in_turn(2, ptx::Opcode::kSt, one_line_per_thread(0x3, 100), 1);
  bench.run(1);
  EXPECT_THAT(bench.lines(), ElementsAre());
  bench.run(2);  // cycles 5 and 6
  EXPECT_THAT(bench.lines(), ElementsAre("W100", "W101"));
  bench.run(2);
  EXPECT_THAT(bench.lines(), ElementsAre());
  bench.run(1);  // cycle 9, after the last address
  EXPECT_THAT(bench.lines(), ElementsAre("W0"));
}

TEST(AddressesInTurn, APlaceInTheQueueIsTakenAtIssue) {
  machine::SmConfig config = lanes(8);
  config.memory_queue = 2;
  Bench bench(config, 8);
  const Issue line = one_line_per_thread(0xff, 0), words = one_line_per_thread(0xf, 0, ptx::Space::kShared);
  bench.accept_in_turn(1, ptx::Opcode::kSt, line, 0);
  EXPECT_TRUE(bench.unit.can_accept());
  bench.accept_in_turn(2, ptx::Opcode::kLd, words, 1);  // its banks from cycle 2 to 5
  EXPECT_FALSE(bench.unit.can_accept());
  bench.run(1);
  EXPECT_EQ(bench.unit.hold(bench.now), LoadStoreUnit::Hold::kSharedMemory);
  bench.run(2);
  EXPECT_FALSE(bench.unit.can_accept());
  bench.run(1);
  EXPECT_TRUE(bench.unit.can_accept());
  bench.accept_in_turn(3, ptx::Opcode::kSt, line, 2);
  EXPECT_FALSE(bench.unit.can_accept());
  EXPECT_FALSE(bench.unit.idle());
}

// The last word's cycle and the latency; and what is behind a queue that does not move, does not matter.
TEST(AddressesInTurn, SharedMemoryIsBesideTheQueue) {
  const machine::SmConfig config = lanes(8);
  Bench bench(config, 8);
  bench.accept_in_turn(1, ptx::Opcode::kSt, one_line_per_thread(0xff, 0), 0);
  bench.accept_in_turn(2, ptx::Opcode::kLd, one_line_per_thread(0xff, 0, ptx::Space::kShared), 1);
  EXPECT_EQ(bench.unit.next_event(bench.now), 2u);
  bench.run(8 + config.shared_memory.latency - 1);
  EXPECT_EQ(bench.returned[2], 0u);
  bench.run(1);
  EXPECT_EQ(bench.returned[2], 8u);
  EXPECT_THAT(bench.finished, ElementsAre(1, 2));
}

// Generic addresses: half of the threads in shared memory, half elsewhere.
TEST(AddressesInTurn, AnInstructionOfTwoSpacesWaitsForBoth) {
  Bench bench(lanes(8), 8);
  Issue warp = one_line_per_thread(0xf, 0, ptx::Space::kShared);
  warp.groups[0].mask = 0xff;
  LaneAccess rest = one_line_per_thread(0xff, 40).accesses[0];
  rest.mask = 0xf0;
  warp.accesses.push_back(rest);
  bench.accept_in_turn(5, ptx::Opcode::kLd, warp, 3);
  bench.run(60);
  EXPECT_EQ(bench.returned[5], 4u);
  EXPECT_THAT(bench.lines(), ElementsAre("R44", "R45", "R46", "R47"));
  for (std::size_t i = 0; i < 4; ++i) bench.answer(i);
  bench.run(3);
  EXPECT_EQ(bench.returned[5], 8u);
  EXPECT_THAT(bench.finished, ElementsAre(5));
  EXPECT_TRUE(bench.unit.idle());
}

// --- banks of shared memory ---

std::vector<std::uint32_t> bank_cycles(const machine::SmConfig& config, const Issue& issue,
                                       bool atomic = false) {
  SharedBanks banks(config);
  std::vector<std::uint32_t> cycles;
  banks.each_access(issue.accesses.data(), static_cast<unsigned>(issue.accesses.size()), issue.groups.data(),
                    atomic, [&](std::uint32_t taken) { cycles.push_back(taken); });
  return cycles;
}

TEST(BanksOfRegroupedWarps, LanesOfARowAreServedTogether) {
  Issue warp;  // 16 threads of four chunks in one row
  for (std::uint16_t chunk = 0; chunk < 4; ++chunk) {
    warp.add(in_row(chunk, 0, 0xfu << 4 * chunk), consecutive, ptx::Space::kShared);
  }
  EXPECT_THAT(bank_cycles(lanes(16), warp), ElementsAre(1));
  EXPECT_THAT(bank_cycles(lanes(16), warp, true), ElementsAre(16)) << "an atomic has a cycle per thread";
  // A thread of the last chunk goes to a bank of the first.
  warp.accesses[3].address[12] -= 48;
  EXPECT_THAT(bank_cycles(lanes(16), warp), ElementsAre(2));
}

// Positions 3 and 19 have the same lane of 16, in two rows; 3 and 20 may share a row.
TEST(BanksOfRegroupedWarps, TheRowCountsNotTheHalfOfTheChunk) {
  Issue apart, together;
  apart.add(in_row(0, 0, 1u << 3), consecutive, ptx::Space::kShared);
  apart.add(in_row(0, 1, 1u << 19), consecutive, ptx::Space::kShared);
  EXPECT_THAT(bank_cycles(lanes(16), apart), ElementsAre(2));
  together.add(in_row(0, 0, 1u << 3 | 1u << 20), consecutive, ptx::Space::kShared);
  EXPECT_THAT(bank_cycles(lanes(16), together), ElementsAre(1));
}

TEST(BanksOfRegroupedWarps, BroadcastAndTheNextAccess) {
  Issue warp;  // three rows of 16: an access of 32 places and one of 16
  const auto one_word = [](unsigned, unsigned) { return 64; };
  for (std::uint8_t row = 0; row < 3; ++row)
    warp.add(in_row(row, row, 0xffffu), one_word, ptx::Space::kShared);
  EXPECT_THAT(bank_cycles(lanes(16), warp), ElementsAre(1, 1));
}

// A warp at home, said row by row, takes what it takes as a chunk; by a count of its own.
TEST(BanksOfRegroupedWarps, AWarpAtHomeIsAsBefore) {
  std::mt19937 random(1);
  for (unsigned turn = 0; turn < 300; ++turn) {
    const unsigned width = 8u << random() % 3;
    const std::uint32_t bytes = 4u << random() % 2;
    const std::uint32_t mask = random() % 3 == 0 ? ~0u : static_cast<std::uint32_t>(random());
    const unsigned words = 1u << random() % 8;
    std::vector<std::uint64_t> where(32);
    for (auto& address : where) address = bytes * (random() % words);
    const auto address = [&](unsigned, unsigned position) { return where[position]; };
    Issue home, rows;
    home.add(at_home(0, mask), address, ptx::Space::kShared, bytes);
    for (unsigned row = 0; row < 32 / width; ++row) {
      const std::uint32_t threads = mask & (width == 32 ? ~0u : ((1u << width) - 1) << row * width);
      if (threads != 0)
        rows.add(in_row(0, static_cast<std::uint8_t>(row), threads), address, ptx::Space::kShared, bytes);
    }
    if (mask == 0) continue;
    const auto cycles = bank_cycles(lanes(width), home);
    ASSERT_EQ(bank_cycles(lanes(width), rows), cycles) << turn;
    // Passes of `width` lanes of a word each, or of half as many of two.
    std::uint32_t expected = 0;
    const unsigned pass = width * 4 / bytes;
    bool one_word = true;
    for (unsigned p = 0; p < 32; ++p) {
      one_word =
          one_word && ((mask >> p & 1) == 0 || where[p] == where[static_cast<unsigned>(__builtin_ctz(mask))]);
    }
    for (unsigned from = 0; from < 32; from += pass) {
      std::map<std::uint64_t, std::map<std::uint64_t, bool>> seen;
      for (unsigned p = from; p < from + pass; ++p) {
        for (std::uint64_t w = 0; (mask >> p & 1) != 0 && w < bytes / 4; ++w)
          seen[(where[p] / 4 + w) % 32][where[p] / 4 + w] = true;
      }
      std::size_t worst = 0;
      for (const auto& bank : seen) worst = std::max(worst, bank.second.size());
      expected += static_cast<std::uint32_t>(worst);
    }
    ASSERT_THAT(cycles, ElementsAre(one_word ? bytes / 4 : expected)) << turn;
  }
}

}  // namespace
}  // namespace weft::sm::load_store_unit_test
