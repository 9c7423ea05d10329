// The same run gives the same numbers: again, with sleeping off, and under hop monitors, which stay silent.
#include <gtest/gtest.h>

#include "platform/divergent_kernel.h"

namespace weft::test::determinism_test {
namespace {

class Determinism : public ::testing::TestWithParam<std::string> {};

std::string run(const std::string& machine, runtime::DeviceOptions options = {}) {
  return apart([&] {
    GpuBench bench(overrides_of(machine, {"sm.count=3"}), config_of(machine), options);
    const std::string result = run_divergent(bench);
    return result + bench.device.gpu().violations();
  });
}

// Where two texts part, with what stands before it; empty if they are equal.
std::string first_difference(const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  if (at == a.size() && at == b.size()) return "";
  const std::size_t from = at < 300 ? 0 : at - 300;
  return a.substr(from, at - from + 60) + "\n   differs from\n" + b.substr(from, at - from + 60);
}

TEST_P(Determinism, AgainAndWithoutSleepingAndMonitored) {
  const std::string once = run(GetParam());
  ASSERT_GT(once.size(), 1000u);
  EXPECT_EQ(first_difference(run(GetParam()), once), "");
  runtime::DeviceOptions awake;
  awake.sleeping = false;
  EXPECT_EQ(first_difference(run(GetParam(), awake), once), "") << "with sleeping off";
  runtime::DeviceOptions monitored;
  monitored.monitors = true;
  EXPECT_EQ(first_difference(run(GetParam(), monitored), once), "") << "under monitors";
}

INSTANTIATE_TEST_SUITE_P(Machines, Determinism, ::testing::ValuesIn(machine_names()),
                         [](const auto& info) { return test_name_of(info.param); });

}  // namespace
}  // namespace weft::test::determinism_test
