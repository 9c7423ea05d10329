// What schemes share for scheduling: one scheduler, whose order (warp_order.h) the configuration names.
//
//   WarpScheduler scheduler(config, contexts);
//   scheduler.arrived(context); ... scheduler.left(context);
//   Stall stall = scheduler.pick(eligible, [&](unsigned context) { return try_to_issue(context); });
//
// `eligible` has a bit per context that may be tried at all; the callback returns kNone if it issued.
#ifndef WEFT_WARP_FORMATION_SCHEDULING_H
#define WEFT_WARP_FORMATION_SCHEDULING_H

#include <cstdint>
#include <memory>
#include <vector>

#include "weft/warp_formation/warp_formation.h"
#include "weft/warp_formation/warp_order.h"

namespace weft::warp_formation {

// How many of a scheduler's warps cannot be picked, by what they wait for.
struct WaitingWarps {
  unsigned in_flight = 0;  // an instruction of theirs
  unsigned in_memory = 0;  // of these
  unsigned at_barrier = 0;
  unsigned at_sync = 0;  // at a warp-level primitive

  void archive_none(Archive& archive) {
    auto& [flight, memory, barrier, sync] = *this;
    archive(at_rest(flight), at_rest(memory), at_rest(barrier), at_rest(sync));
  }

  // `why` or, if that tells more, what these warps wait for.
  Stall worse_of(Stall why, bool barrel) const {
    if (in_memory != 0) why = worse(why, Stall::kMemory);
    if (in_flight != in_memory) why = worse(why, barrel ? Stall::kDependence : Stall::kControl);
    if (at_barrier != 0) why = worse(why, Stall::kBarrier);
    if (at_sync != 0) why = worse(why, Stall::kReconvergence);
    return why;
  }
};

// Those of these contexts that are not known to wait. `words`: that have contexts.
inline ContextSet without_waiting(const ContextSet& contexts, const SmView& sm,
                                  unsigned words = ContextSet::kMaxContexts / 64) {
  ContextSet rest;
  for (unsigned w = 0; w < words; ++w) {
    const std::uint64_t word = contexts.word(w);
    if (word == 0) continue;
    rest.set_word(w, word & ~(sm.waiting_for_unit().word(w) | sm.waiting_for_memory_unit().word(w) |
                              sm.waiting_for_memory().word(w) | sm.waiting_for_arithmetic().word(w) |
                              sm.waiting_for_fetch().word(w)));
  }
  return rest;
}

// `why` or, if that tells more, what these contexts are known to wait for: to ask when none was picked, which
// is so often that a call would be felt.
[[gnu::always_inline]] inline Stall worse_of_waiting(const ContextSet& contexts, const SmView& sm, Stall why,
                                                     unsigned words = ContextSet::kMaxContexts / 64) {
  const auto any = [&](const ContextSet& waiting) {
    for (unsigned w = 0; w < words; ++w) {
      if ((contexts.word(w) & waiting.word(w)) != 0) return true;
    }
    return false;
  };
  // The most telling reason first.
  if (any(sm.waiting_for_unit())) return worse(why, Stall::kUnitBusy);
  if (any(sm.waiting_for_memory_unit())) return worse(why, Stall::kMemoryBusy);
  if (any(sm.waiting_for_memory())) return worse(why, Stall::kMemory);
  if (any(sm.waiting_for_arithmetic())) return worse(why, Stall::kDependence);
  if (any(sm.waiting_for_fetch())) return worse(why, Stall::kFetch);
  return why;
}

// Both at once: takes out those contexts that are known to wait, and adds for what to `why`.
inline void set_aside_waiting(ContextSet& contexts, const SmView& sm, Stall& why) {
  why = worse_of_waiting(contexts, sm, why);
  contexts = without_waiting(contexts, sm);
}

// A scheduler, with the order that the configuration names.
class WarpScheduler {
 public:
  WarpScheduler(const CommonConfig& config, unsigned contexts)
      : order_(config.scheduling.make({contexts})), wants_far_(order_->wants_far()) {}
  void reset() { order_->reset(); }
  // A warp starts, or ends, in this context.
  void arrived(unsigned context) { order_->arrived(context); }
  void left(unsigned context) { order_->left(context); }
  // Is `far` of use?
  bool wants_far() const { return wants_far_; }

  // When there are no warps.
  void archive(Archive& archive) { order_->archive(archive); }

  // `far`: contexts that wait long, for memory or at a barrier.
  template <class Try>
  Stall pick(const ContextSet& eligible, Try&& attempt, const ContextSet& far = {}) {
    return eligible.empty() ? Stall::kEmpty : order_->pick(eligible, WarpOrder::Attempt(attempt), far);
  }

 private:
  std::unique_ptr<WarpOrder> order_;
  bool wants_far_;
};

// The schedulers of a domain, each made of (config, contexts).
template <class Scheduler>
std::vector<Scheduler> make_schedulers(unsigned count, const CommonConfig& config, unsigned contexts) {
  std::vector<Scheduler> schedulers;
  schedulers.reserve(count);
  for (unsigned i = 0; i < count; ++i) schedulers.emplace_back(config, contexts);
  return schedulers;
}

}  // namespace weft::warp_formation

#endif
