// The temporal datapath: lanes that each run a warp in time. A private header: whoever wants one asks
// datapath::create.
#ifndef WEFT_DATAPATH_TEMPORAL_H
#define WEFT_DATAPATH_TEMPORAL_H

#include <memory>

#include "datapath/datapath.h"

namespace weft::datapath {

std::unique_ptr<Datapath> make_temporal(const Config& config, const Machine& machine);

}  // namespace weft::datapath

#endif
