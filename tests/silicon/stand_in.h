// The functions of the CUDA driver API that CudaMachine uses, on Weft's simulated GPU: so the way to a device
// is tested where there is none. One device per process.
#ifndef WEFT_TESTS_SILICON_STAND_IN_H
#define WEFT_TESTS_SILICON_STAND_IN_H

#include "silicon/cuda_machine.h"

namespace weft::test::silicon {

Symbols stand_in();

}  // namespace weft::test::silicon

#endif
