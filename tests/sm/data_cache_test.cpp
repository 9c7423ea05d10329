// The data cache of an SM behind its load-store unit: ways of loads and stores, fetches, write-backs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cache/reference_cache.h"
#include "sm/load_store_bench.h"
#include "sm/system_lines.h"

namespace weft::sm::data_cache_test {
namespace {

using load_store_bench::at_home;
using load_store_bench::Bench;
using load_store_bench::in_row;
using load_store_bench::instruction;
using load_store_bench::Issue;
using load_store_bench::lanes;
using ::testing::ElementsAre;

// --- loads that miss ---

TEST(MergeLoads, OneFetchOrOneEach) {
  for (const bool merge : {true, false}) {
    machine::SmConfig config = lanes(16);
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
  machine::SmConfig config = lanes(16);
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

machine::SmConfig looked_up(machine::Lookup lookup) {
  machine::SmConfig config = lanes(16);
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
  for (const machine::Lookup lookup : {machine::Lookup::kFirst, machine::Lookup::kLast}) {
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
  Bench bench(looked_up(machine::Lookup::kLast));
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
  machine::SmConfig config = looked_up(machine::Lookup::kLast);
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
  Bench bench(looked_up(machine::Lookup::kLast));
  for (std::uint16_t id = 0; id < 4; ++id) bench.accept(id, ptx::Opcode::kLd, id);
  std::vector<Cycle> leaves;
  for (Cycle now = 2; now < 40;) {
    bench.now = now;
    bench.unit.events(now);
    bench.unit.step(now);
    while (!bench.unit.outgoing().empty()) {
      leaves.push_back(now);
      bench.unit.outgoing().take();
      bench.unit.try_again();
    }
    now = bench.unit.next_event(now);
  }
  EXPECT_THAT(leaves, ElementsAre(11, 12, 13, 14));
}

// --- written back ---

machine::SmConfig written_back(bool kept = false) {
  machine::SmConfig config = lanes(16);
  config.l1d.write_policy = machine::WritePolicy::kBack;
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
  EXPECT_FALSE(bench.unit.data_cache().has_to_flush()) << "it is not there yet";
  bench.answer(0);
  bench.run(2);
  EXPECT_TRUE(bench.unit.data_cache().has_to_flush());
  bench.accept(2, ptx::Opcode::kLd, 7);
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("W3", "R7"));
}

TEST(WriteBack, WaitsForRoomForBoth) {
  machine::SmConfig config = written_back();
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
  EXPECT_FALSE(bench.unit.data_cache().has_to_flush());
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
    machine::SmConfig config = written_back(!merge);
    config.l1d.merge_loads = merge;
    config.coalescer.scope = merge ? machine::CoalescerScope::kBeat : machine::CoalescerScope::kIssue;
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

struct CacheCase {
  std::string replacement;
  test::ReferenceCache::Store store;
  std::uint64_t sectors;
  cache::WriteMiss write_miss;
};
class DataCacheAsLists : public ::testing::TestWithParam<CacheCase> {};

// 10,000 random loads and stores, one after the other: what leaves the SM is what a list per set says.
TEST_P(DataCacheAsLists, FetchesAndWrites) {
  using Store = test::ReferenceCache::Store;
  const CacheCase& wanted = GetParam();
  test::ReferenceCache::Rules rules;
  rules.sectors = wanted.sectors;
  rules.replacement = wanted.replacement;
  rules.store = wanted.store;
  rules.allocates = wanted.write_miss != cache::WriteMiss::kAround;
  rules.fetches_parts = wanted.write_miss == cache::WriteMiss::kFetch;
  test::ReferenceCache expected(rules);
  machine::SmConfig config = lanes(32);
  config.l1d.tags.sets = rules.sets;
  config.l1d.tags.ways = rules.ways;
  config.l1d.tags.replacement.name = wanted.replacement;
  config.l1d.sector_bytes = wanted.sectors == 1 ? 0 : config.l1d.tags.line_bytes / wanted.sectors;
  config.l1d.write_miss = wanted.write_miss;
  config.l1d.write_hit =
      wanted.store == Store::kInvalidate ? machine::WriteHit::kInvalidate : machine::WriteHit::kUpdate;
  config.l1d.write_policy =
      wanted.store == Store::kBack ? machine::WritePolicy::kBack : machine::WritePolicy::kThrough;
  const std::uint64_t bytes = config.coalescer.block_bytes = config.l1d.unit_bytes();
  config.check("");
  Bench bench(config);
  std::mt19937 random(1);
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::uint64_t sector = random() % (2 * rules.sets * rules.ways * rules.sectors);
    const bool loads = random() % 3 != 0, whole = random() % 2 == 0;
    Issue issue;
    issue.add(at_home(0, whole ? (1u << bytes / 4) - 1 : 1),
              [&](unsigned, unsigned position) { return sector * bytes + std::uint64_t{4} * position; });
    const std::size_t before = bench.sent.size();
    bench.accept(0, loads ? ptx::Opcode::kLd : ptx::Opcode::kSt, issue);
    bench.run(3);
    std::vector<std::string> left;
    const std::size_t after = bench.sent.size();
    for (std::size_t s = before; s < after; ++s) {
      const OutgoingRequest& request = bench.sent[s];
      const bool writes = request.command == tlm::TLM_WRITE_COMMAND;
      const std::string run = request.bytes <= bytes ? "" : "x" + std::to_string(request.bytes / bytes);
      left.push_back((writes ? "W" : "R") + std::to_string(request.address / bytes) + run);
      bench.answer(s);
    }
    bench.run(3);
    ASSERT_EQ(left, loads ? expected.load(sector) : expected.store(sector, whole)) << "access " << i;
    ASSERT_TRUE(bench.unit.idle() || wanted.store == Store::kBack);
  }
  EXPECT_GT(expected.hits(), 1000u);
}

std::vector<CacheCase> cache_cases() {
  using Store = test::ReferenceCache::Store;
  using cache::WriteMiss;
  std::vector<CacheCase> cases;
  for (const char* replacement : {"lru", "fifo"}) {
    for (const Store store : {Store::kThrough, Store::kInvalidate, Store::kBack}) {
      for (const std::uint64_t sectors : {1, 4}) {
        for (const WriteMiss miss : {WriteMiss::kAround, WriteMiss::kFetch, WriteMiss::kNoFetch})
          cases.push_back({replacement, store, sectors, miss});
      }
    }
  }
  return cases;
}

std::string name_of_case(const ::testing::TestParamInfo<CacheCase>& info) {
  constexpr const char* kStores[] = {"Through", "Invalidate", "Back"};
  constexpr const char* kMisses[] = {"Fetch", "NoFetch", "Around"};
  return info.param.replacement + kStores[static_cast<unsigned>(info.param.store)] +
         std::to_string(info.param.sectors) + kMisses[static_cast<unsigned>(info.param.write_miss)];
}

INSTANTIATE_TEST_SUITE_P(Rules, DataCacheAsLists, ::testing::ValuesIn(cache_cases()), name_of_case);

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
}  // namespace weft::sm::data_cache_test
