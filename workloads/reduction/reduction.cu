// One pass of a sum: each block adds up to 2048 elements and writes one. The host repeats it until one is left.
#include "workloads/device.h"

constexpr unsigned kThreads = 256;
constexpr unsigned kPerThread = 8;

__global__ void reduction(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned partial[kThreads];
  const unsigned lane = threadIdx.x;
  const unsigned first = blockIdx.x * (kThreads * kPerThread) + lane;

  unsigned sum = 0;
  for (unsigned k = 0; k < kPerThread; ++k) {
    const unsigned i = first + k * kThreads;
    if (i < n) sum += in[i];
  }
  partial[lane] = sum;
  __syncthreads();

  // Halving keeps the active threads together; the last five steps still diverge inside one warp.
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (lane < half) partial[lane] += partial[lane + half];
    __syncthreads();
  }
  if (lane == 0) out[blockIdx.x] = partial[0];
}
