// Small questions about masks of lanes and about numbers. Not for modules/isa, whose functions are compiled
// for more than one instruction set and must not share inline ones.
#ifndef WEFT_COMMON_BITS_H
#define WEFT_COMMON_BITS_H

#include <cstdint>
#include <cstring>

#include "weft/common/popcount.h"

namespace weft {

// The lowest lane of a mask that is not empty.
inline unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

// visit(lane) for each lane of the mask, in ascending order.
template <class Visit>
void each_lane(std::uint32_t mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1) visit(first_lane(mask));
}

inline bool is_power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace weft

#endif
