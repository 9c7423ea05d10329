// Scheduling policies that schemes share: in which order the warps of one scheduler are tried.
//
//   WarpScheduler scheduler(config, contexts);
//   scheduler.arrived(context); ... scheduler.left(context);
//   Stall stall = scheduler.pick(eligible, [&](unsigned context) { return try_to_issue(context); });
//
// `eligible` has a bit per context that may be tried at all; the callback returns kNone if it issued.
#ifndef WEFT_WARP_FORMATION_SCHEDULING_H
#define WEFT_WARP_FORMATION_SCHEDULING_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

// Keeps the more telling of two reasons: the one that comes first in `Stall`.
inline Stall worse(Stall a, Stall b) {
  if (a == Stall::kNone) return b;
  if (b == Stall::kNone) return a;
  return std::min(a, b);
}

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

// Takes out those contexts that are known to wait, and adds for what to `why`.
inline void set_aside_waiting(ContextSet& contexts, const SmView& sm, Stall& why) {
  for (unsigned w = 0; w < ContextSet::kMaxContexts / 64; ++w) {
    std::uint64_t rest = contexts.word(w);
    if (rest == 0) continue;
    const auto set_aside = [&](const ContextSet& waits, Stall stall) {
      if ((rest & waits.word(w)) == 0) return;
      why = worse(why, stall);
      rest &= ~waits.word(w);
    };
    set_aside(sm.waiting_for_unit(), Stall::kUnitBusy);
    set_aside(sm.waiting_for_memory_unit(), Stall::kMemoryBusy);
    set_aside(sm.waiting_for_memory(), Stall::kMemory);
    set_aside(sm.waiting_for_arithmetic(), Stall::kDependence);
    set_aside(sm.waiting_for_fetch(), Stall::kFetch);
    contexts.set_word(w, rest);
  }
}

class WarpScheduler {
 public:
  WarpScheduler(const CommonConfig& config, unsigned contexts)
      : scheduling_(config.scheduling), two_level_(config.two_level), contexts_(contexts) {
    by_age_.reserve(contexts);
  }
  void reset() {
    by_age_.clear();
    live_.clear();
    last_ = ContextSet::kMaxContexts - 1;
    fetch_group_ = 0;
    issued_in_group_ = 0;
  }
  // A warp starts, or ends, in this context.
  void arrived(unsigned context) {
    by_age_.push_back(static_cast<std::uint16_t>(context));
    live_.add(context);
  }
  void left(unsigned context) {
    live_.remove(context);
    by_age_.erase(std::find(by_age_.begin(), by_age_.end(), static_cast<std::uint16_t>(context)));
  }

  // When there are no warps.
  void archive(Archive& archive) {
    auto& [scheduling, two_level, contexts, by_age, live, last, fetch_group, issued_in_group] = *this;
    archive(set_anew(scheduling, two_level, contexts), at_rest(by_age), at_rest(live), last, fetch_group,
            issued_in_group);
  }

  // `far`: contexts that wait long, for memory or at a barrier; of use to two-level scheduling only.
  template <class Try>
  Stall pick(const ContextSet& eligible, Try&& attempt, const ContextSet& far = {}) {
    if (eligible.empty()) return Stall::kEmpty;
    switch (scheduling_) {
      case Scheduling::kGreedyThenOldest:
        return greedy_then_oldest(eligible, attempt);
      case Scheduling::kTwoLevel:
        return two_level(eligible, attempt, far);
      case Scheduling::kLooseRoundRobin:
        break;
    }
    return round_robin(eligible, attempt, 0, contexts_);
  }

 private:
  // The first ready warp after the last issued one, among contexts low .. high-1.
  template <class Try>
  Stall round_robin(const ContextSet& eligible, Try& attempt, unsigned low, unsigned high) {
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

  template <class Try>
  Stall greedy_then_oldest(const ContextSet& eligible, Try& attempt) {
    Stall why = Stall::kNone;
    if (last_ < contexts_ && eligible.has(last_)) {
      why = attempt(last_);
      if (why == Stall::kNone) return Stall::kNone;
    }
    for (const std::uint16_t c : by_age_) {
      if (c == last_ || !eligible.has(c)) continue;
      const Stall stall = attempt(c);
      if (stall == Stall::kNone) return issued(c);
      why = worse(why, stall);
    }
    return why == Stall::kNone ? Stall::kEmpty : why;
  }

  // Round robin inside the prioritised fetch group; the next group when no warp of it can run, and that one
  // becomes the prioritised one when the old group waits for memory only, or at the timeout [LWM paper,
  // two-level scheduling].
  template <class Try>
  Stall two_level(const ContextSet& eligible, Try& attempt, ContextSet far) {
    const auto size = static_cast<unsigned>(two_level_.group_warps);
    const unsigned groups = (contexts_ + size - 1) / size;
    auto noting = [&](unsigned context) {
      const Stall stall = attempt(context);
      if (stall == Stall::kMemory || stall == Stall::kBarrier) far.add(context);
      return stall;
    };
    Stall why = Stall::kNone;
    bool first_waits_long = false;
    for (unsigned i = 0; i < groups; ++i) {
      const unsigned group = (fetch_group_ + i) % groups;
      const unsigned low = group * size;
      const unsigned high = std::min(low + size, contexts_);
      const Stall stall = round_robin(eligible, noting, low, high);
      if (stall == Stall::kNone) {
        count_issue(group, groups, i > 0 && first_waits_long);
        return Stall::kNone;
      }
      if (i == 0) {
        ContextSet near = live_;
        near.remove(far);
        first_waits_long = near.next(low) >= high;
      }
      why = worse(why, stall);
    }
    return why;
  }

  void count_issue(unsigned group, unsigned groups, bool switch_group) {
    if (switch_group) {
      fetch_group_ = group;
      issued_in_group_ = 0;
    }
    ++issued_in_group_;
    if (two_level_.timeout_instructions != 0 && issued_in_group_ >= two_level_.timeout_instructions) {
      fetch_group_ = (fetch_group_ + 1) % groups;
      issued_in_group_ = 0;
    }
  }

  Stall issued(unsigned context) {
    last_ = context;
    return Stall::kNone;
  }

  Scheduling scheduling_;
  CommonConfig::TwoLevel two_level_;
  unsigned contexts_;
  std::vector<std::uint16_t> by_age_;  // oldest first
  ContextSet live_;
  unsigned last_ = ContextSet::kMaxContexts - 1;
  unsigned fetch_group_ = 0;
  std::uint64_t issued_in_group_ = 0;
};

}  // namespace weft::warp_formation

#endif
