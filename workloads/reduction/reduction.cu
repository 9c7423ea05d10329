// One pass of a sum: each block adds up to 2048 elements and writes one. The host repeats it until one is left.
#include "weft/workloads/device.h"

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

// A grid of fixed size strides over the numbers, as in the CUDA SDK: each thread adds pairs until none are
// left.
template <unsigned threads>
__device__ inline void reduce_strided(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned partial[threads];
  const unsigned lane = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x * (threads * 2) + lane; i < n; i += threads * 2 * gridDim.x) {
    sum += in[i];
    if (i + threads < n) sum += in[i + threads];
  }
  partial[lane] = sum;
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (lane < half) partial[lane] += partial[lane + half];
    __syncthreads();
  }
  if (lane == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void reduction_256(const unsigned* in, unsigned* out, unsigned n) {
  reduce_strided<256>(in, out, n);
}

extern "C" __global__ void reduction_32(const unsigned* in, unsigned* out, unsigned n) {
  reduce_strided<32>(in, out, n);
}
