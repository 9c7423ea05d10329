// Six launches that need each other's results, in two streams, with copies and fills between: some of them
// timed, others not (weft cuda --launches, --region). The third and the fifth lie in regions of the profiler.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "driver_program.h"

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_one(.param .u64 p, .param .u32 n) {
  .reg .b64 %a, %o; .reg .b32 %x, %i, %b, %n; .reg .pred %p;
  mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %x, %ntid.x; mad.lo.u32 %i, %b, %x, %i;
  ld.param.u32 %n, [n]; setp.ge.u32 %p, %i, %n; @%p ret;
  ld.param.u64 %a, [p]; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
  ld.global.u32 %x, [%a]; add.u32 %x, %x, 1; st.global.u32 [%a], %x;
  ret;
}
)";

}  // namespace

int main() {
  constexpr unsigned kElements = 5000, kLaunches = 6;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction add_one = nullptr;
  CUdeviceptr memory = 0;
  CUstream streams[2];
  CUevent done = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuModuleGetFunction(&add_one, module, "add_one"));
  EXPECT_OK(cuMemAlloc_v2(&memory, kElements * sizeof(unsigned)));
  for (CUstream& stream : streams) EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuEventCreate(&done, 0));
  std::vector<unsigned> values(kElements);
  for (unsigned i = 0; i < kElements; ++i) values[i] = i;
  EXPECT_OK(cuMemcpyHtoD_v2(memory, values.data(), kElements * sizeof(unsigned)));
  unsigned elements = kElements;
  void* arguments[] = {&memory, &elements};
  for (unsigned launch = 1; launch <= kLaunches; ++launch) {
    auto* const stream = streams[launch % 2];
    if (launch == 3 || launch == 5) EXPECT_OK(cuProfilerStart());
    if (launch != 1) EXPECT_OK(cuStreamWaitEvent(stream, done, 0));
    EXPECT_OK(cuLaunchKernel(add_one, 40, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
    // What is copied meanwhile is what the launches so far have left.
    if (launch == 4) {
      EXPECT_OK(cuMemcpyDtoHAsync_v2(values.data(), memory, kElements * sizeof(unsigned), stream));
      EXPECT_OK(cuStreamSynchronize(stream));
      for (unsigned i = 0; i < kElements; ++i) EXPECT(values[i] == i + launch);
    }
    EXPECT_OK(cuEventRecord(done, stream));
    if (launch == 3 || launch == 5) EXPECT_OK(cuProfilerStop());
  }
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuMemcpyDtoH_v2(values.data(), memory, kElements * sizeof(unsigned)));
  for (unsigned i = 0; i < kElements; ++i) EXPECT(values[i] == i + kLaunches);
  return verdict();
}
