// A lookup table of HARP and CROWN: a few warps, found by PC, fully associative (HARP 4.2.1).
//
// The table holds numbers of warps; what they are is kept by the scheme. A warp takes the lowest free slot.
#ifndef WEFT_WARP_FORMATION_LOOKUP_TABLE_H
#define WEFT_WARP_FORMATION_LOOKUP_TABLE_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warp_formation/reincarnating_options.h"
#include "weft/common/archive.h"
#include "weft/warp_formation/table_accesses.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class LookupTable {
 public:
  static constexpr std::uint16_t kNoWarp = UINT16_MAX;

  LookupTable(std::uint64_t entries, LookupDepart depart) : depart_(depart), slots_(entries) {
    order_.reserve(entries);
  }

  void reset() {
    std::fill(slots_.begin(), slots_.end(), Slot());
    order_.clear();
    new_ = false;
    peak_ = departures_ = residence_ = 0;
    uses_ = {};
  }
  // When it is empty.
  void archive(Archive& archive) { archive(at_rest(order_), new_); }
  bool empty() const { return order_.empty(); }
  bool full() const { return order_.size() == slots_.size(); }
  std::size_t size() const { return order_.size(); }

  // Not when full. `entered`: this cycle, or kNoEvent if the next `stamp` tells. Returns the slot.
  unsigned insert(std::uint16_t warp, Cycle entered) {
    unsigned slot = 0;
    while (slots_[slot].warp != kNoWarp) ++slot;
    slots_[slot] = {warp, entered};
    ++uses_.writes;
    order_.push_back(static_cast<std::uint16_t>(slot));
    new_ = new_ || entered == kNoEvent;
    peak_ = std::max<std::uint64_t>(peak_, order_.size());
    return slot;
  }
  void remove(unsigned slot, Cycle now) {
    if (slots_[slot].entered != kNoEvent) residence_ += now - slots_[slot].entered;
    ++departures_;
    ++uses_.reads;
    slots_[slot] = Slot();
    order_.erase(std::find(order_.begin(), order_.end(), static_cast<std::uint16_t>(slot)));
  }
  // Threads were merged into the warp of this slot.
  void merged(unsigned slot) {
    ++uses_.writes;
    if (depart_ != LookupDepart::kFifoRefresh) return;
    order_.erase(std::find(order_.begin(), order_.end(), static_cast<std::uint16_t>(slot)));
    order_.push_back(static_cast<std::uint16_t>(slot));
  }

  // All entries are asked for a warp that threads may join.
  void searched() { ++uses_.searches; }

  // Occupied slots, oldest first.
  const std::vector<std::uint16_t>& order() const { return order_; }
  std::uint16_t warp(unsigned slot) const { return slots_[slot].warp; }

  // The slot that departs first among those that entered before this cycle and satisfy `may`; -1: none.
  template <class May>
  int leaving(Cycle now, May&& may) const {
    int best = -1;
    for (const std::uint16_t slot : order_) {
      if (slots_[slot].entered >= now || !may(slots_[slot].warp)) continue;
      if (depart_ != LookupDepart::kSlot) return slot;
      if (best < 0 || slot < best) best = slot;
    }
    return best;
  }
  // Warps inserted without a time since the last call entered in this cycle.
  void stamp(Cycle now) {
    if (!new_) return;
    new_ = false;
    for (Slot& slot : slots_) {
      if (slot.warp != kNoWarp && slot.entered == kNoEvent) slot.entered = now;
    }
  }

  // HARP Table 7: PC and one thread identifier per lane, without the lane's bits.
  std::uint64_t bits(unsigned width, unsigned thread_bits) const {
    return slots_.size() * (32 + std::uint64_t{width} * thread_bits);
  }

  std::size_t entries() const { return slots_.size(); }

  TableAccesses& uses() { return uses_; }
  std::uint64_t& peak() { return peak_; }
  std::uint64_t& departures() { return departures_; }
  std::uint64_t& residence() { return residence_; }

 private:
  struct Slot {
    std::uint16_t warp = kNoWarp;
    Cycle entered = kNoEvent;  // kNoEvent: not stamped yet
  };
  LookupDepart depart_;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> order_;  // occupied slots by age
  bool new_ = false;
  std::uint64_t peak_ = 0, departures_ = 0, residence_ = 0;
  TableAccesses uses_;
};

}  // namespace weft::warp_formation

#endif
