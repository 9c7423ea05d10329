// HARP and CROWN in time: how warps move between the tables, and which one is issued (HARP 4.2.3).
#include <algorithm>

#include "warp_formation/reincarnating_warps.h"
#include "weft/warp_formation/scheduling.h"

namespace weft::warp_formation {

// From the end of the pipeline to the front: what enters a table now is seen by the next one a cycle later.
void ReincarnatingWarps::advance(Cycle now) {
  now_ = now;
  immediate_ = kNoIssue;
  memory_wait_is_news_ = false;
  if (committed_.size != 0 || lookup_committed_ || further_ != 0) take_turns(now);
  end_searches(now);
  const bool lookup_may_leave = this->lookup_may_leave();  // as the cycle finds the Second-Level
  // One warp per cycle enters the Second-Level from the barriers, first, or from a lookup table (HARP 7.3.2).
  const bool left =
      config_.waiting_departure == CommitStep::kWriteBack && revived_.size == 0 && leave_waiting_lookup(now);
  for (unsigned s = 0; s < first_.size() && ready_.size != 0; ++s) refill(s);
  if (stalled_.size != 0) house_stalled();
  if (!left) leave_one_table(now, lookup_may_leave);
  if (committed_.size != 0) begin_searches(now);
  ready_lookup_.stamp(now);
}

void ReincarnatingWarps::to_second_level(Index w) {
  ++counters_.second_level.writes;
  give_context(w);
  enter(w, State::kReady);
  push(ready_, w);
}

// Commits of this cycle get to the barriers one after the other if their threads need a port more than once.
void ReincarnatingWarps::take_turns(Cycle now) {
  const Cycle start = std::max(now, ports_taken_);
  ports_taken_ = start + further_;
  further_ = 0;
  for (Index w = committed_.head, next = kNone; w != kNone; w = next) {
    next = warps_[w].next;
    warps_[w].due = start + warps_[w].wait;
    if (warps_[w].due != now) continue;
    drop(committed_, w);
    if (warps_[w].state == State::kRevived) {
      push(revived_, w);
    } else {
      to_second_level(w);
    }
  }
  if (!lookup_committed_) return;
  lookup_committed_ = false;
  for (const std::uint16_t slot : waiting_lookup_.order()) {
    Warp& warp = warps_[waiting_lookup_.warp(slot)];
    if (warp.state == State::kLookupDone && warp.due == kNoEvent) warp.due = start + warp.wait;
  }
}

// Searches of the barriers that end as the cycle begins.
void ReincarnatingWarps::end_searches(Cycle now) {
  const auto ended = [&](const List& list) { return list.size != 0 && warps_[list.head].due <= now; };
  while (ended(returning_)) {
    const Index w = returning_.head;
    drop(returning_, w);
    to_second_level(w);
  }
  while (ended(reviving_)) {
    const Index w = reviving_.head;
    drop(reviving_, w);
    push(revived_, w);
  }
}

// The searches of this cycle's commits, which are pipelined: as many as there are begin at once.
void ReincarnatingWarps::begin_searches(Cycle now) {
  while (committed_.size != 0) {
    const Index w = committed_.head;
    drop(committed_, w);
    if (warps_[w].state == State::kRevived) {
      push(reviving_, w);
    } else if (warps_[w].due == now + 1) {
      to_second_level(w);
    } else {
      push(returning_, w);
    }
  }
}

// Warps of a low rank go before others; it does not change while a warp is ready.
std::uint32_t ReincarnatingWarps::rank(Index w) const {
  switch (config_.priority) {
    case WarpPriority::kLowestPc:
      return warps_[w].pc;
    case WarpPriority::kLaggard:
      return warps_[w].progress;
    case WarpPriority::kOldest:
      break;
  }
  return 0;
}

// The next warp of the Second-Level, among those of equal rank the first in, with one of the front end's
// instruction buffers, which a warp needs to be issued; kNone: there is none.
ReincarnatingWarps::Index ReincarnatingWarps::next_ready() {
  Index best = kNone;
  for (Index w = ready_.head; w != kNone; w = warps_[w].next) {
    if (warps_[w].context == kNone) give_context(w);
    if (warps_[w].context == kNone) continue;
    if (config_.priority == WarpPriority::kOldest) return w;
    if (best == kNone || rank(w) < rank(best)) best = w;
  }
  return best;
}

// Second-Level to First-Level, one warp per scheduler and cycle.
void ReincarnatingWarps::refill(unsigned scheduler) {
  auto& pool = first_[scheduler];
  if (pool.size() >= config_.first_level) return;
  const Index w = next_ready();
  if (w == kNone) return;
  drop(ready_, w);
  enter(w, State::kFirst);
  auto place = pool.end();
  while (place != pool.begin() && rank(*(place - 1)) > rank(w)) --place;
  pool.insert(place, w);
  ++counters_.second_to_first;
}

// When the data of a warp in the Waiting-Lookup is there, and its threads are known not to be expected at a
// barrier; kNoEvent: not yet known.
Cycle ReincarnatingWarps::done_at(Index w) const {
  if (geometry_.barrel) return warps_[w].state == State::kLookupDone ? warps_[w].due : kNoEvent;
  return sm_->waiting_for_memory().has(warps_[w].context) ? kNoEvent : 0;
}

bool ReincarnatingWarps::lookup_may_leave() const {
  return !ready_lookup_.empty() && ready_.size < config_.lookup_threshold;
}

bool ReincarnatingWarps::leave_waiting_lookup(Cycle now) {
  if (waiting_lookup_.empty()) return false;
  const int slot = waiting_lookup_.leaving(now, [this](Index w) { return done(w); });
  if (slot < 0) return false;
  const Index w = waiting_lookup_.warp(static_cast<unsigned>(slot));
  waiting_lookup_.remove(static_cast<unsigned>(slot), now);
  ++counters_.lookup_to_second;
  to_second_level(w);
  return true;
}

void ReincarnatingWarps::leave_one_table(Cycle now, bool lookup_may_leave) {
  if (revived_.size != 0) {
    const Index w = revived_.head;
    drop(revived_, w);
    ++counters_.barrier_to_second;
    return to_second_level(w);
  }
  if (leave_waiting_lookup(now) || !lookup_may_leave) return;
  const int slot = ready_lookup_.leaving(now, [](Index) { return true; });
  if (slot < 0) return;
  const Index w = ready_lookup_.warp(static_cast<unsigned>(slot));
  ready_lookup_.remove(static_cast<unsigned>(slot), now);
  ++counters_.lookup_to_second;
  to_second_level(w);
}

// Scoreboard: warps that found the Waiting-Lookup full.
void ReincarnatingWarps::house_stalled() {
  for (Index w = stalled_.head, next = kNone; w != kNone; w = next) {
    next = warps_[w].next;
    if (sm_->waiting_for_memory().has(warps_[w].context)) continue;
    drop(stalled_, w);
    to_second_level(w);
  }
}

Stall ReincarnatingWarps::pick(unsigned scheduler, Issue& issue) {
  auto& pool = first_[scheduler];
  Stall why = Stall::kNone;
  for (unsigned i = 0; i < pool.size();) {
    const Index w = pool[i];
    Warp& warp = warps_[w];
    if (!geometry_.barrel && !changed_.has(warp.context) && sm_->waiting_for_arithmetic().has(warp.context)) {
      why = worse(why, Stall::kDependence);
      ++i;
      continue;
    }
    changed_.remove(warp.context);
    if (!warp.groups_known) {
      warp.group_count = static_cast<std::uint8_t>(lanes_.groups_of(warp.threads, warp.groups.data()));
      warp.groups_known = true;
    }
    issue.pc = warp.pc;
    issue.depth = warp.depth;
    issue.context = warp.context;
    issue.slot = warp.slot;
    issue.rows = 1;
    issue.groups = {warp.groups.data(), warp.group_count};
    const Stall stall = sm_->ready(scheduler, issue);
    if (stall == Stall::kNone) return stall;
    why = worse(why, stall);
    if (stall == Stall::kMemory) {
      pool.erase(pool.begin() + i);
      memory_wait_is_news_ = memory_wait_is_news_ || (scheduler != 0 && !any_waits_for_memory());
      wait_for_memory(w);
    } else {
      ++i;
    }
  }
  return worse(why, reason());
}

bool ReincarnatingWarps::any_waits_for_memory() const {
  return warps_in_[static_cast<std::size_t>(State::kLookupWait)] +
             warps_in_[static_cast<std::size_t>(State::kWaiting)] !=
         0;
}

// Why the First-Level has nothing: the most telling place where threads are.
Stall ReincarnatingWarps::reason() const {
  const auto in = [this](State s) { return warps_in_[static_cast<std::size_t>(s)]; };
  if (any_waits_for_memory()) return Stall::kMemory;
  if (in(State::kInFlight) != 0) return geometry_.barrel ? Stall::kDependence : Stall::kControl;
  if (in(State::kBarrier) != 0) return Stall::kBarrier;
  if (barriers_.waiting() + in(State::kSync) != 0) return Stall::kReconvergence;
  if (in(State::kReady) + in(State::kLookupDone) + in(State::kReturning) + in(State::kRevived) +
          in(State::kLookup) !=
      0) {
    return Stall::kScheme;
  }
  return Stall::kEmpty;
}

bool ReincarnatingWarps::promotable() const {
  if (ready_.size == 0) return false;
  const bool room = std::any_of(first_.begin(), first_.end(),
                                [this](const auto& pool) { return pool.size() < config_.first_level; });
  if (!room) return false;
  if (!free_contexts_.empty()) return true;
  for (Index w = ready_.head; w != kNone; w = warps_[w].next) {
    if (warps_[w].context != kNone) return true;
  }
  return false;
}

Cycle ReincarnatingWarps::next_event(Cycle now) const {
  if (revived_.size + committed_.size != 0 || memory_wait_is_news_ || lookup_may_leave() || promotable())
    return now + 1;
  Cycle next = kNoEvent;
  for (const std::uint16_t slot : waiting_lookup_.order())
    next = std::min(next, done_at(waiting_lookup_.warp(slot)));
  if (next <= now) return now + 1;
  for (Index w = stalled_.head; w != kNone; w = warps_[w].next) {
    if (!sm_->waiting_for_memory().has(warps_[w].context)) return now + 1;
  }
  if (returning_.size != 0) next = std::min(next, warps_[returning_.head].due);
  if (reviving_.size != 0) next = std::min(next, warps_[reviving_.head].due);
  return next == kNoEvent ? next : std::max(next, now + 1);
}

unsigned ReincarnatingWarps::ready_warps() const {
  return warps_in_[static_cast<std::size_t>(State::kReady)] +
         warps_in_[static_cast<std::size_t>(State::kFirst)];
}

Census ReincarnatingWarps::census() const {
  const auto in = [this](State s) { return threads_in_[static_cast<std::size_t>(s)]; };
  Census census;
  const std::uint64_t waiting = in(State::kLookupWait) + in(State::kWaiting);
  census.issued = in(State::kInFlight) + (geometry_.barrel ? waiting : 0);
  census.ready = in(State::kReady) + in(State::kFirst) + (geometry_.barrel ? 0 : waiting);
  census.barrier = in(State::kBarrier);
  census.reconvergence = barriers_.waiting();
  census.lookup = in(State::kLookup);
  census.queued = in(State::kReturning) + in(State::kRevived) + in(State::kLookupDone);
  census.warp_sync = in(State::kSync);
  return census;
}

}  // namespace weft::warp_formation
