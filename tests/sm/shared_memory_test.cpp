// Bank conflicts of shared memory: the cycles that an access takes, and what the statistics say of it.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "weft/common/error.h"

namespace weft::test::shared_memory_test {
namespace {

// The first `degree` threads of a warp read different words of bank 0, the others one word of a bank each.
// The data are zeros, and the next address depends on them.
std::string prologue(unsigned degree) {
  return R"(
  .shared .align 128 .b8 box[4096];
  shl.b32 %r5, %r2, 7;
  shl.b32 %r6, %r2, 2;
  setp.lt.u32 %p1, %r2, )" +
         std::to_string(degree) + R"(;
  selp.b32 %r4, %r5, %r6, %p1;
  mov.u32 %r7, box;
  add.u32 %r4, %r4, %r7;
)";
}
const std::string kLoad = "ld.shared.u32 %r8, [%r4]; add.u32 %r4, %r4, %r8;";

TEST(SharedMemory, AConflictOfDegreeNTakesNMinusOneCyclesMore) {
  GpuBench bench({"sm.count=1"});
  const double plain = bench.cycles_per_copy(kLoad, {32, 1, 1}, 0, prologue(1));
  const auto& sm = bench.device.gpu().config().sm;
  // Issue, one cycle to the banks, their latency; then the addition.
  EXPECT_DOUBLE_EQ(plain, static_cast<double>(1 + sm.shared_memory.latency + sm.pipeline_depth +
                                              sm.latency_of(ptx::Latency::kIntAdd).cycles - 1));
  for (const unsigned degree : {2u, 3u, 8u, 17u, 31u, 32u}) {
    EXPECT_DOUBLE_EQ(bench.cycles_per_copy(kLoad, {32, 1, 1}, 0, prologue(degree)), plain + degree - 1)
        << degree;
  }
}

// Elements of 64 and 128 bits: further passes over the banks, or a latency that has them in it.
class WideElements : public ::testing::TestWithParam<bool> {};

TEST_P(WideElements, TakePassesOrALatencyOfTheirOwn) {
  struct Row {
    unsigned words, stride;  // of each thread, in words
    double passes;
  };
  // A pass serves half of the warp, or a quarter. Twice the stride: two words in each bank.
  const std::vector<Row> rows = {{1, 1, 1}, {2, 2, 2}, {2, 4, 4}, {4, 4, 4}, {4, 8, 8}};
  const bool own = GetParam();
  GpuBench bench({"sm.count=1", "sm.shared_memory.latency=23",
                  "sm.shared_memory.latency_64=" + std::to_string(own ? 27 : 0),
                  "sm.shared_memory.latency_128=" + std::to_string(own ? 31 : 0)});
  std::vector<double> cycles;
  for (const Row& row : rows) {
    const std::string list = row.words == 1   ? ".u32 %r8"
                             : row.words == 2 ? ".v2.u32 {%r8, %r9}"
                                              : ".v4.u32 {%r8, %r9, %r10, %r11}";
    cycles.push_back(bench.cycles_per_copy(
        "ld.shared" + list + ", [%r4]; add.u32 %r4, %r4, %r8;", {32, 1, 1}, 0,
        ".shared .align 128 .b8 box[4096];\n mul.lo.u32 %r4, %r2, " + std::to_string(4 * row.stride) +
            ";\n mov.u32 %r7, box;\n add.u32 %r4, %r4, %r7;"));
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double more = own ? (rows[i].words == 2 ? 27 + rows[i].passes - 2 : 31 + rows[i].passes - 4) - 23
                            : rows[i].passes - 1;
    EXPECT_DOUBLE_EQ(cycles[i], cycles[0] + more) << i << " " << own;
  }
}
INSTANTIATE_TEST_SUITE_P(Latencies, WideElements, ::testing::Bool());

TEST(SharedMemory, NoLatencyOfWideElementsWithTemporalLanes) {
  try {
    GpuBench bench({"datapath.kind=temporal", "sm.shared_memory.latency_64=20"}, "stsimt");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("latency of wide elements of 20; allowed: 0"), std::string::npos)
        << error.what();
  }
}

TEST(SharedMemory, EveryDegreeIsCounted) {
  GpuBench bench({"sm.count=1"});
  const auto out = bench.zeros(4096);
  std::vector<double> expected(33, 0);
  for (unsigned degree = 1; degree <= 32; ++degree) {
    bench.load(looped_kernel(kLoad, prologue(degree)));
    bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out).add(degree).add(std::uint64_t{0}));
    expected[degree] = degree;  // `degree` turns
  }
  const auto statistics = bench.statistics().at("sm0").at("memory");
  EXPECT_EQ(statistics.at("shared_conflict_degree").get<std::vector<double>>(), expected);
  double extra = 0;
  for (unsigned degree = 1; degree <= 32; ++degree) extra += degree * (degree - 1);
  EXPECT_EQ(statistics.at("shared_conflict_cycles").get<double>(), extra);
}

// Stride s in words: gcd(s, 32) threads share a bank; stride 0 is a broadcast.
TEST(SharedMemory, StridesAndBroadcast) {
  GpuBench bench({"sm.count=1"});
  const auto out = bench.zeros(4096);
  std::vector<double> expected(33, 0);
  for (unsigned stride = 0; stride <= 32; ++stride) {
    bench.load(looped_kernel("ld.shared.u32 %r8, [%r4];",
                             ".shared .align 128 .b8 box[4224];\n mul.lo.u32 %r4, %r2, " +
                                 std::to_string(4 * stride) +
                                 ";\n mov.u32 %r7, box;\n add.u32 %r4, %r4, %r7;"));
    bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out).add(1u).add(std::uint64_t{0}));
    unsigned degree = stride == 0 ? 1 : 32;
    while (stride != 0 && (stride % degree != 0 || 32 % degree != 0)) --degree;
    ++expected[degree];
  }
  EXPECT_EQ(bench.statistics().at("sm0").at("memory").at("shared_conflict_degree").get<std::vector<double>>(),
            expected);
}

// On a lane of one place threads come one after the other: whatever their banks, the last word is read 32
// cycles after issue. The addition takes a lane's only register for 32 cycles. With a register per unit the
// next load may start when the addition has the result of the first place, after 12.
TEST(SharedMemory, ThreadsThatComeInTurnDoNotConflict) {
  for (const auto& [instruction_register, after] :
       {std::pair<const char*, double>{"lane", 32}, std::pair<const char*, double>{"unit", 12}}) {
    const std::string cycles = apart([&, which = instruction_register] {
      GpuBench bench(
          {"sm.count=1", "datapath.kind=temporal", std::string("datapath.instruction_register=") + which},
          "stsimt");
      std::string text;
      for (const unsigned degree : {1u, 8u, 32u})
        text += std::to_string(bench.cycles_per_copy(kLoad, {32, 1, 1}, 0, prologue(degree))) + " ";
      EXPECT_EQ(bench.sum_over_sms({"memory", "shared_conflict_cycles"}), 0);
      return text;
    });
    const double latency = 26;  // of shared memory
    const std::string each = std::to_string(32 + latency + after) + " ";
    EXPECT_EQ(cycles, each + each + each) << instruction_register;
  }
}

}  // namespace
}  // namespace weft::test::shared_memory_test
