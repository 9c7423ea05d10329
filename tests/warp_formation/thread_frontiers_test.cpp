// Thread frontiers, step by step. Warps of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

#include "ptx/frontiers.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"
#include "warp_formation/yield_options.h"

namespace weft::warp_formation::test::thread_frontiers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Kind = Outcome::Kind;

Config thread_frontiers(std::uint64_t yield_after = 0) {
  Config config;
  config.scheme = "thread_frontiers";
  config.warp_size = 4;
  config.own<ThreadFrontiersOptions>().yield_after = yield_after;
  return config;
}

Config conservative() {
  Config config = thread_frontiers();
  config.own<ThreadFrontiersOptions>().mode = FrontierMode::kConservative;
  return config;
}

// The arm S lies behind T in the code, to which it jumps back. By their longest paths to the end the blocks
// come in the order 0, 1, S, T.
//
//   after   places of the threads (0 1 2 3)   runs next
//   0       1 1 4 4                           pc 1: 0 1
//   1       2 2 4 4                           pc 4: 2 3   (S comes before T; the lowest PC would be T's)
//   4       2 2 5 5                           pc 5: 2 3
//   5       2 2 2 2                           pc 2: 0 1 2 3
const std::string kArmBehind = R"(
  @%p1 bra S;              // 0
  add.u32 %r1, %r1, 1;     // 1
T:
  add.u32 %r1, %r1, 1;     // 2
  ret;                     // 3
S:
  add.u32 %r1, %r1, 1;     // 4
  bra T;                   // 5)";

TEST(ThreadFrontiers, TheBlockOfTheHighestPriorityRuns) {
  const ptx::Program program = kernel(kArmBehind);
  Driver driver(program, thread_frontiers(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 2; };
  driver.launch(4);
  driver.run(100);
  const Threads all = {0, 1, 2, 3}, first = {0, 1}, second = {2, 3};
  EXPECT_THAT(issues(driver), ElementsAre(Pair(0, all), Pair(1, first), Pair(4, second), Pair(5, second),
                                          Pair(2, all), Pair(3, all)));
  EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(driver.statistic("divergent_branches"), 1);
  EXPECT_EQ(driver.statistic("uniform_branches"), 1);
  EXPECT_EQ(driver.statistic("merges"), 1);
  EXPECT_EQ(driver.statistic("deepest_stack"), 2);
  EXPECT_EQ(driver.statistic("storage_bits"), 2 * 36) << "two entries of a PC and 4 threads";
}

// By the lowest PC, T runs twice.
TEST(ThreadFrontiers, AnArmBehindRunsBeforeTheBlockThatItJumpsBackTo) {
  const ptx::Program program = kernel(kArmBehind);
  for (const auto& [scheme, runs] : {std::pair{"thread_frontiers", 1u}, {"stackless", 2u}}) {
    Config config = thread_frontiers();
    config.scheme = scheme;
    Driver driver(program, config, four_lanes(4));
    driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 2; };
    driver.launch(4);
    driver.run(100);
    EXPECT_EQ(issues_of(driver, 2), runs) << scheme;
  }
}

// Under the stack the block that both ways share runs twice.
TEST(ThreadFrontiers, ASharedBlockRunsOnce) {
  const ptx::Program program =
      kernel("  @%p1 bra X;\n  @%p2 bra X;\n  bra J;\nX:\n  add.u32 %r1, %r1, 1;\nJ:\n  ret;");
  for (const auto& [scheme, runs] : {std::pair{"thread_frontiers", 1u}, {"sbr", 2u}}) {
    Config config = thread_frontiers();
    config.scheme = scheme;
    Driver driver(program, config, four_lanes(4));
    driver.holds = [](unsigned thread, ptx::Pc pc, unsigned) { return thread == pc; };
    driver.launch(4);
    driver.run(100);
    EXPECT_EQ(issues_of(driver, 3), runs) << scheme;
  }
}

// if (!a) { if (b) Y; else X; } J. All threads of the inner branch go to Y. If one waits at J, the warp
// cannot know that nobody is in X, which comes first: its two instructions pass without threads.
TEST(ConservativeFrontiers, AnArmWithoutThreadsTakesItsSlots) {
  const ptx::Program program = kernel(R"(
  @%p1 bra J;              // 0
  @%p2 bra Y;              // 1
  add.u32 %r1, %r1, 1;     // 2: X
  bra J;                   // 3
Y:
  add.u32 %r1, %r1, 1;     // 4
J:
  ret;                     // 5)");
  const Threads all = {0, 1, 2, 3};
  for (const bool waits : {true, false}) {
    Driver driver(program, conservative(), four_lanes(4));
    driver.holds = [waits](unsigned thread, ptx::Pc pc, unsigned) {
      return pc == 1 || (waits && thread == 0);
    };
    driver.launch(4);
    driver.run(100);
    const Threads inner = waits ? Threads{1, 2, 3} : all;
    EXPECT_THAT(issues(driver), ElementsAre(Pair(0, all), Pair(1, inner), Pair(4, inner), Pair(5, all)));
    EXPECT_EQ(driver.statistic("empty_slots"), waits ? 2 : 0);
    if (waits) {
      EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 5, 6));
    } else {
      EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4)) << "a warp that is together goes there directly";
    }
    EXPECT_EQ(driver.statistic("storage_bits"), 4 * (32 + 16)) << "a PC and a depth for each thread";
  }
}

// The way back comes first. The last thread that leaves a loop passes it once more, without threads.
TEST(ConservativeFrontiers, TheLastThreadOfALoopPassesItOnceMore) {
  const ptx::Program program =
      kernel("L:\n  add.u32 %r1, %r1, 1;\n  @%p1 bra L;\n  add.u32 %r1, %r1, 1;\n  ret;");
  Driver driver(program, conservative(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned visit) { return visit < thread; };
  driver.launch(4);
  driver.run(100);
  EXPECT_EQ(issues_of(driver, 0), 4u);
  EXPECT_EQ(issues_of(driver, 2), 1u);
  EXPECT_THAT(cycles(driver), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 11, 12));
  EXPECT_EQ(driver.statistic("empty_slots"), 2);
}

// What a warp runs does not depend on the mode: only when.
TEST(ConservativeFrontiers, RunTheBlocksOfTheSortedStack) {
  double empty = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ptx::Program program = random_kernel(seed);
    const auto run = [&](Config config) {
      config.warp_size = 32;
      auto driver = std::make_unique<Driver>(program, config, four_lanes(32));
      driver->holds = [&, seed](unsigned thread, ptx::Pc pc, unsigned visit) {
        return random_guard(seed, program, thread, pc, visit);
      };
      driver->launch(32);
      driver->run(100'000);
      return driver;
    };
    const auto sorted = run(thread_frontiers()), swept = run(conservative());
    ASSERT_EQ(issues(*sorted), issues(*swept));
    ASSERT_EQ(sorted->statistic("empty_slots"), 0);
    EXPECT_EQ(static_cast<double>(swept->now() - sorted->now()), swept->statistic("empty_slots"));
    empty += swept->statistic("empty_slots");
  }
  EXPECT_GT(empty, 1000);
}

// A loop runs before what follows it, however long that is.
TEST(ThreadFrontiers, ThreadsThatLeaveALoopWaitForTheOthers) {
  const ptx::Program program = kernel(
      "L:\n  @%p1 bra O;\n  add.u32 %r1, %r1, 1;\n  bra L;\nO:\n  @%p2 bra Z;\n  add.u32 %r1, %r1, 1;\nZ:\n"
      "  ret;");
  Driver driver(program, thread_frontiers(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) { return pc == 0 && visit >= thread; };
  driver.launch(4);
  driver.run(100);
  EXPECT_EQ(issues_of(driver, 0), 4u);
  EXPECT_EQ(issues_of(driver, 3), 1u);
}

// Whatever the priorities of functions are, which do not compare.
TEST(ThreadFrontiers, TheDeepestCallRunsFirst) {
  const ptx::Program program = kernel(
      "  @%p1 bra A;\n  add.u32 %r1, %r1, 1;\nA:\n  add.u32 %r1, %r1, 1;\n"
      "  ret;");
  Steps steps(program, thread_frontiers(), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1}}, {2, {2, 3}}});
  EXPECT_EQ(steps.issue(), "pc 1: 0 1");
  steps.resolve(1, {{3, {0, 1}}}, Kind::kGo, 1);
  EXPECT_EQ(steps.issue(), "pc 3: 0 1") << "in the function";
  steps.resolve(2, {{3, {0, 1}}}, Kind::kGo, 0);
  EXPECT_EQ(steps.issue(), "pc 2: 2 3");
}

TEST(ThreadFrontiers, APathAtABarrierStepsAside) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n  ret;");
  Driver driver(program, thread_frontiers(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread >= 2; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver),
              ElementsAre(Pair(0, Threads{0, 1, 2, 3}), Pair(1, Threads{0, 1}), Pair(3, Threads{2, 3}),
                          Pair(2, Threads{0, 1}), Pair(4, Threads{0, 1, 2, 3})));
  EXPECT_EQ(driver.statistic("bar_in_divergence"), 2);
  EXPECT_EQ(driver.statistic("path_switches"), 1);
}

TEST(ThreadFrontiers, YieldsAfterSoManyBranchesBackwardAndNotBefore) {
  const ptx::Program program = kernel(
      "  @%p1 bra OUT;\nL:\n  add.u32 %r1, %r1, 1;\n  @%p2 bra L;\nOUT:\n  add.u32 %r1, %r1, 1;\n  ret;");
  for (const auto& [after, turns, yields] : {std::tuple{3u, 2u, 0}, {3u, 3u, 1}, {0u, 100u, 0}}) {
    Driver driver(program, thread_frontiers(after), four_lanes(4));
    driver.holds = [turns = turns](unsigned thread, ptx::Pc pc, unsigned visit) {
      return pc == 0 ? thread >= 2 : visit < turns;
    };
    driver.launch(4);
    driver.run(1000);
    EXPECT_EQ(driver.statistic("yields"), yields) << after << ", " << turns << " turns";
  }
}

// The PCs of a warp's paths, the one that runs or is offered first.
std::vector<ptx::Pc> places(const WarpFormation& unit) {
  std::istringstream in(unit.dump());
  std::vector<ptx::Pc> found;
  for (std::string line; std::getline(in, line);) {
    const auto at = line.find(" at pc ");
    if (at != std::string::npos) found.push_back(static_cast<ptx::Pc>(std::stoul(line.substr(at + 7))));
  }
  return found;
}

// What the analysis says is what happens: threads wait only in the frontier of the block that runs.
TEST(ThreadFrontiers, ThreadsWaitInTheFrontierOfTheBlockThatRuns) {
  unsigned waits = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ptx::Program program = random_kernel(seed);
    const bool gathers = std::any_of(program.code.begin(), program.code.end(), [](const auto& in) {
      return in.is_barrier() || in.is_warp_primitive();
    });
    if (gathers) continue;
    std::vector<std::uint32_t> block_of(program.code.size());
    std::vector<std::vector<std::uint32_t>> frontiers;
    for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
      for (ptx::Pc pc = program.blocks[b].first; pc <= program.blocks[b].last; ++pc) block_of[pc] = b;
      frontiers.push_back(ptx::thread_frontier(program.blocks, b));
    }
    Config config = thread_frontiers();
    config.warp_size = 32;
    Driver driver(program, config, four_lanes(32));
    driver.holds = [&](unsigned thread, ptx::Pc pc, unsigned visit) {
      return random_guard(seed, program, thread, pc, visit);
    };
    driver.launch(32);
    while (driver.live_threads() != 0 && driver.now() < 10'000) {
      const std::size_t issued = driver.trace().size();
      driver.step();
      if (driver.trace().size() == issued) continue;
      const std::uint32_t runs = block_of[driver.trace().back().pc];
      for (const ptx::Pc pc : places(driver.unit())) {
        if (block_of[pc] == runs) continue;
        ++waits;
        ASSERT_THAT(frontiers[runs], ::testing::Contains(block_of[pc])) << "at cycle " << driver.now();
      }
    }
  }
  EXPECT_GT(waits, 1000u);
}

}  // namespace
}  // namespace weft::warp_formation::test::thread_frontiers_test
