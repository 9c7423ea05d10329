// Machines whose numbers are known, because a configuration sets them: what is measured must be these
// numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "microbenchmarks/chains.h"
#include "microbenchmarks/measurement.h"
#include "microbenchmarks/weft_machine.h"
#include "weft/platform/gpu_config.h"

namespace weft::microbenchmarks::configured_machines_test {
namespace {

using Settings = std::vector<std::string>;

// One per process.
struct Measured {
  explicit Measured(const Settings& settings)
      : config(load_config("gtx480", settings)), machine(make_weft_machine(config)), bench(*machine) {}
  double operator()(const std::string& id) {
    for (const Measurement& each : all_measurements(bench.facts(), bench.sizes())) {
      if (each.id() == id) return each.run(bench);
    }
    ADD_FAILURE() << "there is no measurement " << id;
    return 0;
  }

  GpuConfig config;
  std::unique_ptr<Machine> machine;
  Bench bench;
};

class OfSettings : public testing::TestWithParam<Settings> {};

// Dependent instructions follow each other after the unit's latency and the other stages of the pipeline.
TEST_P(OfSettings, ChainsTakePipelineAndLatency) {
  Measured measured(GetParam());
  const auto& sm = measured.config.sm;
  const auto of = [&](ptx::Latency kind) { return sm.latency_of(kind); };
  const auto chain = [&](std::uint64_t cycles) {
    return static_cast<double>(sm.pipeline_depth + cycles - 1);
  };
  EXPECT_EQ(measured("latency instruction=add.u32"), chain(of(ptx::Latency::kIntAdd).cycles));
  EXPECT_EQ(measured("latency instruction=mad.lo.u32"),
            chain(of(ptx::Latency::kIntMul).cycles) + of(ptx::Latency::kIntMul).interval - 1);
  EXPECT_EQ(measured("latency instruction=fma.rn.f32"), chain(of(ptx::Latency::kFloatFma).cycles));
  EXPECT_EQ(measured("latency instruction=shfl.sync.bfly.b32"), chain(of(ptx::Latency::kWarp).cycles));
  // One warp alone has a result of each lane in that time.
  EXPECT_NEAR(measured("latency_hiding instruction=fma.rn.f32 warps=1"),
              32 / chain(of(ptx::Latency::kFloatFma).cycles), 1e-9);
}

// All units issue an instruction in each cycle, but for the end, when not all warps have instructions left.
TEST_P(OfSettings, ThroughputIsThatOfTheUnits) {
  Measured measured(GetParam());
  const auto& sm = measured.config.sm;
  const double lanes = static_cast<double>(sm.simd_groups * sm.simd_width);
  const double fma = measured("throughput instruction=fma.rn.f32 warps=32 chains=4");
  // The last warps of the short chain and of the long one do not end alike: 1 %.
  EXPECT_LE(fma, 1.01 * lanes);
  EXPECT_GT(fma, 0.9 * lanes);
  const double mad = measured("throughput instruction=mad.lo.u32 warps=32 chains=4");
  EXPECT_LE(mad, 1.01 * lanes / static_cast<double>(sm.latency_of(ptx::Latency::kIntMul).interval));
  EXPECT_GT(mad, 0.9 * lanes / static_cast<double>(sm.latency_of(ptx::Latency::kIntMul).interval));
}

// The most distinct words of one bank, over all words that the warp's threads load.
unsigned degree(unsigned bytes, unsigned stride, unsigned banks) {
  std::map<unsigned, std::set<unsigned>> words;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < bytes / 4; ++i) {
      const unsigned word = lane * stride * bytes / 4 + i;
      words[word % banks].insert(word);
    }
  }
  std::size_t most = 0;
  for (const auto& each : words) most = std::max(most, each.second.size());
  return static_cast<unsigned>(most);
}

TEST_P(OfSettings, BankConflictsTakeACycleEach) {
  Measured measured(GetParam());
  const auto& shared = measured.config.sm.shared_memory;
  for (const unsigned bytes : {4u, 8u, 16u}) {
    for (const unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
      const std::string id =
          "bank_conflict bytes=" + std::to_string(bytes) + " stride=" + std::to_string(stride);
      const unsigned conflicts = degree(bytes, stride, static_cast<unsigned>(shared.banks));
      EXPECT_EQ(measured(id + " warps=1"), static_cast<double>(shared.latency + conflicts)) << id;
      EXPECT_GE(measured(id + " warps=16"), conflicts) << id;
    }
  }
}

// A load that hits in L1 takes its latency and the cycle of its issue; the loop around 16 loads takes less
// than a cycle of each. The sizes of the caches show as steps.
TEST_P(OfSettings, ChasesShowTheL1) {
  Measured measured(GetParam());
  const auto& l1 = measured.config.sm.l1d;
  const double hit = measured("chase cache=ca stride=128 bytes=1024");
  EXPECT_NEAR(hit, static_cast<double>(l1.latency + 1), 0.5);
  EXPECT_EQ(measured("chase cache=ca stride=128 bytes=" + std::to_string(l1.tags.bytes())), hit);
  EXPECT_GT(measured("chase cache=ca stride=128 bytes=" + std::to_string(2 * l1.tags.bytes())), 3 * hit);
  EXPECT_EQ(measured("l1_capacity dynamic_shared=0"), static_cast<double>(l1.tags.bytes()));
}

INSTANTIATE_TEST_SUITE_P(
    Gtx480, OfSettings,
    testing::Values(Settings{}, Settings{"sm.latency.float_fma.cycles=9", "sm.latency.int_mul.interval=4",
                                         "sm.pipeline_depth=8", "sm.shared_memory.latency=40",
                                         "sm.shared_memory.banks=16", "sm.l1d.latency=50", "sm.l1d.ways=8"}));

// Latencies of the levels behind L1 have parts in several modules, so two machines are compared: each cycle
// that a level takes longer shows in the loads that reach it, and in no others.
struct Level {
  std::string name;
  Settings settings;
  double l2, dram;  // of a load
};
class OfLevels : public testing::TestWithParam<Level> {};

TEST_P(OfLevels, ChasesShowEachCycle) {
  Measured measured(GetParam().settings);
  EXPECT_NEAR(measured("chase cache=cg stride=128 bytes=262144"), GetParam().l2, 0.5);
  EXPECT_NEAR(measured("chase cache=cg stride=128 bytes=4194304"), GetParam().dram, 1.5);
}

// DRAM's extra cycles are of the memory clock: 60 of 924 MHz are 45.5 of 700 MHz.
INSTANTIATE_TEST_SUITE_P(Gtx480, OfLevels,
                         testing::Values(Level{"as_it_is", {}, 173, 288.7},
                                         Level{"l2", {"l2.latency=170"}, 223, 338.7},
                                         Level{"dram", {"dram.extra_latency=192"}, 173, 288.7 + 45.5}),
                         [](const auto& info) { return info.param.name; });

class OfLanes : public testing::TestWithParam<Settings> {};

// No level gives more than its width, and each gives most of it.
TEST_P(OfLanes, BandwidthIsBoundByTheMachine) {
  Measured measured(GetParam());
  const auto& config = measured.config;
  const double shared =
      static_cast<double>(config.sm.shared_memory.banks * config.sm.shared_memory.bank_bytes);
  for (const std::string level : {"l1", "shared"}) {
    const double bytes = measured("bandwidth_per_sm level=" + level + " access=read bytes=16");
    const double most = level == "l1" ? static_cast<double>(config.sm.l1d.tags.line_bytes) : shared;
    EXPECT_LE(bytes, most) << level;
    EXPECT_GT(bytes, 0.8 * most) << level;
  }
  // GDDR5 moves four times a clock; a channel has two devices of 32 bits.
  const double dram = config.clocks.memory_mhz * 1e-3 * 4 * 8 * static_cast<double>(config.dram.map.channels);
  // A sector that is smaller than a burst takes a burst all the same. Written sectors leave L2 as whole
  // lines.
  const double bursts =
      std::min(1.0, static_cast<double>(config.l2.bank.unit_bytes()) /
                        static_cast<double>(config.dram.channel.scheduler.timing.burst_bytes()));
  const double read = measured("bandwidth level=dram access=read");
  EXPECT_LT(read, dram * bursts);
  EXPECT_GT(read, 0.79 * dram * bursts);
  const double written = measured("bandwidth level=dram access=write");
  EXPECT_LT(written, dram);
  EXPECT_GT(written, 0.8 * dram);
  // Cycles and seconds are of the same run.
  EXPECT_NEAR(measured("bandwidth_per_sm level=dram access=read") * static_cast<double>(config.sm.count) *
                  config.clocks.core_mhz * 1e-3,
              read, 0.05 * read);
}

INSTANTIATE_TEST_SUITE_P(Gtx480, OfLanes,
                         testing::Values(Settings{}, Settings{"l2.sector_bytes=64"},
                                         Settings{"clocks.memory_mhz=462"}));

TEST(Atomics, OneAddressTakesOneOperationOfEachBankInACycle) {
  Measured measured({});
  EXPECT_NEAR(measured("atomic_throughput space=global addresses=one"), 1, 0.01);
  EXPECT_GT(measured("atomic_throughput space=global addresses=distinct"), 8);
}

TEST(Measurements, HaveNamesOfTheirOwn) {
  Facts facts;
  facts.sms = 132;
  facts.threads_per_sm = 2048;
  facts.shared_per_block = 227u << 10;
  facts.l2_bytes = 50u << 20;
  std::set<std::string> ids;
  for (const Measurement& each : all_measurements(facts, sizes_for(facts)))
    EXPECT_TRUE(ids.insert(each.id()).second) << each.id();
  EXPECT_GT(ids.size(), 800u);
}

TEST(Machines, RefuseWhatTheyDoNotTake) {
  Measured measured({});
  EXPECT_THROW(measured.bench.kernel("nonsense"), Refused);
  EXPECT_THROW(measured.bench.kernel("nonsense"), Refused) << "also when asked again";
}

}  // namespace
}  // namespace weft::microbenchmarks::configured_machines_test
