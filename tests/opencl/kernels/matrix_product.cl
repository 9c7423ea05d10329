// Product of square matrices of doubles in 8 x 8 tiles in local memory; the sum is a chain of fma: exact.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define TILE 8
__kernel void matrix_product(__global const double* a, __global const double* b, __global double* c, int n) {
  __local double tile_a[TILE][TILE], tile_b[TILE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  double sum = 0.0;
  for (int first = 0; first < n; first += TILE) {
    tile_a[y][x] = a[row * n + first + x];
    tile_b[y][x] = b[(first + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum = fma(tile_a[y][k], tile_b[k][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
