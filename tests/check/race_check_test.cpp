// Each kind of race seeded once, and its corrected form, which is silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_bench.h"

namespace weft::test::race_check_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const check::Options kRace{false, true, 16};

class RaceCheck : public ::testing::TestWithParam<Mode> {
 protected:
  // %r1 = thread, %rd1 = 4096 bytes of zeros, %r3 = the thread's word in shared memory, %r4 = that of the
  // thread `neighbour` further (of 128).
  static std::string kernel(const std::string& body, unsigned neighbour = 1) {
    return kernel_text(".param .u64 data", R"(
  .shared .align 4 .b8 box[512];
  ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;
  shl.b32 %r2, %r1, 2; mov.u32 %r3, box; add.u32 %r3, %r3, %r2;
  add.u32 %r4, %r1, )" + std::to_string(neighbour) +
                                               R"(; and.b32 %r4, %r4, 127; shl.b32 %r4, %r4, 2;
  mov.u32 %r5, box; add.u32 %r4, %r4, %r5;
)" + body + "\nret;");
  }
  static std::string run(const std::string& body, unsigned neighbour = 1, unsigned blocks = 1,
                         unsigned threads = 128) {
    return reports_of(GetParam(), kRace, [&](GpuBench& bench) {
      bench.load(kernel(body, neighbour));
      const auto data = bench.zeros(4096);
      for (int launch = 0; launch < 2; ++launch) {  // launches are ordered
        bench.run({blocks, 1, 1}, {threads, 1, 1}, runtime::Arguments().add(data));
      }
    });
  }
  static std::string at(const std::string& body, ptx::Opcode op, unsigned n = 0) {
    return ", pc " + std::to_string(pc_of(kernel(body), op, n)) + ", k.ptx:";
  }
};

TEST_P(RaceCheck, ReadAfterWriteWithoutABarrier) {
  const std::string body = "st.shared.u32 [%r3], %r1;\nld.shared.u32 %r6, [%r4];";
  EXPECT_THAT(run(body),
              AllOf(StartsWith("race | "), HasSubstr(at(body, ptx::Opcode::kLd, 1)),
                    HasSubstr("load of 4 bytes, race with the store of thread ("),
                    HasSubstr(at(body, ptx::Opcode::kSt)), HasSubstr("in the block's shared memory")));
  EXPECT_EQ(run("st.shared.u32 [%r3], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r4];"), "");
}

TEST_P(RaceCheck, WriteAfterReadWithoutABarrier) {
  const std::string before = "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r4];\n";
  const std::string after = "st.shared.u32 [%r3], %r6;";
  EXPECT_THAT(run(before + after), AllOf(StartsWith("race | "), HasSubstr("race with the ")));
  EXPECT_EQ(run(before + "bar.sync 0;\n" + after), "");
}

// Even if the reader that is known is the writer itself: there was another one.
TEST_P(RaceCheck, WriteAfterTheReadsOfSeveral) {
  const std::string all_read = "ld.shared.u32 %r6, [box];\nsetp.eq.u32 %p1, %r1, 127;\n";
  EXPECT_THAT(
      run(all_read + "@%p1 st.shared.u32 [box], %r1;"),
      AllOf(StartsWith("race | 2 | k: thread (127,0,0)"), HasSubstr("race with the load of thread ")));
  EXPECT_EQ(run(all_read + "bar.sync 0;\n@%p1 st.shared.u32 [box], %r1;"), "");
}

TEST_P(RaceCheck, WritesOfDifferentAndOfEqualValues) {
  EXPECT_THAT(
      run("st.global.u32 [%rd1+16], %r1;"),
      AllOf(StartsWith("race | "), HasSubstr("they write different values"),
            HasSubstr("byte 16 of allocation 1 (4096 bytes"), HasSubstr("race with the store of thread")));
  EXPECT_THAT(run("mov.u32 %r6, 5;\nst.global.u32 [%rd1+16], %r6;"),
              AllOf(StartsWith("race | "), HasSubstr("both write the same value")));
  EXPECT_EQ(run("red.global.add.u32 [%rd1+16], %r1;"), "") << "atomics";
  EXPECT_EQ(run("st.volatile.global.u32 [%rd1+16], %r1;"), "") << "morally strong";
  EXPECT_EQ(run("mov.u32 %r6, %reserved_smem_offset_1;\nst.shared.u32 [%r6], %r1;"), "") << "the system's";
  EXPECT_EQ(run("st.global.u32 [%rd2], %r1;\nld.global.u32 %r6, [%rd2];\nst.global.u32 [%rd2], %r6;"), "")
      << "a thread is ordered with itself";
}

TEST_P(RaceCheck, AtomicAgainstPlain) {
  const std::string add = "red.shared.add.u32 [box], %r1;\n", read = "ld.shared.u32 %r6, [box];";
  EXPECT_THAT(run(add + read), AllOf(StartsWith("race | "), HasSubstr("race with the atomic of thread")));
  EXPECT_EQ(run(add + "bar.sync 0;\n" + read), "");
}

TEST_P(RaceCheck, BlocksAreNeverOrdered) {
  EXPECT_THAT(run("mov.u32 %r6, %ctaid.x;\nbar.sync 0;\nst.global.u32 [%rd1], %r6;", 1, 3, 1),
              AllOf(StartsWith("race | "), HasSubstr("of block ("), HasSubstr("different values")));
  EXPECT_EQ(run("mov.u32 %r6, %ctaid.x;\nmul.wide.u32 %rd3, %r6, 4;\nadd.u64 %rd3, %rd1, %rd3;\n"
                "st.global.u32 [%rd3], %r6;",
                1, 3, 1),
            "");
  EXPECT_EQ(run("st.shared.u32 [box], %r1;", 1, 40, 1), "") << "each block has its own shared memory";
}

TEST_P(RaceCheck, BarriersOfAPartOrderThatPart) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
  const std::string pairs = R"(
  st.shared.u32 [%r3], %r1;
  shr.u32 %r7, %r1, 6; add.u32 %r7, %r7, 1;
  setp.eq.u32 %p1, %r7, 1;
  @%p1 bar.sync 1, 64;
  @!%p1 bar.sync 2, 64;
)";
  // Reads within the pair: thread ^ 32; across: thread ^ 64.
  const std::string within =
      "xor.b32 %r8, %r2, 128; mov.u32 %r9, box; add.u32 %r8, %r8, %r9; ld.shared.u32 %r6, [%r8];";
  const std::string across =
      "xor.b32 %r8, %r2, 256; mov.u32 %r9, box; add.u32 %r8, %r8, %r9; ld.shared.u32 %r6, [%r8];";
  EXPECT_EQ(run(pairs + within), "");
  EXPECT_THAT(run(pairs + across), StartsWith("race | "));
  EXPECT_EQ(run(pairs + "bar.sync 0;\n" + across), "");
}

TEST_P(RaceCheck, AWarpBarrierOrdersItsWarp) {
  // The neighbour is thread ^ 1, of the same warp.
  const std::string read =
      "xor.b32 %r8, %r2, 4; mov.u32 %r9, box; add.u32 %r8, %r8, %r9; ld.shared.u32 %r6, [%r8];";
  EXPECT_THAT(run("st.shared.u32 [%r3], %r1;\n" + read), StartsWith("race | "));
  EXPECT_EQ(run("st.shared.u32 [%r3], %r1;\nbar.warp.sync 0xffffffff;\n" + read), "");
}

TEST_P(RaceCheck, ProducersThatOnlyArrive) {
  // Warps 0 and 1 write and go on; warps 2 and 3 wait and read.
  const auto text = [](const std::string& after_arrival) {
    return R"(
  setp.lt.u32 %p1, %r1, 64;
  @%p1 bra PRODUCE;
  bar.sync 1, 128;
  ld.shared.u32 %r6, [%r4];
  bra DONE;
PRODUCE:
  st.shared.u32 [%r3], %r1;
  bar.arrive 1, 128;
)" + after_arrival +
           "DONE:";
  };
  EXPECT_EQ(run(text(""), 64), "");
  EXPECT_THAT(run(text("st.shared.u32 [%r3], %r2;\n"), 64), StartsWith("race | "));
}

TEST_P(RaceCheck, BytesOfOneWordAreDifferentMemory) {
  const std::string own = "cvt.u64.u32 %rd3, %r1; add.u64 %rd3, %rd1, %rd3; st.global.u8 [%rd3], %r1;\n";
  EXPECT_EQ(run(own), "");
  // Byte 3 belongs to thread 3, and thread 0 writes a word over it.
  EXPECT_THAT(run(own + "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], %r1;"),
              AllOf(StartsWith("race | "), HasSubstr("race with the store of thread (")));
  EXPECT_EQ(run(own + "bar.sync 0; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], %r1;"), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, RaceCheck, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::test::race_check_test
