// Iterations until a point escapes. Only + - *, not contracted, so the counts are exact.
#pragma OPENCL FP_CONTRACT OFF
__kernel void mandelbrot(__global ushort* iterations, float left, float top, float step, uint most) {
  const uint x = get_global_id(0), y = get_global_id(1);
  const float re = left + step * (float)x, im = top - step * (float)y;
  float a = 0.0f, b = 0.0f;
  uint count = 0;
  while (count < most) {
    const float aa = a * a, bb = b * b;
    if (aa + bb > 4.0f) break;
    b = 2.0f * a * b + im;
    a = aa - bb + re;
    ++count;
  }
  iterations[y * get_global_size(0) + x] = (ushort)count;
}
