// Gpu::reset() equals fresh construction: the same cycles, statistics and memory.
#include <gtest/gtest.h>

#include "platform/divergent_kernel.h"

namespace weft::test {
namespace {

// One frequency for all domains: a reset keeps simulated time, and only then do all edges lie as at time 0.
const std::vector<std::string> kSmall = {"sm.count=3", "clocks.core_mhz=700", "clocks.interconnect_mhz=700",
                                         "clocks.memory_mhz=700"};

class Reset : public ::testing::TestWithParam<std::string> {};

TEST_P(Reset, EqualsFreshConstruction) {
  const std::string fresh = apart([] {
    GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()));
    return run_divergent(bench);
  });
  GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()));
  run_divergent(bench, 5, 256);
  bench.reset();
  EXPECT_EQ(run_divergent(bench), fresh);
  bench.reset();
  EXPECT_EQ(run_divergent(bench), fresh);
}

TEST_P(Reset, AfterALaunchThatWasAbandonedInTheMiddle) {
  const std::string fresh = apart([] {
    GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()));
    return run_divergent(bench);
  });
  GpuBench* running = nullptr;
  runtime::DeviceOptions options;
  options.interrupted = [&] {
    return running != nullptr && running->device.gpu().progress().blocks_done > 0;
  };
  GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()), options);
  running = &bench;
  EXPECT_THROW(run_divergent(bench, 5000, 256), runtime::LaunchAbandoned);
  running = nullptr;
  bench.reset();
  EXPECT_EQ(run_divergent(bench), fresh);
}

INSTANTIATE_TEST_SUITE_P(Machines, Reset, ::testing::ValuesIn(machine_names()),
                         [](const auto& info) { return test_name_of(info.param); });

}  // namespace
}  // namespace weft::test
