// Where the threads of an issue stand in its warp: place = row x lanes + home lane. Neighbours in this order
// share a beat of the load-store unit, whatever chunks they come from.
#ifndef WEFT_SM_PLACES_H
#define WEFT_SM_PLACES_H

#include <algorithm>
#include <cstdint>

#include "isa/isa.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class Places {
 public:
  // `lanes`: of a row of the schemes' tables; a power of two up to 32.
  Places(unsigned lanes, const warp_formation::LanePermuter& home) : home_(home), lanes_(lanes) {
    for (unsigned p = 0; p < isa::kLanes; p += lanes) every_row_ |= 1u << p;
  }

  // One beyond the last place that a thread of the group may have.
  unsigned end(const warp_formation::ThreadGroup& group) const {
    return group.row * lanes_ + (group.spread ? isa::kLanes : lanes_);
  }

  // Positions of the group's chunk whose place is one of the `count` from `first` on.
  std::uint32_t within(const warp_formation::ThreadGroup& group, unsigned first, unsigned count) const {
    const unsigned row = group.row * lanes_;
    const unsigned width = group.spread ? isa::kLanes : lanes_;  // positions that differ in their place
    const unsigned from = std::max(first, row) - row;
    const unsigned to = std::min(std::max(first + count, row) - row, width);
    if (from >= to) return 0;
    const std::uint32_t positions = (to - from == isa::kLanes ? ~0u : (1u << (to - from)) - 1) << from;
    return home_(group.chunk, group.spread ? positions : positions * every_row_);
  }

 private:
  const warp_formation::LanePermuter home_;
  const unsigned lanes_;
  std::uint32_t every_row_ = 0;  // bit 0 of each row that a chunk would fill
};

}  // namespace weft::sm

#endif
