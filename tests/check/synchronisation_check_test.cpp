// Correct programs whose threads hand data over without a barrier between them, each by every pair of ways to
// release and to acquire: --check race is silent. Without one of the two, or with a fence that is too narrow
// or too early, it reports them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_bench.h"

namespace weft::test::synchronisation_check_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const check::Options kRace{false, true, 16};

class Synchronisation : public ::testing::TestWithParam<Mode> {
 protected:
  // %rd1 = 4096 bytes of zeros, %r1 = thread, %r2 = block, %rd2 = %rd1 + 4 x block.
  static std::string run(const std::string& body, unsigned blocks, unsigned threads) {
    return reports_of(GetParam(), kRace, [&](GpuBench& bench) {
      bench.load(kernel_text(".param .u64 data", R"(
  .shared .align 4 .b8 box[64];
  ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
)" + body + "\nret;"));
      bench.run({blocks, 1, 1}, {threads, 1, 1}, runtime::Arguments().add(bench.zeros(4096)));
    });
  }
};

// One writes data and a flag behind it, the other waits for the flag and reads the data.
struct Way {
  const char* text;
  bool right;
};
// FLAG: the address, SPACE: .global or .shared.
const Way kReleases[] = {
    {"membar.gl; st.volatile.SPACE.u32 [FLAG], 1;", true},
    {"membar.sys; atom.SPACE.exch.b32 %r9, [FLAG], 1;", true},
    {"fence.acq_rel.gpu; st.relaxed.gpu.SPACE.u32 [FLAG], 1;", true},
    {"fence.sc.gpu; red.SPACE.add.u32 [FLAG], 1;", true},
    {"st.release.gpu.SPACE.u32 [FLAG], 1;", true},
    {"atom.acq_rel.gpu.SPACE.cas.b32 %r9, [FLAG], 0, 1;", true},
    {"red.release.gpu.SPACE.or.b32 [FLAG], 1;", true},
    {"st.volatile.SPACE.u32 [FLAG], 1;", false},
    {"atom.SPACE.exch.b32 %r9, [FLAG], 1;", false},
    {"st.relaxed.gpu.SPACE.u32 [FLAG], 1;", false},
};
const Way kAcquires[] = {
    {"W: ld.volatile.SPACE.u32 %r9, [FLAG]; setp.eq.u32 %p2, %r9, 0; @%p2 bra W; membar.gl;", true},
    {"W: atom.SPACE.or.b32 %r9, [FLAG], 0; setp.eq.u32 %p2, %r9, 0; @%p2 bra W; fence.acq_rel.gpu;", true},
    {"W: ld.acquire.gpu.SPACE.u32 %r9, [FLAG]; setp.eq.u32 %p2, %r9, 0; @%p2 bra W;", true},
    {"W: atom.acquire.gpu.SPACE.add.u32 %r9, [FLAG], 0; setp.eq.u32 %p2, %r9, 0; @%p2 bra W;", true},
    {"W: ld.relaxed.gpu.SPACE.u32 %r9, [FLAG]; setp.eq.u32 %p2, %r9, 0; @%p2 bra W; bar.sync 0;", true},
    {"W: ld.volatile.SPACE.u32 %r9, [FLAG]; setp.eq.u32 %p2, %r9, 0; @%p2 bra W;", false},
    {"W: atom.SPACE.or.b32 %r9, [FLAG], 0; setp.eq.u32 %p2, %r9, 0; @%p2 bra W;", false},
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
  return text;
}

std::string in_global_memory(const std::string& text) {
  return replaced(replaced(text, "SPACE", "global"), "FLAG", "%rd1");
}

std::string message(const std::string& release, const std::string& acquire) {
  return "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra READ;\nst.global.u32 [%rd1+128], 7;\n" + release +
         "\nbra DONE;\nREAD:\n" + acquire + "\nld.global.u32 %r8, [%rd1+128];\nDONE:";
}

TEST_P(Synchronisation, AMessageFromBlockToBlock) {
  for (const Way& release : kReleases) {
    for (const Way& acquire : kAcquires) {
      // Each wrong one with one right partner is enough.
      if (!release.right && &acquire != &kAcquires[0]) continue;
      if (!acquire.right && &release != &kReleases[0]) continue;
      const std::string found = run(in_global_memory(message(release.text, acquire.text)), 2, 1);
      const std::string name = std::string(release.text) + " | " + acquire.text;
      if (release.right && acquire.right) {
        EXPECT_EQ(found, "") << name;
      } else {
        EXPECT_THAT(found, StartsWith("race | ")) << name;
      }
    }
  }
}

// Two threads of different warps of a block, by shared memory.
TEST_P(Synchronisation, AMessageWithinABlock) {
  const auto text = [](const std::string& fence) {
    return "setp.ge.u32 %p1, %r1, 32;\nsetp.ne.u32 %p3, %r1, 0; @%p3 bra OTHERS;\nst.shared.u32 [box+8], "
           "7;\n" +
           fence +
           "st.volatile.shared.u32 [box], 1;\nbra DONE;\nOTHERS: setp.ne.u32 %p3, %r1, 32; @%p3 bra DONE;\n"
           "W: ld.volatile.shared.u32 %r9, [box]; setp.eq.u32 %p2, %r9, 0; @%p2 bra W;\n" +
           fence + "ld.shared.u32 %r8, [box+8];\nDONE:";
  };
  const std::string clear = "st.volatile.shared.u32 [box], 0; bar.sync 0;\n";
  EXPECT_EQ(run(clear + text("membar.cta;\n"), 1, 64), "");
  EXPECT_EQ(run(clear + text("membar.gl;\n"), 1, 64), "");
  EXPECT_THAT(run(clear + text(""), 1, 64), StartsWith("race | "));
}

TEST_P(Synchronisation, AFenceForTheBlockIsNoneForOthers) {
  const std::string wide = "membar.gl; st.volatile.global.u32 [%rd1], 1;";
  const std::string wait = "W: ld.volatile.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra W; ";
  EXPECT_THAT(run(message("membar.cta; st.volatile.global.u32 [%rd1], 1;", wait + "membar.gl;"), 2, 1),
              StartsWith("race | "));
  EXPECT_THAT(run(message(wide, wait + "fence.acq_rel.cta;"), 2, 1), StartsWith("race | "));
}

TEST_P(Synchronisation, AFenceBeforeTheDataOrdersNothing) {
  const std::string body =
      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra READ;\nmembar.gl; st.global.u32 [%rd1+128], 7;\n"
      "st.volatile.global.u32 [%rd1], 1;\nbra DONE;\nREAD:\n"
      "W: ld.volatile.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra W; membar.gl;\n"
      "ld.global.u32 %r8, [%rd1+128];\nDONE:";
  EXPECT_THAT(run(body, 2, 1), StartsWith("race | "));
}

// The threadFenceReduction of CUDA's samples: every block leaves a sum, the last one adds them.
std::string last_block(const std::string& fence) {
  return R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MEET;
  st.global.u32 [%rd2+128], %r2;
)" + fence +
         R"(
  sub.u32 %r4, %r3, 1;
  atom.global.inc.u32 %r5, [%rd1], %r3;
  setp.eq.u32 %p2, %r5, %r4;
  selp.u32 %r6, 1, 0, %p2;
  st.shared.u32 [box], %r6;
MEET:
  bar.sync 0;
  ld.shared.u32 %r6, [box];
  setp.eq.u32 %p2, %r6, 0;
  @%p2 bra DONE;
  rem.u32 %r7, %r1, %r3;
  mul.wide.u32 %rd3, %r7, 4; add.u64 %rd3, %rd1, %rd3;
  ld.global.u32 %r8, [%rd3+128];
DONE:)";
}

TEST_P(Synchronisation, TheLastBlockBehindAFence) {
  EXPECT_EQ(run(last_block("membar.gl;"), 5, 64), "");
  EXPECT_THAT(run(last_block(""), 5, 64), StartsWith("race | "));
  EXPECT_THAT(run(last_block("membar.cta;"), 5, 64), StartsWith("race | "));
}

// The thread that has the lock adds to a plain word.
std::string spin_lock(const std::string& behind_lock, const std::string& before_unlock) {
  return "W: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra W;\n" + behind_lock +
         "\nld.global.u32 %r6, [%rd1+128]; add.u32 %r6, %r6, 1; st.global.u32 [%rd1+128], %r6;\n" +
         before_unlock + "\natom.global.exch.b32 %r7, [%rd1], 0;";
}

TEST_P(Synchronisation, ASpinLock) {
  EXPECT_EQ(run(spin_lock("membar.gl;", "membar.gl;"), 6, 1), "");
  EXPECT_THAT(run(spin_lock("membar.gl;", ""), 6, 1), StartsWith("race | "));
  EXPECT_THAT(run(spin_lock("", "membar.gl;"), 6, 1), StartsWith("race | "));
}

INSTANTIATE_TEST_SUITE_P(Modes, Synchronisation, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(info.param.name); });

// All blocks wait for each other, which they can only in time; then each reads what its neighbour wrote, and
// a third one what it knows of by the second.
TEST(SynchronisationOfTheGrid, BlocksThatWaitForAllOthers) {
  const auto barrier =
      [](const std::string& fence) {
        return R"(
  setp.ne.u32 %p3, %r1, 0;
  @!%p3 st.global.u32 [%rd2+128], %r2;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MEET;
)" + fence + R"(
  red.global.add.u32 [%rd1], 1;
W:
  ld.volatile.global.u32 %r5, [%rd1];
  setp.lt.u32 %p2, %r5, %r3;
  @%p2 bra W;
)" + fence + R"(
MEET:
  bar.sync 0;
  ld.global.u32 %r6, [%rd1+128]; ld.global.u32 %r6, [%rd1+132]; ld.global.u32 %r6, [%rd1+136];)";
      };
  for (const char* dependence : {"scoreboard", "barrel"}) {
    const auto found = [&](const std::string& fence) {
      return reports_of({"timed", false, dependence}, kRace, [&](GpuBench& bench) {
        bench.load(kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
)" + barrier(fence) + "\nret;"));
        bench.run({3, 1, 1}, {64, 1, 1}, runtime::Arguments().add(bench.zeros(4096)));
      });
    };
    EXPECT_EQ(found("membar.gl;"), "") << dependence;
    EXPECT_THAT(found(""), HasSubstr("race | ")) << dependence;
  }
}

}  // namespace
}  // namespace weft::test::synchronisation_check_test
