// Which executing threads of an instruction name the same members of a warp-level primitive.
#ifndef WEFT_SM_STAGES_GATHERINGS_H
#define WEFT_SM_STAGES_GATHERINGS_H

#include <cstdint>

#include "execute/synchroniser.h"
#include "sm/in_flight.h"

namespace weft::sm {

// Calls visit(chunk, mask, lanes) for the executing threads of the issue that name the same mask; stops when
// it returns false. Whether it never did.
template <class Visit>
bool each_gathering(execute::Synchroniser& synchroniser, const InFlight& flight, Visit&& visit) {
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint16_t chunk = flight.groups[g].chunk;
    // A chunk may be spread over several groups of the issue; its first one stands for all.
    std::uint32_t lanes = 0;
    bool first = true;
    for (unsigned k = 0; k < flight.group_count; ++k) {
      if (flight.groups[k].chunk != chunk) continue;
      first = first && k >= g;
      lanes |= flight.executing[k];
    }
    if (!first) continue;
    const bool all = synchroniser.each_mask(
        *flight.op, chunk, lanes,
        [&](std::uint32_t mask, std::uint32_t same) { return visit(chunk, mask, same); });
    if (!all) return false;
  }
  return true;
}

}  // namespace weft::sm

#endif
