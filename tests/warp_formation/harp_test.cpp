// HARP and CROWN, step by step: the worked examples of the papers, and every rule of the mechanism. Warps of
// 4 threads on 4 lanes, so that threads can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "warp_formation/driver.h"
#include "warp_formation/kernels.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Threads = std::vector<unsigned>;
using Kind = Outcome::Kind;

Config config_of(const std::string& scheme, LookupDepart depart = LookupDepart::kSlot) {
  Config config;
  config.scheme = scheme;
  for (ReincarnationConfig* tables : {&config.harp, &config.crown}) {
    tables->lookup_depart = depart;
    // The figures have one table of warps: a warp leaves the lookup when the scheduler has none.
    tables->lookup_threshold = 1;
    tables->waiting_lookup = 0;
  }
  return config;
}

Geometry four_lanes(unsigned threads) {
  Geometry geometry;
  geometry.threads = threads;
  geometry.simd_width = 4;
  geometry.slots = 2;
  geometry.chunks = 2 * ((threads + 31) / 32);
  geometry.barrel = true;
  return geometry;
}

// A branches to B and C, D is the reconvergence point; the lower PC is listed first.
const std::string kBranch = R"(
  @%p1 bra second;         // 0: A
  bra D;                   // 1: one path
second:
  add.u32 %r1, %r1, 1;     // 2: the other
D:
  ret;                     // 3: D)";
constexpr ptx::Pc kA = 0, kLow = 1, kHigh = 2, kD = 3;

const std::string kLookup = "is held in the Ready-Lookup, slot ";
std::vector<std::string> lookup(const Steps& steps) {
  std::vector<std::string> held;
  for (const std::string& line : steps.lines(kLookup)) {
    const auto pc = line.find("at pc "), threads = line.find("threads ");
    held.push_back(line.substr(0, 1) + ": pc " + line.substr(pc + 6, 1) + " " + line.substr(threads + 8));
  }
  std::sort(held.begin(), held.end());
  return held;
}
// Which lanes have reached the barriers in use.
std::vector<std::string> barriers(const Steps& steps) {
  std::vector<std::string> masks;
  for (const std::string& line : steps.lines("reached ")) masks.push_back(line.substr(0, line.find(',')));
  return masks;
}

// HARP Figure 10, with B the path of the lower PC.
TEST(Harp, RunsFigure10) {
  const ptx::Program program = kernel(kBranch);
  ASSERT_EQ(program.code[kA].reconvergence, kD);
  Steps steps(program, config_of("harp"), four_lanes(8));
  steps.launch(8);
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");  // issue 0: W0
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 0: 4 5 6 7");  // issue 1: W1
  // W0 commits: B{T1,T3}, C{T0,T2}.
  steps.resolve(0, {{kLow, {1, 3}}, {kHigh, {0, 2}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 - 1 - 3", "1: pc 2 0 - 2 -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  steps.cycle();
  // One departure: W2 = {T1,T3} at B.
  steps.cycle();
  EXPECT_THAT(lookup(steps), ElementsAre("1: pc 2 0 - 2 -"));
  // W1 commits: no B entry is left, T7 merges into C.
  steps.resolve(1, {{kLow, {4, 5, 6}}, {kHigh, {7}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 4 5 6 -", "1: pc 2 0 - 2 7"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "0000"));
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 1 3");  // issue 2: W2
  steps.cycle();                          // W3 = {T4,T5,T6} departs
  EXPECT_THAT(lookup(steps), ElementsAre("1: pc 2 0 - 2 7"));
  steps.resolve(2, {{kD, {1, 3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0101", "0000"));
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 4 5 6");  // issue 3: W3
  steps.cycle();                            // W4 = {T0,T2,T7} departs
  EXPECT_THAT(lookup(steps), IsEmpty());
  steps.resolve(3, {{kD, {4, 5, 6}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0101", "1110"));
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 2: 0 2 7");  // issue 4: W4
  EXPECT_EQ(steps.unit().census().reconvergence, 5u);
  steps.resolve(4, {{kD, {0, 2, 7}}});  // both barriers complete
  EXPECT_THAT(barriers(steps), IsEmpty());
  EXPECT_EQ(steps.unit().census().queued, 8u);
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 0 1 2 3");
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 4 5 6 7");
  EXPECT_EQ(steps.statistic("divergent_branches"), 2);
  EXPECT_EQ(steps.statistic("barrier_reserved"), 8);
  EXPECT_EQ(steps.statistic("barrier_missed"), 0);
  EXPECT_EQ(steps.statistic("barrier_entries_opened"), 2);
  EXPECT_EQ(steps.statistic("reincarnations"), 2);
  EXPECT_EQ(steps.statistic("ready_lookup/merges"), 1);
  EXPECT_EQ(steps.statistic("ready_lookup/merged_threads"), 1);
  EXPECT_EQ(steps.statistic("ready_lookup/departures"), 3);
  EXPECT_EQ(steps.statistic("transitions/lookup_to_second"), 3);
  EXPECT_EQ(steps.statistic("transitions/barrier_to_second"), 2);
  EXPECT_EQ(steps.statistic("ready_lookup/peak"), 2);
}

// After the second commit of Figure 10 the lookup holds {T4,T5,T6} in slot 0 and the older {T0,T2,T7} in
// slot 1. Which of them departs, and whether a merge counts as young, is what the policy says.
std::string third_warp_of_figure_10(LookupDepart depart) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp", depart), four_lanes(8));
  steps.launch(8);
  for (int i = 0; i < 2; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(0, {{kLow, {1, 3}}, {kHigh, {0, 2}}});
  steps.cycle();
  steps.cycle();
  steps.resolve(1, {{kLow, {4, 5, 6}}, {kHigh, {7}}});
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 1 3");
  steps.cycle();
  steps.cycle();
  return steps.issue();
}

TEST(Harp, DeparturePolicySaysWhichWarpLeavesTheLookup) {
  EXPECT_EQ(third_warp_of_figure_10(LookupDepart::kSlot), "pc 1: 4 5 6");
  EXPECT_EQ(third_warp_of_figure_10(LookupDepart::kFifoInsert), "pc 2: 0 2 7");
  EXPECT_EQ(third_warp_of_figure_10(LookupDepart::kFifoRefresh), "pc 1: 4 5 6");
}

// The example of the CROWN slides (s18): both warps commit before a departure, C is listed first. Returns
// the warps of C and B in the order in which they are issued.
std::vector<std::string> slide_18(Steps& steps) {
  steps.launch(8);
  for (int i = 0; i < 2; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(0, {{kLow, {0, 3}}, {kHigh, {1, 2}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 0 - - 3", "1: pc 2 - 1 2 -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  steps.resolve(1, {{kLow, {4, 5, 6}}, {kHigh, {7}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 0 5 6 3", "1: pc 2 - 1 2 7", "2: pc 1 4 - - -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0000", "0000"));
  std::vector<std::string> issued;
  for (int i = 0; i < 20 && issued.size() < 3; ++i) {
    steps.cycle();
    if (const std::string issue = steps.issue(); !issue.empty()) issued.push_back(issue);
  }
  return issued;
}

TEST(Crown, RunsSlide18) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("crown"), four_lanes(8));
  EXPECT_THAT(slide_18(steps), ElementsAre("pc 1: 0 3 5 6", "pc 2: 1 2 7", "pc 1: 4"));
  steps.resolve(2, {{kD, {0, 3, 5, 6}}});
  EXPECT_THAT(barriers(steps), ElementsAre("1001", "0110"));
  steps.resolve(3, {{kD, {1, 2, 7}}});
  EXPECT_THAT(barriers(steps), ElementsAre("0111"));  // W5 = {T0..T3} is born again
  steps.resolve(4, {{kD, {4}}});
  EXPECT_THAT(barriers(steps), IsEmpty());  // W6 = {T4..T7}
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 0 1 2 3");
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 4 5 6 7");
}

TEST(Crown, Slide18HoldsForInsertionOrderButNotForRefreshedOrder) {
  const ptx::Program program = kernel(kBranch);
  Steps inserted(program, config_of("crown", LookupDepart::kFifoInsert), four_lanes(8));
  EXPECT_THAT(slide_18(inserted), ElementsAre("pc 1: 0 3 5 6", "pc 2: 1 2 7", "pc 1: 4"));
  Steps refreshed(program, config_of("crown", LookupDepart::kFifoRefresh), four_lanes(8));
  EXPECT_THAT(slide_18(refreshed), ElementsAre("pc 1: 0 3 5 6", "pc 1: 4", "pc 2: 1 2 7"));
}

// --- Figure 6: what HARP gains over a stack
// ------------------------------------------------------------------

// A, then B with a load or C, then two instructions of D, on the masks of slide 18.
const std::string kFigure6 = R"(
  @%p1 bra C;              // 0: A
  ld.global.u32 %r2, [%rd1];  // 1: B
  bra D;                   // 2: B
C:
  add.u32 %r1, %r1, 1;     // 3: C
D:
  add.u32 %r3, %r3, 1;     // 4: D
  ret;                     // 5: D)";

struct Executed {
  Cycle cycles = 0;
  std::vector<Record> trace;
  unsigned issues_at(ptx::Pc low, ptx::Pc high) const {
    return static_cast<unsigned>(std::count_if(trace.begin(), trace.end(),
                                               [&](const Record& r) { return r.pc >= low && r.pc <= high; }));
  }
};

Executed figure_6(const std::string& scheme) {
  const ptx::Program program = kernel(kFigure6);
  Config config;
  config.scheme = scheme;
  config.warp_size = 4;
  Driver driver(program, config, four_lanes(8));
  driver.memory_latency = 40;
  const std::set<unsigned> c = {0, 3, 4, 5, 6};
  driver.holds = [&](unsigned thread, ptx::Pc, unsigned) { return c.count(thread) != 0; };
  driver.launch(8);
  driver.run(1000);
  return {driver.now(), driver.trace()};
}

TEST(Harp, KeepsTheInequalitiesOfFigure6) {
  const Executed sbr = figure_6("sbr"), harp = figure_6("harp");
  // Under the stack each warp runs B and C apart. Regrouping needs less than that, but no less than the
  // fullest lane: lane 0 has two threads in C, every lane at most one in B.
  EXPECT_EQ(sbr.issues_at(3, 3), 2u);
  EXPECT_EQ(harp.issues_at(3, 3), 2u);
  EXPECT_EQ(sbr.issues_at(1, 1), 2u);
  EXPECT_EQ(harp.issues_at(1, 1), 1u);
  // D runs at full width again.
  EXPECT_EQ(harp.issues_at(4, 5), 4u);
  for (const Record& record : harp.trace) {
    if (record.pc >= 4) {
      EXPECT_THAT(record.threads, SizeIs(4));
    }
  }
  // C runs while B's load is under way: not so under the stack.
  const auto when = [](const Executed& run, ptx::Pc pc) {
    return std::find_if(run.trace.begin(), run.trace.end(), [&](const Record& r) { return r.pc == pc; })
        ->cycle;
  };
  EXPECT_LT(when(harp, 3), when(harp, 2));
  EXPECT_GT(when(sbr, 3), when(sbr, 2));
}

// --- rules
// ---------------------------------------------------------------------------------------------------

TEST(Harp, OneSidedIfReachesTheBarrierAtOnce) {
  const ptx::Program program = kernel("  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\nD:\n  ret;");
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{2, {0, 1}}, {1, {2, 3}}});
  EXPECT_THAT(barriers(steps), ElementsAre("1100"));
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 - - 2 3"));
  EXPECT_EQ(steps.unit().census().reconvergence, 2u);
}

TEST(Harp, ALoopTakesOneBarrierEntryHoweverOftenItTurns) {
  // Threads leave one by one; those inside are registered already.
  const ptx::Program program = kernel("L:\n  add.u32 %r1, %r1, 1;\n  @%p1 bra L;\n  ret;");
  Driver driver(program, config_of("harp"), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned visit) { return visit < 3 * thread; };
  driver.launch(4);
  driver.run(1000);
  EXPECT_EQ(driver.statistic("barrier_entries_opened"), 1);
  EXPECT_EQ(driver.statistic("barrier_reserved"), 4);
  EXPECT_THAT(driver.trace().back().threads, ElementsAre(0u, 1u, 2u, 3u));
}

TEST(Harp, ThreadsThatExitLeaveTheirBarriers) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  steps.cycle();
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 1: 0 1");
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 2: 2 3");
  steps.resolve(1, {{kD, {0, 1}}});
  EXPECT_THAT(barriers(steps), ElementsAre("1100"));
  // The partners exit inside the region: the others must not wait for them for ever.
  steps.resolve(2, {{kD, {2, 3}}}, Kind::kExit);
  EXPECT_THAT(barriers(steps), IsEmpty());
  EXPECT_EQ(steps.unit().census().total(), 2u);
  steps.cycle();
  steps.cycle();
  EXPECT_EQ(steps.issue(), "pc 3: 0 1");
}

TEST(Harp, ABarrierWhoseThreadsAllExitIsFree) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  for (int i = 0; i < 5; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(1, {{kD, {0, 1}}}, Kind::kExit);
  steps.resolve(2, {{kD, {2, 3}}}, Kind::kExit);
  EXPECT_EQ(steps.unit().dump(), "");
}

// 17 branches nested in one another, of which 16 find a place in their set.
TEST(Harp, AFullSetOfBarriersIsAMissAndThreadsStillArrive) {
  std::string body;
  for (int i = 0; i < 17; ++i) body += "  @%p1 bra E" + std::to_string(i) + ";\n";
  body += "  add.u32 %r1, %r1, 1;\n";
  for (int i = 16; i >= 0; --i) body += "E" + std::to_string(i) + ":\n  add.u32 %r2, %r2, 1;\n";
  const ptx::Program program = kernel(body + "  ret;");
  const auto run = [&](std::uint64_t ways) {
    Config config = config_of("harp");
    config.harp.barrier_ways = ways;
    config.harp.barrier_entries = 8 * ways;
    Geometry geometry = four_lanes(32);
    geometry.simd_width = 32;
    auto driver = std::make_unique<Driver>(program, config, geometry);
    // Thread i leaves at branch i.
    driver->holds = [](unsigned thread, ptx::Pc pc, unsigned) { return thread == pc; };
    driver->launch(32);
    driver->run(1000);
    return driver;
  };
  const auto issues = [](const Driver& driver, ptx::Pc pc) {
    return std::count_if(driver.trace().begin(), driver.trace().end(),
                         [&](const Record& r) { return r.pc == pc; });
  };
  const auto enough = run(17), full = run(16);
  constexpr ptx::Pc kInnermost = 18;  // E16, which threads 16 to 31 reach
  EXPECT_EQ(enough->statistic("barrier_missed"), 0);
  EXPECT_EQ(enough->statistic("barrier_peak"), 17);
  EXPECT_EQ(issues(*enough, kInnermost), 1);
  EXPECT_EQ(full->statistic("barrier_missed"), 16);
  EXPECT_EQ(full->statistic("barrier_peak"), 16);
  EXPECT_EQ(issues(*full, kInnermost), 2);
  EXPECT_EQ(issues(*full, kInnermost + 1), 1) << "E15 has its barrier";
  EXPECT_THAT(full->trace().back().threads, SizeIs(32));
}

TEST(Harp, BlocksThatDoNotFillAWarpKeepTheirLanes) {
  const ptx::Program program = kernel(kBranch);
  Geometry geometry = four_lanes(64);
  geometry.simd_width = 16;
  Driver driver(program, config_of("harp"), geometry);
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread % 2 == 0; };
  driver.launch(12);
  driver.launch(12);  // a block of its own: the two never share a warp
  driver.run(100);
  for (const Record& record : driver.trace()) {
    if (record.pc == kA || record.pc == kD) {
      EXPECT_THAT(record.threads, SizeIs(12));
    }
  }
  EXPECT_EQ(driver.statistic("divergent_branches"), 2);
}

TEST(Harp, ThreadsOfDifferentBlocksNeverMerge) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(64));
  steps.launch(4, 0, 0);
  steps.launch(4, 1, 1);  // threads 32 to 35
  for (int i = 0; i < 2; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  steps.resolve(1, {{kLow, {34, 35}}, {kHigh, {32, 33}}});  // lanes that are free
  EXPECT_THAT(lookup(steps),
              ElementsAre("0: pc 1 0 1 - -", "1: pc 2 - - 2 3", "2: pc 1 - - 34 35", "3: pc 2 32 33 - -"));
  EXPECT_EQ(steps.statistic("ready_lookup/merges"), 0);
}

TEST(Harp, BlockBarriersInBothArmsAreCountedAndPassed) {
  const ptx::Program program =
      kernel("  @%p1 bra C;\n  bar.sync 0;\n  bra D;\nC:\n  bar.sync 0;\nD:\n  ret;");
  Driver driver(program, config_of("harp"), four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread % 2 == 0; };
  driver.launch(8);
  driver.run(200);
  EXPECT_GE(driver.statistic("bar_in_divergence"), 2);
  EXPECT_THAT(driver.trace().back().threads, SizeIs(4));
}

// After the barrier of the second arm comes the reconvergence point itself.
TEST(Harp, AThreadReachesItsReconvergencePointWhenItsBlockBarrierOpens) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  for (int i = 0; i < 5; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(1, {{kD, {0, 1}}}, Kind::kBarrier);
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  EXPECT_EQ(steps.unit().census().barrier, 2u);
  EXPECT_EQ(steps.statistic("bar_in_divergence"), 1);
  steps.unit().barrier_released(0, 0);
  EXPECT_THAT(barriers(steps), ElementsAre("1100"));
}

// `if (i >= n) return;` before a block barrier: with one final `ret`, the early threads wait there.
TEST(Harp, ThreadsThatWaitToExitAreToldToBlockBarriers) {
  const ptx::Program program = kernel("  @%p1 bra out;\n  bar.sync 0;\n  add.u32 %r1, %r1, 1;\nout:\n  ret;");
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{3, {0, 1, 2}}, {1, {3}}});
  EXPECT_EQ(steps.unit().waiting_to_exit(0), 3u);
  EXPECT_EQ(steps.unit().waiting_to_exit(1), 0u);
}

// A reconvergence point belongs to a call depth: the same PC one call deeper is somewhere else.
TEST(Harp, ReconvergenceNeedsTheCallDepthOfTheBranch) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  for (int i = 0; i < 5; ++i) {
    steps.cycle();
    steps.issue();
  }
  steps.resolve(1, {{kD, {0, 1}}}, Kind::kGo, 1);
  EXPECT_THAT(barriers(steps), ElementsAre("0000"));
  steps.resolve(2, {{kD, {2, 3}}}, Kind::kGo, 0);
  EXPECT_THAT(barriers(steps), ElementsAre("0011"));
}

TEST(Harp, ManyWaysAtOnceGiveAWarpEach) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{kD, {1}}, {kHigh, {0}}, {kLow, {3}}, {kA, {2}}});
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 0 - - 2 -", "1: pc 1 - - - 3", "2: pc 2 0 - - -"));
  EXPECT_THAT(barriers(steps), ElementsAre("0100"));
}

// --- Waiting-Lookup
// ------------------------------------------------------------------------------------------

const std::string kLoads = R"(
  @%p1 bra C;                 // 0
  ld.global.u32 %r2, [%rd1];  // 1: B
  bra D;                      // 2
C:
  add.u32 %r1, %r1, 1;        // 3: C
D:
  ret;                        // 4: D)";

struct TwoHalfWarpsAtALoad {
  explicit TwoHalfWarpsAtALoad(std::uint64_t entries, const std::string& scheme = "harp")
      : program(kernel(kLoads)), steps(program, tables(scheme, entries), four_lanes(8)) {
    steps.launch(8);
    for (int i = 0; i < 2; ++i) {
      steps.cycle();
      steps.issue();
    }
    steps.resolve(0, {{1, {0, 1}}, {3, {2, 3}}});
    for (int i = 0; i < 4 && steps.issue() != "pc 1: 0 1"; ++i) steps.cycle();  // issue 2
    steps.unit().memory_issued(2);
    for (int i = 0; i < 4 && steps.issue().empty(); ++i) steps.cycle();  // issue 3: C{2,3}
    steps.resolve(1, {{1, {6, 7}}, {3, {4, 5}}});
    for (int i = 0; i < 4 && steps.issue() != "pc 1: 6 7"; ++i) steps.cycle();  // issue 4
    steps.unit().memory_issued(4);
  }
  static Config tables(const std::string& scheme, std::uint64_t entries) {
    Config config = config_of(scheme);
    config.harp.waiting_lookup = config.crown.waiting_lookup = entries;
    return config;
  }
  ptx::Program program;
  Steps steps;
};

TEST(Harp, WarpsAtTheSameLoadMergeInTheWaitingLookup) {
  TwoHalfWarpsAtALoad two(8);
  Steps& steps = two.steps;
  EXPECT_THAT(steps.lines("in the Waiting-Lookup"), SizeIs(1));
  EXPECT_EQ(steps.statistic("waiting_lookup/merges"), 1);
  EXPECT_EQ(steps.statistic("waiting_lookup/merged_threads"), 2);
  // It is ready when the data of all its threads are there, whichever issue they belong to.
  steps.resolve(2, {{2, {0}}});
  steps.resolve(4, {{2, {6, 7}}});
  steps.cycle();
  EXPECT_THAT(steps.lines("waits for memory in the Waiting-Lookup"), SizeIs(1));
  steps.resolve(2, {{2, {1}}});
  EXPECT_THAT(steps.lines("leaves the Waiting-Lookup"), SizeIs(1));
  std::string issue;
  for (int i = 0; i < 4 && issue != "pc 2: 0 1 6 7"; ++i) {
    steps.cycle();
    issue = steps.issue();
    if (issue == "pc 3: 4 5") issue = steps.issue();
  }
  EXPECT_EQ(issue, "pc 2: 0 1 6 7");
}

TEST(Harp, WithoutWaitingLookupWarpsWaitApart) {
  TwoHalfWarpsAtALoad two(0);
  EXPECT_THAT(two.steps.lines("waits for memory"), SizeIs(2));
  EXPECT_EQ(two.steps.statistic("waiting_lookup/bypasses"), 2);
  EXPECT_EQ(two.steps.statistic("waiting_lookup/merges"), 0);
}

// Full warps at a load, one place in the table: HARP passes it by, CROWN evicts the oldest.
TEST(Harp, AFullWaitingLookupIsPassedByUnderHarpAndEvictsUnderCrown) {
  for (const std::string scheme : {"harp", "crown"}) {
    const ptx::Program program = kernel("  ld.global.u32 %r2, [%rd1];\n  ret;");
    Steps steps(program, TwoHalfWarpsAtALoad::tables(scheme, 1), four_lanes(8));
    steps.launch(8);
    for (IssueId id = 0; id < 2; ++id) {
      steps.cycle();
      steps.issue();
      steps.unit().memory_issued(id);
    }
    const auto held = steps.lines("waits for memory in the Waiting-Lookup");
    ASSERT_THAT(held, SizeIs(1));
    EXPECT_EQ(held[0].substr(held[0].find("threads ")),
              scheme == "harp" ? "threads 0 1 2 3" : "threads 4 5 6 7");
    EXPECT_EQ(steps.statistic("waiting_lookup/bypasses"), scheme == "harp" ? 1 : 0);
    EXPECT_EQ(steps.statistic("waiting_lookup/evictions"), scheme == "harp" ? 0 : 1);
    // Either way the data brings both back.
    steps.resolve(0, {{1, {0, 1, 2, 3}}});
    steps.resolve(1, {{1, {4, 5, 6, 7}}});
    std::vector<std::string> issued;
    for (int i = 0; i < 6; ++i) {
      steps.cycle();
      if (const std::string issue = steps.issue(); !issue.empty()) issued.push_back(issue);
    }
    EXPECT_THAT(issued, ::testing::UnorderedElementsAre("pc 1: 0 1 2 3", "pc 1: 4 5 6 7"));
  }
}

// --- warp-level synchronisation
// --------------------------------------------------------------------------------

TEST(Harp, ReleasedThreadsGoOnWithoutThoseOfOtherWarps) {
  const ptx::Program program = kernel(kBranch);
  Steps steps(program, config_of("harp"), four_lanes(4));
  steps.launch(4);
  steps.cycle();
  steps.issue();
  steps.resolve(0, {{1, {0, 1, 2, 3}}}, Kind::kWarpSync);
  EXPECT_EQ(steps.unit().census().warp_sync, 4u);
  steps.release_sync({1, 2});
  EXPECT_EQ(steps.unit().census().warp_sync, 2u);
  EXPECT_THAT(lookup(steps), ElementsAre("0: pc 1 - 1 2 -"));
  steps.release_sync({0, 3});
  EXPECT_EQ(steps.unit().census().warp_sync, 0u);
  EXPECT_EQ(steps.unit().census().total(), 4u);
}

// --- time
// ----------------------------------------------------------------------------------------------------

// From commit to the next issue: one cycle from Second-Level to First-Level, and the barriers' pipeline.
TEST(Harp, BarrierLatencyDelaysTheReturnOfACommittingWarp) {
  for (const unsigned latency : {1u, 2u, 4u}) {
    const ptx::Program program = kernel(kBranch);
    Config config = config_of("harp");
    config.harp.barrier_latency = latency;
    Steps steps(program, config, four_lanes(4));
    steps.launch(4);
    steps.cycle();
    steps.issue();
    steps.resolve(0, {{kHigh, {0, 1, 2, 3}}});
    steps.cycle();  // the cycle of the commit
    EXPECT_EQ(steps.issue(), "");
    unsigned cycles = 0;
    for (std::string issue; issue.empty() && cycles < 10; ++cycles) {
      const Cycle next = steps.unit().next_event(steps.now());
      steps.cycle();
      issue = steps.issue();
      if (!issue.empty()) {
        EXPECT_EQ(next, steps.now()) << "the SM would have slept";
      }
    }
    EXPECT_EQ(cycles, latency);
  }
}

TEST(Harp, FewReadyWarpsOpenTheReadyLookup) {
  const ptx::Program program = kernel(kBranch);
  Config config = config_of("harp");
  config.harp.first_level = 1;
  config.harp.lookup_threshold = 2;
  Steps steps(program, config, four_lanes(16));
  steps.launch(16);
  steps.cycle();
  steps.issue();  // W0; three wait in the Second-Level, one of them moves on
  steps.resolve(0, {{kLow, {0, 1}}, {kHigh, {2, 3}}});
  steps.cycle();
  steps.cycle();
  EXPECT_THAT(lookup(steps), SizeIs(2)) << "two warps are ready";
  steps.issue();
  steps.cycle();
  EXPECT_THAT(lookup(steps), SizeIs(2)) << "at the start of the cycle two were";
  steps.cycle();
  EXPECT_THAT(lookup(steps), SizeIs(1));
}

// --- storage: HARP Table 7, CROWN slide 49
// ---------------------------------------------------------------------

TEST(Harp, StorageIsThatOfTable7) {
  const ptx::Program program = kernel("  ret;");
  Geometry geometry = four_lanes(768);
  geometry.simd_width = 16;
  Config config;
  config.scheme = "harp";
  config.harp.barrier_span = BarrierSpan::kSplit;
  Steps split(program, config, geometry);
  EXPECT_EQ(split.statistic("storage_bits"), 10880 * 8);
  EXPECT_EQ(split.statistic("link_storage_bits"), 0);
  config.harp.barrier_span = BarrierSpan::kLinked;
  Steps linked(program, config, geometry);
  EXPECT_EQ(linked.statistic("storage_bits"), 10880 * 8);
  EXPECT_EQ(linked.statistic("link_storage_bits"), 128 * 7);
  linked.launch(16);
  EXPECT_THAT(linked.lines("storage: "), ElementsAre("10880 bytes of tables, 112 of links"));
}

TEST(Crown, StorageIsThatOfSlide49) {
  const ptx::Program program = kernel("  ret;");
  Geometry geometry = four_lanes(1024);
  geometry.simd_width = 8;
  Config config;
  config.scheme = "crown";
  Steps steps(program, config, geometry);
  EXPECT_EQ(steps.statistic("storage_bits"), 7472 * 8);
}

}  // namespace
}  // namespace weft::warp_formation::test
