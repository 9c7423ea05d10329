// Splits of a warp that run by the priorities of their blocks, and instructions that begin beside others
// (sbi, swi).
#include <algorithm>

#include "ptx/frontiers.h"
#include "warp_formation/split_scheme.h"

namespace weft::warp_formation {

void SplitScheme::rank(const ptx::Program& program) {
  rank_.assign(program.code.size(), 0);
  parted_at_.assign(program.code.size(), ptx::kNoRank);
  for (const ptx::BasicBlock& block : program.blocks) {
    for (ptx::Pc pc = block.first; pc <= block.last; ++pc) rank_[pc] = block.rank;
  }
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    const ptx::Instruction& in = program.code[pc];
    const ptx::Pc meet = in.is_branch() ? reconvergence_point(in, config_.reconvergence) : ptx::kNoPc;
    if (meet != ptx::kNoPc) parted_at_[meet] = std::min(parted_at_[meet], rank_[pc]);
  }
}

// Threads in the deepest call go first, then those in the first block, in it those that are behind.
bool SplitScheme::goes_before(const WarpSplits::Split& a, const WarpSplits::Split& b) const {
  if (a.depth != b.depth) return a.depth > b.depth;
  return rank_[a.pc] != rank_[b.pc] ? rank_[a.pc] < rank_[b.pc] : a.pc < b.pc;
}

// Whether the split stands where paths of a branch meet, and the first one is on one of these.
bool SplitScheme::awaits(const WarpSplits::Split& split, const WarpSplits::Split& first) const {
  const std::uint32_t branch = parted_at_[split.pc];
  return branch != ptx::kNoRank && split.depth == first.depth && branch < rank_[first.pc] &&
         rank_[first.pc] < rank_[split.pc];
}

// Of the splits that could run, the first ones do.
void SplitScheme::keep_first(Warp& warp) {
  WarpSplits& splits = warp.splits;
  Index first = kNone;
  for (unsigned places = rules_.frontier; places != 0; --places) {
    Index best = kNone;
    for (Index i = 0; i < splits.end(); ++i) {
      if (splits[i].can_run() && splits[i].runs && (best == kNone || goes_before(splits[i], splits[best])))
        best = i;
    }
    if (best == kNone) break;
    splits[best].runs = false;
    kept_.push_back(best);
    if (first == kNone) first = best;
  }
  for (Index i = 0; i < splits.end(); ++i) splits[i].runs = false;
  for (const Index i : kept_) {
    const bool waits = rules_.awaits_first && i != first && awaits(splits[i], splits[first]);
    splits[i].runs = !waits;
    statistics_.constrained += waits && !splits[i].awaits ? 1 : 0;
    splits[i].awaits = waits;
  }
  kept_.clear();
}

// --- beside another ----------------------------------------------------------------------------------------

// What the scheduler has issued in this cycle, `begun_`, leaves lanes or units free.
Stall SplitScheme::pick_beside(unsigned scheduler, Issue& issue) {
  const Scheduler& s = schedulers_[scheduler];
  ++statistics_.masks.searches;
  unsigned best = kNobody, most = 0;
  for (unsigned w = 0; w < words_; ++w) {
    const std::uint64_t known = sm_->waiting_for_memory().word(w) | sm_->waiting_for_arithmetic().word(w) |
                                sm_->waiting_for_fetch().word(w);
    std::uint64_t rest = s.eligible.word(w) & (~known | changed_.word(w));
    for (; rest != 0; rest &= rest - 1) {
      const unsigned context = 64 * w + static_cast<unsigned>(__builtin_ctzll(rest));
      const Context& c = of_context_[context];
      if (c.threads <= most || !may_begin_beside(c)) continue;
      fill(issue, context);
      if (judged(issue, sm_->ready_beside(scheduler, issue)) != Stall::kNone) continue;
      best = context;
      most = c.threads;
    }
  }
  if (best == kNobody) return Stall::kUnitBusy;
  fill(issue, best);
  ++(of_context_[best].warp == begun_ ? statistics_.beside_own : statistics_.beside_others);
  return Stall::kNone;
}

bool SplitScheme::may_begin_beside(const Context& c) const {
  if (c.warp == begun_) return rules_.frontier > 1;
  const auto set_of = [this](unsigned warp) {
    return warp / static_cast<unsigned>(schedulers_.size()) % rules_.sets;
  };
  return rules_.sets != 0 && set_of(c.warp) == set_of(begun_);
}

}  // namespace weft::warp_formation
