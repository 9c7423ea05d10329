// cp.async: what arrives in shared memory, and how long the waits take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test::copy_async_test {
namespace {

using runtime::Arguments;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

// %rd4 = in + 16 x thread, %r4 = shared + 16 x thread, %rd2 = out + 16 x thread
const std::string kParameters = ".param .u64 in, .param .u64 out";
const std::string kStart = R"(
  .shared .align 16 .b8 box[1024];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 16;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r3, box;
  shl.b32 %r4, %r2, 4;
  add.u32 %r4, %r4, %r3;
  mov.u32 %r5, -1;
  st.shared.v4.u32 [%r4], {%r5, %r5, %r5, %r5};
)";
const std::string kEnd = R"(
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];
  st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};
  ret;
)";

class CopyAsync : public ::testing::TestWithParam<std::string> {
 protected:
  Words run(const std::string& body, unsigned threads = 40) {
    GpuBench bench({"sm.count=1", "watchdog.cycles=20000", "sm.dependence=" + GetParam()});
    Words in(std::size_t{threads} * 4);
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<std::uint32_t>(0x01010101 * (i % 200 + 1));
    const auto from = bench.words(in), out = bench.zeros(in.size() * 4);
    bench.load(kernel_text(kParameters, kStart + body + kEnd));
    bench.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(from).add(out));
    return bench.read(out, in.size());
  }
  static std::uint32_t source(std::size_t word) {
    return static_cast<std::uint32_t>(0x01010101 * (word % 200 + 1));
  }
};

TEST_P(CopyAsync, SixteenBytes) {
  const Words out = run("  cp.async.cg.shared.global [%r4], [%rd4], 16;\n  cp.async.wait_all;\n");
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], source(i)) << i;
}

// Eight bytes to an offset, of which the thread reads as many as its number modulo 9.
TEST_P(CopyAsync, ZerosFollowWhatIsRead) {
  const Words out = run(R"(
  rem.u32 %r6, %r2, 9;
  cp.async.ca.shared.global.L2::128B [%r4+8], [%rd4+8], 8, %r6;
  cp.async.commit_group;
  cp.async.wait_group 0;
)");
  for (std::size_t t = 0; t < 40; ++t) {
    const std::size_t bytes = t % 9;
    EXPECT_EQ(out[4 * t], ~0u) << t;
    EXPECT_EQ(out[4 * t + 1], ~0u) << t;
    for (std::size_t w = 0; w < 2; ++w) {
      const std::size_t part = std::min<std::size_t>(4, bytes < 4 * w ? 0 : bytes - 4 * w);
      const std::uint32_t mask = part == 4 ? ~0u : (1u << (8 * part)) - 1;
      EXPECT_EQ(out[4 * t + 2 + w], source(4 * t + 2 + w) & mask) << t;
    }
  }
}

// A source that is ignored may lie anywhere.
TEST_P(CopyAsync, IgnoredSourceIsNotRead) {
  const Words out = run(R"(
  and.b32 %r6, %r2, 1;
  setp.ne.u32 %p1, %r6, 0;
  selp.b64 %rd5, 64, %rd4, %p1;
  cp.async.ca.shared.global [%r4], [%rd5], 4, %p1;
  cp.async.wait_all;
)");
  for (std::size_t t = 0; t < 40; ++t) {
    EXPECT_EQ(out[4 * t], t % 2 == 1 ? 0 : source(4 * t)) << t;
    EXPECT_EQ(out[4 * t + 1], ~0u) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Dependence, CopyAsync, ::testing::Values("scoreboard", "barrel"),
                         [](const auto& info) { return info.param; });

// Without an L1 every copy goes to the L2. Waiting for each costs at least that latency; waiting for the
// fourth last, a part of it; not waiting, less than the L2's latency alone.
TEST(CopyAsyncTime, WaitsForTheGroupsThatItNames) {
  GpuBench bench({"sm.count=1", "sm.l1d.enabled=false", "clocks.core_mhz=700", "clocks.interconnect_mhz=700",
                  "clocks.memory_mhz=700"});
  const auto in = bench.zeros(4096);
  const std::string prologue = "  .shared .align 16 .b8 box[64];\n  mov.u32 %r10, box;\n";
  const auto cycles = [&](const std::string& wait) {
    return bench.cycles_per_copy(
        "cp.async.cg.shared.global [%r10], [%rd3], 16;\n  cp.async.commit_group;\n" + wait, {1, 1, 1}, in,
        prologue);
  };
  const auto latency = static_cast<double>(bench.device.gpu().config().l2.bank.latency);
  const double each = cycles("cp.async.wait_group 0;"), fourth = cycles("cp.async.wait_group 3;"),
               none = cycles("");
  EXPECT_GT(each, latency);
  EXPECT_LT(each, 2 * latency);
  EXPECT_LT(fourth, each / 2);
  EXPECT_GT(fourth, each / 8);
  EXPECT_LT(none, fourth);
}

TEST(CopyAsyncFault, SourceOutsideOfAnyAllocation) {
  GpuBench bench({"sm.count=1"});
  const auto out = bench.zeros(1024);
  bench.load(kernel_text(kParameters, kStart + "  cp.async.ca.shared.global [%r4], [%rd4], 4;\n" + kEnd));
  try {
    bench.run({1, 1, 1}, {32, 1, 1}, Arguments().add(std::uint64_t{64}).add(out));
    FAIL() << "no fault";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("thread (0,0,0)"), HasSubstr("copy of 4 bytes at 0x40")));
  }
}

}  // namespace
}  // namespace weft::test::copy_async_test
