// Chains of dependent additions and exclusive ors, by the threads that a mask of their warp of 32 names. Each
// warp goes through its masks, `rounds` times through the chains for each.
#include "weft/workloads/device.h"

constexpr int kPairs = 96;  // as in lane_benchmark.cpp; with the loop under 200 instructions

template <int kChains>
__device__ static inline __attribute__((always_inline)) void run(const unsigned* masks, int turns, int rounds,
                                                                 unsigned step, unsigned flip,
                                                                 unsigned* results) {
  const int thread = threadIdx.x;
  masks += thread / 32 * turns;
  unsigned x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = thread + c;
  for (int turn = 0; turn < turns; ++turn) {
    if ((masks[turn] >> (thread % 32) & 1) != 0) {
#pragma unroll 1
      for (int left = rounds; left != 0; --left) {
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
          // The chains take turns, operation by operation.
#pragma unroll
          for (int c = 0; c < kChains && i % kChains == 0; ++c) x[c] += step;
#pragma unroll
          for (int c = 0; c < kChains && i % kChains == 0; ++c) x[c] ^= flip;
        }
      }
    }
  }
  unsigned all = x[0];
#pragma unroll
  for (int c = 1; c < kChains; ++c) all += x[c];
  results[thread] = all;
}

extern "C" __global__ void one_chain(const unsigned* masks, int turns, int rounds, unsigned step,
                                     unsigned flip, unsigned* results) {
  run<1>(masks, turns, rounds, step, flip, results);
}

extern "C" __global__ void eight_chains(const unsigned* masks, int turns, int rounds, unsigned step,
                                        unsigned flip, unsigned* results) {
  run<8>(masks, turns, rounds, step, flip, results);
}
