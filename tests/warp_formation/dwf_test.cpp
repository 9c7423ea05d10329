// Dynamic warp formation, event by event, under the driver. Warps of 4 threads on 4 lanes, so that masks can
// be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "warp_formation/dwf_bench.h"
#include "warp_formation/dwf_options.h"
#include "warp_formation/dwf_pool.h"
#include "warp_formation/kernels.h"
#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation::test::dwf_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Issued = std::pair<ptx::Pc, Threads>;

const std::string kIfElse = R"(
  @%p1 bra C;              // 0: A
  bra D;                   // 1: B
C:
  add.u32 %r1, %r1, 1;     // 2: C
D:
  ret;)";

// CROWN slide 56: W0 goes B 0110, C 1001; W1 goes B 0001, C 1110 (lane 0 first). B fills one warp; what comes
// to D comes in pieces that need not meet again. Bandwidth for both commits, so that B's threads meet.
TEST(Dwf, RegroupsAsOnSlide56) {
  const ptx::Program program = kernel(kIfElse);
  Config config = dwf();
  config.own<DwfOptions>().commit_bandwidth = 2;
  Driver driver(program, config, four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return (0b01111001 >> thread & 1) != 0; };
  driver.launch(8);
  driver.run(100);
  // C has five threads when the majority is chosen, so it goes first; thread 4 finds lane 0 taken. At D there
  // are five again, so B waits until all of them are gone.
  EXPECT_THAT(issues(driver), ElementsAre(Issued{0, {0, 1, 2, 3}}, Issued{0, {4, 5, 6, 7}},
                                          Issued{2, {0, 3, 5, 6}}, Issued{2, {4}}, Issued{3, {0, 3, 5, 6}},
                                          Issued{3, {4}}, Issued{1, {1, 2, 7}}, Issued{3, {1, 2, 7}}));
  EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(driver.statistic("divergent_branches"), 2);
  EXPECT_EQ(driver.statistic("merged_threads"), 3);  // 7, 5 and 6
}

// Four warps of so many threads are issued in cycles 1 to 4 and so end in cycles 2 to 5; the second parts in
// four. By cycle, from 1 on: the warps that wait for bandwidth.
std::vector<unsigned> warps_queued(unsigned warp_size, unsigned bandwidth, bool shared_port = true) {
  const ptx::Program program =
      kernel("  @%p1 bra A;\nA:\n  bra E;\nB:\n  bra E;\nC:\n  bra E;\nD:\n  bra E;\nE:\n  ret;");
  Config config = dwf(DwfHeuristic::kFifo);
  config.warp_size = warp_size;
  config.own<DwfOptions>().commit_bandwidth = bandwidth;
  Geometry geometry = four_lanes(4 * warp_size);
  geometry.shared_port = shared_port;
  Driver driver(program, config, geometry);
  driver.jump = [warp_size](unsigned thread, ptx::Pc pc) {
    return pc == 0 && thread / warp_size == 1 ? ptx::Pc{1 + thread % 4} : ptx::kNoPc;
  };
  driver.refuse = [](unsigned, const Issue& issue) { return issue.pc == 0 ? Stall::kNone : Stall::kFetch; };
  driver.launch(4 * warp_size);
  std::vector<unsigned> queued;
  for (int i = 0; i < 10; ++i) {
    const Cycle next = driver.unit().next_event(static_cast<Cycle>(i));
    driver.step();
    queued.push_back(static_cast<unsigned>(driver.unit().census().queued / warp_size));
    if (i > 5 && queued[i] != queued[i - 1]) {
      EXPECT_EQ(next, static_cast<Cycle>(i + 1)) << "the SM would have slept";
    }
  }
  driver.refuse = nullptr;
  driver.run(100);
  return queued;
}

TEST(Dwf, AWarpCommitsPerIssueSlotHoweverItParts) {
  EXPECT_THAT(warps_queued(4, 1), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(warps_queued(16, 1, false), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(warps_queued(8, 1), ElementsAre(0, 0, 1, 1, 2, 1, 1, 0, 0, 0));   // cycles 2, 4, 6, 8
  EXPECT_THAT(warps_queued(16, 1), ElementsAre(0, 0, 1, 2, 3, 2, 2, 2, 2, 1));  // cycles 2, 6, 10
  // Slots of cycles 2 and 3, and 4 and 5: the parts of the second are more than the first leaves.
  EXPECT_THAT(warps_queued(8, 2), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  // A slot of cycles 2 to 5: there is room for the first two.
  EXPECT_THAT(warps_queued(16, 2), ElementsAre(0, 0, 0, 1, 2, 0, 0, 0, 0, 0));
}

// Warps at a barrier know no LUT: those that come apart leave apart.
TEST(Dwf, WarpsAtABarrierDoNotMerge) {
  const ptx::Program program =
      kernel("  @%p1 bra B;\n  add.u32 %r1, %r1, 1;\n  add.u32 %r1, %r1, 1;\nB:\n  bar.sync 0;\n  ret;");
  Driver driver(program, dwf(DwfHeuristic::kFifo), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread < 2; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Issued{0, {0, 1, 2, 3}}, Issued{1, {2, 3}}, Issued{3, {0, 1}}, Issued{2, {2, 3}},
                          Issued{3, {2, 3}}, Issued{4, {0, 1}}, Issued{4, {2, 3}}));
}

// Two warps keep a loop going, so that its PC never runs out of threads: the thread that left it waits.
struct Eddy {
  explicit Eddy(std::uint64_t limit, bool spin)
      : program(kernel("  @%p1 bra X;\nAGAIN:\n  @%p2 bra AGAIN;\n  ret;\nX:\n  ret;")),
        driver(program, with(limit), four_lanes(8)) {
    driver.holds = [this, spin](unsigned thread, ptx::Pc pc, unsigned visit) {
      if (pc == 0) return thread == 0;
      return spin ? driver.visits().count({0, 3}) == 0 : visit < 200;
    };
    driver.launch(8);
  }
  static Config with(std::uint64_t limit) {
    Config config = dwf();
    config.own<DwfOptions>().starvation_limit = limit;
    return config;
  }
  Cycle left() const {
    for (const auto& record : driver.trace()) {
      if (record.pc == 3) return record.cycle;
    }
    return 0;
  }
  ptx::Program program;
  Driver driver;
};

TEST(Dwf, AMinorityStarvesWhileTheMajorityLoops) {
  Eddy eddy(0, false);
  eddy.driver.run(2000);
  EXPECT_GT(eddy.left(), 400u);  // 200 turns of two warps
  EXPECT_EQ(eddy.driver.statistic("overdue_issues"), 0);
}

TEST(Dwf, TheLimitOnStarvationLetsItGo) {
  Eddy eddy(50, false);
  eddy.driver.run(2000);
  // In the pool since cycle 2, overdue in cycle 53.
  EXPECT_EQ(eddy.left(), 53u);
  EXPECT_GE(eddy.driver.statistic("overdue_issues"), 1);
}

// The majority spins until the starved thread has run: without the limit for ever.
TEST(Dwf, ASpinningMajorityIsALivelockWithoutTheLimit) {
  Eddy hangs(0, true);
  EXPECT_THROW(hangs.driver.run(2000), ContractError);
  Eddy ends(50, true);
  ends.driver.run(2000);
  EXPECT_EQ(ends.left(), 53u);
}

// The spin lock that hangs under a stack: here the holder is a warp of its own.
TEST(Dwf, ASpinLockInsideAWarpEnds) {
  const ptx::Program program = kernel("SPIN:\n  @%p1 bra SPIN;\n  ret;");
  Driver driver(program, dwf(), four_lanes(4));
  driver.holds = [&driver](unsigned thread, ptx::Pc, unsigned) {
    return thread != 0 && driver.visits().count({0, 1}) == 0;
  };
  driver.launch(4);
  driver.run(100);
  EXPECT_EQ(driver.live_threads(), 0u);
}

TEST(Dwf, ExitsInsideADivergentArm) {
  const ptx::Program program = kernel(R"(
  @%p1 bra C;              // 0
  @%p2 exit;               // 1
  bra D;                   // 2
C:
  exit;                    // 3
D:
  ret;)");
  Driver driver(program, dwf(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned) { return pc == 0 ? thread == 3 : thread == 1; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver), ElementsAre(Issued{0, {0, 1, 2, 3}}, Issued{1, {0, 1, 2}}, Issued{3, {3}},
                                          Issued{2, {0, 2}}, Issued{4, {0, 2}}));
}

// Everything may be issued at once.
class Willing final : public SmView {
 public:
  Stall ready(unsigned, const Issue&) const override { return Stall::kNone; }
};

// Threads that wait for others of their original warp come back through the LUT, some earlier than others.
TEST(Dwf, WarpSyncKeepsThreadsUntilTheyAreReleased) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  ret;");
  const auto unit = create(dwf(), four_lanes(4));
  const Willing sm;
  unit->attach(program, sm);
  unit->launch({0, 0, 4});
  unit->advance(1);
  Issue issue;
  ASSERT_EQ(unit->pick(0, issue), Stall::kNone);
  unit->issued(7, issue);
  const ThreadGroup all{0b1111, 0, 0, false};
  Outcome outcome;
  outcome.kind = Outcome::Kind::kWarpSync;
  outcome.next_pc = 1;
  outcome.groups = {&all, 1};
  unit->resolved(7, {&outcome, 1});
  EXPECT_EQ(unit->census().warp_sync, 4u);
  unit->advance(2);
  EXPECT_EQ(unit->pick(0, issue), Stall::kReconvergence);
  for (const std::uint32_t mask : {0b0101u, 0b1010u}) {
    const ThreadGroup some{mask, 0, 0, false};
    unit->warp_sync_released({&some, 1});
  }
  EXPECT_EQ(unit->census().warp_sync, 0u);
  EXPECT_EQ(unit->census().queued, 4u);
  EXPECT_EQ(unit->next_event(2), 3u);
  unit->advance(3);
  unit->advance(4);
  ASSERT_EQ(unit->pick(0, issue), Stall::kNone);
  EXPECT_EQ(issue.pc, 1u);
  EXPECT_EQ(issue.groups.data[0].mask, 0b1111u);  // the second half joined the first
  EXPECT_EQ(unit->next_event(4), kNoEvent);
}

// A warp of 32 on 8 lanes packs a lane's threads into its rows from the first on.
TEST(LanePacking, ThreadsKeepTheirLanesAndFillBeatsFromTheFirst) {
  PackedWarp warp(4, {});
  EXPECT_EQ(warp.pack(8, 5, 0x0f0f0f0f), 0u);  // lanes 0 to 3 of four segments: four rows
  ASSERT_EQ(warp.groups().count, 1u);
  EXPECT_TRUE(warp.groups().data[0].spread);
  EXPECT_EQ(warp.pack(8, 6, 0xf00000f0), 0u);  // lanes 4 to 7, twice: rows 0 and 1
  ASSERT_EQ(warp.groups().count, 3u);
  EXPECT_EQ(warp.groups().data[1].mask, 0x000000f0u);
  EXPECT_EQ(warp.groups().data[1].row, 0);
  EXPECT_EQ(warp.groups().data[2].mask, 0xf0000000u);
  EXPECT_EQ(warp.groups().data[2].row, 1);
  EXPECT_EQ(warp.pack(8, 7, 0x00ffffff), 0x00ff0f0fu & 0x00ffffff);
  EXPECT_EQ(warp.threads(), 16u + 8u + 8u);
}

TEST(Dwf, RefusesTablesThatPcsCannotIndex) {
  Config config = dwf();
  config.own<DwfOptions>().lut_entries = 24;
  config.own<DwfOptions>().lut_ways = 2;  // 12 sets
  try {
    config.check("gpu.json: /warp_formation");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/warp_formation/dwf/lut_entries"));
    EXPECT_THAT(error.what(), HasSubstr("found 24 entries of 2 ways"));
  }
  config.own<DwfOptions>().lut_ways = 3;  // 8 sets
  EXPECT_NO_THROW(config.check("w"));
}

}  // namespace
}  // namespace weft::warp_formation::test::dwf_test
