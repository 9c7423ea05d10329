// Warps that have been divided (dws).
#include <algorithm>
#include <utility>

#include "warp_formation/split_scheme.h"

namespace weft::warp_formation {

// Whether one of the warp's splits may become so many that run at a time. A warp with a single one has no
// entry.
bool SplitScheme::has_room(const Warp& warp, unsigned parts) const {
  return divided_ + parts - (warp.divided != 0 ? 1 : 0) <= rules_.divided;
}

void SplitScheme::count_divided(unsigned w) {
  if (rules_.divided == 0) return;
  Warp& warp = warps_[w];
  unsigned running = 0;
  for (Index i = 0; warp.splits.count() > 1 && i < warp.splits.end(); ++i) {
    const WarpSplits::Split& split = warp.splits[i];
    if (split.waits() || (split.can_run() && split.runs)) ++running;
  }
  const unsigned divided = running > 1 ? running : 0;
  divided_ += divided - warp.divided;
  warp.divided = static_cast<std::uint16_t>(divided);
  statistics_.most_divided = std::max<std::uint64_t>(statistics_.most_divided, divided_);
}

// Barrel: some threads of a load have their data.
void SplitScheme::run_ahead(unsigned context) {
  Context& c = of_context_[context];
  if (!c.in_memory || rules_.memory == MemorySplits::kNone || rules_.memory == MemorySplits::kRevive) return;
  const bool too_late = c.judged || !scheduler_of(c.warp).eligible.empty();
  if (rules_.memory != MemorySplits::kLazy || !too_late) detach(context);
  c.judged = true;
}

// Those threads go on as a split of their own.
void SplitScheme::detach(unsigned context) {
  Context& c = of_context_[context];
  WarpSplits& splits = warps_[c.warp].splits;
  if (!splits.has_landed(c.split)) return;
  const bool first = !std::exchange(c.judged, true);
  if (!has_room(warps_[c.warp], 2)) {
    statistics_.full += first ? 1 : 0;
    return;
  }
  const ptx::Pc next = splits[c.split].pc + 1;
  const ptx::Pc limit = limit_from(next);
  if (limit == next) return;
  ++statistics_.memory_divisions;
  const Index ahead = splits.detach(c.split);
  if (limit != ptx::kNoPc && ahead != kNone) splits.meet_at(c.split, ahead, limit);
  settle(c.warp);
}

// Where threads that run ahead from here wait for the others: before the branch that ends the block, or at
// its end. kNoPc: nowhere in particular.
ptx::Pc SplitScheme::limit_from(ptx::Pc pc) const {
  if (rules_.run_ahead == RunAhead::kBeyondBranches) return ptx::kNoPc;
  const ptx::Pc last = pc + block_length_[pc] - 1;
  return program_->code[last].is_control() ? last : last + 1;
}

// Nothing can be issued, or threads always run ahead: those do whose data have come. True: `issue` is theirs.
bool SplitScheme::divide_waiting(Scheduler& s, unsigned scheduler, Issue& issue) {
  if (geometry_.barrel) {
    if (rules_.memory != MemorySplits::kRevive) return false;
    for (unsigned c = s.far.next(0); c < contexts_; c = s.far.next(c + 1)) detach(c);
    return false;
  }
  ContextSet waiting;
  for (unsigned w = 0; w < words_; ++w)
    waiting.set_word(w, s.eligible.word(w) & sm_->waiting_for_memory().word(w));
  for (unsigned c = waiting.next(0); c < contexts_; c = waiting.next(c + 1)) {
    if (!s.eligible.has(c)) continue;  // its threads have met others of the warp that was just divided
    const bool first = !std::exchange(of_context_[c].judged, true);
    if (!first && rules_.memory == MemorySplits::kLazy) continue;
    if (!has_room(warps_[of_context_[c].warp], 2)) {
      statistics_.full += first ? 1 : 0;
      continue;
    }
    if (divide_by_operands(c, scheduler, issue)) return true;
  }
  return false;
}

// The SM took a context's earlier threads for waiting. It does not tell when operands of those that are there
// now arrive, which may divide them.
bool SplitScheme::may_divide_later(const Scheduler& s) const {
  if (rules_.memory == MemorySplits::kNone) return false;
  for (unsigned w = 0; w < words_; ++w) {
    if ((s.eligible.word(w) & changed_.word(w) & sm_->waiting_for_memory().word(w)) != 0) return true;
  }
  return false;
}

// The context keeps the threads whose operands are there. True: they can be issued.
bool SplitScheme::divide_by_operands(unsigned context, unsigned scheduler, Issue& issue) {
  const Context& c = of_context_[context];
  Warp& warp = warps_[c.warp];
  fill(issue, context);
  WarpMask waiting;
  for (const auto& group : issue.groups)
    warp.add_to(waiting, {sm_->waiting_threads(issue, group), group.chunk, 0, false});
  WarpMask rest = warp.splits[c.split].mask;
  if (waiting.empty() || rest.remove(waiting).empty()) return false;
  const ptx::Pc limit = limit_from(issue.pc);
  if (limit == issue.pc) return false;
  ++statistics_.memory_divisions;
  ++statistics_.splits.writes;
  const Index part = warp.splits.divide(c.split, waiting);
  if (limit != ptx::kNoPc) warp.splits.meet_at(c.split, part, limit);
  warp.splits[part].stalled = true;
  settle(c.warp);
  if (c.split == kNone) return false;  // its threads have met others
  fill(issue, context);
  return judged(issue, sm_->ready(scheduler, issue)) == Stall::kNone;
}

}  // namespace weft::warp_formation
