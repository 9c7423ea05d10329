#pragma once

#include <string>
#include <vector>

namespace weft::workloads {

// All workloads.
std::vector<std::string> names();

// Runs a workload at its small size under a scheme and expects the right result.
void expect_result(const std::string& workload, const std::string& scheme);

}  // namespace weft::workloads
