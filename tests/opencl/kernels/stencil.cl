// One step of a five-point stencil on a plane, borders kept. Only + - *, not contracted: exact.
#pragma OPENCL FP_CONTRACT OFF
__kernel void stencil(__global const float* in, __global float* out, int width, int height, float rate) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const int at = y * width + x;
  const float centre = in[at];
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[at] = centre;
    return;
  }
  const float around = (in[at - 1] + in[at + 1]) + (in[at - width] + in[at + width]);
  out[at] = centre + rate * (around - 4.0f * centre);
}
