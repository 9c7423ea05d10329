// When the data cache takes lines, what it remembers of stores, and which written lines make room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "sm/load_store_bench.h"
#include "weft/common/error.h"

namespace weft::sm::data_cache_policies_test {
namespace {

using cache::WriteMiss;
using load_store_bench::at_home;
using load_store_bench::Bench;
using load_store_bench::Issue;
using load_store_bench::lanes;
using machine::Allocation;
using machine::WritePolicy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- when a miss takes a line ---

// One set of one line.
machine::SmConfig one_line(Allocation allocation) {
  machine::SmConfig config = lanes(16);
  config.l1d.tags.sets = 1;
  config.l1d.allocation = allocation;
  config.memory_queue = 64;
  config.miss_queue = 256;
  config.check("");
  return config;
}

TEST(LineAllocation, OnMissWaitsForTheLineOnFillDoesNot) {
  for (const Allocation allocation : {Allocation::kOnMiss, Allocation::kOnFill, Allocation::kStreaming}) {
    const bool on_miss = allocation == Allocation::kOnMiss;
    Bench bench(one_line(allocation));
    bench.fetch(1);
    bench.accept(2, ptx::Opcode::kLd, 2);
    bench.run(3);
    bench.accept(3, ptx::Opcode::kLd, 3);
    bench.run(3);
    if (on_miss) {
      EXPECT_THAT(bench.lines(), ElementsAre("R2")) << "the only line is taken";
      bench.answer(1);
      bench.run(3);
      EXPECT_THAT(bench.lines(), ElementsAre("R3"));
      bench.answer(2);
    } else {
      EXPECT_THAT(bench.lines(), ElementsAre("R2", "R3"));
      bench.finished.clear();
      bench.accept(4, ptx::Opcode::kLd, 1);
      bench.run(3);
      EXPECT_THAT(bench.lines(), ElementsAre()) << "line 1 is there until other data come";
      EXPECT_THAT(bench.finished, ElementsAre(4));
      bench.accept(5, ptx::Opcode::kLd, 3);
      bench.run(3);
      EXPECT_THAT(bench.lines(), ElementsAre()) << "waits for the fetch of line 3";
      bench.answer(2);
      bench.answer(1);  // last: it stays
      bench.run(3);
      EXPECT_THAT(bench.finished, ElementsAre(4, 3, 5, 2));
      bench.accept(6, ptx::Opcode::kLd, 2);
      bench.run(3);
      EXPECT_THAT(bench.lines(), ElementsAre());
    }
    bench.run(3);
    EXPECT_TRUE(bench.unit.idle());
  }
}

TEST(LineAllocation, StreamingHasMoreMissesUnderWayThanMshrsOrSectors) {
  for (const Allocation allocation : {Allocation::kOnFill, Allocation::kStreaming}) {
    machine::SmConfig config = one_line(allocation);
    config.l1d.sector_bytes = config.coalescer.block_bytes = 32;
    config.l1d.mshrs = {2, 2};
    Bench bench(config);
    for (std::uint16_t id = 0; id < 20; ++id) bench.accept(id, ptx::Opcode::kLd, id);
    bench.run(60);
    // Two sectors, four MSHRs each.
    EXPECT_EQ(bench.sent.size(), allocation == Allocation::kOnFill ? 2u : 8u);
  }
}

TEST(LineAllocation, CountsALoadThatWaitsForAnotherOnesFetchAsPending) {
  Bench bench(one_line(Allocation::kOnFill));
  statistics::Group group;
  bench.unit.bind(group);
  bench.accept(1, ptx::Opcode::kLd, 5);
  bench.accept(2, ptx::Opcode::kLd, 5);
  bench.run(4);
  bench.answer(0);
  bench.run(3);
  bench.accept(3, ptx::Opcode::kLd, 5);
  bench.run(4);
  const auto counted = group.sample().at("l1d");
  EXPECT_EQ(counted.at("misses"), 1);
  EXPECT_EQ(counted.at("pending_hits"), 1);
  EXPECT_EQ(counted.at("hits"), 1);
}

// --- bytes that stores have written ---

// Stores or loads so many bytes of one thread.
void access(Bench& bench, std::uint16_t id, ptx::Opcode op, std::uint64_t address, std::uint32_t bytes) {
  Issue issue;
  issue.add(at_home(0, 1), [&](unsigned, unsigned) { return address; }, ptx::Space::kGlobal, bytes);
  bench.accept(id, op, issue);
  bench.run(3);
}

machine::SmConfig lazy(WritePolicy policy = WritePolicy::kThrough) {
  machine::SmConfig config = lanes(16);
  config.coalescer.block_bytes = config.l1d.sector_bytes = 32;
  config.l1d.write_policy = policy;
  config.l1d.write_miss = WriteMiss::kLazyFetch;
  config.check("");
  return config;
}

TEST(LazyFetch, AReadFetchesWhatStoresHaveNotWrittenAsAWhole) {
  Bench bench(lazy());
  statistics::Group group;
  bench.unit.bind(group);
  access(bench, 1, ptx::Opcode::kSt, 64, 16);
  EXPECT_THAT(bench.lines(), ElementsAre("W1"));
  access(bench, 2, ptx::Opcode::kLd, 64, 4);
  EXPECT_THAT(bench.lines(), ElementsAre("R1")) << "half of the sector is written";
  bench.answer(1);
  bench.run(3);
  access(bench, 3, ptx::Opcode::kLd, 92, 4);
  EXPECT_THAT(bench.lines(), ElementsAre());

  access(bench, 4, ptx::Opcode::kSt, 96, 16);  // the other sector of the line
  access(bench, 5, ptx::Opcode::kSt, 112, 16);
  EXPECT_THAT(bench.lines(), ElementsAre("W1", "W1"));
  access(bench, 6, ptx::Opcode::kLd, 124, 4);
  EXPECT_THAT(bench.lines(), ElementsAre()) << "all of it is written";
  EXPECT_EQ(group.sample().at("lazy_fetches"), 1);
  EXPECT_EQ(group.sample().at("stores_allocated"), 2);
  EXPECT_EQ(group.sample().at("store_hits"), 1);
}

// Bytes between the first and the last one that a store writes are not written.
TEST(LazyFetch, KnowsEachByte) {
  Bench bench(lazy());
  Issue odd, even;
  odd.add(at_home(0, 0xff), [](unsigned, unsigned p) { return p == 7 ? 28 : p % 2 * 4 + p / 2 * 8; });
  bench.accept(1, ptx::Opcode::kSt, odd);  // words 0 to 7, of which 7 twice
  bench.run(3);
  even.add(at_home(0, 0xf), [](unsigned, unsigned p) { return 128 + p * 8 + (p == 3 ? 4 : 0); });
  bench.accept(2, ptx::Opcode::kSt, even);  // words 0, 2, 4 and 7 of sector 4
  bench.run(3);
  EXPECT_THAT(bench.lines(), ElementsAre("W0", "W2"));
  access(bench, 3, ptx::Opcode::kLd, 0, 4);
  EXPECT_THAT(bench.lines(), ElementsAre());
  access(bench, 4, ptx::Opcode::kLd, 128, 4);
  EXPECT_THAT(bench.lines(), ElementsAre("R2"));
}

TEST(LazyFetch, WrittenBackASectorLeavesOnceAndAtomicsDropIt) {
  Bench bench(lazy(WritePolicy::kBack));
  access(bench, 1, ptx::Opcode::kSt, 0, 4);
  EXPECT_THAT(bench.lines(), ElementsAre());
  EXPECT_TRUE(bench.unit.data_cache().has_to_flush());
  access(bench, 2, ptx::Opcode::kLd, 0, 4);
  EXPECT_THAT(bench.lines(), ElementsAre("R0"));
  EXPECT_FALSE(bench.unit.data_cache().has_to_flush()) << "while it is fetched";
  bench.answer(0);
  bench.run(3);
  EXPECT_TRUE(bench.unit.data_cache().has_to_flush());
  access(bench, 3, ptx::Opcode::kSt, 32, 4);  // a part of the other sector
  access(bench, 4, ptx::Opcode::kAtom, 32, 4);
  EXPECT_THAT(bench.lines(), ElementsAre("W0", "A0"));
  access(bench, 5, ptx::Opcode::kLd, 256, 4);  // takes the line's way
  EXPECT_THAT(bench.lines(), ElementsAre("W0", "R4"));
  EXPECT_EQ(bench.sent[bench.sent.size() - 2].bytes, 32u) << "the sector of the atomic is clean";
  EXPECT_FALSE(bench.unit.data_cache().has_to_flush());
}

// --- written lines make no room ---

TEST(WriteRatio, WrittenLinesStayUntilEnoughAreWritten) {
  machine::SmConfig config = lanes(16);
  config.l1d.tags.sets = 1;
  config.l1d.tags.ways = 8;
  config.l1d.write_ratio = 25;
  config.l1d.write_hit = machine::WriteHit::kUpdate;
  Bench bench(config);
  const auto is_there = [&](std::uint64_t line) {
    return bench.unit.data_cache().level().tags().lines().find(line) == cache::LineState::kValid;
  };
  for (std::uint64_t line = 0; line < 8; ++line) bench.fetch(line);
  bench.accept(1, ptx::Opcode::kSt, 0);
  bench.run(3);
  bench.fetch(8);
  bench.fetch(9);
  EXPECT_TRUE(is_there(0)) << "least recently used of all but the written one were 1 and 2";
  EXPECT_FALSE(is_there(1));
  EXPECT_FALSE(is_there(2));
  bench.accept(2, ptx::Opcode::kSt, 3);
  bench.run(3);  // two of eight are 25 percent
  for (std::uint64_t line = 4; line < 8; ++line) bench.fetch(line);
  bench.fetch(10);
  EXPECT_FALSE(is_there(0)) << "now it goes";
}

// --- everything at once, against lists ---

struct Case {
  Allocation allocation;
  WritePolicy policy;
  WriteMiss miss;
  std::uint64_t sectors, ratio;
};
class PoliciesAsLists : public ::testing::TestWithParam<Case> {};

// What a cache does with one access after the other: a list of lines per set, the least recently used one
// first, and a byte mask per sector.
class Lists {
 public:
  Lists(const Case& wanted, std::uint64_t sets, std::uint64_t ways, std::uint64_t bytes)
      : case_(wanted), ways_(ways), bytes_(bytes), sets_(sets) {}

  std::vector<std::string> load(std::uint64_t sector) {
    left_.clear();
    Line* line = find(sector);
    const bool hits = line != nullptr && line->valid(sector % case_.sectors, bytes_);
    line = use(sector, line);
    if (hits) return left_;
    left_.push_back("R" + std::to_string(sector));
    line->mask[sector % case_.sectors] = all(bytes_);
    return left_;
  }
  std::vector<std::string> store(std::uint64_t sector, std::uint64_t mask) {
    left_.clear();
    const bool back = case_.policy == WritePolicy::kBack;
    const std::string through = "W" + std::to_string(sector);
    Line* line = find(sector);
    const std::uint64_t i = sector % case_.sectors;
    const bool lazy = case_.miss == WriteMiss::kLazyFetch;
    const bool there = line != nullptr && (lazy ? line->mask[i] != 0 : line->valid(i, bytes_));
    if (!there && case_.miss == WriteMiss::kAround) return {through};
    line = use(sector, line);
    if (!there && case_.miss == WriteMiss::kFetch && !covers(mask))
      left_.push_back("R" + std::to_string(sector));
    line->mask[i] = lazy ? line->mask[i] | mask : all(bytes_);
    line->written = true;
    if (back) {
      line->dirty |= 1u << i;
    } else {
      left_.push_back(through);
    }
    return left_;
  }

 private:
  struct Line {
    std::uint64_t number = 0;
    std::vector<std::uint64_t> mask;  // of each sector: the bytes that are there
    std::uint32_t dirty = 0;
    bool written = false;
    bool valid(std::uint64_t sector, std::uint64_t bytes) const { return mask[sector] == all(bytes); }
  };
  static std::uint64_t all(std::uint64_t bytes) { return ~std::uint64_t{0} >> (64 - bytes); }
  // From the first to the last byte that is written.
  bool covers(std::uint64_t mask) const { return (mask & 1) != 0 && (mask >> (bytes_ - 1) & 1) != 0; }

  Line* find(std::uint64_t sector) {
    std::list<Line>& set = sets_[sector / case_.sectors % sets_.size()];
    const auto found = std::find_if(set.begin(), set.end(),
                                    [&](const Line& line) { return line.number == sector / case_.sectors; });
    return found == set.end() ? nullptr : &*found;
  }
  // The most recently used from now on, brought if it is not there.
  Line* use(std::uint64_t sector, Line* line) {
    if (line == nullptr) return bring(sector);
    std::list<Line>& set = sets_[sector / case_.sectors % sets_.size()];
    set.splice(set.end(), set,
               std::find_if(set.begin(), set.end(), [&](const Line& l) { return &l == line; }));
    return line;
  }
  Line* bring(std::uint64_t sector) {
    std::list<Line>& set = sets_[sector / case_.sectors % sets_.size()];
    if (set.size() == ways_) {
      std::size_t written = 0;
      for (const std::list<Line>& lines : sets_) {
        for (const Line& line : lines) written += line.written ? 1 : 0;
      }
      auto victim = set.begin();
      if (written * 100 < case_.ratio * ways_ * sets_.size()) {
        victim = std::find_if(set.begin(), set.end(), [](const Line& line) { return !line.written; });
        if (victim == set.end()) victim = set.begin();
      }
      write_back(*victim);
      set.erase(victim);
    }
    set.push_back({sector / case_.sectors, std::vector<std::uint64_t>(case_.sectors, 0)});
    return &set.back();
  }
  // Neighbouring dirty sectors leave together.
  void write_back(const Line& line) {
    for (std::uint64_t i = 0; i < case_.sectors; ++i) {
      if ((line.dirty >> i & 1) == 0 || (i != 0 && (line.dirty >> (i - 1) & 1) != 0)) continue;
      std::uint64_t run = 1;
      while ((line.dirty >> (i + run) & 1) != 0) ++run;
      left_.push_back("W" + std::to_string(line.number * case_.sectors + i) +
                      (run == 1 ? "" : "x" + std::to_string(run)));
    }
  }

  const Case case_;
  const std::uint64_t ways_, bytes_;
  std::vector<std::list<Line>> sets_;
  std::vector<std::string> left_;
};

// 10,000 random loads and stores of random bytes, one after the other: what leaves the SM.
TEST_P(PoliciesAsLists, FetchesAndWrites) {
  const Case& wanted = GetParam();
  machine::SmConfig config = lanes(32);
  config.l1d.tags.sets = 4;
  config.l1d.tags.ways = 4;
  config.l1d.allocation = wanted.allocation;
  config.l1d.write_policy = wanted.policy;
  config.l1d.write_miss = wanted.miss;
  config.l1d.write_ratio = wanted.ratio;
  config.l1d.sector_bytes = wanted.sectors == 1 ? 0 : 64 / wanted.sectors;
  const std::uint64_t bytes = config.coalescer.block_bytes = config.l1d.unit_bytes();
  config.check("");
  Bench bench(config);
  Lists expected(wanted, 4, 4, bytes);
  std::mt19937 random(7);
  unsigned silent = 0;
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::uint64_t sector = random() % (2 * 16 * wanted.sectors);
    const bool loads = random() % 2 == 0;
    // Elements of one size, at some of their places in the sector; all of them half of the time.
    const std::uint32_t element = 1u << random() % 5;
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(32, bytes / element));
    const std::uint32_t every = count == 32 ? ~0u : (1u << count) - 1;
    std::uint32_t threads = random() % 2 == 0 ? every : static_cast<std::uint32_t>(random()) & every;
    if (threads == 0) threads = 1;
    std::uint64_t mask = 0;
    for (unsigned t = 0; t < count; ++t) {
      for (std::uint32_t b = 0; b < element && (threads >> t & 1) != 0; ++b)
        mask |= std::uint64_t{1} << (t * element + b);
    }
    Issue issue;
    issue.add(
        at_home(0, threads),
        [&](unsigned, unsigned position) { return sector * bytes + std::uint64_t{element} * position; },
        ptx::Space::kGlobal, element);
    const std::size_t before = bench.sent.size();
    bench.accept(0, loads ? ptx::Opcode::kLd : ptx::Opcode::kSt, issue);
    bench.run(3);
    std::vector<std::string> left;
    for (std::size_t s = before, after = bench.sent.size(); s < after; ++s) {
      const OutgoingRequest& request = bench.sent[s];
      const bool writes = request.command == tlm::TLM_WRITE_COMMAND;
      const std::string run = request.bytes <= bytes ? "" : "x" + std::to_string(request.bytes / bytes);
      left.push_back((writes ? "W" : "R") + std::to_string(request.address / bytes) + run);
      bench.answer(s);
    }
    bench.run(3);
    ASSERT_EQ(left, loads ? expected.load(sector) : expected.store(sector, mask)) << "access " << i;
    silent += left.empty() ? 1 : 0;
    ASSERT_TRUE(bench.unit.idle() || wanted.policy == WritePolicy::kBack);
  }
  EXPECT_GT(silent, 500u) << "hits";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::uint64_t sectors : {1, 2, 4}) {
    for (const std::uint64_t ratio : {0, 25, 80}) {
      for (const Allocation allocation : {Allocation::kOnFill, Allocation::kStreaming})
        all.push_back({allocation, WritePolicy::kThrough, WriteMiss::kAround, sectors, ratio});
      for (const WritePolicy policy : {WritePolicy::kThrough, WritePolicy::kBack}) {
        for (const WriteMiss miss :
             {WriteMiss::kAround, WriteMiss::kFetch, WriteMiss::kNoFetch, WriteMiss::kLazyFetch})
          all.push_back({Allocation::kOnMiss, policy, miss, sectors, ratio});
      }
    }
  }
  return all;
}
std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  constexpr const char* kAllocations[] = {"OnMiss", "OnFill", "Streaming"};
  constexpr const char* kMisses[] = {"Fetch", "NoFetch", "Around", "LazyFetch"};
  const Case& c = info.param;
  return std::string(kAllocations[static_cast<unsigned>(c.allocation)]) +
         (c.policy == WritePolicy::kBack ? "Back" : "Through") + kMisses[static_cast<unsigned>(c.miss)] +
         std::to_string(c.sectors) + "Sectors" + std::to_string(c.ratio) + "Percent";
}
INSTANTIATE_TEST_SUITE_P(Rules, PoliciesAsLists, ::testing::ValuesIn(cases()), name_of);

// --- what is refused ---

std::string refusal(const machine::SmConfig& config) {
  try {
    config.check("sm");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(DataCachePolicies, RefuseWhatDoesNotGoTogether) {
  machine::SmConfig config = lanes(16);
  config.l1d.allocation = Allocation::kOnFill;
  config.l1d.write_policy = WritePolicy::kBack;
  EXPECT_THAT(refusal(config), HasSubstr("sm/l1d/allocation: found on_fill; allowed: on_miss, or"));
  config.l1d.write_policy = WritePolicy::kThrough;
  EXPECT_EQ(refusal(config), "");
  config.l1d.write_miss = WriteMiss::kLazyFetch;
  EXPECT_THAT(refusal(config), HasSubstr("sm/l1d/allocation: found on_fill"));
  config.l1d.allocation = Allocation::kOnMiss;
  EXPECT_EQ(refusal(config), "");
  config.system_cached = true;
  EXPECT_THAT(refusal(config), HasSubstr("sm/system_cached: found true"));
  config.system_cached = false;
  config.l1d.merge_loads = false;
  EXPECT_THAT(refusal(config), HasSubstr("lazy_fetch with merge_loads = false"));
  config.l1d.merge_loads = true;
  config.l1d.write_hit = machine::WriteHit::kInvalidate;
  EXPECT_THAT(refusal(config), HasSubstr("lazy_fetch with write_hit = invalidate"));
  config.l1d.write_hit = machine::WriteHit::kUpdate;
  config.l1d.tags.line_bytes = 128;
  EXPECT_THAT(refusal(config),
              HasSubstr("lazy_fetch with sectors of 128 bytes; allowed with sectors of up to 64"));
  config.l1d.sector_bytes = 64;
  EXPECT_EQ(refusal(config), "");
}

}  // namespace
}  // namespace weft::sm::data_cache_policies_test
