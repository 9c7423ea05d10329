// The lanes of a unit that instructions take which begin in one cycle, beat by beat.
#ifndef WEFT_DATAPATH_TAKEN_LANES_H
#define WEFT_DATAPATH_TAKEN_LANES_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/warp_formation/warp_formation.h"

namespace weft::datapath {

class TakenLanes {
 public:
  using Issue = warp_formation::Issue;

  // `lanes`: of a beat, a power of two up to 32.
  explicit TakenLanes(unsigned lanes) : lanes_(lanes), beat_(lanes == 32 ? ~0u : (1u << lanes) - 1) {}

  // Nobody takes any.
  void clear() { rows_ = 0; }
  bool empty() const { return rows_ == 0; }
  // Of which unit they are; the owner's.
  std::size_t unit = 0;

  // Whether in each of its beats the issue needs only lanes that are free.
  bool leave_room_for(const Issue& issue) const {
    bool room = true;
    each_beat(issue, [&](unsigned row, std::uint32_t lanes) {
      room = room && ((rows_ >> row & 1) == 0 || (by_row_[row] & lanes) == 0);
    });
    return room;
  }
  // The issue takes its lanes. Returns the beats in which no lane was taken before.
  unsigned add(const Issue& issue) {
    unsigned fresh = 0;
    each_beat(issue, [&](unsigned row, std::uint32_t lanes) {
      const std::uint64_t bit = std::uint64_t{1} << row;
      if ((rows_ & bit) == 0) {
        by_row_[row] = 0;
        ++fresh;
      }
      rows_ |= bit;
      by_row_[row] |= lanes;
    });
    return fresh;
  }

 private:
  // A spread group has a beat for each part of its chunk as wide as the lanes; others have the beat of their
  // row.
  template <class Visit>
  void each_beat(const Issue& issue, Visit&& visit) const {
    for (const warp_formation::ThreadGroup& group : issue.groups) {
      unsigned row = group.row % issue.rows;
      std::uint32_t folded = 0;
      for (std::uint32_t rest = group.mask; rest != 0; rest = lanes_ == 32 ? 0 : rest >> lanes_) {
        if (!group.spread) {
          folded |= rest & beat_;
          continue;
        }
        if ((rest & beat_) != 0) visit(row, rest & beat_);
        if (++row == issue.rows) row = 0;  // small warps share a chunk
      }
      if (folded != 0) visit(row, folded);
    }
  }

  unsigned lanes_;
  std::uint32_t beat_;                      // all lanes of a beat
  std::uint64_t rows_ = 0;                  // beats of which lanes are taken
  std::array<std::uint32_t, 64> by_row_{};  // the lanes
};

}  // namespace weft::datapath

#endif
