// What PTX of other producers computes: forms that the front end turns into plain instructions, and forms
// without an effect. Each body writes up to four words from %rd9 on, which begins as 1, 2, 3 ... 16.
#include <gtest/gtest.h>

#include <cstring>

#include "interpreter/interpreter.h"
#include "weft/ptx/module.h"

namespace weft::test::producers_test {
namespace {

using Words = std::vector<std::uint32_t>;

Words run(const std::string& version, const std::string& target, const std::string& symbols,
          const std::string& body, std::uint32_t threads = 1) {
  constexpr std::uint64_t kBase = 0x1'0000'0000;
  const ptx::Module module =
      ptx::parse(".version " + version + "\n.target " + target + "\n.address_size 64\n" + symbols +
                     "\n.visible .entry k(.param .u64 out) {\n .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 "
                     "%r<20>; .reg "
                     ".b64 %rd<20>; .reg .f32 %f<20>; .reg .f64 %fd<9>;\n ld.param.u64 %rd9, [out];\n" +
                     body + "\n ret;\n}\n",
                 "test.ptx");
  const ptx::Program program = ptx::decode(module, "k", ptx::listing_symbols(module));
  std::vector<std::uint8_t> memory(4096), parameters(8);
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t word = i + 1;
    std::memcpy(&memory[4 * i], &word, 4);
  }
  std::memcpy(parameters.data(), &kBase, 8);
  Interpreter(memory, kBase).run({&program, {1, 1, 1}, {threads, 1, 1}, parameters, 0});
  Words words(4);
  std::memcpy(words.data(), memory.data(), 16);
  return words;
}
Words newer(const std::string& body, std::uint32_t threads = 1) {
  return run("8.8", "sm_100", "", body, threads);
}

TEST(Producers, Triton) {
  EXPECT_EQ(newer("ld.global.b32 { %r1 }, [ %rd9 + 8 ]; st.global.b32 [ %rd9 + 0 ], { %r1 };"),
            (Words{3, 2, 3, 4}));
  EXPECT_EQ(newer("createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0; ld.global.L2::cache_hint.b32 %r1, "
                  "[%rd9+4], %rd5; "
                  "atom.global.add.L2::cache_hint.u32 %r2, [%rd9], 9, %rd5; st.global.L2::cache_hint.v2.b32 "
                  "[%rd9+8], {%r1, %r2}, "
                  "%rd5; red.global.add.L2::cache_hint.u32 [%rd9+12], 5, %rd5;"),
            (Words{10, 2, 2, 6}));
}

TEST(Producers, OldPtx) {
  const std::string f = ".func (.param .s32 r) f (.param .s32 a)";
  EXPECT_EQ(run("2.3", "sm_20",
                f + "\n" + f +
                    " { .reg .s32 %r; ld.param.s32 %r, [a]; add.s32 %r, %r, 1; st.param.s32 [r], %r; ret; }",
                "{ .param .s32 x; .param .s32 y; st.param.s32 [x], 7; call (y), f, (x); ld.param.s32 %r1, "
                "[y]; } st.global.u32 "
                "[%rd9], %r1;"),
            (Words{8, 2, 3, 4}));
  EXPECT_EQ(run("2.3", "sm_20", "",
                "mov.u16 %h1, %tid.x; mov.u16 %h2, %ntid.x; mul.wide.u16 %r1, %h1, %h2; cvt.u32.u16 %r2, "
                "%ntid.x; add.u32 %r1, %r1, "
                "%r2; cvt.u64.u16 %rd1, %tid.x; shl.b64 %rd1, %rd1, 2; add.u64 %rd1, %rd9, %rd1; "
                "st.global.u32 [%rd1], %r1;",
                4),
            (Words{4, 8, 12, 16}));
  // The variable is one for kernel and function, and another one for each thread.
  EXPECT_EQ(run("2.3", "sm_20",
                ".local .u32 a;\n.local .align 8 .b8 b[16];\n.func f { .reg .u32 %r; ld.local.u32 %r, [a]; "
                "st.local.u32 [b+8], %r; ret; }",
                ".local .u32 own; mov.u32 %r1, %tid.x; mov.u32 %r2, a; st.local.u32 [%r2], %r1; st.local.u32 "
                "[own], 100; call f; "
                "ld.local.u32 %r3, [b+8]; ld.local.u32 %r4, [own]; add.u32 %r3, %r3, %r4; mul.wide.u32 %rd1, "
                "%r1, 4; add.u64 %rd1, "
                "%rd9, %rd1; st.global.u32 [%rd1], %r3;",
                4),
            (Words{100, 101, 102, 103}));
  // 2 * 2 + 2; and on sm_10 subnormal numbers are zero.
  const std::string mad =
      "mov.f32 %f1, 0f40000000; mad.f32 %f2, %f1, %f1, %f1; st.global.f32 [%rd9], %f2; mov.f32 %f3, "
      "0f00000001; "
      "add.f32 %f4, %f3, %f3; st.global.f32 [%rd9+4], %f4;";
  EXPECT_EQ(run("2.3", "sm_10", "", mad), (Words{0x40c00000, 0, 3, 4}));
  EXPECT_EQ(run("3.1", "sm_20", "", mad), (Words{0x40c00000, 2, 3, 4}));
}

TEST(Producers, LaunchesWithoutClusters) {
  EXPECT_EQ(newer("mov.u32 %r1, %cluster_nctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, "
                  "%nclusterid.x; mov.u32 %r4, %clusterid.y; "
                  "st.global.v4.u32 [%rd9], {%r1, %r2, %r3, %r4};"),
            (Words{1, 0, 1, 0}));
  // A thread of another warp reads what was written before it arrived.
  EXPECT_EQ(run("8.8", "sm_100", ".shared .align 4 .b8 tile[256];",
                "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2; st.shared::cluster.u32 "
                "[%r3], %r1; "
                "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; "
                "mapa.shared::cluster.u32 %r4, %r2, 0; "
                "xor.b32 %r5, %r1, 63; mad.lo.u32 %r4, %r5, 4, %r4; ld.shared::cluster.u32 %r6, [%r4]; "
                "setp.lt.u32 %p1, %r1, 4; "
                "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd9, %rd1; @%p1 st.global.u32 [%rd1], %r6;",
                64),
            (Words{63, 62, 61, 60}));
  EXPECT_EQ(newer("griddepcontrol.wait; fence.proxy.async; pmevent 3; griddepcontrol.launch_dependents; "
                  "setmaxnreg.inc.sync.aligned.u32 40; "
                  "discard.global.L2 [%rd9+128], 128; getctarank.u64 %r1, %rd9; st.global.u32 [%rd9], %r1;"),
            (Words{0, 2, 3, 4}));
}

// The load writes its own base; elements of an atomic are results and operands of each other.
TEST(Producers, WideAccesses) {
  EXPECT_EQ(newer("mov.u64 %rd1, %rd9; ld.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd1]; st.global.v2.b64 "
                  "[%rd9], {%rd4, %rd1};"),
            (Words{7, 8, 1, 2}));
  EXPECT_EQ(newer("ld.global.v8.b32 {%r1, _, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd9]; st.global.v4.b32 "
                  "[%rd9], {%r8, %r1, %r4, %r5};"),
            (Words{8, 1, 4, 5}));
  EXPECT_EQ(newer("mov.f32 %f1, 1.0; mov.f32 %f2, 2.0; st.global.v2.f32 [%rd9], {%f1, %f2}; "
                  "atom.global.add.v2.f32 {%f2, %f1}, [%rd9], {%f1, "
                  "%f2}; st.global.v2.f32 [%rd9+8], {%f1, %f2};"),
            (Words{0x40000000, 0x40800000, 0x40000000, 0x3f800000}));
}

}  // namespace
}  // namespace weft::test::producers_test
