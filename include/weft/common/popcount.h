// The number of bits in a mask. Not for modules/isa, whose functions are compiled for more than one
// instruction set and must not share inline ones.
#ifndef WEFT_COMMON_POPCOUNT_H
#define WEFT_COMMON_POPCOUNT_H

#include <cstdint>

namespace weft {

// Where the compiler may not use the processor's instruction (x86-64-v1) it would call a function.
inline unsigned count_of(std::uint64_t mask) {
#ifdef __POPCNT__
  return static_cast<unsigned>(__builtin_popcountll(mask));
#else
  mask -= (mask >> 1) & 0x5555555555555555;
  mask = (mask & 0x3333333333333333) + ((mask >> 2) & 0x3333333333333333);
  mask = (mask + (mask >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<unsigned>((mask * 0x0101010101010101) >> 56);
#endif
}

}  // namespace weft

#endif
