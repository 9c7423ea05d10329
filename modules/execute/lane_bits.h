// Lanes of a mask, and the addresses that they span.
#ifndef WEFT_EXECUTE_LANE_BITS_H
#define WEFT_EXECUTE_LANE_BITS_H

#include <algorithm>
#include <cstdint>

#include "isa/address_span.h"

namespace weft::execute {

// Precondition: the mask is not empty.
inline unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

// What the addresses of the active lanes span.
inline isa::AddressSpan span_of(const std::uint64_t* address, std::uint32_t mask) {
  isa::AddressSpan span{UINT64_MAX, 0, 0};
  if (mask == UINT32_MAX) {
    for (unsigned i = 0; i < isa::kLanes; ++i) {
      span.low = std::min(span.low, address[i]);
      span.high = std::max(span.high, address[i]);
      span.bits |= address[i];
    }
    return span;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t a = address[first_lane(rest)];
    span.low = std::min(span.low, a);
    span.high = std::max(span.high, a);
    span.bits |= a;
  }
  return span;
}

}  // namespace weft::execute

#endif
