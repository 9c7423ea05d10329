// Powers of two: rules that several schemes' sizes obey, and the bits of tables.
#ifndef WEFT_WARP_FORMATION_POWERS_H
#define WEFT_WARP_FORMATION_POWERS_H

#include <cstdint>
#include <string>

#include "weft/common/error.h"

namespace weft::warp_formation {

inline bool power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

// Of a PC in a table.
inline constexpr unsigned kPcBits = 32;
// Of a call depth in a table (chosen: what Issue::depth has).
inline constexpr unsigned kDepthBits = 16;

// Bits of a number below `values`.
inline unsigned bits_for(std::uint64_t values) {
  unsigned bits = 0;
  while ((std::uint64_t{1} << bits) < values) ++bits;
  return bits;
}

// Throws InputError unless `threads` is a power of two from `least` on.
inline void check_size(const std::string& where, std::uint64_t threads, unsigned least) {
  if (power_of_two(threads) && threads >= least) return;
  throw InputError(where, "found " + std::to_string(threads) + "; allowed: powers of two from " +
                              std::to_string(least) + " to 256");
}

}  // namespace weft::warp_formation

#endif
