// CAPRI, event by event. Warps of 4 threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "warp_formation/capri_history.h"
#include "warp_formation/capri_options.h"
#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"
#include "warp_formation/tbc_options.h"

namespace weft::warp_formation::test::capri_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Issued = std::tuple<Cycle, ptx::Pc, Threads>;
using Kind = Outcome::Kind;

Config capri(AdequacyPredictor predictor = AdequacyPredictor::kTwoBit) {
  Config config;
  config.scheme = "capri";
  config.warp_size = 4;
  config.own<CapriOptions>().predictor = predictor;
  return config;
}

const std::string kIfElse = R"(
  @%p1 bra C;              // 0: A
  bra D;                   // 1: B
C:
  add.u32 %r1, %r1, 1;     // 2: C
D:
  ret;)";

// Threads that take C, bit t: thread t of the block.
constexpr unsigned kSameLanes = 0b00110011;  // lanes 0 and 1 of both warps
constexpr unsigned kSlide18 = 0b01111001;    // CROWN slide 18: W0 1001, W1 1110, lane 0 first

// A machine that runs one block after the other.
struct Blocks {
  explicit Blocks(const Config& config, const std::string& body = kIfElse)
      : program(kernel(body)), driver(program, config, four_lanes(8)) {
    driver.holds = [this](unsigned thread, ptx::Pc, unsigned) { return (to_c >> thread % 8 & 1) != 0; };
  }
  // What a block issues, in cycles from 1 on.
  std::vector<Issued> run(unsigned mask) {
    to_c = mask;
    const std::size_t before = driver.trace().size();
    const Cycle start = driver.now();
    driver.launch(8);
    driver.run(200);
    std::vector<Issued> list;
    for (std::size_t i = before; i < driver.trace().size(); ++i) {
      const Record& record = driver.trace()[i];
      Threads threads;
      for (const unsigned t : record.threads) threads.push_back(t % 32);
      list.emplace_back(record.cycle - start, record.pc, threads);
    }
    return list;
  }
  ptx::Program program;
  unsigned to_c = 0;
  Driver driver;
};

// The worked example of README.md. Warps that a path is compacted into: as many as its fullest lane has
// threads.
//
//   masks       C              B              compacted        each warp alone        adequate
//   same lanes  0 1, 4 5: 2    2 3, 6 7: 2    2 + 2 = 4        2 paths of 2 warps: 4  4 < 4: no
//   slide 18    0 3 4 5 6: 2   1 2 7: 1       2 + 1 = 3        4                      3 < 4: yes
//
//   block  masks       counter  predicted     learns             right
//   1      same lanes  2        adequate      not adequate: 1    no
//   2      same lanes  1        not adequate  not adequate: 0    yes
//   3      slide 18    0        not adequate  adequate: 1        no
//   4      slide 18    1        not adequate  adequate: 2        no
//   5      slide 18    2        adequate      adequate: 3        yes
TEST(Capri, LearnsWhereCompactionHelps) {
  Blocks blocks(capri());
  // Adequate: the warps meet at the branch, as under tbc.
  EXPECT_THAT(blocks.run(kSameLanes),
              ElementsAre(Issued{1, 0, {0, 1, 2, 3}}, Issued{2, 0, {4, 5, 6, 7}}, Issued{3, 1, {2, 3}},
                          Issued{4, 1, {6, 7}}, Issued{5, 2, {0, 1}}, Issued{6, 2, {4, 5}},
                          Issued{7, 3, {0, 1, 2, 3}}, Issued{8, 3, {4, 5, 6, 7}}));
  EXPECT_EQ(blocks.driver.statistic("compactions"), 3);
  const std::vector<Issued> alone = blocks.run(kSameLanes);
  EXPECT_EQ(blocks.driver.statistic("compactions"), 3) << "each warp runs both paths by itself";
  EXPECT_EQ(alone.size(), 8u);
  for (unsigned i = 0; i < 2; ++i) {
    // The block's contexts have changed places: the second warp is first in the round.
    EXPECT_THAT(blocks.run(kSlide18),
                ElementsAre(Issued{1, 0, {4, 5, 6, 7}}, Issued{2, 0, {0, 1, 2, 3}}, Issued{3, 1, {7}},
                            Issued{4, 1, {1, 2}}, Issued{5, 2, {4, 5, 6}}, Issued{6, 2, {0, 3}},
                            Issued{7, 3, {4, 5, 6, 7}}, Issued{8, 3, {0, 1, 2, 3}}));
  }
  EXPECT_EQ(blocks.driver.statistic("compactions"), 3);
  // Seven issues instead of eight.
  EXPECT_THAT(blocks.run(kSlide18),
              ElementsAre(Issued{1, 0, {4, 5, 6, 7}}, Issued{2, 0, {0, 1, 2, 3}}, Issued{3, 1, {1, 2, 7}},
                          Issued{4, 2, {0, 3, 5, 6}}, Issued{5, 2, {4}}, Issued{6, 3, {0, 1, 2, 3}},
                          Issued{7, 3, {4, 5, 6, 7}}));
  const Driver& driver = blocks.driver;
  EXPECT_EQ(driver.statistic("predicted_adequate"), 2 * 2);
  EXPECT_EQ(driver.statistic("predicted_inadequate"), 3 * 2);
  EXPECT_EQ(driver.statistic("lone_branches"), 3 * 2);
  EXPECT_EQ(driver.statistic("lone_partings"), 3 * 2);
  EXPECT_EQ(driver.statistic("right_divergent"), 2);
  EXPECT_EQ(driver.statistic("wrong_divergent"), 3);
  EXPECT_EQ(driver.statistic("accuracy_divergent"), 0.4);
  EXPECT_EQ(driver.statistic("right_uniform") + driver.statistic("wrong_uniform"), 0);
  EXPECT_EQ(driver.statistic("compactions"), 6);
}

// One bit forgets at once what it has learned: it is adequate again in block 4.
TEST(Capri, OneBitFollowsTheLastOutcome) {
  Blocks blocks(capri(AdequacyPredictor::kOneBit));
  std::vector<std::size_t> issues;
  for (const unsigned mask : {kSameLanes, kSameLanes, kSlide18, kSlide18, kSameLanes, kSlide18})
    issues.push_back(blocks.run(mask).size());
  EXPECT_THAT(issues, ElementsAre(8, 8, 8, 7, 8, 8));
  EXPECT_EQ(blocks.driver.statistic("predicted_adequate"), 3 * 2);
}

// Without the predictor CAPRI is thread block compaction, cycle for cycle.
TEST(Capri, AlwaysAdequateIsThreadBlockCompaction) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ptx::Program program = random_kernel(seed);
    Config config = capri(AdequacyPredictor::kAlwaysAdequate);
    config.warp_size = std::uint64_t{4} << seed % 4;
    const auto trace = [&](const std::string& scheme) {
      config.scheme = scheme;
      Geometry geometry = four_lanes(256);
      geometry.lanes = 4u << seed % 3;
      Driver driver(program, config, geometry);
      driver.memory_latency = 1 + seed % 20;
      driver.holds = [&](unsigned thread, ptx::Pc pc, unsigned visit) {
        return random_guard(seed, program, thread, pc, visit);
      };
      driver.launch(100 + seed % 50);
      driver.launch(64);
      driver.run(100'000);
      return driver.trace();
    };
    ASSERT_EQ(trace("capri"), trace("tbc")) << "seed " << seed;
  }
}

TEST(Capri, ABlockNeedNotWaitForAWarpThatIsHeldUp) {
  for (const auto& [predictor, waits] :
       {std::pair{AdequacyPredictor::kTwoBit, false}, {AdequacyPredictor::kAlwaysAdequate, true}}) {
    Blocks blocks(capri(predictor));
    blocks.run(kSameLanes);
    const Cycle start = blocks.driver.now();
    blocks.driver.refuse = [&](unsigned, const Issue& issue) {
      return issue.groups.data[0].mask == 0b11110000 && blocks.driver.now() < start + 50 ? Stall::kFetch
                                                                                         : Stall::kNone;
    };
    EXPECT_EQ(std::get<0>(blocks.run(kSameLanes)[1]) >= 50, waits);
  }
}

// --- A block of two warps at an inadequate branch, step by step

const std::string kTwoArms = R"(
  @%p1 bra C;              // 0: A
  add.u32 %r1, %r1, 1;     // 1: B
  bra D;                   // 2
C:
  add.u32 %r1, %r1, 1;     // 3: C
D:
  add.u32 %r1, %r1, 1;     // 4
  @%p2 bra E;              // 5
  add.u32 %r1, %r1, 1;     // 6
E:
  ret;                     // 7)";

// The second of two blocks. In the first one all threads went one way at the branches given, which are not
// adequate now: a full warp along one path stays one warp. Both warps are at PC 0.
struct Learned {
  Learned(const std::string& body, const std::vector<ptx::Pc>& branches)
      : program(kernel(body)), steps(program, capri(), four_lanes(8)) {
    start();
    for (const ptx::Pc branch : branches) {
      while (pc < branch) both(pc + 1);
      both(branch + 1);
    }
    for (unsigned warp = 0; warp < 2; ++warp) steps.resolve(ids[warp], {{0, of(warp)}}, Kind::kExit);
    steps.unit().retire({0, 0, 8});
    start();
  }
  static Threads of(unsigned warp) { return warp == 0 ? Threads{0, 1, 2, 3} : Threads{4, 5, 6, 7}; }
  // What is issued in the next cycle.
  std::string next() {
    steps.cycle();
    const std::string issued = steps.issue();
    if (!issued.empty()) ids[issued.find(" 4") != std::string::npos ? 1 : 0] = next_id++;
    return issued;
  }
  void start() {
    steps.launch(8);
    for (unsigned warp = 0; warp < 2; ++warp) next();
    pc = 0;
  }
  // Both warps' instructions go on at `to`, and the next ones are issued.
  void both(ptx::Pc to) {
    for (unsigned warp = 0; warp < 2; ++warp) steps.resolve(ids[warp], {{to, of(warp)}});
    for (unsigned warp = 0; warp < 2; ++warp) next();
    pc = to;
  }
  // Of the warp's instruction under way.
  void resolve(unsigned warp, const std::vector<std::pair<ptx::Pc, Threads>>& paths, Kind kind = Kind::kGo) {
    steps.resolve(ids[warp], paths, kind);
  }
  ptx::Program program;
  Steps steps;
  IssueId ids[2] = {};  // NOLINT(*-avoid-c-arrays)
  IssueId next_id = 0;
  ptx::Pc pc = 0;
};

TEST(CapriSteps, AWarpComesBackAndIsWaitedForAtTheNextBranch) {
  Learned run(kTwoArms, {0});
  run.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 1: 0 1");
  EXPECT_THAT(run.steps.lines("its own "),
              ElementsAre(HasSubstr("path on top at pc 1"), HasSubstr("path below at pc 3"),
                          HasSubstr("path below at pc 4")));
  EXPECT_THAT(run.steps.lines("block slot 0: "),
              Contains(HasSubstr("1 warps of the top entry have passed the branch at pc 0, predicted not")));
  EXPECT_EQ(run.steps.unit().census().inactive_path, 2u);
  EXPECT_EQ(run.steps.unit().census().issued, 6u);
  // W1 does not part: it stays a warp of the entry, and comes to the next branch first.
  run.resolve(1, {{5, Learned::of(1)}});
  EXPECT_EQ(run.next(), "pc 5: 4 5 6 7");
  run.resolve(1, {{6, Learned::of(1)}});
  EXPECT_EQ(run.next(), "");
  EXPECT_EQ(run.steps.unit().census().queued, 4u);
  run.resolve(0, {{4, {0, 1}}});
  EXPECT_EQ(run.next(), "pc 3: 2 3");
  EXPECT_EQ(run.steps.unit().census().reconvergence, 2u);
  run.resolve(0, {{4, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 4: 0 1 2 3");
  EXPECT_THAT(run.steps.lines("its own "), IsEmpty());
  run.resolve(0, {{5, Learned::of(0)}});
  EXPECT_EQ(run.next(), "pc 5: 0 1 2 3");
  run.resolve(0, {{6, Learned::of(0)}});
  EXPECT_EQ(run.next(), "pc 6: 0 1 2 3");
  EXPECT_EQ(run.next(), "pc 6: 4 5 6 7");
}

// Within a loop that it entered alone a warp does not come to the branches of the others, as it passes them
// alone too.
TEST(CapriSteps, AWarpThatTurnsInALoopIsNotWaitedFor) {
  Learned run(R"(
L:
  @%p1 bra X;              // 0
  @%p2 bra M;              // 1
  add.u32 %r1, %r1, 1;     // 2
M:
  bra L;                   // 3
X:
  ret;                     // 4)",
              {0});
  run.resolve(0, {{4, {0, 1}}, {1, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 1: 2 3");
  run.resolve(1, {{1, Learned::of(1)}});
  EXPECT_EQ(run.next(), "pc 1: 4 5 6 7");
  run.resolve(1, {{2, Learned::of(1)}});
  EXPECT_EQ(run.next(), "") << "adequate";
  run.resolve(0, {{3, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 3: 2 3");
  run.resolve(0, {{0, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 2: 4 5 6 7");
  EXPECT_EQ(run.next(), "pc 0: 2 3");
  // Both end: those that waited behind the loop come back to the entry when all are there.
  run.resolve(0, {{4, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 4: 0 1 2 3");
}

// Each arm runs while the other one waits, without the rest of the block.
TEST(CapriSteps, BothArmsOfAWarpRunIfTheyWaitForEachOther) {
  for (const Kind kind : {Kind::kWarpSync, Kind::kBarrier}) {
    Learned run(kTwoArms, {0});
    run.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
    EXPECT_EQ(run.next(), "pc 1: 0 1");
    run.resolve(0, {{2, {0, 1}}}, kind);
    EXPECT_EQ(run.next(), "pc 3: 2 3");
    EXPECT_EQ(run.steps.statistic("path_switches"), 1);
    if (kind == Kind::kBarrier) {
      run.resolve(1, {{1, Learned::of(1)}});
      EXPECT_EQ(run.next(), "pc 1: 4 5 6 7");
      run.resolve(1, {{2, Learned::of(1)}}, kind);
      EXPECT_EQ(run.steps.unit().census().barrier, 6u);
    }
    run.resolve(0, {{4, {2, 3}}}, kind);
    if (kind == Kind::kBarrier) {
      run.steps.unit().barrier_released(0, 0);
    } else {
      run.steps.release_sync({0, 1, 2, 3});
    }
    EXPECT_EQ(run.steps.unit().census().barrier + run.steps.unit().census().warp_sync, 0u);
    std::string first = run.next();
    if (kind == Kind::kBarrier && first == "pc 2: 4 5 6 7") first = run.next();
    EXPECT_EQ(first, "pc 2: 0 1") << "C has arrived at D";
    run.resolve(0, {{4, {0, 1}}});
    std::string second = run.next();
    if (kind == Kind::kBarrier && second == "pc 2: 4 5 6 7") second = run.next();
    EXPECT_EQ(second, "pc 4: 0 1 2 3");
    EXPECT_EQ(run.steps.statistic("lone_departures"), 0);
  }
}

// All of the block waits: what the warp keeps on its stack is the block's then, and the last resort of tbc is
// open to it. Threads 2 and 3, which wait for 0 and 1, go on without them.
TEST(CapriSteps, AWarpThatWaitsForAnotherEntryGivesItsPathsToTheBlock) {
  Learned run(kTwoArms, {0});
  run.resolve(0, {{1, {0, 1}}, {4, {2, 3}}});
  EXPECT_EQ(run.next(), "pc 1: 0 1");
  run.resolve(1, {{1, Learned::of(1)}});
  EXPECT_EQ(run.next(), "pc 1: 4 5 6 7");
  run.resolve(1, {{2, Learned::of(1)}}, Kind::kBarrier);
  run.resolve(0, {{2, {0, 1}}}, Kind::kWarpSync);
  EXPECT_EQ(run.steps.unit().census().warp_sync, 2u);
  EXPECT_EQ(run.steps.unit().census().reconvergence, 2u);
  EXPECT_EQ(run.next(), "pc 4: 2 3");
  EXPECT_EQ(run.steps.statistic("lone_departures"), 1);
  EXPECT_THAT(run.steps.lines("its own "), IsEmpty());
  EXPECT_EQ(run.steps.unit().census().total(), 8u);
}

// --- The table

TEST(CapriTable, ForgetsTheBranchUsedLongestAgo) {
  Config config = capri();
  config.own<CapriOptions>().capt_entries = config.own<CapriOptions>().capt_ways = 1;
  Blocks blocks(config, kTwoArms);
  blocks.run(kSameLanes);
  EXPECT_EQ(blocks.driver.statistic("capt_evictions"), 1);
  blocks.run(kSameLanes);
  // Branch 0 was forgotten, and predicted adequate again; so was branch 5, forgotten for it.
  EXPECT_EQ(blocks.driver.statistic("capt_evictions"), 3);
  EXPECT_EQ(blocks.driver.statistic("predicted_inadequate"), 0);
}

TEST(CapriTable, SurvivesALaunchUnlessToldOtherwise) {
  for (const bool survives : {true, false}) {
    Config config = capri();
    config.own<CapriOptions>().capt_survives_launch = survives;
    Blocks blocks(config);
    blocks.run(kSameLanes);
    blocks.driver.attach();
    blocks.run(kSameLanes);
    EXPECT_EQ(blocks.driver.statistic("predicted_inadequate"), survives ? 2 : 0);
  }
}

TEST(CapriTable, CountsTheWarpsThatACompactorMakes) {
  BlockMask threads;
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 32, 1), 0u);
  threads.words = {0x1, 0x80000001, 0x3};
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 32, 1), 3u);  // lane 0: threads 0, 32, 64
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 32, 2), 2u);
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 8, 1), 3u);
  threads.words = {0xffffffff, 0xffffffff};
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 32, 1), 2u);
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 8, 1), 8u);
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 8, 4), 2u);
  threads.words.fill(~0u);
  EXPECT_EQ(compacted_warps(threads, 0, LanePermuter(), 4, 1), 256u);
}

}  // namespace
}  // namespace weft::warp_formation::test::capri_test
