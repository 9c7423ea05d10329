// Exclusive prefix sums of 256 elements per work-group: up-sweep and down-sweep over a tree in local memory. Exact.
#define SIZE 256
__kernel void scan(__global const uint* in, __global uint* out, __global uint* totals) {
  __local uint tree[SIZE];
  const uint lane = get_local_id(0);
  tree[lane] = in[get_global_id(0)];
  for (uint step = 1; step < SIZE; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint right = (lane + 1) * step * 2 - 1;
    if (right < SIZE) tree[right] += tree[right - step];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) {
    totals[get_group_id(0)] = tree[SIZE - 1];
    tree[SIZE - 1] = 0;
  }
  for (uint step = SIZE / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint right = (lane + 1) * step * 2 - 1;
    if (right < SIZE) {
      const uint left = tree[right - step];
      tree[right - step] = tree[right];
      tree[right] += left;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tree[lane];
}
