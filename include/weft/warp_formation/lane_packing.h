// Packing of threads into warps whose threads keep their home lanes (Geometry::home): a warp holds as many
// threads of a lane as it has rows.
#ifndef WEFT_WARP_FORMATION_LANE_PACKING_H
#define WEFT_WARP_FORMATION_LANE_PACKING_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "weft/common/popcount.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

// The threads of one warp, by the row in which each has its lane.
class PackedWarp {
 public:
  PackedWarp(unsigned rows, const LanePermuter& home) : home_(home), used_(rows, 0) {}

  Groups groups() const { return {groups_.data(), count_}; }
  unsigned threads() const { return threads_; }
  bool empty() const { return threads_ == 0; }
  void clear() {
    count_ = 0;
    threads_ = 0;
    std::fill(used_.begin(), used_.end(), 0u);
  }

  // Puts in the threads whose lane has a free row, each in the first one. Returns the others.
  // `lanes`: those of a row, or the warp size if that is smaller.
  // An issue has at most kMaxGroups groups, which only warps of more than 32 threads can exhaust; what would
  // need another group is returned too.
  std::uint32_t pack(unsigned lanes, std::uint16_t chunk, std::uint32_t threads) {
    const std::uint32_t mask = home_(chunk, threads);  // from here on, bits are lanes
    const std::uint32_t first = count_;
    const std::uint32_t segment = lanes == kChunk ? ~0u : (1u << lanes) - 1;
    std::uint32_t left = 0;
    for (unsigned shift = 0; shift < kChunk; shift += lanes) {
      std::uint32_t wanted = mask >> shift & segment;
      for (std::size_t row = 0; wanted != 0 && row < used_.size(); ++row) {
        const std::uint32_t taken = wanted & ~used_[row];
        if (taken == 0 ||
            !append(chunk, static_cast<std::uint8_t>(row), shift / lanes, home_(chunk, taken << shift)))
          continue;
        used_[row] |= taken;
        wanted &= ~taken;
      }
      left |= wanted << shift;
    }
    threads_ = static_cast<std::uint16_t>(threads_ + count_of(mask & ~left));
    if (count_ > first + 1) fuse(first, lanes);
    return home_(chunk, left);
  }

  // Those threads of `whole` that are in `threads_of(chunk)`, each in its place.
  template <class ThreadsOf>
  void take(const PackedWarp& whole, ThreadsOf&& threads_of) {
    count_ = 0;
    threads_ = 0;
    for (const ThreadGroup& group : whole.groups()) {
      const std::uint32_t mask = group.mask & threads_of(group.chunk);
      if (mask == 0) continue;
      groups_[count_] = group;
      groups_[count_++].mask = mask;
      threads_ = static_cast<std::uint16_t>(threads_ + count_of(mask));
    }
  }

  // Threads exit. Their places stay taken.
  void remove(std::uint16_t chunk, std::uint32_t mask) {
    std::uint32_t kept = 0;
    for (std::uint32_t g = 0; g < count_; ++g) {
      ThreadGroup group = groups_[g];
      if (group.chunk == chunk) {
        threads_ = static_cast<std::uint16_t>(threads_ - count_of(group.mask & mask));
        group.mask &= ~mask;
      }
      if (group.mask != 0) groups_[kept++] = group;
    }
    count_ = kept;
  }

 private:
  // `segment`: which part of the chunk, as wide as the lanes, the threads are of.
  bool append(std::uint16_t chunk, std::uint8_t row, unsigned segment, std::uint32_t mask) {
    for (std::uint32_t g = 0; g < count_; ++g) {
      ThreadGroup& group = groups_[g];
      if (group.chunk != chunk || group.row + (group.spread ? segment : 0) != row) continue;
      group.mask |= mask;
      return true;
    }
    if (count_ == kMaxGroups) return false;
    groups_[count_++] = {mask, chunk, row, false};
    return true;
  }

  // Groups of one chunk that lie one segment to a row, in order, are one vector operation: a spread group.
  void fuse(std::uint32_t first, unsigned lanes) {
    std::uint32_t all = 0;
    int base = 0;
    for (std::uint32_t g = first; g < count_; ++g) {
      const auto low = static_cast<unsigned>(__builtin_ctz(groups_[g].mask)) / lanes;
      const unsigned high = (kChunk - 1 - static_cast<unsigned>(__builtin_clz(groups_[g].mask))) / lanes;
      const int offset = groups_[g].row - static_cast<int>(low);
      if (low != high || offset < 0 || (g != first && offset != base)) return;
      base = offset;
      all |= groups_[g].mask;
    }
    groups_[first].mask = all;
    groups_[first].row = static_cast<std::uint8_t>(base);
    groups_[first].spread = true;
    count_ = first + 1;
  }

  LanePermuter home_;
  std::array<ThreadGroup, kMaxGroups> groups_{};
  std::uint32_t count_ = 0;
  std::uint16_t threads_ = 0;
  std::vector<std::uint32_t> used_;  // by row: lanes
};

// Threads on their way from a warp to the next ones: those of `mask` in a chunk that go along path `path`.
struct Piece {
  std::uint32_t mask = 0;
  std::uint16_t chunk = 0;
  std::uint16_t path = 0;
};

}  // namespace weft::warp_formation

#endif
