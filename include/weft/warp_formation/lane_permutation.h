// On which lanes threads have their homes: at their position modulo the lanes of a row, or where a rule puts
// them (LanePermutation), so that threads that do the same in many warps do not all have the same lane.
//
// Each rule is an exclusive or of the lane with a number that the 32 threads of a chunk share. It is its own
// inverse: the same function gives lanes of threads and threads of lanes.
//
//   LanePermuter permuter(rule, lanes, chunks);
//   std::uint32_t lanes = permuter(chunk, threads);   // bit p: the lane that p has in the row of p
#ifndef WEFT_WARP_FORMATION_LANE_PERMUTATION_H
#define WEFT_WARP_FORMATION_LANE_PERMUTATION_H

#include <cstdint>

namespace weft::warp_formation {

enum class LanePermutation : std::uint8_t {
  kIdentity,
  kMirrorOdd,   // every other chunk the other way round
  kMirrorHalf,  // the upper half of the SM's chunks
  kXor,         // lane ^ chunk
  kXorReverse,  // lane ^ chunk with its bits the other way round
  kBalanced,    // lane ^ chunk / 2, inverted for every other chunk
};

class LanePermuter {
 public:
  // Every thread at its position.
  LanePermuter() = default;
  // `lanes`: of a row, a power of two up to 32. `chunks`: of the SM.
  LanePermuter(LanePermutation rule, unsigned lanes, unsigned chunks)
      : rule_(rule), lanes_(lanes), chunks_(chunks) {}

  bool is_identity() const { return rule_ == LanePermutation::kIdentity; }
  std::uint32_t operator()(unsigned chunk, std::uint32_t threads) const {
    return is_identity() ? threads : swapped(threads, number_of(chunk));
  }
  // The lane of one position.
  unsigned lane_of(unsigned chunk, unsigned position) const {
    return (position ^ (is_identity() ? 0 : number_of(chunk))) % lanes_;
  }

 private:
  unsigned number_of(unsigned chunk) const {
    switch (rule_) {
      case LanePermutation::kIdentity:
        return 0;
      case LanePermutation::kMirrorOdd:
        return chunk % 2 == 0 ? 0 : lanes_ - 1;
      case LanePermutation::kMirrorHalf:
        return chunk < chunks_ / 2 ? 0 : lanes_ - 1;
      case LanePermutation::kXor:
        return chunk % lanes_;
      case LanePermutation::kXorReverse:
        return reversed(chunk % lanes_);
      case LanePermutation::kBalanced:
        return (chunk % 2 == 0 ? chunk / 2 : ~(chunk / 2)) % lanes_;
    }
    return 0;
  }
  unsigned reversed(unsigned number) const {
    unsigned mirrored = 0;
    for (unsigned bit = 1; bit < lanes_; bit <<= 1, number >>= 1) mirrored = mirrored << 1 | (number & 1);
    return mirrored;
  }
  // Bit p goes to p ^ number.
  static std::uint32_t swapped(std::uint32_t bits, unsigned number) {
    if ((number & 1) != 0) bits = (bits & 0x55555555u) << 1 | (bits >> 1 & 0x55555555u);
    if ((number & 2) != 0) bits = (bits & 0x33333333u) << 2 | (bits >> 2 & 0x33333333u);
    if ((number & 4) != 0) bits = (bits & 0x0F0F0F0Fu) << 4 | (bits >> 4 & 0x0F0F0F0Fu);
    if ((number & 8) != 0) bits = (bits & 0x00FF00FFu) << 8 | (bits >> 8 & 0x00FF00FFu);
    if ((number & 16) != 0) bits = bits << 16 | bits >> 16;
    return bits;
  }

  LanePermutation rule_ = LanePermutation::kIdentity;
  unsigned lanes_ = 32, chunks_ = 0;
};

}  // namespace weft::warp_formation

#endif
