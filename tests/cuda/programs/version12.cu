// What programs of CUDA 12 call by other names and forms, with libcudart.so.12.
#include <cstring>

#include "program.h"

extern "C" cudaError_t cudaGetDeviceProperties_v2(void* properties, int device);
extern "C" cudaError_t cudaThreadSynchronize();

__global__ void twice(int* value) {
  *value *= 2;
}

template <class T>
T field(const char* structure, std::size_t offset) {
  T value;
  std::memcpy(&value, structure + offset, sizeof value);
  return value;
}

int main() {
  // Offsets in CUDA 12's cudaDeviceProp, counted by hand: 256 bytes of name, 16 of UUID, 8 of LUID, 4 and 4
  // of padding ...
  char properties[1032 + 8];
  std::memset(properties, 0x5a, sizeof properties);
  EXPECT_OK(cudaGetDeviceProperties_v2(properties, 0));
  EXPECT(field<int>(properties, 308) == 32);      // warpSize
  EXPECT(field<int>(properties, 320) == 1024);    // maxThreadsPerBlock
  EXPECT(field<int>(properties, 348) == 700000);  // clockRate of gtx480, kHz
  EXPECT(field<int>(properties, 360) == 7 && field<int>(properties, 364) == 5);
  EXPECT(field<int>(properties, 388) == 2);  // multiProcessorCount: the test sets it
  EXPECT(field<long>(properties, 1032) == 0x5a5a5a5a5a5a5a5a);
  EXPECT_ERROR(cudaGetDeviceProperties_v2(properties, 1), cudaErrorInvalidDevice);
  cudaGetLastError();

  int *memory = nullptr, value = 21;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof value));
  EXPECT_OK(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
  twice<<<1, 1>>>(memory);
  EXPECT_OK(cudaThreadSynchronize());
  EXPECT_OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 42);
  return verdict();
}
