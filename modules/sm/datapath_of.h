// The datapath of an SM as its configuration says.
#ifndef WEFT_SM_DATAPATH_OF_H
#define WEFT_SM_DATAPATH_OF_H

#include <memory>

#include "datapath/datapath.h"
#include "weft/sm/sm_config.h"

namespace weft::sm {

std::unique_ptr<datapath::Datapath> datapath_of(const Config& config);

}  // namespace weft::sm

#endif
