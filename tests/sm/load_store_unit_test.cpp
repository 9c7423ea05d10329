// The load-store unit by itself: coalescing, banks of shared memory, the data cache's ways with loads and
// stores. Memory answers when the test says so.
#include "sm/load_store_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cache/reference_cache.h"
#include "sm/shared_banks.h"

namespace weft::sm::load_store_unit_test {
namespace {

using execute::LaneAccess;
using ::testing::ElementsAre;
using warp_formation::ThreadGroup;

ptx::Instruction instruction(ptx::Opcode op, ptx::Space space = ptx::Space::kGlobal) {
  ptx::Instruction in;
  in.op = op;
  in.space = space;
  in.unit = ptx::Unit::kMemory;
  return in;
}

// Threads of a chunk in a row of the warp, or at home from that row on.
ThreadGroup in_row(std::uint16_t chunk, std::uint8_t row, std::uint32_t mask) {
  return {mask, chunk, row, false};
}
ThreadGroup at_home(std::uint16_t chunk, std::uint32_t mask = ~0u, std::uint8_t row = 0) {
  return {mask, chunk, row, true};
}

// An issue: groups, and where each thread goes.
struct Issue {
  std::vector<ThreadGroup> groups;
  std::vector<LaneAccess> accesses;

  template <class Address>  // (chunk, position) -> address
  void add(const ThreadGroup& group, Address&& address, ptx::Space space = ptx::Space::kGlobal,
           std::uint32_t bytes = 4) {
    LaneAccess access;
    access.space = space;
    access.chunk = group.chunk;
    access.group = static_cast<std::uint16_t>(groups.size());
    access.mask = group.mask;
    access.bytes = bytes;
    access.low = UINT64_MAX;
    for (unsigned p = 0; p < 32; ++p) {
      if ((group.mask >> p & 1) == 0) continue;
      access.address[p] = address(group.chunk, p);
      access.low = std::min(access.low, access.address[p]);
      access.high = std::max(access.high, access.address[p]);
    }
    groups.push_back(group);
    accesses.push_back(access);
  }
};

class Bench final : public LoadStoreListener, public SystemAccesses {
 public:
  explicit Bench(const Config& wanted, unsigned lane_count = 0)
      : config(wanted), unit(config, *this, *this, observers, lane_count, 1) {}

  void memory_returned(std::uint16_t issue, unsigned, std::uint32_t mask) override {
    returned[issue] += static_cast<unsigned>(__builtin_popcount(mask));
  }
  void memory_finished(std::uint16_t issue) override { finished.push_back(issue); }
  std::uint32_t open(std::uint16_t, std::uint64_t) override { return 0; }
  void join(std::uint32_t, const LaneAccess&, std::uint32_t) override {}
  bool can_start(std::uint32_t) const override { return true; }
  void started(std::uint32_t) override {}
  void fill(std::uint32_t, const std::uint8_t*) override {}
  void close(std::uint32_t) override {}

  void accept(std::uint16_t id, ptx::Opcode op, const Issue& issue) {
    unit.accept(id, instruction(op), issue.groups.data(), issue.accesses.data(),
                static_cast<unsigned>(issue.accesses.size()), op != ptx::Opcode::kSt, at_once());
  }
  // All addresses are known in this cycle.
  datapath::Times at_once() const {
    datapath::Times times;
    times.addresses = now;
    return times;
  }
  // On a lane of its own, a thread per cycle from this one on.
  void accept_in_turn(std::uint16_t id, ptx::Opcode op, const Issue& issue, unsigned lane) {
    std::vector<datapath::Part> parts;
    datapath::Times times;
    for (std::uint32_t rest = issue.groups[0].mask; rest != 0; rest &= rest - 1) {
      times.addresses = now + parts.size();
      parts.push_back({times.addresses, 1, rest & -rest});
    }
    times.parts = parts.data();
    times.part_count = static_cast<std::uint32_t>(parts.size());
    times.in_turn = true;
    times.lane = lane;
    unit.accept(id, instruction(op, issue.accesses[0].space), issue.groups.data(), issue.accesses.data(),
                static_cast<unsigned>(issue.accesses.size()), op != ptx::Opcode::kSt, times);
  }
  // One thread's access to the line of the number.
  void accept(std::uint16_t id, ptx::Opcode op, std::uint64_t line) {
    Issue issue;
    issue.add(at_home(0, 1), [&](unsigned, unsigned) { return line * config.l1d.tags.line_bytes; });
    accept(id, op, issue);
  }
  // Requests leave at once, into `sent`.
  void run(Cycle cycles) {
    for (const Cycle end = now + cycles; now < end;) {
      ++now;
      unit.events(now);
      unit.step(now);
      if (unit.has_to_flush()) unit.flush(resting);
      while (!unit.outgoing().empty()) {
        sent.push_back(unit.outgoing().take());
        unit.sent();
      }
    }
  }
  void answer(std::size_t number) { unit.respond(now, sent[number].tag); }
  // What was sent since the last call: R and W with the line, A for an atomic.
  std::vector<std::string> lines() {
    std::vector<std::string> names;
    for (; told < sent.size(); ++told) {
      const OutgoingRequest& request = sent[told];
      const char* const kind = request.kind == AccessKind::kAtomic         ? "A"
                               : request.command == tlm::TLM_WRITE_COMMAND ? "W"
                                                                           : "R";
      names.push_back(kind + std::to_string(request.address / config.l1d.tags.line_bytes));
    }
    return names;
  }
  // The line is in the cache afterwards.
  void fetch(std::uint64_t line) {
    accept(99, ptx::Opcode::kLd, line);
    run(3);
    answer(sent.size() - 1);
    run(3);
    lines();
  }

  const Config config;
  const SmObservers observers;
  LoadStoreUnit unit;
  Cycle now = 1;
  bool resting = false;
  std::vector<OutgoingRequest> sent;
  std::size_t told = 0;
  std::map<unsigned, unsigned> returned;  // threads, by issue
  std::vector<unsigned> finished;
};

Config lanes(unsigned width) {
  Config config;
  config.simd_width = config.memory_width = width;
  config.l1d.tags.line_bytes = config.coalescer.block_bytes = 64;
  config.l1d.tags.sets = 4;
  config.l1d.tags.ways = 1;
  return config;
}

std::uint64_t consecutive(unsigned chunk, unsigned position) {
  return std::uint64_t{128} * chunk + std::uint64_t{4} * position;
}

// --- coalescing ---

std::vector<std::string> requests(const Config& config, const Issue& issue) {
  Bench bench(config);
  bench.accept(0, ptx::Opcode::kSt, issue);
  bench.run(64);
  return bench.lines();
}

// 32 consecutive words are two lines of 64 bytes.
TEST(CoalescerScope, AWarpAtHomeOnSixteenLanes) {
  Issue warp;
  warp.add(at_home(0), consecutive);
  Config config = lanes(16);
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W1"));
  config.coalescer.scope = CoalescerScope::kBeat;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W1")) << "a beat is a line here";
  config.coalescer.scope = CoalescerScope::kIssue;
  config.coalescer.width_threads = 8;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0", "W1", "W1"));
}

// All threads at one word: a request of the whole warp, or one of each beat.
TEST(CoalescerScope, BeatsDoNotShareRequests) {
  Issue warp;
  warp.add(at_home(0), [](unsigned, unsigned) { return 0; });
  Config config = lanes(8);
  EXPECT_THAT(requests(config, warp), ElementsAre("W0"));
  config.coalescer.scope = CoalescerScope::kBeat;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0", "W0", "W0"));
  config.memory_width = 16;  // a beat of the load-store unit is two rows
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
  config.coalescer.scope = CoalescerScope::kIssue;
  config.coalescer.width_threads = 16;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
}

// Threads 0-7 of one chunk and 24-31 of another share row 0 of a regrouped warp, and a line.
TEST(CoalescerScope, ARowOfSeveralChunksIsOneBeat) {
  const auto one_line = [](unsigned chunk, unsigned position) { return 32 * chunk + 4 * (position % 8); };
  Issue warp;
  warp.add(in_row(0, 0, 0x000000ffu), one_line);
  warp.add(in_row(1, 0, 0xff000000u), one_line);
  Config config = lanes(16);
  config.coalescer.scope = CoalescerScope::kBeat;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0"));
  warp.groups[1].row = 1;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
  config.coalescer.scope = CoalescerScope::kIssue;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0"));
  config.coalescer.width_threads = 16;
  EXPECT_THAT(requests(config, warp), ElementsAre("W0", "W0"));
}

// Each thread of each beat returns once, and a beat's store carries its own bytes.
TEST(CoalescerScope, EveryThreadIsServed) {
  Config config = lanes(8);
  config.coalescer.scope = CoalescerScope::kBeat;
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
  Config config = lanes(8);
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
  const Config config = lanes(8);
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

std::vector<std::uint32_t> bank_cycles(const Config& config, const Issue& issue, bool atomic = false) {
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

// --- loads that miss ---

TEST(MergeLoads, OneFetchOrOneEach) {
  for (const bool merge : {true, false}) {
    Config config = lanes(16);
    config.l1d.merge_loads = merge;
    Bench bench(config);
    bench.accept(1, ptx::Opcode::kLd, 7);
    bench.accept(2, ptx::Opcode::kLd, 7);
    bench.run(6);
    if (merge) {
      EXPECT_THAT(bench.lines(), ElementsAre("R7"));
      bench.answer(0);
    } else {
      EXPECT_THAT(bench.lines(), ElementsAre("R7", "R7"));
      bench.answer(1);
      bench.run(2);
      EXPECT_THAT(bench.finished, ElementsAre(2)) << "its own fetch came first";
      bench.accept(3, ptx::Opcode::kLd, 7);  // a hit by now
      bench.run(1 + config.l1d.latency);
      EXPECT_THAT(bench.finished, ElementsAre(2, 3));
      bench.answer(0);
    }
    bench.run(3);
    EXPECT_EQ(bench.returned[1], 1u);
    EXPECT_EQ(bench.returned[2], 1u);
    EXPECT_THAT(bench.lines(), ElementsAre());
    EXPECT_TRUE(bench.unit.idle());
  }
}

TEST(MergeLoads, EachFetchHasAnMshr) {
  Config config = lanes(16);
  config.l1d.merge_loads = false;
  config.l1d.mshrs.entries = 2;
  Bench bench(config);
  for (std::uint16_t id = 0; id < 3; ++id) bench.accept(id, ptx::Opcode::kLd, 7);
  bench.run(10);
  EXPECT_THAT(bench.lines(), ElementsAre("R7", "R7"));
  bench.answer(0);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre()) << "the line is there now";
  bench.answer(1);
  bench.run(3);
  EXPECT_EQ(bench.finished.size(), 3u);
  statistics::Group group;
  bench.unit.bind(group);
  EXPECT_EQ(group.sample().at("l1d").at("mshr").at("most_in_use"), 2);
  EXPECT_EQ(group.sample().at("l1d").at("mshr").at("no_entry"), 1);
}

// --- when the tags are looked up ---

Config looked_up(Lookup lookup) {
  Config config = lanes(16);
  config.l1d.latency = 10;
  config.l1d.lookup = lookup;
  return config;
}

// Cycles from now until `done`.
template <class Done>
Cycle cycles_until(Bench& bench, Done&& done) {
  const Cycle start = bench.now;
  while (!done() && bench.now < start + 1000) bench.run(1);
  return bench.now - start;
}

TEST(LookupLast, AHitIsAsBeforeAndAMissPaysTheLatency) {
  Cycle hit[2] = {}, miss[2] = {}, store[2] = {};
  for (const Lookup lookup : {Lookup::kFirst, Lookup::kLast}) {
    const auto i = static_cast<std::size_t>(lookup);
    Bench bench(looked_up(lookup));
    bench.accept(1, ptx::Opcode::kLd, 7);
    miss[i] = cycles_until(bench, [&] { return bench.sent.size() == 1; });
    bench.answer(0);
    bench.run(3);
    EXPECT_THAT(bench.finished, ElementsAre(1));
    bench.accept(2, ptx::Opcode::kLd, 7);
    hit[i] = cycles_until(bench, [&] { return bench.finished.size() == 2; });
    bench.accept(3, ptx::Opcode::kSt, 6);
    store[i] = cycles_until(bench, [&] { return bench.sent.size() == 2; });
    EXPECT_THAT(bench.lines(), ElementsAre("R7", "W6"));
    bench.answer(1);
    bench.run(1);
    EXPECT_THAT(bench.finished, ElementsAre(1, 2, 3));
    EXPECT_TRUE(bench.unit.idle());
  }
  EXPECT_EQ(hit[0], hit[1]);
  EXPECT_EQ(miss[1] - miss[0], 10u - 1);
  EXPECT_EQ(store[1] - store[0], 10u - 1);
}

// One request enters and one leaves per cycle; requests that do not go through the data cache pass by.
TEST(LookupLast, StagesAreAPipelineOfTheDataCacheOnly) {
  Bench bench(looked_up(Lookup::kLast));
  Issue spread;
  spread.add(at_home(0), [&](unsigned, unsigned p) { return std::uint64_t{64} * (p % 4); });
  bench.accept(1, ptx::Opcode::kLd, spread);
  bench.accept(2, ptx::Opcode::kAtom, 9);
  bench.run(6);
  EXPECT_THAT(bench.lines(), ElementsAre("A9")) << "behind four loads, which are still in the stages";
  const Cycle first = cycles_until(bench, [&] { return bench.sent.size() == 2; });
  const Cycle last = cycles_until(bench, [&] { return bench.sent.size() == 5; });
  EXPECT_GT(first, 0u);
  EXPECT_EQ(last, 3u);
  EXPECT_THAT(bench.lines(), ElementsAre("R0", "R1", "R2", "R3"));
}

// What is refused at the end holds up those behind it, and no request is lost.
TEST(LookupLast, ARefusedRequestHoldsUpThoseBehindIt) {
  Config config = looked_up(Lookup::kLast);
  config.l1d.mshrs.entries = 1;
  config.memory_queue = 64;
  Bench bench(config);
  for (std::uint16_t id = 0; id < 20; ++id) bench.accept(id, ptx::Opcode::kLd, id);
  bench.accept(20, ptx::Opcode::kSt, 0);
  bench.run(100);
  EXPECT_THAT(bench.lines(), ElementsAre("R0"));
  EXPECT_EQ(bench.unit.hold(bench.now), LoadStoreUnit::Hold::kPort) << "there are places in the queue";
  for (std::size_t id = 0; id < 20; ++id) {
    ASSERT_EQ(bench.sent.size(), id == 19 ? 21u : id + 1) << "the store needs no MSHR";
    bench.answer(id);
    bench.run(2);
  }
  EXPECT_EQ(bench.sent.back().command, tlm::TLM_WRITE_COMMAND);
  bench.answer(20);
  bench.run(3);
  EXPECT_EQ(bench.finished.size(), 21u);
  EXPECT_TRUE(bench.unit.idle());
  statistics::Group group;
  bench.unit.bind(group);
  EXPECT_EQ(group.sample().at("l1d").at("mshr").at("no_entry"), 19);
  EXPECT_EQ(group.sample().at("request_cycles"), 21);
}

// Asleep until the next event, the unit does the same.
TEST(LookupLast, NextEventMissesNothing) {
  Bench bench(looked_up(Lookup::kLast));
  for (std::uint16_t id = 0; id < 4; ++id) bench.accept(id, ptx::Opcode::kLd, id);
  std::vector<Cycle> leaves;
  for (Cycle now = 2; now < 40;) {
    bench.now = now;
    bench.unit.events(now);
    bench.unit.step(now);
    while (!bench.unit.outgoing().empty()) {
      leaves.push_back(now);
      bench.unit.outgoing().take();
      bench.unit.sent();
    }
    now = bench.unit.next_event(now);
  }
  EXPECT_THAT(leaves, ElementsAre(11, 12, 13, 14));
}

// --- written back ---

Config written_back(bool kept = false) {
  Config config = lanes(16);
  config.l1d.write_policy = WritePolicy::kBack;
  config.l1d.kept = kept;
  return config;
}

TEST(WriteBack, AStoreThatHitsStays) {
  Bench bench(written_back());
  statistics::Group group;
  bench.unit.bind(group);
  bench.accept(0, ptx::Opcode::kSt, 3);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("W3")) << "a miss is sent, without allocation";
  bench.fetch(3);
  for (std::uint16_t id = 1; id < 5; ++id) {
    bench.accept(id, ptx::Opcode::kSt, 3);
    bench.run(3);
  }
  EXPECT_THAT(bench.lines(), ElementsAre());
  EXPECT_EQ(group.sample().at("stores_absorbed"), 4);
  // Line 7 takes its way: first the old line, whole.
  bench.accept(5, ptx::Opcode::kLd, 7);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("W3", "R7"));
  EXPECT_EQ(bench.sent[bench.sent.size() - 2].bytes, 64u);
  EXPECT_EQ(group.sample().at("write_backs"), 1);
  EXPECT_EQ(group.sample().at("write_requests"), 2);
  EXPECT_EQ(group.sample().at("data_requests"), 4);
  EXPECT_EQ(group.sample().at("l1d").at("dirty_evictions"), 1);
}

TEST(WriteBack, AStoreToALineOnItsWayStaysToo) {
  Bench bench(written_back());
  bench.accept(0, ptx::Opcode::kLd, 3);
  bench.accept(1, ptx::Opcode::kSt, 3);
  bench.run(5);
  EXPECT_THAT(bench.lines(), ElementsAre("R3"));
  EXPECT_FALSE(bench.unit.has_to_flush()) << "it is not there yet";
  bench.answer(0);
  bench.run(2);
  EXPECT_TRUE(bench.unit.has_to_flush());
  bench.accept(2, ptx::Opcode::kLd, 7);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("W3", "R7"));
}

TEST(WriteBack, WaitsForRoomForBoth) {
  Config config = written_back();
  config.miss_queue = 2;
  Bench bench(config);
  bench.fetch(3);
  bench.accept(0, ptx::Opcode::kSt, 3);
  bench.run(3);
  bench.unit.outgoing().fetch({tlm::TLM_READ_COMMAND, AccessKind::kInstruction, 0, 64});  // stands there
  bench.accept(1, ptx::Opcode::kLd, 7);
  ++bench.now;
  bench.unit.step(bench.now);
  EXPECT_EQ(bench.unit.outgoing().size(), 1u);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("R0", "W3", "R7"));
}

TEST(WriteBack, AtomicsAndLoadsPastTheCacheFindItWritten) {
  Bench bench(written_back());
  bench.fetch(3);
  bench.accept(0, ptx::Opcode::kSt, 3);
  bench.run(3);
  ptx::Instruction copy = instruction(ptx::Opcode::kCopyAsync);
  copy.mode = ptx::Mode::kPastL1;
  Issue issue;
  issue.add(at_home(0, 1), [](unsigned, unsigned) { return 3 * 64; });
  bench.unit.accept(1, copy, issue.groups.data(), issue.accesses.data(), 1, true, bench.at_once());
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("W3", "R3"));
  EXPECT_FALSE(bench.unit.has_to_flush());
  bench.accept(2, ptx::Opcode::kSt, 3);
  bench.accept(3, ptx::Opcode::kAtom, 3);
  bench.run(5);
  EXPECT_THAT(bench.lines(), ElementsAre("W3", "A3"));
  bench.accept(4, ptx::Opcode::kLd, 3);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("R3")) << "the atomic's line is gone";
}

// An SM that has a block keeps its dirty lines; at rest it writes one a cycle, and is not idle before.
TEST(WriteBack, TheEndOfAKernelWritesWhatIsDirty) {
  Bench bench(written_back());
  for (const unsigned line : {0u, 1u, 2u}) {
    bench.fetch(line);
    if (line != 1) bench.accept(static_cast<std::uint16_t>(line), ptx::Opcode::kSt, line);
    bench.run(3);
  }
  EXPECT_THAT(bench.lines(), ElementsAre());
  EXPECT_FALSE(bench.unit.idle());
  bench.resting = true;
  bench.run(1);
  EXPECT_THAT(bench.lines(), ElementsAre("W0"));
  EXPECT_EQ(bench.unit.next_event(bench.now), bench.now + 1);
  bench.run(5);
  EXPECT_THAT(bench.lines(), ElementsAre("W2"));
  EXPECT_FALSE(bench.unit.idle()) << "not answered";
  bench.answer(bench.sent.size() - 1);
  bench.answer(bench.sent.size() - 2);
  EXPECT_TRUE(bench.unit.idle());
  bench.accept(7, ptx::Opcode::kLd, 2);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre()) << "the lines stay until the next kernel";
}

TEST(KeptCache, TheNextKernelFindsItsLines) {
  for (const bool kept : {false, true}) {
    Bench bench(written_back(kept));
    bench.fetch(3);
    if (kept) {
      bench.accept(0, ptx::Opcode::kSt, 3);
      bench.run(3);
      bench.resting = true;
      bench.run(3);
      EXPECT_TRUE(bench.unit.idle()) << "what is dirty stays";
    }
    bench.unit.start_kernel(0);
    bench.accept(1, ptx::Opcode::kLd, 3);
    bench.run(3);
    if (kept) {
      EXPECT_THAT(bench.lines(), ElementsAre());
      bench.accept(2, ptx::Opcode::kLd, 7);
      bench.run(3);
      EXPECT_THAT(bench.lines(), ElementsAre("W3", "R7")) << "and is written when it has to make room";
    } else {
      EXPECT_THAT(bench.lines(), ElementsAre("R3"));
    }
  }
}

// --- reset ---

// Random loads, stores and atomics; memory answers in order, after random times. Everything that happens.
std::string play(Bench& bench, std::uint32_t seed, unsigned cycles) {
  std::mt19937 random(seed);
  std::string log;
  bench.sent.clear();
  bench.finished.clear();
  bench.returned.clear();
  bench.told = 0;
  std::size_t answered = 0, told = 0;
  const Cycle begin = bench.now;
  for (unsigned cycle = 0; cycle < cycles; ++cycle) {
    bench.resting = random() % 4 == 0;
    if (random() % 2 == 0 && bench.unit.can_accept()) {
      Issue issue;
      const std::uint64_t place = random() % 12 * 64;
      const std::uint64_t stride = 4 * (1u << random() % 5);
      for (std::uint16_t g = 0; g < 2; ++g) {
        issue.add(in_row(g, static_cast<std::uint8_t>(random() % 2), 0xff00ffu),
                  [&](unsigned, unsigned position) { return place + stride * position; });
      }
      constexpr ptx::Opcode kOpcodes[] = {ptx::Opcode::kLd, ptx::Opcode::kSt, ptx::Opcode::kAtom};
      bench.accept(static_cast<std::uint16_t>(cycle), kOpcodes[random() % 3], issue);
    }
    bench.run(1);
    while (answered < bench.sent.size() && random() % 3 == 0) bench.answer(answered++);
    for (const std::string& name : bench.lines())
      log += std::to_string(bench.now - begin) + " " + name + "\n";
    for (; told < bench.finished.size(); ++told)
      log += std::to_string(bench.now - begin) + " done " + std::to_string(bench.finished[told]) + "\n";
  }
  return log;
}

TEST(Reset, LoadStoreUnitFromAnyCycle) {
  for (const bool merge : {true, false}) {
    Config config = written_back(!merge);
    config.l1d.merge_loads = merge;
    config.coalescer.scope = merge ? CoalescerScope::kBeat : CoalescerScope::kIssue;
    Bench fresh(config), used(config);
    const std::string expected = play(fresh, 1, 400);
    ASSERT_GT(std::count(expected.begin(), expected.end(), '\n'), 100);
    for (std::uint32_t seed = 2; seed < 40; ++seed) {
      play(used, seed, seed * 7);
      used.unit.reset();
      ASSERT_EQ(play(used, 1, 400), expected) << seed;
      used.unit.reset();
    }
  }
}

// 10,000 random loads and stores, one after the other: what leaves the SM is what a list per set says.
TEST(DataCache, DoesWhatAListPerSetSays) {
  using Store = test::ReferenceCache::Store;
  for (const auto replacement : {cache::Replacement::kLru, cache::Replacement::kFifo}) {
    for (const Store store : {Store::kThrough, Store::kInvalidate, Store::kBack}) {
      test::ReferenceCache::Rules rules;
      rules.replacement = replacement;
      rules.store = store;
      test::ReferenceCache expected(rules);
      Config config = lanes(32);
      config.l1d.tags.sets = rules.sets;
      config.l1d.tags.ways = rules.ways;
      config.l1d.tags.replacement = replacement;
      config.l1d.write_hit = store == Store::kInvalidate ? WriteHit::kInvalidate : WriteHit::kUpdate;
      config.l1d.write_policy = store == Store::kBack ? WritePolicy::kBack : WritePolicy::kThrough;
      Bench bench(config);
      std::mt19937 random(1);
      for (unsigned i = 0; i < 10'000; ++i) {
        const std::uint64_t line = random() % (2 * rules.sets * rules.ways);
        const bool loads = random() % 3 != 0;
        bench.accept(0, loads ? ptx::Opcode::kLd : ptx::Opcode::kSt, line);
        bench.run(3);
        const std::vector<std::string> left = bench.lines();
        ASSERT_EQ(left, loads ? expected.load(line) : expected.store(line, false)) << "access " << i;
        if (!loads || left.empty()) continue;
        bench.answer(bench.sent.size() - 1);
        bench.run(3);
      }
      EXPECT_GT(expected.hits(), 1000u);
    }
  }
}

// What is written while the line is fetched is newer than what is read; what others may have changed does not
// stay.
TEST(SystemLines, AreChangedByTheGpuAndDroppedForOthers) {
  cache::TagConfig config;
  config.sets = 2;
  config.ways = 1;
  config.line_bytes = 16;
  cache::TagArray tags(config);
  SystemLines lines(tags, 2, true);
  unsigned char data[4] = {1, 2, 3, 4}, enables[4] = {0xff, 0, 0xff, 0xff};
  tlm::tlm_generic_payload write;
  write.set_write();
  write.set_data_ptr(data);
  write.set_data_length(4);
  write.set_byte_enable_ptr(enables);
  write.set_byte_enable_length(4);
  const std::vector<std::uint8_t> read(16, 9);
  for (const cache::Line line : {10, 11}) {
    tags.reserve(line);
    lines.reserve(line);
  }
  lines.update(10 * 16 + 14, write);  // two bytes in each of the lines
  lines.fill(10, read.data());
  tags.fill(10);
  EXPECT_EQ(lines.bytes(10)[13], 9);
  EXPECT_EQ(lines.bytes(10)[14], 1);
  EXPECT_EQ(lines.bytes(10)[15], 9) << "not enabled";
  lines.fill(11, read.data());
  EXPECT_EQ(lines.bytes(11)[0], 3);
  EXPECT_EQ(lines.bytes(11)[1], 4);
  EXPECT_EQ(lines.bytes(11)[2], 9);
  lines.update(10 * 16, write);  // the line is there
  EXPECT_EQ(lines.bytes(10)[0], 1);
  EXPECT_EQ(lines.bytes(10)[1], 9);
  EXPECT_FALSE(lines.is_void(11));
  lines.drop_all();
  EXPECT_EQ(tags.find(10), cache::LineState::kInvalid);
  EXPECT_EQ(tags.find(11), cache::LineState::kReserved);
  EXPECT_TRUE(lines.is_void(11));
}

}  // namespace
}  // namespace weft::sm::load_store_unit_test
