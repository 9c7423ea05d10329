// Stands in for weft/workloads/device.h: CUDA's device side as plain C++, so that a host compiler makes
// functions of the workloads' kernels. One thread of the host runs all threads of a block as fibers (grid.h).
#ifndef WEFT_TESTS_HOST_CUDA_DEVICE_H
#define WEFT_TESTS_HOST_CUDA_DEVICE_H

#include <cmath>

#include "host_cuda/grid.h"

// NOLINTBEGIN: the names are CUDA's.
#define __global__
#define __device__
#define __constant__
// Blocks run one after the other, so one copy serves all.
#define __shared__ static
#define WEFT_KEEP_BRANCH()

struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct float3 {
  float x, y, z;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

inline const weft::host_cuda::Index& threadIdx = weft::host_cuda::current.thread;
inline const weft::host_cuda::Index& blockIdx = weft::host_cuda::current.block;
inline const weft::host_cuda::Index& blockDim = weft::host_cuda::current.block_size;
inline const weft::host_cuda::Index& gridDim = weft::host_cuda::current.grid_size;

inline int min(int a, int b) {
  return a < b ? a : b;
}
inline int max(int a, int b) {
  return a > b ? a : b;
}

inline void __syncthreads() {
  weft::host_cuda::barrier();
}

// Correctly rounded but for rare ties of the double result; CUDA's is approximate.
inline float rsqrtf(float x) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}

// NOLINTEND

#endif
