// Units of their own for kinds of operations (`datapath.units`), against cycles worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datapath/issues.h"
#include "platform/gpu_bench.h"
#include "weft/common/error.h"

namespace weft::datapath::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using weft::test::GpuBench;
using Unit = Units::Unit;

// Four schedulers; the first result of a latency of 1 comes after one stage.
Machine four_schedulers(Cycle pipeline_depth = 1) {
  Machine m;
  m.schedulers = 4;
  m.simd_width = 32;
  m.memory_width = 32;
  m.pipeline_depth = pipeline_depth;
  m.branch_cycles = 5;
  return m;
}

Config units(unsigned width = 16) {
  Config c{"spatial"};
  c.units.enabled = true;
  for (Units::Lanes& lanes : c.units.lanes) lanes = {4, width};
  return c;
}

// An instruction of one unit.
struct UnitWork : Work {
  explicit UnitWork(Unit unit, unsigned latency = 4, unsigned interval = 1)
      : Work(unit == Unit::kNone ? ptx::Unit::kControl : ptx::Unit::kSp, latency, interval) {
    demand.sub_core_unit = unit;
    if (unit == Unit::kNone) instruction.op = ptx::Opcode::kBra;
  }
};

const Threads& warp() {
  static const Threads kWarp(1, {{~0u, 0, 0, true}});
  return kWarp;
}

Cycle earliest(const Datapath& datapath, Cycle now, const Work& work, unsigned scheduler = 0) {
  return datapath.earliest(now, scheduler, work.demand, warp().issue);
}

TEST(SubCoreUnits, HalfAWarpWideUnitIsTakenForTwoCycles) {
  const auto datapath = create(units(), four_schedulers());
  const UnitWork multiply_add(Unit::kFp32), add(Unit::kInt32);
  EXPECT_EQ(start(*datapath, 10, multiply_add, warp()).end, 14u);
  EXPECT_EQ(earliest(*datapath, 11, multiply_add), 12u);
  EXPECT_EQ(datapath->next_free(10), 12u);
  EXPECT_EQ(earliest(*datapath, 11, add), 11u);              // another unit
  EXPECT_EQ(earliest(*datapath, 11, multiply_add, 1), 11u);  // another scheduler's
}

// A dependent instruction follows after the latency on a pipeline of one stage. GPGPU-Sim's distance is
// max(latency, interval) + 5: a pipeline of six.
TEST(SubCoreUnits, ResultsComeAfterLatencyOrInterval) {
  struct Case {
    unsigned latency, interval, on_one_stage, on_six;
  };
  for (const Case& c : {Case{4, 1, 4, 9}, Case{4, 2, 4, 9}, Case{21, 8, 21, 26}, Case{39, 2, 39, 44},
                        Case{64, 64, 64, 69}, Case{1, 1, 1, 6}, Case{2, 4, 4, 9}, Case{330, 130, 330, 335}}) {
    const UnitWork work(Unit::kFp64, c.latency, c.interval);
    EXPECT_EQ(start(*create(units(32), four_schedulers(1)), 100, work, warp()).end - 100, c.on_one_stage)
        << c.latency << ", " << c.interval;
    EXPECT_EQ(start(*create(units(32), four_schedulers(6)), 100, work, warp()).end - 100, c.on_six)
        << c.latency << ", " << c.interval;
  }
}

// Warps of 64 are two rows, and the second one's results come as much later as its row begins.
TEST(SubCoreUnits, RowsFollowEachOther) {
  const auto datapath = create(units(), four_schedulers());
  const Threads wide(2, {{~0u, 0, 0, true}, {~0u, 1, 1, true}});
  const UnitWork work(Unit::kFp32);
  EXPECT_EQ(start(*datapath, 10, work, wide).end, 10u + 2 + 4);
  EXPECT_EQ(earliest(*datapath, 11, work), 14u);
}

TEST(SubCoreUnits, FewUnitsServeSeveralSchedulers) {
  Config c = units();
  c.units.lanes[static_cast<std::size_t>(Unit::kFp64)] = {1, 2};
  c.units.lanes[static_cast<std::size_t>(Unit::kSfu)] = {2, 4};
  c.units.lanes[static_cast<std::size_t>(Unit::kInt32)] = {8, 16};
  const auto datapath = create(c, four_schedulers());
  const UnitWork of_double(Unit::kFp64), sine(Unit::kSfu), add(Unit::kInt32);
  start(*datapath, 0, of_double, warp(), 2);
  for (unsigned s = 0; s < 4; ++s) EXPECT_EQ(earliest(*datapath, 1, of_double, s), 16u) << s;
  start(*datapath, 0, sine, warp(), 0);
  EXPECT_EQ(earliest(*datapath, 1, sine, 2), 8u);
  EXPECT_EQ(earliest(*datapath, 1, sine, 1), 1u);
  EXPECT_EQ(earliest(*datapath, 1, sine, 3), 1u);
  start(*datapath, 0, add, warp(), 3);  // two units for each scheduler
  EXPECT_EQ(earliest(*datapath, 1, add, 3), 1u);
  start(*datapath, 1, add, warp(), 3);
  EXPECT_EQ(earliest(*datapath, 1, add, 3), 2u);
  EXPECT_EQ(earliest(*datapath, 1, add, 2), 1u);
}

// GA10x: 32 single-precision operations in a cycle, or 16 beside 16 of integers.
TEST(SubCoreUnits, IntegerUnitsAlsoRunSinglePrecision) {
  const auto datapath = create(units(), four_schedulers());
  const UnitWork single(Unit::kFp32OrInt32), add(Unit::kInt32);
  for (Cycle now = 0; now < 8; ++now) {
    ASSERT_EQ(earliest(*datapath, now, single), now);
    start(*datapath, now, single, warp());
  }
  // From cycle 9 on both are free again.
  for (Cycle now = 9; now < 17; now += 2) {
    ASSERT_EQ(earliest(*datapath, now, add), now);
    start(*datapath, now, add, warp());
    EXPECT_EQ(earliest(*datapath, now, add), now + 2);
    ASSERT_EQ(earliest(*datapath, now + 1, single), now + 1);
    start(*datapath, now + 1, single, warp());
  }
}

TEST(SubCoreUnits, BranchesTakeNoUnit) {
  const auto datapath = create(units(), four_schedulers());
  const UnitWork branch(Unit::kNone);
  EXPECT_EQ(start(*datapath, 10, branch, warp()).end, 15u);
  EXPECT_EQ(earliest(*datapath, 10, branch), 10u);
  EXPECT_EQ(datapath->next_free(10), kNever);
}

TEST(SubCoreUnits, ShufflesMayTakeTheWayToTheLoadStoreUnit) {
  const auto datapath = create(units(), four_schedulers());
  const UnitWork shuffle(Unit::kLoadStore, 21, 2);
  const Work load(ptx::Unit::kMemory);
  EXPECT_EQ(start(*datapath, 10, shuffle, warp()).end, 10u + 2 - 1 + 21);
  EXPECT_EQ(earliest(*datapath, 10, load, 3), 12u);
}

TEST(SubCoreUnits, CountTheirCycles) {
  const auto datapath = create(units(), four_schedulers());
  statistics::Group group;
  datapath->bind(group);
  start(*datapath, 0, UnitWork(Unit::kFp32), warp(), 1);
  start(*datapath, 2, UnitWork(Unit::kFp32, 4, 3), warp(), 1);
  start(*datapath, 0, UnitWork(Unit::kSfu), warp(), 3);
  const auto sample = group.sample();
  EXPECT_EQ(sample["fp32_unit1"]["busy_cycles"], 2 + 6) << sample.dump();
  EXPECT_EQ(sample["fp32_unit0"]["busy_cycles"], 0) << sample.dump();
  EXPECT_EQ(sample["sfu_unit3"]["busy_cycles"], 2) << sample.dump();
  EXPECT_FALSE(sample.contains("simd_group0"));
}

// What begins together shares a unit's lanes, or takes another unit.
TEST(SubCoreUnits, InstructionsBeginTogether) {
  const auto datapath = create(units(), four_schedulers());
  datapath->begin_together();
  const Threads low(1, {{0xffffu, 0, 0, true}}), high(1, {{0xffff0000u, 0, 0, true}});
  const UnitWork single(Unit::kFp32), add(Unit::kInt32), branch(Unit::kNone);
  start(*datapath, 10, single, low);
  EXPECT_TRUE(datapath->fits_beside(10, 0, single.demand, high.issue));
  EXPECT_FALSE(datapath->fits_beside(10, 0, single.demand, low.issue));
  EXPECT_TRUE(datapath->fits_beside(10, 0, add.demand, low.issue));
  EXPECT_TRUE(datapath->fits_beside(10, 0, branch.demand, low.issue));
  EXPECT_TRUE(start(*datapath, 10, single, high).beside);
}

// --- inside a GPU ---

std::vector<std::string> sub_cores(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"sm.count=1",
                                       "sm.schedulers=4",
                                       "sm.schedulers_per_domain=1",
                                       "sm.block_placement=sub_cores",
                                       "sm.pipeline_depth=1",
                                       "sm.fetch_width=16",
                                       "sm.instruction_buffer=16",
                                       "sm.latency.float_fma.cycles=4",
                                       "datapath.units.enabled=true"};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

constexpr unsigned kWarps = 32;  // eight for each sub-core
const dispatch::Dim3 kBlock = {kWarps * 32, 1, 1};
constexpr const char* kFma = "fma.rn.f32 %f1, %f1, %f1, %f1;";

// The loop's own instructions and fetches blur rates by a few per cent.
void expect_rate(double cycles, double expected) {
  EXPECT_NEAR(cycles, expected, 0.05 * expected);
}

TEST(UnitsInAGpu, ADependentMultiplyAddFollowsAfterFourCycles) {
  GpuBench bench(sub_cores());
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy(kFma, {32, 1, 1}), 4);
}

TEST(UnitsInAGpu, GpgpuSimsDistanceIsThreeMore) {
  GpuBench bench(sub_cores({"sm.pipeline_depth=4", "datapath.units.fp32.width=32"}));
  EXPECT_DOUBLE_EQ(bench.cycles_per_copy(kFma, {32, 1, 1}), 7);
}

TEST(UnitsInAGpu, SixteenLanesRunAWarpInTwoCycles) {
  GpuBench bench(sub_cores());
  expect_rate(bench.cycles_per_copy(kFma, kBlock), kWarps / 4 * 2);
}

TEST(UnitsInAGpu, BothUnitsRunAWarpInOneCycle) {
  GpuBench bench(sub_cores({"datapath.units.routes.float_fma=fp32_or_int32"}));
  expect_rate(bench.cycles_per_copy(kFma, kBlock), kWarps / 4);
}

TEST(UnitsInAGpu, TwoLanesOfDoublePrecisionServeTheSm) {
  GpuBench bench(sub_cores(
      {"datapath.units.fp64.count=1", "datapath.units.fp64.width=2", "sm.latency.double_mul.interval=1"}));
  expect_rate(bench.cycles_per_copy("fma.rn.f64 %fd1, %fd1, %fd1, %fd1;", kBlock), kWarps * 16);
}

// Logic and moves have a latency of their own in GPGPU-Sim, and the integer units.
TEST(UnitsInAGpu, OtherOperationsHaveTheirOwnLatency) {
  const auto chain = [](const std::vector<std::string>& more, const std::string& instruction) {
    return weft::test::apart([&] {
      GpuBench bench(sub_cores(more));
      return std::to_string(bench.cycles_per_copy(instruction, {32, 1, 1}));
    });
  };
  const std::vector<std::string> own = {"sm.pipeline_depth=6", "sm.latency.other.cycles=1",
                                        "datapath.units.int32.width=32"};
  EXPECT_EQ(std::stod(chain(own, "xor.b32 %r1, %r1, %r1;")), 6);
  EXPECT_EQ(std::stod(chain(own, "add.u32 %r1, %r1, %r1;")), 9);
  EXPECT_EQ(std::stod(chain({"sm.pipeline_depth=6"}, "xor.b32 %r1, %r1, %r1;")), 9);
}

std::string refusal(const std::vector<std::string>& settings) {
  try {
    load_config("gtx480", settings);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(UnitsInAGpu, BadCombinationsAreRefused) {
  EXPECT_THAT(refusal({"datapath.units.enabled=true", "datapath.units.fp32.count=3"}),
              AllOf(HasSubstr("/datapath/units/fp32/count"), HasSubstr("found 3"), HasSubstr("multiples")));
  EXPECT_THAT(
      refusal({"datapath.units.enabled=true", "datapath.units.sfu.width=6"}),
      AllOf(HasSubstr("/datapath/units/sfu/width"), HasSubstr("found 6"), HasSubstr("powers of two")));
  EXPECT_THAT(refusal({"datapath.units.enabled=true", "sm.bind_groups=true"}),
              AllOf(HasSubstr("/sm/bind_groups"), HasSubstr("allowed: false")));
  EXPECT_THAT(refusal({"datapath.units.enabled=true", "sm.integer_multiply_unit=sfu"}),
              AllOf(HasSubstr("/sm/integer_multiply_unit"), HasSubstr("allowed: lanes")));
  EXPECT_THAT(refusal({"datapath.units.enabled=true", "datapath.kind=temporal", "sm.simd_groups=1"}),
              AllOf(HasSubstr("/datapath/units/enabled"), HasSubstr("temporal")));
}

}  // namespace
}  // namespace weft::datapath::test
