// The tags of a cache whose lines have sectors: a line has one tag, each of its sectors is fetched, valid and
// dirty by itself. With sectors of a whole line it is a TagArray, and does what that does.
//
// Sectors are named by their number (address / sector_bytes). The way of a sector is that of a line in a
// TagArray: absent -> reserve -> kReserved -> fill -> kValid -> mark_dirty -> kDirty. A line with a sector
// under way keeps its place; when a line makes room, the victim says which of its sectors are dirty.
#ifndef WEFT_CACHE_SECTOR_TAGS_H
#define WEFT_CACHE_SECTOR_TAGS_H

#include <cstdint>
#include <vector>

#include "cache/tag_array.h"
#include "common/fast_divider.h"
#include "weft/common/statistics.h"

namespace weft::cache {

using Sector = std::uint64_t;

class SectorTags {
 public:
  static constexpr std::uint64_t kMostSectors = 32;  // of a line
  struct Victim {
    std::uint32_t dirty = 0;  // one bit for each sector that must be written back
    Sector first = 0;         // of the line
  };

  // `sector_bytes` divides config.line_bytes into at most kMostSectors parts.
  SectorTags(const TagConfig& config, std::uint64_t sector_bytes);

  Sector sector_of(std::uint64_t address) const { return sector_bytes_.quotient(address); }
  std::uint64_t sector_bytes() const { return sector_bytes_.divisor(); }

  // As in TagArray, for a sector.
  LineState find(Sector sector) const {
    return whole() ? tags_.find(sector) : state_of(tags_.place_of(line_of(sector)), bit_of(sector));
  }
  LineState access(Sector sector);
  bool can_reserve(Sector sector) const;
  Victim victim_for(Sector sector) const;
  Victim reserve(Sector sector);
  bool fill(Sector sector);
  bool mark_dirty(Sector sector);
  LineState invalidate(Sector sector);
  void count_reservation_failure() { tags_.count_reservation_failure(); }

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
    explicit State(std::size_t places) : lines(places) {}
    std::vector<Sectors> lines;  // by place of the line
    void archive(Archive& archive) {
      auto& [lines_] = *this;
      archive(lines_);
    }
  };

  bool whole() const { return shift_ == 0; }
  Line line_of(Sector sector) const { return sector >> shift_; }
  std::uint32_t bit_of(Sector sector) const {
    return std::uint32_t{1} << (sector & ((std::uint64_t{1} << shift_) - 1));
  }
  LineState state_of(std::size_t place, std::uint32_t bit) const;
  // No fetch of this sector is under way any more. When none of its line is, the line may make room again.
  void settle(Sectors& sectors, Sector sector);

  FastDivider sector_bytes_;
  const unsigned shift_;  // sectors of a line: 1 << shift_
  TagArray tags_;         // kReserved: a sector is under way; never kDirty, unless lines are whole
  State state_;
};

}  // namespace weft::cache

#endif
