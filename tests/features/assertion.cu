// assert, trap and a call of what is no function.
#include <cassert>

extern "C" __global__ void assertion(int* out) {
  assert(out[threadIdx.x] != 9);
  out[threadIdx.x] = 1;
}

extern "C" __global__ void trapped(int* out) {
  if (out[threadIdx.x] == 9) __trap();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void breakpoint(int* out) {
  if (out[threadIdx.x] == 9) __brkpt();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void wild_call(int* out) {
  int (*f)(int) = reinterpret_cast<int (*)(int)>(static_cast<unsigned long long>(out[threadIdx.x]) + 4096);
  out[threadIdx.x] = f(1);
}

__noinline__ __device__ int endless(int n) {
  volatile int kept = n;
  const int below = endless(n + 1);
  return below * 3 + kept;
}
extern "C" __global__ void deep(int* out) {
  if (out[threadIdx.x] == 9) out[threadIdx.x] = endless(1);
}
