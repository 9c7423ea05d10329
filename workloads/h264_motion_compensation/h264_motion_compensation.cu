// Motion compensation of H.264 (ITU-T H.264, 8.4.2.2): a macroblock is predicted from a reference picture,
// each of its quarters moved by a vector of its own, in quarters of a luma sample. A block of 64 threads per
// macroblock, 16 threads per quarter, which load what they need of the reference into shared memory. The
// texture repeats the samples at the picture's edge, as the standard wants it.
#include "weft/workloads/device.h"

constexpr int kQuarter = 8;           // luma samples
constexpr int kReach = kQuarter + 5;  // with what a filter of six taps needs: two before, three behind
constexpr int kChroma = kQuarter / 2 + 1;

__device__ static inline int clip(int sample) {
  return min(max(sample, 0), 255);
}
__device__ static inline int six_taps(const int* at, int step) {
  return at[-2 * step] - 5 * at[-step] + 20 * at[0] + 20 * at[step] - 5 * at[2 * step] + at[3 * step];
}
// Half a sample right of `at`, half a sample below it, and both.
__device__ static inline int right_half(const int* at) {
  return clip((six_taps(at, 1) + 16) >> 5);
}
__device__ static inline int below_half(const int* at) {
  return clip((six_taps(at, kReach) + 16) >> 5);
}
__device__ static inline int centre(const int* at) {
  const int sum = six_taps(at - 2 * kReach, 1) - 5 * six_taps(at - kReach, 1) + 20 * six_taps(at, 1) +
                  20 * six_taps(at + kReach, 1) - 5 * six_taps(at + 2 * kReach, 1) +
                  six_taps(at + 3 * kReach, 1);
  return clip((sum + 512) >> 10);
}
__device__ static inline int mean(int a, int b) {
  return (a + b + 1) >> 1;
}

// The sample `x`, `y` quarters right of and below `at`; quarters are means of their two nearest neighbours
// among whole samples and halves.
__device__ static inline int interpolate(const int* at, int x, int y) {
  const int* const right = at + (x == 3 ? 1 : 0);
  const int* const below = at + (y == 3 ? kReach : 0);
  if (y == 0) {
    if (x == 0) return *at;
    const int half = right_half(at);
    return x == 2 ? half : mean(half, *right);
  }
  if (x == 0) {
    const int half = below_half(at);
    return y == 2 ? half : mean(half, *below);
  }
  if (x == 2) {
    const int half = centre(at);
    return y == 2 ? half : mean(half, right_half(below));
  }
  if (y == 2) return mean(centre(at), below_half(right));
  return mean(right_half(below), below_half(right));
}

// vector[4 m + q]: x and y of quarter q of macroblock m; `across`: macroblocks in a row of the picture.
extern "C" __global__ void motion_luma(cudaTextureObject_t reference, const int2* vector, unsigned* picture,
                                       int across) {
  __shared__ int samples[4][kReach * kReach];
  const int lane = threadIdx.x % 16, quarter = threadIdx.x / 16;
  const int2 move = vector[blockIdx.x * 4 + quarter];
  const int left = blockIdx.x % across * 16 + quarter % 2 * kQuarter;
  const int top = blockIdx.x / across * 16 + quarter / 2 * kQuarter;
  const int from_x = left + (move.x >> 2) - 2, from_y = top + (move.y >> 2) - 2;
#pragma unroll 1
  for (int i = lane; i < kReach * kReach; i += 16) {
    samples[quarter][i] = tex2D<unsigned>(reference, from_x + i % kReach + 0.5f, from_y + i / kReach + 0.5f);
  }
  __syncthreads();
  // Four samples side by side.
  const int x = lane % 2 * 4, y = lane / 2;
  const int* const at = samples[quarter] + (y + 2) * kReach + x + 2;
  unsigned four = 0;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) four |= interpolate(at + i, move.x & 3, move.y & 3) << 8 * i;
  picture[((top + y) * across * 16 + left + x) / 4] = four;
}

// Both chroma planes, interleaved, of half the width and height; vectors are in eighths here. A thread per
// place.
extern "C" __global__ void motion_chroma(cudaTextureObject_t reference, const int2* vector,
                                         unsigned short* picture, int across) {
  __shared__ uint2 samples[4][kChroma * kChroma];
  const int lane = threadIdx.x % 16, quarter = threadIdx.x / 16;
  const int2 move = vector[blockIdx.x * 4 + quarter];
  const int left = blockIdx.x % across * 8 + quarter % 2 * 4, top = blockIdx.x / across * 8 + quarter / 2 * 4;
  const int from_x = left + (move.x >> 3), from_y = top + (move.y >> 3);
#pragma unroll 1
  for (int i = lane; i < kChroma * kChroma; i += 16) {
    const uint4 texel = tex2D<uint4>(reference, from_x + i % kChroma + 0.5f, from_y + i / kChroma + 0.5f);
    samples[quarter][i] = {texel.x, texel.y};
  }
  __syncthreads();
  const int x = lane % 4, y = lane / 4;
  const uint2* const at = samples[quarter] + y * kChroma + x;
  const unsigned right = move.x & 7, below = move.y & 7;
  const unsigned a = (8 - right) * (8 - below), b = right * (8 - below), c = (8 - right) * below,
                 d = right * below;
  const uint2 p = at[0], q = at[1], r = at[kChroma], s = at[kChroma + 1];
  const unsigned first = (a * p.x + b * q.x + c * r.x + d * s.x + 32) >> 6;
  const unsigned second = (a * p.y + b * q.y + c * r.y + d * s.y + 32) >> 6;
  picture[(top + y) * across * 8 + left + x] = first | second << 8;
}
