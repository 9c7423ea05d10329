// cvta.param: generic addresses of parameters, as compilers take them of __grid_constant__ structs and of
// arguments in the frame of a device function.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "platform/gpu_bench.h"

namespace weft::test::parameter_address_test {
namespace {

const std::string kText = R"(.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) third(.param .align 4 .b8 box[16]) {
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  mov.b64 %rd1, box;
  cvta.param.u64 %rd2, %rd1;
  ld.u32 %r1, [%rd2+8];
  st.param.b32 [result], %r1;
  ret;
}
.visible .entry k(.param .u64 out, .param .align 4 .b8 box[16]) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.b64 %rd3, box;
  cvta.param.u64 %rd4, %rd3;
  and.b64 %rd5, %rd2, 15;
  add.u64 %rd4, %rd4, %rd5;
  ld.u32 %r2, [%rd4];
  cvta.to.param.u64 %rd6, %rd4;
  ld.param.u32 %r3, [%rd6];
  { .param .align 4 .b8 argument[16]; .param .b32 found;
  st.param.b32 [argument], %r1; st.param.b32 [argument+4], %r1; st.param.b32 [argument+8], %r1;
  st.param.b32 [argument+12], %r2;
  call.uni (found), third, (argument); ld.param.b32 %r4, [found]; }
  mad.lo.u32 %r2, %r3, 100, %r2;
  mad.lo.u32 %r2, %r4, 10000, %r2;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

class ParameterAddress : public ::testing::TestWithParam<bool> {};

TEST_P(ParameterAddress, ReadsTheParametersOfTheLaunch) {
  runtime::DeviceOptions options;
  options.functional.all = GetParam();
  options.check.memory = true;
  GpuBench bench({"sm.count=2"}, "gtx480", options);
  bench.load(kText);
  const auto out = bench.zeros(64 * 4);
  for (const std::uint32_t first : {3u, 40u}) {  // two launches, each with parameters of its own
    std::vector<std::uint8_t> box(16);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t word = first + i;
      std::memcpy(&box[std::size_t{i} * 4], &word, 4);
    }
    bench.run({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out).add_bytes(box));
    const auto words = bench.read(out, 64);
    for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(words[t], (first + t % 4) * 101 + t * 10000) << t;
  }
  for (const auto& report : bench.device.reports()) ADD_FAILURE() << report.text;
}

INSTANTIATE_TEST_SUITE_P(Modes, ParameterAddress, ::testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "functional" : "timed"); });

}  // namespace
}  // namespace weft::test::parameter_address_test
