// Launches without timing: what they count, what stops them, and control flow in which threads of one warp
// wait for each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "weft/common/error.h"

namespace weft::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

runtime::DeviceOptions functional() {
  runtime::DeviceOptions options;
  options.functional.all = true;
  return options;
}

std::string fault_of(GpuBench& bench, const dispatch::Dim3& block, const runtime::Arguments& arguments) {
  try {
    bench.run({1, 1, 1}, block, arguments);
  } catch (const SimulatedFault& fault) {
    return fault.what();
  }
  return "";
}

const std::string kPrologue = "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n";

TEST(Functional, CountsInstructionsOfWarpsAndThreads) {
  GpuBench bench({"sm.count=1"}, "gtx480", functional());
  // Two prologue instructions, and six; thread 0 jumps over one of them.
  bench.load(kernel_text(".param .u64 out", kPrologue + R"(
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra JOIN;
  add.u32 %r1, %r1, 100;
JOIN:
  mul.wide.u32 %rd2, %r1, 0;
  add.u64 %rd1, %rd1, %rd2;
  exit;)"));
  const auto out = bench.zeros(4);
  EXPECT_EQ(bench.run({3, 1, 1}, {40, 1, 1}, runtime::Arguments().add(out)), 0u) << "there are no cycles";
  const auto& counters = bench.device.functional_counters();
  EXPECT_EQ(counters.launches, 1u);
  EXPECT_EQ(counters.blocks, 3u);
  // Per block 2 warps of 8 instructions; one thread of the 40 skips one.
  EXPECT_EQ(counters.warp_instructions, 3u * 2 * 8);
  EXPECT_EQ(counters.thread_instructions, 3u * (40 * 8 - 1));
  EXPECT_EQ(counters.executed_thread_instructions, 3u * (40 * 8 - 1 - 39)) << "39 threads do not jump";
  EXPECT_DOUBLE_EQ(static_cast<double>(counters.thread_instructions) / (32.0 * 48),
                   (40 * 8 - 1) / (32.0 * 2 * 8));
}

TEST(Functional, LetsThreadsOfOneWarpTakeTurnsAtALock) {
  // Under a reconvergence stack this hangs: who has the lock waits for those who want it.
  GpuBench bench({"sm.count=1"}, "gtx480", functional());
  bench.load(kernel_text(".param .u64 out", kPrologue + R"(
AGAIN:
  atom.global.cas.b32 %r2, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra AGAIN;
  ld.volatile.global.u32 %r3, [%rd1+4];
  add.u32 %r3, %r3, 1;
  st.volatile.global.u32 [%rd1+4], %r3;
  atom.global.exch.b32 %r2, [%rd1], 0;
  ret;)"));
  const auto out = bench.zeros(8);
  bench.run({3, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out));
  EXPECT_EQ(bench.read(out, 2), (std::vector<std::uint32_t>{0, 192}));
}

TEST(Functional, LetsPathsOfOneWarpMeetAtABarrierOfTwoPlaces) {
  // Odd and even threads wait at the same barrier in different branches.
  GpuBench bench({"sm.count=1"}, "gtx480", functional());
  bench.load(kernel_text(".param .u64 out", R"(
  .shared .align 4 .b8 box[256];
)" + kPrologue + R"(
  mov.u32 %r10, box; shl.b32 %r11, %r1, 2; add.u32 %r10, %r10, %r11;
  xor.b32 %r12, %r11, 4; mov.u32 %r13, box; add.u32 %r12, %r12, %r13;
  st.shared.u32 [%r10], %r1;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra EVEN;
  barrier.sync 3;
  ld.shared.u32 %r3, [%r12];
  bra JOIN;
EVEN:
  barrier.sync 3;
  ld.shared.u32 %r3, [%r12];
JOIN:
  cvt.u64.u32 %rd2, %r11;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r3;
  ret;)"));
  const auto out = bench.zeros(256);
  bench.run({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out));
  std::vector<std::uint32_t> neighbour(64);
  for (std::uint32_t i = 0; i < 64; ++i) neighbour[i] = i ^ 1;
  EXPECT_EQ(bench.read(out, 64), neighbour);
}

TEST(Functional, GathersThreadsOfOneWarpFromTwoBranches) {
  // The lower half comes from one branch, the upper half from the other: the sum over the warp is 496 in
  // both.
  GpuBench bench({"sm.count=1"}, "gtx480", functional());
  bench.load(kernel_text(".param .u64 out", kPrologue + R"(
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  redux.sync.add.u32 %r3, %r1, 0xffffffff;
  bra JOIN;
LOW:
  redux.sync.add.u32 %r3, %r1, 0xffffffff;
JOIN:
  bar.red.popc.u32 %r4, 0, %p1;
  mad.lo.u32 %r3, %r4, 1000, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r3;
  ret;)"));
  const auto out = bench.zeros(128);
  bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out));
  EXPECT_EQ(bench.read(out, 32), std::vector<std::uint32_t>(32, 16 * 1000 + 496));
}

TEST(Functional, SaysWhoWaitsForABarrierThatNeverOpens) {
  GpuBench bench({"sm.count=1"}, "gtx480", functional());
  bench.load(kernel_text(".param .u64 out", kPrologue + "bar.sync 2, 96;\nret;"));
  const auto out = bench.zeros(4);
  EXPECT_THAT(
      fault_of(bench, {64, 1, 1}, runtime::Arguments().add(out)),
      AllOf(HasSubstr("kernel k hangs: 64 threads of block (0,0,0)"), HasSubstr("warp 1"),
            HasSubstr("at barrier 2"), HasSubstr("64 of 96 threads have arrived"), HasSubstr("k.ptx:")));
}

TEST(Functional, FaultsInTheWordsOfATimedRun) {
  const auto fault = [](bool all) {
    return apart([all] {
      runtime::DeviceOptions options;
      options.functional.all = all;
      GpuBench bench({"sm.count=1"}, "gtx480", options);
      bench.load(kernel_text(".param .u64 out", kPrologue + R"(
  setp.eq.u32 %p1, %r1, 37;
  @%p1 add.u64 %rd1, %rd1, 1;
  st.global.u32 [%rd1], %r1;
  ret;)"));
      const auto out = bench.zeros(256);
      return fault_of(bench, {64, 1, 1}, runtime::Arguments().add(out));
    });
  };
  const std::string functional_fault = fault(true);
  EXPECT_EQ(functional_fault, fault(false));
  EXPECT_THAT(functional_fault, AllOf(HasSubstr("thread (37,0,0) of block (0,0,0), pc 4"),
                                      HasSubstr("is not aligned to 4 bytes")));
}

TEST(Functional, StopsWhenInterrupted) {
  runtime::DeviceOptions options = functional();
  int polls = 0;
  options.interrupted = [&] { return ++polls == 50; };
  GpuBench bench({"sm.count=1"}, "gtx480", options);
  bench.load(kernel_text(".param .u64 out", "FOREVER: bra FOREVER;"));
  const auto out = bench.zeros(4);
  EXPECT_THROW(bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out)), runtime::LaunchAbandoned);
}

// A loop that nothing can end is found, whatever it does to memory on the way.
TEST(Functional, NoticesALoopThatNothingCanEnd) {
  const auto fault = [](const std::string& body, const dispatch::Dim3& block, const dispatch::Dim3& grid) {
    return apart([&]() -> std::string {
      GpuBench bench({"sm.count=1"}, "gtx480", functional());
      bench.load(kernel_text(".param .u64 out", kPrologue + body));
      try {
        bench.run(grid, block, runtime::Arguments().add(bench.zeros(64)));
      } catch (const runtime::LaunchAbandoned&) {
        return "abandoned";
      } catch (const SimulatedFault& hang) {
        return hang.what();
      }
      return "none";
    });
  };
  // Thread 5 waits for a word that nobody writes, the others for thread 5.
  EXPECT_THAT(fault(R"(
  setp.ne.u32 %p1, %r1, 5;
  @%p1 bra JOIN;
WAIT:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
JOIN:
  bar.sync 0;
  ret;)",
                    {64, 1, 1}, {1, 1, 1}),
              AllOf(HasSubstr("kernel k hangs: livelock: 1 thread only"),
                    HasSubstr("thread (5,0,0) of block (0,0,0) at pc "), HasSubstr("(k.ptx:"),
                    HasSubstr("while 63 of the block wait at barriers")));
  // A lock that its owner took along: atomics that leave what is there.
  EXPECT_THAT(fault(R"(
AGAIN:
  atom.global.exch.b32 %r2, [%rd1], 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra AGAIN;
  ret;)",
                    {64, 1, 1}, {1, 1, 1}),
              AllOf(HasSubstr("livelock: 63 threads"), HasSubstr("no other thread of the block is live")));
  // Two warps that throw a ball to each other: memory changes for ever, and comes back.
  EXPECT_THAT(fault(R"(
  shr.u32 %r3, %r1, 5;
AGAIN:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.ne.u32 %p1, %r2, %r3;
  @%p1 bra AGAIN;
  xor.b32 %r4, %r3, 1;
  st.volatile.global.u32 [%rd1], %r4;
  bra AGAIN;)",
                    {64, 1, 1}, {1, 1, 1}),
              HasSubstr("livelock: 64 threads"));
  // Through generic addresses and local memory.
  EXPECT_THAT(fault(R"(
  .local .align 4 .b8 mine[4];
  mov.u64 %rd2, mine; cvta.local.u64 %rd2, %rd2;
AGAIN:
  ld.u32 %r2, [%rd2];
  xor.b32 %r2, %r2, 1;
  st.u32 [%rd2], %r2;
  bra AGAIN;)",
                    {1, 1, 1}, {1, 1, 1}),
              HasSubstr("livelock: 1 thread only"));
  // Barriers that open again and again.
  EXPECT_THAT(fault("AGAIN: bar.sync 0; bra AGAIN;", {64, 1, 1}, {1, 1, 1}), HasSubstr("livelock: "));
  // A block that waits for the next one.
  EXPECT_THAT(
      fault(R"(
  mov.u32 %r3, %ctaid.x;
  setp.eq.u32 %p1, %r3, 1;
  @%p1 st.volatile.global.u32 [%rd1], %r3;
WAIT:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  ret;)",
            {1, 1, 1}, {2, 1, 1}),
      HasSubstr("without timing, blocks run one after the other, so a block cannot wait for a later block"));
}

// At the end of every turn the registers are the same, and yet there is progress.
TEST(Functional, TakesNoLongLoopForOneWithoutEnd) {
  const auto run = [](const std::string& body) {
    return apart([&] {
      GpuBench bench({"sm.count=1"}, "gtx480", functional());
      bench.load(kernel_text(".param .u64 out", kPrologue + body));
      const auto out = bench.zeros(8);
      bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(out));
      return std::to_string(bench.read(out, 1)[0]);
    });
  };
  // In memory only.
  EXPECT_EQ(run(R"(
AGAIN:
  red.global.add.u32 [%rd1], 1;
  ld.global.u32 %r2, [%rd1];
  setp.lt.u32 %p1, %r2, 3000000;
  mov.u32 %r2, 0;
  @%p1 bra AGAIN;
  ret;)"),
            "3000000");
  // In the clock only.
  EXPECT_EQ(run(R"(
AGAIN:
  mov.u64 %rd2, %clock64;
  setp.lt.u64 %p1, %rd2, 6000000;
  mov.u64 %rd2, 0;
  @%p1 bra AGAIN;
  st.global.u32 [%rd1], 1;
  ret;)"),
            "1");
}

TEST(Functional, StopsAtTheLimitOfInstructions) {
  runtime::DeviceOptions options = functional();
  options.max_instructions = 100'000;
  GpuBench bench({"sm.count=1"}, "gtx480", options);
  bench.load(kernel_text(".param .u64 out", kPrologue + "FOREVER: add.u32 %r2, %r2, 1; bra FOREVER;"));
  const auto out = bench.zeros(4);
  try {
    bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out));
    ADD_FAILURE() << "it ended";
  } catch (const runtime::LaunchAbandoned& limit) {
    EXPECT_THAT(limit.what(), HasSubstr("thread instructions, the limit of --max-instructions"));
  }
  const std::uint64_t executed = bench.device.functional_counters().thread_instructions;
  EXPECT_GE(executed, 100'000u);
  EXPECT_LE(executed, 100'000u + 2 * 32) << "a turn of one branch";
}

TEST(Functional, KeepsLocalMemoryOfThreadsApart) {
  GpuBench bench({"sm.count=1"}, "gtx480", functional());
  bench.load(kernel_text(".param .u64 out", R"(
  .local .align 8 .b8 mine[24];
)" + kPrologue + R"(
  mov.u64 %rd3, mine;
  cvta.local.u64 %rd4, %rd3;
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
  cvt.u64.u32 %rd5, %r4;
  st.local.u64 [%rd3+8], %rd5;
  bar.sync 0;
  ld.u64 %rd6, [%rd4+8];
  mul.wide.u32 %rd7, %r4, 8;
  add.u64 %rd1, %rd1, %rd7;
  st.global.u64 [%rd1], %rd6;
  ret;)"));
  const auto out = bench.zeros(3 * 50 * 8);
  bench.run({3, 1, 1}, {50, 1, 1}, runtime::Arguments().add(out));
  const auto words = bench.read(out, 300);
  for (std::uint32_t i = 0; i < 150; ++i) EXPECT_EQ(words[2 * i], i);
}

}  // namespace
}  // namespace weft::test
