#include "workloads/small_size.h"

#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "weft/platform/gpu_config.h"
#include "workloads/workload.h"

namespace weft::workloads {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& workload : all()) names.push_back(workload->name());
  return names;
}

void expect_result(const std::string& name, const std::string& scheme, const std::string& size) {
  const auto workload = find(name);
  auto settings = settings_of(*workload, size);
  settings.push_back("warp_formation.scheme=" + scheme);
  runtime::Device device(load_config("gtx480", settings), {});
  const Result result = workload->run(device, values_of(*workload, size), workload->code());
  EXPECT_TRUE(result.verified) << result.message;
}

namespace {

// In a process of its own: SystemC elaborates once.
std::string statistics_of(const std::string& name, std::vector<std::string> settings) {
  return test::apart([&] {
    const auto workload = find(name);
    for (const std::string& own : settings_of(*workload, "small")) settings.push_back(own);
    runtime::Device device(load_config("stsimt", settings), {});
    const Result result = workload->run(device, values_of(*workload, "small"), workload->code());
    if (!result.verified) return result.message;
    std::string text = device.gpu().statistics().sample().dump();
    // What the lane is called.
    const std::string lane = "\"lane0\"", group = "\"simd_group0\"";
    for (std::size_t at = 0; (at = text.find(lane, at)) != std::string::npos; at += group.size())
      text.replace(at, lane.size(), group);
    return text;
  });
}

}  // namespace

void expect_one_lane_to_be_spatial(const std::string& workload) {
  const std::string spatial = statistics_of(workload, {});
  EXPECT_NE(spatial.find("simd_group0"), std::string::npos) << spatial;
  EXPECT_TRUE(statistics_of(workload, {"datapath.kind=temporal", "datapath.lane_width=8",
                                       "datapath.compaction=none", "datapath.forwarding=warp"}) == spatial)
      << workload;
}

}  // namespace weft::workloads
