// The reconvergence stack of one warp (PDOM): entries {pc, rpc, mask, depth}; the top is what the warp runs.
// A reconvergence point belongs to a call depth: a recursive function passes the same PC at other depths.
#ifndef WEFT_WARP_FORMATION_RECONVERGENCE_STACK_H
#define WEFT_WARP_FORMATION_RECONVERGENCE_STACK_H

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
  WarpMask& remove(const WarpMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] &= ~other.words[w];
    return *this;
  }
  friend bool operator==(const WarpMask& a, const WarpMask& b) { return a.words == b.words; }
};

struct StackEntry {
  ptx::Pc pc = ptx::kNoPc;
  ptx::Pc rpc = ptx::kNoPc;     // kNoPc: reconverges only by exit
  std::uint16_t depth = 0;      // call depth at pc
  std::uint16_t rpc_depth = 0;  // ... and at rpc
  WarpMask mask;
};

class ReconvergenceStack {
 public:
  // One path that threads of the top entry take.
  struct Path {
    ptx::Pc pc = ptx::kNoPc;
    std::uint16_t depth = 0;
    WarpMask mask;
  };
  static constexpr unsigned kMaxPaths = kMaxWarpSize;

  // Room for 2 x warp size entries, which is always enough (schemes.md: GPGPU-Sim asserts the same).
  explicit ReconvergenceStack(unsigned warp_size) { entries_.reserve(2 * std::size_t{warp_size} + 1); }

  void start(ptx::Pc pc, const WarpMask& mask) {
    entries_.clear();
    entries_.push_back({pc, ptx::kNoPc, 0, 0, mask});
  }
  bool empty() const { return entries_.empty(); }
  const StackEntry& top() const { return entries_.back(); }
  std::size_t depth() const { return entries_.size(); }
  const std::vector<StackEntry>& entries() const { return entries_; }

  // Threads exit: they leave every entry, and entries without threads go.
  void exit(const WarpMask& threads) {
    std::size_t kept = 0;
    for (auto& entry : entries_) {
      entry.mask.remove(threads);
      if (!entry.mask.empty()) entries_[kept++] = entry;
    }
    entries_.resize(kept);
  }

  // All threads of the top entry go on at `pc`. True if they reconverge there: the entry is popped.
  bool advance_together(ptx::Pc pc, std::uint16_t depth) {
    StackEntry& top = entries_.back();
    if (top.rpc != ptx::kNoPc && pc == top.rpc && depth == top.rpc_depth) {
      entries_.pop_back();
      return true;
    }
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
    const StackEntry top = entries_.back();
    if (rpc == top.rpc && rpc_depth == top.rpc_depth) {
      // The entry below already waits there (or nothing ever does): no entry of our own, so loops do not grow
      // the stack.
      entries_.pop_back();
    } else {
      entries_.back().pc = rpc;
      entries_.back().depth = rpc_depth;
    }
    for (unsigned i = 0; i < count; ++i) {
      const bool arrived = rpc != ptx::kNoPc && paths[i].pc == rpc && paths[i].depth == rpc_depth;
      if (!arrived) entries_.push_back({paths[i].pc, rpc, paths[i].depth, rpc_depth, paths[i].mask});
    }
  }

 private:
  std::vector<StackEntry> entries_;
};

}  // namespace weft::warp_formation

#endif
