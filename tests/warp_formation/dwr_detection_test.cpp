// Dynamic warp resizing, what the paper leaves open or names as an alternative: LATs that are detected as
// they execute, ignored ones that cost no time, and sub-warps wider than the SIMD group. Sub-warps of 4
// threads on 4 lanes, except in the last tests: s0 has threads 0 to 3, s1 threads 4 to 7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "warp_formation/dwr_options.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"
#include "weft/common/error.h"

namespace weft::warp_formation::test::dwr_detection_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr unsigned kLatency = 24;
const Threads kS0 = {0, 1, 2, 3}, kS1 = {4, 5, 6, 7};

Config dwr() {
  Config config;
  config.scheme = "dwr";
  config.own<DwrOptions>().largest_warp = 8;
  return config;
}

Config dynamic() {
  Config config = dwr();
  config.own<DwrOptions>().lats = LatDetection::kDynamic;
  return config;
}

// Until a LAT barrier that a sub-warp has just come to is executed.
void execute_barriers(Steps& steps) {
  for (unsigned i = 0; i <= kLatency; ++i) steps.cycle();
}

// The sub-warps pass an undetected load in the cycle that they come to it. The next time they wait.
TEST(DwrDetection, ALoadThatHasIssuedHasABarrierFromThenOn) {
  const ptx::Program program = kernel("AGAIN:\n  ld.global.u32 %r2, [%rd1];\n  @%p1 bra AGAIN;\n  ret;");
  Steps p(program, dynamic(), four_lanes(8));
  p.launch(8);
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 0: 4 5 6 7");
  EXPECT_EQ(p.statistic("lat_barriers"), 0);
  EXPECT_EQ(p.statistic("lats_missed"), 2);
  EXPECT_EQ(p.statistic("lats_detected"), 1);
  p.resolve(0, {{1, kS0}});
  p.resolve(1, {{1, kS1}});
  p.issue();
  p.issue();
  p.resolve(2, {{0, kS0}});
  p.resolve(3, {{0, kS1}});
  EXPECT_EQ(p.issue(), "");
  execute_barriers(p);
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3 4 5 6 7");
  EXPECT_EQ(p.statistic("lats_missed"), 2);
  EXPECT_EQ(p.statistic("lat_barriers"), 2);
}

// s1 waits at a load that s0 has detected. s0 comes to the next one, which nobody knows, and goes past s1.
TEST(DwrDetection, WhoPassesAnUndetectedLatLetsItsPartnersGo) {
  const ptx::Program program =
      kernel("  add.u32 %r1, %r1, 1;\n  ld.global.u32 %r2, [%rd1];\n  ld.global.u32 %r2, [%rd1];\n  ret;");
  for (const bool release : {true, false}) {
    Config config = dynamic();
    config.own<DwrOptions>().release_on_ignored = release;
    Steps p(program, config, four_lanes(8));
    p.launch(8);
    p.issue();
    p.issue();
    p.resolve(0, {{1, kS0}});
    EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
    p.resolve(1, {{1, kS1}});
    execute_barriers(p);
    EXPECT_THAT(p.lines("LAT barrier at pc 1 "), ElementsAre(HasSubstr("locked sub-warps 1; not there: 0")));
    p.resolve(2, {{2, kS0}});
    EXPECT_EQ(p.issue(), release ? "pc 1: 4 5 6 7" : "pc 2: 0 1 2 3");
    EXPECT_EQ(p.issue(), release ? "pc 2: 0 1 2 3" : "");
    EXPECT_EQ(p.statistic("ilt_releases"), release ? 1 : 0);
    EXPECT_EQ(p.statistic("ilt_inserts"), 0);
  }
}

// Two loads take turns in a table of one entry, so that none is ever known.
TEST(DwrDetection, ForgetsWhatTheTableDoesNotHold) {
  const ptx::Program program =
      kernel("AGAIN:\n  ld.global.u32 %r2, [%rd1];\n  ld.global.u32 %r2, [%rd1];\n  @%p1 bra AGAIN;\n  ret;");
  for (const unsigned entries : {1u, 2u}) {
    Config config = dynamic();
    config.own<DwrOptions>().lat_table_entries = entries;
    config.own<DwrOptions>().lat_table_ways = 1;
    Driver driver(program, config, four_lanes(4));
    driver.holds = [](unsigned, ptx::Pc, unsigned visit) { return visit < 2; };
    driver.launch(4);
    driver.run(1000);
    EXPECT_EQ(driver.statistic("lats_missed"), entries == 1 ? 6 : 2);
    EXPECT_EQ(driver.statistic("lat_table_evictions"), entries == 1 ? 5 : 0);
    EXPECT_EQ(driver.statistic("lat_barriers"), entries == 1 ? 0 : 4);
    // The ignore list and the status bit are as without detection.
    EXPECT_EQ(driver.statistic("storage_bits") - driver.statistic("pst_bits") - driver.statistic("ilt_bits"),
              2 + entries * (entries == 1 ? 33 : 32));
  }
}

TEST(DwrDetection, StartsAnewWithEachKernel) {
  const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  ret;");
  Driver driver(program, dynamic(), four_lanes(8));
  for (unsigned launch = 1; launch <= 2; ++launch) {
    driver.launch(8);
    driver.run(100);
    EXPECT_EQ(driver.statistic("lats_missed"), 2 * launch);
    driver.attach();
  }
}

// s0 and s1 at different loads, and then both at the one that is ignored.
TEST(DwrIgnoredLat, CostsTheCyclesOfTheBarrierOrNone) {
  const ptx::Program program =
      kernel("  @%p1 bra B;\n  ld.global.u32 %r2, [%rd1];\nB:\n  ld.global.u32 %r2, [%rd1];\n  ret;");
  for (const LatBarrier kind : {LatBarrier::kVirtual, LatBarrier::kReal}) {
    for (const IgnoredLat ignored : {IgnoredLat::kCharged, IgnoredLat::kFree}) {
      Config config = dwr();
      config.own<DwrOptions>().lat_barrier = kind;
      config.own<DwrOptions>().ignored_lat = ignored;
      Steps p(program, config, four_lanes(8));
      p.launch(8);
      p.issue();
      p.issue();
      p.resolve(0, {{1, kS0}});
      p.issue();  // the slot of the barrier, where it takes one
      execute_barriers(p);
      p.resolve(1, {{2, kS1}});
      p.issue();
      execute_barriers(p);
      EXPECT_EQ(p.statistic("ilt_inserts"), 1);
      p.issue();
      p.issue();
      p.resolve(2, {{2, kS0}});
      const bool slot = kind == LatBarrier::kReal;
      const std::string load = "pc 2: 0 1 2 3";
      EXPECT_EQ(p.issue(), slot || ignored == IgnoredLat::kCharged ? "" : load);
      if (ignored == IgnoredLat::kFree) {
        if (slot) {
          EXPECT_EQ(p.issue(), load);
        }
      } else {
        execute_barriers(p);
        EXPECT_EQ(p.issue(), load);
      }
      EXPECT_EQ(p.statistic("ilt_hits"), 1);
      EXPECT_EQ(p.statistic("lat_barriers"), 3);
      EXPECT_EQ(p.statistic("lat_slots"), slot ? 3 : 0);
    }
  }
}

// Sub-warps of 8 threads on 4 lanes take two beats; a large warp of 16 takes four.
TEST(DwrSmallestWarp, IsWhatRunsApart) {
  const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  add.u32 %r1, %r1, 1;\n  ret;");
  const auto rows = [&](unsigned smallest, unsigned threads) {
    Config config = dwr();
    config.own<DwrOptions>().smallest_warp = smallest;
    config.own<DwrOptions>().largest_warp = 16;
    Driver driver(program, config, four_lanes(64));
    driver.launch(threads);
    driver.run(1000);
    std::vector<std::vector<unsigned>> list(2);
    for (const Record& record : driver.trace()) {
      if (record.pc < 2) list[record.pc].push_back(record.rows);
    }
    return list;
  };
  EXPECT_THAT(rows(8, 32), ElementsAre(ElementsAre(4, 4), ElementsAre(2, 2, 2, 2)));
  EXPECT_THAT(rows(8, 12), ElementsAre(ElementsAre(4), ElementsAre(2, 2)));
  EXPECT_THAT(rows(16, 32), ElementsAre(ElementsAre(4, 4), ElementsAre(4, 4)));
  // 0 is as wide as the lanes, and so is what is narrower.
  EXPECT_EQ(rows(0, 12), rows(4, 12));
  EXPECT_THAT(rows(0, 12), ElementsAre(ElementsAre(3), ElementsAre(1, 1, 1)));
}

TEST(DwrOptions, RefusesWhatDoesNotGoTogether) {
  const auto message = [](auto&& change) {
    DwrOptions options;
    change(options);
    try {
      options.check("dwr");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](DwrOptions&) {}), "");
  EXPECT_THAT(message([](DwrOptions& o) { o.smallest_warp = 12; }),
              HasSubstr("found 12; allowed: 0, and powers of two from 4 to 32"));
  EXPECT_THAT(message([](DwrOptions& o) { o.smallest_warp = 32, o.largest_warp = 16; }),
              HasSubstr("found 32; allowed: 0 to largest_warp, 16"));
  EXPECT_THAT(message([](DwrOptions& o) { o.lat_table_entries = 12; }),
              HasSubstr("lat_table_entries: found 12 entries of 8 ways"));
  EXPECT_THAT(
      message([](DwrOptions& o) { o.lats = LatDetection::kDynamic, o.lat_barrier = LatBarrier::kReal; }),
      HasSubstr("lats: found \"dynamic\" with lat_barrier \"real\"; allowed: \"virtual\""));
}

}  // namespace
}  // namespace weft::warp_formation::test::dwr_detection_test
