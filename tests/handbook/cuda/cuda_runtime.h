// CUDA's header for the stand-in of nvcc: clang with Weft's own declarations.
#ifndef WEFT_TESTS_HANDBOOK_CUDA_RUNTIME_H
#define WEFT_TESTS_HANDBOOK_CUDA_RUNTIME_H

#include <cstdlib>

#include "weft/cuda_runtime.h"
#include "weft/workloads/device.h"
#define __host__ __attribute__((host))

#endif
