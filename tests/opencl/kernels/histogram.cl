// A histogram of bytes: atomics on local memory, then on global memory; minimum, maximum and a set of bits besides.
// Exact, since none of them depends on order.
__kernel void histogram(__global const uchar* values, uint count, __global uint* bins, __global int* extremes,
                        __global uint* bits) {
  __local uint local_bins[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) local_bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
    const uchar value = values[i];
    atomic_inc(&local_bins[value]);
    atomic_min(&extremes[0], (int)value * 3 - 200);
    atomic_max(&extremes[1], (int)value * 3 - 200);
    atomic_or(&bits[0], 1u << (value & 31));
    atomic_xor(&bits[1], (uint)value << (i & 7));
    atomic_sub(&extremes[2], (int)value);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) {
    if (local_bins[i] != 0) atomic_add(&bins[i], local_bins[i]);
  }
}
