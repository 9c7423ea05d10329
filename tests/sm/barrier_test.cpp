// Variants of block barriers, with numbers of threads worked out by hand, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"

namespace weft::test::barrier_test {
namespace {

using runtime::Arguments;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

const std::string kOut = ".param .u64 out";
const std::string kStart = R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
)";
const std::string kEnd = "  st.global.u32 [%rd2], %r10;\n  ret;\n";

Words run_on(GpuBench& bench, const std::string& body, unsigned threads) {
  const auto out = bench.zeros(std::uint64_t{threads} * 4);
  bench.load(kernel_text(kOut, kStart + body + kEnd));
  bench.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(out));
  return bench.read(out, threads);
}

class BarrierVariant : public ::testing::TestWithParam<unsigned> {
 protected:
  Words run(const std::string& body, unsigned threads) {
    GpuBench bench(
        {"sm.count=1", "watchdog.cycles=20000", "warp_formation.warp_size=" + std::to_string(GetParam())});
    return run_on(bench, body, threads);
  }
};

// 70 threads, of which those divisible by 7 have exited: 60 vote; 20 of those numbers are divisible by 3.
TEST_P(BarrierVariant, ReductionsCountTheThreadsThatAreLeft) {
  const Words out = run(R"(
  rem.u32 %r4, %r2, 7;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 exit;
  rem.u32 %r5, %r2, 3;
  setp.eq.u32 %p2, %r5, 0;
  bar.red.popc.u32 %r6, 0, %p2;
  bar.red.and.pred %p3, 0, %p2;
  setp.lt.u32 %p4, %r2, 70;
  barrier.cta.red.and.pred %p5, 1, %p4;
  barrier.red.or.aligned.pred %p6, 2, %p2;
  bar.red.or.pred %p7, 2, !%p4;
  selp.u32 %r7, 100, 0, %p3;
  selp.u32 %r8, 1000, 0, %p5;
  selp.u32 %r9, 10000, 0, %p6;
  selp.u32 %r11, 100000, 0, %p7;
  add.u32 %r10, %r6, %r7; add.u32 %r10, %r10, %r8; add.u32 %r10, %r10, %r9; add.u32 %r10, %r10, %r11;
)",
                        70);
  for (std::uint32_t t = 0; t < 70; ++t) ASSERT_EQ(out[t], t % 7 == 0 ? 0u : 11020u) << t;
}

// Threads 0 to 31 meet at barrier 3, the others at barrier 5: the number stands in a register. Of the second
// barrier's 32 threads the block has 8.
TEST_P(BarrierVariant, NumberInARegisterAndAWarpThatIsNotFull) {
  const Words out = run(R"(
  .shared .align 4 .u32 sums[2];
  mov.u32 %r20, sums;
  setp.lt.u32 %p1, %r2, 32;
  selp.u32 %r4, 3, 5, %p1;
  selp.u32 %r5, 0, 4, %p1;
  add.u32 %r20, %r20, %r5;
  red.shared.add.u32 [%r20], 1;
  mov.u32 %r6, 32;
  bar.sync %r4, %r6;
  ld.shared.u32 %r10, [%r20];
)",
                        40);
  for (std::uint32_t t = 0; t < 40; ++t) ASSERT_EQ(out[t], t < 32 ? 32u : 8u) << t;
}

// bar.red for 32 of 64 threads, twice at one barrier.
TEST_P(BarrierVariant, ReductionForANumberOfThreads) {
  if (GetParam() > 32) GTEST_SKIP() << "the warps of 32 would be halves of one";
  const Words out = run(R"(
  setp.lt.u32 %p1, %r2, 32;
  and.b32 %r4, %r2, 3;
  setp.eq.u32 %p2, %r4, 0;
  mov.u32 %r10, 0;
  @!%p1 bra DONE;
  bar.red.popc.u32 %r10, 9, 32, %p2;
  bar.red.popc.u32 %r11, 9, 32, !%p2;
  mad.lo.u32 %r10, %r11, 100, %r10;
DONE:
)",
                        64);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], t < 32 ? 2408u : 0u) << t;
}

INSTANTIATE_TEST_SUITE_P(WarpSizes, BarrierVariant, ::testing::Values(8u, 32u, 64u));

std::string message_of(const std::string& body, unsigned threads = 128) {
  GpuBench bench({"sm.count=1", "watchdog.cycles=5000"});
  try {
    run_on(bench, body, threads);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

// What is legal for warps of their own must not hang where warps are regrouped or share a stack.
class BarrierAcrossPaths : public ::testing::TestWithParam<std::string> {
 protected:
  Words run(const std::string& body) {
    GpuBench bench({"sm.count=1", "watchdog.cycles=20000", "warp_formation.dwr.lat_timeout=4000",
                    "warp_formation.scheme=" + GetParam()});
    return run_on(bench, R"(
  .shared .align 4 .u32 box[32];
  and.b32 %r4, %r2, 31;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, box;
  add.u32 %r5, %r5, %r4;
  setp.ge.u32 %p1, %r2, 32;
)" + body,
                  64);
  }
};

// The second warp fills the box three times, the first adds up what it finds: 10 t, 10 t + 1, 10 t + 2 for
// the partner t.
TEST_P(BarrierAcrossPaths, AProducerAndAConsumer) {
  const Words out = run(R"(
  mov.u32 %r10, 0;
  mov.u32 %r6, 0;
  mul.lo.u32 %r7, %r2, 10;
  @%p1 bra PRODUCE;
CONSUME:
  bar.sync 1, 64;
  ld.shared.u32 %r8, [%r5];
  add.u32 %r10, %r10, %r8;
  bar.arrive 2, 64;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 3;
  @%p2 bra CONSUME;
  bra JOIN;
PRODUCE:
  add.u32 %r8, %r7, %r6;
  st.shared.u32 [%r5], %r8;
  bar.arrive 1, 64;
  bar.sync 2, 64;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 3;
  @%p2 bra PRODUCE;
JOIN:
)");
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], t < 32 ? 30 * (t + 32) + 3 : 0) << t;
}

// The first warp waits within its arm for the second, which has passed it by.
TEST_P(BarrierAcrossPaths, FromAnArmToBehindIt) {
  const Words out = run(R"(
  mov.u32 %r10, %r2;
  @%p1 bra JOIN;
  bar.sync 1, 64;
  ld.shared.u32 %r10, [%r5];
JOIN:
  @!%p1 bra END;
  mul.lo.u32 %r8, %r2, 3;
  st.shared.u32 [%r5], %r8;
  bar.sync 1, 64;
END:
)");
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], t < 32 ? 3 * (t + 32) : t) << t;
}

INSTANTIATE_TEST_SUITE_P(Schemes, BarrierAcrossPaths, ::testing::ValuesIn(scheme_classes::all()),
                         scheme_classes::name_of);

TEST(BarrierFault, NumberAndCount) {
  EXPECT_THAT(apart([] { return message_of("  add.u32 %r4, %r2, 10;\n  bar.sync %r4;\n", 32); }),
              AllOf(HasSubstr("thread (6,0,0) of block (0,0,0)"), HasSubstr("k.ptx:12:"),
                    HasSubstr("found barrier 16; allowed: 0 to 15")));
  EXPECT_THAT(apart([] { return message_of("  mov.u32 %r4, 48;\n  bar.sync 1, %r4;\n"); }),
              AllOf(HasSubstr("thread ("), HasSubstr("48 threads"), HasSubstr("multiples of 32")));
  EXPECT_THAT(apart([] { return message_of("  bar.sync 16;\n"); }),
              AllOf(HasSubstr("k.ptx:11:12"), HasSubstr("found barrier 16")));
  EXPECT_THAT(apart([] { return message_of("  bar.arrive 1, 40;\n"); }),
              AllOf(HasSubstr("k.ptx:11:17"), HasSubstr("40 threads")));
}

TEST(BarrierFault, ArrivalsThatDoNotFit) {
  EXPECT_THAT(apart([] { return message_of("  bar.arrive 1, 96;\n  bar.sync 1, 96;\n", 64); }),
              HasSubstr("arrives at barrier 1 again before the others have come"));
  EXPECT_THAT(apart([] {
                return message_of(R"(
  setp.lt.u32 %p1, %r2, 64;
  selp.u32 %r4, 96, 128, %p1;
  bar.sync 1, %r4;
)");
              }),
              AnyOf(HasSubstr("barrier 1 waits for 96 threads already, found 128"),
                    HasSubstr("barrier 1 waits for 128 threads already, found 96")));
  EXPECT_THAT(apart([] {
                return message_of(R"(
  setp.lt.u32 %p1, %r2, 64;
  @%p1 bra RED;
  bar.sync 1;
  bra JOIN;
RED:
  bar.red.popc.u32 %r4, 1, %p1;
JOIN:
)");
              }),
              HasSubstr("another kind"));
}

// Warps of 64 bring two of PTX's warps at once to a barrier for one.
TEST(BarrierFault, MoreThanExpected) {
  GpuBench bench({"sm.count=1", "watchdog.cycles=5000", "warp_formation.warp_size=64"});
  try {
    run_on(bench, "  bar.sync 1, 32;\n", 64);
    FAIL() << "no fault";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("found 64 threads at barrier 1, which is for 32"),
                                    HasSubstr("thread (32,0,0)")));
  }
}

}  // namespace
}  // namespace weft::test::barrier_test
