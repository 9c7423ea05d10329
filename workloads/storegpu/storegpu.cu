// MD5 (RFC 1321) of many chunks of data, for a content-addressable store: one chunk per thread. Each thread
// stages 64 bytes at a time in shared memory, word by word beside those of the other threads, so that banks
// do not conflict.
#include "workloads/device.h"

constexpr int kMaxThreads = 64;

__constant__ unsigned sines[64];

__device__ static inline __attribute__((always_inline)) unsigned turned(unsigned x, int by) {
  return x << by | x >> (32 - by);
}

// Takes one block of 16 words into a digest.
__device__ static inline __attribute__((always_inline)) void take(unsigned* digest,
                                                                  const unsigned (*words)[kMaxThreads],
                                                                  int thread) {
  constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  unsigned a = digest[0], b = digest[1], c = digest[2], d = digest[3];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    unsigned mixed;
    int word;
    if (i < 16) {
      mixed = (b & c) | (~b & d);
      word = i;
    } else if (i < 32) {
      mixed = (d & b) | (~d & c);
      word = (5 * i + 1) % 16;
    } else if (i < 48) {
      mixed = b ^ c ^ d;
      word = (3 * i + 5) % 16;
    } else {
      mixed = c ^ (b | ~d);
      word = 7 * i % 16;
    }
    const unsigned next = b + turned(a + mixed + sines[i] + words[word][thread], kTurns[i / 16][i % 4]);
    a = d;
    d = c;
    c = b;
    b = next;
  }
  digest[0] += a;
  digest[1] += b;
  digest[2] += c;
  digest[3] += d;
}

// chunk_words: a multiple of 16.
extern "C" __global__ void hash_chunks(const unsigned* data, int chunks, int chunk_words, uint4* digests) {
  __shared__ unsigned words[16][kMaxThreads];
  const int thread = threadIdx.x, chunk = blockIdx.x * blockDim.x + thread;
  const int mine = min(chunk, chunks - 1);  // threads beyond the last chunk hash it again, for the barriers
  const unsigned* from = data + static_cast<unsigned long long>(mine) * chunk_words;
  unsigned digest[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
#pragma unroll 1
  for (int done = 0; done <= chunk_words; done += 16) {
    if (done < chunk_words) {
#pragma unroll
      for (int i = 0; i < 16; ++i) words[i][thread] = from[done + i];
    } else {  // padding: one bit, zeros, the length in bits
      words[0][thread] = 0x80u;
#pragma unroll
      for (int i = 1; i < 16; ++i) words[i][thread] = 0;
      words[14][thread] = static_cast<unsigned>(chunk_words) * 32;
    }
    __syncthreads();
    take(digest, words, thread);
  }
  if (chunk < chunks) digests[chunk] = {digest[0], digest[1], digest[2], digest[3]};
}
