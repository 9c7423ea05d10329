// PTX texts that the tests feed to the program.
#ifndef WEFT_TESTS_END_TO_END_KERNELS_H
#define WEFT_TESTS_END_TO_END_KERNELS_H

#include <string>

namespace weft::end_to_end {

inline const std::string kPtxHeader = ".version 6.0\n.target sm_35\n.address_size 64\n";

// out[i] = i + add, for one block.
inline const std::string kGoodKernel = kPtxHeader + R"(
.visible .entry good(.param .u64 out, .param .u32 add) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [add];
  mov.u32 %r2, %tid.x;
  add.u32 %r3, %r2, %r1;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

// Stores for ever.
inline const std::string kEndlessKernel = kPtxHeader + R"(
.visible .entry endless(.param .u64 out) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 7;
again:
  st.global.u32 [%rd1], %r1;
  bra again;
}
)";

}  // namespace weft::end_to_end

#endif
