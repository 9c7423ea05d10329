// SIMD groups: lanes and beats of an issue, how long it takes its unit, when results are there.
#include <gtest/gtest.h>

#include <tuple>

#include "datapath/issues.h"

namespace weft::datapath::test {
namespace {

Machine machine(unsigned width = 16) {
  Machine m;
  m.schedulers = 2;
  m.simd_groups = 2;
  m.simd_width = width;
  m.sfu_groups = 1;
  m.sfu_width = 4;
  m.memory_width = 16;
  m.pipeline_depth = 8;
  m.branch_cycles = 3;
  return m;
}

std::unique_ptr<Datapath> spatial(const Machine& m = machine()) {
  return create(Config{"spatial"}, m);
}

// A warp of 32, all of it: as many rows as the lanes need.
Threads warp_of_32(unsigned width) {
  return Threads(32 / width, {{~0u, 0, 0, true}});
}

struct Active {
  unsigned beats, lanes;
  bool operator==(const Active& other) const { return beats == other.beats && lanes == other.lanes; }
};
std::ostream& operator<<(std::ostream& out, const Active& active) {
  return out << active.beats << " beats, " << active.lanes << " lanes";
}
Active active(const Threads& threads, unsigned width) {
  const auto datapath = spatial(machine(width));
  const Times times = start(*datapath, 1, Work(ptx::Unit::kSp), threads);
  return {times.active_beats, times.active_lanes};
}

// Blocks of 80 threads are three warps, the last of them half empty: it takes a row all the same.
constexpr BlockRegisters kBlockOf80 = {80, 10, 32, 0, 0};

std::unique_ptr<Datapath> with_registers(Registers kept, std::uint64_t blocks) {
  Machine m = machine();
  m.registers = blocks * 3 * 320;
  m.register_allocation_unit = 64;
  m.slots = 8;
  Config config{"spatial"};
  config.registers = kept;
  return create(config, m);
}
Block block_at(std::uint16_t slot) {
  return {slot, static_cast<std::uint16_t>(3 * slot), 80};
}

TEST(RegistersOfWarps, AreFreeWhenTheWarpExitsAndAWholeBlockHasToFit) {
  const auto datapath = with_registers(Registers::kWarp, 2);
  EXPECT_EQ(datapath->fit(kBlockOf80).blocks, 2u) << "at once";
  EXPECT_EQ(datapath->fit(kBlockOf80).resident, UINT64_MAX) << "as long as warps go";
  datapath->hold(block_at(0), kBlockOf80);
  datapath->hold(block_at(1), kBlockOf80);
  EXPECT_FALSE(datapath->can_hold(0, kBlockOf80));
  EXPECT_FALSE(datapath->exited(0, 0xFFFF)) << "half of a warp";
  EXPECT_TRUE(datapath->exited(0, 0xFFFF0000)) << "the other half";
  EXPECT_TRUE(datapath->exited(2, 0xFFFF)) << "the half-empty warp, all of it";
  EXPECT_FALSE(datapath->can_hold(0, kBlockOf80)) << "two rows are free, a block has three";
  EXPECT_TRUE(datapath->exited(4, ~0u));
  EXPECT_TRUE(datapath->can_hold(0, kBlockOf80)) << "of two blocks together";
  datapath->hold(block_at(2), kBlockOf80);
  EXPECT_FALSE(datapath->can_hold(0, kBlockOf80));
  datapath->exited(1, ~0u);
  datapath->release(block_at(0));
  EXPECT_FALSE(datapath->can_hold(0, kBlockOf80)) << "nothing is given back twice";
  datapath->release(block_at(1));
  datapath->release(block_at(2));
  datapath->hold(block_at(0), kBlockOf80);
  EXPECT_TRUE(datapath->can_hold(0, kBlockOf80));
  datapath->reset(0);
  datapath->hold(block_at(0), kBlockOf80);
  EXPECT_TRUE(datapath->can_hold(0, kBlockOf80));
}

// A commit of regrouped threads may have those of several warps of a chunk.
TEST(RegistersOfWarps, CountEachWarpOfAChunk) {
  const auto datapath = with_registers(Registers::kWarp, 1);
  const BlockRegisters warps_of_8 = {32, 10, 8, 0, 0};
  datapath->hold({0, 0, 32}, warps_of_8);  // 128 registers a warp, 960 in all
  EXPECT_FALSE(datapath->can_hold(0, warps_of_8));
  EXPECT_FALSE(datapath->exited(0, 0x0F0F0F0F)) << "half of each";
  EXPECT_TRUE(datapath->exited(0, 0x0000F0F0)) << "the rest of two";
  EXPECT_TRUE(datapath->can_hold(0, warps_of_8));
}

TEST(RegistersOfBlocks, StayUntilTheBlockGoes) {
  const auto datapath = with_registers(Registers::kBlock, 1);
  EXPECT_EQ(datapath->fit(kBlockOf80).resident, 0u);
  datapath->hold(block_at(0), kBlockOf80);
  for (unsigned chunk = 0; chunk < 3; ++chunk) EXPECT_FALSE(datapath->exited(chunk, ~0u));
  EXPECT_FALSE(datapath->can_hold(0, kBlockOf80));
  datapath->release(block_at(0));
  EXPECT_TRUE(datapath->can_hold(0, kBlockOf80));
}

// One file has no slices: a kernel that does not fit is for the allocator to spill, not to be refused.
TEST(RegistersOfBlocks, AreOfOneFile) {
  for (const Registers kept : {Registers::kBlock, Registers::kWarp}) {
    const RegisterFit fit = with_registers(kept, 1)->fit({32, 100, 32, 0, 0});
    EXPECT_EQ(fit.blocks, 0u);
    EXPECT_EQ(fit.needed, 3200u);
    EXPECT_EQ(fit.warp, 0u);
    EXPECT_EQ(fit.slice, 0u);
  }
}

// Of whatever width a lane is, the same bits.
TEST(Registers, AreDeclaredAsBanksAndCrossbars) {
  const auto bits_of = [](const storage::Arrays& arrays) {
    std::uint64_t bits = 0;
    for (const storage::Array& array : arrays) bits += array.stored_bits();
    return bits;
  };
  for (const unsigned width : {4u, 8u, 16u, 32u}) {
    Machine m = machine(width);
    m.registers = 16384;
    const storage::Arrays arrays = spatial(m)->arrays();
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(bits_of(arrays), 16384u * 32);
    EXPECT_EQ(arrays[0].bits, width * 32);
    EXPECT_EQ(arrays[1].kind, storage::Kind::kCrossbar);
    EXPECT_EQ(arrays[1].copies * arrays[1].bits, 2 * width * 32) << "slices of at most 256 bits, two groups";
    EXPECT_LE(arrays[1].bits, 256u);
    m.simd_groups = 1;
    for (unsigned lane = 1; lane <= width; lane *= 2) {
      Config config{"temporal"};
      config.lane_width = lane;
      const storage::Arrays lanes = create(config, m)->arrays();
      EXPECT_EQ(bits_of(lanes), 16384u * 32);
      EXPECT_EQ(lanes[0].bits, lane * 32);
      EXPECT_EQ(lanes[0].copies, 8 * width / lane) << "8 banks to a lane (ST-SIMT Table I)";
      EXPECT_EQ(lanes[1].copies * lanes[1].bits, width * 32);
      EXPECT_GE(lanes[1].copies, width / lane);
    }
  }
}

TEST(Spatial, ARowHasTheLanesOfAGroup) {
  for (const unsigned width : {4u, 8u, 16u, 32u}) EXPECT_EQ(spatial(machine(width))->lanes(), width);
}

TEST(Spatial, ASpreadGroupHasABeatForEachRowOfItsChunkWithAThread) {
  EXPECT_EQ(active({4, {{~0u, 0, 0, true}}}, 8), (Active{4, 32}));
  EXPECT_EQ(active({4, {{0x00ff00ff, 0, 0, true}}}, 8), (Active{2, 16}));
  EXPECT_EQ(active({4, {{0x80000001, 0, 0, true}}}, 8), (Active{2, 2}));
  EXPECT_EQ(active({1, {{0x80000001, 0, 0, true}}}, 32), (Active{1, 2}));
  // Two chunks: the second begins in row 4.
  EXPECT_EQ(active({8, {{~0u, 0, 0, true}, {0xf, 1, 4, true}}}, 8), (Active{5, 36}));
}

TEST(Spatial, OtherGroupsOfARowShareItsBeat) {
  // Lanes 0 to 3 from chunk 7, 4 to 7 from chunk 9; positions 8 to 15 are lanes 0 to 7 again.
  EXPECT_EQ(active({1, {{0x0f, 7, 0, false}, {0xf000, 9, 0, false}}}, 8), (Active{1, 8}));
  EXPECT_EQ(active({2, {{0x0f, 7, 0, false}, {0xf0, 9, 0, false}, {0x100, 9, 1, false}}}, 8), (Active{2, 9}));
  EXPECT_EQ(active({4, {{1, 7, 3, false}}}, 8), (Active{1, 1}));  // rows without threads are not active
}

// unit, rows of 16 lanes -> cycles that it is taken. A lane of the unit serves a place of the warp per cycle.
using Taken = std::tuple<ptx::Unit, unsigned, unsigned>;
class SpatialUnit : public ::testing::TestWithParam<Taken> {};

TEST_P(SpatialUnit, IsTakenForItsCyclesAndFreeAfterThem) {
  const auto [unit, rows, cycles] = GetParam();
  Machine m = machine();
  m.simd_groups = 1;
  const auto datapath = spatial(m);
  const Work work(unit, 5, 3);  // interval 3
  const Threads threads(rows, {{1, 0, 0, true}});
  ASSERT_EQ(datapath->earliest(10, 0, work.demand, threads.issue), 10u);
  start(*datapath, 10, work, threads);
  EXPECT_EQ(datapath->next_free(10), 10 + cycles);
  for (Cycle now = 10; now <= 10 + cycles; ++now) {
    const Cycle expected = 10 + cycles;
    EXPECT_EQ(datapath->earliest(now, 0, work.demand, threads.issue), expected) << now;
    EXPECT_EQ(datapath->earliest(now, 1, work.demand, threads.issue), expected) << now;
  }
  EXPECT_EQ(datapath->earliest(11 + cycles, 0, work.demand, threads.issue), 11 + cycles);
  EXPECT_EQ(datapath->next_free(10 + cycles), kNever);
}

INSTANTIATE_TEST_SUITE_P(Units, SpatialUnit,
                         ::testing::Values(Taken{ptx::Unit::kSp, 1, 3}, Taken{ptx::Unit::kSp, 2, 6},
                                           Taken{ptx::Unit::kWarp, 2, 6},
                                           Taken{ptx::Unit::kControl, 2, 2},  // no interval
                                           Taken{ptx::Unit::kSfu, 1, 12}, Taken{ptx::Unit::kSfu, 2, 24},
                                           Taken{ptx::Unit::kMemory, 1, 1}, Taken{ptx::Unit::kMemory, 2, 2}));

// A unit wider than the warp is taken for a cycle.
TEST(Spatial, AUnitIsTakenForOneCycleAtLeast) {
  Machine m = machine(8);
  m.sfu_width = m.memory_width = 32;
  const auto datapath = spatial(m);
  const Threads threads(1, {{1, 0, 0, true}});
  for (const ptx::Unit unit : {ptx::Unit::kSfu, ptx::Unit::kMemory}) {
    start(*datapath, 1, Work(unit), threads);
    EXPECT_EQ(datapath->next_free(1), 2u);
    datapath->reset(0);
  }
}

TEST(Spatial, UnitsWorkInParallel) {
  const auto datapath = spatial();
  const Threads threads = warp_of_32(16);
  start(*datapath, 1, Work(ptx::Unit::kMemory), threads);
  start(*datapath, 1, Work(ptx::Unit::kSfu), threads);
  start(*datapath, 1, Work(ptx::Unit::kSp), threads);
  const Work sp(ptx::Unit::kSp), sfu(ptx::Unit::kSfu), memory(ptx::Unit::kMemory);
  EXPECT_EQ(datapath->earliest(1, 0, sp.demand, threads.issue), 1u);  // the second group
  start(*datapath, 1, sp, threads);
  EXPECT_EQ(datapath->earliest(1, 0, sp.demand, threads.issue), 3u);
  EXPECT_EQ(datapath->earliest(1, 0, sfu.demand, threads.issue), 9u);
  EXPECT_EQ(datapath->earliest(1, 0, memory.demand, threads.issue), 3u);
  EXPECT_EQ(datapath->next_free(1), 3u);
  EXPECT_EQ(datapath->next_free(3), 9u);
}

TEST(Spatial, BoundGroupsBelongToTheirSchedulers) {
  Machine m = machine();
  m.schedulers = 3;
  m.bind_groups = true;
  const auto datapath = spatial(m);
  const Threads threads = warp_of_32(16);
  for (const ptx::Unit unit : {ptx::Unit::kSp, ptx::Unit::kControl, ptx::Unit::kWarp}) {
    datapath->reset(0);
    const Work work(unit);
    start(*datapath, 1, work, threads, 1);
    EXPECT_EQ(datapath->earliest(1, 0, work.demand, threads.issue), 1u);
    EXPECT_EQ(datapath->earliest(1, 1, work.demand, threads.issue), 3u);
    EXPECT_EQ(datapath->earliest(1, 2, work.demand, threads.issue), 1u);  // scheduler 2 has group 0
    start(*datapath, 1, work, threads, 2);
    EXPECT_EQ(datapath->earliest(1, 0, work.demand, threads.issue), 3u);
  }
  // Special-function units are everybody's.
  const Work sfu(ptx::Unit::kSfu);
  start(*datapath, 1, sfu, threads, 1);
  EXPECT_EQ(datapath->earliest(1, 0, sfu.demand, threads.issue), 9u);
}

// One in-order pipeline per scheduler: an issue keeps it for its beats, whatever unit it goes to.
TEST(Spatial, ASharedPortIsTakenForTheBeatsOfAnIssue) {
  Machine m = machine();
  m.shared_port = true;
  const auto datapath = spatial(m);
  const ptx::Unit units[] = {ptx::Unit::kSp, ptx::Unit::kSfu, ptx::Unit::kMemory, ptx::Unit::kControl,
                             ptx::Unit::kWarp};
  for (const ptx::Unit unit : units) {
    for (const unsigned rows : {1u, 2u, 4u}) {
      datapath->reset(0);
      const Threads threads(rows, {{1, 0, 0, true}});
      start(*datapath, 10, Work(unit), threads, 1);
      EXPECT_EQ(datapath->next_free(10), 10 + rows);
      for (const ptx::Unit next : units) {
        const Work work(next);
        // Its own unit may be taken for longer.
        if (next == ptx::Unit::kSfu && unit == next) continue;
        EXPECT_EQ(datapath->earliest(10, 1, work.demand, threads.issue), 10 + rows);
        if (next != unit && next != ptx::Unit::kMemory) {
          EXPECT_EQ(datapath->earliest(10, 0, work.demand, threads.issue), 10u) << "another scheduler's port";
        }
      }
      EXPECT_TRUE(datapath->port_taken(10 + rows - 1, 1));
      EXPECT_FALSE(datapath->port_taken(10 + rows, 1));
      EXPECT_FALSE(datapath->port_taken(10, 0));
    }
  }
}

// Cycles are counted from the reset on.
TEST(Spatial, SchedulersThatAreAlignedIssueAtMultiplesOfThePeriod) {
  for (const bool shared : {false, true}) {
    Machine m = machine(8);
    m.shared_port = shared;
    const auto datapath = spatial(m);
    datapath->align(4);
    datapath->reset(101);
    const Work sp(ptx::Unit::kSp), sfu(ptx::Unit::kSfu);
    const Threads threads(4, {{~0u, 0, 0, true}}), narrow(1, {{1, 0, 0, false}});
    EXPECT_EQ(datapath->earliest(101, 0, sp.demand, threads.issue), 101u);
    EXPECT_EQ(datapath->earliest(102, 0, sp.demand, threads.issue), 105u);
    EXPECT_TRUE(datapath->port_taken(104, 0));
    EXPECT_EQ(datapath->next_free(102), 105u);
    EXPECT_EQ(datapath->next_free(105), kNever);
    start(*datapath, 105, sp, narrow);
    EXPECT_EQ(datapath->earliest(105, 0, sfu.demand, threads.issue), shared ? 109u : 105u);
    EXPECT_EQ(datapath->earliest(106, 0, sfu.demand, threads.issue), 109u);
    start(*datapath, 109, sfu, threads);  // the unit is taken until 117
    EXPECT_EQ(datapath->earliest(110, 1, sfu.demand, threads.issue), 117u);
    EXPECT_EQ(datapath->next_free(112), 113u);
  }
}

TEST(Spatial, ResultsComeWithTheLastBeat) {
  const auto datapath = spatial();
  const Threads threads = warp_of_32(16);
  const auto end = [&](const Work& work) {
    datapath->reset(0);
    return start(*datapath, 100, work, threads).end;
  };
  EXPECT_EQ(end(Work(ptx::Unit::kSp, 1, 1)), 100 + 8 + (1 - 1) + (2 - 1));
  EXPECT_EQ(end(Work(ptx::Unit::kSp, 13, 2)), 100 + 8 + (13 - 1) + (4 - 1));
  EXPECT_EQ(end(Work(ptx::Unit::kWarp, 24, 1)), 100 + 8 + (24 - 1) + (2 - 1));
  EXPECT_EQ(end(Work(ptx::Unit::kSfu, 4, 2)), 100 + 8 + (4 - 1) + (16 - 1));
  EXPECT_EQ(end(Work(ptx::Unit::kControl, 4, 2)), 100 + 3 + (2 - 1));  // branch_cycles
  EXPECT_EQ(end(Work(ptx::Unit::kMemory, 4, 2)), 100 + 8 + (2 - 1));   // whatever the latency of loads
}

TEST(Spatial, AllResultsAreOnePart) {
  const auto datapath = spatial();
  const Threads threads(2, {{0xff, 3, 0, false}, {0xff00, 5, 0, false}, {0xf, 5, 1, false}});
  const Times times = start(*datapath, 7, Work(ptx::Unit::kSp, 4), threads);
  ASSERT_EQ(times.part_count, 1u);
  EXPECT_EQ(times.parts[0].ready, times.end);
  EXPECT_EQ(times.parts[0].groups, 7u);
  EXPECT_EQ(times.parts[0].lanes, ~0u);
}

TEST(Spatial, AnIssueMayHaveAsManyGroupsAsAPartNames) {
  std::vector<ThreadGroup> groups;
  for (unsigned g = 0; g < warp_formation::kMaxGroups; ++g)
    groups.push_back({1u << g, static_cast<std::uint16_t>(g), 0, false});
  const Threads threads(1, groups);
  const auto datapath = spatial(machine(32));
  const Times times = start(*datapath, 1, Work(ptx::Unit::kSp), threads);
  EXPECT_EQ(times.parts[0].groups, ~0u);
  EXPECT_EQ(times.active_beats, 1u);
}

TEST(Spatial, AddressesAreThereAtIssue) {
  const auto datapath = spatial();
  EXPECT_EQ(start(*datapath, 7, Work(ptx::Unit::kMemory), warp_of_32(16)).addresses, 7u);
}

// --- compaction within a warp ---

Config compacting(Compaction compaction, Guard guard = Guard::kExecuting) {
  Config config;
  config.compaction = compaction;
  config.guard = guard;
  return config;
}

// Places of a warp of 32 in the order of their numbers, lanes -> cycles of each kind.
struct Mask {
  const char* places;
  unsigned width, none, bcc, scc;
};
class Compacted : public ::testing::TestWithParam<Mask> {
 protected:
  static std::uint32_t threads() {
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < 32; ++i) mask |= (GetParam().places[i] == '1' ? 1u : 0u) << i;
    return mask;
  }
  static void check(Compaction compaction, unsigned beats) {
    const unsigned width = GetParam().width;
    Machine m = machine(width);
    m.simd_groups = m.sfu_groups = 1;
    m.sfu_width = m.memory_width = width / 2;
    const auto datapath = create(compacting(compaction), m);
    const Threads warp(32 / width, {{threads(), 0, 0, true}});
    const Cycle swizzle = compaction == Compaction::kScc ? 1 : 0;
    const auto taken = [&](const Work& work) { return datapath->earliest(100, 0, work.demand, warp.issue); };
    const Work sp(ptx::Unit::kSp, 5, 3), sfu(ptx::Unit::kSfu, 5, 2), memory(ptx::Unit::kMemory),
        control(ptx::Unit::kControl);
    const Times times = start(*datapath, 100, sp, warp);
    EXPECT_EQ(taken(sp), 100 + 3 * beats);
    EXPECT_EQ(times.end, 100 + 3 * beats - 1 + m.pipeline_depth + 5 - 1 + swizzle);
    EXPECT_EQ(times.parts[0].ready, times.end);
    EXPECT_EQ(times.beats, beats);
    EXPECT_EQ(times.active_lanes, static_cast<unsigned>(__builtin_popcount(threads())));
    EXPECT_EQ(static_cast<unsigned>(__builtin_popcountll(times.lane_beats)), times.active_beats);
    start(*datapath, 100, sfu, warp);
    EXPECT_EQ(taken(sfu), 100 + 2 * 2 * beats);
    EXPECT_EQ(start(*datapath, 100, memory, warp).addresses, 100 + swizzle);
    EXPECT_EQ(taken(memory), 100 + 2 * beats);
    datapath->reset(0);
    EXPECT_EQ(start(*datapath, 100, control, warp).end, 100 + m.branch_cycles + beats - 1);
    EXPECT_EQ(taken(control), 100 + beats);
  }
};

TEST_P(Compacted, TakesACycleForEveryGroupThatIsLeft) {
  check(Compaction::kNone, GetParam().none);
  check(Compaction::kAuto, GetParam().none);
  check(Compaction::kBcc, GetParam().bcc);
  check(Compaction::kScc, GetParam().scc);
}

INSTANTIATE_TEST_SUITE_P(
    Masks, Compacted,
    ::testing::Values(Mask{"11111111111111111111111111111111", 8, 4, 4, 4},
                      Mask{"11110000111100001111000011110000", 4, 8, 4, 4},  // aligned to four
                      Mask{"11110000111100001111000011110000", 8, 4, 4, 2},  // ... not to eight
                      Mask{"10101010101010101010101010101010", 4, 8, 8, 4},  // switches too often
                      Mask{"10011101010011101001110101001110", 4, 8, 8, 5},  // irregular: 18 threads
                      Mask{"10000111110000111100000000000000", 4, 8, 5, 3},  // not aligned: 10 threads
                      Mask{"00000000000000000000000000000001", 8, 4, 1, 1},
                      Mask{"10000000100000001000000010000000", 8, 4, 4, 1},
                      Mask{"11111111000000001111111100000001", 16, 2, 2, 2},
                      Mask{"11111111000000000000000000000000", 16, 2, 1, 1},
                      Mask{"00000000000000000000000000000000", 8, 4, 1, 1}));  // a cycle at least

TEST(Compaction, OfFullWarpsSavesNothing) {
  for (const unsigned width : {4u, 8u, 16u, 32u}) {
    for (const ptx::Unit unit :
         {ptx::Unit::kSp, ptx::Unit::kSfu, ptx::Unit::kMemory, ptx::Unit::kControl, ptx::Unit::kWarp}) {
      const auto run = [&, width = width](Config config) {
        config.swizzle_latency = 0;
        const auto datapath = create(config, machine(width));
        const Times t = start(*datapath, 9, Work(unit, 7, 2), warp_of_32(width));
        return std::tuple{t.end,        t.addresses, t.active_beats, t.active_lanes,        t.beats,
                          t.lane_beats, t.port,      t.parts->ready, datapath->next_free(9)};
      };
      const auto plain = run(compacting(Compaction::kNone));
      EXPECT_EQ(run(compacting(Compaction::kBcc)), plain) << width;
      EXPECT_EQ(run(compacting(Compaction::kScc)), plain) << width;
    }
  }
}

TEST(Compaction, CountsThreadsWhoseGuardHolds) {
  Threads threads = {4, {{0x000f00ff, 0, 0, true}}};
  threads.executing = {0x0000000f};
  const auto beats = [&](Compaction compaction, Guard guard) {
    const Times times =
        start(*create(compacting(compaction, guard), machine(8)), 1, Work(ptx::Unit::kSp), threads);
    return std::tuple{times.beats, times.active_beats, times.active_lanes};
  };
  EXPECT_EQ(beats(Compaction::kBcc, Guard::kExecuting), (std::tuple{1u, 1u, 4u}));
  EXPECT_EQ(beats(Compaction::kBcc, Guard::kIssueMask), (std::tuple{2u, 2u, 12u}));
  EXPECT_EQ(beats(Compaction::kNone, Guard::kExecuting), (std::tuple{4u, 2u, 12u}));  // nothing is left out
  threads.executing = {0};
  EXPECT_EQ(beats(Compaction::kScc, Guard::kExecuting), (std::tuple{1u, 0u, 0u}));
}

// Chunks of a warp of 64, and groups that share a row: each beat counts once.
TEST(Compaction, OfSeveralChunks) {
  const Threads two(8, {{0xff0000ff, 0, 0, true}, {0x00ff00f0, 1, 4, true}});
  const Threads shared(2, {{0x0f, 7, 0, false}, {0xf0, 9, 0, false}, {0x3, 9, 1, false}});
  const auto beats = [](Compaction compaction, const Threads& threads) {
    return start(*create(compacting(compaction), machine(8)), 1, Work(ptx::Unit::kSp), threads).beats;
  };
  EXPECT_EQ(beats(Compaction::kBcc, two), 4u);
  EXPECT_EQ(beats(Compaction::kScc, two), 4u);  // 28 threads
  EXPECT_EQ(beats(Compaction::kBcc, shared), 2u);
  EXPECT_EQ(beats(Compaction::kScc, shared), 2u);
}

TEST(Compaction, FreesASharedPortEarlier) {
  Machine m = machine(8);
  m.shared_port = true;
  const auto datapath = create(compacting(Compaction::kBcc), m);
  const Work sp(ptx::Unit::kSp), sfu(ptx::Unit::kSfu);
  const Threads warp(4, {{0xff, 0, 0, true}});
  EXPECT_EQ(start(*datapath, 10, sp, warp).port, 1u);
  EXPECT_EQ(datapath->earliest(10, 0, sfu.demand, warp.issue), 11u);
}

struct Once : Work {
  explicit Once(ptx::Unit unit, unsigned latency = 1) : Work(unit, latency) { instruction.scalar = true; }
};

TEST(SpatialScalar, TakesAUnitForOneThread) {
  const auto datapath = spatial();
  const Threads warp = warp_of_32(16);
  const Times times = start(*datapath, 10, Once(ptx::Unit::kSp, 5), warp);
  EXPECT_EQ(times.end, 10u + 8 + 5 - 1);
  EXPECT_EQ(times.beats, 1u);
  EXPECT_EQ(times.active_lanes, 1u);
  start(*datapath, 10, Work(ptx::Unit::kSp), warp);  // the other group, for two beats
  EXPECT_EQ(datapath->earliest(10, 0, Work(ptx::Unit::kSp).demand, warp.issue), 11u);
  EXPECT_EQ(start(*datapath, 20, Once(ptx::Unit::kSfu, 5), warp).end, 20u + 8 + 5 - 1);  // 8 cycles for all
  EXPECT_EQ(datapath->earliest(20, 0, Work(ptx::Unit::kSfu).demand, warp.issue), 21u);
  start(*datapath, 20, Once(ptx::Unit::kMemory), warp);
  EXPECT_EQ(datapath->earliest(20, 0, Work(ptx::Unit::kMemory).demand, warp.issue), 21u);
}

TEST(SpatialScalar, HasAUnitOfItsOwnPerScheduler) {
  Machine m = machine();
  m.scalar_unit = true;
  const auto datapath = spatial(m);
  const Threads warp = warp_of_32(16);
  const Once sp(ptx::Unit::kSp, 5), sfu(ptx::Unit::kSfu, 9), memory(ptx::Unit::kMemory);
  const Work all(ptx::Unit::kSp), load(ptx::Unit::kMemory);
  EXPECT_TRUE(datapath->has_scalar_unit());
  const Times times = start(*datapath, 10, sp, warp);
  EXPECT_EQ(times.end, 10u + 8 + 5 - 1);
  EXPECT_EQ(times.active_lanes, 0u);
  EXPECT_EQ(times.active_beats, 0u);
  // Both groups are free; the unit is not, for its scheduler.
  start(*datapath, 10, all, warp, 0);
  EXPECT_EQ(datapath->earliest(10, 1, all.demand, warp.issue), 10u);
  EXPECT_EQ(datapath->earliest(10, 0, sfu.demand, warp.issue), 11u);
  EXPECT_EQ(datapath->earliest(10, 1, sfu.demand, warp.issue), 10u);
  EXPECT_EQ(datapath->next_free(10), 11u);
  EXPECT_EQ(start(*datapath, 11, sfu, warp).end, 11u + 8 + 9 - 1);
  // Loads and stores go the way of all.
  start(*datapath, 20, load, warp, 1);
  EXPECT_EQ(datapath->earliest(20, 0, memory.demand, warp.issue), 22u);
  start(*datapath, 22, memory, warp);
  EXPECT_EQ(datapath->earliest(22, 1, load.demand, warp.issue), 23u);
  EXPECT_EQ(datapath->earliest(22, 0, sp.demand, warp.issue), 23u);
}

TEST(SpatialScalar, RegistersAreBesideTheThreadsOrInAFileOfTheirOwn) {
  Machine m = machine();
  m.registers = 4096;
  m.register_allocation_unit = 64;
  m.scalar_registers = 30;
  const BlockRegisters block{64, 10, 32, 4, 9};
  EXPECT_EQ(spatial(m)->fit(block).needed, 2 * 384u);  // 329 each
  EXPECT_EQ(spatial(m)->fit(block).scalar_blocks, UINT64_MAX);
  m.scalar_unit = true;
  const auto separate = spatial(m);
  EXPECT_EQ(separate->fit(block).needed, 2 * 320u);
  EXPECT_EQ(separate->fit(block).blocks, 6u);
  EXPECT_EQ(separate->fit(block).scalar_blocks, 1u);
  EXPECT_EQ(separate->fit(block).scalars_needed, 18u);
  ASSERT_TRUE(separate->can_hold(1, block));
  separate->hold({0, 0, 64}, block);
  EXPECT_FALSE(separate->can_hold(1, block));
  separate->release({0, 0, 64});
  EXPECT_TRUE(separate->can_hold(1, block));
}

TEST(Spatial, RegistersAreRoundedUpPerWarp) {
  Machine m = machine();
  m.registers = 32768;
  m.register_allocation_unit = 64;
  const auto datapath = spatial(m);
  const auto fit = [&](std::uint64_t threads, std::uint64_t per_thread) {
    return datapath->fit({threads, per_thread, 32});
  };
  EXPECT_EQ(fit(32, 10).needed, 320u);
  EXPECT_EQ(fit(32, 11).needed, 384u);
  EXPECT_EQ(fit(33, 11).needed, 768u);
  EXPECT_EQ(fit(192, 63).needed, 6 * 2048u);  // 2016 each
  EXPECT_EQ(fit(192, 63).blocks, 2u);
  EXPECT_EQ(fit(1024, 40).blocks, 0u);
  EXPECT_EQ(fit(1024, 40).needed, 40960u);
}

// --- instructions that begin together
// -----------------------------------------------------------------------

// Of a warp of 32 on lanes 0 to 15: threads by lane, in both beats.
Threads on_lanes(std::uint32_t lanes) {
  return {2, {{lanes | lanes << 16, 0, 0, true}}};
}

TEST(Together, WhatLeavesLanesFreeSharesItsUnit) {
  const auto datapath = spatial();
  datapath->begin_together();
  const Work add(ptx::Unit::kSp);
  const Threads left = on_lanes(0x00FF), right = on_lanes(0xFF00), middle = on_lanes(0x0FF0);
  EXPECT_TRUE(datapath->fits_beside(5, 0, add.demand, left.issue)) << "a unit is free";
  const Times first = start(*datapath, 5, add, left);
  EXPECT_FALSE(first.beside);
  EXPECT_EQ(first.active_beats, 2u);
  const Threads other = on_lanes(0xFFFF);
  start(*datapath, 5, add, other, 1);  // the other SIMD group is taken
  EXPECT_FALSE(datapath->fits_beside(5, 0, add.demand, middle.issue));
  EXPECT_TRUE(datapath->fits_beside(5, 0, add.demand, right.issue));
  const Times second = start(*datapath, 5, add, right);
  EXPECT_TRUE(second.beside);
  EXPECT_EQ(second.active_beats, 0u) << "they have been counted";
  EXPECT_EQ(second.active_lanes, 16u);
  EXPECT_EQ(second.end, first.end);
  EXPECT_EQ(datapath->earliest(6, 0, add.demand, left.issue), 7u) << "the unit is taken no longer";
  EXPECT_FALSE(datapath->fits_beside(6, 0, add.demand, right.issue)) << "only in the cycle of the first";
}

// Beats that only the second has count. One with a longer interval keeps the unit.
TEST(Together, TheUnitIsTakenForTheLongerOne) {
  const auto datapath = spatial();
  datapath->begin_together();
  const Work add(ptx::Unit::kSp), divide(ptx::Unit::kSp, 20, 4);
  const Threads low(2, {{0x000000FF, 0, 0, true}}), high(2, {{0xFF00FF00, 0, 0, true}});
  EXPECT_EQ(start(*datapath, 5, add, low).active_beats, 1u);
  EXPECT_EQ(start(*datapath, 5, divide, high).active_beats, 1u);
  const Threads all = on_lanes(0xFFFF);
  start(*datapath, 5, divide, all, 1);
  EXPECT_EQ(datapath->earliest(6, 0, add.demand, all.issue), 13u);
}

TEST(Together, OtherUnitsAreSharedApartAndMemoryIsNot) {
  const auto datapath = spatial();
  datapath->begin_together();
  const Work add(ptx::Unit::kSp), sine(ptx::Unit::kSfu), load(ptx::Unit::kMemory);
  const Threads left = on_lanes(0x00FF), right = on_lanes(0xFF00), all = on_lanes(0xFFFF);
  start(*datapath, 5, add, all);
  EXPECT_TRUE(datapath->fits_beside(5, 0, sine.demand, left.issue)) << "special-function units are free";
  EXPECT_FALSE(start(*datapath, 5, sine, left).beside);
  EXPECT_TRUE(datapath->fits_beside(5, 0, sine.demand, right.issue));
  EXPECT_TRUE(start(*datapath, 5, sine, right).beside);
  EXPECT_TRUE(datapath->fits_beside(5, 0, load.demand, left.issue));
  start(*datapath, 5, load, left);
  EXPECT_FALSE(datapath->fits_beside(5, 0, load.demand, right.issue)) << "one memory instruction at a time";
}

}  // namespace
}  // namespace weft::datapath::test
