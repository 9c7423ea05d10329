// A kernel whose every thread reads one word and writes another: k(.u64 in, .u64 out).
#ifndef WEFT_TESTS_PLATFORM_SCALE_KERNEL_H
#define WEFT_TESTS_PLATFORM_SCALE_KERNEL_H

#include <string>

#include "platform/gpu_bench.h"

namespace weft::test {

// out[i] = 3 * in[i] + 1
inline std::string scale_kernel() {
  return kernel_text(".param .u64 in, .param .u64 out", R"(
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r5, [%rd1];
  mad.lo.u32 %r5, %r5, 3, 1;
  st.global.u32 [%rd2], %r5;
  ret;)");
}

}  // namespace weft::test

#endif
