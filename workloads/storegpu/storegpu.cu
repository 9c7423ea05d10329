// MD5 (RFC 1321) of many chunks of data, for a content-addressable store: one chunk per thread. Each thread
// stages 64 bytes at a time in shared memory, word by word beside those of the other threads, so that banks
// do not conflict.
#include "weft/workloads/device.h"

constexpr int kMaxThreads = 64;

// RFC 1321, section 3.4. Operands of the instructions: loads from constant memory would be moved out of the
// loop, into 64 registers.
constexpr unsigned kSines[64] = {
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u,
    0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u,
    0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u,
    0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au,
    0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u,
    0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u,
    0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u};

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
    const unsigned next = b + turned(a + mixed + kSines[i] + words[word][thread], kTurns[i / 16][i % 4]);
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
