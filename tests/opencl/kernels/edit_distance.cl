// Edit distance of a pair of words per work-group: dynamic programming along diagonals in local memory. Exact.
#define LENGTH 48
__kernel void edit_distance(__global const uchar* words, __global uint* distances) {
  __local uint diagonal[3][LENGTH + 1];
  const uint lane = get_local_id(0), pair = get_group_id(0) * 2 * LENGTH;
  for (uint sum = 0; sum <= 2 * LENGTH; ++sum) {
    __local uint* now = diagonal[sum % 3];
    __local uint* last = diagonal[(sum + 2) % 3];
    __local uint* before = diagonal[(sum + 1) % 3];
    for (uint row = lane; row <= LENGTH; row += get_local_size(0)) {
      if (row > sum || sum - row > LENGTH) continue;
      const uint column = sum - row;
      if (row == 0 || column == 0) {
        now[row] = sum;
        continue;
      }
      const uint differs = words[pair + row - 1] != words[pair + LENGTH + column - 1];
      now[row] = min(min(last[row - 1], last[row]) + 1, before[row - 1] + differs);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) distances[get_group_id(0)] = diagonal[2 * LENGTH % 3][LENGTH];
}
