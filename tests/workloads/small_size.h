#pragma once

#include <string>
#include <vector>

namespace weft::workloads {

// All workloads.
std::vector<std::string> names();

// Runs a workload at a size, the small one if not said, under a scheme and expects the right result.
void expect_result(const std::string& name, const std::string& scheme, const std::string& size = "small");

// A lane that runs warps in time, of all the width and without compaction, is a SIMD group: all statistics of
// the workload are the same, cycle by cycle.
void expect_one_lane_to_be_spatial(const std::string& workload);

}  // namespace weft::workloads
