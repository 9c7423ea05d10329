// Lanes that each run a warp in time: cycles of an issue, results place by place, units that lanes share,
// warps and registers lane by lane.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "datapath/issues.h"

namespace weft::datapath::test::temporal_test {
namespace {

// Eight lanes of one place; a result is there 12 cycles after its group.
Machine machine() {
  Machine m;
  m.slots = 16;
  m.simd_width = 8;
  m.sfu_width = 2;
  m.memory_width = 8;
  m.pipeline_depth = 10;
  m.branch_cycles = 6;
  m.registers = 16384;
  m.register_allocation_unit = 32;
  return m;
}
constexpr unsigned kLatency = 4;

// With an instruction register per lane.
Config lanes_of(unsigned width) {
  Config config;
  config.kind = "temporal";
  config.lane_width = width;
  config.instruction_register = InstructionRegister::kLane;
  return config;
}
Config units_of(unsigned width) {
  Config config = lanes_of(width);
  config.instruction_register = InstructionRegister::kUnit;
  return config;
}

std::unique_ptr<Datapath> temporal(const Config& config = lanes_of(1), const Machine& m = machine()) {
  return create(config, m);
}

// Threads of one warp of 32, in its own chunk; `executing`: those whose guard holds.
struct Warp : Threads {
  Warp(unsigned chunk, std::uint32_t mask, unsigned rows = 32)
      : Threads(rows, {{mask, static_cast<std::uint16_t>(chunk), 0, true}}) {}
  Warp guarded(std::uint32_t mask) && {
    executing = {mask};
    return std::move(*this);
  }
  Warp(Warp&& other) noexcept : Threads(other.issue.rows, other.groups) { executing = other.executing; }
};

// An instruction that reads and writes registers by their keys.
struct Instruction : Work {
  Instruction(ptx::Unit unit, const std::vector<std::uint16_t>& writes,
              const std::vector<std::uint16_t>& reads, unsigned latency = kLatency, unsigned interval = 1)
      : Work(unit, latency, interval) {
    for (const std::uint16_t key : writes) instruction.writes[instruction.write_count++] = key;
    for (const std::uint16_t key : reads) instruction.reads[instruction.read_count++] = key;
  }
};

constexpr std::uint32_t kKeys = 8;
void hold(Datapath& datapath, unsigned slot, std::uint32_t threads, std::uint64_t per_thread = 1,
          std::uint64_t warp_size = 32) {
  const auto chunks = static_cast<std::uint16_t>((threads + 31) / 32);
  datapath.hold({static_cast<std::uint16_t>(slot), static_cast<std::uint16_t>(slot * chunks), threads},
                {threads, per_thread, warp_size, kKeys});
}

// When the instruction may start, asked at `now`: its lane is free, and its operands are there.
Cycle first_start(const Datapath& datapath, Cycle now, const Work& work, const Threads& threads) {
  return std::max(datapath.earliest(now, 0, work.demand, threads.issue),
                  datapath.operands(now, work.demand, threads.issue, threads.executing.data()));
}

// --- cycles ---

struct Mask {
  const char* places;
  unsigned one, two, four, whole;  // cycles by lane width; the last: on a lane of eight
};
class Cycles : public ::testing::TestWithParam<Mask> {
 protected:
  static std::uint32_t threads() {
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < 32; ++i) mask |= (GetParam().places[i] == '1' ? 1u : 0u) << i;
    return mask;
  }
  static unsigned taken(const Config& config, const Warp& warp) {
    const auto datapath = temporal(config);
    const Work sp(ptx::Unit::kSp, kLatency);
    start(*datapath, 100, sp, warp);
    return static_cast<unsigned>(datapath->earliest(100, 0, sp.demand, warp.issue) - 100);
  }
};

TEST_P(Cycles, AreGroupsWithAThread) {
  const std::map<unsigned, unsigned> expected = {
      {1, GetParam().one}, {2, GetParam().two}, {4, GetParam().four}, {8, GetParam().whole}};
  for (const auto& [width, cycles] : expected) {
    Config config = lanes_of(width);
    EXPECT_EQ(taken(config, Warp(0, threads(), 32 / width)), cycles) << width;
    config.compaction = Compaction::kNone;
    EXPECT_EQ(taken(config, Warp(0, threads() | 1, 32 / width)), 32 / width) << width;
    config.compaction = Compaction::kBcc;
    EXPECT_EQ(taken(config, Warp(0, ~0u, 32 / width).guarded(threads())), cycles) << width;
    config.guard = Guard::kIssueMask;
    EXPECT_EQ(taken(config, Warp(0, ~0u, 32 / width).guarded(threads())), 32 / width) << width;
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, Cycles,
                         ::testing::Values(Mask{"11111111111111111111111111111111", 32, 16, 8, 4},
                                           Mask{"11110000111100001111000011110000", 16, 8, 4, 4},
                                           Mask{"10101010101010101010101010101010", 16, 16, 8, 4},
                                           Mask{"10011101010011101001110101001110", 18, 14, 8, 4},
                                           Mask{"10000111110000111100000000000000", 10, 6, 5, 3},
                                           Mask{"00000000000000000000000000000001", 1, 1, 1, 1},
                                           Mask{"00000000000000000000000000000000", 1, 1, 1, 1}));

// Random masks: (32 / k)(1 - (1 - p)^k) cycles.
TEST(Temporal, RandomMasksTakeAsManyCyclesAsTheirGroups) {
  std::mt19937_64 random(1);
  constexpr unsigned kMasks = 20000;
  for (const unsigned width : {1u, 2u, 4u}) {
    const auto datapath = temporal(lanes_of(width));
    const Work sp(ptx::Unit::kSp);
    std::uint64_t cycles = 0;
    Cycle now = 1;
    for (unsigned i = 0; i < kMasks; ++i) {
      // A thread in four.
      const Warp warp(0, static_cast<std::uint32_t>(random() & random()), 32 / width);
      start(*datapath, now, sp, warp);
      cycles += datapath->lane_free(0) - now;
      now = datapath->lane_free(0);
    }
    double none = 1;
    for (unsigned i = 0; i < width; ++i) none *= 0.75;
    EXPECT_NEAR(static_cast<double>(cycles) / kMasks, 32.0 / width * (1 - none), 0.05) << width;
  }
}

TEST(Temporal, EachLaneRunsItsOwnWarp) {
  const auto datapath = temporal();
  EXPECT_EQ(datapath->lane_count(), 8u);
  hold(*datapath, 0, 96);
  const Work sp(ptx::Unit::kSp);
  const Warp first(0, ~0u), second(1, 0xff), third(2, 0xf);
  start(*datapath, 10, sp, first);
  EXPECT_EQ(datapath->earliest(10, 0, sp.demand, first.issue), 42u);
  EXPECT_EQ(datapath->earliest(10, 0, sp.demand, second.issue), 10u);
  start(*datapath, 10, sp, second);
  start(*datapath, 11, sp, third);
  EXPECT_EQ(datapath->next_free(11), 15u);
  EXPECT_EQ(datapath->next_free(15), 18u);
  EXPECT_EQ(datapath->next_free(18), 42u);
  EXPECT_EQ(datapath->lane_free(datapath->lane_of(0, 1)), 42u);
}

// Spatio-Temporal SIMT, Fig. 1b: 8 warps of 4 on four lanes, 16 thread instructions in 6 cycles; SIMD of four
// lanes needs 8. (The figure has no limit of one issue per cycle.)
TEST(Temporal, RunsTheExampleOfDivergentWarpsInSixCycles) {
  const std::uint32_t masks[8] = {0b0001, 0b1111, 0b0100, 0b1010, 0b0110, 0b1001, 0b1110, 0b1000};
  Machine m = machine();
  m.simd_width = 4;
  const auto temporal = create(lanes_of(1), m);
  const auto spatial = create({"spatial"}, m);
  hold(*temporal, 0, 32, 1, 4);
  const Work sp(ptx::Unit::kSp);
  Cycle last = 0, now = 100;
  unsigned threads = 0;
  for (unsigned w = 0; w < 8; ++w) {
    const Warp warp(0, masks[w] << 4 * w, 4), row(0, masks[w], 1);
    const Cycle at = temporal->earliest(100, 0, sp.demand, warp.issue);
    threads += start(*temporal, at, sp, warp).active_lanes;
    last = std::max(last, temporal->lane_free(w % 4));
    now = spatial->earliest(now, 0, sp.demand, row.issue);
    start(*spatial, now, sp, row);
  }
  EXPECT_EQ(threads, 16u);
  EXPECT_EQ(last - 100, 6u);
  EXPECT_EQ(spatial->earliest(now, 0, sp.demand, Warp(0, 1, 1).issue) - 100, 8u);
  EXPECT_EQ(temporal->lane_free(0) - 100, 3u);
  EXPECT_EQ(temporal->lane_free(3) - 100, 3u);
}

// --- results ---

TEST(Temporal, AConsumerWaitsForItsOwnThreadsOnly) {
  const Instruction producer(ptx::Unit::kSp, {1}, {}), consumer(ptx::Unit::kSp, {2}, {1});
  const auto starts = [&](bool locked, const Warp& reader) {
    Config config = lanes_of(1);
    config.locked = locked;
    const auto datapath = temporal(config);
    hold(*datapath, 0, 32);
    start(*datapath, 100, producer, Warp(0, ~0u));
    return first_start(*datapath, 100, consumer, reader) - 100;
  };
  EXPECT_EQ(starts(true, Warp(0, 1u << 31)), 43u);
  EXPECT_EQ(starts(true, Warp(0, 1u)), 32u);  // the lane is taken until then
  EXPECT_EQ(starts(true, Warp(0, ~0u).guarded(1u << 31)), 43u);
  EXPECT_EQ(starts(true, Warp(0, ~0u).guarded(1u)), 32u);
  EXPECT_EQ(starts(true, Warp(0, ~0u)), 32u);
  EXPECT_EQ(starts(false, Warp(0, 1u << 31)), 43u);
  EXPECT_EQ(starts(false, Warp(0, 1u)), 12u);
  EXPECT_EQ(starts(false, Warp(0, ~0u)), 12u);  // place by place
}

// What a lane skips it must know to skip: the guard of a thread, when it comes past it.
TEST(Temporal, AGuardIsThereWhenItsThreadIsPassed) {
  const Instruction setp(ptx::Unit::kSp, {5}, {});
  Instruction reader(ptx::Unit::kSp, {2}, {5});
  reader.demand.guard_key = 5;
  const auto starts = [&](std::uint32_t executing) {
    Config config = lanes_of(1);
    config.locked = false;
    const auto datapath = temporal(config);
    hold(*datapath, 0, 32);
    start(*datapath, 100, setp, Warp(0, ~0u));
    return first_start(*datapath, 100, reader, Warp(0, ~0u).guarded(executing)) - 100;
  };
  EXPECT_EQ(starts(~0u), 12u);
  EXPECT_EQ(starts(1u), 43u);            // nobody but the first: all others are passed at once
  EXPECT_EQ(starts(0xffffu), 43u - 15);  // ... in the cycle of the last that executes
}

// A lone warp's dependent instructions: max(cycles, 12) apart.
TEST(Temporal, AChainRepeatsAfterItsCyclesOrTheLatency) {
  const Instruction add(ptx::Unit::kSp, {1}, {1});
  for (const unsigned width : {1u, 2u, 4u}) {
    const auto datapath = temporal(lanes_of(width));
    hold(*datapath, 0, 32);
    for (unsigned threads = 1; threads <= 32; ++threads) {
      const Warp warp(0, threads == 32 ? ~0u : (1u << threads) - 1, 32 / width);
      datapath->reset(0);
      hold(*datapath, 0, 32);
      start(*datapath, 100, add, warp);
      const unsigned cycles = (threads + width - 1) / width;
      EXPECT_EQ(first_start(*datapath, 100, add, warp) - 100, std::max(cycles, 12u))
          << width << " " << threads;
    }
  }
}

TEST(Temporal, AnIntervalKeepsTheLaneForEachGroup) {
  const auto datapath = temporal();
  hold(*datapath, 0, 32);
  const Instruction mul(ptx::Unit::kSp, {1}, {}, 8, 5), add(ptx::Unit::kSp, {2}, {1});
  const Times times = start(*datapath, 100, mul, Warp(0, 0x70));
  EXPECT_EQ(datapath->lane_free(0), 115u);
  EXPECT_EQ(times.end, 100u + 2 * 5 + 16);
  EXPECT_EQ(first_start(*datapath, 100, add, Warp(0, 0x70)), 100u + 2 * 5 + 16 - 2);
  EXPECT_EQ(first_start(*datapath, 100, add, Warp(0, 0x10)), 116u);
}

TEST(Temporal, WithoutForwardingByPlaceResultsComeTogether) {
  Config config = lanes_of(1);
  config.forwarding = Forwarding::kWarp;
  config.instruction_register = InstructionRegister::kLane;
  const auto datapath = temporal(config);
  hold(*datapath, 0, 32);
  const Instruction producer(ptx::Unit::kSp, {1}, {}), consumer(ptx::Unit::kSp, {2}, {1});
  start(*datapath, 100, producer, Warp(0, ~0u));
  EXPECT_EQ(first_start(*datapath, 100, consumer, Warp(0, 1u)), 100u + 32 + 12);
}

// ... whatever places the threads have that read them.
TEST(Temporal, WithoutForwardingByPlaceOperandsAreReadTogether) {
  Config config = lanes_of(1);
  config.forwarding = Forwarding::kWarp;
  config.instruction_register = InstructionRegister::kLane;
  config.compaction = Compaction::kNone;
  const auto datapath = temporal(config);
  hold(*datapath, 0, 32);
  const Instruction producer(ptx::Unit::kSp, {1}, {}), consumer(ptx::Unit::kSp, {2}, {1});
  start(*datapath, 100, producer, Warp(0, ~0u));
  EXPECT_EQ(first_start(*datapath, 100, consumer, Warp(0, 1u << 31)), 100u + 32 + 12);
}

TEST(Temporal, ABranchResolvesWithItsLastGroup) {
  const Work branch(ptx::Unit::kControl);
  EXPECT_EQ(start(*temporal(), 100, branch, Warp(0, 0xff)).end, 100u + 7 + 6);
  EXPECT_EQ(start(*temporal(lanes_of(4)), 100, branch, Warp(0, 0xff, 8)).end, 100u + 1 + 6);
}

// One warp's instructions at random: what `operands` says is what the threads of the reference say. With a
// register per unit, special functions are among them, two operations at a time.
class Reference : public ::testing::TestWithParam<bool> {};

TEST_P(Reference, OperandsAreThoseOfItsThreads) {
  const bool by_unit = GetParam();
  std::mt19937_64 random(7);
  for (unsigned round = 0; round < 300; ++round) {
    const unsigned width = 1u << random() % 3;
    Config config = by_unit ? units_of(width) : lanes_of(width);
    config.locked = false;  // so that nothing but operands is waited for
    const auto datapath = temporal(config);
    hold(*datapath, 0, 32);
    std::array<std::array<Cycle, 32>, kKeys> ready{};
    const auto places = [&](std::uint32_t executing) {
      std::array<unsigned, 32> place{};
      unsigned next = 0;
      for (unsigned first = 0; first < 32; first += width) {
        const std::uint32_t group = ((1u << width) - 1) << first;
        for (unsigned t = first; t < first + width; ++t) place[t] = next;
        next += (executing & group) != 0 ? 1 : 0;
      }
      return std::pair(place, std::max(1u, next));
    };
    Cycle now = 100;
    // At most two of a register's writers are under way: what comes after is held as late as the later.
    for (unsigned i = 0; i < 12; ++i) {
      const auto written = static_cast<std::uint16_t>(i % 6), read = static_cast<std::uint16_t>(random() % 6);
      const unsigned interval = 1 + static_cast<unsigned>(random() % 3);
      const bool special = by_unit && random() % 3 == 0;
      const Instruction in(special ? ptx::Unit::kSfu : ptx::Unit::kSp, {written}, {read},
                           1 + static_cast<unsigned>(random() % 20), interval);
      // The turn of the unit in which a group's first operation begins, and its last.
      const auto first_turn = [&](unsigned p) { return Cycle{special ? p * width / 2 : p} * interval; };
      const auto last_turn = [&](unsigned p) {
        return Cycle{special ? (p * width + width - 1) / 2 : p} * interval;
      };
      const std::uint32_t mask = static_cast<std::uint32_t>(random() | random());
      const Warp warp = Warp(0, mask, 32 / width).guarded(mask & static_cast<std::uint32_t>(random()));
      const std::uint32_t executing = warp.executing[0];
      const auto [place, count] = places(executing);
      Cycle expected = now;
      for (unsigned t = 0; t < 32; ++t) {
        if ((executing >> t & 1) == 0) continue;
        const Cycle reads = first_turn(place[t]);
        for (const unsigned key : {unsigned{read}, unsigned{written}})
          expected = std::max(expected, ready[key][t] > reads ? ready[key][t] - reads : 0);
      }
      ASSERT_EQ(datapath->operands(now, in.demand, warp.issue, warp.executing.data()), expected) << round;
      now = std::max(expected, datapath->earliest(now, 0, in.demand, warp.issue));
      start(*datapath, now, in, warp);
      for (unsigned t = 0; t < 32; ++t) {
        if ((executing >> t & 1) != 0)
          ready[written][t] = now + last_turn(place[t]) + machine().pipeline_depth + in.demand.latency - 2;
      }
      now += random() % 4;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registers, Reference, ::testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "PerUnit" : "PerLane"); });

// --- an instruction register per unit ---

// A lane runs an arithmetic instruction and gives addresses at once; each unit waits for itself.
TEST(TemporalUnits, ALaneRunsInstructionsOfDifferentUnitsAtOnce) {
  for (const unsigned width : {1u, 2u, 4u}) {
    const auto datapath = temporal(units_of(width));
    hold(*datapath, 0, 64);
    const unsigned rows = 32 / width;
    const Warp warp(0, ~0u, rows), other(1, ~0u, rows);
    const Work sp(ptx::Unit::kSp, kLatency), load(ptx::Unit::kMemory), sine(ptx::Unit::kSfu, 8);
    start(*datapath, 100, sp, warp);
    const auto earliest = [&](const Work& work, const Warp& of) {
      return datapath->earliest(101, 0, work.demand, of.issue);
    };
    EXPECT_EQ(earliest(sp, warp), 100u + rows);
    ASSERT_EQ(earliest(load, warp), 101u);
    const Times times = start(*datapath, 101, load, warp);
    ASSERT_TRUE(times.in_turn);
    EXPECT_EQ(times.part_count, rows) << "an address per place and cycle";
    EXPECT_EQ(times.addresses, 101u + rows - 1);
    EXPECT_EQ(earliest(load, warp), 101u + rows);
    EXPECT_EQ(earliest(load, other), 101u) << "another lane gives addresses by itself";
    // The two special-function units are the core's: 16 cycles for 32 threads, whatever the lane.
    ASSERT_EQ(earliest(sine, warp), 101u);
    start(*datapath, 101, sine, warp);
    EXPECT_EQ(earliest(sine, other), 117u);
    EXPECT_EQ(earliest(sp, warp), 100u + rows) << "nothing but its own unit keeps the lane";
  }
}

TEST(TemporalUnits, ResultsOfSpecialFunctionsComePlaceByPlace) {
  const Instruction sine(ptx::Unit::kSfu, {1}, {}, 8, 3), reader(ptx::Unit::kSp, {2}, {1});
  const auto starts = [&](unsigned width, std::uint32_t threads) {
    const auto datapath = temporal(units_of(width));
    hold(*datapath, 0, 32);
    start(*datapath, 100, sine, Warp(0, ~0u, 32 / width));
    return first_start(*datapath, 100, reader, Warp(0, threads, 32 / width)) - 100;
  };
  // Two threads in three cycles; the result is there 16 cycles after the turn.
  EXPECT_EQ(starts(1, 0b1), 16u);
  EXPECT_EQ(starts(1, 0b10), 16u);
  EXPECT_EQ(starts(1, 0b100), 19u);
  EXPECT_EQ(starts(1, 1u << 31), 15u * 3 + 16);
  EXPECT_EQ(starts(2, 1u << 31), 15u * 3 + 16);
  EXPECT_EQ(starts(4, 0b1), 3u + 16) << "a group of four takes two turns";
  EXPECT_EQ(starts(4, 1u << 31), 15u * 3 + 16);
  EXPECT_EQ(starts(1, ~0u), 15u * 3 + 16 - 30)
      << "of the last two, which come together, the first is read first";
}

TEST(TemporalUnits, AScalarSpecialFunctionIsOneOperation) {
  Instruction sine(ptx::Unit::kSfu, {1}, {}, 8, 3);
  sine.instruction.scalar = true;
  const Instruction reader(ptx::Unit::kSp, {2}, {1});
  const auto datapath = temporal(units_of(4));
  hold(*datapath, 0, 64);
  start(*datapath, 100, sine, Warp(0, ~0u, 8));
  EXPECT_EQ(datapath->earliest(101, 0, sine.demand, Warp(1, 1, 8).issue), 103u);
  EXPECT_EQ(first_start(*datapath, 101, reader, Warp(0, ~0u, 8)), 116u);
}

// --- memory and special functions ---

TEST(Temporal, AddressesComeGroupByGroup) {
  const auto datapath = temporal(lanes_of(2));
  hold(*datapath, 0, 32);
  const Work load(ptx::Unit::kMemory);
  const Times times = start(*datapath, 100, load, Warp(0, 0xf0030001, 16).guarded(0xb0030001));
  ASSERT_TRUE(times.in_turn);
  ASSERT_EQ(times.part_count, 4u);
  const std::uint32_t lanes[4] = {0x3, 0x30000, 0x30000000, 0xc0000000};
  for (unsigned p = 0; p < 4; ++p) {
    EXPECT_EQ(times.parts[p].ready, 100u + p);
    EXPECT_EQ(times.parts[p].lanes, lanes[p]);
    EXPECT_EQ(times.parts[p].groups, 1u);
  }
  EXPECT_EQ(times.addresses, 103u);
  EXPECT_EQ(datapath->lane_free(0), 104u);
}

// Two thread operations per cycle and core; the lanes take turns.
TEST(Temporal, LanesShareTheSpecialFunctionUnits) {
  const Instruction sine(ptx::Unit::kSfu, {1}, {}, 8), reader(ptx::Unit::kSp, {2}, {1});
  for (const unsigned warps : {1u, 2u, 3u, 8u}) {
    const auto datapath = temporal();
    hold(*datapath, 0, 32 * warps);
    for (unsigned w = 0; w < warps; ++w) start(*datapath, 100, sine, Warp(w, ~0u));
    Cycle first = kNever, last = 0;
    for (unsigned w = 0; w < warps; ++w) {
      first = std::min(first, datapath->lane_free(w));
      last = std::max(last, datapath->lane_free(w));
      // The last thread's result comes a pipeline after its operation.
      const Cycle free = datapath->lane_free(w);
      EXPECT_EQ(first_start(*datapath, 100, reader, Warp(w, 1u << 31)), free - 1 + 16);
      // ... as it does for who asks when the first threads' results have been there for long.
      EXPECT_EQ(first_start(*datapath, free, reader, Warp(w, 1u << 31)), free - 1 + 16);
    }
    const unsigned cycles = std::max(32u, 16 * warps);
    EXPECT_EQ(last, 100u + cycles) << warps;
    EXPECT_GE(first + (warps - 1) / 2, last) << "all at the same pace";
  }
  // A group of four takes two cycles.
  const auto wide = temporal(lanes_of(4));
  hold(*wide, 0, 32);
  start(*wide, 100, sine, Warp(0, ~0u, 8));
  EXPECT_EQ(wide->lane_free(0), 116u);
}

TEST(Temporal, ALaneThatComesLaterSlowsTheOthersDown) {
  const Instruction sine(ptx::Unit::kSfu, {1}, {}, 8), reader(ptx::Unit::kSp, {2}, {1});
  Machine m = machine();
  m.sfu_width = 1;
  const auto datapath = temporal(lanes_of(1), m);
  hold(*datapath, 0, 64);
  start(*datapath, 100, sine, Warp(0, ~0u));
  EXPECT_EQ(datapath->lane_free(0), 132u);
  start(*datapath, 116, sine, Warp(1, 0xff));
  EXPECT_EQ(datapath->lane_free(1), 131u);  // every other cycle
  EXPECT_EQ(datapath->lane_free(0), 140u);
  EXPECT_EQ(first_start(*datapath, 116, reader, Warp(0, 1u << 31)), 139u + 16);
}

TEST(Temporal, WithoutForwardingByPlaceSpecialFunctionsComeTogether) {
  Config config = lanes_of(1);
  config.forwarding = Forwarding::kWarp;
  config.instruction_register = InstructionRegister::kLane;
  Machine m = machine();
  m.sfu_width = 1;
  const auto datapath = temporal(config, m);
  hold(*datapath, 0, 64);
  const Instruction sine(ptx::Unit::kSfu, {1}, {}, 8), reader(ptx::Unit::kSp, {2}, {1});
  start(*datapath, 100, sine, Warp(0, ~0u));
  for (const std::uint32_t threads : {1u, 1u << 31, ~0u})
    EXPECT_EQ(first_start(*datapath, 100, reader, Warp(0, threads)), 131u + 17) << threads;
  start(*datapath, 116, sine, Warp(1, 0xff));  // takes every other cycle for a while
  EXPECT_EQ(first_start(*datapath, 132, reader, Warp(0, 1u)), 139u + 17);
}

// A reader comes to its places as fast as the units take them, at best.
TEST(Temporal, ASpecialFunctionReadsNoOperandBeforeItIsThere) {
  Config config = lanes_of(1);
  config.locked = false;  // so that nothing but operands is waited for
  const auto datapath = temporal(config);
  hold(*datapath, 0, 32);
  const Instruction slow(ptx::Unit::kSp, {1}, {}, kLatency, 4), sine(ptx::Unit::kSfu, {2}, {1}, 8, 4);
  start(*datapath, 100, slow, Warp(0, ~0u));
  // Four operations for each thread, two of them in a cycle: thread i reads at 2i what is there at 4i.
  const Cycle first = first_start(*datapath, 100, sine, Warp(0, ~0u));
  EXPECT_EQ(first, 100u + 12 + 31 * 4 - 31 * 2);
  start(*datapath, first, sine, Warp(0, ~0u));
  EXPECT_EQ(datapath->lane_free(1), first + 32 * 2);
}

// Three sides of a branch that write one register: the values that are not there yet are as late as the
// latest, which a lane that comes later delays.
TEST(Temporal, ADelayReachesWritersThatAreHeldTogether) {
  Config config = lanes_of(1);
  config.locked = false;
  Machine m = machine();
  m.sfu_width = 1;
  const auto datapath = temporal(config, m);
  hold(*datapath, 0, 64);
  const Instruction sine(ptx::Unit::kSfu, {1}, {}, 8), other(ptx::Unit::kSfu, {3}, {}, 8),
      add(ptx::Unit::kSp, {1}, {}), reader(ptx::Unit::kSp, {2}, {1});
  start(*datapath, 100, sine, Warp(0, 0x0000ffff));
  start(*datapath, 101, add, Warp(0, 0x00010000));
  start(*datapath, 102, add, Warp(0, 0x00020000));
  EXPECT_EQ(first_start(*datapath, 103, reader, Warp(0, 1u << 15)), 115u + 16);
  start(*datapath, 104, other, Warp(1, ~0u));
  EXPECT_GE(first_start(*datapath, 105, reader, Warp(0, 1u << 15)), 115u + 11 + 16);
}

// Longer ones and shorter ones in turn: each takes what is left to it, and no operation is lost or made
// twice.
TEST(Temporal, SpecialFunctionsOneAfterTheOther) {
  std::mt19937_64 random(3);
  const auto datapath = temporal();
  hold(*datapath, 0, 32 * 8);
  const Instruction sine(ptx::Unit::kSfu, {1}, {}, 8);
  std::uint64_t operations = 0;
  Cycle now = 100;
  for (unsigned i = 0; i < 400; ++i) {
    const auto chunk = static_cast<unsigned>(random() % 8);
    const auto mask = static_cast<std::uint32_t>(random() & random() & random()) | 1;
    const Warp warp(chunk, mask);
    now = datapath->earliest(now, 0, sine.demand, warp.issue);
    start(*datapath, now, sine, warp);
    operations += static_cast<unsigned>(__builtin_popcount(mask));
    ASSERT_GE(datapath->lane_free(chunk), now + static_cast<unsigned>(__builtin_popcount(mask)));
  }
  Cycle last = 0;
  for (unsigned lane = 0; lane < 8; ++lane) last = std::max(last, datapath->lane_free(lane));
  EXPECT_GE(2 * (last - 100), operations);
}

// --- scalar instructions ---

struct Once : Instruction {
  Once(ptx::Unit unit, const std::vector<std::uint16_t>& writes, const std::vector<std::uint16_t>& reads,
       unsigned latency = kLatency)
      : Instruction(unit, writes, reads, latency) {
    instruction.scalar = true;
  }
};

TEST(TemporalScalar, TakesOneCycleAndIsThereForEveryPlaceAtOnce) {
  const Once scalar(ptx::Unit::kSp, {1}, {}), next(ptx::Unit::kSp, {3}, {1});
  const Instruction reader(ptx::Unit::kSp, {2}, {1});
  for (const unsigned width : {1u, 4u}) {
    for (const Forwarding forwarding : {Forwarding::kPlace, Forwarding::kWarp}) {
      Config config = lanes_of(width);
      config.forwarding = forwarding;
      config.instruction_register = InstructionRegister::kLane;
      const auto datapath = temporal(config);
      hold(*datapath, 0, 64);
      const Times times = start(*datapath, 100, scalar, Warp(0, 0xfff0, 32 / width));
      EXPECT_EQ(times.beats, 1u);
      EXPECT_EQ(times.active_lanes, 1u);
      EXPECT_EQ(datapath->lane_free(0), 101u);
      EXPECT_EQ(datapath->place_of(0, 100), 4u);
      const Cycle there = forwarding == Forwarding::kPlace ? 112 : 113;
      // Also for threads that took no part.
      for (const std::uint32_t mask : {0xfff0u, ~0u, 1u, 1u << 31}) {
        EXPECT_EQ(first_start(*datapath, 101, reader, Warp(0, mask, 32 / width)), there) << mask;
        EXPECT_EQ(first_start(*datapath, 101, next, Warp(0, mask, 32 / width)), there) << mask;
      }
      EXPECT_EQ(first_start(*datapath, 101, reader, Warp(1, ~0u, 32 / width)), 101u) << "another warp";
    }
  }
}

TEST(TemporalScalar, WithoutAThreadThatExecutesWritesNothing) {
  const Once scalar(ptx::Unit::kSp, {1}, {});
  const Instruction reader(ptx::Unit::kSp, {2}, {1});
  const auto datapath = temporal();
  hold(*datapath, 0, 32);
  start(*datapath, 100, scalar, Warp(0, ~0u).guarded(0));
  EXPECT_EQ(datapath->lane_free(0), 101u);
  EXPECT_EQ(first_start(*datapath, 101, reader, Warp(0, ~0u)), 101u);
}

TEST(TemporalScalar, IsOneOperationOfTheSpecialFunctionUnits) {
  const Once scalar(ptx::Unit::kSfu, {1}, {}, 8);
  const Instruction sine(ptx::Unit::kSfu, {1}, {}, 8), reader(ptx::Unit::kSp, {2}, {1});
  Machine m = machine();
  m.sfu_width = 1;
  const auto datapath = temporal(lanes_of(1), m);
  hold(*datapath, 0, 64);
  start(*datapath, 100, scalar, Warp(0, ~0u));
  EXPECT_EQ(datapath->lane_free(0), 101u);
  for (const std::uint32_t mask : {~0u, 1u << 31})
    EXPECT_EQ(first_start(*datapath, 101, reader, Warp(0, mask)), 116u);
  // Behind another lane's, whose turn it was.
  start(*datapath, 200, sine, Warp(0, 0xff));
  start(*datapath, 201, scalar, Warp(1, ~0u));
  const Cycle free = datapath->lane_free(1);
  EXPECT_GE(free, 202u);
  EXPECT_LE(free, 203u);
  for (const std::uint32_t mask : {~0u, 1u << 31})
    EXPECT_EQ(first_start(*datapath, 201, reader, Warp(1, mask)), free - 1 + 16);
  EXPECT_EQ(datapath->lane_free(0), 209u) << "one operation later";
}

TEST(TemporalScalar, HasOneAddress) {
  const Once load(ptx::Unit::kMemory, {1}, {});
  const auto datapath = temporal();
  hold(*datapath, 0, 32);
  const Times times = start(*datapath, 100, load, Warp(0, ~0u));
  ASSERT_EQ(times.part_count, 1u);
  EXPECT_EQ(times.parts[0].ready, 100u);
  EXPECT_EQ(times.parts[0].groups, 1u);
  EXPECT_EQ(times.addresses, 100u);
  EXPECT_EQ(datapath->lane_free(0), 101u);
}

// --- warps and registers ---

std::vector<unsigned> warps_by_lane(const Datapath& datapath) {
  std::vector<unsigned> warps;
  for (unsigned lane = 0; lane < datapath.lane_count(); ++lane) warps.push_back(datapath.warps_of(lane));
  return warps;
}
using Lanes = std::vector<unsigned>;

// The kernel of Fig. 6a: two blocks of 84 threads whose full warps take a lane each.
TEST(TemporalRegisters, AreTheWarpsOfTheirLanes) {
  const auto datapath = temporal();
  const BlockRegisters block{84, 51, 32, kKeys};
  EXPECT_EQ(datapath->fit(block).blocks, 2u);
  hold(*datapath, 0, 84, 51);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 1, 0, 0, 0, 0, 0}));
  ASSERT_TRUE(datapath->can_hold(1, block));
  hold(*datapath, 1, 84, 51);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(datapath->lane_of(2, 0xfffff), 2u);
  EXPECT_EQ(datapath->lane_of(5, 1), 5u);
  EXPECT_FALSE(datapath->can_hold(2, block)) << "a block of three warps on two lanes";
}

// As blocks go and come, turns reach the lanes that were empty; hardware warp slots and the fewest warps do
// not.
TEST(TemporalRegisters, AreOfTheWarpSlotOfTheNextLaneInTurnOrOfTheFewestWarps) {
  for (const Binding binding : {Binding::kAuto, Binding::kSlot, Binding::kTurns, Binding::kFewest}) {
    Config config = lanes_of(1);
    config.binding = binding;
    const auto datapath = temporal(config);
    EXPECT_EQ(datapath->fit({84, 51, 32, kKeys}).blocks, 2u);
    hold(*datapath, 0, 84, 51);
    hold(*datapath, 1, 84, 51);
    EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 1, 1, 1, 1, 0, 0}));
    datapath->release({0, 0, 84});
    hold(*datapath, 0, 84, 51);
    const bool turns = binding == Binding::kTurns;
    EXPECT_EQ(warps_by_lane(*datapath),
              turns ? (Lanes{1, 0, 0, 1, 1, 1, 1, 1}) : (Lanes{1, 1, 1, 1, 1, 1, 0, 0}));
  }
  // Lanes that have room for more than one warp fill evenly, and after a reset from the first one.
  Config config = lanes_of(1);
  config.binding = Binding::kFewest;
  const auto datapath = temporal(config);
  hold(*datapath, 0, 160, 20);
  hold(*datapath, 1, 160, 20);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{2, 2, 1, 1, 1, 1, 1, 1}));
  datapath->release({0, 0, 160});
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 0, 0, 0, 1, 1, 1}));
  hold(*datapath, 0, 64, 20);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 1, 1, 0, 1, 1, 1}));
  datapath->reset(0);
  hold(*datapath, 0, 64, 20);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 0, 0, 0, 0, 0, 0}));
}

// A warp slot has its lane, whether there is room or not (ST-SIMT 3.1: "statically").
TEST(TemporalRegisters, AWarpSlotWaitsForItsOwnLane) {
  Config config = lanes_of(1);
  config.binding = Binding::kSlot;
  const auto datapath = temporal(config);
  const BlockRegisters block{160, 64, 32, kKeys};  // five warps, each of which fills a lane
  EXPECT_EQ(datapath->fit(block).blocks, 1u);
  // Slot 1 begins with warp slot 5: lanes 5, 6, 7, 0 and 1.
  hold(*datapath, 1, 160, 64);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 0, 0, 0, 1, 1, 1}));
  const BlockRegisters three{96, 64, 32, kKeys};
  EXPECT_FALSE(datapath->can_hold(0, three)) << "lanes 0, 1 and 2";
  EXPECT_FALSE(datapath->can_hold(1, three)) << "lanes 3, 4 and 5";
  EXPECT_TRUE(datapath->can_hold(6, three)) << "warp slots 18, 19 and 20: lanes 2, 3 and 4";
}

// A partial warp takes its threads' registers only, beside a full one where there is room.
TEST(TemporalRegisters, OfThreadsLetMoreBlocksIn) {
  Config config = lanes_of(1);
  config.registers = Registers::kThread;
  const auto datapath = temporal(config);
  const BlockRegisters block{84, 51, 32, kKeys};  // 1632 and 1020 registers; a lane has 2048
  EXPECT_EQ(datapath->fit(block).blocks, 3u);
  for (unsigned slot = 0; slot < 3; ++slot) hold(*datapath, slot, 84, 51);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 2, 1, 1, 1, 1, 1}));
  EXPECT_EQ(datapath->lane_of(8, 1), 2u);
  EXPECT_FALSE(datapath->can_hold(3, block));
}

// 112 threads are three full warps and half a one: two halves share the room of one.
TEST(TemporalRegisters, PartialWarpsShareTheRoomOfOne) {
  Config config = lanes_of(1);
  const BlockRegisters block{112, 64, 32, kKeys};  // a full warp fills its lane
  const auto whole = temporal(config);
  EXPECT_EQ(whole->fit(block).blocks, 2u);
  config.registers = Registers::kThread;
  const auto datapath = temporal(config);
  EXPECT_EQ(datapath->fit(block).blocks, 2u);
  hold(*datapath, 0, 112, 64);
  hold(*datapath, 1, 112, 64);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 1, 2, 1, 1, 1, 0}));
}

TEST(TemporalRegisters, GoWithTheBlockOrWithTheWarp) {
  for (const bool by_thread : {false, true}) {
    Config config = lanes_of(1);
    config.registers = by_thread ? Registers::kThread : Registers::kBlock;
    const auto datapath = temporal(config);
    const BlockRegisters block{128, 64, 32, kKeys};
    hold(*datapath, 0, 128, 64);
    hold(*datapath, 1, 128, 64);
    EXPECT_EQ(warps_by_lane(*datapath), Lanes(8, 1));
    // Warps of both blocks end, a part of one first.
    EXPECT_FALSE(datapath->exited(0, 0xff));
    EXPECT_EQ(datapath->exited(0, ~0xffu), by_thread);
    for (const unsigned chunk : {2u, 5u, 6u}) EXPECT_EQ(datapath->exited(chunk, ~0u), by_thread);
    EXPECT_EQ(warps_by_lane(*datapath), (Lanes{0, 1, 0, 1, 1, 0, 0, 1}));
    EXPECT_EQ(datapath->can_hold(2, block), by_thread);
    if (by_thread) {
      // The lanes take turns from where the last block ended.
      hold(*datapath, 2, 128, 64);
      EXPECT_EQ(warps_by_lane(*datapath), Lanes(8, 1));
      EXPECT_EQ(datapath->lane_of(8, 1), 0u);
      EXPECT_EQ(datapath->lane_of(11, 1), 6u);
      EXPECT_FALSE(datapath->can_hold(3, block));
    }
    datapath->exited(1, ~0u);
    datapath->exited(3, ~0u);
    datapath->release({0, 0, 128});
    EXPECT_EQ(datapath->can_hold(0, block), !by_thread);
  }
}

// The SM's warps are shared out among the lanes: a lane that has its share is passed over (ST-SIMT 3.1).
TEST(TemporalRegisters, ALaneHasItsShareOfTheWarps) {
  for (const Registers registers : {Registers::kBlock, Registers::kThread}) {
    Config config = lanes_of(1);
    config.registers = registers;
    config.binding = Binding::kTurns;
    Machine of_16_warps = machine();
    of_16_warps.warps = 16;
    const auto datapath = temporal(config, of_16_warps);
    for (unsigned slot = 0; slot < 4; ++slot) hold(*datapath, slot, 128, 8);
    EXPECT_EQ(warps_by_lane(*datapath), Lanes(8, 2));
    EXPECT_FALSE(datapath->can_hold(4, {32, 8, 32, kKeys}));
    // It would be the turn of lanes 0 to 3.
    datapath->release({1, 4, 128});
    EXPECT_EQ(warps_by_lane(*datapath), (Lanes{2, 2, 2, 2, 1, 1, 1, 1}));
    hold(*datapath, 1, 128, 8);
    EXPECT_EQ(warps_by_lane(*datapath), Lanes(8, 2));
  }
}

TEST(TemporalRegisters, AWarpThatFitsNoLaneFitsNowhere) {
  const auto datapath = temporal();
  const RegisterFit refused = datapath->fit({32, 102, 32, kKeys});
  EXPECT_EQ(refused.blocks, 0u);
  EXPECT_EQ(refused.warp, 3264u);
  EXPECT_EQ(refused.slice, 2048u);
  EXPECT_EQ(refused.needed, 8 * 3264u);
  EXPECT_EQ(datapath->fit({32, 64, 32, kKeys}).blocks, 8u);
  // Unlocked, all of them are one pool.
  Config config = lanes_of(1);
  config.locked = false;
  EXPECT_EQ(temporal(config)->fit({32, 102, 32, kKeys}).blocks, 5u);
}

TEST(TemporalRegisters, WarpsOfSixteenShareAChunk) {
  const auto datapath = temporal();
  hold(*datapath, 0, 60, 10, 16);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(datapath->lane_of(0, 0xffff), 0u);
  EXPECT_EQ(datapath->lane_of(0, 0xff0000), 1u);
  EXPECT_EQ(datapath->lane_of(1, 0x10000), 3u);
  datapath->exited(1, 0xfff0000);
  EXPECT_EQ(warps_by_lane(*datapath), (Lanes{1, 1, 1, 0, 0, 0, 0, 0}));
}

TEST(TemporalRegisters, AnUnlockedWarpRunsOnAnyLane) {
  Config config = lanes_of(1);
  config.locked = false;
  const auto datapath = temporal(config);
  hold(*datapath, 0, 32);
  const Work sp(ptx::Unit::kSp);
  const Warp warp(0, ~0u);
  for (unsigned i = 0; i < 8; ++i) {
    ASSERT_EQ(datapath->earliest(100, 0, sp.demand, warp.issue), 100u);
    start(*datapath, 100, sp, warp);
    EXPECT_EQ(datapath->lane_of(0, 1), i);
    EXPECT_EQ(datapath->warps_of(i), 1u);
  }
  EXPECT_EQ(datapath->earliest(100, 0, sp.demand, warp.issue), 132u);
}

// With a register per unit, what a unit is for that all lanes share waits for no lane, takes none and moves
// no warp; everything else takes the first that is free.
class UnlockedUnits : public ::testing::TestWithParam<unsigned> {};

TEST_P(UnlockedUnits, OnlyWhatTakesALaneWaitsForOne) {
  for (const bool compacts : {true, false}) {
    Config config = units_of(GetParam());
    config.locked = false;
    config.forwarding = Forwarding::kWarp;
    config.compaction = compacts ? Compaction::kBcc : Compaction::kNone;
    Machine two_units = machine();
    two_units.sfu_groups = 2;
    const auto datapath = temporal(config, two_units);
    const unsigned lanes = datapath->lane_count(), rows = 32 / GetParam();
    hold(*datapath, 0, 32 * (lanes + 2));
    const Work sp(ptx::Unit::kSp, kLatency);
    // All lanes have a warp; two warps have none.
    for (unsigned lane = 0; lane < lanes; ++lane) {
      start(*datapath, 100, sp, Warp(lane, ~0u, rows));
      ASSERT_EQ(datapath->lane_of(lane, 1), lane);
    }
    const auto warps = [&] {
      std::vector<unsigned> by_lane;
      for (unsigned lane = 0; lane < lanes; ++lane) by_lane.push_back(datapath->warps_of(lane));
      return by_lane;
    };
    const std::vector<unsigned> before = warps();
    for (unsigned chunk = 0; chunk < lanes + 2; ++chunk) {
      const Warp warp(chunk, ~0u, rows);
      const unsigned lane = datapath->lane_of(chunk, 1);
      for (const ptx::Unit unit : {ptx::Unit::kMemory, ptx::Unit::kSfu}) {
        const Work work(unit, kLatency);
        EXPECT_FALSE(datapath->takes_lane(work.demand));
        const Cycle now = 100 + 16 * chunk;  // when the last one has left its unit
        ASSERT_EQ(datapath->earliest(now, 0, work.demand, warp.issue), now);
        start(*datapath, now, work, warp);
        EXPECT_EQ(datapath->lane_of(chunk, 1), lane);
        EXPECT_EQ(warps(), before);
        for (unsigned other = 0; other < lanes; ++other)
          EXPECT_EQ(datapath->lane_free(other), 100u + rows) << other;
      }
      for (const ptx::Unit unit : {ptx::Unit::kSp, ptx::Unit::kControl, ptx::Unit::kWarp}) {
        const Work work(unit, kLatency);
        EXPECT_TRUE(datapath->takes_lane(work.demand));
        EXPECT_EQ(datapath->earliest(100, 0, work.demand, warp.issue), 100u + rows);
      }
    }
    // Free lanes do not draw the warp to them either.
    const Warp last(lanes - 1, ~0u, rows);
    start(*datapath, 1000, Work(ptx::Unit::kMemory), last);
    EXPECT_EQ(datapath->lane_of(lanes - 1, 1), lanes - 1);
    start(*datapath, 1000, sp, last);
    EXPECT_EQ(datapath->lane_of(lanes - 1, 1), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, UnlockedUnits, ::testing::Values(1u, 2u, 4u, 8u));

// Nothing of what was before is left, whatever lanes keep.
TEST(Temporal, ResetEqualsFreshConstruction) {
  for (const bool locked : {true, false}) {
    Config config = lanes_of(2);
    config.locked = locked;
    config.registers = Registers::kThread;
    const auto play = [](Datapath& datapath) {
      std::mt19937_64 random(5);
      std::vector<Cycle> answers;
      for (unsigned slot = 0; slot < 4; ++slot) hold(datapath, slot, 84, 20);
      for (unsigned lane = 0; lane < 4; ++lane) answers.push_back(datapath.warps_of(lane));
      Cycle now = 1;
      for (unsigned i = 0; i < 300; ++i) {
        const ptx::Unit unit = i % 3 == 0 ? ptx::Unit::kSfu : ptx::Unit::kSp;
        const auto key = static_cast<std::uint16_t>(random() % kKeys);
        const Instruction in(unit, {key}, {static_cast<std::uint16_t>(random() % kKeys)},
                             1 + static_cast<unsigned>(random() % 20));
        const Warp warp(static_cast<unsigned>(random() % 12), static_cast<std::uint32_t>(random()) | 1, 16);
        now = first_start(datapath, now, in, warp);
        now = datapath.earliest(now, 0, in.demand, warp.issue);
        answers.push_back(start(datapath, now, in, warp).end);
        answers.push_back(datapath.next_free(now));
        if (i % 50 == 49)
          answers.push_back(datapath.exited(static_cast<unsigned>(i / 50), ~0u >> 12) ? 1 : 0);
      }
      return answers;
    };
    const auto datapath = temporal(config);
    const std::vector<Cycle> fresh = play(*datapath);
    datapath->reset(0);
    EXPECT_EQ(play(*datapath), fresh) << locked;
  }
}

}  // namespace
}  // namespace weft::datapath::test::temporal_test
