// The reconvergence stack of a whole block: as the stack of a warp (reconvergence_stack.h), with a bit for
// every thread of the block, by chunk.
#ifndef WEFT_WARP_FORMATION_BLOCK_STACK_H
#define WEFT_WARP_FORMATION_BLOCK_STACK_H

#include <array>
#include <cstdint>
#include <vector>

#include "warp_formation/warp_formation.h"

namespace weft::warp_formation {

inline constexpr unsigned kMaxBlockThreads = 1024;

// Threads of a block; word c: those of its chunk c.
struct BlockMask {
  std::array<std::uint32_t, kMaxBlockThreads / kChunk> words{};

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
  BlockMask& operator|=(const BlockMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  BlockMask& remove(const BlockMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] &= ~other.words[w];
    return *this;
  }
};

class BlockStack {
 public:
  struct Entry {
    ptx::Pc pc = ptx::kNoPc;
    ptx::Pc rpc = ptx::kNoPc;     // kNoPc: reconverges only by exit
    std::uint16_t depth = 0;      // call depth at pc
    std::uint16_t rpc_depth = 0;  // ... and at rpc
    BlockMask mask;
  };
  struct Path {
    ptx::Pc pc = ptx::kNoPc;
    std::uint16_t depth = 0;
    BlockMask mask;
  };

  BlockStack() { entries_.reserve(kUsualDepth); }

  void start(const BlockMask& mask) {
    entries_.clear();
    entries_.push_back({0, ptx::kNoPc, 0, 0, mask});
  }
  void clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  const Entry& top() const { return entries_.back(); }
  std::size_t depth() const { return entries_.size(); }
  const std::vector<Entry>& entries() const { return entries_; }

  // Threads exit: they leave every entry. Entries without threads go when they come to the top (`settle`).
  void exit(unsigned chunk, std::uint32_t threads) {
    for (auto& entry : entries_) entry.mask.words[chunk] &= ~threads;
  }
  void settle() {
    while (!entries_.empty() && entries_.back().mask.empty()) entries_.pop_back();
  }
  // All threads of the top have arrived at its reconvergence point.
  void pop() { entries_.pop_back(); }
  bool reconverges(ptx::Pc pc, std::uint16_t depth) const {
    const Entry& top = entries_.back();
    return top.rpc != ptx::kNoPc && pc == top.rpc && depth == top.rpc_depth;
  }

  // All threads of the top go on along `paths` (distinct places; the last runs first). `rpc` is the
  // reconvergence point of the branch, at call depth `depth`.
  void advance(const std::vector<Path>& paths, ptx::Pc rpc, std::uint16_t depth) {
    if (paths.size() == 1) {
      if (reconverges(paths[0].pc, paths[0].depth)) return pop();
      entries_.back().pc = paths[0].pc;
      entries_.back().depth = paths[0].depth;
      return;
    }
    Entry& top = entries_.back();
    // The entry below waits there already (or nothing ever does): no entry of our own, so loops do not grow
    // the stack.
    const bool shared = rpc == top.rpc && (rpc == ptx::kNoPc || depth == top.rpc_depth);
    if (shared) {
      entries_.pop_back();
    } else {
      top.pc = rpc;
      top.depth = depth;
    }
    for (const auto& path : paths) {
      const bool arrived = rpc != ptx::kNoPc && path.pc == rpc && path.depth == depth;
      if (!arrived) entries_.push_back({path.pc, rpc, path.depth, depth, path.mask});
    }
  }

 private:
  static constexpr std::size_t kUsualDepth = 64;
  std::vector<Entry> entries_;
};

}  // namespace weft::warp_formation

#endif
