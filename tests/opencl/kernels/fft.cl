// Fourier transforms of 64 complex numbers per work-group: radix-2 butterflies in local memory, twiddle factors from a
// table. Only + - *, not contracted: exact.
#pragma OPENCL FP_CONTRACT OFF
#define SIZE 64
__kernel void fft(__global const float2* in, __global float2* out, __constant float2* twiddles) {
  __local float2 value[SIZE];
  const uint lane = get_local_id(0);  // SIZE / 2 work-items
  const uint base = get_group_id(0) * SIZE;
  for (uint i = lane; i < SIZE; i += SIZE / 2) {
    uint reversed = 0;
    for (uint bit = 1; bit < SIZE; bit *= 2) reversed = reversed * 2 + ((i & bit) != 0);
    value[reversed] = in[base + i];
  }
  for (uint reach = 1; reach < SIZE; reach *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint k = lane % reach, low = lane / reach * reach * 2 + k, high = low + reach;
    const float2 w = twiddles[k * (SIZE / 2 / reach)], a = value[low], b = value[high];
    const float2 turned = (float2)(w.x * b.x - w.y * b.y, w.x * b.y + w.y * b.x);
    value[low] = a + turned;
    value[high] = a - turned;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + lane] = value[lane];
  out[base + lane + SIZE / 2] = value[lane + SIZE / 2];
}
