// Functions that call themselves, alone and in turn; threads go to different depths.
__noinline__ __device__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__noinline__ __device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ int odd(int n);
__noinline__ __device__ int even(int n) {
  return n == 0 ? 1 : odd(n - 1);
}
__noinline__ __device__ int odd(int n) {
  return n == 0 ? 0 : even(n - 1);
}

// The frame holds an array, and what was in it must survive the calls.
__noinline__ __device__ int path(int n, int seed) {
  int visited[4];
  for (int i = 0; i < 4; ++i) visited[i] = seed * (i + 1) + n;
  const int below = n == 0 ? 1 : path(n - 1, visited[n & 3] & 63);
  int sum = below;
  for (int i = 0; i < 4; ++i) sum = sum * 3 + visited[(i + below) & 3];
  return sum;
}

extern "C" __global__ void recursion(int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int result = fibonacci(t % 9);
  if (t % 3 != 0) result += 1000 * ackermann(t % 3, t % 4);
  result += 100000 * even(t % 10);
  out[t] = result ^ path(t % 5, t);
}
