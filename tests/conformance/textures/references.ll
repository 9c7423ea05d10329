; Texture, sampler and surface references as clang's back end writes them: references_clang19.ptx is the result of
;   clang-19 -target nvptx64-nvidia-cuda -march=sm_35 -nogpulib -O2 -S references.ll -o references_clang19.ptx
; (unified mode; the kernel parameters that are images become .texref and .surfref).
target triple = "nvptx64-nvidia-cuda"

@texture = addrspace(1) global i64 0, align 8
@surface = addrspace(1) global i64 0, align 8

declare i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1))
declare { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64, float, float)
declare { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.1d.v4s32.s32(i64, i32)
declare void @llvm.nvvm.sust.b.2d.i32.trap(i64, i32, i32, i32)
declare void @llvm.nvvm.sust.p.2d.v4i32.trap(i64, i32, i32, i32, i32, i32, i32)
declare i32 @llvm.nvvm.suld.2d.i32.trap(i64, i32, i32)
declare i32 @llvm.nvvm.txq.width(i64)
declare i32 @llvm.nvvm.txq.height(i64)
declare i32 @llvm.nvvm.suq.width(i64)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define void @by_reference(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %h = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @texture)
  %px = getelementptr <4 x float>, ptr addrspace(1) %in, i32 %t
  %c = load <4 x float>, ptr addrspace(1) %px
  %x = extractelement <4 x float> %c, i32 0
  %y = extractelement <4 x float> %c, i32 1
  %v = call { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64 %h, float %x, float %y)
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

define void @by_parameter(i64 %image, i64 %target, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %v = call { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.1d.v4s32.s32(i64 %image, i32 %t)
  %v0 = extractvalue { i32, i32, i32, i32 } %v, 0
  call void @llvm.nvvm.sust.b.2d.i32.trap(i64 %target, i32 0, i32 0, i32 %v0)
  %w = call i32 @llvm.nvvm.txq.width(i64 %image)
  %s = call i32 @llvm.nvvm.suq.width(i64 %target)
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  %sum0 = add i32 %v0, %w
  %sum = add i32 %sum0, %s
  store i32 %sum, ptr addrspace(1) %po
  ret void
}

define void @to_surface(i32 %value) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %h = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @surface)
  %v = add i32 %value, %t
  call void @llvm.nvvm.sust.p.2d.v4i32.trap(i64 %h, i32 %t, i32 1, i32 %v, i32 %t, i32 -5, i32 70000)
  ret void
}

!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6}
!0 = !{ptr @by_reference, !"kernel", i32 1}
!1 = !{ptr @by_parameter, !"kernel", i32 1}
!2 = !{ptr @to_surface, !"kernel", i32 1}
!3 = !{ptr addrspace(1) @texture, !"texture", i32 1}
!4 = !{ptr addrspace(1) @surface, !"surface", i32 1}
!5 = !{ptr @by_parameter, !"rdoimage", i32 0}
!6 = !{ptr @by_parameter, !"wroimage", i32 1}
