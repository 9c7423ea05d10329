// A fault in a kernel: its error, which stays until the context is reset; then everything works again.
#include <cstring>

#include "driver_program.h"
#include "fault_kernels.h"

namespace {

CUfunction function_of(CUmodule module, const char* kernel) {
  CUfunction function = nullptr;
  EXPECT_OK(cuModuleGetFunction(&function, module, kernel));
  return function;
}

// Kernels without parameters do not look at them.
CUresult launch(CUfunction function, CUdeviceptr at) {
  void* parameters[] = {&at};
  return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr);
}

// The launch succeeds, as one that runs by itself does; what follows gets its error, again and again.
void expect_fault(const char* kernel, CUdeviceptr at, CUresult error) {
  CUmodule module = nullptr;
  CUdeviceptr memory = 0;
  int value = 0;
  EXPECT_OK(cuModuleLoadData(&module, kFaultKernels));
  EXPECT_OK(cuMemAlloc_v2(&memory, 4096));
  CUfunc_st* const function = function_of(module, kernel);
  EXPECT_OK(launch(function, at));
  EXPECT_ERROR(cuCtxSynchronize(), error);
  EXPECT_ERROR(cuMemcpyDtoH_v2(&value, memory, 4), error);
  EXPECT_ERROR(launch(function, memory), error);
  EXPECT_OK(cuDevicePrimaryCtxReset_v2(0));

  EXPECT_OK(cuModuleLoadData(&module, kFaultKernels));
  EXPECT_OK(cuMemAlloc_v2(&memory, 4096));
  EXPECT_OK(launch(function_of(module, "store_at"), memory + 8));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuMemcpyDtoH_v2(&value, memory + 8, 4));
  EXPECT(value == 42);
  EXPECT_OK(cuMemFree_v2(memory));
}

}  // namespace

// With an argument: without the kernel that ends only if somebody watches.
int main(int argc, char** argv) {
  const bool watched = argc < 2 || std::strcmp(argv[1], "--unwatched") != 0;
  CUcontext context = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuCtxSetCurrent(context));
  expect_fault("store_at", 0, CUDA_ERROR_ILLEGAL_ADDRESS);
  // Device memory that nobody allocated. The GPU itself knows of no allocations.
  if (!behind_driver()) expect_fault("store_at", 0x110000000, CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_fault("store_local", 1 << 20, CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_fault("store_shared", 8, CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_fault("store_at", 0x100000002, CUDA_ERROR_MISALIGNED_ADDRESS);
  expect_fault("store_local", 2, CUDA_ERROR_MISALIGNED_ADDRESS);
  expect_fault("atomic_on_local", 0, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  expect_fault("reduce_on_local", 0, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  expect_fault("no_barrier", 0, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  expect_fault("wrong_mask", 0, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  expect_fault("load_texture", 77, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  expect_fault("wild_call", 0x1004, CUDA_ERROR_INVALID_PC);
  expect_fault("wild_branch", 0, CUDA_ERROR_INVALID_PC);
  expect_fault("too_deep", 0, CUDA_ERROR_HARDWARE_STACK_ERROR);
  expect_fault("wild_and_recursive", 1 << 20, CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_fault("asserted", 0, CUDA_ERROR_ASSERT);
  expect_fault("trapped", 0, CUDA_ERROR_LAUNCH_FAILED);
  expect_fault("breakpoint", 0, CUDA_ERROR_LAUNCH_FAILED);
  expect_fault("wild_free", 0x100000000, CUDA_ERROR_LAUNCH_FAILED);
  expect_fault("deadlock", 0, CUDA_ERROR_LAUNCH_TIMEOUT);
  if (watched) expect_fault("forever", 0, CUDA_ERROR_LAUNCH_TIMEOUT);
  return verdict();
}
