// The spatial datapath: SIMD groups. A private header: whoever wants one asks datapath::create.
#ifndef WEFT_DATAPATH_SPATIAL_H
#define WEFT_DATAPATH_SPATIAL_H

#include <memory>

#include "datapath/datapath.h"

namespace weft::datapath {

std::unique_ptr<Datapath> make_spatial(const Config& config, const Machine& machine);

}  // namespace weft::datapath

#endif
