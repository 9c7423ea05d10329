// The arrays of an SM as its parts declare them (weft/common/storage.h), without building one.
#ifndef WEFT_MACHINE_SM_ARRAYS_H
#define WEFT_MACHINE_SM_ARRAYS_H

#include <cstdint>

#include "weft/common/storage.h"
#include "weft/machine/sm_config.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::machine {

// What a scheduler domain's scheme is told of the machine, on a datapath of so many lanes.
warp_formation::Geometry geometry_of(const SmConfig& config, const warp_formation::Config& formation,
                                     unsigned lanes);

struct SmArrays {
  storage::Arrays registers;
  storage::Arrays scheme;  // of one scheduler domain
  std::uint64_t domains = 1;
};
// `stack_entries`: of each reconvergence stack. Throws InputError for a datapath or scheme that is not known.
SmArrays arrays_of(const SmConfig& config, const warp_formation::Config& formation,
                   std::uint64_t stack_entries);

}  // namespace weft::machine

#endif
