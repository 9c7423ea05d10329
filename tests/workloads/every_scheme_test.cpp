#include <gtest/gtest.h>

#include "weft/warp_formation/scheme.h"
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

class EveryWorkload : public ::testing::TestWithParam<std::string> {};
TEST_P(EveryWorkload, OnOneLaneOfAllTheWidthIsAsOnSpatial) {
  expect_one_lane_to_be_spatial(GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, EveryWorkload, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

class Variants : public ::testing::TestWithParam<std::string> {};
TEST_P(Variants, MatchReadsInGlobalMemoryUnderEveryScheme) {
  expect_result("mummer_gpu", GetParam(), "small,textures=0");
}
TEST_P(Variants, MatchReadsWithTheReferenceInATextureUnderEveryScheme) {
  expect_result("mummer_gpu", GetParam(), "small,textures=1");
}
TEST_P(Variants, SearchSuffixesInGlobalMemoryUnderEveryScheme) {
  expect_result("mummer_gpu_plus", GetParam(), "small,textures=0");
}
INSTANTIATE_TEST_SUITE_P(All, Variants, ::testing::ValuesIn(warp_formation::scheme_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::workloads
