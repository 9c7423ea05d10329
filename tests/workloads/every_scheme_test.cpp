#include <gtest/gtest.h>

#include "warp_formation/warp_formation.h"
#include "workloads/small_size.h"

namespace weft::workloads {
namespace {

class EveryScheme : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};
TEST_P(EveryScheme, GivesTheResult) {
  const auto& [name, scheme] = GetParam();
  expect_result(name, scheme);
}
INSTANTIATE_TEST_SUITE_P(All, EveryScheme,
                         ::testing::Combine(::testing::ValuesIn(names()),
                                            ::testing::ValuesIn(warp_formation::scheme_names())),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace weft::workloads
