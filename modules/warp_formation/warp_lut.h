// The table of dynamic warp formation that leads from a place in the program to the warp that threads may
// join: sets and ways with least-recently-used replacement, or one that never misses.
//
// An entry belongs to a block slot as well, because threads of different blocks never share a warp here.
// Blocks are spread over the sets, so that they do not fight for the ways of one PC.
#ifndef WEFT_WARP_FORMATION_WARP_LUT_H
#define WEFT_WARP_FORMATION_WARP_LUT_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weft/common/archive.h"
#include "weft/ptx/program.h"

namespace weft::warp_formation {

// Where threads stand that may share a warp.
struct Place {
  ptx::Pc pc = ptx::kNoPc;
  std::uint16_t depth = 0;  // call depth
  std::uint16_t slot = 0;   // block slot
  friend bool operator==(const Place& a, const Place& b) {
    return a.pc == b.pc && a.depth == b.depth && a.slot == b.slot;
  }
};

class WarpLut {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Entry {
    Place place;
    std::uint32_t warp = kNone;  // of the pool
    std::uint64_t used = 0;      // when last, for replacement
    std::uint64_t cycle = 0;     // round in which it was last looked up
    void archive(Archive& archive) {
      auto& [place_, warp_, used_, cycle_] = *this;
      archive(place_.pc, place_.depth, place_.slot, warp_, used_, cycle_);
    }
  };

  // `entries` 0: never misses; room for `most` places then. `slots` block slots share the sets.
  WarpLut(std::uint64_t entries, std::uint64_t ways, unsigned slots, std::size_t most)
      : ways_(entries == 0 ? 0 : ways), sets_(entries == 0 ? 0 : entries / ways), slots_(slots) {
    entries_.resize(entries == 0 ? most : entries);
  }

  void clear() {
    for (auto& entry : entries_) entry = Entry();
    clock_ = 0;
    round_ = 1;
    live_ = 0;
  }
  // When it leads to no warp.
  void archive(Archive& archive) {
    auto& [ways, sets, slots, entries, clock, round, live] = *this;
    archive(set_anew(ways, sets, slots), entries, clock, round, at_rest(live));
  }
  // A new cycle: each entry may be looked up once more.
  void next_cycle() { ++round_; }

  // The entry of this place, or the one to replace (its `place` differs); nullptr if that one was looked up
  // in this cycle already: its port is taken.
  Entry* lookup(const Place& place) {
    if (perfect()) return any(place);
    Entry* victim = nullptr;
    const std::size_t first = set_of(place) * ways_;
    for (std::size_t e = first; e < first + ways_; ++e) {
      Entry& entry = entries_[e];
      if (entry.place == place) return touch(entry);
      if (victim == nullptr || entry.used < victim->used) victim = &entry;
    }
    return victim->cycle == round_ ? nullptr : touch(*victim);
  }
  // The entry that `lookup` returned leads to this warp now.
  void lead(Entry& entry, const Place& place, std::uint32_t warp) {
    if (entry.warp == kNone) ++live_;
    entry.place = place;
    entry.warp = warp;
  }
  // The warp was issued: nothing can join it any more.
  void invalidate(Entry* entry, std::uint32_t warp) {
    if (entry == nullptr || entry->warp != warp) return;
    entry->place = Place();
    entry->warp = kNone;
    --live_;
  }

  bool perfect() const { return ways_ == 0; }
  std::size_t sets() const { return sets_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::size_t set_of(const Place& place) const {
    return (place.pc + std::size_t{place.slot} * std::max<std::size_t>(1, sets_ / slots_)) & (sets_ - 1);
  }
  // Without misses: the first entry that leads nowhere, if none is of this place.
  Entry* any(const Place& place) {
    Entry* free = nullptr;
    std::size_t seen = 0;
    for (auto& entry : entries_) {
      if (entry.warp == kNone) {
        if (free == nullptr) free = &entry;
        if (seen == live_) break;
      } else {
        if (entry.place == place) return &entry;
        ++seen;
      }
    }
    return free;
  }
  Entry* touch(Entry& entry) {
    entry.used = ++clock_;
    entry.cycle = round_;
    return &entry;
  }

  std::size_t ways_, sets_;
  unsigned slots_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0, round_ = 1;
  std::size_t live_ = 0;  // entries that lead to a warp
};

}  // namespace weft::warp_formation

#endif
