// The convergence barriers of one warp: who takes part in each, and who waits at it.
//
// A barrier opens when each thread that takes part waits at it, has exited, waits at a block barrier, or has
// left it (US patent 10,067,768: a thread that yields counts as if it had come). Threads that come to the
// same barrier at another call depth, or by another way of the warp, have one of their own.
#ifndef WEFT_WARP_FORMATION_CONVERGENCE_BARRIERS_H
#define WEFT_WARP_FORMATION_CONVERGENCE_BARRIERS_H

#include <cstdint>
#include <utility>
#include <vector>

#include "weft/warp_formation/thread_mask.h"

namespace weft::warp_formation {

class WarpBarriers {
 public:
  struct Barrier {
    std::uint32_t number = 0;  // in the program
    std::uint16_t depth = 0;   // of calls
    WarpMask members;          // that have not left it
    WarpMask waiting;          // of those
  };

  WarpBarriers() { barriers_.reserve(16); }
  void clear() { barriers_.clear(); }

  std::size_t size() const { return barriers_.size(); }
  const Barrier& operator[](std::size_t i) const { return barriers_[i]; }

  void join(std::uint32_t number, std::uint16_t depth, const WarpMask& threads) {
    barriers_.push_back({number, depth, threads, {}});
  }
  // The barrier that some of `threads` take part in; size(): none.
  std::size_t find(std::uint32_t number, std::uint16_t depth, const WarpMask& threads) const {
    std::size_t i = 0;
    while (i < barriers_.size() && !(barriers_[i].number == number && barriers_[i].depth == depth &&
                                     barriers_[i].members.intersects(threads)))
      ++i;
    return i;
  }
  // How many the threads take part in.
  std::size_t count_of_members(const WarpMask& threads) const {
    std::size_t count = 0;
    for (const Barrier& barrier : barriers_) count += barrier.members.intersects(threads) ? 1 : 0;
    return count;
  }

  void wait(std::size_t i, const WarpMask& threads) { barriers_[i].waiting |= threads; }
  void leave(std::size_t i, const WarpMask& threads) { barriers_[i].members.remove(threads); }
  // Whether those who wait need wait no longer; `away` are the threads at block barriers.
  bool opens(std::size_t i, const WarpMask& away) const {
    WarpMask missing = barriers_[i].members;
    return !barriers_[i].waiting.empty() && missing.remove(barriers_[i].waiting).remove(away).empty();
  }
  bool is_over(std::size_t i) const { return barriers_[i].members.empty(); }
  // The barrier is gone; returns it as it was.
  Barrier remove(std::size_t i) {
    Barrier gone = barriers_[i];
    barriers_.erase(barriers_.begin() + static_cast<std::ptrdiff_t>(i));
    return gone;
  }

  // Threads that wait, directly or for others who wait, for some of `standing`.
  WarpMask held_by(const WarpMask& standing, const WarpMask& away) const {
    WarpMask held, cause = standing;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Barrier& barrier : barriers_) {
        if (barrier.waiting.empty()) continue;
        WarpMask missing = barrier.members;
        if (!missing.remove(barrier.waiting).remove(away).intersects(cause)) continue;
        WarpMask fresh = barrier.waiting;
        if (fresh.remove(held).empty()) continue;
        held |= fresh;
        cause |= fresh;
        changed = true;
      }
    }
    return held;
  }

 private:
  std::vector<Barrier> barriers_;  // in the order in which they were joined
};

}  // namespace weft::warp_formation

#endif
