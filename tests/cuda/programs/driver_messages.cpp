// What goes wrong and is said once, with what helps: by the program's argument.
#include <cstring>
#include <iterator>
#include <string>

#include "driver_program.h"

int ask_for_table();  // compiler_library.cpp

namespace {

const std::string kHead = ".version 7.0\n.target sm_70\n.address_size 64\n";

CUfunction function_of(const std::string& ptx, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, ptx.c_str()));
  EXPECT_OK(cuModuleGetFunction(&function, module, name));
  return function;
}

CUresult launch(CUfunction function, unsigned shared_bytes = 0) {
  return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, shared_bytes, nullptr, nullptr, nullptr);
}

const std::string kTensorCores = R"( {
  .reg .b64 %a; .reg .f32 %f<8>;
  wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%a];
  ret; })";

// A machine of 100 KB of shared memory, 48 KB of a block by default, 1 KB of each reserved.
void shared_memory_of_a_unified_l1() {
  const auto attribute = [](int number) {
    int value = -1;
    EXPECT_OK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(number), 0));
    return value;
  };
  EXPECT(attribute(8) == 49152);    // of a block
  EXPECT(attribute(97) == 101376);  // ... that asks for it
  EXPECT(attribute(81) == 102400);  // of an SM
  EXPECT(attribute(111) == 1024);   // reserved
  auto* const function = function_of(kHead + ".visible .entry k() { ret; }\n", "k");
  EXPECT_ERROR(launch(function, 49153), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(launch(function, 49152));
  const auto most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_ERROR(cuFuncSetAttribute(function, most, 101377), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuFuncSetAttribute(function, most, 101376));
  EXPECT_OK(launch(function, 101376));

  const auto carve_out = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  int percent = 0;
  EXPECT_OK(cuFuncGetAttribute(&percent, carve_out, function));
  EXPECT(percent == -1);
  EXPECT_OK(launch(function));
  EXPECT_ERROR(cuFuncSetAttribute(function, carve_out, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuFuncSetAttribute(function, carve_out, 50));
  EXPECT_OK(cuFuncGetAttribute(&percent, carve_out, function));
  EXPECT(percent == 50);
  EXPECT_OK(launch(function));
  EXPECT_OK(cuCtxSynchronize());
}

// What programs choose their way by.
void print_device() {
  std::size_t bytes = 0;
  EXPECT_OK(cuDeviceTotalMem_v2(&bytes, 0));
  for (const int number : {75, 76, 16, 13, 12, 10, 8, 97, 81, 38, 36, 37}) {
    int value = -1;
    EXPECT_OK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(number), 0));
    std::printf("%d ", value);
  }
  std::printf("%zu\n", bytes);
}

// Kernels for GPUs above sm_75: an instruction, a modifier, a property of the launch.
const std::string kNewer[] = {
    " { wgmma.fence.sync.aligned; ret; }", " { wgmma.commit_group.sync.aligned; ret; }",
    " { .reg .b64 %a; mbarrier.init.shared.b64 [%a], 1; ret; }",
    " { .reg .b32 %r<3>; .reg .f32 %f<2>; cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1; ret; }",
    " .reqnctapercluster 2, 1, 1 { ret; }"};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  CUcontext context = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  if (what == "instruction") {
    const std::string ptx =
        kHead + ".visible .entry first()" + kTensorCores + ".visible .entry second()" + kTensorCores;
    for (const char* name : {"first", "second"}) {
      auto* const function = function_of(ptx, name);
      for (int i = 0; i < 5; ++i) EXPECT_ERROR(launch(function), CUDA_ERROR_INVALID_PTX);
    }
  } else if (what == "newer instructions") {
    std::string ptx = kHead;
    for (std::size_t i = 0; i < std::size(kNewer); ++i) {
      const std::string name = "k" + std::to_string(i);
      ptx += ".visible .entry " + name + "()" + kNewer[i];
    }
    for (std::size_t i = 0; i < std::size(kNewer); ++i) {
      const std::string name = "k" + std::to_string(i);
      auto* const function = function_of(ptx, name.c_str());
      for (int round = 0; round < 2; ++round) EXPECT_ERROR(launch(function), CUDA_ERROR_INVALID_PTX);
    }
    std::printf("%zu kernels\n", std::size(kNewer));
  } else if (what == "module") {
    CUmodule module = nullptr;
    for (int i = 0; i < 5; ++i)
      EXPECT_ERROR(cuModuleLoadData(&module, "this is no PTX at all"), CUDA_ERROR_INVALID_PTX);
  } else if (what == "memory") {
    // As programs look for the largest allocation that there is.
    CUdeviceptr memory = 0;
    std::size_t bytes = std::size_t{1} << 33;
    while (cuMemAlloc_v2(&memory, bytes) == CUDA_ERROR_OUT_OF_MEMORY) bytes /= 2;
    EXPECT(bytes == std::size_t{1} << 30);
    for (int i = 0; i < 3; ++i)
      EXPECT_ERROR(cuMemAlloc_v2(&memory, std::size_t{1} << 30), CUDA_ERROR_OUT_OF_MEMORY);
  } else if (what == "too much memory") {
    CUdeviceptr memory = 0;
    EXPECT_ERROR(cuMemAlloc_v2(&memory, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  } else if (what == "variable") {
    CUmodule module = nullptr;
    const std::string ptx = kHead + ".visible .global .b8 large[100000000];\n.visible .entry k() { ret; }\n";
    const CUresult result = cuModuleLoadData(&module, ptx.c_str());
    std::printf("error %d\n", result);
  } else if (what == "shared memory") {
    auto* const function = function_of(kHead + ".visible .entry k() { ret; }\n", "k");
    for (int i = 0; i < 3; ++i) std::printf("error %d\n", launch(function, 98304));
  } else if (what == "attribute") {
    auto* const function = function_of(kHead + ".visible .entry k() { ret; }\n", "k");
    EXPECT_OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000));
    EXPECT_OK(launch(function, 1000));
    for (int i = 0; i < 3; ++i) EXPECT_ERROR(launch(function, 1001), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1001));
    EXPECT_OK(launch(function, 1001));
    EXPECT_OK(cuCtxSynchronize());
  } else if (what == "carve-out") {
    shared_memory_of_a_unified_l1();
  } else if (what == "device") {
    print_device();
  } else if (what == "compiler") {
    EXPECT(ask_for_table() == CUDA_ERROR_NOT_SUPPORTED);
  } else if (what == "endless") {
    EXPECT_OK(launch(function_of(kHead + ".visible .entry k() { L: bra L; }\n", "k")));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
  } else {
    return 2;
  }
  return verdict();
}
