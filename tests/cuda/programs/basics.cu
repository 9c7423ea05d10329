// Kernels from templates, printf, atomics, variables, events.
#include <cstring>

#include "program.h"

__device__ int total;
__constant__ float factors[4];
__device__ unsigned table[3] = {5, 6, 7};

template <class T>
__global__ void scale(T* values, T by, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] *= by;
}

__global__ void weigh(const float* in, float* out) {
  const unsigned i = threadIdx.x;
  out[i] = in[i] * factors[i % 4];
}

__global__ void count(const unsigned* limit) {
  if (threadIdx.x < *limit) atomicAdd(&total, static_cast<int>(table[threadIdx.x % 3]));
}

__global__ void hello() {
  if (threadIdx.x == 3) printf("hello from thread %d of block %d\n", threadIdx.x, blockIdx.x);
}

struct Triple {
  float a;
  double b;
  char c;
};
__global__ void by_value(Triple triple, double* out) {
  *out = triple.a + triple.b + triple.c;
}

template <class T>
void test_scale(T by) {
  constexpr int n = 1000;
  std::vector<T> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<T>(i);
  T* values = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&values), n * sizeof(T)));
  EXPECT_OK(cudaMemcpy(values, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  scale<T><<<(n + 127) / 128, 128>>>(values, by, n);
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaMemcpy(host.data(), values, n * sizeof(T), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < n; ++i) right = right && host[i] == static_cast<T>(i) * by;
  EXPECT(right);
  EXPECT_OK(cudaFree(values));
}

void test_variables() {
  const float weights[4] = {1, 2, 4, 8};
  EXPECT_OK(cudaMemcpyToSymbol(reinterpret_cast<const void*>(&factors), weights, sizeof weights, 0,
                               cudaMemcpyHostToDevice));
  float *in = nullptr, *out = nullptr, host[32];
  for (int i = 0; i < 32; ++i) host[i] = static_cast<float>(i);
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&in), sizeof host));
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&out), sizeof host));
  EXPECT_OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  weigh<<<1, 32>>>(in, out);
  EXPECT_OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[5] == 5 * 2 && host[31] == 31 * 8);

  unsigned limit = 9, *device_limit = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&device_limit), sizeof limit));
  EXPECT_OK(cudaMemcpy(device_limit, &limit, sizeof limit, cudaMemcpyHostToDevice));
  count<<<2, 32>>>(device_limit);
  int sum = 0;
  EXPECT_OK(cudaMemcpyFromSymbol(&sum, reinterpret_cast<const void*>(&total), sizeof sum, 0,
                                 cudaMemcpyDeviceToHost));
  EXPECT(sum == 2 * 3 * (5 + 6 + 7));
  std::size_t bytes = 0;
  EXPECT_OK(cudaGetSymbolSize(&bytes, reinterpret_cast<const void*>(&table)));
  EXPECT(bytes == 12);
  void* address = nullptr;
  unsigned second = 0;
  EXPECT_OK(cudaGetSymbolAddress(&address, reinterpret_cast<const void*>(&table)));
  EXPECT_OK(cudaMemcpy(&second, static_cast<unsigned*>(address) + 1, 4, cudaMemcpyDeviceToHost));
  EXPECT(second == 6);
}

void test_events() {
  cudaEvent_t start, middle, end;
  EXPECT_OK(cudaEventCreate(&start));
  EXPECT_OK(cudaEventCreate(&middle));
  EXPECT_OK(cudaEventCreate(&end));
  float* values = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&values), 1 << 20));
  float none = -1, one = -1, all = -1;
  EXPECT_ERROR(cudaEventElapsedTime(&none, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_OK(cudaEventRecord(start, nullptr));
  scale<float><<<64, 256>>>(values, 2.0f, 1 << 14);
  EXPECT_OK(cudaEventRecord(middle, nullptr));
  scale<float><<<64, 256>>>(values, 2.0f, 1 << 14);
  EXPECT_OK(cudaEventRecord(end, nullptr));
  EXPECT_OK(cudaEventSynchronize(end));
  EXPECT_OK(cudaEventElapsedTime(&one, start, middle));
  EXPECT_OK(cudaEventElapsedTime(&all, start, end));
  EXPECT(one > 0 && all > one);
  EXPECT_OK(cudaEventDestroy(start));
  EXPECT_ERROR(cudaEventRecord(start, nullptr), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

int main() {
  test_scale<float>(3);
  test_scale<double>(0.5);
  test_scale<int>(7);
  test_variables();
  test_events();
  hello<<<2, 32>>>();
  Triple triple{1.5f, 2.25, 3};
  double *out = nullptr, sum = 0;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&out), sizeof *out));
  by_value<<<1, 1>>>(triple, out);
  EXPECT_OK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
  EXPECT(sum == 6.75);
  EXPECT_OK(cudaDeviceSynchronize());
  return verdict();
}
