// The reconvergence stack (PDOM) of one warp, or of a block: entries {pc, rpc, mask, depth}; the top is what
// runs. A reconvergence point belongs to a call depth: a recursive function passes the same PC at other
// depths.
//
// A branch may have a likely-convergence point (likely_convergence.h): then an entry without threads lies
// below its paths, which join it when they come there, and which runs after them up to the reconvergence
// point. Whether it is joined is a matter of speed only; where it has gone on already, paths pass the point.
#ifndef WEFT_WARP_FORMATION_RECONVERGENCE_STACK_H
#define WEFT_WARP_FORMATION_RECONVERGENCE_STACK_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weft/ptx/program.h"
#include "weft/warp_formation/thread_mask.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

// `Mask` is a set of threads: WarpMask or BlockMask (thread_mask.h).
template <class Mask>
class PathStack {
 public:
  struct Entry {
    ptx::Pc pc = ptx::kNoPc;
    ptx::Pc rpc = ptx::kNoPc;     // kNoPc: reconverges only by exit
    std::uint16_t depth = 0;      // call depth at pc
    std::uint16_t rpc_depth = 0;  // ... and at rpc
    std::uint16_t level = 0;      // in the tree of paths; see bring_up
    std::uint16_t lpc_depth = 0;
    ptx::Pc lpc = ptx::kNoPc;  // likely-convergence point, at call depth lpc_depth; kNoPc: none
    bool likely = false;       // waits at such a point for those beside it
    Mask mask;
  };
  // One path that threads of the top entry take.
  struct Path {
    ptx::Pc pc = ptx::kNoPc;
    std::uint16_t depth = 0;
    Mask mask;
  };

  // Room for 2 x `threads` entries, which is always enough for so many (GPGPU-Sim asserts the same); for more
  // it grows.
  explicit PathStack(unsigned threads) { entries_.reserve(2 * std::size_t{threads} + 1); }

  void start(ptx::Pc pc, const Mask& mask) {
    entries_.clear();
    entries_.push_back(entry(pc, ptx::kNoPc, 0, 0, 0, mask));
    likely_entries_ = 0;
  }
  // The same for threads that stand in an entry of another stack, with its reconvergence point.
  void start(const Entry& within, const Mask& mask) {
    entries_.clear();
    entries_.push_back(entry(within.pc, within.rpc, within.depth, within.rpc_depth, 0, mask));
    likely_entries_ = 0;
  }
  bool empty() const { return entries_.empty(); }
  const Entry& top() const { return entries_.back(); }
  std::size_t depth() const { return entries_.size(); }
  const std::vector<Entry>& entries() const { return entries_; }

  // Times that an entry was made for a likely-convergence point, and that a path joined one.
  std::uint64_t likely_made() const { return likely_made_; }
  std::uint64_t likely_joins() const { return likely_joins_; }
  // Of one without threads: what it has counted.
  void archive(Archive& archive) {
    auto& [entries, likely_entries, likely_made, likely_joins] = *this;
    archive(set_anew(entries, likely_entries), likely_made, likely_joins);
  }

  // Threads exit: they leave every entry, and entries without threads go, except those at likely-convergence
  // points that somebody may still join.
  void exit(const Mask& threads) {
    const bool top_goes = Mask(entries_.back().mask).remove(threads).empty();
    std::size_t kept = 0;
    for (auto& entry : entries_) {
      entry.mask.remove(threads);
      if (!entry.mask.empty() || entry.likely) entries_[kept++] = entry;
    }
    entries_.resize(kept);
    if (likely_entries_ != 0) {
      drop_deserted();
      if (top_goes) settle();
    }
  }

  // The same for threads of the mask's word `w`; entries without threads stay until `settle`.
  void exit(unsigned w, std::uint32_t threads) {
    for (auto& entry : entries_) entry.mask.words[w] &= ~threads;
  }
  // The top entry is one with threads that go on: none that is empty, or whose threads join others where they
  // are.
  void settle() {
    while (!entries_.empty()) {
      Entry& top = entries_.back();
      if (!top.mask.empty()) {
        if (top.likely) run_likely(top);
        if (!at_likely_point(top.pc, top.depth)) return;
        join_likely(top.mask);
      }
      pop_top();
    }
  }

  // Whether the top entry's threads have arrived when they are there.
  bool reconverges(ptx::Pc pc, std::uint16_t depth) const {
    const Entry& top = entries_.back();
    return top.rpc != ptx::kNoPc && pc == top.rpc && depth == top.rpc_depth;
  }
  // Threads of the top entry, of word `w`, have arrived: they wait in an entry below.
  void arrive(unsigned w, std::uint32_t threads) { entries_.back().mask.words[w] &= ~threads; }
  void pop() { pop_top(); }

  // Whether threads of the top entry that come there join an entry at its likely-convergence point.
  bool at_likely_point(ptx::Pc pc, std::uint16_t depth) const {
    const Entry& top = entries_.back();
    return pc == top.lpc && pc != ptx::kNoPc && depth == top.lpc_depth && likely_entry() != entries_.size();
  }
  // Threads of the top entry, of word `w`, do so; when all have that come at once, it is counted.
  void join_likely(unsigned w, std::uint32_t threads) {
    entries_[likely_entry()].mask.words[w] |= threads;
    entries_.back().mask.words[w] &= ~threads;
  }
  void count_likely_join() { ++likely_joins_; }

  // The top entry's threads are at `pc`, where some of them wait: they do not reconverge yet.
  void stand(ptx::Pc pc, std::uint16_t depth) {
    entries_.back().pc = pc;
    entries_.back().depth = depth;
  }

  // All threads of the top entry go on at `pc`. True if they reconverge there, or join others at a
  // likely-convergence point: the entry is popped.
  bool advance_together(ptx::Pc pc, std::uint16_t depth) {
    if (reconverges(pc, depth)) {
      pop_top();
      if (likely_entries_ != 0) settle();
      return true;
    }
    Entry& top = entries_.back();
    if (at_likely_point(pc, depth)) {
      join_likely(top.mask);
      pop_top();
      settle();
      return true;
    }
    top.pc = pc;
    top.depth = depth;
    return false;
  }

  // The top entry's threads, exited ones removed, go on along `paths` (distinct PCs; bottom of the stack
  // first, so the last runs first). `rpc` at call depth `rpc_depth` is where they meet again, used if there
  // is more than one path; `likely` where they probably do before, at the call depth of the branch, which is
  // `rpc_depth`, or kNoPc.
  void advance(const Path* paths, unsigned count, ptx::Pc rpc, std::uint16_t rpc_depth,
               ptx::Pc likely = ptx::kNoPc) {
    if (count == 1) {
      advance_together(paths[0].pc, paths[0].depth);
      return;
    }
    const Entry top = entries_.back();
    std::uint16_t level = top.level;
    Place point{top.lpc, top.lpc_depth};
    if (rpc == top.rpc && rpc_depth == top.rpc_depth) {
      // The entry below already waits there (or nothing ever does): no entry of our own, so loops do not grow
      // the stack.
      pop_top();
    } else {
      entries_.back().pc = rpc;
      entries_.back().depth = rpc_depth;
      ++level;
      point.pc = ptx::kNoPc;
    }
    const auto stands_at = [](const Path& path, const Place& place) {
      return place.pc != ptx::kNoPc && path.pc == place.pc && path.depth == place.depth;
    };
    const Place meeting{rpc, rpc_depth};
    unsigned apart = 0;  // paths that do not meet at once
    for (unsigned i = 0; i < count; ++i) apart += !stands_at(paths[i], meeting);
    if (likely != ptx::kNoPc && apart > 1) {
      make_likely({likely, rpc_depth}, point, meeting, level);
      point = {likely, rpc_depth};
    }
    for (unsigned i = 0; i < count; ++i) {
      if (stands_at(paths[i], meeting)) continue;
      entries_.push_back(entry(paths[i].pc, rpc, paths[i].depth, rpc_depth, level, paths[i].mask));
      entries_.back().lpc = point.pc;
      entries_.back().lpc_depth = point.depth;
      if (stands_at(paths[i], point) && likely_entry() != entries_.size()) {
        join_likely(paths[i].mask);
        entries_.pop_back();
      }
    }
    if (likely_entries_ != 0) settle();
  }

  // Puts a path on top of which can_run(mask) holds, the nearest to the top; false: there is none.
  //
  // The entries are a tree in preorder, `level` being the depth in it: the paths of a branch are the children
  // of the entry that waits for them, in any order. Only leaves can run, and turning the subtrees of one
  // parent round leaves the tree as it is.
  template <class CanRun>
  bool bring_up(CanRun&& can_run) {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (!can_go_on(i, can_run)) continue;
      raise(i);
      return true;
    }
    return false;
  }

  // Threads of the top entry leave it for a path of their own beside it, at `pc`, with the same reconvergence
  // point. They join one that is there already if `joins(its mask)`.
  template <class Joins>
  void set_aside(const Mask& threads, ptx::Pc pc, std::uint16_t depth, Joins&& joins) {
    entries_.back().mask.remove(threads);
    const Entry top = entries_.back();
    for (std::size_t i = entries_.size() - 1; i-- > 0;) {
      if (entries_[i].level != top.level) break;
      const Entry& other = entries_[i];
      if (other.likely || other.pc != pc || other.depth != depth || !joins(other.mask)) continue;
      entries_[i].mask |= threads;
      return;
    }
    entries_.push_back(top);
    Entry& aside = entries_[entries_.size() - 2];
    aside.pc = pc;
    aside.depth = depth;
    aside.mask = threads;
  }

  // Threads of the top entry leave it for a path beside it that has no PC, since they run elsewhere, on a
  // stack that starts within this entry. Those that `runs_elsewhere` says have left before are there.
  template <class RunsElsewhere>
  void leave(const Mask& threads, RunsElsewhere&& runs_elsewhere) {
    set_aside(threads, ptx::kNoPc, 0, runs_elsewhere);
  }
  // They have arrived where that path reconverges, or are back in the top entry.
  void arrive_elsewhere(const Mask& threads) {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (entries_[i].pc != ptx::kNoPc || !is_leaf(i)) continue;
      // The top entry goes with `settle`.
      if (entries_[i].mask.remove(threads).empty() && i + 1 != entries_.size()) entries_.erase(at(i));
    }
  }
  void come_back(const Mask& threads) {
    arrive_elsewhere(threads);
    entries_.back().mask |= threads;
  }
  // ... or run here from now on: the paths of `own`, their stack, are beside that path.
  void take_over(const PathStack& own, const Mask& threads) {
    std::size_t i = entries_.size() - 1;
    while (entries_[i].pc != ptx::kNoPc || !is_leaf(i) || !entries_[i].mask.intersects(threads)) --i;
    entries_[i].mask.remove(threads);
    const Entry path = entries_[i];
    entries_.insert(at(i), own.entries_.begin(), own.entries_.end());
    const std::size_t end = i + own.entries_.size();
    for (; i < end; ++i) entries_[i].level = static_cast<std::uint16_t>(entries_[i].level + path.level);
    if (path.mask.empty()) entries_.erase(at(end));
  }

  // The threads that wait for others at a reconvergence point go on without them: the innermost such entry
  // becomes a path beside those that it waited for, and all of them meet where it would have met its own
  // siblings. False: nobody waits so.
  bool go_on_without() {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      Entry& entry = entries_[i];
      Mask arrived = entry.mask;
      const std::size_t end = end_of(i, entry.level + 1u);
      for (std::size_t k = i + 1; k < end; ++k) arrived.remove(entries_[k].mask);
      if (end == i + 1 || arrived.empty()) continue;
      for (std::size_t k = i + 1; k < end; ++k) {
        if (entries_[k].level-- != entry.level + 1) continue;
        entries_[k].rpc = entry.rpc;
        entries_[k].rpc_depth = entry.rpc_depth;
      }
      entry.mask = arrived;
      return true;
    }
    return false;
  }

  // Threads that wait at a reconvergence point for others, one of which is among `standing`.
  Mask held_back(const Mask& standing) const {
    Mask held;
    for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
      Mask arrived = entries_[i].mask;
      bool held_here = false;
      for (std::size_t k = i + 1, end = end_of(i, entries_[i].level + 1u); k < end; ++k) {
        arrived.remove(entries_[k].mask);
        held_here = held_here || entries_[k].mask.intersects(standing);
      }
      if (held_here) held |= arrived;
    }
    return held;
  }

  // Like bring_up, but puts the path with the lowest PC on top; those that stand where it does, with the same
  // parent, join it.
  template <class CanRun>
  bool bring_up_lowest(CanRun&& can_run) {
    std::size_t lowest = entries_.size();
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (!can_go_on(i, can_run)) continue;
      if (lowest == entries_.size() || entries_[i].pc < entries_[lowest].pc) lowest = i;
    }
    if (lowest == entries_.size()) return false;
    raise(lowest);
    for (std::size_t i = entries_.size() - 1; i-- > 0;) {
      if (entries_[i].level < entries_.back().level) break;
      Entry& top = entries_.back();
      const Entry& other = entries_[i];
      const bool same = other.level == top.level && other.pc == top.pc && other.depth == top.depth;
      if (!same || !can_go_on(i, can_run)) continue;
      top.mask |= other.mask;
      likely_entries_ -= other.likely;
      entries_.erase(at(i));
    }
    return true;
  }

  // The path nearest to the top that holds threads of `some` and others becomes two, with the same point of
  // reconvergence. False: there is none.
  bool part(const Mask& some) {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (!is_leaf(i) || !entries_[i].mask.intersects(some)) continue;
      Entry others = entries_[i];
      others.mask.remove(some);
      if (others.mask.empty()) continue;
      entries_[i].mask.remove(others.mask);
      others.likely = false;
      entries_.insert(at(i + 1), others);
      return true;
    }
    return false;
  }

 private:
  struct Place {
    ptx::Pc pc = ptx::kNoPc;
    std::uint16_t depth = 0;
  };

  static Entry entry(ptx::Pc pc, ptx::Pc rpc, std::uint16_t depth, std::uint16_t rpc_depth,
                     std::uint16_t level, const Mask& mask) {
    Entry entry;
    entry.pc = pc;
    entry.rpc = rpc;
    entry.depth = depth;
    entry.rpc_depth = rpc_depth;
    entry.level = level;
    entry.mask = mask;
    return entry;
  }

  bool is_leaf(std::size_t i) const {
    return i + 1 == entries_.size() || entries_[i + 1].level <= entries_[i].level;
  }
  template <class CanRun>
  bool can_go_on(std::size_t i, CanRun&& can_run) const {
    const bool deserted = entries_[i].likely && entries_[i].mask.empty();
    return is_leaf(i) && !deserted && can_run(entries_[i].mask);
  }
  void pop_top() {
    likely_entries_ -= entries_.back().likely;
    entries_.pop_back();
  }

  // The entry beside the top one that waits at the top's likely-convergence point, or the number of entries.
  std::size_t likely_entry() const {
    if (likely_entries_ == 0) return entries_.size();
    const Entry& top = entries_.back();
    for (std::size_t i = entries_.size() - 1; i-- > 0;) {
      if (entries_[i].level < top.level) break;
      const Entry& other = entries_[i];
      if (other.likely && other.level == top.level && other.pc == top.lpc && other.depth == top.lpc_depth)
        return i;
    }
    return entries_.size();
  }
  void join_likely(const Mask& threads) {
    entries_[likely_entry()].mask |= threads;
    ++likely_joins_;
  }
  // An entry for the likely-convergence point of paths that follow, itself on its way to `next`; one that is
  // there serves again, so that loops do not grow the stack.
  void make_likely(const Place& point, const Place& next, const Place& meeting, std::uint16_t level) {
    Entry made = entry(point.pc, meeting.pc, point.depth, meeting.depth, level, Mask());
    made.lpc = point.pc;
    made.lpc_depth = point.depth;
    entries_.push_back(made);
    if (likely_entry() + 1 < entries_.size()) return entries_.pop_back();
    const bool onward = next.pc != point.pc || next.depth != point.depth;
    entries_.back().lpc = onward ? next.pc : ptx::kNoPc;
    entries_.back().lpc_depth = next.depth;
    entries_.back().likely = true;
    ++likely_entries_;
    ++likely_made_;
  }
  // It waits no more.
  void run_likely(Entry& entry) {
    entry.likely = false;
    --likely_entries_;
  }
  // Entries at likely-convergence points go if they are empty and nobody is beside them.
  void drop_deserted() {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (!entries_[i].likely || !entries_[i].mask.empty()) continue;
      std::size_t first = i;
      while (first > 0 && entries_[first - 1].level >= entries_[i].level) --first;
      const std::size_t end = end_of(i, entries_[i].level);
      const bool company = std::any_of(at(first), at(end), [](const Entry& e) { return !e.mask.empty(); });
      if (company) continue;
      entries_.erase(at(i));
      --likely_entries_;
    }
  }

  // The first entry after `from` of a level below `level`, or the end.
  std::size_t end_of(std::size_t from, unsigned level) const {
    std::size_t end = from + 1;
    while (end < entries_.size() && entries_[end].level >= level) ++end;
    return end;
  }
  // Turns every subtree that holds entry i to the end of its siblings, from the root on.
  void raise(std::size_t i) {
    if (i + 1 == entries_.size()) return;
    for (unsigned level = 0; level <= entries_[i].level; ++level) {
      std::size_t first = i;
      while (entries_[first].level != level) --first;
      const std::size_t own_end = end_of(first, level + 1), all_end = end_of(first, level);
      std::rotate(at(first), at(own_end), at(all_end));
      i += all_end - own_end;
    }
    if (entries_.back().likely) run_likely(entries_.back());
  }
  typename std::vector<Entry>::iterator at(std::size_t i) {
    return entries_.begin() + static_cast<std::ptrdiff_t>(i);
  }

  std::vector<Entry> entries_;
  unsigned likely_entries_ = 0;  // of entries_
  std::uint64_t likely_made_ = 0, likely_joins_ = 0;
};

using ReconvergenceStack = PathStack<WarpMask>;
using StackEntry = ReconvergenceStack::Entry;

}  // namespace weft::warp_formation

#endif
