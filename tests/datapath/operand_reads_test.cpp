// Conflicts of register banks (`datapath.operands`), against cycles worked out by hand.
#include "datapath/operand_reads.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datapath/issues.h"
#include "platform/gpu_bench.h"

namespace weft::datapath::test {
namespace {

using weft::test::GpuBench;

// An instruction that reads these registers of 32 bits, and writes one.
struct Reading : Work {
  explicit Reading(const std::vector<std::uint16_t>& rows, unsigned unit_interval = 1)
      : Work(ptx::Unit::kSp, 4, unit_interval) {
    instruction.type = ptx::Type::kF32;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      instruction.src[i].kind = ptx::Operand::Kind::kRow;
      instruction.src[i].index = rows[i];
    }
  }
  Reading& writes(std::uint16_t row) {
    instruction.writes[0] = row;
    instruction.write_count = 1;
    return *this;
  }
};

const Threads& warp(unsigned number) {
  static const std::vector<std::unique_ptr<Threads>> kWarps = [] {
    std::vector<std::unique_ptr<Threads>> warps;
    for (std::uint16_t w = 0; w < 4; ++w)
      warps.push_back(std::make_unique<Threads>(1, std::vector<ThreadGroup>{{~0u, w, 0, true}}));
    return warps;
  }();
  return *kWarps[number];
}

Operands collectors(std::uint64_t banks, std::uint64_t reads_per_cycle = 2) {
  Operands c;
  c.kind = Operands::Kind::kCollectors;
  c.collectors = 2;
  c.banks = banks;
  c.reads_per_cycle = reads_per_cycle;
  return c;
}

std::unique_ptr<Datapath> datapath(const Operands& operands) {
  Machine m;
  m.schedulers = 2;
  m.simd_groups = 2;
  m.simd_width = 32;
  m.pipeline_depth = 4;
  Config c{"spatial"};
  c.operands = operands;
  return create(c, m);
}

Cycle end(Datapath& datapath, Cycle now, const Work& work, unsigned w, unsigned scheduler = 0) {
  return start(datapath, now, work, warp(w), scheduler).end;
}

constexpr Cycle kFree = 4 + 4 - 1;  // pipeline and latency

// Two banks, one read of each in a cycle: registers 0 and 1 come at once, 0 and 2 one after the other.
TEST(OperandCollectors, OperandsOfOneBankComeOneAfterTheOther) {
  EXPECT_EQ(end(*datapath(collectors(2, 1)), 10, Reading({0, 1}), 0), 10 + kFree);
  EXPECT_EQ(end(*datapath(collectors(2, 1)), 10, Reading({0, 2}), 0), 11 + kFree);
  EXPECT_EQ(end(*datapath(collectors(2, 1)), 10, Reading({0, 2, 4}), 0), 12 + kFree);
  EXPECT_EQ(end(*datapath(collectors(2, 1)), 10, Reading({0, 0, 0}), 0), 10 + kFree);  // one register
  EXPECT_EQ(end(*datapath(collectors(2, 1)), 10, Reading({}), 0), 10 + kFree);
}

// GPGPU-Sim's banks work twice in a core cycle.
TEST(OperandCollectors, ABankMayReadTwiceInACycle) {
  EXPECT_EQ(end(*datapath(collectors(2)), 10, Reading({0, 2}), 0), 10 + kFree);
  EXPECT_EQ(end(*datapath(collectors(2)), 10, Reading({0, 2, 4}), 0), 11 + kFree);
}

// The bank of a register is another one in the next warp.
TEST(OperandCollectors, WarpsShiftBanks) {
  const auto both = datapath(collectors(2, 1));
  EXPECT_EQ(end(*both, 10, Reading({0, 2}), 0), 11 + kFree);     // bank 0 in cycles 10 and 11
  EXPECT_EQ(end(*both, 11, Reading({0}), 1), 11 + kFree);        // bank 1
  EXPECT_EQ(end(*both, 12, Reading({1, 3}), 1), 13 + kFree);     // bank 0
  EXPECT_EQ(end(*both, 12, Reading({0, 2}), 0, 1), 13 + kFree);  // another scheduler's bank 0
}

// Two instructions wait for their operands; a third finds no collector until the first has gone.
TEST(OperandCollectors, AreFewAndHeldUntilTheUnitTakesAnInstruction) {
  const auto two = datapath(collectors(1, 1));
  const Reading slow({0, 1, 2, 3});
  start(*two, 10, slow, warp(0));  // reads until 13
  EXPECT_EQ(two->earliest(11, 0, slow.demand, warp(1).issue), 11u);
  start(*two, 11, slow, warp(1));  // until 17
  EXPECT_EQ(two->earliest(12, 0, slow.demand, warp(2).issue), 14u);
  EXPECT_EQ(two->next_free(12), 14u);
  EXPECT_EQ(two->earliest(12, 1, slow.demand, warp(2).issue), 12u);  // another scheduler's collectors
}

TEST(OperandCollectors, CountConflicts) {
  const auto counted = datapath(collectors(2, 1));
  statistics::Group group;
  counted->bind(group);
  start(*counted, 10, Reading({0, 2, 4}), warp(0));
  start(*counted, 20, Reading({0, 1}), warp(0));
  EXPECT_EQ(group.sample()["operands"]["reads"], 5);
  EXPECT_EQ(group.sample()["operands"]["conflict_cycles"], 2);
}

Operands slots(bool cache) {
  Operands c;
  c.kind = Operands::Kind::kSlots;
  c.banks = 2;
  c.read_cycles = 3;
  c.register_cache = cache;
  return c;
}

// Bank 0 has room for three reads in cycles 10 to 12. An instruction with three of them leaves none, so that
// the next one with three waits until 13, and one with two until 12; one that reads bank 1 does not wait.
TEST(ReadSlots, AnInstructionWaitsUntilItsReadsFit) {
  const auto bench = datapath(slots(false));
  const Reading three({0, 2, 4}), two({0, 2}), odd({1, 3, 5});
  EXPECT_EQ(end(*bench, 10, three, 0), 10 + kFree);
  EXPECT_EQ(bench->earliest(11, 0, three.demand, warp(1).issue), 13u);
  EXPECT_EQ(bench->earliest(11, 0, two.demand, warp(1).issue), 12u);
  EXPECT_EQ(bench->earliest(11, 0, odd.demand, warp(1).issue), 11u);
  EXPECT_EQ(bench->earliest(11, 1, three.demand, warp(1).issue), 11u);
  start(*bench, 12, two, warp(1));  // cycles 13 and 14
  EXPECT_EQ(bench->earliest(13, 0, two.demand, warp(1).issue), 14u);
}

TEST(ReadSlots, ARegisterOf64BitsIsInBothBanks) {
  const auto bench = datapath(slots(false));
  Reading wide({0, 2, 4});
  wide.instruction.type = ptx::Type::kF64;
  statistics::Group group;
  bench->bind(group);
  start(*bench, 10, wide, warp(0));
  EXPECT_EQ(group.sample()["operands"]["reads"], 6);
  EXPECT_EQ(bench->earliest(11, 0, Reading({1}).demand, warp(1).issue), 11u);  // in cycle 13
  EXPECT_EQ(bench->earliest(11, 0, Reading({1, 3}).demand, warp(1).issue), 12u);
}

// The same register at the same place, for the same warp, and not written meanwhile.
TEST(ReadSlots, TheRegisterCacheSparesReads) {
  const auto bench = datapath(slots(true));
  statistics::Group group;
  bench->bind(group);
  const auto cached = [&] { return group.sample()["operands"]["cached"].get<unsigned>(); };
  start(*bench, 10, Reading({0, 2, 4}), warp(0));
  start(*bench, 20, Reading({0, 2, 6}), warp(0));
  EXPECT_EQ(cached(), 2u);
  start(*bench, 30, Reading({2, 0}), warp(0));  // other places
  EXPECT_EQ(cached(), 2u);
  start(*bench, 40, Reading({2}), warp(1));  // another warp, whose operand is kept now
  start(*bench, 50, Reading({2}), warp(0));
  EXPECT_EQ(cached(), 2u);
  start(*bench, 60, Reading({2}).writes(2), warp(0));
  EXPECT_EQ(cached(), 3u);
  start(*bench, 70, Reading({2}), warp(0));
  EXPECT_EQ(cached(), 3u);
}

// Inside a GPU: results are those without banks, and conflicts cost cycles.
TEST(OperandReadsInAGpu, ConflictsCostCycles) {
  const auto cycles = [](const std::vector<std::string>& more, unsigned threads = 1024) {
    return std::stod(weft::test::apart([&] {
      std::vector<std::string> settings = {"sm.count=1",
                                           "sm.schedulers=4",
                                           "sm.simd_groups=4",
                                           "sm.schedulers_per_domain=1",
                                           "sm.fetch_width=16",
                                           "sm.instruction_buffer=16",
                                           "sm.latency.int_add.cycles=4",
                                           "sm.block_placement=sub_cores"};
      settings.insert(settings.end(), more.begin(), more.end());
      GpuBench bench(settings);
      std::string chains;
      for (unsigned i = 10; i < 18; ++i)
        chains += "lop3.b32 %r" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r21, %r22, 0x96;\n";
      return std::to_string(bench.cycles_per_copy(chains, {threads, 1, 1}));
    }));
  };
  // Eight instructions of eight warps for each sub-core, and some for what the front end takes.
  const auto expect_about = [](double cycles, double bound) {
    EXPECT_GE(cycles, 0.99 * bound);
    EXPECT_LE(cycles, 1.15 * bound);
  };
  expect_about(cycles({}), 64);
  // One bank that gives one operand in a cycle: three cycles for each instruction.
  expect_about(cycles({"datapath.operands.kind=collectors", "datapath.operands.banks=1",
                       "datapath.operands.reads_per_cycle=1"}),
               3 * 64);
  expect_about(cycles({"datapath.operands.kind=slots", "datapath.operands.banks=1",
                       "datapath.operands.register_cache=false"}),
               3 * 64);
  // A warp for each sub-core, two of whose operands are those of its instruction before.
  const double read = cycles(
      {"datapath.operands.kind=slots", "datapath.operands.banks=1", "datapath.operands.register_cache=false"},
      128);
  EXPECT_GE(read, 3 * 8);
  EXPECT_LT(cycles({"datapath.operands.kind=slots", "datapath.operands.banks=1"}, 128), 0.8 * read);
}

}  // namespace
}  // namespace weft::datapath::test
