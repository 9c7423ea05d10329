// Dynamic warp resizing: partners by number, whatever their blocks, and an ignore list that outlives a
// launch. Sub-warps of 4 threads on 4 lanes; a block begins with a chunk of 32 positions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "warp_formation/dwr_options.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::dwr_partners_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr unsigned kLatency = 24;

Config by_id(unsigned largest_warp) {
  Config config;
  config.scheme = "dwr";
  config.own<DwrOptions>().largest_warp = largest_warp;
  config.own<DwrOptions>().partners = Partnership::kId;
  return config;
}

Config by_block(unsigned largest_warp) {
  Config config = by_id(largest_warp);
  config.own<DwrOptions>().partners = Partnership::kBlock;
  return config;
}

Geometry machine(unsigned threads, unsigned slots, unsigned chunks) {
  Geometry geometry = four_lanes(threads);
  geometry.slots = slots;
  geometry.chunks = chunks;
  return geometry;
}

void execute_barriers(Steps& steps) {
  for (unsigned i = 0; i <= kLatency; ++i) steps.cycle();
}

Threads threads_from(unsigned first, unsigned count = 4) {
  Threads threads;
  for (unsigned t = first; t < first + count; ++t) threads.push_back(t);
  return threads;
}

const std::string kLoad = "  ld.global.u32 %r2, [%rd1];\n  ret;";

// Blocks of three sub-warps in groups of two: a0 a1 | a2 b0 | b1 b2. Partners wait for each other whatever
// their blocks, and what issues is of one block.
TEST(DwrPartners, ByNumberSpanBlocksAndIssueForEachBlock) {
  const ptx::Program program = kernel(kLoad);
  const Threads a0a1 = threads_from(0, 8), a2 = threads_from(8), b0 = threads_from(32),
                b1b2 = threads_from(36, 8);
  const auto loads = [&](const Config& config) {
    Driver driver(program, config, machine(32, 2, 2));
    driver.launch(12);
    driver.launch(12);
    driver.run(200);
    EXPECT_EQ(driver.statistic("ilt_inserts"), 0);
    EXPECT_EQ(driver.statistic("large_issues"), 4);
    std::set<Threads> together;
    for (const auto& [pc, threads] : issues(driver)) {
      if (pc == 0) together.insert(threads);
    }
    return together;
  };
  EXPECT_THAT(loads(by_id(8)), ElementsAre(a0a1, a2, b0, b1b2));
  // Within blocks: a0 a1 | a2 - | b0 b1 | b2 -.
  EXPECT_THAT(loads(by_block(8)), ElementsAre(a0a1, a2, threads_from(32, 8), threads_from(40)));
}

// Two blocks of one sub-warp that are at different LATs: partners by number learn that it is in vain, those
// of one block have none.
TEST(DwrPartners, OfTwoBlocksAtDifferentLatsAreIgnored) {
  const ptx::Program program =
      kernel("  @%p1 bra B;\n  ld.global.u32 %r2, [%rd1];\n  ret;\nB:\n  ld.global.u32 %r2, [%rd1];\n  ret;");
  for (const bool id : {true, false}) {
    Driver driver(program, id ? by_id(8) : by_block(8), machine(16, 2, 2));
    driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= kChunk; };
    driver.launch(4);
    driver.launch(4);
    driver.run(200);
    EXPECT_EQ(driver.statistic("ignored_lats"), id ? 1 : 0);
    EXPECT_EQ(driver.statistic("large_sub_warps"), 2);
  }
}

// Groups of four: a, b, c, and no fourth. Block a ends while b is locked, and d takes its number: b and c
// wait for it, too.
TEST(DwrPartners, ABlockThatTakesTheNumbersOfAnotherIsWaitedFor) {
  const ptx::Program program = kernel("  add.u32 %r1, %r1, 1;\n  ld.global.u32 %r2, [%rd1];\n  ret;");
  const Threads a = threads_from(0), b = threads_from(32), c = threads_from(64);
  Steps p(program, by_id(16), machine(16, 4, 4));
  p.launch(4, 0, 0);
  p.launch(4, 1, 1);
  p.launch(4, 2, 2);
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 0: 32 33 34 35");
  EXPECT_EQ(p.issue(), "pc 0: 64 65 66 67");
  p.resolve(1, {{1, b}});
  execute_barriers(p);
  EXPECT_THAT(p.lines("LAT barrier at pc 1 "), ElementsAre(HasSubstr("locked sub-warps 1; not there: 0, 2")));
  p.resolve(0, {{1, a}}, Outcome::Kind::kExit);
  p.unit().retire({0, 0, 4});
  p.launch(4, 0, 0);  // d
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3");
  p.resolve(2, {{1, c}});
  execute_barriers(p);
  EXPECT_EQ(p.issue(), "");
  EXPECT_THAT(p.lines("LAT barrier at pc 1 "), ElementsAre(HasSubstr("locked sub-warps 1, 2; not there: 0")));
  p.resolve(3, {{1, a}});
  execute_barriers(p);
  const std::set<std::string> loads = {p.issue(), p.issue(), p.issue()};
  EXPECT_THAT(loads, ElementsAre("pc 1: 0 1 2 3", "pc 1: 32 33 34 35", "pc 1: 64 65 66 67"));
  EXPECT_EQ(p.statistic("ilt_inserts"), 0);
}

// One block's barrier: its sub-warp stays there when the partner of another block goes on.
TEST(DwrPartners, AtTheBarrierOfAnotherBlockIsNotWaitedFor) {
  const ptx::Program program =
      kernel("  @%p1 bra B;\n  ld.global.u32 %r2, [%rd1];\n  ret;\nB:\n  bar.sync 0;\n  ret;");
  const Threads a0 = threads_from(0), a1 = threads_from(4), a2 = threads_from(8), b0 = threads_from(32);
  Steps p(program, by_id(8), machine(16, 2, 2));
  p.launch(12, 0, 0);  // a0 a1 | a2 b0
  p.launch(4, 1, 1);
  for (unsigned i = 0; i < 4; ++i) EXPECT_NE(p.issue(), "");
  p.resolve(2, {{3, a2}});
  EXPECT_EQ(p.issue(), "pc 3: 8 9 10 11");
  p.resolve(3, {{1, b0}});
  execute_barriers(p);
  EXPECT_THAT(p.lines("LAT barrier at pc 1 "), ElementsAre(HasSubstr("locked sub-warps 1; not there: 0")));
  p.resolve(4, {{4, a2}}, Outcome::Kind::kBarrier);
  EXPECT_EQ(p.issue(), "pc 1: 32 33 34 35");
  EXPECT_EQ(p.statistic("ilt_inserts"), 0);
  EXPECT_THAT(p.lines("at other barriers:"), ElementsAre(" 0"));
  // The others of its block come; b has nothing to do with it.
  p.resolve(0, {{3, a0}});
  p.resolve(1, {{3, a1}});
  EXPECT_EQ(p.issue(), "pc 3: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 3: 4 5 6 7");
  p.resolve(6, {{4, a0}}, Outcome::Kind::kBarrier);
  p.resolve(7, {{4, a1}}, Outcome::Kind::kBarrier);
  EXPECT_EQ(p.unit().census().barrier, 12u);
  p.unit().barrier_released(0, 0);
  EXPECT_EQ(p.unit().census().barrier, 0u);
  EXPECT_THAT(p.lines("at other barriers:"), IsEmpty());
}

// The numbers of a block are free when all of it has gone, so that the next block's sub-warps are neighbours.
TEST(DwrPartners, NumbersAreFreeWhenTheBlockHasGone) {
  const ptx::Program program = kernel("  ret;");
  Steps p(program, by_id(8), machine(12, 3, 3));
  p.launch(8, 0, 0);
  const auto fits = [&](unsigned threads) {
    Block block;
    block.threads = threads;
    return p.unit().can_launch(block);
  };
  EXPECT_TRUE(fits(4));
  EXPECT_FALSE(fits(8));
  EXPECT_EQ(p.issue(), "pc 0: 0 1 2 3");
  EXPECT_EQ(p.issue(), "pc 0: 4 5 6 7");
  p.resolve(0, {{1, threads_from(0)}}, Outcome::Kind::kExit);
  EXPECT_FALSE(fits(8));
  p.resolve(1, {{1, threads_from(4)}}, Outcome::Kind::kExit);
  EXPECT_FALSE(fits(8));
  p.unit().retire({0, 0, 8});
  EXPECT_TRUE(fits(12));
}

// A large warp of 256 threads that begins in the middle of a chunk has threads in nine.
TEST(DwrPartners, ALargeWarpMayBeginWithinAChunk) {
  const ptx::Program program = kernel(kLoad);
  Driver driver(program, by_id(256), machine(520, 2, 34));
  driver.launch(4);
  driver.launch(512);
  driver.run(1000);
  std::vector<unsigned> rows;
  for (const Record& record : driver.trace()) {
    if (record.pc == 0) rows.push_back(record.rows);
  }
  EXPECT_THAT(rows, ElementsAre(1, 63, 64, 1));
}

// tests/equivalence runs random kernels with the keys that these seeds draw.
TEST(DwrPartners, SeedsOfTheCampaign) {
  for (const std::uint64_t seed : {21, 37}) {
    std::mt19937_64 random(seed);
    DwrOptions options;
    options.randomise(random);
    EXPECT_EQ(options.partners, Partnership::kId);
    EXPECT_EQ(options.lat_timeout, 0u);
    EXPECT_GE(options.largest_warp, 16u);
  }
}

// s0 and s1 at loads of different PCs; a launch, another one of the same kernel or of a second one.
struct Launches {
  explicit Launches(bool survives)
      : first(kernel("  @%p1 bra B;\n  ld.global.u32 %r2, [%rd1];\n  ret;\nB:\n  ld.global.u32 %r2, [%rd1];\n"
                     "  ret;")),
        second(first) {
    second.name = "another";
    Config config = by_block(8);
    config.own<DwrOptions>().ilt_survives_launch = survives;
    steps = std::make_unique<Steps>(first, config, four_lanes(8));
  }
  // How many sub-warps passed their LAT without waiting.
  double hits_of_a_launch() {
    const double before = steps->statistic("ilt_hits");
    steps->launch(8);
    steps->issue();
    steps->issue();
    steps->resolve(id, {{1, threads_from(0)}});
    steps->resolve(id + 1, {{3, threads_from(4)}});
    execute_barriers(*steps);
    std::set<std::string> loads = {steps->issue(), steps->issue()};
    EXPECT_THAT(loads, ElementsAre("pc 1: 0 1 2 3", "pc 3: 4 5 6 7"));
    execute_barriers(*steps);
    steps->resolve(id + 2, {{2, threads_from(0)}});
    steps->resolve(id + 3, {{4, threads_from(4)}});
    steps->issue();
    steps->issue();
    steps->resolve(id + 4, {{3, threads_from(0)}}, Outcome::Kind::kExit);
    steps->resolve(id + 5, {{5, threads_from(4)}}, Outcome::Kind::kExit);
    steps->unit().retire({0, 0, 8});
    id += 6;
    return steps->statistic("ilt_hits") - before;
  }
  ptx::Program first, second;
  std::unique_ptr<Steps> steps;
  IssueId id = 0;
};

TEST(DwrIgnoreListOverLaunches, IsEmptyWhenAKernelStarts) {
  Launches run(false);
  for (unsigned i = 0; i < 2; ++i) {
    run.steps->unit().attach(run.first, *run.steps);
    EXPECT_EQ(run.hits_of_a_launch(), 0);
  }
  EXPECT_EQ(run.steps->statistic("ilt_inserts"), 2);
}

TEST(DwrIgnoreListOverLaunches, OrKeepsThePcsOfEachKernel) {
  Launches run(true);
  const auto launch = [&](const ptx::Program& program) {
    run.steps->unit().attach(program, *run.steps);
    return run.hits_of_a_launch();
  };
  EXPECT_EQ(launch(run.first), 0);
  EXPECT_EQ(launch(run.first), 1);
  // Its instructions lie elsewhere, though their numbers are the same.
  EXPECT_EQ(launch(run.second), 0);
  EXPECT_EQ(launch(run.second), 1);
  EXPECT_EQ(launch(run.first), 1);
  EXPECT_EQ(run.steps->statistic("ilt_inserts"), 2);
  EXPECT_EQ(run.steps->lines("ignore list:")[0], " pc 3 (k.ptx:10:3) and 1 of other kernels");
  run.steps->unit().reset();
  EXPECT_EQ(launch(run.second), 0);
}

}  // namespace
}  // namespace weft::warp_formation::test::dwr_partners_test
