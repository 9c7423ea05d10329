// The SM does what its datapath says: a whole GPU on a datapath whose times are easy to count.
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/divergent_kernel.h"
#include "warp_formation/schemes.h"
#include "weft/common/error.h"

namespace weft::datapath::test {
namespace {

using weft::test::apart;
using weft::test::GpuBench;
using weft::test::kernel_text;
using weft::test::looped_kernel;
using weft::test::repeated;
using weft::test::run_divergent;

const std::vector<std::string> kSerial = {"sm.count=1", "datapath.kind=serial"};

class Hosted : public ::testing::TestWithParam<std::string> {};

TEST_P(Hosted, LeavesTheMemoryOfSpatial) {
  const std::string config = GetParam();
  const auto memory_of = [](const std::string& result) { return result.substr(result.rfind('\n')); };
  const auto run = [&](const std::string& kind) {
    return apart([&] {
      GpuBench bench({"sm.count=2", "datapath.kind=" + kind}, config);
      return run_divergent(bench, 4, 70);
    });
  };
  const std::string spatial = run("spatial"), serial = run("serial");
  EXPECT_EQ(memory_of(serial), memory_of(spatial));
  EXPECT_NE(serial, spatial);
}

INSTANTIATE_TEST_SUITE_P(Configs, Hosted,
                         ::testing::Values("gtx480", "dwr-tesla", "harp-fermi", "crown-tesla"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// A chain of dependent additions: the last thread's result comes as many cycles later as threads go before
// it.
TEST(HostedTimes, ADependentInstructionWaitsForTheLastResult) {
  GpuBench bench(kSerial);
  const auto& sm = bench.device.gpu().config().sm;
  const auto one = static_cast<double>(sm.pipeline_depth + sm.latency_of(ptx::Latency::kIntAdd).cycles - 1);
  for (const unsigned threads : {1u, 5u, 32u}) {
    EXPECT_DOUBLE_EQ(bench.cycles_per_copy("add.u32 %r1, %r1, 1;", {threads, 1, 1}), one + threads - 1)
        << threads;
  }
}

// Threads whose guard does not hold take no cycle here.
TEST(HostedTimes, TheDatapathKnowsWhoseGuardHolds) {
  GpuBench bench(kSerial);
  const auto& sm = bench.device.gpu().config().sm;
  const auto one = static_cast<double>(sm.pipeline_depth + sm.latency_of(ptx::Latency::kIntAdd).cycles - 1);
  EXPECT_DOUBLE_EQ(
      bench.cycles_per_copy("@%p1 add.u32 %r1, %r1, 1;", {32, 1, 1}, 0, "setp.lt.u32 %p1, %r2, 3;"), one + 2);
}

// Only the thread %r2 == `reader` reads the result of a division by all threads, and then works on alone.
double cycles_of_reader(const std::string& reader) {
  GpuBench bench(kSerial);
  return bench.cycles_per_turn(
      looped_kernel("div.u32 %r10, %r1, 3;\n @!%p1 bra NOT;\n add.u32 %r1, %r10, 1;\n" +
                        repeated(8, "add.u32 %r1, %r1, 1;") + "NOT:",
                    "setp.eq.u32 %p1, %r2, " + reader + ";"),
      {32, 1, 1});
}

TEST(HostedTimes, ResultsComePartByPart) {
  const auto of = [](const std::string& reader) {
    return std::stod(apart([&] { return std::to_string(cycles_of_reader(reader)); }));
  };
  EXPECT_DOUBLE_EQ(of("31"), of("0") + 31);
}

// The load-store unit begins when the last address is known; all threads read one word.
TEST(HostedTimes, MemoryBeginsWithTheLastAddress) {
  GpuBench bench(kSerial);
  const auto word = bench.zeros(128);
  const auto load = [&](unsigned threads) {
    return bench.cycles_per_copy("ld.global.u64 %rd4, [%rd4];\n add.u64 %rd4, %rd4, %rd3;", {threads, 1, 1},
                                 word, "mov.u64 %rd4, %rd3;");
  };
  // The addition waits for the load, and the next load for the addition: both take a cycle more for each
  // thread.
  const double alone = load(1);
  EXPECT_DOUBLE_EQ(load(9), alone + 2 * 8);
  EXPECT_DOUBLE_EQ(load(32), alone + 2 * 31);
}

// It holds one block, whatever else an SM has room for.
TEST(HostedTimes, TheDatapathSaysHowManyBlocksFit) {
  GpuBench bench(kSerial);
  bench.load(looped_kernel("add.u32 %r1, %r1, 1;"));
  const auto out = bench.zeros(4096);
  const auto cycles = [&](unsigned blocks) {
    return static_cast<double>(
        bench.run({blocks, 1, 1}, {1, 1, 1}, runtime::Arguments().add(out).add(400u).add(std::uint64_t{0})));
  };
  const double one = cycles(1);
  EXPECT_GT(cycles(4), 3.5 * one);  // one after the other
}

// --- temporal ---

std::vector<std::string> temporal_with(std::vector<std::string> settings) {
  settings.insert(settings.begin(), {"sm.count=2", "datapath.kind=temporal"});
  return settings;
}

// A lane of all the width without compaction, whose results come together, is a SIMD group.
TEST(HostedTemporal, OneLaneOfAllTheWidthIsSpatial) {
  const auto run = [](const std::vector<std::string>& settings, unsigned blocks, unsigned threads) {
    return apart([&] {
      GpuBench bench(settings, "stsimt");
      std::string result = run_divergent(bench, blocks, threads);
      // What the statistics call it, and what the text about the busiest part does.
      const auto rename = [&](const std::string& from, const std::string& to) {
        for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += to.size())
          result.replace(at, from.size(), to);
      };
      rename("\"lane0\"", "\"simd_group0\"");
      return result;
    });
  };
  for (const char* compaction : {"none", "bcc"}) {
    const std::string key = std::string("datapath.compaction=") + compaction;
    for (const unsigned threads : {256u, 70u}) {
      EXPECT_EQ(run(temporal_with({"datapath.lane_width=8", "datapath.forwarding=warp", key}), 6, threads),
                run({"sm.count=2", key}, 6, threads))
          << compaction;
    }
  }
}

class HostedLanes : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(HostedLanes, LeaveTheMemoryOfSpatial) {
  const auto memory = [](const std::vector<std::string>& settings) {
    const std::string result = apart([&] {
      GpuBench bench(settings, "stsimt");
      return run_divergent(bench, 6, 84);
    });
    return result.substr(result.rfind('\n'));
  };
  EXPECT_EQ(memory(temporal_with(GetParam())), memory({"sm.count=2"}));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, HostedLanes,
    ::testing::Values(
        std::vector<std::string>{}, std::vector<std::string>{"datapath.lane_width=2"},
        std::vector<std::string>{"datapath.lane_width=4", "datapath.compaction=none"},
        std::vector<std::string>{"datapath.guard=issue_mask", "warp_formation.sbr.order=gs2_lane"},
        std::vector<std::string>{"warp_formation.sbr.order=taken_first", "datapath.lane_width=4"},
        std::vector<std::string>{"warp_formation.sbr.order=minority_first"},
        std::vector<std::string>{"warp_formation.likely_convergence=static", "datapath.lane_width=2"},
        std::vector<std::string>{"datapath.locked=false"},
        std::vector<std::string>{"datapath.instruction_register=lane"},
        std::vector<std::string>{"datapath.registers=thread", "sm.registers=4096"},
        std::vector<std::string>{"warp_formation.warp_size=16"},
        std::vector<std::string>{"warp_formation.warp_size=64", "datapath.lane_width=2"},
        std::vector<std::string>{"datapath.forwarding=warp", "datapath.instruction_register=lane"}),
    [](const auto& info) { return std::to_string(info.index); });

// A lone warp: its lane's cycles or the latency, whichever is longer.
TEST(HostedTemporal, ALoneWarpsChainTakesItsLanesCycles) {
  const auto cycles = [](unsigned threads, const std::string& width) {
    return std::stod(apart([&] {
      GpuBench bench(
          {"sm.count=1", "datapath.kind=temporal", "datapath.lane_width=" + width, "sm.pipeline_depth=10"},
          "stsimt");
      return std::to_string(bench.cycles_per_copy("add.u32 %r1, %r1, 1;", {threads, 1, 1}));
    }));
  };
  EXPECT_DOUBLE_EQ(cycles(32, "1"), 32);
  EXPECT_DOUBLE_EQ(cycles(20, "1"), 20);
  EXPECT_DOUBLE_EQ(cycles(8, "1"), 12);
  EXPECT_DOUBLE_EQ(cycles(32, "2"), 16);
  EXPECT_DOUBLE_EQ(cycles(32, "4"), 12);
}

// One issue per cycle: with a thread each, eight lanes' warps run at that rate.
TEST(HostedTemporal, IssuesOneInstructionPerCycle) {
  GpuBench bench({"sm.count=1", "datapath.kind=temporal", "sm.pipeline_depth=10", "sm.l1i.sets=64"},
                 "stsimt");
  const double full = bench.cycles_per_copy("add.u32 %r1, %r1, 1;", {1024, 1, 1});
  EXPECT_NEAR(full, 128, 1);
}

void expect_refused(const std::vector<std::string>& settings, const std::string& part) {
  try {
    load_config("stsimt", settings);
    FAIL() << part;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(HostedTemporal, RefusesWhatLanesCannotDo) {
  const std::string on = "datapath.kind=temporal";
  for (const std::string& scheme : scheme_classes::all_without("sbr"))
    expect_refused({on, "warp_formation.scheme=" + scheme}, "allowed: sbr");
  expect_refused({on, "datapath.lane_width=3"}, "allowed: divisors of sm.simd_width = 8");
  expect_refused({on, "datapath.lane_width=16"}, "allowed: divisors of sm.simd_width = 8");
  expect_refused({on, "datapath.compaction=scc"}, "allowed with kind temporal: auto, none and bcc");
  expect_refused({on, "datapath.binding=slot", "datapath.registers=thread"},
                 "allowed: auto, turns and fewest");
  expect_refused({on, "sm.dependence=barrel"}, "allowed: scoreboard");
  expect_refused(
      {on, "sm.dependence=barrel", "datapath.forwarding=warp", "datapath.instruction_register=lane"},
      "allowed: scoreboard");
  expect_refused({on, "sm.simd_groups=2"}, "allowed: 1");
  expect_refused({on, "sm.issue_port=shared"}, "allowed: per_unit");
  expect_refused({on, "sm.issue_alignment=true"}, "allowed: false");
  expect_refused({on, "warp_formation.warp_size=256"}, "allowed: at most 128");
  expect_refused({"datapath.locked=false"}, "kind temporal");
  expect_refused({"datapath.registers=thread"}, "allowed with kind spatial: block and warp");
  expect_refused({"datapath.instruction_register=lane"}, "kind temporal");
  expect_refused({"datapath.binding=fewest"}, "kind temporal");
}

// A kernel whose warp fits no lane, with the numbers.
TEST(HostedTemporal, RefusesAWarpThatFitsNoLane) {
  GpuBench bench({"datapath.kind=temporal", "sm.registers_per_thread=102"}, "stsimt");
  bench.load(looped_kernel("add.u32 %r1, %r1, 1;"));
  const auto out = bench.zeros(4096);
  try {
    bench.run({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out).add(10u).add(std::uint64_t{0}));
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(
        text.find("with 102 registers for each thread it takes 3264, a lane has 2048 (16384 over 8 lanes)"),
        std::string::npos)
        << text;
  }
}

// A block's second warp ends at once, and its registers let the next block in, if warps give back theirs.
TEST(HostedTemporal, BlocksComeInAsWarpsGiveBackTheirRegisters) {
  constexpr unsigned kBlocks = 24, kThreads = 64;
  const auto cycles = [](const std::string& registers) {
    return std::stod(apart([&] {
      // A warp fills its lane: four blocks of two warps on eight lanes.
      GpuBench bench({"sm.count=1", "datapath.kind=temporal", "datapath.registers=" + registers,
                      "sm.registers_per_thread=64"},
                     "stsimt");
      const auto out = bench.zeros(kBlocks * kThreads * 4);
      bench.load(kernel_text(".param .u64 out", R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;
  shl.b32 %r4, %r3, 6;
  add.u32 %r4, %r4, %r2;
  mov.u32 %r1, %r4;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra OUT;
  mov.u32 %r5, 0;
LOOP:
  add.u32 %r1, %r1, 3;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 100;
  @%p2 bra LOOP;
OUT:
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r1;
  ret;)"));
      const auto taken = bench.run({kBlocks, 1, 1}, {kThreads, 1, 1}, runtime::Arguments().add(out));
      const std::vector<std::uint32_t> words = bench.read(out, kBlocks * kThreads);
      for (std::uint32_t i = 0; i < words.size(); ++i) {
        if (words[i] != i + (i % kThreads < 32 ? 300 : 0)) return "0 wrong word " + std::to_string(i);
      }
      return std::to_string(taken);
    }));
  };
  const double with_the_block = cycles("block"), with_the_warp = cycles("thread");
  ASSERT_GT(with_the_warp, 0);
  // Four long warps at a time, or seven: one lane is left for the short one of the next block.
  EXPECT_LT(with_the_warp, 0.75 * with_the_block);
  EXPECT_GT(with_the_warp, 0.5 * with_the_block);
}

// Which threads run together is the scheme's, with each value of its options: on lanes its warps take the
// paths that they take on SIMD groups.
class SchemeOnLanes : public ::testing::TestWithParam<const char*> {};

// By name: what the warps did, and the memory that they left.
std::map<std::string, double> done_by_warps(std::vector<std::string> settings) {
  settings.insert(settings.end(), {"sm.count=1", "sm.registers=65536"});
  const std::string text = apart([&] {
    GpuBench bench(settings, "stsimt");
    const auto out = bench.zeros(128 * 4);
    // Two bits of a thread's numbers: with either of them it goes to X, else to Y.
    bench.load(looped_kernel(R"(
  mad.lo.u32 %r1, %r1, 1664525, %r2;
  add.u32 %r1, %r1, 1013904223;
  and.b32 %r4, %r1, 536870912; setp.ne.u32 %p1, %r4, 0;
  and.b32 %r4, %r1, 1073741824; setp.ne.u32 %p2, %r4, 0;
  @%p1 bra X;
  @%p2 bra X;
  add.u32 %r1, %r1, 7;
  bra Z;
X:
  xor.b32 %r1, %r1, 5; xor.b32 %r1, %r1, 9; xor.b32 %r1, %r1, 17; xor.b32 %r1, %r1, 3;
Z:)"));
    bench.run({1, 1, 1}, {120, 1, 1}, runtime::Arguments().add(out).add(20u).add(std::uint64_t{0}));
    nlohmann::json done;
    std::uint64_t memory = 0;
    for (const std::uint32_t word : bench.read(out, 128)) memory = (memory * 31 + word) % 1000003;
    done["memory"] = memory;
    for (const char* name : {"warp_instructions", "thread_instructions", "executed_thread_instructions"})
      done[name] = bench.sum_over_sms(name);
    const auto statistics = bench.statistics().at("sm0").at("warp_formation0");
    for (const char* name : {"divergent_branches", "likely_points", "likely_joins"})
      done[name] = statistics.at(name);
    for (const char* name : {"reads", "writes"})
      done[std::string("stack_") + name] = statistics.at("tables").at("stacks").at(name);
    return done.dump();
  });
  return nlohmann::json::parse(text).get<std::map<std::string, double>>();
}

TEST_P(SchemeOnLanes, TakesThePathsOfSpatial) {
  const std::string option = std::string("warp_formation.") + GetParam();
  const auto spatial = done_by_warps({option});
  for (const char* width : {"1", "4"}) {
    for (const char* locked : {"true", "false"}) {
      const auto lanes =
          done_by_warps({option, "datapath.kind=temporal", std::string("datapath.lane_width=") + width,
                         std::string("datapath.locked=") + locked});
      EXPECT_EQ(lanes, spatial) << width << ' ' << locked;
    }
  }
  EXPECT_GT(spatial.at("divergent_branches"), 0);
  const bool likely = option == "warp_formation.likely_convergence=static";
  EXPECT_EQ(spatial.at("likely_joins") > 0, likely);
  if (likely) {
    EXPECT_LT(spatial.at("warp_instructions"), done_by_warps({}).at("warp_instructions"));
  }
}

INSTANTIATE_TEST_SUITE_P(Options, SchemeOnLanes,
                         ::testing::Values("sbr.order=fallthrough_first", "sbr.order=taken_first",
                                           "sbr.order=gs2_lane", "sbr.order=minority_first",
                                           "reconvergence=barrier_aware", "reconvergence=plain",
                                           "likely_convergence=off", "likely_convergence=static",
                                           "scheduling=loose_round_robin", "scheduling=greedy_then_oldest",
                                           "scheduling=two_level", "warp_size=16"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace weft::datapath::test
