// Exclusive prefix sums of many short arrays: a block of 256 threads scans 1024 numbers, four per thread. The
// threads' sums are scanned in shared memory by doubling distances (Hillis and Steele), above as many zeros,
// so that no thread needs to ask whether its partner exists.
#include "weft/workloads/device.h"

constexpr unsigned kThreads = 256;

// The sum of `value` over the threads up to and including this one.
__device__ static inline unsigned scan_inclusive(unsigned value, unsigned* shared) {
  const unsigned at = threadIdx.x + kThreads;
  shared[threadIdx.x] = 0;
  shared[at] = value;
#pragma unroll 1
  for (unsigned distance = 1; distance < kThreads; distance *= 2) {
    __syncthreads();
    const unsigned sum = shared[at] + shared[at - distance];
    __syncthreads();
    shared[at] = sum;
  }
  return shared[at];
}

extern "C" __global__ void scan(const uint4* in, uint4* out) {
  __shared__ unsigned shared[2 * kThreads];
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  uint4 v = in[i];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  const unsigned before = scan_inclusive(v.w, shared) - v.w;
  out[i] = uint4{before, before + v.x, before + v.y, before + v.z};
}
