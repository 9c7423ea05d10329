// The forms of functions whose null stream is the calling thread's: kernels of two threads run at once there,
// and one after the other in the default stream of all.
#include <thread>

#include "driver_program.h"

extern "C" {
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             CUstream, void**, void**);
CUresult cuEventRecord_ptsz(CUevent, CUstream);
CUresult cuStreamSynchronize_ptsz(CUstream);
CUresult cuStreamQuery_ptsz(CUstream);
CUresult cuMemsetD32Async_ptsz(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void*, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyDtoH_v2_ptds(void*, CUdeviceptr, size_t);
}

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry count(.param .u64 at, .param .u32 rounds) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p<1>;
  ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [rounds];
AGAIN:
  ld.volatile.global.u32 %r1, [%rd0];
  add.u32 %r1, %r1, 1;
  st.volatile.global.u32 [%rd0], %r1;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra AGAIN;
  ret;
}
)";
constexpr unsigned kRounds = 200;

struct Part {
  CUevent begin = nullptr, end = nullptr;
  CUdeviceptr memory = 0;
  unsigned* counted = nullptr;  // pinned: the copy does not wait
};

// The functions that name a stream, in one of both forms.
struct Form {
  decltype(&cuLaunchKernel) launch;
  decltype(&cuEventRecord) record;
  decltype(&cuMemsetD32Async) fill;
  decltype(&cuMemcpyDtoHAsync_v2) copy;
};

// Puts a fill, the kernel between two events, and a copy into the null stream.
void put(const Form& form, CUfunction function, const Part& part) {
  CUdeviceptr memory = part.memory;
  unsigned rounds = kRounds;
  void* parameters[] = {&memory, &rounds};
  EXPECT_OK(form.fill(memory, 5, 1, nullptr));
  EXPECT_OK(form.record(part.begin, nullptr));
  EXPECT_OK(form.launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_OK(form.record(part.end, nullptr));
  EXPECT_OK(form.copy(part.counted, memory, 4, nullptr));
}

float milliseconds(CUevent from, CUevent to) {
  float time = 0;
  EXPECT_OK(cuEventElapsedTime_v2(&time, from, to));
  return time;
}

// What two threads put into their null streams. Returns how long it takes from the begin of the first kernel
// to the end of the second, in durations of one.
float both(const Form& form, CUcontext context, CUfunction function, const Part (&parts)[2]) {
  put(form, function, parts[0]);
  std::thread other([&] {
    EXPECT_OK(cuCtxSetCurrent(context));
    put(form, function, parts[1]);
  });
  other.join();
  EXPECT_OK(cuCtxSynchronize());
  EXPECT(*parts[0].counted == 5 + kRounds && *parts[1].counted == 5 + kRounds);
  return milliseconds(parts[0].begin, parts[1].end) / milliseconds(parts[0].begin, parts[0].end);
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuCtxSetCurrent(context));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuModuleGetFunction(&function, module, "count"));
  Part parts[2];
  for (Part& part : parts) {
    EXPECT_OK(cuEventCreate(&part.begin, 0));
    EXPECT_OK(cuEventCreate(&part.end, 0));
    EXPECT_OK(cuMemAlloc_v2(&part.memory, 4));
    EXPECT_OK(cuMemAllocHost_v2(reinterpret_cast<void**>(&part.counted), 4));
  }
  const Form of_all{cuLaunchKernel, cuEventRecord, cuMemsetD32Async, cuMemcpyDtoHAsync_v2};
  const Form of_thread{cuLaunchKernel_ptsz, cuEventRecord_ptsz, cuMemsetD32Async_ptsz,
                       cuMemcpyDtoHAsync_v2_ptsz};
  // The other's fill and copy take less than half of a kernel of 200 rounds through memory.
  EXPECT(both(of_all, context, function, parts) > 1.9f);
  EXPECT(both(of_thread, context, function, parts) < 1.6f);

  put(of_thread, function, parts[0]);
  EXPECT_ERROR(cuStreamQuery_ptsz(nullptr), CUDA_ERROR_NOT_READY);
  *parts[0].counted = 0;
  EXPECT_OK(cuStreamSynchronize_ptsz(nullptr));
  EXPECT(*parts[0].counted == 5 + kRounds);
  unsigned again = 0;
  EXPECT_OK(cuMemcpyDtoH_v2_ptds(&again, parts[0].memory, 4));
  EXPECT(again == 5 + kRounds);

  // By the plain name, as programs ask that are compiled so; what names no stream has one form.
  const auto found = [](const char* name, unsigned flags) {
    void* address = nullptr;
    EXPECT_OK(cuGetProcAddress_v2(name, &address, 13000, flags, nullptr));
    return address;
  };
  constexpr unsigned kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  EXPECT(found("cuLaunchKernel", kPerThread) == reinterpret_cast<void*>(&cuLaunchKernel_ptsz));
  EXPECT(found("cuMemcpyDtoH", kPerThread) == reinterpret_cast<void*>(&cuMemcpyDtoH_v2_ptds));
  EXPECT(found("cuMemcpyDtoHAsync", kPerThread) == reinterpret_cast<void*>(&cuMemcpyDtoHAsync_v2_ptsz));
  EXPECT(found("cuMemAlloc", kPerThread) == reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT(found("cuLaunchKernel", CU_GET_PROC_ADDRESS_LEGACY_STREAM) ==
         reinterpret_cast<void*>(&cuLaunchKernel));
  return verdict();
}
