// One launch makes one execute::Kernel: when it is checked. What runs it, the SMs or the functional engine,
// takes that one.
//
// The linker replaces calls of the constructor from other files by calls of the function below
// (CMakeLists.txt), which counts them.
#include <gtest/gtest.h>

#include "execute/kernel.h"
#include "platform/gpu_bench.h"

namespace {
unsigned made = 0;
}

extern "C" {
void make_kernel(weft::execute::Kernel* kernel, const weft::dispatch::Launch& launch,
                 const weft::machine::SmConfig& config, std::uint64_t warp_size,
                 weft::execute::OperationTables* tables) __asm__("__real_" WEFT_KERNEL_CONSTRUCTOR);
void count_kernel(weft::execute::Kernel* kernel, const weft::dispatch::Launch& launch,
                  const weft::machine::SmConfig& config, std::uint64_t warp_size,
                  weft::execute::OperationTables* tables) __asm__("__wrap_" WEFT_KERNEL_CONSTRUCTOR);

void count_kernel(weft::execute::Kernel* kernel, const weft::dispatch::Launch& launch,
                  const weft::machine::SmConfig& config, std::uint64_t warp_size,
                  weft::execute::OperationTables* tables) {
  ++made;
  make_kernel(kernel, launch, config, warp_size, tables);
}
}

namespace weft::test {
namespace {

// With local variables, whose place the launch has to know before.
const char* const kBody = R"(
  .local .align 4 .b8 mine[16];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, mine;
  st.local.u32 [%r2], %r1;
  ld.local.u32 %r3, [%r2];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r3;
  ret;)";

class OneKernelPerLaunch : public testing::TestWithParam<bool> {};

TEST_P(OneKernelPerLaunch, WhereverItRuns) {
  runtime::DeviceOptions options;
  options.functional.all = GetParam();
  GpuBench bench({"sm.count=2"}, "gtx480", options);
  auto& module = bench.device.load_module(kernel_text(".param .u64 out", kBody), "k.ptx");
  const auto out = bench.zeros(256);
  made = 0;
  for (unsigned launch = 1; launch <= 3; ++launch) {
    bench.device.launch(module, "k", {4, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out));
    bench.device.synchronise();
    EXPECT_EQ(made, launch);
  }
  for (unsigned launch = 4; launch <= 6; ++launch)  // that wait for each other
    bench.device.launch(module, "k", {4, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out));
  bench.device.synchronise();
  EXPECT_EQ(made, 6u);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(bench.read(out, 64)[t], t);
}
INSTANTIATE_TEST_SUITE_P(Engines, OneKernelPerLaunch, testing::Bool(),
                         [](const auto& info) { return info.param ? "Functional" : "Timed"; });

}  // namespace
}  // namespace weft::test
