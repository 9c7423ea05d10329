// Warp-level primitives on the whole machine: who meets whom when threads have parted, exited, or run in
// warps of another size than PTX's 32; what is refused, and what faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"
#include "weft/common/error.h"

namespace weft::test::warp_primitive_test {
namespace {

using runtime::Arguments;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

const std::string kOut = ".param .u64 out";
// %rd2 = out + 4 x thread, %r2 = thread of the block, %r3 = its lane
const std::string kStart = R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %laneid;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
)";
const std::string kEnd = "  st.global.u32 [%rd2], %r10;\n  ret;\n";

struct Machine {
  std::string dependence;
  unsigned warp_size;
};

void PrintTo(const Machine& m, std::ostream* out) {
  *out << m.dependence << ", warps of " << m.warp_size;
}

std::vector<std::string> overrides(const Machine& m) {
  return {"sm.count=1", "watchdog.cycles=20000", "warp_formation.dwr.lat_timeout=4000",
          "sm.dependence=" + m.dependence, "warp_formation.warp_size=" + std::to_string(m.warp_size)};
}

Words run_on(GpuBench& bench, const std::string& body, unsigned threads) {
  const auto out = bench.zeros(std::uint64_t{threads} * 4);
  bench.load(kernel_text(kOut, body));
  bench.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(out));
  return bench.read(out, threads);
}

class WarpPrimitive : public ::testing::TestWithParam<Machine> {
 protected:
  Words run(const std::string& body, unsigned threads) {
    GpuBench bench(overrides(GetParam()));
    return run_on(bench, kStart + body + kEnd, threads);
  }
};

// The arms of a branch execute the same shuffle at two places, into different registers.
TEST_P(WarpPrimitive, ArmsOfABranchMeet) {
  const Words out = run(R"(
  and.b32 %r4, %r2, 1;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra ODD;
  mul.lo.u32 %r5, %r2, 10;
  shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;
  add.u32 %r10, %r6, 1000;
  bra JOIN;
ODD:
  mul.lo.u32 %r7, %r2, 100;
  shfl.sync.bfly.b32 %r8, %r7, 1, 31, -1;
  add.u32 %r10, %r8, 2000;
JOIN:
)",
                        96);
  for (std::uint32_t t = 0; t < 96; ++t)
    ASSERT_EQ(out[t], t % 2 == 0 ? (t + 1) * 100 + 1000 : (t - 1) * 10 + 2000) << t;
}

// Three levels of branches; the innermost paths of both sides wait for each other in pairs, so that the stack
// has to turn to a path far below its top.
TEST_P(WarpPrimitive, PathsDeepInBranchesMeet) {
  const Words out = run(R"(
  mov.u32 %r10, 7;
  and.b32 %r4, %r2, 1; setp.ne.u32 %p1, %r4, 0;
  and.b32 %r5, %r2, 2; setp.ne.u32 %p2, %r5, 0;
  @%p1 bra ODD;
  @%p2 bra TWO;
  bar.warp.sync 0x33333333;
  redux.sync.add.u32 %r10, %r2, 0x33333333;
  bra EVENS;
TWO:
  redux.sync.add.u32 %r10, %r2, 0xcccccccc;
EVENS:
  add.u32 %r10, %r10, 1;
  bra JOIN;
ODD:
  @%p2 bra THREE;
  bar.warp.sync 0x33333333;
  redux.sync.add.u32 %r10, %r2, 0x33333333;
  bra ODDS;
THREE:
  redux.sync.add.u32 %r10, %r2, 0xcccccccc;
ODDS:
  add.u32 %r10, %r10, 2;
JOIN:
)",
                        64);
  // Sums over the 16 threads of a warp whose bit 1 is clear: 8 x (0 + 1 + 28 ... ) and set.
  for (std::uint32_t t = 0; t < 64; ++t) {
    std::uint32_t sum = 0;
    for (std::uint32_t k = t / 32 * 32; k < t / 32 * 32 + 32; ++k) sum += (k & 2) == (t & 2) ? k : 0;
    ASSERT_EQ(out[t], sum + 1 + t % 2) << t;
  }
}

// A mask may name threads that have exited, and threads that the block does not have.
TEST_P(WarpPrimitive, ThreadsThatAreGoneAreNotWaitedFor) {
  const Words out = run(R"(
  and.b32 %r4, %r2, 3;
  setp.eq.u32 %p1, %r4, 1;
  @%p1 exit;
  redux.sync.add.u32 %r10, %r2, -1;
)",
                        45);
  std::uint32_t sums[2] = {};
  for (std::uint32_t t = 0; t < 45; ++t) sums[t / 32] += t % 4 == 1 ? 0 : t;
  EXPECT_EQ(sums[0], 496u - (1 + 5 + 9 + 13 + 17 + 21 + 25 + 29));
  for (std::uint32_t t = 0; t < 45; ++t) ASSERT_EQ(out[t], t % 4 == 1 ? 0 : sums[t / 32]) << t;
}

// `if (i >= n) return;`: under a stack these threads stand at the `ret` and never run it before the others.
TEST_P(WarpPrimitive, ThreadsThatWaitAtTheirExitAreNotWaitedFor) {
  const Words out = run(R"(
  setp.ge.u32 %p1, %r3, 20;
  @%p1 bra END;
  redux.sync.add.u32 %r10, %r3, -1;
  st.global.u32 [%rd2], %r10;
END:
  ret;
)",
                        64);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], t % 32 < 20 ? 190u : 0u) << t;
}

// Groups of equal keys, each with a mask of its own in one instruction (labeled_partition of cooperative
// groups).
TEST_P(WarpPrimitive, ManyMasksInOneInstruction) {
  const Words out = run(R"(
  mul.lo.u32 %r4, %r2, 7;
  rem.u32 %r4, %r4, 5;
  match.any.sync.b32 %r5, %r4, -1;
  redux.sync.add.u32 %r6, %r2, %r5;
  elect.sync %r7|%p1, %r5;
  selp.u32 %r8, 1000000, 0, %p1;
  add.u32 %r10, %r6, %r8;
)",
                        50);
  for (std::uint32_t t = 0; t < 50; ++t) {
    std::uint32_t sum = 0, first = t;
    for (std::uint32_t k = t / 32 * 32; k < std::min(50u, t / 32 * 32 + 32); ++k) {
      if (k * 7 % 5 != t * 7 % 5) continue;
      sum += k;
      first = std::min(first, k);
    }
    ASSERT_EQ(out[t], sum + (first == t ? 1000000 : 0)) << t;
  }
}

// The guard and the mask name the same threads.
TEST_P(WarpPrimitive, UnderAGuard) {
  const Words out = run(R"(
  setp.lt.u32 %p1, %r3, 11;
  vote.sync.ballot.b32 %r4, %p1, -1;
  mov.u32 %r10, 5;
  @%p1 redux.sync.max.u32 %r10, %r2, %r4;
)",
                        64);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], t % 32 < 11 ? t / 32 * 32 + 10 : 5) << t;
}

// Two instructions of one path, of which each thread executes one: the threads that the first leaves out have
// to come to the second. They are together again at the block barrier behind.
TEST_P(WarpPrimitive, GuardsThatExcludeEachOther) {
  const Words out = run(R"(
  and.b32 %r4, %r2, 3;
  setp.eq.u32 %p1, %r4, 1;
  mov.u32 %r5, 0; mov.u32 %r6, 0;
  @%p1 bar.warp.sync -1;
  @!%p1 bar.warp.sync -1;
  @%p1 redux.sync.add.u32 %r5, %r2, -1;
  @!%p1 redux.sync.add.u32 %r6, %r2, -1;
  bar.sync 0;
  shl.b32 %r7, %r6, 16;
  add.u32 %r10, %r5, %r7;
)",
                        96);
  for (std::uint32_t t = 0; t < 96; ++t) {
    const std::uint32_t sum = 496 + t / 32 * 32 * 32;  // all 32 threads of the warp
    ASSERT_EQ(out[t], t % 4 == 1 ? sum : sum << 16) << t;
  }
}

// In a loop, and with operands of both in one reduction.
TEST_P(WarpPrimitive, GuardsThatExcludeEachOtherInALoop) {
  const Words out = run(R"(
  mov.u32 %r5, 0; mov.u32 %r10, 0;
TURN:
  and.b32 %r4, %r3, 1;
  setp.eq.u32 %p1, %r4, %r5;
  @%p1 redux.sync.add.u32 %r6, %r5, -1;
  @!%p1 redux.sync.add.u32 %r6, %r3, -1;
  add.u32 %r10, %r10, %r6;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 3;
  @%p2 bra TURN;
)",
                        64);
  // Turn 0: even lanes give 0, odd ones themselves (256). Turn 1: odd ones give 1 (16), even ones themselves
  // (240). Turn 2: all give themselves (496).
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(out[t], 256u + 256 + 496) << t;
}

// Lanes in lock step through a loop whose trips differ: the members of each turn are voted for in the one
// before.
TEST_P(WarpPrimitive, LoopsWithFewerMembersInEachTurn) {
  const Words out = run(R"(
  mov.u32 %r4, %r3; mov.b32 %r5, -1; mov.u32 %r10, 0;
TURN:
  redux.sync.add.u32 %r6, 1, %r5;
  add.u32 %r10, %r10, %r6;
  setp.ne.u32 %p1, %r4, 0;
  vote.sync.ballot.b32 %r5, %p1, %r5;
  sub.u32 %r4, %r4, 1;
  @%p1 bra TURN;
)",
                        32);
  // Lane t makes t + 1 turns, in turn k are 32 - k lanes.
  for (std::uint32_t t = 0; t < 32; ++t) ASSERT_EQ(out[t], 32 * (t + 1) - t * (t + 1) / 2) << t;
}

INSTANTIATE_TEST_SUITE_P(Machines, WarpPrimitive,
                         ::testing::Values(Machine{"scoreboard", 8}, Machine{"scoreboard", 32},
                                           Machine{"scoreboard", 64}, Machine{"barrel", 8},
                                           Machine{"barrel", 16}, Machine{"barrel", 32}),
                         [](const auto& info) {
                           return info.param.dependence + std::to_string(info.param.warp_size);
                         });

// gtx480: 6 stages and a latency of 24; a dependent instruction issues 6 + 24 - 1 cycles later.
TEST(WarpPrimitiveTime, IsThatOfItsLatencyClass) {
  GpuBench bench({"sm.count=1"});
  const auto& sm = bench.device.gpu().config().sm;
  const auto cycles = sm.latency_of(ptx::Latency::kWarp).cycles;
  EXPECT_EQ(cycles, 24u);
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy("shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;", {32, 1, 1}),
                   static_cast<double>(sm.pipeline_depth + cycles - 1));
  EXPECT_EQ(bench.sum_over_sms("warp_gatherings"), 0) << "all members were in each issue";
}

TEST(WarpPrimitiveTime, WarpsOfEightGather) {
  GpuBench bench(overrides({"scoreboard", 8}));
  run_on(bench, kStart + "  redux.sync.add.u32 %r10, %r2, -1;\n" + kEnd, 64);
  EXPECT_EQ(bench.sum_over_sms("warp_gatherings"), 8);
}

std::string message_of(const std::string& body, const std::vector<std::string>& more = {},
                       unsigned threads = 32) {
  std::vector<std::string> all = {"sm.count=1", "watchdog.cycles=5000",
                                  "warp_formation.dwr.lat_timeout=1000"};
  all.insert(all.end(), more.begin(), more.end());
  GpuBench bench(all);
  try {
    run_on(bench, kStart + body + kEnd, threads);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

TEST(WarpPrimitiveFault, ThreadOutsideOfItsOwnMask) {
  EXPECT_THAT(
      message_of("  shfl.sync.idx.b32 %r10, %r2, 0, 31, 0xffffff7f;\n"),
      AllOf(HasSubstr("thread (7,0,0) of block (0,0,0)"), HasSubstr("k.ptx:12:"), HasSubstr("0xffffff7f")));
}

TEST(WarpPrimitiveFault, DifferentOperationsWithOneMask) {
  EXPECT_THAT(message_of(R"(
  setp.lt.u32 %p1, %r3, 16;
  @%p1 bra LOW;
  redux.sync.add.u32 %r10, %r2, -1;
  bra JOIN;
LOW:
  redux.sync.max.u32 %r10, %r2, -1;
JOIN:
)"),
              AllOf(HasSubstr("a different operation"), HasSubstr("thread (")));
}

TEST(WarpPrimitiveFault, MasksThatDisagree) {
  EXPECT_THAT(message_of(R"(
  setp.lt.u32 %p1, %r3, 16;
  @%p1 bra LOW;
  bar.warp.sync 0xffffffff;
  bra JOIN;
LOW:
  bar.warp.sync 0x0001ffff;
JOIN:
)"),
              AllOf(HasSubstr("with another mask"), HasSubstr("0xffffffff"), HasSubstr("0x1ffff")));
}

// The threads of the upper half wait at a barrier for two warps of which there is one.
TEST(WarpPrimitiveFault, MembersThatNeverComeAreNamedByTheWatchdog) {
  EXPECT_THAT(message_of(R"(
  setp.lt.u32 %p1, %r3, 16;
  @!%p1 bra HIGH;
  bar.warp.sync -1;
  bra JOIN;
HIGH:
  bar.sync 1, 64;
  bar.warp.sync -1;
JOIN:
  mov.u32 %r10, 1;
)",
                         {"warp_formation.reconvergence=plain"}),
              AllOf(HasSubstr("waits at barrier 1"), HasSubstr("0xffff waits at bar.warp.sync"),
                    HasSubstr("0xffff0000 is missing")));
}

// The mask-less forms act among the threads of a warp that execute together.
TEST(MaskLess, ActOnTheThreadsThatRunTogether) {
  for (const unsigned size : {32u, 64u}) {
    const std::string text = apart([size] {
      GpuBench bench(overrides({"scoreboard", size}));
      const Words out = run_on(bench, kStart + R"(
  setp.lt.u32 %p1, %r3, 12;
  @!%p1 bra HIGH;
  setp.ne.u32 %p2, %r3, 3;
  vote.ballot.b32 %r4, %p2;
  shfl.down.b32 %r5, %r2, 11, 31;
  add.u32 %r10, %r4, %r5;
  bra JOIN;
HIGH:
  vote.ballot.b32 %r10, %p1;
JOIN:
)" + kEnd,
                               64);
      for (std::uint32_t t = 0; t < 64; ++t) {
        const std::uint32_t from = t % 32 == 0 ? t + 11 : 0;  // lanes above 11 are not there
        if (out[t] != (t % 32 < 12 ? 0xff7 + from : 0)) return "thread " + std::to_string(t);
      }
      return std::string("right");
    });
    EXPECT_EQ(text, "right") << size;
  }
}

TEST(MaskLess, RefusedWhereWarpsAreNarrower) {
  EXPECT_THAT(
      message_of("  vote.any.pred %p1, %p1;\n", {"warp_formation.warp_size=16"}),
      AllOf(HasSubstr("k.ptx:12:"), HasSubstr("found warps of 16 threads"), HasSubstr("multiples of 32")));
}

class Regrouping : public ::testing::TestWithParam<std::string> {};

// Implicit synchronisation of a warp means nothing where its threads are regrouped.
TEST_P(Regrouping, RefusesTheMaskLessForms) {
  // Sub-warps of dwr are as wide as the SIMD group, and keep warps if that is 32.
  const std::vector<std::string> machine = {"warp_formation.scheme=" + GetParam(), "sm.simd_width=16"};
  for (const char* body : {"  vote.any.pred %p1, %p1;\n", "  shfl.down.b32 %r5, %r2, 16, 31;\n"}) {
    const std::string message = apart([&] { return message_of(body, machine); });
    if (!scheme_classes::regroups_threads(GetParam())) {
      EXPECT_EQ(message, "nothing");
      continue;
    }
    EXPECT_THAT(message, AllOf(HasSubstr("k.ptx:12:"),
                               HasSubstr("found scheme '" + GetParam() + "', which regroups threads"),
                               HasSubstr("the .sync form")));
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Regrouping, ::testing::ValuesIn(scheme_classes::all()),
                         scheme_classes::name_of);

}  // namespace
}  // namespace weft::test::warp_primitive_test
