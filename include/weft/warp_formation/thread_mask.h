// Sets of threads: of one warp, of one block.
#ifndef WEFT_WARP_FORMATION_THREAD_MASK_H
#define WEFT_WARP_FORMATION_THREAD_MASK_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/common/popcount.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

inline constexpr unsigned kMaxBlockThreads = 1024;

// Bit i of word w = thread 32 w + i of the warp or the block.
template <unsigned kThreads>
struct ThreadMask {
  std::array<std::uint32_t, kThreads / kChunk> words{};

  bool empty() const {
    std::uint32_t any = 0;
    for (const auto word : words) any |= word;
    return any == 0;
  }
  unsigned count() const {
    unsigned n = 0;
    // Most words are empty, and without an instruction for it (x86-64-v1) counting is a call.
    for (const auto word : words) n += word == 0 ? 0 : count_of(word);
    return n;
  }
  // The highest thread number; the mask is not empty.
  unsigned highest() const {
    for (unsigned w = static_cast<unsigned>(words.size()); w-- > 0;) {
      if (words[w] != 0) return w * 32 + 31 - static_cast<unsigned>(__builtin_clz(words[w]));
    }
    return 0;
  }
  bool intersects(const ThreadMask& other) const {
    std::uint32_t any = 0;
    for (std::size_t w = 0; w < words.size(); ++w) any |= words[w] & other.words[w];
    return any != 0;
  }
  ThreadMask& operator|=(const ThreadMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  ThreadMask& operator&=(const ThreadMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] &= other.words[w];
    return *this;
  }
  ThreadMask& remove(const ThreadMask& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] &= ~other.words[w];
    return *this;
  }
  friend bool operator==(const ThreadMask& a, const ThreadMask& b) { return a.words == b.words; }
};

using WarpMask = ThreadMask<kMaxWarpSize>;
using BlockMask = ThreadMask<kMaxBlockThreads>;  // word c: threads of the block's chunk c

}  // namespace weft::warp_formation

#endif
