// Merge sort of keys with values. Blocks sort 1024 pairs each in shared memory; then pairs of sorted runs are
// merged, run length after run length. To merge in parallel, every 128th key of both runs cuts them into
// intervals of at most 128 keys of each; a block merges an interval. A thread that searches where its key
// belongs in the other run knows where to write it. Organised as in the CUDA SDK.
//
// Equal keys keep their order: keys of the first run go before equal ones of the second.
#include "weft/workloads/device.h"

constexpr unsigned kShared = 1024;  // pairs that a block sorts
constexpr unsigned kSample = 128;   // distance of the keys that cut

// How many of the `count` sorted keys are less than `key`, or if `or_equal` not greater. `power` is a power
// of 2, at least `count`.
template <bool or_equal>
__device__ static inline unsigned rank(unsigned key, const unsigned* keys, unsigned count, unsigned power) {
  if (count == 0) return 0;
  unsigned before = 0;
#pragma unroll 1
  for (unsigned step = power; step > 0; step >>= 1) {
    const unsigned next = before + step < count ? before + step : count;
    const unsigned other = keys[next - 1];
    if (or_equal ? other <= key : other < key) before = next;
  }
  return before;
}

// `runs` are pairs of sorted runs of `run` samples each; where a thread's sample lies in its pair.
struct Place {
  unsigned sample;  // of both runs
  unsigned pair;    // first sample of the pair of runs
};
__device__ static inline Place place_of(unsigned thread, unsigned run) {
  const unsigned sample = thread & (run - 1);
  return {sample, (thread - sample) * 2};
}

extern "C" __global__ void sort_shared(const unsigned* keys_in, const unsigned* values_in, unsigned* keys_out,
                                       unsigned* values_out) {
  __shared__ unsigned keys[kShared];
  __shared__ unsigned values[kShared];
  const unsigned thread = threadIdx.x, half = kShared / 2;
  const unsigned at = blockIdx.x * kShared + thread;
  keys[thread] = keys_in[at];
  values[thread] = values_in[at];
  keys[thread + half] = keys_in[at + half];
  values[thread + half] = values_in[at + half];
#pragma unroll 1
  for (unsigned run = 1; run < kShared; run *= 2) {
    const unsigned within = thread & (run - 1), first = 2 * (thread - within);
    __syncthreads();
    const unsigned key_a = keys[first + within], value_a = values[first + within];
    const unsigned key_b = keys[first + run + within], value_b = values[first + run + within];
    const unsigned to_a = rank<false>(key_a, keys + first + run, run, run) + within;
    const unsigned to_b = rank<true>(key_b, keys + first, run, run) + within;
    __syncthreads();
    keys[first + to_a] = key_a;
    values[first + to_a] = value_a;
    keys[first + to_b] = key_b;
    values[first + to_b] = value_b;
  }
  __syncthreads();
  keys_out[at] = keys[thread];
  values_out[at] = values[thread];
  keys_out[at + half] = keys[thread + half];
  values_out[at + half] = values[thread + half];
}

// Of each sample: how many keys of the pair's first and second run go before it. A thread takes one of each
// run.
extern "C" __global__ void rank_samples(const unsigned* keys, unsigned* before_in_first,
                                        unsigned* before_in_second, unsigned length, unsigned threads) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  const unsigned run = length / kSample;
  const Place place = place_of(thread, run);
  const unsigned* const first = keys + place.pair * kSample;
  const unsigned* const second = first + length;
  const unsigned a = place.pair + place.sample, b = a + run, key = place.sample * kSample;
  before_in_first[a] = key;
  before_in_second[a] = rank<false>(first[key], second, length, length);
  before_in_first[b] = rank<true>(second[key], first, length, length);
  before_in_second[b] = key;
}

// Sorts the samples' ranks within each pair of runs: both halves are sorted already.
extern "C" __global__ void merge_ranks(const unsigned* ranks, unsigned* limits, unsigned length,
                                       unsigned threads) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  const unsigned run = length / kSample;
  const Place place = place_of(thread, run);
  const unsigned* const first = ranks + place.pair;
  const unsigned* const second = first + run;
  const unsigned a = first[place.sample], b = second[place.sample];
  limits[place.pair + place.sample + rank<false>(a, second, run, run)] = a;
  limits[place.pair + place.sample + rank<true>(b, first, run, run)] = b;
}

// A block merges the keys between two neighbouring limits.
extern "C" __global__ void merge_intervals(const unsigned* keys_in, const unsigned* values_in,
                                           const unsigned* limits_first, const unsigned* limits_second,
                                           unsigned* keys_out, unsigned* values_out, unsigned length) {
  __shared__ unsigned keys[2 * kSample];
  __shared__ unsigned values[2 * kSample];
  __shared__ unsigned start_a, start_b, count_a, count_b;
  const unsigned thread = threadIdx.x, intervals = 2 * length / kSample;
  const unsigned interval = blockIdx.x & (intervals - 1), pair = (blockIdx.x - interval) * kSample;
  if (thread == 0) {
    start_a = limits_first[blockIdx.x];
    start_b = limits_second[blockIdx.x];
    const bool last = interval + 1 == intervals;
    count_a = (last ? length : limits_first[blockIdx.x + 1]) - start_a;
    count_b = (last ? length : limits_second[blockIdx.x + 1]) - start_b;
  }
  __syncthreads();
  const unsigned from_a = pair + start_a + thread, from_b = pair + length + start_b + thread;
  unsigned key_a = 0, value_a = 0, key_b = 0, value_b = 0;
  if (thread < count_a) {
    keys[thread] = key_a = keys_in[from_a];
    value_a = values_in[from_a];
  }
  if (thread < count_b) {
    keys[kSample + thread] = key_b = keys_in[from_b];
    value_b = values_in[from_b];
  }
  __syncthreads();
  unsigned to_a = 0, to_b = 0;
  if (thread < count_a) to_a = rank<false>(key_a, keys + kSample, count_b, kSample) + thread;
  if (thread < count_b) to_b = rank<true>(key_b, keys, count_a, kSample) + thread;
  __syncthreads();
  if (thread < count_a) {
    keys[to_a] = key_a;
    values[to_a] = value_a;
  }
  if (thread < count_b) {
    keys[to_b] = key_b;
    values[to_b] = value_b;
  }
  __syncthreads();
  const unsigned to = pair + start_a + start_b + thread;
  if (thread < count_a) {
    keys_out[to] = keys[thread];
    values_out[to] = values[thread];
  }
  if (thread < count_b) {
    keys_out[to + count_a] = keys[thread + count_a];
    values_out[to + count_a] = values[thread + count_a];
  }
}
