// A matrix of any shape is transposed in 16 x 16 tiles of local memory with a padding column. Exact.
#define TILE 16
__kernel void transpose(__global const uint* in, __global uint* out, uint width, uint height) {
  __local uint tile[TILE][TILE + 1];
  uint x = get_group_id(0) * TILE + get_local_id(0);
  for (uint k = get_local_id(1); k < TILE; k += get_local_size(1)) {
    const uint y = get_group_id(1) * TILE + k;
    if (x < width && y < height) tile[k][get_local_id(0)] = in[y * width + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * TILE + get_local_id(0);
  for (uint k = get_local_id(1); k < TILE; k += get_local_size(1)) {
    const uint y = get_group_id(0) * TILE + k;
    if (x < height && y < width) out[y * height + x] = tile[get_local_id(0)][k];
  }
}
