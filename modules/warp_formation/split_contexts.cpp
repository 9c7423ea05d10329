// Which splits have contexts.
#include "warp_formation/split_scheme.h"

namespace weft::warp_formation {

// Whether another split has waited for the context longer than the one that has it.
bool SplitScheme::is_wanted(unsigned context) const {
  const unsigned w = of_context_[context].warp;
  return context == w ? warps_[w].wanting != 0 : schedulers_[w % schedulers_.size()].wanting != 0;
}

// The split is ready again after an instruction.
void SplitScheme::settle_after(unsigned w, Index split) {
  WarpSplits::Split& s = warps_[w].splits[split];
  if (is_wanted(s.context)) {
    take_away(s.context);
    s.context = kNone;
  } else {
    table_.set(s.context, s.pc);
    scheduler_of(w).eligible.add(s.context);
  }
  settle(w);
}

// Splits of the warp that may run get contexts, those that have waited longest first.
void SplitScheme::hand_out(unsigned w) {
  Warp& warp = warps_[w];
  WarpSplits& splits = warp.splits;
  Scheduler& s = scheduler_of(w);
  unsigned wanting = 0;
  for (Index i = 0; i < splits.end(); ++i) {
    WarpSplits::Split& split = splits[i];
    const bool runs = split.is(WarpSplits::State::kReady) && split.runs;
    if (split.is(WarpSplits::State::kReady) && !runs && split.context != kNone) {
      take_away(split.context);
      split.context = kNone;
    }
    if (!runs || split.context != kNone) split.wants = 0;
    if (!runs) continue;
    if (split.context == kNone) {
      if (split.wants == 0) split.wants = ++last_want_;
      ++wanting;
    } else if (split.changed) {
      show(split.context);
    }
  }
  if (wanting != 0 && keeps_for_waiting(w)) {
    splits[of_context_[w].split].context = kNone;
    take_away(w);
  }
  for (; wanting != 0; --wanting) {
    unsigned context = w;
    if (of_context_[w].split != kNone) context = s.free.next(0);
    if (context == ContextSet::kMaxContexts) break;
    Index first = kNone;
    for (Index i = 0; i < splits.end(); ++i) {
      if (!splits[i].is(WarpSplits::State::kFree) && splits[i].wants != 0 &&
          (first == kNone || splits[i].wants < splits[first].wants))
        first = i;
    }
    give(context, w, first);
  }
  if (of_context_[w].split == kNone) keep_for_waiting(w);
  if (wanting > warp.wanting) statistics_.context_waits += wanting - warp.wanting;
  s.wanting += static_cast<unsigned>(wanting != 0) - static_cast<unsigned>(warp.wanting != 0);
  warp.wanting = static_cast<std::uint16_t>(wanting);
}

// Threads that wait at a barrier keep the warp's own context, and the instructions in its buffer, as long as
// no other split of the warp wants it.
bool SplitScheme::keeps_for_waiting(unsigned w) const {
  const Index split = of_context_[w].split;
  return split != kNone && warps_[w].splits[split].waits();
}

void SplitScheme::keep_for_waiting(unsigned w) {
  WarpSplits& splits = warps_[w].splits;
  for (Index i = 0; i < splits.end(); ++i) {
    if (!splits[i].waits() || splits[i].source != kNone) continue;
    splits[i].context = static_cast<Index>(w);
    of_context_[w].warp = static_cast<Index>(w);
    of_context_[w].split = i;
    table_.set(w, splits[i].pc);
    return;
  }
}

// Shared contexts are free that splits of other warps want.
void SplitScheme::serve_others(Scheduler& s) {
  while (s.wanting != 0 && !s.free.empty()) {
    do {
      if (++s.next_wanting >= warps()) s.next_wanting = 0;
    } while (&scheduler_of(s.next_wanting) != &s || warps_[s.next_wanting].wanting == 0);
    hand_out(s.next_wanting);
  }
}

void SplitScheme::give(unsigned context, unsigned w, Index split) {
  WarpSplits::Split& s = warps_[w].splits[split];
  s.context = static_cast<Index>(context);
  s.wants = 0;
  Context& c = of_context_[context];
  c.warp = static_cast<Index>(w);
  c.split = split;
  c.judged = false;
  if (context != w) {
    scheduler_of(w).free.remove(context);
    scheduler_of(w).policy.arrived(context);
  }
  ++statistics_.splits.reads;
  show(context);
}

void SplitScheme::take_away(unsigned context) {
  Context& c = of_context_[context];
  Scheduler& s = schedulers_[context >= warps() ? context % schedulers_.size() : c.warp % schedulers_.size()];
  s.eligible.remove(context);
  changed_.remove(context);
  table_.set(context, ptx::kNoPc);
  if (context != c.warp) {
    s.policy.left(context);
    s.free.add(context);
  }
  c.split = kNone;
}

// Rebuilds what `pick` hands out.
void SplitScheme::show(unsigned context) {
  Context& c = of_context_[context];
  Warp& warp = warps_[c.warp];
  WarpSplits::Split& split = warp.splits[c.split];
  split.changed = false;
  c.threads = static_cast<std::uint16_t>(split.mask.count());
  c.group_count = warp.groups_of(split.mask, size_, geometry_.lanes, c.groups);
  table_.set(context, split.pc);
  changed_.add(context);
  ++statistics_.masks.writes;
  scheduler_of(c.warp).eligible.add(context);
}

}  // namespace weft::warp_formation
