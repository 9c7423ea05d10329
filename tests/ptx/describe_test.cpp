#include "ptx/ptx_text.h"

namespace weft::ptx::testing::describe_test {
namespace {

TEST(Describe, ListsBlocksEdgesAndCounts) {
  const Module m = parse(module_of(".global .align 4 .b8 g[16];\n"
                                   ".visible .entry k(.param .u32 n)\n.maxntid 64, 2, 1\n{\n"
                                   ".reg .pred %p<2>; .reg .b32 %r<3>;\n.shared .b32 s;\n"
                                   "ld.param.u32 %r1, [n];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L_end;\n"
                                   "st.shared.u32   [s],\n %r1;\n$L_end:\nret;\n}\n"
                                   ".visible .entry later() { stacksave.u64 %rd1; }\n"),
                         "m.ptx");
  EXPECT_EQ(describe(m),
            "m.ptx: PTX 7.0 for sm_70\n"
            "variable .global .b8 g, 16 bytes\n"
            "kernel k\n"
            "  5 instructions, 3 blocks; 1 registers (of 2 virtual), 1 predicates; bytes: 4 shared, 0 local, "
            "4 parameters\n"
            "  at most 64 x 2 x 1 threads per block\n"
            "  parameter +0 .u32 n, 4 bytes\n"
            "  B0 -> B1 B2   post-dominator B2\n"
            "        convergence barriers: join 0\n"
            "     0  ld.param.u32 %r1, [n]\n"
            "     1  setp.eq.s32 %p1, %r1, 0\n"
            "     2  @%p1 bra $L_end   [to 4, reconverges at 4]\n"
            "  B1 -> B2   post-dominator B2\n"
            "     3  st.shared.u32 [s], %r1\n"
            "  B2 -> exit   post-dominator exit\n"
            "        convergence barriers: wait 0\n"
            "     4  ret\n"
            "kernel later\n"
            "  cannot be executed: m.ptx:18:27: 'stacksave.u64 %rd1' is not executable yet: stacksave\n");
}

// if (a || b) X; else Y; then a loop that waits for another thread.
TEST(Describe, ListsConvergenceBarriersAndLoopsThatPoll) {
  const Module m = parse(module_of(".visible .entry k(.param .u64 p)\n{\n"
                                   ".reg .pred %p<4>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                                   "@%p1 bra X;\n@!%p2 bra Y;\nX: mov.u32 %r1, %r2;\nbra J;\n"
                                   "Y: mov.u32 %r2, %r1;\nJ: ld.param.u64 %rd1, [p];\n"
                                   "L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p3, %r1, 0;\n"
                                   "@%p3 bra L;\nret;\n}\n"),
                         "m.ptx");
  const std::string text = describe(m);
  EXPECT_NE(text.find("  B0 -> B1 B2   post-dominator B4\n"
                      "        convergence barriers: join 0 (merge), join 1\n"
                      "     0  @%p1 bra X   [to 2, reconverges at 5]\n"
                      "  B1 -> B2 B3   post-dominator B4\n"
                      "     1  @!%p2 bra Y   [to 4, reconverges at 5]\n"
                      "  B2 -> B4   post-dominator B4\n"
                      "        convergence barriers: wait 0 (merge)\n"
                      "     2  mov.u32 %r1, %r2\n"
                      "     3  bra J   [to 5, reconverges at 5]\n"
                      "  B3 -> B4   post-dominator B4\n"
                      "        convergence barriers: leave 0 (merge)\n"
                      "     4  mov.u32 %r2, %r1\n"
                      "  B4 -> B5   post-dominator B5\n"
                      "        convergence barriers: wait 1, join 2\n"
                      "     5  ld.param.u64 %rd1, [p]\n"
                      "  B5 -> B6 B5   post-dominator B6\n"
                      "     6  ld.volatile.global.u32 %r1, [%rd1]\n"
                      "     7  setp.eq.u32 %p3, %r1, 0\n"
                      "     8  @%p3 bra L   [to 6, reconverges at 9]   [next turn of a loop that polls]\n"
                      "  B6 -> exit   post-dominator exit\n"
                      "        convergence barriers: wait 2\n"
                      "     9  ret\n"),
            std::string::npos)
      << text;
}

TEST(Describe, EmptyKernel) {
  const std::string text = describe(parse(module_of(".entry k() { }\n"), "m.ptx"));
  EXPECT_NE(text.find("1 instructions, 1 blocks"), std::string::npos) << text;
}

TEST(Describe, WhatHelpsAgainstNewerInstructionsStandsOnce) {
  std::string kernels;
  for (const char* name : {"a", "b", "c"})
    kernels += std::string(".visible .entry ") + name + "() { wgmma.fence.sync.aligned; ret; }\n";
  std::vector<std::string> refused;
  const std::string text = describe(parse(module_of(kernels), "m.ptx"), {}, &refused);
  const std::string what = "' is not executable yet: wgmma";
  const std::string hint = "; code for older GPUs may not need it: nvcc -arch=compute_75";
  const std::string where = "wgmma.fence.sync.aligned";
  EXPECT_EQ(text,
            "m.ptx: PTX 7.0 for sm_70\n"
            "kernel a\n  cannot be executed: m.ptx:4:23: '" +
                where + what + hint +
                "\n"
                "kernel b\n  cannot be executed: m.ptx:5:23: '" +
                where + what +
                "\n"
                "kernel c\n  cannot be executed: m.ptx:6:23: '" +
                where + what + "\n");
  EXPECT_EQ(refused, (std::vector<std::string>{"kernel a: m.ptx:4:23: '" + where + what + hint,
                                               "kernel b: m.ptx:5:23: '" + where + what,
                                               "kernel c: m.ptx:6:23: '" + where + what}));
}

}  // namespace
}  // namespace weft::ptx::testing::describe_test
