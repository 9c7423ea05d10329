// An array that is indexed by values of run time, so that it lies in local memory, written and read through
// pointers in the same function and in another.
__noinline__ __device__ int sum_of(const int* values, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum = sum * 2 + values[i];
  return sum;
}

extern "C" __global__ void local_array(int* out, const int* order) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int values[16];
  for (int i = 0; i < 16; ++i) values[i] = i * t;
  for (int i = 0; i < 16; ++i) values[order[(i + t) % 16]] += values[(i * 3) % 16] - i;
  out[t] = sum_of(values, t % 17);
}
