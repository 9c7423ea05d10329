// The contract of warp_formation.h, for every registered scheme: random kernels under the driver, which
// checks at every step that no thread is lost, duplicated or moved and that the census sums to the live
// threads.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "warp_formation/driver.h"
#include "warp_formation/kernels.h"
#include "warp_formation/two_level_options.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation::test::contract_test {
namespace {

struct Machine {
  Config config;
  Geometry geometry;
};

Machine random_machine(const std::string& scheme, std::uint64_t seed) {
  std::mt19937_64 random(seed * 77 + 5);
  Machine m;
  m.config.scheme = scheme;
  m.config.warp_size = std::uint64_t{4} << random() % 6;
  const std::vector<std::string> orders = m.config.scheduling.names();
  m.config.scheduling.name = orders[random() % orders.size()];
  auto& groups = m.config.scheduling.own<TwoLevelOptions>();
  groups.group_warps = 1 + random() % 4;
  groups.timeout_instructions = random() % 2 * 7;
  m.geometry.threads = 512;
  m.geometry.lanes = 4u << random() % 4;
  m.geometry.schedulers = 1 + random() % 2;
  m.geometry.slots = 4;
  m.geometry.chunks = 16;
  m.geometry.barrel = true;
  m.config.reconvergence = static_cast<Reconvergence>(random() % 2);
  if (SchemeOptions* const own = m.config.options.find(scheme)) own->randomise(random);
  const auto permutation = static_cast<LanePermutation>(random() % 6);
  if (m.config.warp_size >= m.geometry.lanes) m.geometry.home = {permutation, m.geometry.lanes, 16};
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

// What `weft area` prices is what the statistics count.
TEST_P(Contract, DeclaresTheArraysThatItsStatisticsCount) {
  if (GetParam() == "min_pc") return;  // the tutorial's has no tables
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ptx::Program program = random_kernel(seed);
    const Machine m = random_machine(GetParam(), seed);
    Driver driver(program, m.config, m.geometry);
    run_blocks(driver, program, seed);
    const std::string all = driver.statistics();
    const bool has_depth = all.find("deepest_stack") != std::string::npos;
    const storage::Arrays arrays =
        driver.unit().arrays(has_depth ? static_cast<std::uint64_t>(driver.statistic("deepest_stack")) : 0);
    EXPECT_FALSE(arrays.empty());
    std::set<std::string> counted = {"storage_bits"};
    for (const storage::Array& array : arrays) {
      if (!array.statistic.empty()) counted.insert(array.statistic);
    }
    if (all.find("link_storage_bits") != std::string::npos) counted.insert("link_storage_bits");
    for (const std::string& name : counted)
      EXPECT_EQ(static_cast<double>(counted_bits(arrays, name)), driver.statistic(name)) << name;
  }
}

// A run that is continued between two kernels goes on as it would have.
TEST_P(Contract, KeepsWhatTheNextKernelFinds) {
  if (GetParam() == "min_pc") return;  // the tutorial's, which does not say what it keeps
  unsigned rested = 0;
  for (std::uint64_t seed = 300; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ptx::Program program = random_kernel(seed);
    const Machine m = random_machine(GetParam(), seed);
    Driver whole(program, m.config, m.geometry), continued(program, m.config, m.geometry);
    ASSERT_TRUE(whole.unit().can_be_kept());
    run_blocks(whole, program, seed);
    for (unsigned i = 0; i < 20; ++i) {
      try {
        continued.go_on_from(whole);
        ++rested;
        break;
      } catch (const NotAtRest&) {
        whole.step();
      }
    }
    if (continued.now() != whole.now()) continue;
    whole.attach();
    continued.attach();
    run_blocks(whole, program, seed + 1000);
    run_blocks(continued, program, seed + 1000);
    ASSERT_EQ(whole.trace(), continued.trace());
    ASSERT_EQ(whole.statistics(), continued.statistics());
  }
  EXPECT_GT(rested, 90u);
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
}  // namespace weft::warp_formation::test::contract_test
