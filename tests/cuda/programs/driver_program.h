// Checks of programs that use the driver API.
#ifndef WEFT_TESTS_CUDA_DRIVER_PROGRAM_H
#define WEFT_TESTS_CUDA_DRIVER_PROGRAM_H

#include <cstdio>

#include "checks.h"
#include "weft/cuda_driver.h"

#define EXPECT_OK(call) EXPECT_ERROR(call, CUDA_SUCCESS)
#define EXPECT_ERROR(call, error)                                                                         \
  do {                                                                                                    \
    const CUresult got_ = (call);                                                                         \
    if (got_ != (error)) {                                                                                \
      std::fprintf(stderr, "%s:%d: %s: found %d, expected %d\n", __FILE__, __LINE__, #call, got_, error); \
      ++failures;                                                                                         \
    }                                                                                                     \
  } while (0)

#endif
