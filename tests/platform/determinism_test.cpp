// The same run gives the same numbers: again, with sleeping off, and under hop monitors, which stay silent.
#include <gtest/gtest.h>

#include "platform/divergent_kernel.h"

namespace weft::test {
namespace {

class Determinism : public ::testing::TestWithParam<std::string> {};

std::string run(const std::string& config, runtime::DeviceOptions options = {}) {
  return apart([&] {
    GpuBench bench({"sm.count=3"}, config, options);
    const std::string result = run_divergent(bench);
    return result + bench.device.gpu().violations();
  });
}

TEST_P(Determinism, AgainAndWithoutSleepingAndMonitored) {
  const std::string once = run(GetParam());
  ASSERT_GT(once.size(), 1000u);
  EXPECT_EQ(run(GetParam()), once);
  runtime::DeviceOptions awake;
  awake.sleeping = false;
  EXPECT_EQ(run(GetParam(), awake), once);
  runtime::DeviceOptions monitored;
  monitored.monitors = true;
  EXPECT_EQ(run(GetParam(), monitored), once);
}

INSTANTIATE_TEST_SUITE_P(Configs, Determinism, ::testing::ValuesIn(config_names()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace weft::test
