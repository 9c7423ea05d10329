// Integer hashing: the finalisers of two well-known hash functions in 32 and 64 bits. Exact.
__kernel void hash(__global const uint* in, __global uint* out32, __global ulong* out64, uint rounds) {
  const size_t i = get_global_id(0);
  uint h = in[i];
  ulong g = ((ulong)h << 32) | (uint)~h;
  for (uint round = 0; round < rounds; ++round) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    g ^= g >> 33;
    g *= 0xff51afd7ed558ccdul;
    g ^= g >> 29;
    g += h + round;
  }
  out32[i] = h;
  out64[i] = g;
}
