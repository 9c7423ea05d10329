// A switch with a jump table in a function that is not inlined, with other calls in its cases.
__noinline__ __device__ int leaf(int x) {
  return x * x - 3;
}

__noinline__ __device__ int choose(int which, int x) {
  switch (which) {
    case 0:
      return x + 17;
    case 1:
      return leaf(x);
    case 2:
      return x ^ 0x55;
    case 3:
      x += leaf(x + 1);  // falls through
    case 4:
      return x * 7;
    case 5:
      return -x;
    case 6:
      return leaf(leaf(x & 15));
    case 7:
      return x >> 2;
    case 8:
      return x % 13;
    case 9:
      return 1 << (x & 7);
    default:
      return which;
  }
}

extern "C" __global__ void switch_noinline(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum = sum * 5 + choose((t + i * 4) % 12, t + i);
  out[t] = sum;
}
