// Global alignment of two sequences by dynamic programming (Needleman, Wunsch 1970): tiles of 16 x 16 scores,
// one block of 16 threads a tile. A launch computes one diagonal of tiles; inside a tile the threads go along
// its diagonals.
#include "weft/workloads/device.h"

constexpr int kTile = 16;

__device__ static int best_of(int a, int b, int c) {
  int best;
  if (a <= b) {
    best = b;
  } else {
    best = a;
  }
  if (best <= c) best = c;
  return best;
}

// scores, similarity: `columns` columns; row 0 and column 0 of `scores` are given, those of `similarity`
// unused. kCopies: how often the load and the store of a row of the tile stand in the code.
template <int kCopies>
__device__ static inline __attribute__((always_inline)) void align_tile(const int* similarity, int* scores,
                                                                        int columns, int penalty, int tile_x,
                                                                        int tile_y) {
  __shared__ int score[kTile + 1][kTile + 1];
  __shared__ int pair[kTile][kTile];
  const int thread = threadIdx.x;
  const int corner = columns * kTile * tile_y + kTile * tile_x;  // the score up and left of the tile
  const int first = corner + columns + 1;

  if (thread == 0) score[0][0] = scores[corner];
#pragma unroll kCopies
  for (int y = 0; y < kTile; ++y) pair[y][thread] = similarity[first + columns * y + thread];
  __syncthreads();
  score[thread + 1][0] = scores[corner + columns * (thread + 1)];
  __syncthreads();
  score[0][thread + 1] = scores[corner + thread + 1];
  __syncthreads();

#pragma unroll 1
  for (int m = 0; m < kTile; ++m) {
    if (thread <= m) {
      const int x = thread + 1, y = m - thread + 1;
      score[y][x] = best_of(score[y - 1][x - 1] + pair[y - 1][x - 1], score[y][x - 1] - penalty,
                            score[y - 1][x] - penalty);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int m = kTile - 2; m >= 0; --m) {
    if (thread <= m) {
      const int x = thread + kTile - m, y = kTile - thread;
      score[y][x] = best_of(score[y - 1][x - 1] + pair[y - 1][x - 1], score[y][x - 1] - penalty,
                            score[y - 1][x] - penalty);
    }
    __syncthreads();
  }
#pragma unroll kCopies
  for (int y = 0; y < kTile; ++y) scores[first + columns * y + thread] = score[y + 1][thread + 1];
}

// The diagonal of `tiles` tiles that begins at the left border ...
extern "C" __global__ void upper_left(const int* similarity, int* scores, int columns, int penalty,
                                      int tiles) {
  const int tile = blockIdx.x;
  align_tile<kTile>(similarity, scores, columns, penalty, tile, tiles - 1 - tile);
}

// ... and the one that ends at the right border, `width` tiles wide.
extern "C" __global__ void lower_right(const int* similarity, int* scores, int columns, int penalty,
                                       int tiles, int width) {
  const int tile = blockIdx.x;
  align_tile<kTile>(similarity, scores, columns, penalty, width - tiles + tile, width - 1 - tile);
}

// The same with rolled loops.
extern "C" __global__ void upper_left_rolled(const int* similarity, int* scores, int columns, int penalty,
                                             int tiles) {
  const int tile = blockIdx.x;
  align_tile<1>(similarity, scores, columns, penalty, tile, tiles - 1 - tile);
}

extern "C" __global__ void lower_right_rolled(const int* similarity, int* scores, int columns, int penalty,
                                              int tiles, int width) {
  const int tile = blockIdx.x;
  align_tile<1>(similarity, scores, columns, penalty, width - tiles + tile, width - 1 - tile);
}
