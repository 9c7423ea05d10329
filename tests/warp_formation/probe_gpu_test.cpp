// The probe scheme hosted by a whole GPU: kernels compute what they compute under sbr, and every call
// arrives.
#include <gtest/gtest.h>

#include "platform/divergent_kernel.h"
#include "warp_formation/probe_scheme.h"

namespace weft::warp_formation::test {
namespace {

using weft::test::apart;
using weft::test::GpuBench;
using weft::test::run_divergent;

class ProbeGpu : public ::testing::TestWithParam<std::string> {};

std::string memory_of(const std::string& result) {
  return result.substr(result.rfind('\n'));
}

TEST_P(ProbeGpu, EveryCallArrivesAndTheMemoryIsThatOfSbr) {
  const std::string config = GetParam();
  const std::string sbr = apart([&] {
    GpuBench bench({"sm.count=2"}, config);
    return run_divergent(bench, 4, 70);
  });
  const auto probe = [&](bool sleeping) {
    runtime::DeviceOptions options;
    options.sleeping = sleeping;
    GpuBench bench({"sm.count=2", "warp_formation.scheme=probe"}, config, options);
    return run_divergent(bench, 4, 70);
  };
  register_probe();
  const std::string awake = apart([&] { return probe(false); });
  const std::string once = probe(true);
  EXPECT_EQ(memory_of(once), memory_of(sbr));
  EXPECT_EQ(once, awake) << "an SM slept past an event of the scheme";

  const ProbeCalls& calls = probe_calls();
  EXPECT_GT(calls.issued, 1000u);
  EXPECT_EQ(calls.decoded, calls.issued);
  EXPECT_GT(calls.memory_issued, 100u);
  EXPECT_GE(calls.probed, calls.memory_issued);
  EXPECT_GT(calls.probed_hits, 0u);
  EXPECT_GE(calls.returned, calls.memory_issued);
  EXPECT_GT(calls.advanced, 1000u);
  EXPECT_GT(calls.moved, 1000u);
  EXPECT_EQ(calls.barriers, 4u);
  EXPECT_EQ(calls.retired, 4u);
  EXPECT_GT(calls.next_events, 0u);
  EXPECT_GT(calls.free_lanes, 0u);
  // Only the barrel waits for loaded data before it resolves, thread by thread.
  const bool barrel = weft::load_config(config).sm.dependence == sm::Dependence::kBarrel;
  EXPECT_EQ(calls.resolved_parts > 0, barrel);
}

INSTANTIATE_TEST_SUITE_P(Configs, ProbeGpu, ::testing::Values("gtx480", "dwr-tesla", "harp-fermi"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace weft::warp_formation::test
