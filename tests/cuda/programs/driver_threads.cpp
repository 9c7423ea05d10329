// Eight threads call the driver at once; each checks its own results. And the cost of an empty launch.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "driver_program.h"

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 at, .param .u32 value) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [value];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, %r0; st.global.u32 [%rd2], %r2;
  ret;
}
.visible .entry nothing() { ret; }
)";
std::atomic<int> wrong{0};

void work(CUcontext context, CUmodule module, unsigned number) {
  const auto check = [](CUresult result) { wrong += result == CUDA_SUCCESS ? 0 : 1; };
  check(cuCtxSetCurrent(context));
  CUstream stream = nullptr;
  CUfunction add = nullptr;
  CUdeviceptr memory = 0;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  check(cuModuleGetFunction(&add, module, "add"));
  for (unsigned round = 0; round < 10; ++round) {
    check(cuMemAlloc_v2(&memory, 256));
    check(cuMemsetD32Async(memory, number * 1000, 64, stream));
    for (unsigned value = 1; value <= 4; ++value) {
      void* parameters[] = {&memory, &value};
      check(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr));
    }
    unsigned result[64];
    check(cuMemcpyDtoHAsync_v2(result, memory, sizeof result, stream));
    check(cuStreamSynchronize(stream));
    for (const unsigned value : result) wrong += value == number * 1000 + 10 ? 0 : 1;
    check(cuMemFree_v2(memory));
  }
  check(cuStreamDestroy_v2(stream));
}

// Microseconds of a launch in the best batch of a few: of wall time, and of CPU time, which other work on the
// machine changes less.
struct Cost {
  double wall = 1e9, cpu = 1e9;
};
Cost empty_launch(CUmodule module) {
  using Clock = std::chrono::steady_clock;
  CUfunction nothing = nullptr;
  EXPECT_OK(cuModuleGetFunction(&nothing, module, "nothing"));
  Cost best;
  for (int batch = 0; batch < 20; ++batch) {
    const auto start = Clock::now();
    const std::clock_t cpu = std::clock();
    constexpr int kLaunches = 100;
    for (int i = 0; i < kLaunches; ++i)
      cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    EXPECT_OK(cuCtxSynchronize());
    const std::chrono::duration<double, std::micro> taken = Clock::now() - start;
    best.wall = std::min(best.wall, taken.count() / kLaunches);
    best.cpu = std::min(best.cpu, static_cast<double>(std::clock() - cpu) * 1e6 / CLOCKS_PER_SEC / kLaunches);
  }
  return best;
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 8; ++number) threads.emplace_back(work, context, module, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT(wrong == 0);
  const Cost cost = empty_launch(module);
  std::printf("an empty launch takes %.1f us of wall time, %.1f us of CPU time\n", cost.wall, cost.cpu);
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT(cost.cpu < 50 || behind_driver());
#endif
  return verdict();
}
