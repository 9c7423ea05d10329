// Cheapest way down a grid of costs, by dynamic programming: a step goes one row down, straight or one column
// aside. A launch computes several rows. Blocks overlap by a halo that shrinks by a column per row, so that
// no block needs another's results before the next launch.
#include "weft/workloads/device.h"

constexpr int kBlock = 256;

// from[c]: cost of the cheapest way to column c of row `row` - 1; to: the same for row `row` + rows - 1.
extern "C" __global__ void dyn_proc(const int* wall, const int* from, int* to, int columns, int row, int rows,
                                    int halo) {
  __shared__ int before[kBlock];
  __shared__ int after[kBlock];
  const int thread = threadIdx.x;
  const int left_end = static_cast<int>(blockIdx.x) * (kBlock - 2 * halo) - halo;
  const int column = left_end + thread;
  // The part of the block that lies in the grid, and the neighbours of a thread within it.
  const int lowest = left_end < 0 ? -left_end : 0;
  const int highest = left_end + kBlock > columns ? columns - 1 - left_end : kBlock - 1;
  const int west = thread - 1 < lowest ? lowest : thread - 1;
  const int east = thread + 1 > highest ? highest : thread + 1;
  const bool inside = thread >= lowest && thread <= highest;

  if (inside) before[thread] = from[column];
  __syncthreads();
  bool computed = false;
#pragma unroll 1
  for (int i = 0; i < rows; ++i) {
    computed = false;
    if (inside && thread >= i + 1 && thread <= kBlock - 2 - i) {
      computed = true;
      const int cheapest = min(min(before[west], before[thread]), before[east]);
      after[thread] = cheapest + wall[(row + i) * columns + column];
    }
    __syncthreads();
    if (i == rows - 1) break;
    if (computed) before[thread] = after[thread];
    __syncthreads();
  }
  if (computed && thread >= halo && thread < kBlock - halo) to[column] = after[thread];
}
