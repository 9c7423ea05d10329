// A = L U in place, by tiles of 16 x 16 along the diagonal: the tile on it, the tiles right of it and below
// it, then all tiles behind. L has ones on its diagonal. Organised as in the Rodinia suite.
#include "weft/workloads/device.h"

constexpr int kTile = 16;

// One block of 16 threads. After step i, row i of U and column i of L are final.
extern "C" __global__ void lud_diagonal(float* a, int n, int offset) {
  __shared__ float tile[kTile][kTile];
  const int thread = threadIdx.x;
  float* const corner = a + offset * n + offset;
#pragma unroll 1
  for (int i = 0; i < kTile; ++i) tile[i][thread] = corner[i * n + thread];
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < kTile - 1; ++i) {
    if (thread > i) {
#pragma unroll 1
      for (int k = 0; k < i; ++k) tile[thread][i] -= tile[thread][k] * tile[k][i];
      tile[thread][i] /= tile[i][i];
    }
    __syncthreads();
    if (thread > i) {
#pragma unroll 1
      for (int k = 0; k < i + 1; ++k) tile[i + 1][thread] -= tile[i + 1][k] * tile[k][thread];
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int i = 1; i < kTile; ++i) corner[i * n + thread] = tile[i][thread];
}

// A block of 32 threads takes one tile right of the diagonal (its columns: threads 0 to 15) and one below it
// (its rows: threads 16 to 31).
extern "C" __global__ void lud_perimeter(float* a, int n, int offset) {
  __shared__ float diagonal[kTile][kTile];
  __shared__ float right[kTile][kTile];
  __shared__ float below[kTile][kTile];
  const bool upper = threadIdx.x < kTile;
  const int thread = upper ? threadIdx.x : threadIdx.x - kTile;
  const int distance = (blockIdx.x + 1) * kTile;
  float* const corner = a + offset * n + offset;
  float* const corner_right = corner + distance;
  float* const corner_below = corner + distance * n;
  if (upper) {
#pragma unroll 1
    for (int i = 0; i < kTile / 2; ++i) diagonal[i][thread] = corner[i * n + thread];
#pragma unroll 1
    for (int i = 0; i < kTile; ++i) right[i][thread] = corner_right[i * n + thread];
  } else {
#pragma unroll 1
    for (int i = kTile / 2; i < kTile; ++i) diagonal[i][thread] = corner[i * n + thread];
#pragma unroll 1
    for (int i = 0; i < kTile; ++i) below[i][thread] = corner_below[i * n + thread];
  }
  __syncthreads();
  if (upper) {
#pragma unroll 1
    for (int i = 1; i < kTile; ++i) {
#pragma unroll 1
      for (int k = 0; k < i; ++k) right[i][thread] -= diagonal[i][k] * right[k][thread];
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < kTile; ++i) {
#pragma unroll 1
      for (int k = 0; k < i; ++k) below[thread][i] -= below[thread][k] * diagonal[k][i];
      below[thread][i] /= diagonal[i][i];
    }
  }
  __syncthreads();
  if (upper) {
#pragma unroll 1
    for (int i = 1; i < kTile; ++i) corner_right[i * n + thread] = right[i][thread];
  } else {
#pragma unroll 1
    for (int i = 0; i < kTile; ++i) corner_below[i * n + thread] = below[i][thread];
  }
}

// A block of 16 x 16 threads subtracts from its tile the product of the tile left of it and the one above it.
extern "C" __global__ void lud_internal(float* a, int n, int offset) {
  __shared__ float left[kTile][kTile];
  __shared__ float above[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = offset + (blockIdx.y + 1) * kTile, column = offset + (blockIdx.x + 1) * kTile;
  above[y][x] = a[(offset + y) * n + column + x];
  left[y][x] = a[(row + y) * n + offset + x];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kTile; ++k) sum += left[y][k] * above[k][x];
  a[(row + y) * n + column + x] -= sum;
}
