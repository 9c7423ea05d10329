// The functions of the CUDA driver API that CudaMachine uses, on Weft's simulated GPU: so the way to a device
// is tested where there is none. One device per process.
#ifndef WEFT_TESTS_SILICON_STAND_IN_H
#define WEFT_TESTS_SILICON_STAND_IN_H

#include <string>
#include <vector>

#include "silicon/cuda_machine.h"

namespace weft::test::silicon {

// `settings` are those of the configuration gtx480 that differ, as after --set.
Symbols stand_in(std::vector<std::string> settings = {});

}  // namespace weft::test::silicon

#endif
