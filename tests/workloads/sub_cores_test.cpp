// Workloads on SMs whose blocks are spread over four sub-cores, with units and queues of their own.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "platform/gpu_bench.h"
#include "weft/platform/gpu_config.h"
#include "weft/warp_formation/scheme.h"
#include "workloads/small_size.h"
#include "workloads/workload.h"

namespace weft::workloads {
namespace {

const std::vector<std::string> kSubCores = {
    "sm.schedulers=4",    "sm.schedulers_per_domain=1",  "sm.block_placement=sub_cores",
    "sm.simd_groups=4",   "datapath.units.enabled=true", "datapath.address_queue.entries=5",
    "sm.memory_queue=32", "watchdog.cycles=1000000"};

class SubCores : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(SubCores, GiveTheResult) {
  const auto& [name, scheme] = GetParam();
  const auto workload = find(name);
  auto settings = settings_of(*workload, "small");
  settings.insert(settings.end(), kSubCores.begin(), kSubCores.end());
  settings.push_back("warp_formation.scheme=" + scheme);
  runtime::Device device(load_config("gtx480", settings), {});
  const Result result = workload->run(device, values_of(*workload, "small"), workload->code());
  EXPECT_TRUE(result.verified) << result.message;
}

INSTANTIATE_TEST_SUITE_P(
    All, SubCores,
    ::testing::Combine(::testing::Values("bfs", "matrix_multiply", "needleman_wunsch", "reduction", "scan"),
                       ::testing::ValuesIn(warp_formation::scheme_names())),
    [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace weft::workloads
