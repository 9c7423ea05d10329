// The tags of a cache whose lines have sectors: a line has one tag, each of its sectors is fetched, valid and
// dirty by itself. With sectors of a whole line it is a TagArray, and does what that does.
//
// Sectors are named by their number (address / sector_bytes). The way of a sector is that of a line in a
// TagArray: absent -> reserve -> kReserved -> fill -> kValid -> mark_dirty -> kDirty. A line with a sector
// under way keeps its place; when a line makes room, the victim says which of its sectors are dirty.
//
// With byte masks, `write` may give a sector bytes that were not fetched. Such a sector is kInvalid for who
// reads, and `written` says which bytes it has; it is kValid when all of them are written, or when a fetch,
// which `reserve` begins, has come.
#ifndef WEFT_CACHE_SECTOR_TAGS_H
#define WEFT_CACHE_SECTOR_TAGS_H

#include <cstdint>
#include <vector>

#include "cache/tag_array.h"
#include "common/fast_divider.h"
#include "weft/common/popcount.h"
#include "weft/common/statistics.h"

namespace weft::cache {

using Sector = std::uint64_t;

// Runs of ones: neighbouring sectors are written back together.
inline std::uint32_t runs_of(std::uint32_t bits) {
  return static_cast<std::uint32_t>(count_of(bits & ~(bits << 1)));
}
// Calls visit(first, sectors) for each.
template <class Visit>
void for_each_run(std::uint32_t bits, Visit&& visit) {
  for (std::uint64_t rest = bits; rest != 0;) {
    const auto first = static_cast<unsigned>(__builtin_ctzll(rest));
    const auto count = static_cast<unsigned>(__builtin_ctzll(~(rest >> first)));
    visit(first, count);
    rest &= ~(((std::uint64_t{1} << count) - 1) << first);
  }
}

class SectorTags {
 public:
  static constexpr std::uint64_t kMostSectors = 32;  // of a line
  struct Victim {
    std::uint32_t dirty = 0;  // one bit for each sector that must be written back
    Sector first = 0;         // of the line
  };

  // `sector_bytes` divides config.line_bytes into at most kMostSectors parts. `byte_masks`: sectors have at
  // most kMostMaskedBytes.
  SectorTags(const TagConfig& config, std::uint64_t sector_bytes, bool byte_masks = false);

  Sector sector_of(std::uint64_t address) const { return sector_bytes_.quotient(address); }
  std::uint64_t sector_bytes() const { return sector_bytes_.divisor(); }

  // A sector, its line's place among all (TagArray::kNone: absent) and its state: looked up once for all that
  // is asked of it until a line comes, goes or changes.
  struct Found {
    Sector sector = 0;
    std::size_t place = TagArray::kNone;
    LineState state = LineState::kInvalid;
  };
  Found look_up(Sector sector) const {
    const std::size_t place = tags_.place_of(line_of(sector));
    return {sector, place, whole() ? tags_.state_at(place) : state_of(place, bit_of(sector))};
  }
  void access(const Found& found) { tags_.count(found.place, found.state); }
  bool mark_dirty(const Found& found) {
    return whole() ? tags_.mark_dirty_at(found.place) : mark_part_dirty(found);
  }

  // As in TagArray, for a sector.
  LineState find(Sector sector) const { return look_up(sector).state; }
  LineState access(Sector sector) {
    const Found found = look_up(sector);
    access(found);
    return found.state;
  }
  bool can_reserve(Sector sector) const {
    return whole() ? tags_.can_reserve(sector)
                   : tags_.place_of(line_of(sector)) != TagArray::kNone || tags_.can_reserve(line_of(sector));
  }
  Victim victim_for(Sector sector) const {
    return whole() ? victim_of(tags_.victim_for(sector)) : victim_for_part(sector);
  }
  Victim reserve(Sector sector) { return whole() ? victim_of(tags_.reserve(sector)) : reserve_part(sector); }
  bool fill(Sector sector) { return whole() ? tags_.fill(sector) : fill_part(sector); }
  bool mark_dirty(Sector sector) { return mark_dirty(look_up(sector)); }
  void mark_dirty_on_fill(Sector sector);
  bool clean(Sector sector);
  bool is_dirty(Sector sector) const {
    if (whole()) return find(sector) == LineState::kDirty;
    const std::size_t place = tags_.place_of(line_of(sector));
    return place != TagArray::kNone &&
           (state_.lines[place].dirty & ~state_.lines[place].pending & bit_of(sector)) != 0;
  }
  // With byte masks: the bytes of a sector that were written without a fetch, if its other bytes are missing.
  std::uint64_t written(const Found& found) const {
    return !masks_ || found.state != LineState::kInvalid || found.place == TagArray::kNone
               ? 0
               : state_.written[index_of(found.place, found.sector)];
  }
  // These bytes are written, of a sector that is kInvalid; its line takes a place if it has none.
  // Precondition: can_reserve(sector).
  Victim write(Sector sector, std::uint64_t bytes, bool dirty);
  // Sectors that are kDirty, and one of them.
  std::size_t dirty_sectors() const { return whole() ? tags_.dirty_lines() : state_.dirty; }
  Sector next_dirty();
  LineState invalidate(Sector sector);
  void invalidate_all();
  void count_reservation_failure() { tags_.count_reservation_failure(); }

  // As in TagArray.
  void set_ways(std::size_t ways) {
    if (ways == tags_.ways()) return;
    invalidate_all();
    tags_.set_ways(ways);
  }

  // The tags of its lines.
  TagArray& lines() { return tags_; }
  const TagArray& lines() const { return tags_; }

  // Back to construction, except for the statistics.
  void reset();
  void archive(Archive& archive) { archive(tags_, state_); }
  void bind(statistics::Group& group) { tags_.bind(group); }

 private:
  struct Sectors {  // of a line, one bit each
    std::uint32_t valid = 0, dirty = 0, pending = 0;
    void archive(Archive& archive) {
      auto& [valid_, dirty_, pending_] = *this;
      archive(valid_, dirty_, at_rest(pending_));
    }
  };
  struct State {
    State(std::size_t places, std::size_t masks) : lines(places), written(masks) {}
    std::vector<Sectors> lines;  // by place of the line
    // Byte masks, by place and sector: of sectors that are neither valid nor under way.
    std::vector<std::uint64_t> written;
    std::size_t dirty = 0;       // sectors, if lines are not whole
    std::size_t next_dirty = 0;  // the place where the search for one goes on
    void archive(Archive& archive) {
      auto& [lines_, written_, dirty_, next_dirty_] = *this;
      archive(lines_, written_, dirty_, next_dirty_);
    }
  };

  bool whole() const { return whole_; }
  std::size_t index_of(std::size_t place, Sector sector) const {
    return (place << shift_) + (sector & ((std::uint64_t{1} << shift_) - 1));
  }
  bool has_masks(std::size_t place) const;  // a sector of this line has written bytes
  void clear_masks(std::size_t place);
  Line line_of(Sector sector) const { return sector >> shift_; }
  std::uint32_t bit_of(Sector sector) const {
    return std::uint32_t{1} << (sector & ((std::uint64_t{1} << shift_) - 1));
  }
  LineState state_of(std::size_t place, std::uint32_t bit) const {
    if (place == TagArray::kNone) return LineState::kInvalid;
    const Sectors& sectors = state_.lines[place];
    if ((sectors.pending & bit) != 0) return LineState::kReserved;
    if ((sectors.valid & bit) == 0) return LineState::kInvalid;
    return (sectors.dirty & bit) != 0 ? LineState::kDirty : LineState::kValid;
  }
  static Victim victim_of(const TagArray::Victim& line) { return {line.dirty ? 1u : 0u, line.line}; }
  // Where lines have several sectors.
  Victim victim_for_part(Sector sector) const;
  Victim reserve_part(Sector sector);
  bool fill_part(Sector sector);
  bool mark_part_dirty(const Found& found);
  // No fetch of this sector is under way any more. When none of its line is, the line may make room again.
  void settle(Sectors& sectors, Sector sector);

  FastDivider sector_bytes_;
  const unsigned shift_;  // sectors of a line: 1 << shift_
  const bool masks_;      // of bytes
  const bool whole_;      // a line is one sector, which its tag says all of
  TagArray tags_;         // kReserved: a sector is under way; never kDirty, unless lines are whole
  State state_;
};

}  // namespace weft::cache

#endif
