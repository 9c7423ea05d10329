// Instructions with one value for a warp: what they leave in registers and memory, who waits for them, and
// what they take, on lanes that work together, on lanes that run warps in time, and on a unit of their own.
// The tests mark instructions themselves, some of them wrongly: then one value must be seen as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "execute/kernel.h"
#include "platform/gpu_bench.h"
#include "platform/marked_kernel.h"
#include "weft/common/error.h"

namespace weft::test::scalar_test {
namespace {

using runtime::Arguments;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

struct Machine {
  const char* name;
  const char* config;
  std::vector<std::string> overrides;
};

const Machine kMachines[] = {
    {"spatial", "gtx480", {}},
    {"barrel", "gtx480", {"sm.dependence=barrel"}},
    {"separate", "gtx480", {"scalarization.unit=separate"}},
    {"temporal", "stsimt", {"datapath.kind=temporal"}},
    {"temporal4", "stsimt", {"datapath.kind=temporal", "datapath.lane_width=4"}},
    {"temporal_by_warp", "stsimt", {"datapath.kind=temporal", "datapath.forwarding=warp"}},
};

void PrintTo(const Machine& machine, std::ostream* out) {
  *out << machine.name;
}

std::vector<std::string> overrides_of(const Machine& machine, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"sm.count=1", "scalarization.kind=full", "watchdog.cycles=20000"};
  all.insert(all.end(), machine.overrides.begin(), machine.overrides.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class Scalar : public ::testing::TestWithParam<Machine> {
 protected:
  static GpuBench bench(const std::vector<std::string>& more = {}) {
    return GpuBench(overrides_of(GetParam(), more), GetParam().config);
  }
  // %rd2 = out + 4 x thread, %r2 = thread. What the body leaves in %r10, by thread.
  static Words run(GpuBench& on, const std::string& body, unsigned threads, bool marks = true) {
    const auto out = on.zeros(std::uint64_t{threads} * 4);
    MarkedKernel kernel(on, kernel_text(".param .u64 out", R"(
      ld.param.u64 %rd1, [out];
      mov.u32 %r2, %tid.x;
      mul.wide.u32 %rd2, %r2, 4;
      add.u64 %rd2, %rd1, %rd2;
)" + body + R"(
      st.global.u32 [%rd2], %r10;
      ret;)"),
                        marks);
    kernel.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(out));
    return on.read(out, threads);
  }
};

TEST_P(Scalar, ARegisterHasOneValuePerWarp) {
  GpuBench on = bench();
  const std::string body = "mov.u32 %r10, %tid.x; //scalar\n";
  const Words once = run(on, body, 64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(once[i], i / 32 * 32) << i;
}

TEST_P(Scalar, SoHasOneOfSixtyFourBits) {
  GpuBench on = bench();
  const Words once = run(on,
                         "cvt.u64.u32 %rd5, %r2; //scalar\nshl.b64 %rd5, %rd5, 32;\nshr.u64 %rd5, %rd5, 32;\n"
                         "cvt.u32.u64 %r10, %rd5;\n",
                         64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(once[i], i / 32 * 32) << i;
}

TEST_P(Scalar, SoHasAPredicate) {
  GpuBench on = bench();
  const Words once = run(on, "setp.lt.u32 %p1, %r2, 40; //scalar\nselp.u32 %r10, 1, 0, %p1;\n", 64);
  EXPECT_THAT(once, Each(1u)) << "threads 0 and 32 say so";
}

TEST_P(Scalar, AWarpOfSixteenHasItsOwn) {
  GpuBench on = bench({"warp_formation.warp_size=16"});
  const Words once = run(on, "mov.u32 %r10, %tid.x; //scalar\n", 64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(once[i], i / 16 * 16) << i;
}

TEST_P(Scalar, IsWrittenForThreadsThatDoNotTakePart) {
  GpuBench on = bench();
  const Words once = run(on, R"(
      mov.u32 %r10, 5; //scalar
      setp.lt.u32 %p1, %r2, 8;
      @%p1 bra JOIN;
      mov.u32 %r10, 7; //scalar
JOIN:
)",
                         64);
  EXPECT_THAT(once, Each(7u));
}

// The first thread whose guard holds has the say.
TEST_P(Scalar, HasTheValueOfTheFirstThatExecutes) {
  GpuBench on = bench();
  const Words once =
      run(on, "setp.ge.u32 %p1, %r2, 11;\nmov.u32 %r10, 99;\n@%p1 mov.u32 %r10, %tid.x; //scalar\n", 32);
  EXPECT_THAT(once, Each(11u));
}

TEST_P(Scalar, LoadsAndStoresAreOneThreadsAccess) {
  const std::string body = R"(
      st.global.u32 [%rd1], 17; //scalar
      ld.global.u32 %r10, [%rd1]; //scalar
)";
  for (const bool marks : {true, false}) {
    const std::string accesses = apart([&] {
      GpuBench on = bench();
      EXPECT_THAT(run(on, body, 32, marks), Each(17u));
      return std::to_string(on.sum_over_sms({"memory", "memory_thread_instructions"}));
    });
    EXPECT_EQ(std::stod(accesses), (marks ? 2 : 64) + 32);
  }
}

// A load by threads of one way: those of the other, whose turn comes before the data do, have to wait when
// they read what it writes.
TEST_P(Scalar, PendingBitsAreTheWarps) {
  const std::string body = R"(
      mov.u32 %r10, 0;
      mov.u32 %r11, 0;
      setp.lt.u32 %p1, %r2, 16;
      @%p1 bra OTHER;
      ld.global.u32 %r11, [%rd1]; //scalar
      bra JOIN;
OTHER:
      mov.u32 %r20, %clock;
      add.u32 %r12, %r11, 1;
      mov.u32 %r21, %clock;
      sub.u32 %r10, %r21, %r20;
JOIN:
)";
  if (std::string(GetParam().name) == "barrel") return;  // nobody of the warp executes meanwhile
  for (const bool marks : {true, false}) {
    const std::string waited = apart([&] {
      GpuBench on = bench();
      return std::to_string(run(on, body, 32, marks)[0]);
    });
    if (marks) {
      EXPECT_GT(std::stoul(waited), 150u);
    } else {
      EXPECT_LT(std::stoul(waited), 80u);
    }
  }
}

TEST_P(Scalar, AreCounted) {
  GpuBench on = bench();
  run(on, "mov.u32 %r10, 3; //scalar\nadd.u32 %r10, %r10, 1; //scalar\nmov.u32 %r11, %r10;\n", 40);
  EXPECT_EQ(on.sum_over_sms({"scalar", "instructions"}), 4);
  EXPECT_EQ(on.sum_over_sms({"scalar", "thread_instructions"}), 80);
}

TEST_P(Scalar, WithoutTimingEveryThreadHasItsOwn) {
  runtime::DeviceOptions options;
  options.functional.all = true;
  GpuBench on(overrides_of(GetParam()), GetParam().config, options);
  const Words own = run(on, "mov.u32 %r10, %tid.x; //scalar\n", 40);
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(own[i], i);
}

TEST_P(Scalar, WhatCannotBeDoneOnceIsRefused) {
  for (const char* instruction :
       {"atom.global.add.u32 %r10, [%rd1], 1;", "red.global.add.u32 [%rd1], 1;",
        "shfl.sync.idx.b32 %r10, %r2, 0, 31, -1;", "vote.sync.ballot.b32 %r10, %p1, -1;"}) {
    const std::string said = apart([&]() -> std::string {
      GpuBench on = bench();
      try {
        run(on, std::string(instruction) + " //scalar\n", 32);
      } catch (const InputError& error) {
        return error.what();
      }
      return "nothing";
    });
    EXPECT_THAT(said, AllOf(HasSubstr("k.ptx:"), HasSubstr("cannot execute once for a warp"))) << instruction;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Scalar, ::testing::ValuesIn(kMachines),
                         [](const auto& info) { return info.param.name; });

// Two warps, one with vector and one with scalar instructions that do not depend on each other.
struct Rate {
  double cycles = 0, beside = 0, busy = 0;
};
Rate rate_of(const std::string& unit, unsigned threads) {
  const std::string body = R"(
      ld.param.u64 %rd1, [out];
      mov.u32 %r2, %tid.x;
      mov.u32 %r3, 0;
      setp.ge.u32 %p1, %r2, 32;
      @%p1 bra ONCE;
ALL:
)" + repeated(16, "add.u32 %r10, %r2, 1;") +
                           R"(
      add.u32 %r3, %r3, 1;
      setp.lt.u32 %p2, %r3, 50;
      @%p2 bra ALL;
      ret;
ONCE:
)" + repeated(16, "add.u32 %r11, %r4, 1; //scalar") +
                           R"(
      add.u32 %r3, %r3, 1;
      setp.lt.u32 %p2, %r3, 50;
      @%p2 bra ONCE;
      ret;)";
  const std::string text = apart([&] {
    GpuBench on({"sm.count=1", "scalarization.kind=full", "scalarization.unit=" + unit, "sm.schedulers=1",
                 "sm.schedulers_per_domain=1", "sm.simd_groups=1", "sm.simd_width=8", "sm.pipeline_depth=1",
                 "sm.fetch_width=8", "sm.instruction_buffer=8", "sm.latency.int_add.cycles=1"});
    MarkedKernel kernel(on, kernel_text(".param .u64 out", body));
    const auto cycles = kernel.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(on.zeros(4)));
    const bool separate = unit == "separate";
    return std::to_string(cycles) + " " +
           std::to_string(separate ? on.sum_over_sms({"scalar", "issued_beside"}) : 0) + " " +
           std::to_string(separate ? on.sum_over_sms({"scalar_unit", "busy_cycles"}) : 0);
  });
  Rate rate;
  std::istringstream(text) >> rate.cycles >> rate.beside >> rate.busy;
  return rate;
}

TEST(ScalarUnit, WorksBesideTheLanesForAnotherWarp) {
  const Rate lanes = rate_of("lanes", 64), separate = rate_of("separate", 64);
  EXPECT_EQ(lanes.beside, 0);
  EXPECT_EQ(separate.busy, 50 * 16);
  // The scalar warp's instructions find the issue slot taken for one in four cycles only, and need no lane.
  EXPECT_GT(separate.beside, 50 * 16 / 8);
  EXPECT_LT(separate.cycles, lanes.cycles);
}

TEST(ScalarUnit, DoesNotLetAWarpIssueTwice) {
  // Alternately for all and once, in one warp.
  const std::string text = apart([] {
    GpuBench on({"sm.count=1", "scalarization.kind=full", "scalarization.unit=separate", "sm.schedulers=1",
                 "sm.schedulers_per_domain=1", "sm.simd_groups=1", "sm.fetch_width=8",
                 "sm.instruction_buffer=8"});
    MarkedKernel kernel(on, kernel_text("", "mov.u32 %r2, %tid.x;\n" +
                                                repeated(50,
                                                         "add.u32 %r10, %r2, 1;\n"
                                                         "add.u32 %r11, %r4, 1; //scalar") +
                                                "ret;"));
    kernel.run({1, 1, 1}, {32, 1, 1}, Arguments());
    return std::to_string(on.sum_over_sms({"scalar", "issued_beside"})) + " " +
           std::to_string(on.sum_over_sms({"scalar", "instructions"}));
  });
  EXPECT_EQ(text, std::to_string(0.0) + " " + std::to_string(50.0));
}

TEST(Scalarization, WhatItDoesNotGoWithIsRefused) {
  const auto said = [](const std::vector<std::string>& overrides) -> std::string {
    try {
      load_config("stsimt", overrides);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(said({"scalarization.kind=full", "warp_formation.scheme=dwf"}),
              AllOf(HasSubstr("warp_formation.scheme = dwf; allowed: sbr")));
  EXPECT_THAT(said({"scalarization.kind=restricted", "warp_formation.warp_size=64"}),
              HasSubstr("warp_formation.warp_size = 64; allowed: at most 32"));
  EXPECT_THAT(said({"scalarization.kind=full", "scalarization.unit=separate", "datapath.kind=temporal"}),
              HasSubstr("found separate with datapath.kind = temporal; allowed: spatial"));
  EXPECT_EQ(said({"scalarization.kind=off", "scalarization.unit=separate", "warp_formation.scheme=dwf"}), "");
}

// Registers per thread, of a warp once, and what both are without scalarization.
struct Files {
  std::uint32_t vector, scalar, without;
};
execute::Occupancy occupancy(const Files& files, std::uint32_t threads,
                             const std::vector<std::string>& overrides) {
  auto program = std::make_shared<ptx::Program>();
  program->name = "k";
  program->registers_per_thread = files.vector;
  program->scalars_per_warp = files.scalar;
  program->unscalarized_registers = files.without;
  dispatch::Launch launch;
  launch.program = program;
  launch.block = {threads, 1, 1};
  const GpuConfig config = load_config("stsimt", overrides);
  return execute::occupancy(launch, config.sm, config.warp_formation.warp_size);
}

// A lane of 2048 words: 3 warps of 20 registers, 4 where 5 of these are the warp's.
TEST(ScalarOccupancy, FollowsFromBothFiles) {
  const std::vector<std::string> lanes = {"datapath.kind=temporal", "sm.max_blocks=32"};
  EXPECT_EQ(occupancy({20, 0, 0}, 32, lanes).blocks, 3u * 8);
  EXPECT_EQ(occupancy({15, 9, 20}, 32, lanes).blocks, 4u * 8);
  EXPECT_EQ(occupancy({15, 33, 20}, 32, lanes).blocks, 3u * 8) << "513 words";
  // TSIMT+ gives a warp of 16 threads half of its registers, and all of its scalars.
  auto by_thread = lanes;
  by_thread.emplace_back("datapath.registers=thread");
  by_thread.emplace_back("sm.max_blocks=64");
  by_thread.emplace_back("sm.max_warps=64");
  by_thread.emplace_back("sm.max_threads=2048");
  EXPECT_EQ(occupancy({20, 16, 24}, 16, by_thread).blocks, 2048u / (16 * 20 + 16) * 8);
  // One file for all lanes, in units.
  EXPECT_EQ(occupancy({20, 9, 24}, 64, {"sm.register_allocation_unit=64"}).registers_per_block, 2 * 704u);
}

TEST(ScalarOccupancy, ScalesWhatTheConfigurationSays) {
  const std::vector<std::string> lanes = {"datapath.kind=temporal", "sm.max_blocks=32",
                                          "sm.registers_per_thread=20"};
  EXPECT_EQ(occupancy({40, 0, 0}, 32, lanes).blocks, 3u * 8);
  // Of 40: 30 and 18, so of 20: 15 and 9.
  EXPECT_EQ(occupancy({30, 18, 40}, 32, lanes).blocks, 4u * 8);
}

TEST(ScalarOccupancy, ASeparateFileLimitsByItself) {
  const std::vector<std::string> separate = {"scalarization.kind=full", "scalarization.unit=separate"};
  const auto with = [&](const char* registers) {
    auto all = separate;
    all.emplace_back(std::string("scalarization.registers=") + registers);
    return all;
  };
  const execute::Occupancy plenty = occupancy({8, 100, 16}, 32, separate);
  EXPECT_EQ(plenty.blocks, 16u);
  EXPECT_EQ(plenty.registers_per_block, 256u) << "the scalars are elsewhere";
  EXPECT_EQ(occupancy({8, 100, 16}, 32, with("500")).blocks, 5u);
  EXPECT_EQ(occupancy({8, 100, 16}, 32, with("500")).limit, "scalar registers");
  try {
    occupancy({8, 100, 16}, 32, with("99"));
    ADD_FAILURE() << "a block fits";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("needs 100 scalar registers, the SM has 99"),
                                    HasSubstr("--set scalarization.registers=100")));
  }
}

TEST(ScalarOccupancy, RefusalsNameBoth) {
  try {
    occupancy({60, 200, 80}, 32, {"datapath.kind=temporal"});
    ADD_FAILURE() << "a warp fits";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("with 60 registers for each thread and 200 for the warp it takes "
                                        "2144, a lane has 2048"));
  }
  try {
    occupancy({60, 200, 80}, 512, {});
    ADD_FAILURE() << "a block fits";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("registers (60 for each thread and 200 for the warp)"));
  }
}

}  // namespace
}  // namespace weft::test::scalar_test
