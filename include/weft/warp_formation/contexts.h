// Sets of contexts, and why none of them can be issued.
#ifndef WEFT_WARP_FORMATION_CONTEXTS_H
#define WEFT_WARP_FORMATION_CONTEXTS_H

#include <array>
#include <cstdint>

#include "weft/common/archive.h"
#include "weft/common/popcount.h"

namespace weft::warp_formation {

// Why a scheduler has nothing to issue in a cycle. When several hold, the one listed first is reported.
enum class Stall : std::uint8_t {
  kNone,
  kUnitBusy,       // a ready warp, but its functional unit or its scheduler's issue port is taken
  kMemoryBusy,     // a ready warp, but the load-store unit cannot take another instruction
  kMemory,         // operands wait for loads
  kDependence,     // operands wait for arithmetic, or the barrel is turning
  kControl,        // a branch is being resolved
  kFetch,          // instruction buffers are empty
  kBarrier,        // threads wait at a block barrier
  kReconvergence,  // threads wait for others of their warp
  kScheme,         // threads are inside the scheme's tables
  kEmpty,          // no threads
};
inline constexpr unsigned kStalls = 11;
inline const char* name_of(Stall stall) {
  constexpr std::array<const char*, kStalls> kNames = {"none",          "unit_busy", "memory_busy", "memory",
                                                       "dependence",    "control",   "fetch",       "barrier",
                                                       "reconvergence", "scheme",    "empty"};
  return kNames[static_cast<unsigned>(stall)];
}
// The cycles of a scheduler by what it did: the name of a bucket.
inline const char* bucket_name(Stall stall) {
  return stall == Stall::kNone ? "issued" : name_of(stall);
}

// A set of up to 256 contexts.
class ContextSet {
 public:
  static constexpr unsigned kMaxContexts = 256;

  bool has(unsigned i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  void add(unsigned i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void remove(unsigned i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  void clear() { words_ = {}; }
  bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  unsigned size() const {
    unsigned n = 0;
    for (const auto word : words_) {
      if (word != 0) n += count_of(word);
    }
    return n;
  }
  // The first member at or after `from`, or kMaxContexts.
  unsigned next(unsigned from) const {
    for (unsigned w = from / 64; w < words_.size(); ++w) {
      std::uint64_t word = words_[w];
      if (w == from / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (word != 0) return w * 64 + static_cast<unsigned>(__builtin_ctzll(word));
    }
    return kMaxContexts;
  }
  // 64 contexts at a time: number 64 * w is bit 0.
  std::uint64_t word(unsigned w) const { return words_[w]; }
  void set_word(unsigned w, std::uint64_t bits) { words_[w] = bits; }
  ContextSet& add(const ContextSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  ContextSet& remove(const ContextSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    return *this;
  }
  void archive(Archive& archive) { archive(words_); }

 private:
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace weft::warp_formation

#endif
