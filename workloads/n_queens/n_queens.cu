// The last rows of the n queens problem: each thread takes one placement of the first rows and counts its
// completions by depth-first search, with stacks in shared memory; a block adds up what its threads found.
#include "weft/workloads/device.h"

constexpr int kThreads = 96, kMaxRows = 10;

// columns, left, right: the fields of the first free row that queens above attack along columns and both
// diagonals. The first `mirrored` placements stand for their mirror images, too.
extern "C" __global__ void count_completions(int n, int rows, const unsigned* columns, const unsigned* left,
                                             const unsigned* right, int placements, int mirrored,
                                             unsigned* counts) {
  __shared__ unsigned stack_columns[kThreads][kMaxRows];
  __shared__ unsigned stack_left[kThreads][kMaxRows];
  __shared__ unsigned stack_right[kThreads][kMaxRows];
  __shared__ unsigned stack_tried[kThreads][kMaxRows];  // fields of the row that are attacked or were tried
  __shared__ unsigned found[kThreads];

  const int thread = threadIdx.x;
  const int placement = blockIdx.x * kThreads + thread;
  const unsigned all = (1u << n) - 1;
  unsigned solutions = 0;
  int row = 0;
  if (placement < placements) {
    stack_columns[thread][0] = columns[placement];
    stack_left[thread][0] = left[placement];
    stack_right[thread][0] = right[placement];
    stack_tried[thread][0] = stack_columns[thread][0] | stack_left[thread][0] | stack_right[thread][0];
#pragma unroll 1
    while (row >= 0) {
      if ((stack_tried[thread][row] & all) == all) {
        --row;
        continue;
      }
      const unsigned queen = (stack_tried[thread][row] + 1) & ~stack_tried[thread][row];
      stack_tried[thread][row] |= queen;
      if ((queen & all) == 0) {
        --row;
        WEFT_KEEP_BRANCH();
      } else if (row + 1 == rows) {
        ++solutions;  // the last row has one place at most
        --row;
      } else {
        stack_columns[thread][row + 1] = stack_columns[thread][row] | queen;
        stack_left[thread][row + 1] = (stack_left[thread][row] | queen) << 1;
        stack_right[thread][row + 1] = (stack_right[thread][row] | queen) >> 1;
        stack_tried[thread][row + 1] =
            stack_columns[thread][row + 1] | stack_left[thread][row + 1] | stack_right[thread][row + 1];
        ++row;
      }
    }
    found[thread] = placement < mirrored ? 2 * solutions : solutions;
  } else {
    found[thread] = 0;
  }
  __syncthreads();
  if (thread < 64 && thread + 64 < kThreads) found[thread] += found[thread + 64];
  __syncthreads();
#pragma unroll
  for (int half = 32; half > 0; half >>= 1) {
    if (thread < half) found[thread] += found[thread + half];
    __syncthreads();
  }
  if (thread == 0) counts[blockIdx.x] = found[0];
}
