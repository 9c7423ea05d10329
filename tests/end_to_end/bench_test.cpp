// `weft bench`: what it counts, and how it compares with earlier figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "end_to_end/process.h"

namespace weft::end_to_end::bench_test {
namespace {

using ::testing::HasSubstr;

// Figures of earlier runs are those of these tests only.
class Bench : public ::testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", cache_.path("").c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  static nlohmann::json results(std::vector<std::string> options) {
    options.insert(options.begin(), {"bench", "--json"});
    const Exit exit = weft(options);
    EXPECT_EQ(exit.code, 0) << exit.err;
    EXPECT_EQ(exit.err, "");
    return nlohmann::json::parse(exit.out);
  }

  Folder cache_;
};

TEST_F(Bench, MeasuresFourPrograms) {
  const auto measured = results({"--size", "small"});
  ASSERT_EQ(measured.size(), 4u);
  for (const auto& result : measured) {
    for (const char* key : {"warp_instructions", "cycles", "cpu_seconds", "peak_memory_bytes",
                            "executed_thread_instructions_per_cpu_second"}) {
      EXPECT_GT(result.at(key), 0) << result.at("workload") << " " << key;
    }
    EXPECT_LT(result.at("executed_thread_instructions"), result.at("thread_instructions"));
    EXPECT_EQ(result.at("compiler"), "Cuda compilation tools, release 13.0, V13.0.88");
    EXPECT_TRUE(result.at("earlier").is_null());
  }
}

// The table of workloads/nvcc/README.md.
TEST_F(Bench, ExecutesTheInstructionsThatAreKnown) {
  const auto measured = results({"--functional"});
  ASSERT_EQ(measured.size(), 4u);
  const std::array<std::pair<double, double>, 4> known{
      {{22'020'096, 720'896}, {64'880'640, 2'031'616}, {18'770'992, 1'568'968}, {61'210'624, 1'914'368}}};
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool races = measured[i].at("workload") == "bfs";
    const double tolerance = races ? 0.002 : 0;
    EXPECT_NEAR(measured[i].at("executed_thread_instructions"), known[i].first, tolerance * known[i].first);
    EXPECT_NEAR(measured[i].at("warp_instructions"), known[i].second, tolerance * known[i].second);
  }
}

TEST_F(Bench, ComparesWithTheLastFiguresOfTheSameSettings) {
  const std::vector<std::string> options{"--workload", "vector_add", "--size", "small"};
  const auto first = results(options);
  auto other = options;
  other.insert(other.end(), {"--set", "sm.count=2"});
  EXPECT_TRUE(results(other)[0].at("earlier").is_null());

  const auto second = results(options);
  const double before = first[0].at("executed_thread_instructions_per_cpu_second"),
               now = second[0].at("executed_thread_instructions_per_cpu_second");
  EXPECT_EQ(second[0].at("earlier").at("executed_thread_instructions_per_cpu_second"), before);
  EXPECT_NEAR(second[0].at("change_percent"), (now / before - 1) * 100, 1e-6);
  const auto date = second[0].at("earlier").at("date").get<std::string>();
  EXPECT_EQ(date.size(), std::string("2026-01-31T12:00:00Z").size());

  const Exit exit = weft({"bench", "--workload", "vector_add", "--size", "small"});
  EXPECT_EQ(exit.code, 0);
  EXPECT_THAT(exit.out, HasSubstr(" % since " + date.substr(0, 10)));
}

TEST_F(Bench, NeedsNoFileOfEarlierFigures) {
  const std::vector<std::string> command{"bench", "--workload", "vector_add", "--size", "small"};
  std::filesystem::create_directory(cache_.path("weft"));
  for (const char* damaged : {"", "[{", "{}", "[1, {}, [], {\"of\": 1, \"date\": 2}]"}) {
    std::ofstream(cache_.path("weft/bench.json")) << damaged;
    const Exit exit = weft(command);
    EXPECT_EQ(exit.code, 0) << damaged;
    EXPECT_EQ(exit.err, "") << damaged;
    EXPECT_THAT(exit.out, HasSubstr("no earlier figure")) << damaged;
    EXPECT_THAT(weft(command).out, HasSubstr(" % since ")) << damaged;
  }
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  const Exit exit = weft(command);
  EXPECT_EQ(exit.code, 0);
  EXPECT_THAT(exit.err, HasSubstr("these figures are not kept for the next time"));
}

TEST_F(Bench, ShowsTheFastestOfSeveralTurnsAndTheirSpread) {
  const auto measured = results({"--workload", "vector_add", "--size", "small", "--repeat", "3"});
  EXPECT_EQ(measured[0].at("repeats"), 3);
  EXPECT_GE(measured[0].at("spread_percent"), 0);
  EXPECT_THAT(weft({"bench", "--workload", "vector_add", "--size", "small", "--repeat", "2"}).out,
              HasSubstr("spread"));
}

TEST_F(Bench, RunsInItsOwnProcessForAProfiler) {
  const auto measured = results({"--workload", "aes", "--size", "small", "--here"});
  EXPECT_EQ(measured[0].at("workload"), "aes");
  EXPECT_EQ(measured[0].count("earlier"), 0u);
  EXPECT_FALSE(std::filesystem::exists(cache_.path("weft/bench.json")));
  EXPECT_THAT(weft({"bench", "--here"}).err, HasSubstr("--here: needs --workload NAME"));
  EXPECT_EQ(weft({"bench", "--here", "--workload", "bfs", "--repeat", "2"}).code, 2);
  EXPECT_THAT(weft({"bench", "--workload", "nowhere"}).err, HasSubstr("unknown name 'nowhere'"));
}

}  // namespace
}  // namespace weft::end_to_end::bench_test
