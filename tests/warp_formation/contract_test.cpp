// The contract of warp_formation.h, for every registered scheme: random kernels under the driver, which
// checks at every step that no thread is lost, duplicated or moved and that the census sums to the live
// threads.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "warp_formation/driver.h"
#include "warp_formation/kernels.h"

namespace weft::warp_formation::test {
namespace {

struct Machine {
  Config config;
  Geometry geometry;
};

// Small tables, so that each overflows now and then.
ReincarnationConfig random_tables(std::mt19937_64& random) {
  ReincarnationConfig config;
  config.first_level = 1 + random() % 8;
  config.second_level = 1 + random() % 64;
  config.ready_lookup = random() % 9;
  config.waiting_lookup = random() % 9;
  config.lookup_threshold = 1 + random() % 4;
  config.lookup_depart = static_cast<LookupDepart>(random() % 3);
  config.lookup_overflow = static_cast<LookupOverflow>(random() % 2);
  config.barrier_ways = 1 + random() % 8;
  config.barrier_entries = config.barrier_ways * (random() % 17);
  config.barrier_latency = 1 + random() % 4;
  config.barrier_span = static_cast<BarrierSpan>(random() % 2);
  config.barrier_join = static_cast<BarrierJoin>(random() % 2);
  return config;
}

Machine random_machine(const std::string& scheme, std::uint64_t seed) {
  std::mt19937_64 random(seed * 77 + 5);
  Machine m;
  m.config.scheme = scheme;
  m.config.warp_size = std::uint64_t{4} << random() % 6;
  m.config.scheduling = static_cast<Scheduling>(random() % 3);
  m.config.two_level.group_warps = 1 + random() % 4;
  m.config.two_level.timeout_instructions = random() % 2 * 7;
  m.config.sbr.order = static_cast<SbrOrder>(random() % 4);
  m.config.tbc.order =
      std::array{SbrOrder::kFallthroughFirst, SbrOrder::kTakenFirst, SbrOrder::kMinorityFirst}[random() % 3];
  m.config.dwf.heuristic = static_cast<DwfHeuristic>(random() % 6);
  m.config.dwf.lut_ways = 1u << random() % 2;
  m.config.dwf.lut_entries = random() % 4 == 0 ? 0 : m.config.dwf.lut_ways << random() % 4;
  m.config.dwf.starvation_limit = random() % 2 * 50;
  m.config.dwf.heap = {2 + random() % 8, 4, 2, 1, 1};
  m.config.dwr.largest_warp = 4u << random() % 6;
  m.config.dwr.lat_barrier = static_cast<LatBarrier>(random() % 2);
  m.config.dwr.lat_latency = random() % 30;
  m.config.dwr.lat_timeout = random() % 2 * 40;
  m.config.dwr.ilt_ways = 1u << random() % 2;
  m.config.dwr.ilt_entries = m.config.dwr.ilt_ways << random() % 3;
  m.config.dwr.ilt_index = static_cast<IltIndex>(random() % 2);
  m.config.lwm.large_warp = 32u << random() % 4;
  m.config.lwm.refetch = static_cast<LwmRefetch>(random() % 2);
  m.config.lwm.group_threads = 32u << random() % 4;
  m.config.lwm.timeout_instructions = random() % 2 * 7;
  m.geometry.threads = 512;
  m.geometry.simd_width = 4u << random() % 4;
  m.geometry.schedulers = 1 + random() % 2;
  m.geometry.slots = 4;
  m.geometry.chunks = 16;
  m.geometry.barrel = true;
  m.config.harp = random_tables(random);
  m.config.crown = random_tables(random);
  m.config.likely_convergence = static_cast<LikelyConvergence>(random() % 2);
  m.config.reconvergence = static_cast<Reconvergence>(random() % 2);
  return m;
}

// Runs blocks of several sizes through the kernel of this seed.
void run_blocks(Driver& driver, const ptx::Program& program, std::uint64_t seed) {
  std::mt19937_64 random(seed + 1);
  driver.memory_latency = 1 + random() % 20;
  driver.holds = [&program, seed](unsigned thread, ptx::Pc pc, unsigned visit) {
    return random_guard(seed, program, thread, pc, visit);
  };
  for (unsigned blocks = 3; blocks > 0;) {
    const unsigned threads = 1 + random() % 128;
    if (driver.can_launch(threads)) {
      driver.launch(threads);
      --blocks;
    }
    driver.step();
  }
  driver.run(100'000);
}

class Contract : public ::testing::TestWithParam<std::string> {};

TEST_P(Contract, HoldsOnRandomKernels) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ptx::Program program = random_kernel(seed);
    const Machine m = random_machine(GetParam(), seed);
    Driver driver(program, m.config, m.geometry);
    ASSERT_NO_THROW(run_blocks(driver, program, seed));
    std::set<unsigned> started;
    for (const auto& record : driver.trace()) {
      if (record.pc == 0) started.insert(record.threads.begin(), record.threads.end());
    }
    EXPECT_FALSE(started.empty());
  }
}

TEST_P(Contract, IsDeterministicAndResetEqualsFreshConstruction) {
  for (std::uint64_t seed = 200; seed < 230; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ptx::Program program = random_kernel(seed);
    const Machine m = random_machine(GetParam(), seed);
    Driver once(program, m.config, m.geometry), again(program, m.config, m.geometry);
    run_blocks(once, program, seed);
    run_blocks(again, program, seed);
    ASSERT_EQ(once.trace(), again.trace());
    // A reset in the middle of things.
    again.reset();
    again.launch(100);
    for (int i = 0; i < 20 && again.live_threads() != 0; ++i) again.step();
    again.reset();
    EXPECT_EQ(again.unit().census().total(), 0u);
    run_blocks(again, program, seed);
    ASSERT_EQ(once.trace(), again.trace());
  }
}

TEST_P(Contract, RefusesBlocksWithoutRoomAndTakesThemAfterTheOthers) {
  const ptx::Program program = kernel("  ret;");
  Machine m = random_machine(GetParam(), 1);
  m.config.warp_size = 32;
  m.geometry.threads = 64;
  Driver driver(program, m.config, m.geometry);
  EXPECT_TRUE(driver.can_launch(64));
  EXPECT_FALSE(driver.can_launch(65));
  driver.launch(64);
  EXPECT_FALSE(driver.can_launch(1));
  driver.run(100);
  EXPECT_TRUE(driver.can_launch(64));
}

INSTANTIATE_TEST_SUITE_P(Schemes, Contract, ::testing::ValuesIn(scheme_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::warp_formation::test
