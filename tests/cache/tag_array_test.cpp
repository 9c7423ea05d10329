#include "cache/tag_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "weft/common/error.h"

namespace weft::cache {
namespace {

TagConfig geometry(std::uint64_t sets, std::uint64_t ways, const std::string& replacement = "lru") {
  TagConfig config;
  config.sets = sets;
  config.ways = ways;
  config.line_bytes = 64;
  config.replacement.name = replacement;
  return config;
}

void bring(TagArray& tags, Line line) {
  tags.reserve(line);
  ASSERT_TRUE(tags.fill(line));
}

TEST(TagArray, GoesThroughItsStates) {
  TagArray tags(geometry(4, 2));
  EXPECT_EQ(tags.find(5), LineState::kInvalid);
  EXPECT_FALSE(tags.fill(5));
  EXPECT_FALSE(tags.reserve(5).evicted);
  EXPECT_EQ(tags.access(5), LineState::kReserved);
  EXPECT_FALSE(tags.mark_dirty(5));
  EXPECT_TRUE(tags.fill(5));
  EXPECT_EQ(tags.access(5), LineState::kValid);
  EXPECT_TRUE(tags.mark_dirty(5));
  EXPECT_EQ(tags.invalidate(5), LineState::kDirty);
  EXPECT_EQ(tags.access(5), LineState::kInvalid);
}

TEST(TagArray, LineZeroIsNotPresentAtFirst) {
  TagArray tags(geometry(1, 1));
  EXPECT_EQ(tags.find(0), LineState::kInvalid);
}

// Lines at a distance of 8 KB share a set by the modulus; by the combined bits, eight of them lie in eight
// sets, and neighbours still lie in all sets, one each.
TEST(TagArray, CombinedBitsSpreadPowersOfTwo) {
  for (const std::uint64_t sets : {32, 64}) {
    TagConfig config = geometry(sets, 1);
    config.line_bytes = 128;
    TagArray plain(config);
    config.set_index.name = "fermi";
    TagArray combined(config);
    for (Line line = 0; line < 8 * 64; line += 64) {
      bring(plain, line);
      bring(combined, line);
    }
    for (Line line = 0; line < 8 * 64; line += 64) {
      EXPECT_EQ(plain.find(line), line == 7 * 64 ? LineState::kValid : LineState::kInvalid);
      EXPECT_EQ(combined.find(line), LineState::kValid) << line;
      EXPECT_EQ(combined.place_of(line), line / 64);
    }
    combined.invalidate_all();
    const Line far = Line{1} << 10 | Line{1} << 12;  // address bits 17 and 19
    for (Line line = far; line < far + sets; ++line) bring(combined, line);
    for (Line line = far; line < far + sets; ++line)
      EXPECT_EQ(combined.place_of(line), (line % sets) ^ 24) << "bits 3 and 4 of the set";
  }
}

// 16 lines at any distance that is a power of two lie in the 16 sets, one each; by the modulus, only those
// that follow each other do.
TEST(TagArray, ThePolynomialSpreadsPowersOfTwo) {
  for (unsigned distance = 0; distance < 30; ++distance) {
    TagConfig config = geometry(16, 1);
    TagArray plain(config);
    config.set_index.name = "polynomial";
    config.check("/cache");
    TagArray spread(config);
    for (Line line = 0; line < 16; ++line) {
      bring(plain, line << distance);
      bring(spread, line << distance);
    }
    unsigned kept = 0;
    for (Line line = 0; line < 16; ++line) {
      EXPECT_EQ(spread.find(line << distance), LineState::kValid) << line << " << " << distance;
      kept += plain.find(line << distance) == LineState::kValid ? 1 : 0;
    }
    EXPECT_EQ(kept, distance < 4 ? 16u >> distance : 1u);
  }
}

TEST(TagArray, ThePolynomialNeedsAPowerOfTwoOfSets) {
  for (const std::uint64_t sets : {1, 12, 1 << 17}) {
    TagConfig config = geometry(sets, 1);
    config.set_index.name = "polynomial";
    EXPECT_THROW(config.check("/cache"), InputError) << sets;
  }
}

TEST(TagArray, LruEvictsTheLeastRecentlyUsed) {
  TagArray tags(geometry(1, 3));
  for (Line line : {10, 11, 12}) bring(tags, line);
  tags.access(10);
  EXPECT_EQ(tags.reserve(13).line, 11u);
}

TEST(TagArray, FifoIgnoresUse) {
  TagArray tags(geometry(1, 3, "fifo"));
  for (Line line : {10, 11, 12}) bring(tags, line);
  tags.access(10);
  EXPECT_EQ(tags.reserve(13).line, 10u);
}

TEST(TagArray, ReservedLinesAreNeverVictims) {
  TagArray tags(geometry(1, 2));
  bring(tags, 1);
  tags.reserve(2);
  EXPECT_EQ(tags.reserve(3).line, 1u);
  EXPECT_FALSE(tags.can_reserve(4));
  tags.fill(2);
  EXPECT_TRUE(tags.can_reserve(4));
}

TEST(TagArray, ReportsDirtyVictims) {
  TagArray tags(geometry(2, 1));
  bring(tags, 7);
  EXPECT_FALSE(tags.victim_for(9).dirty);
  tags.mark_dirty(7);
  const TagArray::Victim victim = tags.reserve(9);
  EXPECT_TRUE(victim.evicted);
  EXPECT_TRUE(victim.dirty);
  EXPECT_EQ(victim.line, 7u);
}

TEST(TagArray, AWrittenLineIsDirtyWhenItsFillComes) {
  TagArray tags(geometry(2, 1));
  tags.reserve(6);
  tags.mark_dirty_on_fill(6);
  EXPECT_EQ(tags.dirty_lines(), 0u);
  tags.fill(6);
  EXPECT_EQ(tags.find(6), LineState::kDirty);
  tags.reserve(8);  // takes its way; the mark was the old line's
  tags.fill(8);
  EXPECT_EQ(tags.find(8), LineState::kValid);
  EXPECT_EQ(tags.dirty_lines(), 0u);
}

TEST(TagArray, KnowsItsDirtyLines) {
  TagArray tags(geometry(4, 2));
  for (Line line : {0, 1, 2, 3, 4}) bring(tags, line);
  for (Line line : {3, 0, 4, 1}) tags.mark_dirty(line);
  tags.mark_dirty(0);
  EXPECT_EQ(tags.dirty_lines(), 4u);
  EXPECT_FALSE(tags.clean(2));
  EXPECT_TRUE(tags.clean(tags.next_dirty()));
  EXPECT_EQ(tags.find(0), LineState::kValid);
  EXPECT_TRUE(tags.clean(tags.next_dirty()));
  tags.mark_dirty(0);  // behind the search
  EXPECT_EQ(tags.invalidate(3), LineState::kDirty);
  EXPECT_EQ(tags.dirty_lines(), 2u);
  while (tags.dirty_lines() != 0) ASSERT_TRUE(tags.clean(tags.next_dirty()));
  tags.mark_dirty(1);
  tags.invalidate_all();
  EXPECT_EQ(tags.dirty_lines(), 0u);
}

// DWR's L1: 64 sets of 12 ways, and a machine with sets that are no power of two: all lines of the capacity
// fit.
TEST(TagArray, HoldsItsCapacityWithOddGeometry) {
  for (auto [sets, ways] : {std::pair{64, 12}, {12, 64}, {7, 3}}) {
    TagArray tags(geometry(sets, ways));
    for (Line line = 100; line < 100u + sets * ways; ++line) bring(tags, line);
    for (Line line = 100; line < 100u + sets * ways; ++line) EXPECT_EQ(tags.find(line), LineState::kValid);
    EXPECT_TRUE(tags.victim_for(100000).evicted);
  }
}

// Against an independent model: a list per set, most recently used in front.
TEST(TagArray, AgreesWithAListModelOnRandomTraffic) {
  constexpr std::uint64_t kSets = 5;
  constexpr std::uint64_t kWays = 4;
  TagArray tags(geometry(kSets, kWays));
  std::map<std::uint64_t, std::list<Line>> model;
  std::mt19937_64 random(1);
  int hits = 0;
  for (int i = 0; i < 20000; ++i) {
    const Line line = random() % 40;
    std::list<Line>& set = model[line % kSets];
    const auto found = std::find(set.begin(), set.end(), line);
    if (found != set.end()) {
      ++hits;
      EXPECT_EQ(tags.access(line), LineState::kValid);
      set.erase(found);
    } else {
      EXPECT_EQ(tags.access(line), LineState::kInvalid);
      const TagArray::Victim victim = tags.reserve(line);
      tags.fill(line);
      EXPECT_EQ(victim.evicted, set.size() == kWays);
      if (set.size() == kWays) {
        EXPECT_EQ(victim.line, set.back());
        set.pop_back();
      }
    }
    set.push_front(line);
  }
  EXPECT_GT(hits, 1000);
}

// A set as its rules say it: each way is asked.
class SearchedSet {
 public:
  explicit SearchedSet(std::size_t ways) : ways_(ways) {}

  struct Way {
    LineState state = LineState::kInvalid;
    Line line = 0;
    std::uint64_t used = 0;
    bool written = false;
  };
  Way* find(Line line) {
    for (Way& way : ways_) {
      if (way.state != LineState::kInvalid && way.line == line) return &way;
    }
    return nullptr;
  }
  // The way that a line takes; none if it has to wait. `keeps`: few lines are written.
  Way* victim(bool keeps) {
    Way* oldest = nullptr;
    Way* oldest_clean = nullptr;
    bool fills = false;
    for (Way& way : ways_) {
      if (way.state == LineState::kInvalid) return &way;
      fills = fills || way.state == LineState::kReserved;
      if (way.state == LineState::kReserved) continue;
      if (oldest == nullptr || way.used < oldest->used) oldest = &way;
      if (!way.written && (oldest_clean == nullptr || way.used < oldest_clean->used)) oldest_clean = &way;
    }
    if (!keeps) return oldest;
    return oldest_clean != nullptr || fills ? oldest_clean : oldest;
  }
  std::size_t written() const {
    return static_cast<std::size_t>(
        std::count_if(ways_.begin(), ways_.end(), [](const Way& way) { return way.written; }));
  }

 private:
  std::vector<Way> ways_;
};

// Wide sets have an index of their lines and a list of their ways, which no search through the set may
// contradict.
TEST(TagArray, WideSetsDoWhatASearchThroughThemSays) {
  constexpr std::uint64_t kSets = 3, kPercent = 25;
  constexpr Line kLines = 200;
  TagArray tags(geometry(kSets, 40));
  tags.keep_written_below(kPercent);
  std::mt19937_64 random(1);
  std::size_t waited = 0, kept = 0;
  for (const std::size_t ways : {40, 24}) {  // as many as a kernel leaves them
    tags.set_ways(ways);
    std::vector<SearchedSet> model(kSets, SearchedSet(ways));
    std::uint64_t clock = 0;
    for (int i = 0; i < 20000; ++i) {
      const Line line = random() % kLines;
      SearchedSet& set = model[line % kSets];
      SearchedSet::Way* way = set.find(line);
      ASSERT_EQ(tags.access(line), way == nullptr ? LineState::kInvalid : way->state);
      if (way == nullptr) {
        std::size_t written = 0;
        for (const SearchedSet& each : model) written += each.written();
        const bool keeps = written * 100 < kPercent * kSets * ways;
        way = set.victim(keeps);
        kept += way != nullptr && way != set.victim(false) ? 1 : 0;
        waited += way == nullptr ? 1 : 0;
        ASSERT_EQ(tags.can_reserve(line), way != nullptr);
        if (way == nullptr) continue;
        const TagArray::Victim victim = tags.reserve(line);
        ASSERT_EQ(victim.evicted, way->state != LineState::kInvalid);
        if (victim.evicted) {
          ASSERT_EQ(victim.line, way->line);
        }
        *way = {LineState::kReserved, line, ++clock, false};
        continue;
      }
      way->used = ++clock;
      const std::uint64_t next = random() % 8;
      if (next == 0) {
        tags.invalidate(line);
        *way = {};
      } else if (next == 1) {
        tags.mark_written(tags.place_of(line));
        way->written = true;
      } else if (next < (i % 4000 < 1000 ? 3u : 7u) && way->state == LineState::kReserved) {
        tags.fill(line);
        way->state = LineState::kValid;
      }
      if (i % 5000 != 4999) continue;  // a checkpoint
      Archive out;
      out(tags);
      tags.reset();
      Archive in(out.bytes());
      in(tags);
    }
  }
  EXPECT_GT(waited, 100u);
  EXPECT_GT(kept, 100u);
}

TEST(TagArray, CountsEachAccessOnce) {
  TagArray tags(geometry(1, 1));
  statistics::Group tree;
  tags.bind(tree.group("l1"));
  tags.access(1);
  tags.reserve(1);
  tags.access(1);
  tags.fill(1);
  tags.access(1);
  tags.find(1);
  tags.count_reservation_failure();
  const auto sample = tree.sample()["l1"];
  EXPECT_EQ(sample["accesses"], 3);
  EXPECT_EQ(sample["misses"], 1);
  EXPECT_EQ(sample["pending_hits"], 1);
  EXPECT_EQ(sample["hits"], 1);
  EXPECT_EQ(sample["set_full"], 1);
}

TEST(TagArray, RefusesALineThatIsNoPowerOfTwo) {
  TagConfig config = geometry(1, 1);
  config.line_bytes = 96;
  EXPECT_THROW(config.check("/l1"), InputError);
  config.line_bytes = 4096;
  config.sets = 1 << 20;
  EXPECT_THROW(config.check("/l1"), InputError);
}

TEST(TagArray, MayHaveFewerWays) {
  for (const char* replacement : {"lru", "fifo", "srrip"}) {
    TagArray tags(geometry(1, 8, replacement));
    for (const std::size_t ways : {8, 3, 3, 1, 8}) {
      const bool stays = ways == tags.ways();
      const bool there = tags.find(100) == LineState::kValid;
      tags.set_ways(ways);
      EXPECT_EQ(tags.find(100) == LineState::kValid, there && stays);
      for (Line line = 0; line < 20; ++line) bring(tags, line);
      bring(tags, 100);
      std::size_t lines = 0;
      for (Line line = 0; line <= 100; ++line) lines += tags.find(line) == LineState::kValid ? 1 : 0;
      EXPECT_EQ(lines, ways) << replacement;
      for (Line line = 0; line < 20; ++line) tags.invalidate(line);
    }
    tags.reset();
    EXPECT_EQ(tags.ways(), 8u);
  }
}

TEST(TagArray, KeepsWrittenLinesWhileFewAreWritten) {
  TagArray tags(geometry(1, 4));
  tags.keep_written_below(50);
  for (Line line = 0; line < 4; ++line) bring(tags, line);
  tags.mark_written(tags.place_of(0));
  EXPECT_EQ(tags.victim_for(9).line, 1u) << "0 is older, but written";
  tags.mark_written(tags.place_of(1));
  EXPECT_EQ(tags.victim_for(9).line, 0u) << "two of four are half of them";
  tags.invalidate(1);
  bring(tags, 5);
  EXPECT_EQ(tags.victim_for(9).line, 2u);
}

// Nothing that waits for a way waits forever.
TEST(TagArray, ASetOfWrittenLinesGivesOneUnlessAFillIsToCome) {
  TagArray tags(geometry(2, 2));
  tags.keep_written_below(100);
  bring(tags, 0);
  bring(tags, 2);
  tags.mark_written(tags.place_of(0));
  EXPECT_EQ(tags.victim_for(4).line, 2u);
  tags.reserve(4);
  EXPECT_FALSE(tags.can_reserve(6)) << "line 4 can go when it has come";
  tags.fill(4);
  EXPECT_EQ(tags.victim_for(6).line, 4u);
  tags.mark_written(tags.place_of(4));
  EXPECT_TRUE(tags.can_reserve(6)) << "all of the set are written";
  EXPECT_EQ(tags.victim_for(6).line, 0u);
}

}  // namespace
}  // namespace weft::cache
