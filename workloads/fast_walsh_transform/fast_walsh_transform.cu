// Dyadic convolution by fast Walsh transforms, as the CUDA SDK organises it: while the butterflies reach
// beyond what a block's shared memory holds, a launch does two stages in global memory; the rest is done by
// blocks that each transform one piece in shared memory.
#include "weft/workloads/device.h"

constexpr int kMostShared = 2048;

__device__ static inline void butterfly(float& a, float& b) {
  const float sum = a + b;
  b = a - b;
  a = sum;
}

// Two stages, of distances 2 `distance` and `distance`, on four numbers.
__device__ static inline void two_stages(float* data, int first, int distance) {
  float d0 = data[first], d1 = data[first + distance];
  float d2 = data[first + 2 * distance], d3 = data[first + 3 * distance];
  butterfly(d0, d2);
  butterfly(d1, d3);
  butterfly(d0, d1);
  butterfly(d2, d3);
  data[first] = d0;
  data[first + distance] = d1;
  data[first + 2 * distance] = d2;
  data[first + 3 * distance] = d3;
}

// A thread per four numbers; `distance` is a power of 2.
extern "C" __global__ void fwt_global(float* data, int distance) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int low = thread & (distance - 1);
  two_stages(data, ((thread - low) << 2) + low, distance);
}

// A block transforms 2^log2n numbers with a quarter as many threads.
extern "C" __global__ void fwt_shared(float* data, int log2n) {
  __shared__ float shared[kMostShared];
  const int n = 1 << log2n, threads = blockDim.x, thread = threadIdx.x;
  float* const piece = data + (static_cast<long long>(blockIdx.x) << log2n);
#pragma unroll 1
  for (int i = thread; i < n; i += threads) shared[i] = piece[i];

  int distance = n / 4;
#pragma unroll 1
  for (; distance > 0; distance >>= 2) {
    __syncthreads();
    const int low = thread & (distance - 1);
    two_stages(shared, ((thread - low) << 2) + low, distance);
  }
  __syncthreads();
  if ((log2n & 1) != 0) {  // one stage is left
#pragma unroll 1
    for (int i = thread; i < n / 2; i += threads) butterfly(shared[2 * i], shared[2 * i + 1]);
    __syncthreads();
  }
#pragma unroll 1
  for (int i = thread; i < n; i += threads) piece[i] = shared[i];
}

// data := data kernel / n, which makes the transform of the product the convolution.
extern "C" __global__ void fwt_modulate(float* data, const float* kernel, int n, float scale) {
  const int stride = blockDim.x * gridDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) data[i] *= kernel[i] * scale;
}
