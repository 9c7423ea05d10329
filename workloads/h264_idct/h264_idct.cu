// Inverse transforms of H.264 (ITU-T H.264, 8.5.12 and 8.5.13) of those blocks of a picture that have
// coefficients, added to the prediction. The coefficients are dense: a list says where in the picture each
// block lies. A thread transforms a row, then a column; the block lies in shared memory meanwhile.
#include "weft/workloads/device.h"

constexpr int kThreads = 192;

__device__ static inline int clip(int sample) {
  return min(max(sample, 0), 255);
}

// One row or column of 4 at distances `step`.
__device__ static inline void inverse_4(int* at, int step) {
  const int a = at[0], b = at[step], c = at[2 * step], d = at[3 * step];
  const int e = a + c, f = a - c, g = (b >> 1) - d, h = b + (d >> 1);
  at[0] = e + h;
  at[step] = f + g;
  at[2 * step] = f - g;
  at[3 * step] = e - h;
}

// One row or column of 8.
__device__ static inline void inverse_8(int* at, int step) {
  const int w0 = at[0], w1 = at[step], w2 = at[2 * step], w3 = at[3 * step];
  const int w4 = at[4 * step], w5 = at[5 * step], w6 = at[6 * step], w7 = at[7 * step];
  const int a0 = w0 + w4, a2 = w0 - w4, a4 = (w2 >> 1) - w6, a6 = w2 + (w6 >> 1);
  const int b0 = a0 + a6, b2 = a2 + a4, b4 = a2 - a4, b6 = a0 - a6;
  const int a1 = w5 - w3 - w7 - (w7 >> 1), a3 = w1 + w7 - w3 - (w3 >> 1);
  const int a5 = w7 - w1 + w5 + (w5 >> 1), a7 = w3 + w5 + w1 + (w1 >> 1);
  const int b1 = a1 + (a7 >> 2), b7 = a7 - (a1 >> 2), b3 = a3 + (a5 >> 2), b5 = (a3 >> 2) - a5;
  at[0] = b0 + b7;
  at[step] = b2 + b5;
  at[2 * step] = b4 + b3;
  at[3 * step] = b6 + b1;
  at[4 * step] = b6 - b1;
  at[5 * step] = b4 - b3;
  at[6 * step] = b2 - b5;
  at[7 * step] = b0 - b7;
}

// `blocks` blocks of size x size; corner[i]: index of the first sample of block i in the picture.
template <int size>
__device__ static inline void transform(const short* coefficients, const int* corner, unsigned char* picture,
                                        int width, int blocks) {
  constexpr int kBlocks = kThreads / size, kRow = size + 1;  // a column of padding against bank conflicts
  __shared__ int shared[kBlocks][size * kRow];
  const int line = threadIdx.x % size, own = threadIdx.x / size;
  const int block = blockIdx.x * kBlocks + own;
  int* const work = shared[own];
  if (block < blocks) {
#pragma unroll
    for (int i = 0; i < size; ++i) {  // neighbouring threads load neighbouring coefficients
      work[i * kRow + line] = coefficients[block * size * size + i * size + line];
    }
  }
  __syncthreads();
  if (block < blocks) size == 4 ? inverse_4(work + line * kRow, 1) : inverse_8(work + line * kRow, 1);
  __syncthreads();
  if (block >= blocks) return;
  size == 4 ? inverse_4(work + line, kRow) : inverse_8(work + line, kRow);
  unsigned char* const to = picture + corner[block] + line;
#pragma unroll
  for (int i = 0; i < size; ++i) to[i * width] = clip(to[i * width] + ((work[i * kRow + line] + 32) >> 6));
}

extern "C" __global__ void idct_4x4(const short* coefficients, const int* corner, unsigned char* picture,
                                    int width, int blocks) {
  transform<4>(coefficients, corner, picture, width, blocks);
}

extern "C" __global__ void idct_8x8(const short* coefficients, const int* corner, unsigned char* picture,
                                    int width, int blocks) {
  transform<8>(coefficients, corner, picture, width, blocks);
}
