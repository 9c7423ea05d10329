// Its fat binary holds machine code only (the build packs it so). Functions that Weft does not provide.
#include "program.h"

__global__ void kernel(int* value) {
  *value = 1;
}

extern "C" int cudaGraphCreate(void** graph, unsigned flags);
extern "C" int cudaGetExportTable(const void** table, const void* name);
int use_cublas();  // other_library.cpp

int main() {
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 4));
  kernel<<<1, 1>>>(static_cast<int*>(memory));
  EXPECT_ERROR(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
  int can = 1;
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  EXPECT(cudaGraphCreate(&memory, 0) == cudaErrorNotSupported);
  EXPECT(cudaGraphCreate(&memory, 0) == cudaErrorNotSupported);
  EXPECT(cudaGetExportTable(nullptr, nullptr) == cudaErrorNotSupported);

  EXPECT(use_cublas() == cudaErrorNotSupported);

  // A fat binary for separate linking, as it registers itself.
  struct {
    unsigned magic = 0x466243B1, version = 2;
    const void *fatbin = nullptr, *linked = nullptr;
  } wrapper;
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  static char symbol;
  __cudaRegisterFunction(handle, &symbol, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  EXPECT_ERROR(cudaLaunchKernel(&symbol, dim3(1), dim3(1), nullptr, 0, nullptr),
               cudaErrorNoKernelImageForDevice);
  return verdict();
}
