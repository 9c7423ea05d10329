// Progress at block barriers: what runs waits at one, and others of the block are held by the scheme only, on
// a path that does not run or at a reconvergence point. They go on. The reconvergence points are those of the
// tests, post-dominators or later, whatever the loader would choose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "warp_formation/dwr_options.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/lwm_options.h"
#include "warp_formation/reincarnation_bench.h"
#include "warp_formation/schemes.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test::barrier_progress_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Outcome::Kind;

Config scheme(const std::string& name, std::uint64_t largest = 32) {
  Config config;
  config.scheme = name;
  config.warp_size = 4;
  config.own<DwrOptions>().largest_warp = 8;
  config.own<LwmOptions>().large_warp = largest;
  return config;
}

ptx::Program with_points(ptx::Program program, const std::map<ptx::Pc, ptx::Pc>& points) {
  for (const auto& [pc, point] : points) program.code[pc].reconvergence = point;
  return program;
}

// if (c) { if (d) return; } else { } __syncthreads(); the return through what all run last.
const std::string kEarlyReturn = R"(
  @%p1 bra C;              // 0
  add.u32 %r1, %r1, 1;     // 1
  @%p2 bra DONE;           // 2
  bra D;                   // 3
C:
  add.u32 %r1, %r1, 2;     // 4
D:
  bar.sync 0;              // 5
  add.u32 %r1, %r1, 3;     // 6
DONE:
  add.u32 %r2, %r2, 1;     // 7
  ret;                     // 8)";
ptx::Program early_return() {
  return with_points(kernel(kEarlyReturn), {{0, 7}, {2, 7}});
}

class BarrierProgress : public ::testing::TestWithParam<std::string> {};

// Nobody returns, some do, all of the arm do: the barrier is passed by those that do not, together.
TEST_P(BarrierProgress, EarlyReturnsThroughASharedEpilogue) {
  const ptx::Program program = early_return();
  for (const unsigned leaving : {0u, 0b0100u, 0b0101u, 0b01000101u, 0b01010101u}) {
    Driver driver(program, scheme(GetParam()), four_lanes(32));
    driver.holds = [leaving](unsigned thread, ptx::Pc pc, unsigned) {
      return pc == 0 ? thread % 2 != 0 : (leaving >> (thread % 8) & 1) != 0;
    };
    driver.launch(32);
    ASSERT_NO_THROW(driver.run(10'000)) << leaving;
    Cycle last_arrival = 0, first_passed = ~Cycle{0};
    unsigned passed = 0;
    for (const auto& record : driver.trace()) {
      if (record.pc == 5) last_arrival = std::max(last_arrival, record.cycle);
      if (record.pc != 6) continue;
      first_passed = std::min(first_passed, record.cycle);
      passed += static_cast<unsigned>(record.threads.size());
    }
    EXPECT_EQ(passed, 32 - 4 * static_cast<unsigned>(__builtin_popcount(leaving)));
    EXPECT_LT(last_arrival, first_passed);
    EXPECT_EQ(driver.unit().waiting_to_exit(0), 0u);
  }
}

// The same in a loop, which some leave by its barrier's turn.
TEST_P(BarrierProgress, ReturnsFromALoopWithABarrier) {
  const ptx::Program program = with_points(kernel(R"(
L:
  @%p1 bra C;              // 0
  @%p2 bra DONE;           // 1
C:
  bar.sync 0;              // 2
  @%p3 bra L;              // 3
DONE:
  add.u32 %r2, %r2, 1;     // 4
  ret;                     // 5)"),
                                           {{0, 4}, {1, 4}, {3, 4}});
  Driver driver(program, scheme(GetParam()), four_lanes(32));
  driver.holds = [](unsigned thread, ptx::Pc pc, unsigned visit) {
    return pc == 0 ? (thread + visit) % 2 != 0 : pc == 1 ? visit == thread % 5 : visit < 6;
  };
  driver.launch(32);
  EXPECT_NO_THROW(driver.run(10'000));
}

// Barriers of different numbers: threads of one warp wait at 1 for those that wait for them at 2.
TEST_P(BarrierProgress, SeveralBarriers) {
  const ptx::Program program = with_points(kernel(R"(
  @%p1 bra C;              // 0
  add.u32 %r1, %r1, 1;     // 1
C:
  add.u32 %r1, %r1, 1;     // 2
  ret;                     // 3)"),
                                           {{0, 2}});
  Steps steps(program, scheme(GetParam()), four_lanes(4));
  const auto next = [&] {
    for (int i = 0; i < 6; ++i) {
      steps.cycle();
      const std::string issue = steps.issue();
      if (!issue.empty()) return issue;
    }
    return std::string();
  };
  const auto arrive = [&](IssueId id, const std::vector<std::pair<unsigned, std::uint32_t>>& threads) {
    std::vector<ThreadGroup> groups;
    std::vector<Outcome> outcomes;
    groups.reserve(threads.size());
    for (const auto& [barrier, mask] : threads) {
      groups.push_back({mask, 0, 0, false});
      Outcome outcome;
      outcome.kind = Kind::kBarrier;
      outcome.argument = barrier;
      outcome.next_pc = 2;
      outcome.groups = {&groups.back(), 1};
      outcomes.push_back(outcome);
    }
    steps.unit().resolved(id, {outcomes.data(), static_cast<std::uint32_t>(outcomes.size())});
  };
  steps.launch(4);
  EXPECT_EQ(next(), "pc 0: 0 1 2 3");
  arrive(0, {{1, 0b0011}, {2, 0b1100}});
  EXPECT_EQ(next(), "");
  EXPECT_EQ(steps.unit().census().barrier, 4u);
  steps.unit().barrier_released(0, 1);
  EXPECT_EQ(next(), "pc 2: 0 1");
  EXPECT_EQ(steps.unit().census().barrier, 2u);
  steps.resolve(1, {{3, {0, 1}}});
  EXPECT_EQ(next(), "pc 3: 0 1");
  steps.resolve(2, {{4, {0, 1}}}, Kind::kExit);
  EXPECT_EQ(next(), "");
  steps.unit().barrier_released(0, 2);
  EXPECT_EQ(next(), "pc 2: 2 3");
}

INSTANTIATE_TEST_SUITE_P(Schemes, BarrierProgress, ::testing::ValuesIn(scheme_classes::all()),
                         scheme_classes::name_of);

struct Stepped {
  Stepped(ptx::Program p, const Config& config, unsigned threads)
      : program(std::move(p)), steps(program, config, four_lanes(threads)) {
    steps.launch(threads);
  }
  // The next issue, within a few cycles.
  std::string next() {
    for (int i = 0; i < 4; ++i) {
      steps.cycle();
      const std::string issue = steps.issue();
      if (!issue.empty()) return issue;
    }
    return "";
  }
  ptx::Program program;
  Steps steps;
};

// Thread 0 returns; 2 comes to the barrier first, on top of 1 and 3, which have not run yet.
TEST(BarrierProgressOfAStack, PathsComeUpAndMeetBehindTheBarrier) {
  for (const char* name : {"sbr", "dwr"}) {
    Stepped run(early_return(), scheme(name), 4);
    Steps& steps = run.steps;
    EXPECT_EQ(run.next(), "pc 0: 0 1 2 3");
    steps.resolve(0, {{1, {0, 2}}, {4, {1, 3}}});
    EXPECT_EQ(run.next(), "pc 1: 0 2");
    steps.resolve(1, {{2, {0, 2}}});
    EXPECT_EQ(run.next(), "pc 2: 0 2");
    steps.resolve(2, {{3, {2}}, {7, {0}}});
    EXPECT_EQ(run.next(), "pc 3: 2");
    steps.resolve(3, {{5, {2}}});
    EXPECT_EQ(run.next(), "pc 5: 2");
    EXPECT_EQ(steps.statistic("path_switches"), 0);
    steps.resolve(4, {{6, {2}}}, Kind::kBarrier);
    EXPECT_EQ(steps.statistic("path_switches"), 1);
    EXPECT_EQ(steps.unit().census().barrier, 1u);
    EXPECT_EQ(run.next(), "pc 4: 1 3");
    steps.resolve(5, {{5, {1, 3}}});
    EXPECT_EQ(run.next(), "pc 5: 1 3");
    EXPECT_EQ(steps.statistic("lone_departures"), 0);
    EXPECT_EQ(steps.unit().census().reconvergence, 1u);
    steps.resolve(6, {{6, {1, 3}}}, Kind::kBarrier);
    EXPECT_EQ(run.next(), "pc 7: 0") << "nobody else is left";
    EXPECT_EQ(steps.statistic("lone_departures"), 1);
    steps.resolve(7, {{8, {0}}});
    EXPECT_EQ(run.next(), "pc 8: 0");
    steps.resolve(8, {{9, {0}}}, Kind::kExit);
    EXPECT_EQ(steps.unit().census().barrier, 3u);
    EXPECT_EQ(run.next(), "");
    steps.unit().barrier_released(0, 0);
    EXPECT_EQ(run.next(), "pc 6: 1 2 3") << "they have met";
    EXPECT_EQ(steps.statistic("bar_in_divergence"), 2);
  }
}

// A return of its own needs nobody to run it: a barrier counts threads that stand there as gone.
TEST(BarrierProgressOfAStack, ThreadsAtTheirExitStayWhereTheyAre) {
  for (const char* name : {"sbr", "dwr", "harp", "crown"}) {
    Stepped run(
        with_points(kernel("  @%p1 bra D;\n  bar.sync 0;\n  add.u32 %r1, %r1, 1;\nD:\n  ret;"), {{0, 3}}),
        scheme(name), 4);
    Steps& steps = run.steps;
    EXPECT_EQ(run.next(), "pc 0: 0 1 2 3");
    steps.resolve(0, {{3, {0, 1}}, {1, {2, 3}}});
    EXPECT_EQ(run.next(), "pc 1: 2 3");
    steps.resolve(1, {{2, {2, 3}}}, Kind::kBarrier);
    EXPECT_EQ(run.next(), "");
    EXPECT_EQ(steps.unit().waiting_to_exit(0), 2u);
    EXPECT_EQ(steps.statistic("lone_departures"), 0);
    steps.unit().barrier_released(0, 0);
    EXPECT_EQ(run.next(), "pc 2: 2 3");
    steps.resolve(2, {{3, {2, 3}}});
    EXPECT_EQ(run.next(), "pc 3: 0 1 2 3");
  }
}

// Threads at a barrier before their `ret` have not come to it: they are not counted twice.
TEST(BarrierProgressOfAStack, ThreadsAtABarrierAreNotAtTheirExit) {
  const ptx::Program program = with_points(
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  ret;\nC:\n  add.u32 %r1, %r1, 1;\n  bar.sync 0;\n  ret;"),
      {{0, ptx::kNoPc}});
  for (const char* name : {"sbr", "dwr", "lwm", "tbc", "capri"}) {
    Stepped run(program, scheme(name), 4);
    Steps& steps = run.steps;
    EXPECT_EQ(run.next(), "pc 0: 0 1 2 3");
    steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
    EXPECT_EQ(run.next(), "pc 1: 0 1");
    steps.resolve(1, {{2, {0, 1}}}, Kind::kBarrier);
    EXPECT_EQ(run.next(), "pc 3: 2 3") << name;
    EXPECT_EQ(steps.unit().waiting_to_exit(0), 0u) << name;
    EXPECT_EQ(steps.unit().ending(0), 0u) << name;
  }
}

// The inner point holds threads that came to it past a barrier, at which they wait: the outer ones go on.
TEST(BarrierProgressOfAStack, TheNextPointIfThoseAtTheFirstWaitThemselves) {
  const ptx::Program program = with_points(kernel(R"(
  @%p1 bra OUTER;          // 0
  @%p2 bra B;              // 1
  bar.sync 0;              // 2
  bra INNER;               // 3
B:
  bar.sync 0;              // 4
INNER:
  add.u32 %r1, %r1, 1;     // 5
OUTER:
  add.u32 %r1, %r1, 1;     // 6
  bar.sync 0;              // 7
  ret;                     // 8)"),
                                           {{0, 6}, {1, 5}});
  for (const char* name : {"sbr", "dwr", "lwm", "tbc", "capri"}) {
    Stepped run(program, scheme(name), 4);
    Steps& steps = run.steps;
    EXPECT_EQ(run.next(), "pc 0: 0 1 2 3");
    steps.resolve(0, {{6, {0}}, {1, {1, 2, 3}}});
    EXPECT_EQ(run.next(), "pc 1: 1 2 3");
    steps.resolve(1, {{2, {1}}, {4, {2, 3}}});
    EXPECT_EQ(run.next(), "pc 2: 1");
    steps.resolve(2, {{3, {1}}}, Kind::kBarrier);
    EXPECT_EQ(run.next(), "pc 4: 2 3");
    steps.resolve(3, {{5, {2, 3}}}, Kind::kBarrier);
    EXPECT_EQ(run.next(), "pc 6: 0") << name;
    steps.resolve(4, {{7, {0}}});
    EXPECT_EQ(run.next(), "pc 7: 0") << name;
    EXPECT_GE(steps.statistic("lone_departures"), 1) << name;
  }
}

// Thread 0 has reached the epilogue when the others come to the barrier: it goes on alone, and they meet
// there later.
TEST(BarrierProgressOfReincarnation, ThreadsLeaveTheirReconvergenceBarrier) {
  for (const char* name : {"harp", "crown"}) {
    Stepped run(early_return(), config_of(name), 4);
    Steps& steps = run.steps;
    EXPECT_EQ(run.next(), "pc 0: 0 1 2 3");
    steps.resolve(0, {{4, {1, 3}}, {1, {0, 2}}});
    EXPECT_EQ(run.next(), "pc 1: 0 2");
    EXPECT_EQ(run.next(), "pc 4: 1 3");
    steps.resolve(1, {{2, {0, 2}}});
    EXPECT_EQ(run.next(), "pc 2: 0 2");
    steps.resolve(3, {{3, {2}}, {7, {0}}});
    steps.resolve(2, {{5, {1, 3}}});
    EXPECT_EQ(run.next(), "pc 5: 1 3");
    EXPECT_EQ(run.next(), "pc 3: 2");
    steps.resolve(4, {{6, {1, 3}}}, Kind::kBarrier);
    EXPECT_THAT(barriers(steps), ElementsAre("1000"));
    EXPECT_EQ(steps.statistic("lone_departures"), 0) << "2 may come yet";
    steps.resolve(5, {{5, {2}}});
    EXPECT_EQ(run.next(), "pc 5: 2");
    steps.resolve(6, {{6, {2}}}, Kind::kBarrier);
    EXPECT_EQ(steps.statistic("lone_departures"), 1);
    EXPECT_EQ(steps.statistic("reincarnations"), 0);
    EXPECT_THAT(barriers(steps), ElementsAre("-000"));
    EXPECT_EQ(run.next(), "pc 7: 0");
    steps.resolve(7, {{8, {0}}});
    EXPECT_EQ(run.next(), "pc 8: 0");
    steps.resolve(8, {{9, {0}}}, Kind::kExit);
    steps.unit().barrier_released(0, 0);
    EXPECT_EQ(run.next(), "pc 6: 1 3");
    steps.resolve(9, {{7, {1, 3}}});
    EXPECT_THAT(barriers(steps), ElementsAre("-101"));
    EXPECT_EQ(run.next(), "pc 6: 2");
    steps.resolve(10, {{7, {2}}});
    EXPECT_THAT(barriers(steps), IsEmpty());
    EXPECT_EQ(run.next(), "pc 7: 1 2 3");
    EXPECT_EQ(steps.statistic("lone_departures"), 1);
    EXPECT_EQ(steps.statistic("reincarnations"), 1);
  }
}

// Threads that come to their exit after the others have come to a barrier run it: nothing else would make the
// SM count them as gone.
TEST(BarrierProgressOfReincarnation, WhoComesToItsExitLastRunsIt) {
  Stepped run(with_points(kernel("  @%p1 bra C;\n  bar.sync 0;\n  add.u32 %r1, %r1, 1;\n  bra D;\nC:\n"
                                 "  add.u32 %r1, %r1, 1;\nD:\n  ret;"),
                          {{0, 5}}),
              config_of("harp"), 4);
  Steps& steps = run.steps;
  EXPECT_EQ(run.next(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1}}, {4, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 1: 0 1");
  steps.resolve(1, {{2, {0, 1}}}, Kind::kBarrier);
  EXPECT_EQ(run.next(), "pc 4: 2 3");
  steps.resolve(2, {{5, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 5: 2 3");
  EXPECT_EQ(steps.statistic("lone_departures"), 1);
}

// Both arms come to their barriers right before the point: one that opens for all makes them one warp again.
TEST(BarrierProgressOfReincarnation, ABarrierThatOpensDoesNotPartThoseItLetsGo) {
  Stepped run(with_points(kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n"
                                 "  add.u32 %r1, %r1, 1;\n  ret;"),
                          {{0, 4}}),
              config_of("harp"), 4);
  Steps& steps = run.steps;
  EXPECT_EQ(run.next(), "pc 0: 0 1 2 3");
  steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 1: 0 1");
  EXPECT_EQ(run.next(), "pc 3: 2 3");
  steps.resolve(1, {{4, {0, 1}}}, Kind::kBarrier);
  steps.resolve(2, {{4, {2, 3}}}, Kind::kBarrier);
  steps.unit().barrier_released(0, 0);
  EXPECT_EQ(run.next(), "pc 4: 0 1 2 3");
  EXPECT_EQ(steps.statistic("lone_departures"), 0);
}

}  // namespace
}  // namespace weft::warp_formation::test::barrier_progress_test
