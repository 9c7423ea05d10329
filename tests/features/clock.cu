// The clocks go forward, within a thread and across a dependent chain of instructions.
#include <ctime>

extern "C" __global__ void clocks(unsigned long long* out) {
  const int t = threadIdx.x;
  const long long before = clock64();
  const clock_t low_before = clock();
  unsigned long long time_before, time_after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_before));
  unsigned x = t;
  for (int i = 0; i < 100; ++i) x = x * 1664525u + 1013904223u;
  out[4 * t + 3] = x;
  __syncthreads();
  const clock_t low_after = clock();
  const long long after = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_after));
  out[4 * t] = after - before;
  out[4 * t + 1] =
      static_cast<unsigned>(static_cast<unsigned>(low_after) - static_cast<unsigned>(low_before));
  out[4 * t + 2] = time_after - time_before;
}
