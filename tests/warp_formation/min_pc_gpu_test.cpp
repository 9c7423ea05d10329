// The scheme of the tutorial hosted by a whole GPU: kernels compute what they compute under sbr, its
// statistic is there, and its key has an effect.
#include <gtest/gtest.h>

#include "platform/divergent_kernel.h"

namespace weft::warp_formation::test::toy_gpu_test {
namespace {

using weft::test::apart;
using weft::test::GpuBench;
using weft::test::run_divergent;

class MinPcGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(MinPcGpu, LeavesTheMemoryOfSbr) {
  const std::string config = GetParam();
  const auto memory_of = [](const std::string& result) { return result.substr(result.rfind('\n')); };
  const std::string sbr = apart([&] {
    GpuBench bench({"sm.count=2", "warp_formation.scheme=sbr"}, config);
    return run_divergent(bench, 4, 70);
  });
  GpuBench bench({"sm.count=2", "warp_formation.scheme=min_pc"}, config);
  EXPECT_EQ(memory_of(run_divergent(bench, 4, 70)), memory_of(sbr));
  double issues = 0;
  const auto statistics = bench.statistics();
  for (const char* sm : {"sm0", "sm1"}) {
    for (const auto& [name, part] : statistics.at(sm).items()) {
      if (name.rfind("warp_formation", 0) == 0) issues += part.at("issues").get<double>();
    }
  }
  EXPECT_EQ(issues, bench.sum_over_sms("warp_instructions"));
}

INSTANTIATE_TEST_SUITE_P(Configs, MinPcGpu, ::testing::Values("gtx480", "dwr-tesla", "harp-fermi"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace weft::warp_formation::test::toy_gpu_test
