// What the test programs share: CUDA from nvcc, or from clang and Weft's headers; and checks. A program
// prints what failed and ends with exit code 1, so that it also says something on a real GPU.
#ifndef WEFT_TESTS_CUDA_PROGRAM_H
#define WEFT_TESTS_CUDA_PROGRAM_H

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "checks.h"

#ifndef __NVCC__
#include "weft/cuda_runtime.h"
#include "weft/workloads/device.h"
#define __host__ __attribute__((host))
extern "C" __device__ int printf(const char* format, ...);
extern "C" __device__ void __assertfail(const char* message, const char* file, unsigned line,
                                        const char* function, unsigned long character_bytes);
#endif

// Polls, without a call to CUDA, for a minute at most.
inline bool seen(const volatile int* word, int value) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (*word != value) {
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

#define EXPECT_OK(call) EXPECT_ERROR(call, cudaSuccess)
#define EXPECT_ERROR(call, error)                                                           \
  do {                                                                                      \
    const cudaError_t got_ = (call);                                                        \
    if (got_ != (error)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s: found %s, expected %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorName(got_), cudaGetErrorName(error));                        \
      ++failures;                                                                           \
    }                                                                                       \
  } while (0)

#endif
