// A GPU's configuration as the energy model sees it.
#ifndef WEFT_PLATFORM_ENERGY_MACHINE_H
#define WEFT_PLATFORM_ENERGY_MACHINE_H

#include <string>

#include "energy/event_energy.h"
#include "weft/platform/gpu_config.h"

namespace weft {

energy::Machine machine_of(const GpuConfig& config);
// The figures that it names. Throws InputError.
energy::Technology technology_of(const energy::Config& config);

}  // namespace weft

#endif
