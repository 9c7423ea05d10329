// C = A B for square row-major matrices; a block computes one 16 x 16 tile of C, staging tiles of A and B in shared
// memory. n is a multiple of 16.
#include "weft/workloads/device.h"

constexpr int kTile = 16;

__global__ void matrix_multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

  float sum = 0.0f;
  for (int first = 0; first < n; first += kTile) {
    tile_a[y][x] = a[row * n + first + x];
    tile_b[y][x] = b[(first + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();  // nobody overwrites a tile that somebody still reads
  }
  c[row * n + column] = sum;
}

// The same for A of `inner` columns and B of `columns` columns, all sizes multiples of 16.
extern "C" __global__ void matrix_multiply_rectangular(const float* a, const float* b, float* c, int inner,
                                                       int columns) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

  float sum = 0.0f;
#pragma unroll 1
  for (int first = 0; first < inner; first += kTile) {
    tile_a[y][x] = a[row * inner + first + x];
    tile_b[y][x] = b[(first + y) * columns + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * columns + column] = sum;
}
