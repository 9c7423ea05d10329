// A program of the driver API that loads a second module when a kernel of the first has run.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "weft/cuda_driver.h"

namespace {

std::string module_of(const char* kernel, const char* file, int line, int value) {
  return std::string(".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"") + file +
         "\"\n.visible .entry " + kernel +
         "(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n.loc 1 " + std::to_string(line) +
         " 0\nld.param.u64 %rd1, [out];\nld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, " +
         std::to_string(value) + ";\n.loc 1 " + std::to_string(line + 1) +
         " 0\nst.global.u32 [%rd1], %r2;\nret;\n}\n";
}

void check(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::printf("error %d\n", static_cast<int>(result));
  std::_Exit(1);
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  check(cuInit(0));
  check(cuDevicePrimaryCtxRetain(&context, 0));
  CUdeviceptr out = 0;
  check(cuMemAllocManaged(&out, 4, CU_MEM_ATTACH_GLOBAL));
  unsigned result = 1;
  check(cuMemcpyHtoD_v2(out, &result, sizeof result));
  for (const bool second : {false, true}) {
    const char* const name = second ? "later" : "sooner";
    const std::string text =
        module_of(name, second ? "later.cu" : "sooner.cu", second ? 20 : 10, second ? 100 : 10);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(cuModuleLoadData(&module, text.c_str()));
    check(cuModuleGetFunction(&function, module, name));
    void* parameters[] = {&out};
    check(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    check(cuCtxSynchronize());
  }
  check(cuMemcpyDtoH_v2(&result, out, sizeof result));
  std::printf("result %u\n", result);
  return result == 111 ? 7 : 1;
}
