// printf with every kind of conversion, from some of the threads.
#include <cstdio>

extern "C" __global__ void print(int* out) {
  const int t = threadIdx.x;
  out[t] = -7;
  if (t % 16 == 3) {
    out[t] = printf("thread %2d of %u: %5.2f %s%c|%-6x|%08lld|%e|%%|%hd|%p\n", t, blockDim.x, t * 0.75, "str",
                    'A' + t, t * 1000u, -1234567890123ll - t, 1.0 / (t + 1), 70000 + t,
                    reinterpret_cast<void*>(0x1234ull + t));
  }
  if (t == 5) out[t] = printf("nothing to say\n");
  if (t == 6) out[t] = printf("%*d|%.*f|%-*s|\n", 6, 42, 3, 2.5, 8, "left");
}
