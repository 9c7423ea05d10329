// Kernels over the features of a warp as CUDA programs use them. Compiled by
//   nvcc -arch=sm_80 -ptx -o warp_features.ptx warp_features.cu
// and stored, so that the tests need no CUDA toolkit. What they must compute is in warp_features_test.cpp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// Every shuffle, in whole warps and in segments.
extern "C" __global__ void shuffles(const int* in, int* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[t];
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  v += __shfl_down_sync(0xffffffffu, v, 3, 8);
  v ^= __shfl_up_sync(0xffffffffu, v, 2, 16);
  out[t] = v + __shfl_sync(0xffffffffu, v, 5);
}

// Inclusive sums of a warp; 64-bit values travel as two halves.
extern "C" __global__ void scan(const long long* in, long long* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  long long v = in[t];
  for (unsigned step = 1; step < 32; step *= 2) {
    const long long below = __shfl_up_sync(0xffffffffu, v, step);
    if (threadIdx.x % 32 >= step) v += below;
  }
  out[t] = v;
}

// A sum per tile of 8 threads, at its first thread.
extern "C" __global__ void tile_sums(const int* in, int* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[t];
  for (unsigned step = tile.size() / 2; step > 0; step /= 2) v += tile.shfl_down(v, step);
  tile.sync();
  if (tile.thread_rank() == 0) out[t / 8] = v;
}

// cg::reduce, which takes redux where it can.
extern "C" __global__ void tile_extremes(const unsigned* in, unsigned* out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned low = cg::reduce(tile, in[t], cg::less<unsigned>());
  const unsigned sum = cg::reduce(tile, in[t], cg::plus<unsigned>());
  out[2 * t] = low;
  out[2 * t + 1] = sum;
}

// Positive numbers to the front, in any order: one atomic per group of threads that come here together.
extern "C" __global__ void filter(const int* in, int* out, int* count) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[t];
  if (v > 0) {
    const auto group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(group.size()));
    first = group.shfl(first, 0);
    out[first + group.thread_rank()] = v;
  }
}

// Threads of equal keys count each other.
extern "C" __global__ void equal_keys(const int* key, unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned same = __match_any_sync(0xffffffffu, key[t]);
  int all = 0;
  const unsigned mask = __match_all_sync(0xffffffffu, key[t] & 0, &all);
  out[t] = __popc(same) + 100 * __popc(same & ((1u << threadIdx.x % 32) - 1)) + (all != 0 && mask == ~0u ? 10000 : 0);
}

extern "C" __global__ void votes(const int* in, unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[t];
  unsigned r = __ballot_sync(0xffffffffu, v > 0);
  if (__any_sync(0xffffffffu, v > 90)) r += 1;
  if (__all_sync(0xffffffffu, v > -90)) r += 2;
  out[t] = r;
}

// Every reduction that redux has.
extern "C" __global__ void reductions(const int* in, unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[t];
  const unsigned u = static_cast<unsigned>(v);
  unsigned* at = out + 8 * t;
  at[0] = __reduce_add_sync(0xffffffffu, u);
  at[1] = static_cast<unsigned>(__reduce_min_sync(0xffffffffu, v));
  at[2] = static_cast<unsigned>(__reduce_max_sync(0xffffffffu, v));
  at[3] = __reduce_min_sync(0xffffffffu, u);
  at[4] = __reduce_max_sync(0xffffffffu, u);
  at[5] = __reduce_and_sync(0xffffffffu, u);
  at[6] = __reduce_or_sync(0xffffffffu, u);
  at[7] = __reduce_xor_sync(0xffffffffu, u);
}

// Two stages of asynchronous copies: each block adds neighbours of its 128 numbers, chunk after chunk.
extern "C" __global__ void pipelined(const float4* in, float* out, int chunks) {
  __shared__ float4 stage[2][32];
  const unsigned t = threadIdx.x;
  const float4* mine = in + blockIdx.x * chunks * 32;
  __pipeline_memcpy_async(&stage[0][t], &mine[t], sizeof(float4));
  __pipeline_commit();
  float sum = 0;
  for (int c = 0; c < chunks; ++c) {
    if (c + 1 < chunks) {
      __pipeline_memcpy_async(&stage[(c + 1) & 1][t], &mine[(c + 1) * 32 + t], sizeof(float4));
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 a = stage[c & 1][t], b = stage[c & 1][(t + 1) & 31];
    sum += a.x + 2 * a.y + 4 * b.z + 8 * b.w;
    __syncthreads();
  }
  out[blockIdx.x * 32 + t] = sum;
}

// The tail of an array: bytes that are not there become zero.
extern "C" __global__ void padded(const int* in, int* out, int n) {
  __shared__ int box[64];
  const int t = threadIdx.x;
  const int left = (n - t) * 4;
  __pipeline_memcpy_async(&box[t], &in[t < n ? t : 0], 4, left >= 4 ? 0 : 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = box[63 - t];
}

extern "C" __global__ void bits(const unsigned long long* in, unsigned long long* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long v = in[t];
  const unsigned w = static_cast<unsigned>(v >> 13);
  unsigned long long* at = out + 6 * t;
  at[0] = __popcll(v) + 100 * __popc(w);
  at[1] = __clzll(v) + 100 * __clz(w);
  at[2] = __brevll(v);
  at[3] = __brev(w);
  at[4] = __umul64hi(v, 0x9e3779b97f4a7c15ull);
  at[5] = static_cast<unsigned long long>(__mul64hi(static_cast<long long>(v), -123456789012345ll));
}

extern "C" __global__ void block_votes(const int* in, int* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[t];
  const int count = __syncthreads_count(v > 0);
  const int all = __syncthreads_and(v > -90);
  const int any = __syncthreads_or(v > 90);
  out[t] = count + (all ? 1000 : 0) + (any ? 10000 : 0);
}
