// The rows of the test matrix on the whole GPU, under every scheme: they finish, and leave the interpreter's
// memory. tests/warp_formation/README.md lists what else is tested of each row.
#include <gtest/gtest.h>

#include "equivalence/campaign.h"
#include "equivalence/matrix_kernels.h"
#include "platform/gpu_bench.h"
#include "weft/warp_formation/scheme.h"

namespace weft::test::matrix_test {
namespace {

class Matrix : public ::testing::TestWithParam<Machine> {};

TEST_P(Matrix, EveryRowLeavesTheInterpretersMemory) {
  Campaign campaign(GetParam());
  for (const auto& [name, kernel] : matrix_kernels()) {
    EXPECT_EQ(campaign.difference(kernel, 1), "") << name << "\n" << kernel.text;
  }
}

// Every scheme in both dependence models on three machines.
std::vector<Machine> machines() {
  std::vector<Machine> list;
  for (const auto& scheme : warp_formation::scheme_names()) {
    for (const char* config : {"gtx480", "dwr-tesla", "harp-fermi"}) {
      for (const char* dependence : {"barrel", "scoreboard"})
        list.push_back({config, scheme, dependence, 32});
    }
    // A block's warps that hold several of PTX's, or part of one.
    list.push_back({"gtx480", scheme, "scoreboard", 8});
    list.push_back({"gtx480", scheme, "scoreboard", 128});
    // The scheme's own configuration at random.
    list.push_back({"gtx480", scheme, "barrel", 32, 1});
    list.push_back({"harp-fermi", scheme, "scoreboard", 32, 2});
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Schemes, Matrix, ::testing::ValuesIn(machines()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace weft::test::matrix_test
