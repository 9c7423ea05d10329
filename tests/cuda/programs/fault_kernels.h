// Kernels that fault, each in one way, in thread 0 or in all 32 threads.
#ifndef WEFT_TESTS_CUDA_FAULT_KERNELS_H
#define WEFT_TESTS_CUDA_FAULT_KERNELS_H

inline const char* const kFaultKernels = R"(
.version 7.0
.target sm_75
.address_size 64
.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function,
                           .param .b64 size);
.extern .func free(.param .b64 address);
.global .align 1 .b8 text[4] = {120, 61, 61, 0};

.visible .entry store_at(.param .u64 at) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, 42;
  st.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry store_local(.param .u64 at) {
  .local .align 4 .b8 room[8];
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, 1;
  st.local.u32 [%rd0], %r0;
  ret;
}
.visible .entry store_shared(.param .u64 at) {
  .shared .align 4 .b8 room[8];
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, 1;
  st.shared.u32 [%rd0], %r0;
  ret;
}
.visible .entry atomic_on_local(.param .u64 at) {
  .local .align 4 .b8 room[8];
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  mov.u64 %rd0, room;
  cvta.local.u64 %rd0, %rd0;
  mov.u32 %r0, 1;
  atom.add.u32 %r1, [%rd0], %r0;
  ret;
}
.visible .entry reduce_on_local(.param .u64 at) {
  .local .align 4 .b8 room[8];
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  mov.u64 %rd0, room;
  cvta.local.u64 %rd0, %rd0;
  mov.u32 %r0, 1;
  red.add.u32 [%rd0], %r0;
  ret;
}
.visible .entry load_texture(.param .u64 at) {
  .reg .b64 %rd<2>; .reg .b32 %r<5>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, 0;
  tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd0, {%r0}];
  st.global.u32 [%rd0], %r1;
  ret;
}
.visible .entry no_barrier(.param .u64 at) {
  .reg .b32 %r<2>;
  mov.u32 %r0, %clock;
  or.b32 %r0, %r0, 16;
  bar.sync %r0;
  ret;
}
.visible .entry wrong_mask(.param .u64 at) {
  .reg .b32 %r<3>;
  mov.u32 %r0, %laneid;
  mov.u32 %r1, 1;
  shfl.sync.idx.b32 %r2, %r0, 0, 31, %r1;
  ret;
}
.visible .entry wild_call(.param .u64 at) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [at];
  callee: .callprototype () _ ();
  call %rd0, (), callee;
  ret;
}
.visible .entry wild_branch(.param .u64 at) {
  .reg .b32 %r<2>;
  mov.u32 %r0, 2;
  targets: .branchtargets FIRST, SECOND;
  brx.idx %r0, targets;
FIRST:
  ret;
SECOND:
  ret;
}
.func () endless(.param .b32 depth) {
  .reg .b32 %r<3>;
  ld.param.u32 %r0, [depth];
  add.u32 %r1, %r0, 1;
  {
    .param .b32 deeper;
    st.param.b32 [deeper], %r1;
    call.uni endless, (deeper);
  }
  ret;
}
.visible .entry too_deep(.param .u64 at) {
  .reg .b32 %r<2>;
  mov.u32 %r0, 0;
  {
    .param .b32 depth;
    st.param.b32 [depth], %r0;
    call.uni endless, (depth);
  }
  ret;
}
.visible .entry wild_and_recursive(.param .u64 at) {
  .local .align 4 .b8 room[8];
  .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<1>;
  ld.param.u64 %rd0, [at];
  mov.u32 %r0, 1;
  setp.eq.u64 %p0, %rd0, 0;
  @!%p0 st.local.u32 [%rd0], %r0;
  {
    .param .b32 depth;
    st.param.b32 [depth], %r0;
    call.uni endless, (depth);
  }
  ret;
}
.visible .entry trapped(.param .u64 at) { trap; ret; }
.visible .entry breakpoint(.param .u64 at) { brkpt; ret; }
.visible .entry asserted(.param .u64 at) {
  .reg .b64 %rd<2>;
  mov.u64 %rd0, text;
  cvta.global.u64 %rd0, %rd0;
  {
    .param .b64 message; .param .b64 file; .param .b32 line; .param .b64 function; .param .b64 size;
    st.param.b64 [message], %rd0;
    st.param.b64 [file], %rd0;
    st.param.b32 [line], 7;
    st.param.b64 [function], %rd0;
    st.param.b64 [size], 1;
    call.uni __assertfail, (message, file, line, function, size);
  }
  ret;
}
.visible .entry wild_free(.param .u64 at) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [at];
  {
    .param .b64 address;
    st.param.b64 [address], %rd0;
    call.uni free, (address);
  }
  ret;
}
.visible .entry deadlock(.param .u64 at) {
  bar.sync 0, 64;
  ret;
}
.visible .entry forever(.param .u64 at) {
LOOP:
  bra LOOP;
}
)";

#endif
