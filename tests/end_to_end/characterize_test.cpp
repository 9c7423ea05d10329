// `weft characterize`: its counts against those that the machine's own statistics keep, and against a kernel
// whose branches are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "end_to_end/process.h"
#include "warp_formation/schemes.h"

namespace weft::end_to_end::characterize_test {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

// The sum of smN.warp_formationD.NAME over all SMs and domains.
std::uint64_t sum_of(const ordered_json& statistics, const std::string& name) {
  std::uint64_t sum = 0;
  for (const auto& [unit, values] : statistics.items()) {
    if (unit.rfind("sm", 0) != 0) continue;
    for (const auto& [part, counters] : values.items()) {
      if (part.rfind("warp_formation", 0) == 0) sum += counters.at(name).get<std::uint64_t>();
    }
  }
  return sum;
}

class Characterize : public ::testing::TestWithParam<const char*> {};
TEST_P(Characterize, AgreesWithTheStatistics) {
  const Folder folder;
  const Exit exit = weft(
      {"characterize", GetParam(), "--size", "small", "--config", "dwr-tesla", "--out", folder.path("out")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const ordered_json found = folder.json("out/characteristics.json"), run = folder.json("out/stats.json");
  std::uint64_t threads = 0, issues = 0, parted = 0;
  for (const auto& kernel : found.at("kernels")) {
    threads += kernel.at("thread_instructions").get<std::uint64_t>();
    issues += kernel.at("warp_instructions").get<std::uint64_t>();
    for (const auto& branch : kernel.at("divergent_branches")) {
      parted += branch.at("divergent").get<std::uint64_t>();
      EXPECT_LE(branch.at("divergent"), branch.at("executed"));
      EXPECT_LE(branch.at("taken"), branch.at("threads"));
      EXPECT_THAT(branch.at("place").get<std::string>(), HasSubstr(std::string(GetParam()) + ".cu:"));
    }
  }
  EXPECT_EQ(threads, run.at("thread_instructions"));
  EXPECT_EQ(issues, run.at("warp_instructions"));
  EXPECT_EQ(parted, sum_of(run.at("statistics"), "divergent_branches"));
  if (found.at("kernels").size() == 1) {
    EXPECT_NEAR(found.at("kernels")[0].at("simd_efficiency"), run.at("simd_efficiency"), 1e-9);
  }
}
INSTANTIATE_TEST_SUITE_P(Workloads, Characterize, ::testing::Values("bfs", "reduction", "n_queens"),
                         [](const auto& info) { return std::string(info.param); });

// SIMD efficiency is that of the machine's statistics, whatever the width of the scheme's warps.
class Schemes : public ::testing::TestWithParam<std::string> {};
TEST_P(Schemes, HaveTheSameEfficiency) {
  const Folder folder;
  const Exit exit = weft({"characterize", "bfs", "--size", "small", "--config", "harp-fermi", "--set",
                          "warp_formation.scheme=" + GetParam(), "--out", folder.path("out")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_NEAR(folder.json("out/characteristics.json").at("kernels")[0].at("simd_efficiency"),
              folder.json("out/stats.json").at("simd_efficiency"), 1e-9);
}
INSTANTIATE_TEST_SUITE_P(Characterize, Schemes, ::testing::ValuesIn(scheme_classes::all()),
                         scheme_classes::name_of);

// vector_add, small: 10,000 elements by 40 blocks of 256, of which the last has 16 threads within the vector:
// one warp of its eight parts at the bounds check.
TEST(Characterize, CountsABranchThatIsKnown) {
  const Folder folder;
  const Exit exit = weft(
      {"characterize", "vector_add", "--size", "small", "--config", "gtx480", "--out", folder.path("out")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const ordered_json json = folder.json("out/characteristics.json");
  const ordered_json& kernel = json.at("kernels")[0];
  EXPECT_EQ(kernel.at("launches"), 1);
  EXPECT_EQ(kernel.at("shapes").begin().key(), "(40) x (256)");
  EXPECT_EQ(kernel.at("threads"), 40 * 256);
  const ordered_json& branches = kernel.at("divergent_branches");
  ASSERT_EQ(branches.size(), 1u);
  EXPECT_EQ(branches[0].at("executed"), 40 * 8);
  EXPECT_EQ(branches[0].at("divergent"), 1);
  EXPECT_EQ(branches[0].at("threads"), 40 * 256);
  EXPECT_EQ(branches[0].at("taken"), 240) << "those outside leave";
  EXPECT_EQ(kernel.at("static_lats"), 3) << "two loads, one store";
  EXPECT_THAT(exit.out, HasSubstr("vector_add.cu:"));
}

// Under dynamic warp resizing the scheme says which loads and stores it learned to ignore.
TEST(Characterize, TellsIgnoredLats) {
  const Folder folder;
  const Exit exit = weft({"characterize", "bfs", "--size", "small", "--config", "dwr-tesla", "--set",
                          "warp_formation.scheme=dwr", "--out", folder.path("out")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const ordered_json json = folder.json("out/characteristics.json");
  EXPECT_GT(json.at("ignored_lats"), 0);
  EXPECT_LE(json.at("ignored_lats"), json.at("kernels")[0].at("static_lats"));
}

std::uint64_t ignored_lats(const std::string& workload, const std::vector<std::string>& settings) {
  const Folder folder;
  std::vector<std::string> words = {
      "characterize", workload, "--size",           "dwr",   "--config",
      "dwr-tesla",    "--out",  folder.path("out"), "--set", "warp_formation.scheme=dwr"};
  for (const auto& setting : settings) words.insert(words.end(), {"--set", "warp_formation.dwr." + setting});
  const Exit exit = weft(words);
  EXPECT_EQ(exit.code, 0) << exit.err;
  return folder.json("out/characteristics.json").at("ignored_lats").get<std::uint64_t>();
}

// Programs of DWR's Table 1 that ignore no LAT there. A partner at a block barrier would make it one and
// three (dwr.ilt_insert).
TEST(Characterize, FindsNoIgnoredLatsWhereThePaperHasNone) {
  const std::string barrier = "ilt_insert=lat_or_barrier";
  EXPECT_EQ(ignored_lats("back_propagation", {}), 0u);
  EXPECT_EQ(ignored_lats("back_propagation", {barrier}), 1u);
  EXPECT_EQ(ignored_lats("n_queens", {}), 0u);
  EXPECT_EQ(ignored_lats("n_queens", {barrier}), 3u);
  EXPECT_EQ(ignored_lats("gaussian_elimination", {}), 0u);
}

TEST(Characterize, RefusesWhatItDoesNotKnow) {
  const Exit exit = weft({"characterize", "sort"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("unknown name 'sort'; known: "));
  EXPECT_EQ(weft({"characterize"}).code, 2);
  EXPECT_EQ(weft({"characterize", "bfs", "--size", "huge"}).code, 2);
}

}  // namespace
}  // namespace weft::end_to_end::characterize_test
