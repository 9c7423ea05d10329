// AES-128 in ECB mode with tables that join SubBytes, ShiftRows and MixColumns (Daemen, Rijmen 1999): four
// threads encrypt a block of 16 bytes, each one column of the state, which they exchange through shared
// memory.
#include "weft/workloads/device.h"

constexpr int kThreads = 256, kRounds = 10;

__constant__ unsigned tables[4][256];  // table r: of the byte in row r
__constant__ unsigned box[256];        // SubBytes

// A column is a word, row 0 in its lowest byte. round_keys: 4 x 11 words.
extern "C" __global__ void encrypt(const unsigned* in, unsigned* out, cudaTextureObject_t round_keys) {
  __shared__ unsigned table[4][256];
  __shared__ unsigned state[2][kThreads];
  const int thread = threadIdx.x;
  for (int r = 0; r < 4; ++r) table[r][thread] = tables[r][thread];
  const int at = blockIdx.x * kThreads + thread;
  const int column = thread & 3, first = thread & ~3;
  state[0][thread] = in[at] ^ tex1Dfetch<unsigned>(round_keys, column);
  __syncthreads();

  const int c1 = first + ((column + 1) & 3), c2 = first + ((column + 2) & 3), c3 = first + ((column + 3) & 3);
#pragma unroll
  for (int round = 1; round < kRounds; ++round) {
    const unsigned* now = state[(round - 1) & 1];
    state[round & 1][thread] = table[0][now[thread] & 255] ^ table[1][now[c1] >> 8 & 255] ^
                               table[2][now[c2] >> 16 & 255] ^ table[3][now[c3] >> 24] ^
                               tex1Dfetch<unsigned>(round_keys, 4 * round + column);
    __syncthreads();
  }
  const unsigned* now = state[(kRounds - 1) & 1];
  const unsigned last = box[now[thread] & 255] | box[now[c1] >> 8 & 255] << 8 |
                        box[now[c2] >> 16 & 255] << 16 | box[now[c3] >> 24] << 24;
  out[at] = last ^ tex1Dfetch<unsigned>(round_keys, 4 * kRounds + column);
}
