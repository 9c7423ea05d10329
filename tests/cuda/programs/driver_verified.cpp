// A program whose results may depend on time: how, its argument says. Without one they do not.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "driver_program.h"

namespace {

// out[i] = i, or when the thread did it.
const char* const kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry numbers(.param .u64 out, .param .u32 clock) {
  .reg .b64 %a, %o; .reg .b32 %i, %v, %c; .reg .pred %p;
  mov.u32 %i, %tid.x; mov.u32 %v, %i; ld.param.u32 %c, [clock]; setp.eq.u32 %p, %c, 0;
  @!%p mov.u32 %v, %clock;
  ld.param.u64 %a, [out]; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o; st.global.u32 [%a], %v;
  ret;
}
)";

}  // namespace

int main(int count, char** words) {
  const std::string how = count > 1 ? words[1] : "";
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction numbers = nullptr;
  CUdeviceptr memory = 0;
  CUevent begin = nullptr, end = nullptr;
  unsigned values[64] = {}, clock = how == "copies" ? 1 : 0;
  float milliseconds = 0;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuModuleGetFunction(&numbers, module, "numbers"));
  EXPECT_OK(cuMemAlloc_v2(&memory, sizeof values));
  EXPECT_OK(cuEventCreate(&begin, 0));
  EXPECT_OK(cuEventCreate(&end, 0));
  void* arguments[] = {&memory, &clock};
  EXPECT_OK(cuEventRecord(begin, nullptr));
  EXPECT_OK(cuLaunchKernel(numbers, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_OK(cuEventRecord(end, nullptr));
  EXPECT_OK(cuMemcpyDtoH_v2(values, memory, sizeof values));
  EXPECT_OK(cuEventElapsedTime_v2(&milliseconds, begin, end));
  unsigned sum = 0;
  for (const unsigned value : values) sum += value;
  std::printf("sum %u", clock != 0 ? 0 : sum);
  if (how == "prints") std::printf(" in %s time", milliseconds == 0 ? "no" : "some");
  std::printf("\n");
  if (failures != 0) return EXIT_FAILURE;
  return how == "ends" ? (milliseconds == 0 ? 4 : 5) : how == "four" ? 4 : EXIT_SUCCESS;
}
