// Elements that pass a test move together within their work-group, in order, by prefix sums of flags. Exact.
#define SIZE 128
__kernel void compaction(__global const int* in, __global int* out, __global uint* counts, int least) {
  __local uint flags[2][SIZE];
  const uint lane = get_local_id(0), base = get_group_id(0) * SIZE;
  const int value = in[base + lane];
  const uint keep = value >= least && value % 3 != 0;
  uint current = 0;
  flags[0][lane] = keep;
  for (uint distance = 1; distance < SIZE; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = flags[current][lane];
    if (lane >= distance) sum += flags[current][lane - distance];
    current ^= 1;
    flags[current][lane] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint total = flags[current][SIZE - 1];
  out[base + lane] = 0;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (keep) out[base + flags[current][lane] - 1] = value;
  if (lane == 0) counts[get_group_id(0)] = total;
}
