// weft run --functional, --fast-forward and --check, as a user gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::functional_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Values;

class FunctionalWorkload : public ::testing::TestWithParam<const char*> {};

TEST_P(FunctionalWorkload, GivesTheResultsOfATimedRun) {
  const Folder folder;
  const Exit timed =
      weft({"run", "--workload", GetParam(), "--size", "small", "--out", folder.path("timed")});
  const Exit exit = weft({"run", "--functional", "--workload", GetParam(), "--size", "small", "--out",
                          folder.path("functional")});
  ASSERT_EQ(timed.code, 0) << timed.err;
  ASSERT_EQ(exit.code, 0) << exit.err;
  const auto want = folder.json("timed/stats.json"), got = folder.json("functional/stats.json");
  EXPECT_EQ(want.at("mode"), "timed");
  EXPECT_EQ(got.at("mode"), "functional");
  EXPECT_EQ(got.at("verified"), true);
  for (const char* key :
       {"cycles", "ipc", "lane_activity", "simd_efficiency", "idle_share", "coalescing_rate", "statistics"}) {
    EXPECT_FALSE(got.contains(key)) << key << " has no meaning without timing";
  }
  if (std::string(GetParam()) != "bfs") {  // which threads mark a vertex depends on their order
    EXPECT_EQ(got.at("thread_instructions"), want.at("thread_instructions"));
    EXPECT_EQ(got.at("warp_instructions"), want.at("warp_instructions"));
  }
  EXPECT_GE(got.at("cpu_seconds"), got.at("functional_cpu_seconds"));
}

INSTANTIATE_TEST_SUITE_P(All, FunctionalWorkload,
                         Values("bfs", "coulombic_potential", "matrix_multiply", "reduction", "vector_add"),
                         [](const auto& info) { return std::string(info.param); });

TEST(FastForward, TimesOnlyTheRest) {
  const Folder folder;
  const Exit exit = weft({"run", "--fast-forward", "1", "--workload", "reduction", "--size", "small", "--out",
                          folder.path("out")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const auto stats = folder.json("out/stats.json");
  EXPECT_EQ(stats.at("mode"), "fast-forward");
  EXPECT_EQ(stats.at("functional").at("launches"), 1);
  const Exit whole =
      weft({"run", "--workload", "reduction", "--size", "small", "--out", folder.path("whole")});
  ASSERT_EQ(whole.code, 0);
  const auto all = folder.json("whole/stats.json");
  EXPECT_EQ(stats.at("functional").at("thread_instructions").get<std::uint64_t>() +
                stats.at("thread_instructions").get<std::uint64_t>(),
            all.at("thread_instructions").get<std::uint64_t>());
  EXPECT_LT(stats.at("cycles"), all.at("cycles"));
}

TEST(Functional, RefusesOptionsThatNeedCycles) {
  const Exit exit = weft({"run", "--functional", "--max-cycles", "5", "--workload", "vector_add"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(HasSubstr("--max-cycles"), HasSubstr("--functional")));
}

TEST(Functional, EndsAtTheLimitOfInstructionsAndKeepsWhatThereIs) {
  const Folder folder;
  const auto ptx = folder.write("count.ptx",
                                ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n"
                                ".reg .b32 %r<2>;\nmov.u32 %r1, 0;\nFOREVER: add.u32 %r1, %r1, 1;\n"
                                "bra FOREVER;\n}\n");
  for (const char* mode : {"--functional", "--no-sleep"}) {
    const Exit exit = weft({"run", mode, "--max-instructions", "200000", "--ptx", ptx, "--grid", "1",
                            "--block", "64", "--out", folder.path("out")});
    EXPECT_EQ(exit.code, 3) << exit.err;
    EXPECT_THAT(exit.err, HasSubstr("thread instructions, the limit of --max-instructions"));
    const auto stats = folder.json("out/stats.json");
    EXPECT_EQ(stats.at("interrupted"), true);
    EXPECT_GE(stats.at("thread_instructions"), 200'000);
    EXPECT_LE(stats.at("thread_instructions"), 200'000 + 64);
  }
  const Exit within = weft({"run", "--functional", "--max-instructions", "10000000", "--workload",
                            "vector_add", "--size", "n=1000"});
  EXPECT_EQ(within.code, 0) << within.err;
}

TEST(Functional, EndsAKernelThatSpins) {
  const Folder folder;
  const auto ptx = folder.write("spin.ptx",
                                ".version 7.0\n.target sm_70\n.address_size 64\n"
                                ".visible .entry k(.param .u64 flag) {\n.reg .b32 %r<2>; .reg .b64 %rd<2>; "
                                ".reg .pred %p<2>;\nld.param.u64 %rd1, [flag];\n"
                                "WAIT: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n"
                                "@%p1 bra WAIT;\nret;\n}\n");
  const Exit exit = weft({"run", "--functional", "--ptx", ptx, "--grid", "4", "--block", "128", "--arg",
                          "ptr:4", "--out", folder.path("out")});
  EXPECT_EQ(exit.code, 3) << exit.err;
  EXPECT_THAT(exit.err, AllOf(HasSubstr("kernel k hangs: livelock: 128 threads only repeat a loop"),
                              HasSubstr("thread (0,0,0) of block (0,0,0) at pc"), HasSubstr("spin.ptx:")));
  const auto stats = folder.json("out/stats.json");
  EXPECT_EQ(stats.at("interrupted"), false);
  EXPECT_THAT(stats.at("fault").get<std::string>(), HasSubstr("livelock"));
}

TEST(Check, RefusesAnUnknownCheck) {
  const Exit exit = weft({"run", "--check", "leaks", "--workload", "vector_add"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(HasSubstr("'leaks'"), HasSubstr("memory, race, warp")));
}

TEST(Check, ReportsAndEndsWithExitCode3) {
  const Folder folder;
  const auto ptx = folder.write("good.ptx", kGoodKernel);
  for (const char* mode : {"--functional", "--no-sleep"}) {
    // 32 threads store into room for 10.
    const Exit exit = weft({"run", mode, "--check", "memory", "--ptx", ptx, "--grid", "1", "--block", "32",
                            "--arg", "ptr:40", "u32:7", "--out", folder.path("out")});
    EXPECT_EQ(exit.code, 3) << exit.err;
    EXPECT_THAT(exit.err, AllOf(HasSubstr("thread (10,0,0) of block (0,0,0)"), HasSubstr("store of 4 bytes"),
                                HasSubstr("out of bounds"),
                                HasSubstr("0 bytes after the end of allocation 1 (40 bytes"),
                                HasSubstr("(and 21 more times here)")));
    const auto report = folder.json("out/stats.json").at("checks").at("reports").at(0);
    EXPECT_EQ(report.at("kind"), "out of bounds");
    EXPECT_EQ(report.at("count"), 22);
  }
}

TEST(Check, IsSilentAboutTheWorkloads) {
  for (const char* workload : {"coulombic_potential", "matrix_multiply", "reduction", "vector_add"}) {
    const Exit exit =
        weft({"run", "--functional", "--check", "memory", "race", "--workload", workload, "--size", "small"});
    EXPECT_EQ(exit.code, 0) << workload << ": " << exit.err;
    EXPECT_EQ(exit.err, "") << workload;
  }
}

// Several threads mark one vertex, all with the same value, and others look whether it is marked: harmless,
// and races all the same.
TEST(Check, FindsTheRacesOfBreadthFirstSearch) {
  const Exit exit = weft({"run", "--functional", "--check", "race", "--workload", "bfs", "--size", "small"});
  EXPECT_EQ(exit.code, 3);
  EXPECT_THAT(exit.out, HasSubstr("verified"));
  EXPECT_THAT(exit.err, AllOf(HasSubstr("workloads/bfs/bfs.cu:"), HasSubstr("both write the same value"),
                              Not(HasSubstr("different values"))));
  const Exit memory =
      weft({"run", "--functional", "--check", "memory", "--workload", "bfs", "--size", "small"});
  EXPECT_EQ(memory.code, 0) << memory.err;
}

// The kernels that causes of differences name (experiments/variants) do what the workloads' own do.
TEST(Functional, VariantsOfWorkloadsVerify) {
  for (const auto& [variant, workload] :
       std::map<std::string, std::string>{{"aes_rolled", "aes"},
                                          {"back_propagation_powers", "back_propagation"},
                                          {"gaussian_elimination_guard", "gaussian_elimination"},
                                          {"h264_idct_rolled", "h264_idct"}}) {
    const Exit exit = weft({"run", "--functional", "--workload", workload, "--size", "small", "--ptx",
                            std::string(WEFT_EXPERIMENT_FILES) + "/variants/" + variant + ".ptx"});
    EXPECT_EQ(exit.code, 0) << variant << ": " << exit.err;
    EXPECT_THAT(exit.out, HasSubstr("verified")) << variant;
  }
}

// --check scalar runs the work without scalarization first, and compares.
Exit check_scalars(std::vector<std::string> words) {
  words.insert(words.begin(), {"run", "--config", "stsimt", "--set", "scalarization.kind=full", "--set",
                               "datapath.kind=temporal", "--check", "scalar"});
  return weft(words);
}

TEST(Check, ScalarsOfWorkloadsAreThoseOfTheirThreads) {
  for (const char* workload : {"back_propagation", "gaussian_elimination", "reduction"}) {
    const Exit exit = check_scalars({"--workload", workload, "--size", "small"});
    EXPECT_EQ(exit.code, 0) << workload << ": " << exit.err;
    EXPECT_EQ(exit.err, "") << workload;
  }
  const Folder folder;
  const Exit races = check_scalars({"--workload", "bfs", "--size", "small", "--out", folder.path("out")});
  EXPECT_EQ(races.code, 0) << races.err;
  EXPECT_THAT(races.err, HasSubstr("not compared with the run without scalarization: _Z3bfs"));
  const auto checks = folder.json("out/stats.json").at("checks");
  EXPECT_EQ(checks.at("reports").size(), 0u);
  EXPECT_THAT(checks.at("not_compared").at(0).get<std::string>(), HasSubstr(": race, workloads/bfs/bfs.cu:"));
}

// A file that has other content each time it is read makes the two runs differ.
TEST(Check, WhatTheRunWithoutScalarizationDoesOtherwiseIsAWrongResult) {
  const Folder folder;
  const auto ptx = folder.write("k.ptx", kPtxHeader + R"(
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  ld.global.v2.u32 {%r1, %r2}, [%rd1];
  mov.u32 %r3, %tid.x;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 st.global.u32 [%rd1+40], %r1;
  ret;
}
)");
  const auto run = [&](const std::string& content) {
    return check_scalars({"--ptx", ptx, "--grid", "1", "--block", "32", "--arg", "ptr:64=" + content,
                          "--dump", "0=" + folder.path("dump")});
  };
  const Exit same = run("iota");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(folder.text("dump").size(), 64u);
  const Exit other = run("file:/proc/sys/kernel/random/uuid");
  EXPECT_EQ(other.code, 1) << other.err;
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("k: thread (0,0,0) of block (0,0,0), pc 1, "), HasSubstr("k.ptx:8:"),
                    HasSubstr(" of this thread is of %r"), HasSubstr("; without scalarization it is 0x"),
                    HasSubstr("(and 31 more times here)"), HasSubstr("the content of "),
                    HasSubstr("differs from the run without scalarization")));
}

}  // namespace
}  // namespace weft::end_to_end::functional_test
