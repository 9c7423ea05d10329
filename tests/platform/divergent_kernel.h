// A kernel with everything that makes timing interesting: divergent loops, shared memory and barriers,
// scattered loads and stores, atomics, early exits.
#ifndef WEFT_TESTS_PLATFORM_DIVERGENT_KERNEL_H
#define WEFT_TESTS_PLATFORM_DIVERGENT_KERNEL_H

#include "platform/gpu_bench.h"

namespace weft::test {

constexpr std::uint32_t kDivergentWords = 4096;

// k(.u64 data): `data` holds kDivergentWords + 1 words; for blocks of up to 256 threads.
inline std::string divergent_kernel() {
  return kernel_text(".param .u64 data", R"(
  .shared .align 4 .b8 box[1024];
  ld.param.u64 %rd1, [data];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r3, %r4, %r2;
  mov.u32 %r10, box;
  shl.b32 %r11, %r2, 2;
  add.u32 %r11, %r11, %r10;
  mul.lo.u32 %r6, %r5, 2654435761;
  shr.u32 %r7, %r6, 28;
  mov.u32 %r8, 0;
LOOP:
  setp.ge.u32 %p1, %r8, %r7;
  @%p1 bra OUT;
  mul.lo.u32 %r6, %r6, 1664525;
  add.u32 %r6, %r6, 1013904223;
  shr.u32 %r12, %r6, 20;
  mul.wide.u32 %rd2, %r12, 4;
  add.u64 %rd2, %rd1, %rd2;
  and.b32 %r13, %r6, 65536;
  setp.eq.u32 %p2, %r13, 0;
  @%p2 bra ELSE;
  ld.global.u32 %r14, [%rd2];
  add.u32 %r9, %r9, %r14;
  bra JOIN;
ELSE:
  red.global.add.u32 [%rd2], 1;
  sin.approx.f32 %f1, %f1;
JOIN:
  add.u32 %r8, %r8, 1;
  bra LOOP;
OUT:
  st.shared.u32 [%r11], %r7;
  bar.sync 0;
  xor.b32 %r15, %r2, 1;
  setp.ge.u32 %p3, %r15, %r4;
  @%p3 exit;
  shl.b32 %r15, %r15, 2;
  add.u32 %r15, %r15, %r10;
  ld.shared.u32 %r16, [%r15];
  add.u64 %rd3, %rd1, 16384;
  red.global.add.u32 [%rd3], %r16;
  ret;)");
}

// Runs it and returns the statistics and the checksum of the memory that it leaves behind.
inline std::string run_divergent(GpuBench& bench, unsigned blocks = 12, unsigned threads = 100) {
  std::vector<std::uint32_t> data(kDivergentWords + 1);
  for (std::uint32_t i = 0; i < kDivergentWords; ++i) data[i] = i * i;
  const auto address = bench.words(data);
  bench.load(divergent_kernel());
  bench.run({blocks, 1, 1}, {threads, 1, 1}, runtime::Arguments().add(address));
  std::uint64_t sum = 0;
  for (const std::uint32_t word : bench.read(address, kDivergentWords + 1)) sum = sum * 31 + word;
  return bench.statistics().dump() + "\nmemory " + std::to_string(sum);
}

}  // namespace weft::test

#endif
