// Matching of DNA reads against a reference through its suffix array, which lies in a texture with the
// reference: one read per thread, one binary search for each place in the read where a match may begin.
#include "workloads/device.h"

// For every start in the read from which `least` bases are left: how many of them occur in the reference (x),
// and the place in the array of a suffix that begins with them (y). The search starts to compare where both
// ends of its range are known to agree (Manber, Myers 1993).
extern "C" __global__ void match_reads(cudaTextureObject_t suffixes, cudaTextureObject_t reference, int size,
                                       const unsigned char* reads, int count, int length, int least,
                                       int2* matches) {
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
      const int suffix = tex1Dfetch<int>(suffixes, middle);
      int along = agree_low < agree_high ? agree_low : agree_high;
      bool suffix_first = true;  // it ends first, or its next base is less
#pragma unroll 1
      while (along < left && suffix + along < size) {
        const unsigned base = tex1Dfetch<unsigned>(reference, suffix + along), wanted = text[along];
        if (base != wanted) {
          suffix_first = base < wanted;
          break;
        }
        ++along;
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
