// Two source files with a module each; streams, events between them, callbacks, errors, attributes.
#include <cstring>

#include "program.h"

#ifdef __NVCC__
constexpr cudaDeviceAttr kMultiProcessorCount = cudaDevAttrMultiProcessorCount;
#else
constexpr int kMultiProcessorCount = 16;
#endif

int other_module(int value);  // streams_b.cu

__global__ void increment(int* values, int by) {
  values[threadIdx.x] += by;
}

__global__ void faulty(int* values) {
  values[threadIdx.x] = 1;
}

__global__ void limited(int* values) {
  __shared__ int room[32];
  room[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = room[31 - threadIdx.x];
}

void test_streams() {
  cudaStream_t first, second;
  cudaEvent_t done;
  EXPECT_OK(cudaStreamCreate(&first));
  EXPECT_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  int *host = nullptr, *values = nullptr;
  EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&host), 32 * sizeof(int)));
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&values), 32 * sizeof(int)));
  for (int i = 0; i < 32; ++i) host[i] = i;
  EXPECT_OK(cudaMemcpyAsync(values, host, 32 * sizeof(int), cudaMemcpyHostToDevice, first));
  increment<<<1, 32, 0, first>>>(values, 100);
  EXPECT_OK(cudaEventRecord(done, first));
  EXPECT_OK(cudaStreamWaitEvent(second, done, 0));
  limited<<<1, 32, 0, second>>>(values);
  EXPECT_OK(cudaMemcpyAsync(host, values, 32 * sizeof(int), cudaMemcpyDeviceToHost, second));
  int seen = 0;
  struct Call {
    int *host, *seen;
  } call{host, &seen};
  EXPECT_OK(cudaLaunchHostFunc(
      second, [](void* data) { *static_cast<Call*>(data)->seen = static_cast<Call*>(data)->host[0]; },
      &call));
  EXPECT_OK(cudaStreamSynchronize(second));
  EXPECT(seen == 131 && host[31] == 100);
  EXPECT_OK(cudaStreamQuery(first));
  EXPECT_OK(cudaEventQuery(done));
  EXPECT_OK(cudaStreamDestroy(first));
  EXPECT_OK(cudaStreamDestroy(second));
  EXPECT_OK(cudaFreeHost(host));
  EXPECT_OK(cudaFree(values));
}

__global__ void turn(int* values, int rounds) {
  int x = values[threadIdx.x];
  for (int i = 0; i < rounds; ++i) x = static_cast<int>(static_cast<unsigned>(x) * 1664525u + 1013904223u);
  values[threadIdx.x] = x;
}

__global__ void set_flag(int* flag, int value) {
  *flag = value;
}

// Milliseconds that two kernels take in two streams; behind the second a function, for which the host polls.
float milliseconds_of_polling(cudaStream_t first, cudaStream_t second, int* values, bool polls) {
  static volatile int called;
  called = 0;
  cudaEvent_t begin, end;
  float milliseconds = 0;
  EXPECT_OK(cudaEventCreate(&begin));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_OK(cudaEventRecord(begin, second));
  turn<<<1, 32, 0, first>>>(values, 2000);
  turn<<<1, 32, 0, second>>>(values + 64, 2000);
  EXPECT_OK(cudaLaunchHostFunc(
      second, [](void* flag) { *static_cast<volatile int*>(flag) = 1; }, const_cast<int*>(&called)));
  EXPECT_OK(cudaEventRecord(end, second));
  if (polls) EXPECT(seen(&called, 1));
  EXPECT_OK(cudaStreamSynchronize(second));
  EXPECT(called == 1);
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT_OK(cudaStreamSynchronize(first));
  return milliseconds;
}

// The host waits without calling CUDA, three times.
void test_polling() {
  cudaStream_t first, second;
  int *values = nullptr, *flag = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&values), 128 * sizeof(int)));
  EXPECT_OK(cudaMemset(values, 0, 128 * sizeof(int)));
  // The same work twice, to have the caches filled; then both ways to wait take the same time.
  milliseconds_of_polling(first, second, values, false);
  const float waiting = milliseconds_of_polling(first, second, values, false);
  const float polling = milliseconds_of_polling(first, second, values, true);
  EXPECT(waiting == polling);

  EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof(int), cudaHostAllocMapped));
  *flag = 0;
  set_flag<<<1, 1, 0, first>>>(flag, 7);
  EXPECT(seen(flag, 7));
  set_flag<<<1, 1, 0, first>>>(values, 8);
  EXPECT_OK(cudaMemcpyAsync(flag, values, sizeof(int), cudaMemcpyDeviceToHost, first));
  EXPECT(seen(flag, 8));
  EXPECT_OK(cudaStreamDestroy(first));
  EXPECT_OK(cudaStreamDestroy(second));
  EXPECT_OK(cudaFreeHost(flag));
  EXPECT_OK(cudaFree(values));
}

void test_attributes() {
  cudaFuncAttributes attributes;
  EXPECT_OK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&limited)));
  EXPECT(attributes.sharedSizeBytes == 128 && attributes.numRegs > 0 && attributes.ptxVersion == 75);
  int blocks = 0;
  EXPECT_OK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(&limited), 32, 0));
  EXPECT(blocks > 0);
  cudaDeviceProp properties;
  EXPECT_OK(cudaGetDeviceProperties(&properties, 0));
  int sms = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&sms, kMultiProcessorCount, 0));
  EXPECT(properties.multiProcessorCount == sms && properties.warpSize == 32 && properties.totalGlobalMem > 0);
  EXPECT(properties.major == 7 && properties.minor == 5);
}

void test_errors() {
  int* values = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&values), 128));
  increment<<<1, 2000>>>(values, 1);
  EXPECT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_OK(cudaGetLastError());
  EXPECT_ERROR(cudaMemcpy(values, values + 1, 1000, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaSetDevice(3), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaFree(&values), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);

  // A fault ends the context until it is reset.
  faulty<<<1, 32>>>(nullptr);
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_ERROR(cudaMalloc(reinterpret_cast<void**>(&values), 128), cudaErrorIllegalAddress);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_OK(cudaDeviceReset());
  EXPECT_OK(cudaGetLastError());
  EXPECT(other_module(20) == 41);
}

int main() {
  EXPECT(other_module(5) == 11);
  test_streams();
  test_polling();
  test_attributes();
  test_errors();
  return verdict();
}
