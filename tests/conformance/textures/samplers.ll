; Independent mode, as clang's back end writes it for OpenCL: samplers_clang19.ptx is the result of
;   clang-19 -target nvptx64-nvidia-nvcl -march=sm_35 -nogpulib -O2 -S samplers.ll -o samplers_clang19.ptx
target triple = "nvptx64-nvidia-nvcl"

declare { float, float, float, float } @llvm.nvvm.tex.2d.v4f32.f32(i64, i64, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.2d.v4f32.s32(i64, i64, i32, i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define void @sampled(i64 %image, i64 %sampler, ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %px = getelementptr <4 x float>, ptr addrspace(1) %in, i32 %t
  %c = load <4 x float>, ptr addrspace(1) %px
  %x = extractelement <4 x float> %c, i32 0
  %y = extractelement <4 x float> %c, i32 1
  %v = call { float, float, float, float } @llvm.nvvm.tex.2d.v4f32.f32(i64 %image, i64 %sampler, float %x, float %y)
  %v0 = extractvalue { float, float, float, float } %v, 0
  %v1 = extractvalue { float, float, float, float } %v, 1
  %v2 = extractvalue { float, float, float, float } %v, 2
  %v3 = extractvalue { float, float, float, float } %v, 3
  %r0 = insertelement <4 x float> undef, float %v0, i32 0
  %r1 = insertelement <4 x float> %r0, float %v1, i32 1
  %r2 = insertelement <4 x float> %r1, float %v2, i32 2
  %r3 = insertelement <4 x float> %r2, float %v3, i32 3
  %po = getelementptr <4 x float>, ptr addrspace(1) %out, i32 %t
  store <4 x float> %r3, ptr addrspace(1) %po
  ret void
}

!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @sampled, !"kernel", i32 1}
!1 = !{ptr @sampled, !"rdoimage", i32 0}
!2 = !{ptr @sampled, !"sampler", i32 1}
