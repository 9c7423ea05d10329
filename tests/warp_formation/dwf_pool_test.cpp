// The tables of dynamic warp formation alone: LUT, warp pool, issue order, majority heap. Warps of 4 threads
// on 4 lanes, so that masks can be read.
#include "warp_formation/dwf_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "warp_formation/dwf_bench.h"
#include "warp_formation/kernels.h"

namespace weft::warp_formation::test::dwf_pool_test {
namespace {

using ::testing::ElementsAre;
using Issued = std::pair<ptx::Pc, Threads>;

// The tables, by thread numbers of one block at position 0. Threads in order of their lanes.
struct Tables {
  explicit Tables(const Config& config, unsigned threads = 16, unsigned instructions = 16)
      : pool(config.own<DwfOptions>(), config.warp_size, four_lanes(threads)) {
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

}  // namespace
}  // namespace weft::warp_formation::test::dwf_pool_test
