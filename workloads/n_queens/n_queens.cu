// The last rows of the n queens problem: each thread takes one placement of the first rows and counts its
// completions by depth-first search, with stacks in shared memory; a block adds up what its threads found.
#include "workloads/device.h"

constexpr int kThreads = 96, kMaxRows = 10;

// columns, left, right: the fields of the first free row that queens above attack along columns and both
// diagonals. The first `mirrored` placements stand for their mirror images, too.
extern "C" __global__ void count_completions(int n, int rows, const unsigned* columns, const unsigned* left,
                                             const unsigned* right, int placements, int mirrored,
                                             unsigned* counts) {
  __shared__ unsigned stack_columns[kThreads][kMaxRows];
  __shared__ unsigned stack_left[kThreads][kMaxRows];
  __shared__ unsigned stack_right[kThreads][kMaxRows];
  __shared__ unsigned stack_open[kThreads][kMaxRows];  // fields of the row that are still to be tried
  __shared__ unsigned found[kThreads];

  const int thread = threadIdx.x;
  const int placement = blockIdx.x * kThreads + thread;
  const unsigned all = (1u << n) - 1;
  unsigned solutions = 0;
  if (placement < placements) {
    const unsigned c = columns[placement], l = left[placement], r = right[placement];
    stack_columns[thread][0] = c;
    stack_left[thread][0] = l;
    stack_right[thread][0] = r;
    stack_open[thread][0] = all & ~(c | l | r);
    int row = 0;
#pragma unroll 1
    while (row >= 0) {
      const unsigned open = stack_open[thread][row];
      if (open == 0) {
        --row;
      } else {
        const unsigned queen = open & (0u - open);
        stack_open[thread][row] = open ^ queen;
        if (row + 1 == rows) {
          ++solutions;
        } else {
          const unsigned next_columns = stack_columns[thread][row] | queen;
          const unsigned next_left = (stack_left[thread][row] | queen) << 1;
          const unsigned next_right = (stack_right[thread][row] | queen) >> 1;
          ++row;
          stack_columns[thread][row] = next_columns;
          stack_left[thread][row] = next_left;
          stack_right[thread][row] = next_right;
          stack_open[thread][row] = all & ~(next_columns | next_left | next_right);
        }
      }
    }
  }
  found[thread] = placement < mirrored ? 2 * solutions : solutions;
  __syncthreads();
  if (thread < 32) found[thread] += found[thread + 32] + found[thread + 64];
  __syncthreads();
#pragma unroll
  for (int half = 16; half > 0; half >>= 1) {
    if (thread < half) found[thread] += found[thread + half];
    __syncthreads();
  }
  if (thread == 0) counts[blockIdx.x] = found[0];
}
