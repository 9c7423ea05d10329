// A real GPU as the machine that is measured.
#ifndef WEFT_MICROBENCHMARKS_CUDA_MACHINE_H
#define WEFT_MICROBENCHMARKS_CUDA_MACHINE_H

#include <memory>

#include "microbenchmarks/cuda_driver.h"
#include "microbenchmarks/machine.h"

namespace weft::microbenchmarks {

// The first device of the driver. Throws std::runtime_error.
std::unique_ptr<Machine> make_cuda_machine(const Symbols& symbols);

}  // namespace weft::microbenchmarks

#endif
