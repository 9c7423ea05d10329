// Dot products of rows: fma in a stride over the row, then a tree in local memory. Additions in a fixed order and fma
// only: exact.
#pragma OPENCL FP_CONTRACT OFF
#define SIZE 64
__kernel void dot_product(__global const float* a, __global const float* b, __global float* out, uint length) {
  __local float partial[SIZE];
  const uint lane = get_local_id(0), row = get_group_id(0) * length;
  float sum = 0.0f;
  for (uint i = lane; i < length; i += SIZE) sum = fma(a[row + i], b[row + i], sum);
  partial[lane] = sum;
  for (uint reach = SIZE / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < reach) partial[lane] = partial[lane] + partial[lane + reach];
  }
  if (lane == 0) out[get_group_id(0)] = partial[0];
}
