// The resampling of a particle filter: each thread looks, from the front, for the first particle whose
// cumulative weight reaches the thread's number, and takes that particle's place.
#include "weft/workloads/device.h"

extern "C" __global__ void resample(const double* x, const double* y, const double* cumulative,
                                    const double* drawn, double* new_x, double* new_y, int particles) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= particles) return;
  int chosen = -1;
#pragma unroll 1
  for (int i = 0; i < particles; ++i) {
    if (cumulative[i] >= drawn[thread]) {
      chosen = i;
      break;
    }
  }
  if (chosen == -1) chosen = particles - 1;
  new_x[thread] = x[chosen];
  new_y[thread] = y[chosen];
}
