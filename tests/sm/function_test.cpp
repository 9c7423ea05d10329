// What kernels compute on the whole machine, where a simple lane-by-lane test cannot see it: address spaces,
// atomics, barriers, exits, blocks that do not fill their last warp.
#include <gtest/gtest.h>

#include <numeric>

#include "platform/gpu_bench.h"

namespace weft::test::function_test {
namespace {

using runtime::Arguments;
using Words = std::vector<std::uint32_t>;

const std::string kOut = ".param .u64 out";
// %rd2 = out + 4 x global thread, %r2 = %tid.x, %r5 = global thread
const std::string kStart = R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r3, %r4, %r2;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd2, %rd1, %rd2;
)";

Words run(const std::string& body, unsigned blocks, unsigned threads, const std::string& config = "gtx480") {
  GpuBench bench({"sm.count=2", "watchdog.cycles=50000"}, config);
  const auto out = bench.zeros(std::uint64_t{blocks} * threads * 4);
  bench.load(kernel_text(kOut, body));
  bench.run({blocks, 1, 1}, {threads, 1, 1}, Arguments().add(out));
  return bench.read(out, std::size_t{blocks} * threads);
}

// Arrays of every element width, indexed by what the thread computes at run time.
TEST(LocalMemory, ArraysIndexedDynamically) {
  const Words out = run(R"(
  .local .align 16 .b8 bytes[16];
  .local .align 16 .b8 longs[64];
  .local .align 16 .b8 quads[64];
)" + kStart + R"(
  mov.u32 %r10, bytes; mov.u32 %r11, longs; mov.u32 %r12, quads;
  mov.u32 %r20, 0;
FILL:
  add.u32 %r21, %r10, %r20;
  add.u32 %r22, %r20, %r5;
  st.local.u8 [%r21], %r22;
  and.b32 %r23, %r20, 7;
  shl.b32 %r24, %r23, 3;
  add.u32 %r24, %r24, %r11;
  mul.wide.u32 %rd5, %r22, 1000003;
  st.local.u64 [%r24], %rd5;
  and.b32 %r25, %r20, 3;
  shl.b32 %r25, %r25, 4;
  add.u32 %r25, %r25, %r12;
  cvt.rn.f32.u32 %f1, %r22;
  add.f32 %f2, %f1, 0f3f800000; add.f32 %f3, %f2, 0f3f800000; add.f32 %f4, %f3, 0f3f800000;
  st.local.v4.f32 [%r25], {%f1, %f2, %f3, %f4};
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p1, %r20, 16;
  @%p1 bra FILL;
  // One element of each, at an index of the thread's own.
  and.b32 %r30, %r5, 15;
  add.u32 %r31, %r10, %r30;
  ld.local.u8 %r32, [%r31];
  and.b32 %r33, %r5, 7;
  shl.b32 %r34, %r33, 3;
  add.u32 %r34, %r34, %r11;
  ld.local.u64 %rd6, [%r34];
  cvt.u32.u64 %r35, %rd6;
  and.b32 %r36, %r5, 3;
  shl.b32 %r36, %r36, 4;
  add.u32 %r36, %r36, %r12;
  ld.local.v4.f32 {%f5, %f6, %f7, %f8}, [%r36];
  add.f32 %f5, %f5, %f6; add.f32 %f7, %f7, %f8; add.f32 %f5, %f5, %f7;
  cvt.rzi.u32.f32 %r37, %f5;
  add.u32 %r38, %r32, %r35;
  add.u32 %r38, %r38, %r37;
  st.global.u32 [%rd2], %r38;
  ret;)",
                        3, 70);
  for (std::uint32_t t = 0; t < out.size(); ++t) {
    const std::uint32_t byte = ((t & 15) + t) & 255;
    const std::uint32_t wide = ((t & 7) + 8 + t) * 1000003u;  // the second half of the turns comes last
    const std::uint32_t quad = 4 * ((t & 3) + 12 + t) + 6;
    ASSERT_EQ(out[t], byte + wide + quad) << "thread " << t;
  }
}

// The arm that runs first uses registers whose values only the other arm's threads still need; those of other
// widths must not lie on them.
TEST(Registers, OneArmOfABranchLeavesTheOthersValuesAlone) {
  const Words out = run(kStart + R"(
  mul.wide.u32 %rd10, %r5, 1000003; mul.wide.u32 %rd11, %r5, 1000033; mul.wide.u32 %rd12, %r5, 1000037;
  and.b32 %r10, %r2, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra WIDE;
  add.u32 %r20, %r5, 1; add.u32 %r21, %r5, 2; add.u32 %r22, %r5, 3; add.u32 %r23, %r5, 4;
  add.u32 %r24, %r5, 5; add.u32 %r25, %r5, 6; add.u32 %r26, %r5, 7; add.u32 %r27, %r5, 8;
  add.u32 %r20, %r20, %r21; add.u32 %r22, %r22, %r23; add.u32 %r24, %r24, %r25; add.u32 %r26, %r26, %r27;
  add.u32 %r20, %r20, %r22; add.u32 %r24, %r24, %r26; add.u32 %r30, %r20, %r24;
  bra DONE;
WIDE:
  add.u64 %rd10, %rd10, %rd11; add.u64 %rd10, %rd10, %rd12;
  cvt.u32.u64 %r30, %rd10;
DONE:
  st.global.u32 [%rd2], %r30;
  ret;)",
                        1, 64);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], t % 2 == 1 ? t * 3000073u : 8 * t + 36) << t;
}

// One pointer register holds shared, local or global addresses, by the thread.
TEST(GenericAddresses, ThreeSpacesInOneInstruction) {
  const Words out = run(R"(
  .shared .align 8 .b8 box[512];
  .local .align 8 .b8 mine[8];
)" + kStart + R"(
  mov.u32 %r10, box; mov.u32 %r11, mine;
  shl.b32 %r12, %r2, 2;
  add.u32 %r10, %r10, %r12;
  cvt.u64.u32 %rd4, %r10; cvt.u64.u32 %rd5, %r11;
  cvta.shared.u64 %rd4, %rd4;
  cvta.local.u64 %rd5, %rd5;
  rem.u32 %r13, %r2, 3;
  setp.eq.u32 %p1, %r13, 0; setp.eq.u32 %p2, %r13, 1;
  selp.b64 %rd6, %rd4, %rd5, %p1;
  selp.b64 %rd6, %rd6, %rd2, %p1;
  selp.b64 %rd7, %rd5, %rd6, %p2;
  selp.b64 %rd6, %rd6, %rd7, %p1;
  add.u32 %r14, %r5, 100;
  st.u32 [%rd6], %r14;
  ld.u32 %r15, [%rd6];
  mul.lo.u32 %r15, %r15, 2;
  add.u32 %r15, %r15, %r13;
  st.global.u32 [%rd2], %r15;
  ret;)",
                        2, 96);
  for (std::uint32_t t = 0; t < out.size(); ++t) ASSERT_EQ(out[t], 2 * (t + 100) + t % 96 % 3) << t;
}

TEST(Atomics, GlobalAndSharedSums) {
  GpuBench bench({"sm.count=3"});
  const auto out = bench.zeros(64);
  bench.load(kernel_text(kOut, R"(
  .shared .align 8 .u32 sum;
)" + kStart + R"(
  mov.u32 %r10, sum;
  red.global.add.u32 [%rd1], %r5;
  red.global.max.u32 [%rd1+4], %r5;
  atom.global.or.b32 %r11, [%rd1+8], %r5;
  atom.shared.add.u32 %r12, [%r10], 1;
  atom.global.inc.u32 %r13, [%rd1+12], 9;
  bar.sync 0;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 exit;
  ld.shared.u32 %r14, [%r10];
  red.global.add.u32 [%rd1+16], %r14;
AGAIN:
  atom.global.cas.b32 %r15, [%rd1+20], %r16, %r17;
  setp.eq.u32 %p2, %r15, %r16;
  mov.u32 %r16, %r15;
  add.u32 %r17, %r15, 3;
  @!%p2 bra AGAIN;
  ret;)"));
  constexpr std::uint32_t kBlocks = 7, kThreads = 100, kAll = kBlocks * kThreads;
  bench.run({kBlocks, 1, 1}, {kThreads, 1, 1}, Arguments().add(out));
  const Words got = bench.read(out, 6);
  EXPECT_EQ(got[0], kAll * (kAll - 1) / 2);
  EXPECT_EQ(got[1], kAll - 1);
  EXPECT_EQ(got[2], 1023u);
  EXPECT_EQ(got[3], kAll % 10);
  EXPECT_EQ(got[4], kAll);
}

// Threads of every warp leave early; the others still meet.
TEST(Barriers, ExitedThreadsAreNotWaitedFor) {
  const Words out = run(".shared .align 4 .u32 sum;\n" + kStart + R"(
  mov.u32 %r10, sum;
  and.b32 %r11, %r2, 3;
  setp.eq.u32 %p1, %r11, 1;
  @%p1 exit;
  atom.shared.add.u32 %r12, [%r10], 1;
  bar.sync 0;
  ld.shared.u32 %r13, [%r10];
  st.global.u32 [%rd2], %r13;
  ret;)",
                        2, 90);
  const std::uint32_t stay = 90 - 23;
  for (std::uint32_t t = 0; t < out.size(); ++t) ASSERT_EQ(out[t], t % 90 % 4 == 1 ? 0 : stay) << t;
}

// `if (i >= n) return;` before a barrier: the branch leads to the `ret` at the end, where the stack makes
// those threads wait for the others of their warp. The barrier does not wait for them.
TEST(Barriers, ThreadsThatWaitAtTheirExitAreNotWaitedFor) {
  const Words out = run(".shared .align 4 .u32 sum;\n" + kStart + R"(
  mov.u32 %r10, sum;
  and.b32 %r11, %r2, 3;
  setp.eq.u32 %p1, %r11, 1;
  @%p1 bra END;
  atom.shared.add.u32 %r12, [%r10], 1;
  bar.sync 0;
  ld.shared.u32 %r13, [%r10];
  st.global.u32 [%rd2], %r13;
END:
  ret;)",
                        2, 90);
  const std::uint32_t stay = 90 - 23;
  for (std::uint32_t t = 0; t < out.size(); ++t) ASSERT_EQ(out[t], t % 90 % 4 == 1 ? 0 : stay) << t;
}

// A barrier of 64 threads among 128; producers arrive and go on, consumers wait.
TEST(Barriers, CountsAndArrive) {
  const Words out = run(".shared .align 4 .b8 box[256];\n" + kStart + R"(
  mov.u32 %r10, box;
  and.b32 %r11, %r2, 31;
  shl.b32 %r12, %r11, 2;
  add.u32 %r10, %r10, %r12;
  shr.u32 %r13, %r2, 5;
  setp.eq.u32 %p1, %r13, 0;
  @%p1 bra PRODUCE;
  setp.eq.u32 %p2, %r13, 1;
  @%p2 bra CONSUME;
  st.global.u32 [%rd2], 7;
  ret;
PRODUCE:
  mov.u32 %r20, 0;
SLOWLY:
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p3, %r20, 100;
  @%p3 bra SLOWLY;
  add.u32 %r21, %r11, 1000;
  st.shared.u32 [%r10], %r21;
  bar.arrive 3, 64;
  st.global.u32 [%rd2], 8;
  ret;
CONSUME:
  bar.sync 3, 64;
  ld.shared.u32 %r22, [%r10];
  st.global.u32 [%rd2], %r22;
  ret;)",
                        1, 128);
  for (std::uint32_t t = 0; t < 128; ++t) ASSERT_EQ(out[t], t < 32 ? 8 : t < 64 ? 1000 + t % 32 : 7) << t;
}

// A rotation through shared memory, twice, in blocks whose last warp is not full: every config.
class EveryConfig : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryConfig, RotatesThroughSharedMemory) {
  const Words out = run(".shared .align 4 .b8 box[1024];\n" + kStart + R"(
  mov.u32 %r10, box;
  mov.u32 %r20, %r5;
  mov.u32 %r21, 0;
TURN:
  shl.b32 %r11, %r2, 2;
  add.u32 %r11, %r11, %r10;
  st.shared.u32 [%r11], %r20;
  bar.sync 0;
  add.u32 %r12, %r2, 1;
  rem.u32 %r12, %r12, %r4;
  shl.b32 %r12, %r12, 2;
  add.u32 %r12, %r12, %r10;
  ld.shared.u32 %r20, [%r12];
  bar.sync 0;
  add.u32 %r21, %r21, 1;
  setp.lt.u32 %p1, %r21, 5;
  @%p1 bra TURN;
  st.global.u32 [%rd2], %r20;
  ret;)",
                        5, 77, GetParam());
  for (std::uint32_t t = 0; t < out.size(); ++t) ASSERT_EQ(out[t], t / 77 * 77 + (t % 77 + 5) % 77) << t;
}

INSTANTIATE_TEST_SUITE_P(Function, EveryConfig, ::testing::ValuesIn(config_names()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Kernels, RunOneAfterTheOther) {
  GpuBench bench({"sm.count=2"});
  const auto out = bench.zeros(4 * 64);
  bench.load(kernel_text(kOut, kStart + "ld.global.u32 %r10, [%rd2]; mad.lo.u32 %r10, %r10, 3, %r5;\n"
                                        "st.global.u32 [%rd2], %r10;\n ret;"));
  auto& module =
      bench.device.load_module(kernel_text(kOut, kStart + "st.global.u32 [%rd2], 1; ret;"), "ones.ptx");
  bench.device.launch(module, "k", {2, 1, 1}, {32, 1, 1}, Arguments().add(out));
  for (int i = 0; i < 3; ++i)
    bench.run({2, 1, 1}, {32, 1, 1}, Arguments().add(out));  // queued behind the first
  const Words got = bench.read(out, 64);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(got[t], 27 + 13 * t) << t;
}

}  // namespace
}  // namespace weft::test::function_test
