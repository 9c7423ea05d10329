// Likely-convergence points of HARP and CROWN: a second barrier before that of the reconvergence point, which
// never keeps threads from running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "warp_formation/reincarnation_bench.h"
#include "weft/warp_formation/likely_convergence.h"

namespace weft::warp_formation::test::harp_likely_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

Config points(const std::string& scheme, LikelyConvergence likely = LikelyConvergence::kStatic) {
  Config config = config_of(scheme);
  config.own<HarpOptions>().likely_convergence = config.own<CrownOptions>().likely_convergence = likely;
  return config;
}

// if (a || b) X; else Y;
const std::string kEither = R"(
  @%p1 bra X;              // 0: a
  @%p2 bra X;              // 1: b
  add.u32 %r1, %r1, 1;     // 2: Y
  bra Z;                   // 3
X:
  add.u32 %r2, %r2, 1;     // 4: X
Z:
  ret;                     // 5)";

// Which threads take the guarded branches at PC 0 and PC 1.
std::function<bool(unsigned, ptx::Pc, unsigned)> guards(unsigned at_0, unsigned at_1) {
  return [=](unsigned thread, ptx::Pc pc, unsigned) { return ((pc == 0 ? at_0 : at_1) >> thread & 1) != 0; };
}

// The next issue, within some cycles.
std::string next(Steps& steps) {
  for (int i = 0; i < 6; ++i) {
    steps.cycle();
    std::string issue = steps.issue();
    if (!issue.empty()) return issue;
  }
  return "";
}

std::unique_ptr<Driver> run(const ptx::Program& program, const Config& config,
                            std::function<bool(unsigned, ptx::Pc, unsigned)> holds, unsigned threads = 4) {
  auto driver = std::make_unique<Driver>(program, config, four_lanes(threads));
  driver->holds = std::move(holds);
  driver->launch(threads);
  driver->run(10'000);
  return driver;
}

class LikelyBarriers : public ::testing::TestWithParam<std::string> {};

// Thread 0 goes to X at a, threads 1 and 2 at b, thread 3 to Y. Thread 3 turns away from X at b: nobody waits
// for it there.
TEST_P(LikelyBarriers, GatherTheThreadsOfAnOr) {
  const ptx::Program program = kernel(kEither);
  ASSERT_EQ(likely_convergence_points(program)[0], 4u);
  Steps steps(program, points(GetParam()), four_lanes(4));
  steps.launch(4);
  EXPECT_EQ(next(steps), "pc 0: 0 1 2 3");
  steps.resolve(0, {{4, {0}}, {1, {1, 2, 3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "1000"));  // at Z, at X
  EXPECT_THAT(
      steps.lines("barrier entry 1"),
      ElementsAre(AllOf(HasSubstr("at pc 4, a likely-convergence point"), HasSubstr("threads 1 2 3"))));
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 - 1 2 3"));
  EXPECT_EQ(next(steps), "pc 1: 1 2 3");
  steps.resolve(1, {{4, {1, 2}}, {2, {3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  EXPECT_EQ(next(steps), "pc 4: 0 1 2");
  EXPECT_EQ(next(steps), "pc 2: 3");
  steps.resolve(2, {{5, {0, 1, 2}}});
  EXPECT_THAT(barriers(steps), ElementsAre("1110"));
  steps.resolve(3, {{3, {3}}});
  EXPECT_EQ(next(steps), "pc 3: 3");
  steps.resolve(4, {{5, {3}}});
  EXPECT_EQ(next(steps), "pc 5: 0 1 2 3");
  EXPECT_EQ(steps.statistic("likely_points"), 1);
  EXPECT_EQ(steps.statistic("likely_joins"), 2);
  EXPECT_EQ(steps.statistic("reincarnations"), 2);
}

// The Ready-Lookup alone merges threads that come to X at about the same time. Here thread 0 has left it, and
// X runs twice.
TEST_P(LikelyBarriers, SaveIssuesOfTheArm) {
  const ptx::Program program = kernel(R"(
  @%p1 bra X;              // 0: a
  add.u32 %r1, %r1, 1;     // 1
  add.u32 %r1, %r1, 1;     // 2
  @%p2 bra X;              // 3: b
  add.u32 %r1, %r1, 1;     // 4: Y
  bra Z;                   // 5
X:
  add.u32 %r2, %r2, 1;     // 6: X
Z:
  ret;                     // 7)");
  const auto arm = [&](LikelyConvergence likely) {
    Config config = points(GetParam(), likely);
    config.own<HarpOptions>().lookup_threshold = config.own<CrownOptions>().lookup_threshold = 2;
    const auto driver = run(program, config, guards(0b0001, 0b0110));
    EXPECT_EQ(driver->statistic("likely_points"), likely == LikelyConvergence::kOff ? 0 : 1);
    EXPECT_THAT(driver->trace().back().threads, SizeIs(4));
    return issues_of(*driver, 6);
  };
  EXPECT_EQ(arm(LikelyConvergence::kOff), 2u);
  EXPECT_EQ(arm(LikelyConvergence::kStatic), 1u);
}

// if (a || b || c): threads 1 to 3 turn away at c together, where their warp does not diverge.
TEST_P(LikelyBarriers, DoNotWaitForThreadsThatHaveTurnedAway) {
  const ptx::Program program = kernel(R"(
  @%p1 bra X;              // 0: a
  @%p2 bra X;              // 1: b
  @%p3 bra X;              // 2: c
  add.u32 %r1, %r1, 1;     // 3: Y
  bra Z;                   // 4
X:
  add.u32 %r2, %r2, 1;     // 5: X
Z:
  ret;                     // 6)");
  ASSERT_EQ(likely_convergence_points(program)[0], 5u);
  Steps steps(program, points(GetParam()), four_lanes(4));
  steps.launch(4);
  next(steps);
  steps.resolve(0, {{5, {0}}, {1, {1, 2, 3}}});
  EXPECT_EQ(next(steps), "pc 1: 1 2 3");
  steps.resolve(1, {{2, {1, 2, 3}}});
  EXPECT_EQ(next(steps), "pc 2: 1 2 3");
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "1000"));
  steps.resolve(2, {{3, {1, 2, 3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  EXPECT_THAT((std::vector<std::string>{next(steps), next(steps)}),
              ::testing::UnorderedElementsAre("pc 5: 0", "pc 3: 1 2 3"));
}

// Thread 3 exits; with 2 it is all that 0 and 1 wait for. There is no reconvergence point.
TEST_P(LikelyBarriers, AreLeftAtAnExit) {
  const ptx::Program program = kernel("  @%p1 bra X;\n  @%p2 exit;\nX:\n  add.u32 %r1, %r1, 1;\n  ret;");
  ASSERT_EQ(program.code[0].reconvergence, ptx::kNoPc);
  ASSERT_EQ(likely_convergence_points(program)[0], 2u);
  EXPECT_THAT(issues(*run(program, points(GetParam()), guards(0b0011, 0b1000))),
              ElementsAre(Pair(0u, Threads{0, 1, 2, 3}), Pair(1u, Threads{2, 3}), Pair(2u, Threads{0, 1, 2}),
                          Pair(3u, Threads{0, 1, 2})));
  EXPECT_THAT(issues(*run(program, points(GetParam()), guards(0b0011, 0b1100))),
              ElementsAre(Pair(0u, Threads{0, 1, 2, 3}), Pair(1u, Threads{2, 3}), Pair(2u, Threads{0, 1}),
                          Pair(3u, Threads{0, 1})));
}

// Even and odd threads take different ways round the loop, the others at the next turn.
TEST_P(LikelyBarriers, KeepALoopTogether) {
  const ptx::Program program = kernel(R"(
  mov.u32 %r1, 0;          // 0
HEAD:
  add.u32 %r1, %r1, 1;     // 1
  @%p1 bra ELSE;           // 2
  @%p2 bra OUT;            // 3
  bra HEAD;                // 4
ELSE:
  @!%p2 bra HEAD;          // 5
OUT:
  ret;                     // 6)");
  ASSERT_EQ(likely_convergence_points(program)[2], 1u);
  const auto driver = run(program, points(GetParam()), [](unsigned thread, ptx::Pc pc, unsigned visit) {
    if (pc == 2) return (visit + thread) % 2 != 0;
    const unsigned turn = 2 * visit + (thread + (pc == 5)) % 2;
    return (turn == 16) == (pc == 3);
  });
  for (const auto& record : driver->trace()) {
    if (record.pc != 1) continue;
    EXPECT_THAT(record.threads, SizeIs(4)) << "cycle " << record.cycle;
  }
  EXPECT_EQ(issues_of(*driver, 1), 17u);
  EXPECT_EQ(driver->statistic("barrier_peak"), 2);
}

// Threads 1 to 3 wait at a block barrier before they can come to X; thread 0 must end for it to open.
TEST_P(LikelyBarriers, AreLeftAtABlockBarrier) {
  const ptx::Program program = kernel(R"(
  @%p1 bra X;              // 0
  bar.sync 0;              // 1
  @%p2 bra X;              // 2
  add.u32 %r1, %r1, 1;     // 3
  bra Z;                   // 4
X:
  add.u32 %r2, %r2, 1;     // 5
Z:
  ret;                     // 6)");
  for (const auto reconvergence : {Reconvergence::kPlain, Reconvergence::kBarrierAware}) {
    Config config = points(GetParam());
    config.reconvergence = reconvergence;
    const auto driver = run(program, config, [](unsigned thread, ptx::Pc pc, unsigned) {
      return pc == 0 ? thread == 0 : thread == 1;
    });
    const auto passes = std::find_if(driver->trace().begin(), driver->trace().end(),
                                     [](const Record& r) { return r.pc == 5; });
    ASSERT_NE(passes, driver->trace().end());
    EXPECT_THAT(passes->threads, ElementsAre(0u)) << "it waits for nobody";
  }
}

// The threads of the original warp meet at two primitives, of which thread 0 comes to one behind X. It is not
// held back there: the primitive waits for it.
TEST_P(LikelyBarriers, AreLeftAtAWarpLevelPrimitive) {
  const ptx::Program program = kernel(R"(
  @%p1 bra X;              // 0
  bar.warp.sync -1;        // 1
  @%p2 bra X;              // 2
  add.u32 %r1, %r1, 1;     // 3
  bra Z;                   // 4
X:
  bar.warp.sync -1;        // 5
Z:
  ret;                     // 6)");
  ASSERT_EQ(likely_convergence_points(program)[0], 5u);
  const auto driver = run(program, points(GetParam()),
                          [](unsigned thread, ptx::Pc pc, unsigned) { return pc == 0 && thread == 0; });
  EXPECT_EQ(driver->statistic("likely_points"), 1);
  EXPECT_THAT(issues(*driver),
              ElementsAre(Pair(0u, Threads{0, 1, 2, 3}), Pair(1u, Threads{1, 2, 3}), Pair(5u, Threads{0}),
                          Pair(2u, Threads{1, 2, 3}), Pair(3u, Threads{1, 2, 3}), Pair(4u, Threads{1, 2, 3}),
                          Pair(6u, Threads{0, 1, 2, 3})));
}

// The same, but thread 0 waits at X for thread 1, and that at a reconvergence point for those at the
// primitive.
TEST_P(LikelyBarriers, AreLeftByThreadsThatWaitForOthersAtAPrimitive) {
  const ptx::Program program = kernel(R"(
  @%p1 bra X;              // 0
  @%p3 bra I;              // 1
  bar.warp.sync -1;        // 2
I:
  add.u32 %r1, %r1, 1;     // 3
  @%p2 bra X;              // 4
  add.u32 %r1, %r1, 1;     // 5
  bra Z;                   // 6
X:
  bar.warp.sync -1;        // 7
Z:
  ret;                     // 8)");
  ASSERT_EQ(likely_convergence_points(program)[0], 7u);
  ASSERT_EQ(program.code[1].reconvergence, 3u);
  Steps steps(program, points(GetParam()), four_lanes(4));
  steps.launch(4);
  next(steps);
  steps.resolve(0, {{7, {0}}, {1, {1, 2, 3}}});
  EXPECT_EQ(next(steps), "pc 1: 1 2 3");
  steps.resolve(1, {{3, {1}}, {2, {2, 3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "1000", "-100"));  // at Z, X and I
  EXPECT_EQ(next(steps), "pc 2: 2 3");
  steps.resolve(2, {{3, {2, 3}}}, Outcome::Kind::kWarpSync);
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "-100")) << "thread 0 goes on";
  const std::uint32_t standing[] = {0b1100, 0};
  EXPECT_EQ(steps.unit().held_back(0, standing), 0b0010u);
  EXPECT_EQ(next(steps), "pc 7: 0");
  steps.release_sync({2, 3});
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  EXPECT_EQ(next(steps), "pc 3: 1 2 3");
}

// A thread that finds no room at the reconvergence point would not leave the other barrier there.
TEST_P(LikelyBarriers, NeedRoomAtTheReconvergencePoint) {
  const ptx::Program program = kernel(kEither);
  for (const std::uint64_t entries : {0, 1, 2}) {
    Config config = points(GetParam());
    for (ReincarnationTables* tables : std::initializer_list<ReincarnationTables*>{
             &config.own<HarpOptions>(), &config.own<CrownOptions>()}) {
      tables->barrier_entries = entries;
      tables->barrier_ways = std::max<std::uint64_t>(1, entries);
    }
    const auto driver = run(program, config, guards(0b0001, 0b0110));
    EXPECT_EQ(driver->statistic("likely_points"), entries == 2 ? 1 : 0);
    EXPECT_EQ(driver->statistic("likely_joins"), entries == 2 ? 2 : 0);
  }
}

// Threads of two warps have barriers of their own, though their lanes would fit together.
TEST_P(LikelyBarriers, BelongToOneDivergence) {
  const ptx::Program program = kernel(kEither);
  const auto driver = run(program, points(GetParam()), guards(0b00100001, 0b10000100), 8);
  EXPECT_EQ(driver->statistic("likely_points"), 2);
  EXPECT_EQ(driver->statistic("reincarnated_threads"), 2 + 2 + 8);
  std::vector<Threads> at_x;
  for (const auto& record : driver->trace()) {
    if (record.pc == 4) at_x.push_back(record.threads);
  }
  EXPECT_THAT(at_x, ::testing::UnorderedElementsAre(Threads{0, 2}, Threads{5, 7}));
}

// A bit of each entry says of which kind it is.
TEST_P(LikelyBarriers, CostABitOfEachEntry) {
  const ptx::Program program = kernel(kEither);
  const auto bits = [&](LikelyConvergence likely) {
    Steps steps(program, points(GetParam(), likely), four_lanes(4));
    EXPECT_EQ(static_cast<double>(storage::counted_bits(steps.unit().arrays(16))),
              steps.statistic("storage_bits"));
    return steps.statistic("storage_bits");
  };
  EXPECT_EQ(bits(LikelyConvergence::kStatic) - bits(LikelyConvergence::kOff), 128);
}

INSTANTIATE_TEST_SUITE_P(Schemes, LikelyBarriers, ::testing::Values("harp", "crown"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::warp_formation::test::harp_likely_test
