// Accounts that must balance: scheduler cycles, threads, bytes on each hop.
#include <gtest/gtest.h>

#include "platform/divergent_kernel.h"

namespace weft::test::balance_test {
namespace {

class Balance : public ::testing::TestWithParam<std::string> {};

TEST_P(Balance, Balances) {
  GpuBench bench({"sm.count=3"}, GetParam());
  run_divergent(bench);
  run_divergent(bench, 2, 256);  // a second launch, which leaves one SM empty
  const auto all = bench.statistics();
  const GpuConfig& config = bench.device.gpu().config();
  const auto cycles = all.at("gpu").at("cycles").get<double>();
  ASSERT_EQ(static_cast<double>(bench.device.gpu().totals().cycles), cycles);
  double instructions = 0, issued = 0;
  for (unsigned i = 0; i < 3; ++i) {
    const auto& sm = all.at("sm" + std::to_string(i));
    for (unsigned s = 0; s < config.sm.schedulers; ++s) {
      double sum = 0;
      const auto& buckets = sm.at("scheduler" + std::to_string(s)).at("cycles");
      for (const auto& bucket : buckets) sum += bucket.get<double>();
      EXPECT_EQ(sum, cycles) << "SM " << i << ", scheduler " << s;
      issued += buckets.at("issued").get<double>();
    }
    instructions += sm.at("warp_instructions").get<double>();
    EXPECT_EQ(sm.at("threads_launched"), sm.at("threads_retired"));
    EXPECT_EQ(sm.at("blocks_launched"), sm.at("blocks_retired"));
  }
  EXPECT_EQ(issued * static_cast<double>(config.sm.issue_width), instructions);
  EXPECT_EQ(bench.sum_over_sms("threads_launched"), 12 * 100 + 2 * 256);
  EXPECT_EQ(bench.sum_over_sms("blocks_launched"), 14);

  const auto& crossbar = all.at("crossbar");
  for (const char* direction : {"request_bytes", "response_bytes"}) {
    double at_sms = 0, at_memory = 0;
    for (const auto& [name, part] : crossbar.items()) {
      if (!part.is_object() || !part.contains(direction)) continue;
      (name.rfind("sm", 0) == 0 ? at_sms : at_memory) += part.at(direction).get<double>();
    }
    EXPECT_GT(at_sms, 0);
    EXPECT_EQ(at_sms, at_memory) << direction;
  }
  EXPECT_EQ(crossbar.at("request_packets"), crossbar.at("response_packets"));
}

INSTANTIATE_TEST_SUITE_P(Configs, Balance, ::testing::ValuesIn(config_names()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace weft::test::balance_test
