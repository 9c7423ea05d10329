// Round robin among contexts: the first one that can be issued after the one that was issued last.
#ifndef WEFT_WARP_FORMATION_ROUND_ROBIN_H
#define WEFT_WARP_FORMATION_ROUND_ROBIN_H

#include "weft/warp_formation/warp_order.h"

namespace weft::warp_formation {

class RoundRobin {
 public:
  // Among contexts low .. high - 1.
  template <class Try>
  Stall pick(const ContextSet& eligible, Try& attempt, unsigned low, unsigned high) {
    Stall why = Stall::kNone;
    const unsigned start = last_ >= low && last_ < high ? last_ + 1 : low;
    for (unsigned c = eligible.next(start); c < high; c = eligible.next(c + 1)) {
      const Stall stall = attempt(c);
      if (stall == Stall::kNone) return issued(c);
      why = worse(why, stall);
    }
    for (unsigned c = eligible.next(low); c < start && c < high; c = eligible.next(c + 1)) {
      const Stall stall = attempt(c);
      if (stall == Stall::kNone) return issued(c);
      why = worse(why, stall);
    }
    return why == Stall::kNone ? Stall::kEmpty : why;
  }
  void archive(Archive& archive) { archive(last_); }

 private:
  Stall issued(unsigned context) {
    last_ = context;
    return Stall::kNone;
  }

  unsigned last_ = ContextSet::kMaxContexts - 1;
};

}  // namespace weft::warp_formation

#endif
