// An ordinary CUDA program, for a visitor of `./weft soc --config linux --demo`: adds two vectors, lets a
// kernel print, and works on managed memory. It verifies what it gets, and tells how long the kernel took on
// both clocks.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifdef __NVCC__
#include <cuda_runtime.h>
#else
#include "weft/cuda_runtime.h"
#include "weft/workloads/device.h"
extern "C" __device__ int printf(const char* format, ...);
#endif

__global__ void vector_add(const float* a, const float* b, float* sums, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) sums[i] = a[i] + b[i];
}

__global__ void greet(int* squares) {
  const int i = static_cast<int>(threadIdx.x);
  squares[i] = i * i;
  if (i == 7) printf("thread %d of block %d was here\n", i, static_cast<int>(blockIdx.x));
}

namespace {

// Ends the program unless a call succeeded.
void expect(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// The wrong ones among the sums.
int add_vectors(int n) {
  using Clock = std::chrono::steady_clock;
  std::vector<float> a(n), b(n), sums(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i), b[i] = static_cast<float>(2 * i);
  const std::size_t bytes = n * sizeof(float);
  float *device_a = nullptr, *device_b = nullptr, *device_sums = nullptr;
  for (float** memory : {&device_a, &device_b, &device_sums})
    expect(cudaMalloc(reinterpret_cast<void**>(memory), bytes), "cudaMalloc");
  expect(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  expect(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");

  cudaEvent_t begin = nullptr, end = nullptr;
  expect(cudaEventCreate(&begin), "cudaEventCreate");
  expect(cudaEventCreate(&end), "cudaEventCreate");
  const Clock::time_point before = Clock::now();
  expect(cudaEventRecord(begin, nullptr), "cudaEventRecord");
  vector_add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_sums, n);
  expect(cudaEventRecord(end, nullptr), "cudaEventRecord");
  expect(cudaEventSynchronize(end), "cudaEventSynchronize");
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - before).count();
  float simulated_ms = 0;
  expect(cudaEventElapsedTime(&simulated_ms, begin, end), "cudaEventElapsedTime");
  expect(cudaMemcpy(sums.data(), device_sums, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += sums[i] != static_cast<float>(3 * i) ? 1 : 0;
  std::printf("vector_add: %d elements, %d wrong; %.4f ms of the GPU, %.1f ms of this clock\n", n, wrong,
              static_cast<double>(simulated_ms), ms);
  return wrong;
}

int greet_and_square() {
  int* squares = nullptr;
  expect(cudaMallocManaged(reinterpret_cast<void**>(&squares), 32 * sizeof(int), cudaMemAttachGlobal),
         "cudaMallocManaged");
  greet<<<1, 32>>>(squares);
  expect(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  int wrong = 0;
  for (int i = 0; i < 32; ++i) wrong += squares[i] != i * i ? 1 : 0;
  std::printf("managed memory: 32 squares, %d wrong\n", wrong);
  return wrong;
}

}  // namespace

int main() {
  const int wrong = add_vectors(100000) + greet_and_square();
  std::printf("%s\n", wrong == 0 ? "all results are right" : "results are WRONG");
  return wrong == 0 ? 0 : 1;
}
