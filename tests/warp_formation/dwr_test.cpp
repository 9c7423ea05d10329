// Dynamic warp resizing, event by event: the listings of the paper in both orders, the ignore list filled and
// overflowing, large issues and their parts, partners of several blocks (dwr_partners_test.cpp), storage.
// Sub-warps of 4 threads on 4 lanes: s0 has threads 0 to 3, s1 threads 4 to 7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "warp_formation/dwr_options.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/pc_table.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::dwr_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr unsigned kLatency = 24;
const Threads kS0 = {0, 1, 2, 3}, kS1 = {4, 5, 6, 7};

Config dwr(unsigned largest_warp = 8) {
  Config config;
  config.scheme = "dwr";
  config.own<DwrOptions>().largest_warp = largest_warp;
  return config;
}

// Until a LAT barrier that a sub-warp has just come to is executed: it is stamped in the next cycle.
void execute_barriers(Steps& steps) {
  for (unsigned i = 0; i <= kLatency; ++i) steps.cycle();
}

std::string ignored(const Steps& steps) {
  return steps.lines("ignore list:")[0];
}

// Listing 2(a), and once more around it: both sub-warps load at pc 2, only s0 at pc 1.
const std::string kListing2a = R"(
AGAIN:
  @%p1 bra L4;                     // 0
  ld.global.u32 %r2, [%rd1];       // 1: line 2
L4:
  ld.global.u32 %r2, [%rd1];       // 2: line 4
  @%p2 bra AGAIN;                  // 3
  ret;                             // 4
)";

// Up to where s0 waits at line 2 for the second time and s1 has passed line 4, which is ignored: issues 0
// to 8.
void go_round(Steps& p) {
  p.launch(8);
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 0: 4 5 6 7");
  p.resolve(0, {{1, kS0}});
  execute_barriers(p);
  EXPECT_EQ(p.issue(), "");
  EXPECT_THAT(p.lines("LAT barrier at pc 1 "), ElementsAre(HasSubstr("locked sub-warps 0; not there: 1")));
  EXPECT_EQ(p.unit().census().own[0], 4u);
  // s1 at line 4: the PCs differ. Its own is ignored from now on, and both go on, apart.
  p.resolve(1, {{2, kS1}});
  EXPECT_EQ(p.unit().census().own[0], 8u);
  execute_barriers(p);
  EXPECT_THAT(ignored(p), HasSubstr("pc 2 "));
  EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 2: 4 5 6 7");
  EXPECT_EQ(p.statistic("large_issues"), 2);
  EXPECT_EQ(p.statistic("large_sub_warps"), 2);
  // s0 at line 4: ignored, so it does not wait, but for the execution of the barrier.
  p.resolve(2, {{2, kS0}});
  for (unsigned i = 0; i < kLatency; ++i) p.cycle();
  EXPECT_EQ(p.issue(), "");
  p.cycle();
  EXPECT_EQ(p.issue(), "pc 2: 0 1 2 3");
  EXPECT_EQ(p.statistic("ilt_hits"), 1);
  // The next time around s0 waits at line 2 again, and s1 passes line 4.
  p.resolve(4, {{3, kS0}});
  EXPECT_EQ(p.issue(), "pc 3: 0 1 2 3");
  p.resolve(5, {{0, kS0}});
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3");
  p.resolve(6, {{1, kS0}});
  execute_barriers(p);
  EXPECT_THAT(p.lines("LAT barrier at pc 1 "), ElementsAre(HasSubstr("locked sub-warps 0; not there: 1")));
  p.resolve(3, {{3, kS1}});
  EXPECT_EQ(p.issue(), "pc 3: 4 5 6 7");
  p.resolve(7, {{0, kS1}});
  EXPECT_EQ(p.issue(), "pc 0: 4 5 6 7");
  p.resolve(8, {{2, kS1}});
  execute_barriers(p);
}

TEST(DwrListing2a, WhoPassesAnIgnoredLatLetsItsPartnersGo) {
  const ptx::Program program = kernel(kListing2a);
  Steps p(program, dwr(), four_lanes(8));
  go_round(p);
  EXPECT_THAT(p.lines("no LAT barrier"), ElementsAre(""));
  EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 2: 4 5 6 7");
  EXPECT_EQ(p.statistic("ilt_hits"), 2);
  EXPECT_EQ(p.statistic("ilt_releases"), 1);
  // The first time s0 waited for the 25 cycles until s1's barrier had executed; now as long. Nothing new is
  // ignored.
  p.cycle();
  EXPECT_EQ(p.statistic("lat_wait_cycles"), 2 * (kLatency + 1));
  EXPECT_EQ(p.statistic("ilt_inserts"), 1);
}

TEST(DwrListing2a, OrLeavesThemLockedUntilItExits) {
  const ptx::Program program = kernel(kListing2a);
  Config config = dwr();
  config.own<DwrOptions>().release_on_ignored = false;
  Steps p(program, config, four_lanes(8));
  go_round(p);
  EXPECT_THAT(p.lines("LAT barrier at pc 1 "), ElementsAre(HasSubstr("locked sub-warps 0; not there: 1")));
  EXPECT_EQ(p.issue(), "pc 2: 4 5 6 7");
  EXPECT_EQ(p.statistic("ilt_hits"), 2);
  EXPECT_EQ(p.statistic("ilt_releases"), 0);
  p.resolve(9, {{3, kS1}});
  EXPECT_EQ(p.issue(), "pc 3: 4 5 6 7");
  p.resolve(10, {{4, kS1}});
  EXPECT_EQ(p.issue(), "pc 4: 4 5 6 7");
  EXPECT_EQ(p.issue(), "");
  p.resolve(11, {{5, kS1}}, Outcome::Kind::kExit);
  EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
  // An exit lets go without a trace in the list.
  EXPECT_EQ(p.statistic("ilt_inserts"), 1);
  EXPECT_EQ(p.statistic("ignored_lats"), 1);
  EXPECT_EQ(p.statistic("lats"), 2);
}

TEST(DwrListing2a, TheOtherOnesWhenThatComesFirst) {
  const ptx::Program program = kernel(kListing2a);
  Steps p(program, dwr(), four_lanes(8));
  p.launch(8);
  p.issue();
  p.issue();
  p.resolve(1, {{2, kS1}});
  execute_barriers(p);
  EXPECT_THAT(p.lines("LAT barrier at pc 2 "), ElementsAre(HasSubstr("locked sub-warps 1; not there: 0")));
  p.resolve(0, {{1, kS0}});
  execute_barriers(p);
  EXPECT_THAT(ignored(p), HasSubstr("pc 1 "));
  EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 2: 4 5 6 7");
  EXPECT_THAT(p.lines("no LAT barrier"), ElementsAre(""));
  // s1 was locked for the 25 cycles until s0's barrier had executed.
  p.cycle();
  EXPECT_EQ(p.statistic("lat_wait_cycles"), kLatency + 1);
}

const std::string kListing2b = R"(
  @%p1 bra B;                      // 0
  ld.global.u32 %r2, [%rd1];       // 1: line 2
B:
  bar.sync 0;                      // 2: line 4
  ret;                             // 3
)";

Config inserting(IltInsert when) {
  Config config = dwr();
  config.own<DwrOptions>().ilt_insert = when;
  return config;
}

class DwrListing2b : public ::testing::TestWithParam<IltInsert> {
 protected:
  // The list is for LATs of different PCs; by the other reading a partner at a block barrier counts too.
  void expect_ignored(const Steps& p) const {
    const bool barrier = GetParam() == IltInsert::kLatOrBarrier;
    EXPECT_EQ(ignored(p), barrier ? " pc 1 (k.ptx:8:3)" : "");
    EXPECT_EQ(p.statistic("ignored_lats"), barrier ? 1 : 0);
  }
};

// Listing 2(b): a partner at __syncthreads lets the locked one go.
TEST_P(DwrListing2b, LockedFirst) {
  const ptx::Program program = kernel(kListing2b);
  Steps p(program, inserting(GetParam()), four_lanes(8));
  p.launch(8);
  p.issue();
  p.issue();
  p.resolve(0, {{1, kS0}});
  execute_barriers(p);
  EXPECT_EQ(p.issue(), "");
  p.resolve(1, {{2, kS1}});
  EXPECT_EQ(p.issue(), "pc 2: 4 5 6 7");
  EXPECT_EQ(p.issue(), "");
  p.resolve(2, {{3, kS1}}, Outcome::Kind::kBarrier);
  EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
  expect_ignored(p);
  EXPECT_THAT(p.lines("at other barriers:"), ElementsAre(" 1"));
  p.resolve(3, {{2, kS0}});
  EXPECT_EQ(p.issue(), "pc 2: 0 1 2 3");
  p.resolve(4, {{3, kS0}}, Outcome::Kind::kBarrier);
  EXPECT_EQ(p.unit().census().barrier, 8u);
  p.unit().barrier_released(0, 0);
  EXPECT_EQ(p.issue(), "pc 3: 4 5 6 7");
  EXPECT_EQ(p.issue(), "pc 3: 0 1 2 3");
}

TEST_P(DwrListing2b, AtTheBlockBarrierFirst) {
  const ptx::Program program = kernel(kListing2b);
  Steps p(program, inserting(GetParam()), four_lanes(8));
  p.launch(8);
  p.issue();
  p.issue();
  p.resolve(1, {{2, kS1}});
  EXPECT_EQ(p.issue(), "pc 2: 4 5 6 7");
  p.resolve(2, {{3, kS1}}, Outcome::Kind::kBarrier);
  p.resolve(0, {{1, kS0}});
  EXPECT_EQ(p.issue(), "");
  execute_barriers(p);
  EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
  expect_ignored(p);
  EXPECT_EQ(p.statistic("lat_wait_cycles"), 0);
}

INSTANTIATE_TEST_SUITE_P(Both, DwrListing2b, ::testing::Values(IltInsert::kLat, IltInsert::kLatOrBarrier),
                         [](const auto& info) {
                           return info.param == IltInsert::kLat ? "lat" : "lat_or_barrier";
                         });

// Listing 3: __syncthreads in both arms, one sub-warp in each. Barriers count threads.
TEST(DwrListing3, BarriersInBothArms) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n  ret;");
  Driver driver(program, dwr(), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 4; };
  driver.launch(8);
  driver.run(100);
  EXPECT_THAT(issues(driver), ElementsAre(Pair(0, kS0), Pair(0, kS1), Pair(1, kS0), Pair(3, kS1),
                                          Pair(2, kS0), Pair(4, kS1), Pair(4, kS0)));
  EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST(Dwr, PartnersAtOneLoadIssueTogetherAndGoOnApart) {
  const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  ret;");
  Steps p(program, dwr(), four_lanes(8));
  p.launch(8);
  EXPECT_EQ(p.issue(), "");
  execute_barriers(p);
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3 4 5 6 7");
  EXPECT_EQ(p.statistic("average_large_issue"), 2);
  p.resolve(0, {{1, {6, 7}}});
  p.resolve(0, {{1, {0, 1, 2}}});
  EXPECT_EQ(p.issue(), "");
  p.resolve(0, {{1, {4, 5}}});
  EXPECT_EQ(p.issue(), "pc 1: 4 5 6 7");
  EXPECT_EQ(p.unit().census().issued, 8u);
  p.resolve(0, {{1, {3}}});
  EXPECT_EQ(p.issue(), "pc 1: 0 1 2 3");
}

TEST(Dwr, ALargeIssueTakesABeatPerSubWarp) {
  const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  ret;");
  for (const unsigned largest : {4u, 8u, 16u, 32u, 64u}) {
    Driver driver(program, dwr(largest), four_lanes(64));
    driver.launch(44);  // eleven sub-warps
    driver.run(200);
    std::vector<unsigned> rows;
    for (const auto& record : driver.trace()) {
      if (record.pc == 0) rows.push_back(record.rows);
    }
    std::vector<unsigned> expected;
    for (unsigned left = 11; left > 0; left -= expected.back())
      expected.push_back(std::min(left, largest / 4));
    EXPECT_EQ(rows, expected) << largest;
  }
}

TEST(Dwr, TheBarrierTakesTimeAndIfRealASlot) {
  const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  ret;");
  for (const auto kind : {LatBarrier::kVirtual, LatBarrier::kReal}) {
    Config config = dwr();
    config.own<DwrOptions>().lat_barrier = kind;
    Driver driver(program, config, four_lanes(8));
    driver.launch(8);
    driver.run(100);
    // Cycle 1, and one more for the second slot.
    const unsigned slots = kind == LatBarrier::kReal ? 2 : 0;
    EXPECT_EQ(driver.trace()[0].cycle, 1 + kLatency + (slots == 0 ? 0 : 1));
    EXPECT_EQ(driver.statistic("lat_slots"), slots);
    EXPECT_EQ(driver.statistic("lat_barriers"), 2);
  }
}

TEST(Dwr, OnlyLoadsAndStoresOfTheChosenSpacesHaveABarrier) {
  const ptx::Program program = kernel(R"(
  .shared .align 4 .b8 s[64];
  ld.param.u64 %rd1, [a];
  ld.shared.u32 %r1, [s];
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd1], %r2;
  ld.u32 %r2, [%rd1];
  atom.global.add.u32 %r3, [%rd1], %r2;
  ret;)");
  for (const auto spaces : {LatSpaces::kGlobalLocal, LatSpaces::kGlobalLocalParam}) {
    Config config = dwr();
    config.own<DwrOptions>().lat_spaces = spaces;
    Driver driver(program, config, four_lanes(8));
    driver.launch(8);
    driver.run(1000);
    const unsigned lats = spaces == LatSpaces::kGlobalLocal ? 3 : 4;
    EXPECT_EQ(driver.statistic("lats"), lats);
    EXPECT_EQ(driver.statistic("lat_barriers"), 2 * lats);
    EXPECT_EQ(driver.statistic("large_issues"), lats);
  }
}

// Blocks take whole groups: the missing partners count as gone.
TEST(Dwr, PartnersAreOfOneBlock) {
  const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  ret;");
  Driver driver(program, dwr(), four_lanes(16));
  driver.launch(4);
  driver.launch(4);
  driver.run(100);
  EXPECT_EQ(driver.statistic("large_issues"), 2);
  EXPECT_EQ(driver.statistic("ilt_inserts"), 0);
  EXPECT_EQ(driver.trace()[0].cycle, 1 + kLatency);
}

TEST(Dwr, APartnerAtAWarpLevelPrimitiveDoesNotKeepTheOthersLocked) {
  const ptx::Program program =
      kernel("  @%p1 bra B;\n  ld.global.u32 %r2, [%rd1];\nB:\n  bar.warp.sync -1;\n  ret;");
  Driver driver(program, dwr(), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 4; };
  driver.launch(8);
  driver.run(200);
  EXPECT_EQ(driver.statistic("large_sub_warps"), 1);
}

// The partner spins until the locked sub-warp has done what it waits to do: a deadlock that only this scheme
// has.
TEST(Dwr, ATimeoutEndsAWaitForASpinningPartner) {
  const ptx::Program program =
      kernel("  @%p1 bra SPIN;\n  st.global.u32 [%rd1], %r1;\n  ret;\nSPIN:\n  @%p2 bra SPIN;\n  ret;");
  for (const unsigned timeout : {0u, 100u}) {
    Config config = dwr();
    config.own<DwrOptions>().lat_timeout = timeout;
    Driver driver(program, config, four_lanes(8));
    driver.holds = [&driver](unsigned thread, ptx::Pc pc, unsigned) {
      return thread >= 4 && (pc == 0 || driver.visits().count({0, 1}) == 0);
    };
    driver.launch(8);
    if (timeout == 0) {
      try {
        driver.run(1000);
        FAIL() << "no deadlock";
      } catch (const ContractError& error) {
        EXPECT_THAT(error.what(), HasSubstr("LAT barrier at pc 1"));
        EXPECT_THAT(error.what(), HasSubstr("locked sub-warps 0; not there: 1"));
      }
      continue;
    }
    driver.run(1000);
    EXPECT_EQ(driver.statistic("lat_timeouts"), 1);
    EXPECT_EQ(driver.statistic("lat_wait_cycles"), 100);
    EXPECT_EQ(driver.statistic("ilt_inserts"), 1);
  }
}

// s0 loads `lats` times while s1 waits at the block barrier, twice: each barrier is in vain, and its PC
// ignored where such barriers count.
std::vector<double> two_rounds(unsigned lats, unsigned entries, unsigned ways) {
  std::string body = "AGAIN:\n  @%p1 bra OUT;\n";
  for (unsigned i = 0; i < lats; ++i) body += "  ld.global.u32 %r2, [%rd1];\n";
  const ptx::Program program = kernel(body + "OUT:\n  bar.sync 0;\n  @%p2 bra AGAIN;\n  ret;");
  Config config = inserting(IltInsert::kLatOrBarrier);
  config.own<DwrOptions>().ilt_entries = entries;
  config.own<DwrOptions>().ilt_ways = ways;
  Driver driver(program, config, four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? thread >= 4 : visit == 0;
  };
  driver.launch(8);
  driver.run(10'000);
  return {driver.statistic("ilt_inserts"), driver.statistic("ilt_evictions"), driver.statistic("ilt_hits"),
          driver.statistic("ignored_lats")};
}

TEST(DwrIgnoreList, RemembersWhatFits) {
  EXPECT_THAT(two_rounds(32, 32, 8), ElementsAre(32, 0, 32, 32));
  EXPECT_THAT(two_rounds(36, 64, 8), ElementsAre(36, 0, 36, 36));
}

// 36 in 4 sets of 8: nine in each, so the first round evicts four; in the same order again, the least
// recently used is always the one that comes next.
TEST(DwrIgnoreList, ThirtySixInThirtyTwoEntriesThrash) {
  EXPECT_THAT(two_rounds(36, 32, 8), ElementsAre(72, 40, 0, 36));
}

TEST(DwrIgnoreList, EvictsTheLeastRecentlyUsedOfASet) {
  PcTable list(8, 4, IltIndex::kInstruction);
  for (const ptx::Pc pc : {2u, 4u, 6u, 8u}) EXPECT_FALSE(list.insert(pc).evicted);
  EXPECT_TRUE(list.hit(2));
  EXPECT_FALSE(list.insert(2).fresh);
  EXPECT_FALSE(list.insert(3).evicted);  // the other set
  EXPECT_TRUE(list.insert(10).evicted);
  EXPECT_FALSE(list.hit(4));
  for (const ptx::Pc pc : {2u, 3u, 6u, 8u, 10u}) EXPECT_TRUE(list.hit(pc)) << pc;
  list.clear();
  EXPECT_FALSE(list.hit(2));
}

// As printed, the set is chosen by address bits that are the same for all instructions.
TEST(DwrIgnoreList, ByteAddressesUseOneSetOnly) {
  PcTable list(8, 4, IltIndex::kBytePc);
  for (const ptx::Pc pc : {1u, 2u, 3u, 4u}) EXPECT_FALSE(list.insert(pc).evicted);
  EXPECT_TRUE(list.insert(5).evicted);
}

// [DWR IV.E]: 16 groups of 8 sub-warps take 82 bytes, 32 PCs 124 bytes.
TEST(Dwr, StorageIsThatOfThePaper) {
  const ptx::Program program = kernel("  ret;");
  Geometry geometry;
  geometry.threads = 1024;
  geometry.lanes = 8;
  Driver driver(program, dwr(64), geometry);
  EXPECT_EQ(driver.statistic("pst_bits"), 82 * 8);
  EXPECT_EQ(driver.statistic("ilt_bits"), 124 * 8);
  EXPECT_EQ(driver.statistic("storage_bits"), (82 + 124 + 16) * 8);
}

TEST(Dwr, SubWarpsDivergeApartAndDoNotWaitForPartners) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  add.u32 %r1, %r1, 1;\nC:\n  add.u32 %r1, %r1, 1;\n  ret;");
  Driver driver(program, dwr(), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread == 1 || thread >= 4; };
  driver.launch(8);
  driver.run(100);
  EXPECT_THAT(issues(driver), ElementsAre(Pair(0, kS0), Pair(0, kS1), Pair(1, Threads{0, 2, 3}), Pair(2, kS1),
                                          Pair(2, kS0), Pair(3, kS1), Pair(3, kS0)));
}

}  // namespace
}  // namespace weft::warp_formation::test::dwr_test
