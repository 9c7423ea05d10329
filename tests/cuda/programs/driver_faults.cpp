// A fault in a kernel: its error, which stays until the context is reset; then everything works again.
#include "driver_program.h"

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry store_at(.param .u64 at) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, 42;
  st.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry trapped() { trap; ret; }
.visible .entry forever() {
LOOP:
  bra LOOP;
}
.visible .entry deep(.param .u64 at) {
  .local .align 4 .b8 room[8];
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, 1;
  st.local.u32 [%rd0], %r0;
  ret;
}
)";

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
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuMemAlloc_v2(&memory, 4096));
  const CUfunction function = function_of(module, kernel);
  EXPECT_OK(launch(function, at));
  EXPECT_ERROR(cuCtxSynchronize(), error);
  EXPECT_ERROR(cuMemcpyDtoH_v2(&value, memory, 4), error);
  EXPECT_ERROR(launch(function, memory), error);
  EXPECT_OK(cuDevicePrimaryCtxReset_v2(0));

  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuMemAlloc_v2(&memory, 4096));
  EXPECT_OK(launch(function_of(module, "store_at"), memory + 8));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuMemcpyDtoH_v2(&value, memory + 8, 4));
  EXPECT(value == 42);
  EXPECT_OK(cuMemFree_v2(memory));
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuCtxSetCurrent(context));
  expect_fault("store_at", 0, CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_fault("store_at", 0x110000000, CUDA_ERROR_ILLEGAL_ADDRESS);  // device memory that nobody allocated
  expect_fault("store_at", 0x100000002, CUDA_ERROR_MISALIGNED_ADDRESS);
  expect_fault("deep", 1 << 20, CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_fault("trapped", 0, CUDA_ERROR_LAUNCH_FAILED);
  expect_fault("forever", 0, CUDA_ERROR_LAUNCH_TIMEOUT);
  return verdict();
}
