// The datapath of an SM as its configuration says.
#ifndef WEFT_MACHINE_DATAPATH_OF_H
#define WEFT_MACHINE_DATAPATH_OF_H

#include <memory>

#include "datapath/datapath.h"
#include "weft/machine/sm_config.h"

namespace weft::machine {

std::unique_ptr<datapath::Datapath> datapath_of(const SmConfig& config);

}  // namespace weft::machine

#endif
