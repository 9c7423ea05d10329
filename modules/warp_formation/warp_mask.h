// A set of threads of one warp.
#ifndef WEFT_WARP_FORMATION_WARP_MASK_H
#define WEFT_WARP_FORMATION_WARP_MASK_H

#include <array>
#include <cstddef>
#include <cstdint>

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

}  // namespace weft::warp_formation

#endif
