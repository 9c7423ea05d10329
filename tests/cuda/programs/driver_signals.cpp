// Ends by a signal: driver_signals SIGNAL simulating|idle|handled|child|function
// Or by a function: driver_signals EXIT-CODE exit|_exit|_Exit|quick_exit
// Or has a kernel that accesses what it should not: driver_signals 0 beyond|before|race
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "driver_program.h"

namespace {

const char* const kPtx = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry load(.param .u64 at) {
  .reg .b64 %rd<1>; .reg .b32 %r<1>;
  ld.param.u64 %rd0, [at];
  ld.global.u32 %r0, [%rd0];
  ret;
}
.visible .entry store(.param .u64 at) {
  .reg .b64 %rd<1>; .reg .b32 %r<1>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, %tid.x;
  st.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry spin(.param .u64 at) {
  .reg .b64 %rd<1>; .reg .b32 %r<1>;
  ld.param.u64 %rd0, [at];
AGAIN:
  ld.volatile.global.u32 %r0, [%rd0];
  add.u32 %r0, %r0, 1;
  st.volatile.global.u32 [%rd0], %r0;
  bra AGAIN;
}
)";

CUfunction function_of(CUmodule module, const char* kernel) {
  CUfunction function = nullptr;
  EXPECT_OK(cuModuleGetFunction(&function, module, kernel));
  return function;
}

void end_by(int signal) {
  if (signal == SIGABRT) std::abort();
  if (signal == SIGSEGV) {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;  // NOLINT(clang-analyzer-core.NullDereference): that is what it is for
  }
  kill(getpid(), signal);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int signal = std::atoi(argv[1]);
  const auto mode = [&](const char* name) { return std::strcmp(argv[2], name) == 0; };
  if (mode("handled")) std::signal(signal, [](int) { _exit(9); });
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuCtxSetCurrent(context));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuLaunchKernel(function_of(module, "nothing"), 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  if (failures != 0) return verdict();
  if (mode("simulating")) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAlloc_v2(&memory, 4));
    void* parameters[] = {&memory};
    EXPECT_OK(
        cuLaunchKernel(function_of(module, "spin"), 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    std::thread([&] {
      usleep(300'000);
      kill(getpid(), signal);
    }).detach();
    cuCtxSynchronize();  // does not end
    return 8;
  }
  if (mode("function")) {  // in a stream: the context is in the middle of a call
    EXPECT_OK(cuLaunchHostFunc(
        nullptr, [](void* number) { end_by(*static_cast<int*>(number)); }, const_cast<int*>(&signal)));
    cuCtxSynchronize();
    return 8;
  }
  if (mode("exit")) std::exit(signal);
  if (mode("_exit")) _exit(signal);
  if (mode("_Exit")) std::_Exit(signal);
  if (mode("quick_exit")) std::quick_exit(signal);
  if (mode("beyond") || mode("before") || mode("race")) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAlloc_v2(&memory, 4096));
    EXPECT_OK(cuMemsetD32_v2(memory, 0, 1024));
    if (mode("beyond")) memory += 4096;
    if (mode("before")) memory -= 2048;
    void* parameters[] = {&memory};
    EXPECT_OK(cuLaunchKernel(function_of(module, mode("before") ? "load" : "store"), 1, 1, 1,
                             mode("race") ? 64 : 1, 1, 1, 0, nullptr, parameters, nullptr));
    EXPECT_OK(cuCtxSynchronize());
    return verdict();
  }
  if (mode("child")) {
    const pid_t child = fork();
    if (child == 0) end_by(signal);
    const pid_t quiet = fork();
    if (quiet == 0) _exit(5);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    waitpid(quiet, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return verdict();
  }
  end_by(signal);
}
