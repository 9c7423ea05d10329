// Training step of a perceptron with 16 hidden units: sums of weighted inputs by trees of additions in shared
// memory, then the weights' correction. A block of 16 x 16 threads has 16 inputs (y) and all hidden units
// (x).
#include "weft/workloads/device.h"

constexpr int kSide = 16;
constexpr int kColumns = kSide + 1;  // of the weights; row 0: the bias', column 0 is unused
constexpr float kRate = 0.3f, kMomentum = 0.3f;

extern "C" __global__ void forward(const float* input, const float* weights, float* partial_sums) {
  __shared__ float in[kSide];
  __shared__ float product[kSide][kSide];
  const int tx = threadIdx.x, ty = threadIdx.y, block = blockIdx.y;
  const int row = kSide * block + ty + 1;
  if (tx == 0) in[ty] = input[row];
  __syncthreads();
  product[ty][tx] = weights[row * kColumns + tx + 1];
  __syncthreads();
  product[ty][tx] = product[ty][tx] * in[ty];
  __syncthreads();
#pragma unroll 1
  for (int i = 1; i <= 4; ++i) {
    const int stride = 1 << i;
    if (ty % stride == 0) product[ty][tx] = product[ty][tx] + product[ty + stride / 2][tx];
    __syncthreads();
  }
  if (tx == 0) partial_sums[block * kSide + ty] = product[tx][ty];
}

// delta: of hidden unit x at x + 1. changes: of the last step, and afterwards of this one.
extern "C" __global__ void adjust(const float* delta, const float* input, float* weights, float* changes) {
  const int tx = threadIdx.x, ty = threadIdx.y, block = blockIdx.y;
  const int unit = tx + 1, row = kSide * block + ty + 1;
  const int at = row * kColumns + unit;
  const float change = kRate * delta[unit] * input[row] + kMomentum * changes[at];
  weights[at] += change;
  changes[at] = change;
  __syncthreads();
  if (ty == 0 && block == 0) {
    const float bias = kRate * delta[unit] + kMomentum * changes[unit];
    weights[unit] += bias;
    changes[unit] = bias;
  }
}
