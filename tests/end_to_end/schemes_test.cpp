// What the papers say of their schemes, as far as it comes out on inputs that run within seconds
// (experiments/ has the papers' own).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "end_to_end/process.h"

namespace weft::end_to_end::schemes_test {
namespace {

using Runs = std::map<std::string, nlohmann::ordered_json>;  // by scheme

Runs compare(const std::string& config, const std::string& schemes, const std::string& workload,
             const std::string& size) {
  const Folder folder;
  const Exit exit = weft({"compare", "--config", config, "--schemes", schemes, "--workloads", workload,
                          "--size", size, "--out", folder.path()},
                         patient(500));
  EXPECT_EQ(exit.code, 0) << exit.err << exit.out;
  const nlohmann::ordered_json list = folder.json("comparison.json").at("runs");
  Runs runs;
  for (const auto& run : list) runs[run.at("scheme")] = run;
  EXPECT_EQ(runs.size(), 1u + static_cast<std::size_t>(std::count(schemes.begin(), schemes.end(), ',')));
  return runs;
}

double of(const Runs& runs, const std::string& scheme, const char* key) {
  return runs.at(scheme).at(key).get<double>();
}

// HARP, ACM TECS 2014: lanes are fuller than under the stack; with fewer barriers threads miss their
// reconvergence more often (7.3.1), down to none, which is dynamic warp formation by lookup tables.
TEST(Schemes, FewerReconvergenceBarriersMoveHarpTowardsDwf) {
  const std::string harp = "harp", none = "harp+harp.barrier_entries=0", dwf = "dwf+warp_size=16";
  const std::string halves[] = {harp, "harp+harp.barrier_entries=32", "harp+harp.barrier_entries=16", none};
  const Runs runs =
      compare("harp-fermi", "sbr," + halves[0] + "," + halves[1] + "," + halves[2] + "," + none + "," + dwf,
              "bfs", "small");
  const char* lanes = "lane_activity";
  EXPECT_GT(of(runs, harp, lanes), 1.3 * of(runs, "sbr", lanes));
  for (int i = 1; i < 4; ++i)
    EXPECT_LT(of(runs, halves[i], lanes), of(runs, halves[i - 1], lanes)) << halves[i];
  EXPECT_LT(std::abs(of(runs, none, lanes) - of(runs, dwf, lanes)),
            0.7 * std::abs(of(runs, harp, lanes) - of(runs, dwf, lanes)));
  // In idle cycles threads wait for reconvergence where there are barriers, under dwf never.
  EXPECT_GT(of(runs, harp, "stalled_share"), 0.3);
  EXPECT_LT(of(runs, none, "stalled_share"), 0.03);
  EXPECT_EQ(of(runs, dwf, "stalled_share"), 0);
}

// DWR, ICCD 2012: sub-warps of 8 that combine at loads and stores keep the coalescing of large warps (97 % of
// that of 64 threads on average), which warps of 8 lose.
TEST(Schemes, CombinedSubWarpsCoalesceLikeLargeWarps) {
  const Runs runs =
      compare("dwr-tesla", "sbr+warp_size=64,sbr+warp_size=8,dwr-64", "matrix_multiply", "n=128");
  const char* rate = "coalescing_rate";
  EXPECT_GT(of(runs, "dwr-64", rate), 0.9 * of(runs, "sbr+warp_size=64", rate));
  EXPECT_LT(of(runs, "sbr+warp_size=8", rate), 0.9 * of(runs, "sbr+warp_size=64", rate));
}

// PCs that DWR-64's ignore lists gave up for others during bfs, all SMs together.
std::uint64_t evictions(const std::string& entries, const std::string& ways) {
  const Folder folder;
  const Exit exit =
      weft({"run", "--config", "dwr-tesla", "--workload", "bfs", "--size", "small", "--out",
            folder.path("out"), "--set", "warp_formation.scheme=dwr", "warp_formation.dwr.largest_warp=64",
            "warp_formation.dwr.ilt_entries=" + entries, "warp_formation.dwr.ilt_ways=" + ways});
  EXPECT_EQ(exit.code, 0) << exit.err << exit.out;
  const nlohmann::ordered_json stats = folder.json("out/stats.json");
  std::uint64_t sum = 0;
  for (const auto& [unit, values] : stats.at("statistics").items()) {
    if (unit.rfind("sm", 0) == 0)
      sum += values.at("warp_formation0").at("ilt_evictions").get<std::uint64_t>();
  }
  return sum;
}

// ... and an ignore list of 8 entries does almost as well as one of 32. One of 2 is too small for the LATs
// that bfs ignores, which are learned again and again. (Whether that is slower depends on what more waiting
// gains.)
TEST(Schemes, ASmallerIgnoreListCostsLittle) {
  const std::string eight = "dwr-64+dwr.ilt_entries=8";
  const Runs runs = compare("dwr-tesla", "dwr-64," + eight, "bfs", "small");
  EXPECT_NEAR(of(runs, eight, "cycles"), of(runs, "dwr-64", "cycles"), 0.02 * of(runs, "dwr-64", "cycles"));
  EXPECT_NEAR(of(runs, eight, "coalescing_rate"), of(runs, "dwr-64", "coalescing_rate"), 0.05);
  EXPECT_EQ(evictions("32", "8"), 0u);
  EXPECT_GT(evictions("2", "2"), 100u);
}

// Thread block compaction comes next to what any regrouping could reach, and no scheme above it. (The order
// in which bfs visits vertices differs a little from scheme to scheme, and with it the bound.)
TEST(Schemes, NoneHasMoreActiveLanesThanTheOracle) {
  const Runs runs = compare("gtx480", "sbr,dwf,lwm,dwr-32,dwr-64,crown,harp,capri,tbc", "bfs", "small");
  for (const auto& [scheme, run] : runs) {
    const double lanes = of(runs, scheme, "lane_activity"), oracle = of(runs, scheme, "oracle_lane_activity");
    EXPECT_LE(lanes, oracle) << scheme;
    const bool regroups = scheme != "sbr" && scheme.compare(0, 3, "dwr") != 0;
    if (regroups) {
      EXPECT_GT(lanes, of(runs, "sbr", "lane_activity")) << scheme;
    }
    EXPECT_LE(lanes, of(runs, "tbc", "lane_activity")) << scheme;
  }
}

}  // namespace
}  // namespace weft::end_to_end::schemes_test
