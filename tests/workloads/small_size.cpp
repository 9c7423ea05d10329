#include "workloads/small_size.h"

#include <gtest/gtest.h>

#include "platform/gpu_config.h"
#include "workloads/workload.h"

namespace weft::workloads {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& workload : all()) names.push_back(workload->name());
  return names;
}

void expect_result(const std::string& name, const std::string& scheme) {
  const auto workload = find(name);
  auto settings = settings_of(*workload, "small");
  settings.push_back("warp_formation.scheme=" + scheme);
  runtime::Device device(load_config("gtx480", settings), {});
  const Result result = workload->run(device, values_of(*workload, "small"), workload->code());
  EXPECT_TRUE(result.verified) << result.message;
}

}  // namespace weft::workloads
