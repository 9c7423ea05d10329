// Sums of work-groups by a tree in local memory that the host sizes; the last steps diverge. Exact.
__kernel void reduction(__global const int* in, __global long* sums, __local long* partial, uint count) {
  const uint lane = get_local_id(0), size = get_local_size(0);
  long sum = 0;
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) sum += in[i];
  partial[lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = size / 2; reach > 0; reach /= 2) {
    if (lane < reach) partial[lane] += partial[lane + reach];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) sums[get_group_id(0)] = partial[0];
}
