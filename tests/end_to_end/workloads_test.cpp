// Five workloads on five machines: results equal the CPU's, statistics agree with themselves, the TLM-2.0
// protocol is kept on every hop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "end_to_end/process.h"

namespace weft::end_to_end::workloads_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Values;

class EveryMachine : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(EveryMachine, VerifiesTheWorkload) {
  const auto [config, workload] = GetParam();
  const Folder folder;
  const Exit exit = weft({"run", "--config", config, "--workload", workload, "--size", "small", "--monitors",
                          "--out", folder.path("out")});
  ASSERT_EQ(exit.code, 0) << exit.out << exit.err;
  EXPECT_EQ(exit.err, "") << "nothing but results, and those on standard output";
  EXPECT_THAT(exit.out, HasSubstr("verified"));

  const auto stats = folder.json("out/stats.json");
  EXPECT_EQ(stats.at("workload"), workload);
  EXPECT_EQ(stats.at("config"), config);
  EXPECT_EQ(stats.at("verified"), true);
  EXPECT_EQ(stats.at("interrupted"), false);
  EXPECT_TRUE(stats.at("fault").is_null());
  EXPECT_THAT(stats.at("ptx").at("compiler"), HasSubstr("clang"));

  const double cycles = stats.at("cycles"), threads = stats.at("thread_instructions"),
               warps = stats.at("warp_instructions"), ipc = stats.at("ipc");
  EXPECT_GT(cycles, 0);
  EXPECT_GT(threads, warps);
  EXPECT_NEAR(ipc, threads / cycles, 1e-9 * ipc);
  for (const char* share :
       {"lane_activity", "simd_efficiency", "idle_share", "idle_share_blocked", "depth_utilisation"}) {
    EXPECT_GE(stats.at(share), 0.0) << share;
    EXPECT_LE(stats.at(share), 1.0) << share;
  }
  EXPECT_GE(stats.at("coalescing_rate"), 1.0);
  EXPECT_GT(stats.at("executed_thread_instructions"), 0);
  EXPECT_LE(stats.at("executed_thread_instructions"), threads);

  // The statistics agree with one another.
  std::uint64_t launched = 0, retired = 0, warp_instructions = 0;
  for (const auto& [unit, values] : stats.at("statistics").items()) {
    if (unit.rfind("sm", 0) != 0 || !values.contains("scheduler0")) continue;
    launched += values.at("threads_launched").get<std::uint64_t>();
    retired += values.at("threads_retired").get<std::uint64_t>();
    warp_instructions += values.at("warp_instructions").get<std::uint64_t>();
    for (const auto& [part, buckets] : values.items()) {
      if (part.rfind("scheduler", 0) != 0) continue;
      std::uint64_t sum = 0;
      for (const auto& bucket : buckets.at("cycles")) sum += bucket.get<std::uint64_t>();
      EXPECT_EQ(sum, stats.at("cycles")) << unit << "." << part << ": every cycle ends in exactly one bucket";
    }
  }
  EXPECT_GT(launched, 0u);
  EXPECT_EQ(launched, retired);
  EXPECT_EQ(warp_instructions, stats.at("warp_instructions"));
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryMachine,
    ::testing::Combine(Values("crown-tesla", "dwr-tesla", "gtx480", "harp-fermi", "stsimt"),
                       Values("bfs", "coulombic_potential", "matrix_multiply", "reduction", "vector_add")),
    [](const auto& info) {
      std::string name = std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
      for (char& c : name) {
        if (c == '-') c = '_';
      }
      return name;
    });

TEST(Results, AreStatisticsConfigurationAndSummary) {
  const Folder folder;
  const Exit exit = weft({"run", "--workload", "vector_add", "--size", "n=1000", "--set", "sm.count=3",
                          "--out", folder.path("a/b")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_EQ(
      Folder::names_of(folder.path("a/b")),
      (std::vector<std::string>{"config.json", "launches.csv", "run.json", "stats.json", "summary.txt"}))
      << "no temporary files stay behind";
  EXPECT_EQ(folder.json("a/b/config.json").at("sm").at("count"), 3) << "the effective configuration";
  EXPECT_EQ(folder.text("a/b/summary.txt"), exit.out);
  EXPECT_EQ(folder.json("a/b/stats.json").at("size").at("n"), 1000);
}

TEST(Results, ThatAreWrongGiveExitCode1) {
  const Folder folder;
  // c = a - b in the place of c = a + b.
  const auto wrong = folder.write("wrong.ptx", R"(.version 6.0
.target sm_35
.address_size 64
.visible .entry sub(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 ret;
  mul.wide.u32 %rd4, %r5, 4;
  add.u64 %rd5, %rd1, %rd4;
  add.u64 %rd6, %rd2, %rd4;
  add.u64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  sub.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
  ret;
}
)");
  const Exit exit = weft(
      {"run", "--workload", "vector_add", "--size", "small", "--ptx", wrong, "--out", folder.path("out")});
  EXPECT_EQ(exit.code, 1) << exit.err;
  EXPECT_THAT(exit.out, HasSubstr("WRONG: sums differ first at 1: got -1"));
  EXPECT_EQ(folder.json("out/stats.json").at("verified"), false);
}

}  // namespace
}  // namespace weft::end_to_end::workloads_test
