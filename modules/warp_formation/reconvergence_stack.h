// The reconvergence stack (PDOM) of one warp, or of a block: entries {pc, rpc, mask, depth}; the top is what
// runs. A reconvergence point belongs to a call depth: a recursive function passes the same PC at other
// depths.
#ifndef WEFT_WARP_FORMATION_RECONVERGENCE_STACK_H
#define WEFT_WARP_FORMATION_RECONVERGENCE_STACK_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ptx/program.h"
#include "warp_formation/warp_formation.h"

namespace weft::warp_formation {

// Threads of one warp, bit i = thread i of the warp.
struct WarpMask {
  std::array<std::uint32_t, kMaxWarpSize / 32> words{};

  bool empty() const {
    std::uint32_t any = 0;
    for (const auto word : words) any |= word;
    return any == 0;
  }
  unsigned count() const {
    unsigned n = 0;
    for (const auto word : words) n += static_cast<unsigned>(__builtin_popcount(word));
    return n;
  }
  // The highest thread number; the mask is not empty.
  unsigned highest() const {
    for (unsigned w = static_cast<unsigned>(words.size()); w-- > 0;) {
      if (words[w] != 0) return w * 32 + 31 - static_cast<unsigned>(__builtin_clz(words[w]));
    }
    return 0;
  }
  WarpMask& operator|=(const WarpMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  bool intersects(const WarpMask& other) const {
    std::uint32_t any = 0;
    for (std::size_t w = 0; w < words.size(); ++w) any |= words[w] & other.words[w];
    return any != 0;
  }
  WarpMask& remove(const WarpMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] &= ~other.words[w];
    return *this;
  }
  friend bool operator==(const WarpMask& a, const WarpMask& b) { return a.words == b.words; }
};

// `Mask` is a set of threads: WarpMask, or BlockMask (tbc_block.h).
template <class Mask>
class PathStack {
 public:
  struct Entry {
    ptx::Pc pc = ptx::kNoPc;
    ptx::Pc rpc = ptx::kNoPc;     // kNoPc: reconverges only by exit
    std::uint16_t depth = 0;      // call depth at pc
    std::uint16_t rpc_depth = 0;  // ... and at rpc
    std::uint16_t level = 0;      // in the tree of paths; see bring_up
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
    entries_.push_back({pc, ptx::kNoPc, 0, 0, 0, mask});
  }
  bool empty() const { return entries_.empty(); }
  const Entry& top() const { return entries_.back(); }
  std::size_t depth() const { return entries_.size(); }
  const std::vector<Entry>& entries() const { return entries_; }

  // Threads exit: they leave every entry, and entries without threads go.
  void exit(const Mask& threads) {
    std::size_t kept = 0;
    for (auto& entry : entries_) {
      entry.mask.remove(threads);
      if (!entry.mask.empty()) entries_[kept++] = entry;
    }
    entries_.resize(kept);
  }

  // The same for threads of the mask's word `w`; entries without threads stay until `settle`.
  void exit(unsigned w, std::uint32_t threads) {
    for (auto& entry : entries_) entry.mask.words[w] &= ~threads;
  }
  void settle() {
    while (!entries_.empty() && entries_.back().mask.empty()) entries_.pop_back();
  }

  // Whether the top entry's threads have arrived when they are there.
  bool reconverges(ptx::Pc pc, std::uint16_t depth) const {
    const Entry& top = entries_.back();
    return top.rpc != ptx::kNoPc && pc == top.rpc && depth == top.rpc_depth;
  }
  // Threads of the top entry, of word `w`, have arrived: they wait in an entry below.
  void arrive(unsigned w, std::uint32_t threads) { entries_.back().mask.words[w] &= ~threads; }
  void pop() { entries_.pop_back(); }

  // All threads of the top entry go on at `pc`. True if they reconverge there: the entry is popped.
  bool advance_together(ptx::Pc pc, std::uint16_t depth) {
    if (reconverges(pc, depth)) {
      entries_.pop_back();
      return true;
    }
    Entry& top = entries_.back();
    top.pc = pc;
    top.depth = depth;
    return false;
  }

  // The top entry's threads, exited ones removed, go on along `paths` (distinct PCs; bottom of the stack
  // first, so the last runs first). `rpc` at call depth `rpc_depth` is where they meet again, used if there
  // is more than one path.
  void advance(const Path* paths, unsigned count, ptx::Pc rpc, std::uint16_t rpc_depth) {
    if (count == 1) {
      advance_together(paths[0].pc, paths[0].depth);
      return;
    }
    const Entry top = entries_.back();
    std::uint16_t level = top.level;
    if (rpc == top.rpc && rpc_depth == top.rpc_depth) {
      // The entry below already waits there (or nothing ever does): no entry of our own, so loops do not grow
      // the stack.
      entries_.pop_back();
    } else {
      entries_.back().pc = rpc;
      entries_.back().depth = rpc_depth;
      ++level;
    }
    for (unsigned i = 0; i < count; ++i) {
      const bool arrived = rpc != ptx::kNoPc && paths[i].pc == rpc && paths[i].depth == rpc_depth;
      if (!arrived) entries_.push_back({paths[i].pc, rpc, paths[i].depth, rpc_depth, level, paths[i].mask});
    }
  }

  // Puts a path on top of which can_run(mask) holds, the nearest to the top; false: there is none.
  //
  // The entries are a tree in preorder, `level` being the depth in it: the paths of a branch are the children
  // of the entry that waits for them, in any order. Only leaves can run, and turning the subtrees of one
  // parent round leaves the tree as it is.
  template <class CanRun>
  bool bring_up(CanRun&& can_run) {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (!is_leaf(i) || !can_run(entries_[i].mask)) continue;
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
    for (std::size_t i = entries_.size() - 1; i-- > 0 && entries_[i].level == top.level;) {
      if (entries_[i].pc != pc || entries_[i].depth != depth || !joins(entries_[i].mask)) continue;
      entries_[i].mask |= threads;
      return;
    }
    entries_.back() = {pc, top.rpc, depth, top.rpc_depth, top.level, threads};
    entries_.push_back(top);
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

  // Like bring_up, but puts the path with the lowest PC on top; those that stand where it does, with the same
  // parent, join it.
  template <class CanRun>
  bool bring_up_lowest(CanRun&& can_run) {
    std::size_t lowest = entries_.size();
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (!is_leaf(i) || !can_run(entries_[i].mask)) continue;
      if (lowest == entries_.size() || entries_[i].pc < entries_[lowest].pc) lowest = i;
    }
    if (lowest == entries_.size()) return false;
    raise(lowest);
    for (std::size_t i = entries_.size() - 1; i-- > 0 && entries_[i].level >= entries_.back().level;) {
      Entry& top = entries_.back();
      const Entry& other = entries_[i];
      const bool same = other.level == top.level && other.pc == top.pc && other.depth == top.depth;
      if (!same || !is_leaf(i) || !can_run(other.mask)) continue;
      top.mask |= other.mask;
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
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
      entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(i) + 1, others);
      return true;
    }
    return false;
  }

 private:
  bool is_leaf(std::size_t i) const {
    return i + 1 == entries_.size() || entries_[i + 1].level <= entries_[i].level;
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
      const auto at = [this](std::size_t k) { return entries_.begin() + static_cast<std::ptrdiff_t>(k); };
      std::rotate(at(first), at(own_end), at(all_end));
      i += all_end - own_end;
    }
  }

  std::vector<Entry> entries_;
};

using ReconvergenceStack = PathStack<WarpMask>;
using StackEntry = ReconvergenceStack::Entry;

}  // namespace weft::warp_formation

#endif
