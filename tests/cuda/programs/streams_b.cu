// A second module, with a kernel and a variable of names that the first could have, too.
#include "program.h"

static __device__ int factor = 2;

static __global__ void increment(int* value) {
  *value = *value * factor + 1;
}

int other_module(int value) {
  int* memory = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof value));
  EXPECT_OK(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
  increment<<<1, 1>>>(memory);
  EXPECT_OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaFree(memory));
  return value;
}
