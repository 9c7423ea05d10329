// Threads by lane, for schemes that regroup: at most one thread of each lane, each from a row of its own.
//
// A thread at position p has home lane p mod W (or Geometry::home) and row p div W for life (HARP 2); a
// regrouped warp may take other rows, never other lanes.
#ifndef WEFT_WARP_FORMATION_LANES_H
#define WEFT_WARP_FORMATION_LANES_H

#include <array>
#include <cstdint>

#include "weft/common/popcount.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

inline constexpr unsigned kMaxLanes = 32;

template <class Visit>
void each_lane(std::uint32_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctz(lanes)));
}

struct LaneSet {
  std::uint32_t mask = 0;                      // lanes that hold a thread
  std::array<std::uint16_t, kMaxLanes> row{};  // of the thread in each such lane

  bool empty() const { return mask == 0; }
  unsigned count() const { return count_of(mask); }
  // Takes over the threads of `other` in `lanes`, which are free here.
  void take(const LaneSet& other, std::uint32_t lanes) {
    mask |= lanes;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      row[lane] = other.row[lane];
    }
  }
  // Lanes in which both hold the same thread.
  std::uint32_t common(const LaneSet& other) const {
    std::uint32_t same = 0;
    for (std::uint32_t rest = mask & other.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      same |= static_cast<std::uint32_t>(row[lane] == other.row[lane]) << lane;
    }
    return same;
  }
};

// Between positions in chunks of 32 and lanes of a SIMD group of `width` (4, 8, 16 or 32).
class LaneMap {
 public:
  LaneMap(unsigned width, const LanePermuter& home)
      : home_(home),
        width_(width),
        rows_per_chunk_(kChunk / width),
        all_(width == kMaxLanes ? ~0u : (1u << width) - 1) {}

  unsigned width() const { return width_; }
  std::uint32_t all() const { return all_; }
  // The thread of a lane in a row of positions.
  unsigned position(unsigned row, unsigned lane) const {
    return row * width_ + home_.lane_of(row / rows_per_chunk_, lane);
  }
  // The lanes of the first threads of a row.
  std::uint32_t first(unsigned row, unsigned threads) const {
    const unsigned shift = row % rows_per_chunk_ * width_;
    return home_(row / rows_per_chunk_, (threads == kMaxLanes ? ~0u : (1u << threads) - 1) << shift) >> shift;
  }

  // The lanes of the group's threads; a set of lanes with two threads in one is not a LaneSet.
  std::uint32_t fold(const ThreadGroup& group) const {
    const std::uint32_t chunk_mask = home_(group.chunk, group.mask);
    std::uint32_t lanes = 0;
    for (unsigned r = 0; r < rows_per_chunk_; ++r) lanes |= chunk_mask >> (r * width_);
    return lanes & all_;
  }
  void add(LaneSet& set, const ThreadGroup& group) const {
    const std::uint32_t rest = home_(group.chunk, group.mask);
    for (unsigned r = 0; r < rows_per_chunk_; ++r) {
      const std::uint32_t lanes = (rest >> (r * width_)) & all_;
      const auto row = static_cast<std::uint16_t>(group.chunk * rows_per_chunk_ + r);
      for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        set.row[static_cast<unsigned>(__builtin_ctz(left))] = row;
      }
      set.mask |= lanes;
    }
  }
  // Lanes of `set` whose thread is in the group.
  std::uint32_t lanes_in(const LaneSet& set, const ThreadGroup& group) const {
    LaneSet of_group;
    std::uint32_t found = 0;
    for (unsigned r = 0; r < rows_per_chunk_; ++r) {
      of_group.mask = 0;
      add(of_group, {group.mask & (all_ << (r * width_)), group.chunk, 0, false});  // of one row
      found |= set.common(of_group);
    }
    return found;
  }
  // Writes the set as groups, one per chunk, all in one row; returns how many.
  unsigned groups_of(const LaneSet& set, ThreadGroup* groups) const {
    unsigned count = 0;
    for (std::uint32_t rest = set.mask; rest != 0;) {
      const std::uint16_t row = set.row[static_cast<unsigned>(__builtin_ctz(rest))];
      std::uint32_t same = 0;
      for (std::uint32_t left = rest; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        same |= static_cast<std::uint32_t>(set.row[lane] == row) << lane;
      }
      rest &= ~same;
      const auto chunk = static_cast<std::uint16_t>(row / rows_per_chunk_);
      unsigned g = 0;
      while (g < count && groups[g].chunk != chunk) ++g;
      if (g == count) groups[count++] = {0, chunk, 0, false};
      groups[g].mask |= home_(chunk, same << (row % rows_per_chunk_ * width_));
    }
    return count;
  }

 private:
  LanePermuter home_;
  unsigned width_, rows_per_chunk_;
  std::uint32_t all_;
};

}  // namespace weft::warp_formation

#endif
