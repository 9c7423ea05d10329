// Matching of DNA reads against a reference through its suffix array: one read per thread, one binary search
// for each place in the read where a match may begin. Suffix array and reference lie in textures or in global
// memory; the algorithm is the same, so it is written once, over `Index`.
#include "weft/workloads/device.h"

struct IndexInTextures {
  cudaTextureObject_t suffixes, reference;
  __device__ int suffix(int at) const { return tex1Dfetch<int>(suffixes, at); }
  __device__ unsigned base(int at) const { return tex1Dfetch<unsigned>(reference, at); }
};

struct IndexInArrays {
  const int* suffixes;
  const unsigned char* reference;
  __device__ int suffix(int at) const { return suffixes[at]; }
  __device__ unsigned base(int at) const { return reference[at]; }
};

// A base further, if there is one and it agrees. The comments in the PTX differ, or clang would join the
// copies.
template <int kCopy>
__device__ static bool advance(const IndexInArrays& index, int size, const unsigned char* text, int left,
                               int suffix, int& along, bool& suffix_first) {
  if (along >= left || suffix + along >= size) return false;
  const unsigned base = index.base(suffix + along), wanted = text[along];
  asm volatile("// copy %0" : : "n"(kCopy));
  if (base != wanted) {
    suffix_first = base < wanted;
    return false;
  }
  ++along;
  return true;
}

template <class Number, Number... kCopy>
struct Copies {};

// The innermost loop of match() with as many copies of its body, each with loads of its own, as a compiler
// leaves a loop that it unrolls.
template <int... kCopy>
__device__ static void compare(Copies<int, kCopy...>, const IndexInArrays& index, int size,
                               const unsigned char* text, int left, int suffix, int& along,
                               bool& suffix_first) {
#pragma unroll 1
  while ((advance<kCopy>(index, size, text, left, suffix, along, suffix_first) && ...)) {
  }
}

// For every start in the read from which `least` bases are left: how many of them occur in the reference (x),
// and the place in the array of a suffix that begins with them (y). The search starts to compare where both
// ends of its range are known to agree (Manber, Myers 1993).
template <bool kUnrolled, class Index>
__device__ static void match(const Index& index, int size, const unsigned char* reads, int count, int length,
                             int least, int2* matches) {
  const int read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= count) return;
  const int starts = length - least + 1;
#pragma unroll 1
  for (int start = 0; start < starts; ++start) {
    const unsigned char* text = reads + read * length + start;
    const int left = length - start;
    int low = -1, high = size, agree_low = 0, agree_high = 0;
    int best = 0, where = 0;
#pragma unroll 1
    while (high - low > 1 && best < left) {
      const int middle = (low + high) >> 1;
      const int suffix = index.suffix(middle);
      int along = agree_low < agree_high ? agree_low : agree_high;
      bool suffix_first = true;  // it ends first, or its next base is less
      if constexpr (kUnrolled) {
        compare(__make_integer_seq<Copies, int, 26>(), index, size, text, left, suffix, along, suffix_first);
      } else {
#pragma unroll 1
        while (along < left && suffix + along < size) {
          const unsigned base = index.base(suffix + along), wanted = text[along];
          if (base != wanted) {
            suffix_first = base < wanted;
            break;
          }
          ++along;
        }
      }
      if (along > best) {
        best = along;
        where = middle;
      }
      if (suffix_first) {
        low = middle;
        agree_low = along;
      } else {
        high = middle;
        agree_high = along;
      }
    }
    matches[read * starts + start] = int2{best, where};
  }
}

extern "C" __global__ void match_reads(cudaTextureObject_t suffixes, cudaTextureObject_t reference, int size,
                                       const unsigned char* reads, int count, int length, int least,
                                       int2* matches) {
  match<false>(IndexInTextures{suffixes, reference}, size, reads, count, length, least, matches);
}

extern "C" __global__ void match_reads_in_arrays(const int* suffixes, const unsigned char* reference,
                                                 int size, const unsigned char* reads, int count, int length,
                                                 int least, int2* matches) {
  match<false>(IndexInArrays{suffixes, reference}, size, reads, count, length, least, matches);
}

extern "C" __global__ void match_reads_unrolled(const int* suffixes, const unsigned char* reference, int size,
                                                const unsigned char* reads, int count, int length, int least,
                                                int2* matches) {
  match<true>(IndexInArrays{suffixes, reference}, size, reads, count, length, least, matches);
}
