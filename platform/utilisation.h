// How busy the parts of a GPU were, and which of them bounds a run.
#ifndef WEFT_PLATFORM_UTILISATION_H
#define WEFT_PLATFORM_UTILISATION_H

#include <cstdint>
#include <vector>

#include "weft/common/statistics.h"
#include "weft/platform/gpu_config.h"
#include "weft/platform/totals.h"

namespace weft {

// From the statistics of a GPU that ran for so many core cycles.
std::vector<Utilisation> utilisation_of(const statistics::Group& root, const GpuConfig& config,
                                        std::uint64_t cycles);
Bound bound_of(const std::vector<Utilisation>& utilisation, const statistics::Group& root);

}  // namespace weft

#endif
