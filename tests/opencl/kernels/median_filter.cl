// Median of 3 x 3 pixels by a network of minima and maxima; beyond the border the edge is repeated. Exact.
#define ORDER(a, b)              \
  {                              \
    const uchar low = min(a, b); \
    b = max(a, b);               \
    a = low;                     \
  }
__kernel void median_filter(__global const uchar* in, __global uchar* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  uchar p[9];
  for (int k = 0; k < 9; ++k) {
    const int px = clamp(x + k % 3 - 1, 0, width - 1), py = clamp(y + k / 3 - 1, 0, height - 1);
    p[k] = in[py * width + px];
  }
  ORDER(p[1], p[2]) ORDER(p[4], p[5]) ORDER(p[7], p[8])
  ORDER(p[0], p[1]) ORDER(p[3], p[4]) ORDER(p[6], p[7])
  ORDER(p[1], p[2]) ORDER(p[4], p[5]) ORDER(p[7], p[8])
  ORDER(p[0], p[3]) ORDER(p[5], p[8]) ORDER(p[4], p[7])
  ORDER(p[3], p[6]) ORDER(p[1], p[4]) ORDER(p[2], p[5])
  ORDER(p[4], p[7]) ORDER(p[4], p[2]) ORDER(p[6], p[4])
  ORDER(p[4], p[2])
  out[y * width + x] = p[4];
}
