// Contexts that are set aside until a cycle that is known: nobody looks at them before.
//
// A ring of the next 64 cycles. Who waits longer is asked once in between.
#ifndef WEFT_SM_WAKING_CONTEXTS_H
#define WEFT_SM_WAKING_CONTEXTS_H

#include <algorithm>
#include <array>
#include <cstdint>

#include "bus/clock_domain.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class WakingContexts {
 public:
  // `until` is after `now`, and take(now) was called.
  void add(Cycle now, unsigned context, Cycle until) {
    const unsigned slot = std::min(until, now + kSlots - 1) % kSlots;
    contexts_[slot].add(context);
    used_ |= std::uint64_t{1} << slot;
    taken_ = now;
  }

  // Calls visit(contexts) for those who wait for a cycle up to `now`.
  template <class Visit>
  void take(Cycle now, Visit&& visit) {
    if (used_ == 0) return;
    for (Cycle at = next(); at <= now; at = next()) {
      warp_formation::ContextSet& contexts = contexts_[at % kSlots];
      visit(contexts);
      contexts.clear();
      used_ &= ~(std::uint64_t{1} << (at % kSlots));
    }
    taken_ = now;
  }

  // The next cycle for which somebody waits, or kNever.
  Cycle next() const {
    if (used_ == 0) return kNever;
    const unsigned from = (taken_ + 1) % kSlots;
    const std::uint64_t turned = from == 0 ? used_ : used_ >> from | used_ << (kSlots - from);
    return taken_ + 1 + static_cast<unsigned>(__builtin_ctzll(turned));
  }

  void clear() {
    contexts_ = {};
    used_ = 0;
  }

 private:
  static constexpr unsigned kSlots = 64;
  std::uint64_t used_ = 0;  // bit of a cycle modulo kSlots: somebody waits for it
  Cycle taken_ = 0;         // up to here
  std::array<warp_formation::ContextSet, kSlots> contexts_{};
};

}  // namespace weft::sm

#endif
