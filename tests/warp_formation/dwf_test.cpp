// Dynamic warp formation, event by event: its tables alone, and the scheme under the driver. Warps of 4
// threads on 4 lanes, so that masks can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "common/error.h"
#include "warp_formation/driver.h"
#include "warp_formation/dwf_pool.h"
#include "warp_formation/kernels.h"

namespace weft::warp_formation::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Threads = std::vector<unsigned>;
using Issued = std::pair<ptx::Pc, Threads>;

Config dwf(DwfHeuristic heuristic = DwfHeuristic::kMajority) {
  Config config;
  config.scheme = "dwf";
  config.warp_size = 4;
  config.dwf.heuristic = heuristic;
  return config;
}

Geometry four_lanes(unsigned threads) {
  Geometry geometry;
  geometry.threads = threads;
  geometry.simd_width = 4;
  geometry.slots = 2;
  geometry.chunks = 2;
  geometry.barrel = true;
  return geometry;
}

// The tables, by thread numbers of one block at position 0. Threads in order of their lanes.
struct Tables {
  explicit Tables(const Config& config, unsigned threads = 16, unsigned instructions = 16)
      : pool(config, four_lanes(threads)) {
    program.code.resize(instructions);
    pool.attach(program);
  }
  bool update(const Threads& threads, ptx::Pc pc) {
    Piece piece;
    for (const unsigned t : threads) piece.mask |= 1u << t;
    return pool.update({pc, 0, 0}, &piece, 1, 0, DwfPool::kNoContext);
  }
  bool update_alone(const Threads& threads, ptx::Pc pc) {
    pool.next_cycle();
    return update(threads, pc);
  }
  Threads threads_of(std::uint32_t w) const {
    std::map<unsigned, unsigned> by_lane;
    for (const auto& group : pool.warp(w).packed.groups()) {
      for (unsigned t = 0; t < 32; ++t) {
        if ((group.mask >> t & 1) != 0) by_lane[t % 4] = t;
      }
    }
    Threads list;
    for (const auto& [lane, thread] : by_lane) list.push_back(thread);
    return list;
  }
  // Takes the warps out in the order of the heuristic.
  std::vector<Issued> drain() {
    std::vector<Issued> list;
    while (!pool.waiting.empty()) {
      pool.order().elect();
      std::uint32_t best = pool.waiting.first;
      for (std::uint32_t w = best; w != DwfPool::kNone; w = pool.warp(w).next) {
        if (pool.order().before(pool.warp(w).rank, pool.warp(best).rank)) best = w;
      }
      list.emplace_back(pool.warp(best).place.pc, threads_of(best));
      pool.unlist(pool.waiting, best);
      pool.take(best);
    }
    return list;
  }
  ptx::Program program;
  DwfPool pool;
};

Config lut(std::uint64_t entries, std::uint64_t ways, DwfHeuristic heuristic = DwfHeuristic::kFifo) {
  Config config = dwf(heuristic);
  config.dwf.lut_entries = entries;
  config.dwf.lut_ways = ways;
  return config;
}

// The trace of GPGPU-Sim's own test of these tables: a LUT of 16 entries in 2 ways, 4 lanes, FIFO order.
TEST(DwfPool, RunsTheUnitTraceOfGpgpuSim) {
  Tables t(lut(16, 2), 64);
  constexpr ptx::Pc k80 = 0, k88 = 1, k90 = 2;
  EXPECT_TRUE(t.update_alone({0, 1, 2, 3}, k80));
  EXPECT_TRUE(t.update({0, 1, 2, 3}, k88));
  EXPECT_TRUE(t.update_alone({0, 1, 2, 3}, k90));
  EXPECT_EQ(t.pool.counters().warp_merge_conflict, 0u);
  EXPECT_TRUE(t.update({4, 5, 6, 7}, k80));  // all lanes taken
  EXPECT_EQ(t.pool.counters().warp_merge_conflict, 1u);
  EXPECT_TRUE(t.update_alone({8, 10}, k90));  // lanes 0 and 2 of the newest warp there are taken
  EXPECT_EQ(t.pool.size(), 5u);
  EXPECT_TRUE(t.update_alone({1, 3}, k90));  // joins {8, 10}
  EXPECT_EQ(t.pool.size(), 5u);
  EXPECT_EQ(t.pool.counters().merged_threads, 2u);
  EXPECT_TRUE(t.update_alone({4, 9, 11}, k80));
  EXPECT_TRUE(t.update_alone({13, 14}, k80));  // 14 joins on lane 2, 13 finds lane 1 taken
  EXPECT_EQ(t.pool.counters().merged_threads, 3u);
  EXPECT_EQ(t.pool.counters().warp_merge_conflict, 4u);
  // Of the four conflicts only the last is fragmentation: {4, 9, 11} and {13, 14} are five threads, no; {8,
  // 10} and four threads, no; so none is.
  EXPECT_EQ(t.pool.counters().warp_fragmentation, 0u);
  EXPECT_THAT(t.drain(),
              ElementsAre(Issued{k80, {0, 1, 2, 3}}, Issued{k88, {0, 1, 2, 3}}, Issued{k90, {0, 1, 2, 3}},
                          Issued{k80, {4, 5, 6, 7}}, Issued{k90, {8, 1, 10, 3}}, Issued{k80, {4, 9, 14, 11}},
                          Issued{k80, {13}}));
  EXPECT_EQ(t.pool.threads(), 0u);
}

TEST(DwfPool, CountsFragmentationWhenOneWarpWouldDo) {
  Tables t(lut(16, 2));
  t.update_alone({0}, 5);
  t.update_alone({4, 1}, 5);  // thread 4 finds lane 0 taken; together they are three
  EXPECT_EQ(t.pool.counters().warp_merge_conflict, 1u);
  EXPECT_EQ(t.pool.counters().warp_fragmentation, 1u);
  EXPECT_THAT(t.drain(), ElementsAre(Issued{5, {0, 1}}, Issued{5, {4}}));
}

// One set of two ways: the third PC pushes out the least recent one, whose warp takes no more threads.
TEST(DwfPool, AVictimOfTheLutLosesItsChanceToMerge) {
  Tables t(lut(2, 2));
  t.update_alone({0}, 1);
  t.update_alone({0}, 2);
  t.update_alone({1}, 1);  // a hit: 2 is the least recent now
  EXPECT_EQ(t.pool.counters().lut_aliased, 2u);
  t.update_alone({0}, 3);  // replaces 2
  EXPECT_EQ(t.pool.counters().lut_aliased, 3u);
  EXPECT_EQ(t.pool.counters().lut_realmiss, 0u);
  t.update_alone({1}, 2);  // a warp is there, out of reach; replaces 1
  EXPECT_EQ(t.pool.counters().lut_aliased, 4u);
  EXPECT_EQ(t.pool.counters().lut_realmiss, 1u);
  EXPECT_THAT(t.drain(), ElementsAre(Issued{1, {0, 1}}, Issued{2, {0}}, Issued{3, {0}}, Issued{2, {1}}));
}

TEST(DwfPool, OnePortPerEntryAndCycle) {
  Tables t(lut(1, 1));
  t.pool.next_cycle();
  EXPECT_TRUE(t.update({0}, 1));
  EXPECT_TRUE(t.update({1}, 1));   // the same entry again: one access serves both
  EXPECT_FALSE(t.update({0}, 2));  // would replace the entry of this cycle
  EXPECT_EQ(t.pool.threads(), 2u);
  EXPECT_EQ(t.pool.counters().port_conflicts, 1u);
  t.pool.next_cycle();
  EXPECT_TRUE(t.update({0}, 2));
}

TEST(DwfPool, APerfectLutNeverMisses) {
  Tables t(lut(0, 1));
  for (ptx::Pc pc = 0; pc < 12; ++pc) t.update({0}, pc);
  for (ptx::Pc pc = 0; pc < 12; ++pc) t.update({1}, pc);
  EXPECT_EQ(t.pool.size(), 12u);
  EXPECT_EQ(t.pool.counters().merged_threads, 12u);
  EXPECT_EQ(t.pool.counters().lut_aliased + t.pool.counters().lut_realmiss, 0u);
}

// Once issued, a warp takes no more threads even if the LUT knew it.
TEST(DwfPool, AnIssuedWarpIsOutOfReach) {
  Tables t(lut(16, 2));
  t.update_alone({0}, 1);
  EXPECT_THAT(t.drain(), ElementsAre(Issued{1, {0}}));
  t.update_alone({1}, 1);
  EXPECT_EQ(t.pool.counters().merged_threads, 0u);
  EXPECT_EQ(t.pool.counters().lut_realmiss, 0u);
  EXPECT_THAT(t.drain(), ElementsAre(Issued{1, {1}}));
}

// Three PCs: 3 with two warps of 2 + 3 threads, 1 with 4 threads, 2 with 1.
void fill(Tables& t) {
  t.update_alone({0, 1}, 3);
  t.update_alone({4, 5, 6, 7}, 1);
  t.update_alone({12}, 2);
  t.update_alone({8, 9, 10}, 3);  // 10 joins, 8 and 9 conflict
}

TEST(DwfOrder, EveryHeuristic) {
  const auto order = [](DwfHeuristic heuristic) {
    Tables t(lut(16, 2, heuristic));
    fill(t);
    return t.drain();
  };
  const Issued a{3, {0, 1, 10}}, b{1, {4, 5, 6, 7}}, c{2, {12}}, d{3, {8, 9}};
  EXPECT_THAT(order(DwfHeuristic::kFifo), ElementsAre(a, b, c, d));
  EXPECT_THAT(order(DwfHeuristic::kMajority), ElementsAre(a, d, b, c));  // 5, 4, 1 threads
  EXPECT_THAT(order(DwfHeuristic::kMinority), ElementsAre(c, b, a, d));  // 1, 4, 5
  EXPECT_THAT(order(DwfHeuristic::kLowestPc), ElementsAre(b, c, a, d));
}

// A PC stays the majority until none of its threads is left, though another one overtakes it.
TEST(DwfOrder, TheMajorityStaysUntilItIsDrained) {
  Tables t(lut(16, 2, DwfHeuristic::kMajority));
  t.update_alone({0, 1}, 1);
  t.update_alone({4, 5}, 1);
  t.update_alone({2}, 2);
  t.pool.order().elect();
  EXPECT_EQ(t.pool.order().current(), 1u);
  for (const unsigned first : {0u, 4u, 8u, 12u}) t.update_alone({first, first + 1, first + 2, first + 3}, 2);
  t.pool.order().elect();
  EXPECT_EQ(t.pool.order().current(), 1u);
  const auto order = t.drain();
  EXPECT_EQ(order[0].first, 1u);
  EXPECT_EQ(order[1].first, 1u);
  EXPECT_EQ(order[2].first, 2u);
}

// Threads carry how many reconvergence points they have passed; who is behind goes first.
TEST(DwfOrder, PdomPriority) {
  Config config = lut(16, 2, DwfHeuristic::kPdomPriority);
  const ptx::Program program =
      kernel("  @%p1 bra D;\n  add.u32 %r1, %r1, 1;\nD:\n  add.u32 %r1, %r1, 1;\n  ret;");
  ASSERT_EQ(program.code[0].reconvergence, 2u);
  Tables t(config);
  t.pool.attach(program);
  t.pool.start({0, 0, 16});
  t.update_alone({0, 1}, 2);          // passes the point: 1
  t.update_alone({4, 5, 6}, 1);       // 0
  t.update_alone({8, 9, 10, 11}, 3);  // 0, and fuller
  EXPECT_THAT(t.drain(), ElementsAre(Issued{3, {8, 9, 10, 11}}, Issued{1, {4, 5, 6}}, Issued{2, {0, 1}}));
  // The count stays with the thread: 0 and 1 are behind 4 now.
  t.update_alone({0, 1}, 1);
  t.update_alone({4}, 3);
  EXPECT_THAT(t.drain(), ElementsAre(Issued{3, {4}}, Issued{1, {0, 1}}));
}

TEST(MajorityHeap, ElectsTheLargestAndPaysForEveryAccess) {
  MajorityHeap heap({8, 4, 2, 1, 1});
  const auto a = heap.add(10, 2);  // table read; heap and table write
  EXPECT_FALSE(heap.settled());
  heap.pass(1);
  EXPECT_TRUE(heap.settled());
  const auto b = heap.add(11, 5);  // rises over 10: two reads, 1 + 2 writes of the heap; 1 + 2 of the table
  heap.pass(2);
  EXPECT_FALSE(heap.settled());
  heap.pass(1);
  EXPECT_TRUE(heap.settled());
  EXPECT_NE(a, b);
  EXPECT_EQ(heap.add(10, 1), a);
  heap.pass(100);
  EXPECT_EQ(heap.elect(), b);
  EXPECT_EQ(heap.majority(), 11u);
  EXPECT_EQ(heap.add(11, 3), b);  // the elected one is counted apart
  heap.pass(100);
  EXPECT_EQ(heap.elect(), a);
  EXPECT_EQ(heap.elect(), MajorityHeap::kNone);
}

// A PC that the table has lost gets a second node: the count is split and the majority may be missed.
TEST(MajorityHeap, ALostPcIsCountedTwice) {
  MajorityHeap heap({8, 1, 1, 4, 4});
  const auto a = heap.add(10, 3);
  heap.add(11, 4);  // the only entry leads to 11 now
  EXPECT_NE(heap.add(10, 2), a);
  EXPECT_EQ(heap.size(), 3u);
  heap.pass(100);
  heap.elect();
  EXPECT_EQ(heap.majority(), 11u);  // 4 threads, though 10 has 5
}

// By hand, for 16 threads, warps of 4 on 4 lanes, LUT 16:2. Pool entry: PC 32, 4 x (2 bits of row + valid),
// next 4: 48 bits x 16. LUT entry: valid 1, PC 32 - 3, warp 4, occupancy 4: 38 x 16.
TEST(DwfPool, KnowsItsStorage) {
  Tables t(lut(16, 2));
  EXPECT_EQ(t.pool.pool_bits(), 768u);
  EXPECT_EQ(t.pool.lut_bits(), 608u);
  EXPECT_EQ(t.pool.heap_bits(), 0u);
  // Node: PC 32, threads, first and last warp 3 x 4, table entry 5: 49 x 128. Table: 1 + (32 - 3) + 7: 37
  // x 32.
  EXPECT_EQ(Tables(lut(16, 2, DwfHeuristic::kMajorityHeap)).pool.heap_bits(), 49u * 128 + 37u * 32);
}

// --- the scheme under the driver ---

std::vector<Issued> issues(const Driver& driver) {
  std::vector<Issued> list;
  for (const auto& record : driver.trace()) list.emplace_back(record.pc, record.threads);
  return list;
}

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
  config.dwf.commit_bandwidth = 2;
  Driver driver(program, config, four_lanes(8));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return (0b01111001 >> thread & 1) != 0; };
  driver.launch(8);
  driver.run(100);
  // C has five threads when the majority is chosen, so it goes first; thread 4 finds lane 0 taken. At D there
  // are five again, so B waits until all of them are gone.
  EXPECT_THAT(issues(driver), ElementsAre(Issued{0, {0, 1, 2, 3}}, Issued{0, {4, 5, 6, 7}},
                                          Issued{2, {0, 3, 5, 6}}, Issued{2, {4}}, Issued{3, {0, 3, 5, 6}},
                                          Issued{3, {4}}, Issued{1, {1, 2, 7}}, Issued{3, {1, 2, 7}}));
  EXPECT_EQ(driver.statistic("divergent_branches"), 2);
  EXPECT_EQ(driver.statistic("merged_threads"), 3);  // 7, 5 and 6
}

// A committed warp that parts in four takes the bandwidth of four cycles: the next one waits for it.
TEST(Dwf, ASplitOverdrawsTheCommitBandwidth) {
  const ptx::Program program =
      kernel("  @%p1 bra A;\nA:\n  bra E;\nB:\n  bra E;\nC:\n  bra E;\nD:\n  bra E;\nE:\n  ret;");
  Driver driver(program, dwf(), four_lanes(8));
  driver.jump = [](unsigned thread, ptx::Pc pc) {
    return pc == 0 && thread < 4 ? ptx::Pc{1 + thread} : ptx::kNoPc;
  };
  driver.refuse = [](unsigned, const Issue& issue) { return issue.pc == 0 ? Stall::kNone : Stall::kFetch; };
  driver.launch(8);
  std::vector<std::uint64_t> queued;
  for (int i = 0; i < 6; ++i) {
    driver.step();
    queued.push_back(driver.unit().census().queued);
  }
  // The first warp commits in cycle 2, the second is ready to in cycle 3 and does in cycle 6.
  EXPECT_THAT(queued, ElementsAre(0, 0, 4, 4, 4, 0));
  driver.refuse = nullptr;
  driver.run(100);
}

// Warps at a barrier know no LUT: those that come apart leave apart.
TEST(Dwf, WarpsAtABarrierDoNotMerge) {
  const ptx::Program program = kernel("  @%p1 bra B;\n  add.u32 %r1, %r1, 1;\nB:\n  bar.sync 0;\n  ret;");
  Driver driver(program, dwf(), four_lanes(4));
  driver.holds = [](unsigned thread, ptx::Pc, unsigned) { return thread < 2; };
  driver.launch(4);
  driver.run(100);
  EXPECT_THAT(issues(driver), ElementsAre(Issued{0, {0, 1, 2, 3}}, Issued{1, {2, 3}}, Issued{2, {0, 1}},
                                          Issued{2, {2, 3}}, Issued{3, {0, 1}}, Issued{3, {2, 3}}));
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
    config.dwf.starvation_limit = limit;
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
  // 0 and 2 come back while the bandwidth is overdrawn by the split, so 3 goes before them.
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
  ASSERT_EQ(unit->pick(0, ~0u, issue), Stall::kNone);
  unit->issued(7, issue);
  const ThreadGroup all{0b1111, 0, 0, false};
  Outcome outcome;
  outcome.kind = Outcome::Kind::kWarpSync;
  outcome.next_pc = 1;
  outcome.groups = {&all, 1};
  unit->resolved(7, {&outcome, 1});
  EXPECT_EQ(unit->census().warp_sync, 4u);
  unit->advance(2);
  EXPECT_EQ(unit->pick(0, ~0u, issue), Stall::kReconvergence);
  for (const std::uint32_t mask : {0b0101u, 0b1010u}) {
    const ThreadGroup some{mask, 0, 0, false};
    unit->warp_sync_released({&some, 1});
  }
  EXPECT_EQ(unit->census().warp_sync, 0u);
  EXPECT_EQ(unit->census().queued, 4u);
  EXPECT_EQ(unit->next_event(2), 3u);
  unit->advance(3);
  unit->advance(4);
  ASSERT_EQ(unit->pick(0, ~0u, issue), Stall::kNone);
  EXPECT_EQ(issue.pc, 1u);
  EXPECT_EQ(issue.groups.data[0].mask, 0b1111u);  // the second half joined the first
  EXPECT_EQ(unit->next_event(4), kNoEvent);
}

// A warp of 32 on 8 lanes packs a lane's threads into its beats from the first on.
TEST(LanePacking, ThreadsKeepTheirLanesAndFillBeatsFromTheFirst) {
  PackedWarp warp(4);
  EXPECT_EQ(warp.pack(8, 5, 0x0f0f0f0f), 0u);  // lanes 0 to 3 of four segments: four beats
  ASSERT_EQ(warp.groups().count, 1u);
  EXPECT_TRUE(warp.groups().data[0].spread);
  EXPECT_EQ(warp.pack(8, 6, 0xf00000f0), 0u);  // lanes 4 to 7, twice: beats 0 and 1
  ASSERT_EQ(warp.groups().count, 3u);
  EXPECT_EQ(warp.groups().data[1].mask, 0x000000f0u);
  EXPECT_EQ(warp.groups().data[1].beat, 0);
  EXPECT_EQ(warp.groups().data[2].mask, 0xf0000000u);
  EXPECT_EQ(warp.groups().data[2].beat, 1);
  EXPECT_EQ(warp.pack(8, 7, 0x00ffffff), 0x00ff0f0fu & 0x00ffffff);
  EXPECT_EQ(warp.threads(), 16u + 8u + 8u);
}

TEST(Dwf, RefusesTablesThatPcsCannotIndex) {
  Config config = dwf();
  config.dwf.lut_entries = 24;
  config.dwf.lut_ways = 2;  // 12 sets
  try {
    config.check("gpu.json: /warp_formation");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/warp_formation/dwf/lut_entries"));
    EXPECT_THAT(error.what(), HasSubstr("found 24 entries of 2 ways"));
  }
  config.dwf.lut_ways = 3;  // 8 sets
  EXPECT_NO_THROW(config.check("w"));
}

}  // namespace
}  // namespace weft::warp_formation::test
