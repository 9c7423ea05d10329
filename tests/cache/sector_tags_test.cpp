#include "cache/sector_tags.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace weft::cache {
namespace {

// One set of two lines of four sectors: sector s is of line s / 4.
TagConfig two_lines() {
  TagConfig config;
  config.sets = 1;
  config.ways = 2;
  config.line_bytes = 128;
  return config;
}

void bring(SectorTags& tags, Sector sector) {
  tags.reserve(sector);
  tags.fill(sector);
}

TEST(SectorTags, SectorsOfALineComeOneByOne) {
  SectorTags tags(two_lines(), 32);
  EXPECT_EQ(tags.sector_of(130), 4u);
  EXPECT_EQ(tags.access(1), LineState::kInvalid);
  tags.reserve(1);
  EXPECT_EQ(tags.access(1), LineState::kReserved);
  EXPECT_EQ(tags.access(2), LineState::kInvalid) << "the line is there, the sector is not";
  tags.reserve(2);
  EXPECT_TRUE(tags.fill(1));
  EXPECT_EQ(tags.access(1), LineState::kValid);
  EXPECT_EQ(tags.find(2), LineState::kReserved);
  EXPECT_TRUE(tags.fill(2));
  EXPECT_FALSE(tags.fill(3)) << "it was not reserved";
  EXPECT_TRUE(tags.mark_dirty(2));
  EXPECT_EQ(tags.find(2), LineState::kDirty);
  EXPECT_EQ(tags.find(1), LineState::kValid);
  statistics::Group group;
  tags.bind(group.group("tags"));
  const auto counted = group.sample()["tags"];
  EXPECT_EQ(counted["misses"], 2);
  EXPECT_EQ(counted["pending_hits"], 1);
  EXPECT_EQ(counted["hits"], 1);
}

TEST(SectorTags, AVictimSaysWhichSectorsAreDirty) {
  SectorTags tags(two_lines(), 32);
  for (const Sector sector : {0, 1, 3}) bring(tags, sector);
  tags.mark_dirty(0);
  tags.mark_dirty(3);
  bring(tags, 4);
  EXPECT_EQ(tags.victim_for(8).dirty, 0b1001u);
  EXPECT_EQ(tags.victim_for(2).dirty, 0u) << "its line is there: no line makes room";
  const SectorTags::Victim victim = tags.reserve(9);
  EXPECT_EQ(victim.dirty, 0b1001u);
  EXPECT_EQ(victim.first, 0u);
  EXPECT_EQ(tags.find(0), LineState::kInvalid);
  EXPECT_EQ(tags.find(8), LineState::kInvalid) << "nothing of the victim is left";
  EXPECT_EQ(tags.find(9), LineState::kReserved);
}

TEST(SectorTags, ALineWithASectorUnderWayKeepsItsPlace) {
  SectorTags tags(two_lines(), 32);
  bring(tags, 0);
  tags.reserve(1);
  tags.reserve(4);
  EXPECT_FALSE(tags.can_reserve(8));
  EXPECT_TRUE(tags.can_reserve(2)) << "another sector of a line that is there";
  EXPECT_EQ(tags.invalidate(4), LineState::kReserved) << "its fetch failed";
  EXPECT_TRUE(tags.can_reserve(8));
  EXPECT_EQ(tags.victim_for(8).dirty, 0u);
  tags.reserve(8);
  EXPECT_EQ(tags.find(0), LineState::kValid) << "the empty line made room";
}

// With sectors of a whole line it is a TagArray, in every answer and statistic.
TEST(SectorTags, WholeLinesAreATagArray) {
  TagConfig config = two_lines();
  config.sets = 3;
  TagArray lines(config);
  SectorTags sectors(config, config.line_bytes);
  statistics::Group group;
  lines.bind(group.group("lines"));
  sectors.bind(group.group("sectors"));
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    const Line line = random() % 12;
    ASSERT_EQ(lines.find(line), sectors.find(line));
    ASSERT_EQ(lines.can_reserve(line), sectors.can_reserve(line));
    switch (random() % 4) {
      case 0:
        if (lines.find(line) == LineState::kInvalid && lines.can_reserve(line)) {
          const TagArray::Victim expected = lines.reserve(line);
          const SectorTags::Victim found = sectors.reserve(line);
          ASSERT_EQ(found.dirty, expected.dirty ? 1u : 0u);
          if (expected.dirty) {
            ASSERT_EQ(found.first, expected.line);
          }
        }
        break;
      case 1:
        ASSERT_EQ(lines.fill(line), sectors.fill(line));
        break;
      case 2:
        ASSERT_EQ(lines.mark_dirty(line), sectors.mark_dirty(line));
        break;
      default:
        ASSERT_EQ(lines.access(line), sectors.access(line));
    }
  }
  EXPECT_EQ(group.sample()["lines"].dump(), group.sample()["sectors"].dump());
}

// Against a map of sectors, in a cache whose lines all fit.
TEST(SectorTags, RandomSectorsBehaveLikeAMap) {
  TagConfig config = two_lines();
  config.ways = 8;
  SectorTags tags(config, 16);
  std::map<Sector, LineState> expected;
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    const Sector sector = random() % 64;
    LineState& state = expected[sector];
    switch (random() % 5) {
      case 0:
        if (state != LineState::kInvalid) break;
        ASSERT_TRUE(tags.can_reserve(sector));
        ASSERT_EQ(tags.reserve(sector).dirty, 0u);
        state = LineState::kReserved;
        break;
      case 1:
        ASSERT_EQ(tags.fill(sector), state == LineState::kReserved);
        if (state == LineState::kReserved) state = LineState::kValid;
        break;
      case 2:
        ASSERT_EQ(tags.mark_dirty(sector), state == LineState::kValid || state == LineState::kDirty);
        if (state == LineState::kValid) state = LineState::kDirty;
        break;
      case 3:
        if (random() % 4 != 0) break;
        ASSERT_EQ(tags.invalidate(sector), state);
        state = LineState::kInvalid;
        break;
      default:
        ASSERT_EQ(tags.access(sector), state);
    }
  }
}

// --- byte masks ---

TEST(ByteMasks, ASectorIsThereWhenAllItsBytesAreWritten) {
  for (const std::uint64_t bytes : {32, 64}) {
    SectorTags tags(two_lines(), bytes, true);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bytes);
    tags.write(1, 0xff, false);
    EXPECT_EQ(tags.find(1), LineState::kInvalid);
    EXPECT_EQ(tags.written(tags.look_up(1)), 0xffu);
    EXPECT_EQ(tags.written(tags.look_up(0)), 0u);
    tags.write(1, all & ~std::uint64_t{0xff}, false);
    EXPECT_EQ(tags.find(1), LineState::kValid);
    EXPECT_EQ(tags.written(tags.look_up(1)), 0u);
    EXPECT_EQ(tags.dirty_sectors(), 0u);
  }
}

TEST(ByteMasks, AFetchAndAnInvalidationEndThem) {
  SectorTags tags(two_lines(), 32, true);
  tags.write(1, 1, true);
  EXPECT_EQ(tags.dirty_sectors(), 1u);
  EXPECT_TRUE(tags.is_dirty(1));
  EXPECT_TRUE(tags.can_reserve(1));
  EXPECT_EQ(tags.reserve(1).dirty, 0u) << "its line is there";
  EXPECT_EQ(tags.find(1), LineState::kReserved);
  EXPECT_EQ(tags.dirty_sectors(), 0u) << "not while it is fetched";
  EXPECT_TRUE(tags.fill(1));
  EXPECT_EQ(tags.find(1), LineState::kDirty);
  EXPECT_EQ(tags.dirty_sectors(), 1u);

  tags.write(2, 1, true);
  EXPECT_EQ(tags.invalidate(2), LineState::kInvalid);
  EXPECT_EQ(tags.written(tags.look_up(2)), 0u);
  EXPECT_EQ(tags.dirty_sectors(), 1u);
  tags.write(4, 1, false);
  tags.invalidate(4);
  EXPECT_EQ(tags.lines().find(1), LineState::kInvalid) << "nothing of the line is left";
}

TEST(ByteMasks, ALineThatComesHasNoneOfThoseBefore) {
  SectorTags tags(two_lines(), 32, true);
  tags.write(0, 1, true);
  tags.write(4, 1, false);
  const SectorTags::Victim victim = tags.write(9, 2, false);  // in the place of sector 0
  EXPECT_EQ(victim.dirty, 1u);
  EXPECT_EQ(victim.first, 0u);
  EXPECT_EQ(tags.written(tags.look_up(8)), 0u);
  EXPECT_EQ(tags.written(tags.look_up(9)), 2u);
  EXPECT_EQ(tags.dirty_sectors(), 0u);
  tags.invalidate_all();
  EXPECT_EQ(tags.written(tags.look_up(9)), 0u);
  EXPECT_EQ(tags.find(9), LineState::kInvalid);
}

// The dirty sectors that are counted are those that are written back, whatever happens.
TEST(ByteMasks, CountsTheirDirtySectors) {
  SectorTags tags(two_lines(), 32, true);
  std::mt19937 random(3);
  for (unsigned i = 0; i < 20'000; ++i) {
    const Sector sector = random() % 24;
    const LineState state = tags.find(sector);
    switch (random() % 6) {
      case 0:
      case 1:
        if (state == LineState::kInvalid && tags.can_reserve(sector))
          tags.write(sector, random() | 1u, random() % 2 == 0);
        break;
      case 2:
        if (state == LineState::kInvalid && tags.can_reserve(sector)) tags.reserve(sector);
        break;
      case 3:
        tags.fill(sector);
        break;
      case 4:
        if (random() % 4 == 0) tags.invalidate(sector);
        break;
      default:
        if (random() % 4 == 0) tags.clean(sector);
    }
    std::size_t dirty = 0;
    for (Sector s = 0; s < 24; ++s) dirty += tags.is_dirty(s) ? 1 : 0;
    ASSERT_EQ(tags.dirty_sectors(), dirty) << i;
    if (dirty != 0) {
      ASSERT_TRUE(tags.is_dirty(tags.next_dirty()));
    }
  }
}

}  // namespace
}  // namespace weft::cache
