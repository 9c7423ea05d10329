// Events of the near future, by cycle: a ring of buckets with a bit set to find the next one, and a heap for
// the few that lie further away. Events of one cycle come out in order of insertion.
#ifndef WEFT_SM_EVENT_WHEEL_H
#define WEFT_SM_EVENT_WHEEL_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"

namespace weft::sm {

template <class Event>
class EventWheel {
 public:
  void clear() {
    for (unsigned w = 0; w < used_.size(); ++w) {
      for (; used_[w] != 0; used_[w] &= used_[w] - 1) {
        const unsigned slot = w * 64 + static_cast<unsigned>(__builtin_ctzll(used_[w]));
        slots_[slot] = {};
      }
    }
    nodes_.clear();
    free_ = kNone;
    far_.clear();
    count_ = 0;
  }

  bool empty() const { return count_ == 0 && far_.empty(); }

  // `at` is after `now`, the last cycle that was taken out.
  void add(Cycle now, Cycle at, const Event& event) {
    if (at - now >= kSlots) {
      far_.push_back({at, sequence_++, event});
      std::push_heap(far_.begin(), far_.end(), later);
      return;
    }
    insert(at, event);
  }

  // Calls visit(event) for each event of cycle `now`. Events may be added meanwhile, for later cycles.
  template <class Visit>
  void take(Cycle now, Visit&& visit) {
    while (!far_.empty() && far_.front().at <= now) {
      const Event event = far_.front().event;
      std::pop_heap(far_.begin(), far_.end(), later);
      far_.pop_back();
      visit(event);
    }
    const unsigned slot = now % kSlots;
    if ((used_[slot / 64] >> (slot % 64) & 1) == 0) return;
    std::uint32_t node = slots_[slot].head;
    slots_[slot] = {};
    used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    while (node != kNone) {
      const Event event = nodes_[node].event;
      const std::uint32_t next = nodes_[node].next;
      nodes_[node].next = free_;
      free_ = node;
      --count_;
      visit(event);
      node = next;
    }
  }

  // The next cycle after `now` with an event, or kNever.
  Cycle next(Cycle now) const {
    Cycle best = far_.empty() ? kNever : far_.front().at;
    if (count_ == 0) return best;
    for (unsigned i = 1; i <= kSlots;) {
      const unsigned slot = (now + i) % kSlots;
      const std::uint64_t word = used_[slot / 64] >> (slot % 64);
      if (word != 0) return std::min(best, now + i + static_cast<unsigned>(__builtin_ctzll(word)));
      i += 64 - slot % 64;
    }
    return best;
  }

 private:
  // Enough for what an SM does by itself. More would only keep other data out of the host's caches: all SMs
  // of a GPU step in turn.
  static constexpr unsigned kSlots = 512;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Slot {
    std::uint32_t head = kNone, tail = kNone;
  };
  struct Node {
    Event event;
    std::uint32_t next;
  };
  struct Far {
    Cycle at;
    std::uint64_t sequence;
    Event event;
  };
  static bool later(const Far& a, const Far& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  void insert(Cycle at, const Event& event) {
    std::uint32_t node = free_;
    if (node == kNone) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({});
    } else {
      free_ = nodes_[node].next;
    }
    nodes_[node] = {event, kNone};
    const unsigned number = at % kSlots;
    Slot& slot = slots_[number];
    if (slot.tail == kNone) {
      slot.head = node;
      used_[number / 64] |= std::uint64_t{1} << (number % 64);
    } else {
      nodes_[slot.tail].next = node;
    }
    slot.tail = node;
    ++count_;
  }

  // What each cycle looks at lies together, and the many slots come last.
  std::array<std::uint64_t, kSlots / 64> used_{};
  std::vector<Far> far_;
  std::size_t count_ = 0;
  std::uint64_t sequence_ = 0;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::array<Slot, kSlots> slots_;
};

}  // namespace weft::sm

#endif
