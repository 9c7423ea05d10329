// The registry of schemes, and the checks of their configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "warp_formation/warp_formation.h"

namespace weft::warp_formation {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

TEST(Registry, KnowsSbr) {
  EXPECT_THAT(scheme_names(), Contains("sbr"));
}

TEST(Registry, RefusesADuplicateName) {
  const auto again = [] { register_scheme("sbr", [](const Config&, const Geometry&) { return nullptr; }); };
  EXPECT_THAT(again, Throws<std::logic_error>(Property(&std::logic_error::what, HasSubstr("sbr"))));
}

TEST(Registry, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  Config config;
  config.scheme = "sbrr";
  const auto expected = Throws<InputError>(Property(
      &InputError::what,
      AllOf(HasSubstr("/warp_formation/scheme"), HasSubstr("sbrr"), HasSubstr("known: "), HasSubstr("sbr"))));
  EXPECT_THAT([&] { create(config, Geometry()); }, expected);
  EXPECT_THAT([&] { config.check("gpu.json#/warp_formation"); }, Throws<InputError>());
}

TEST(Registry, WarpSizesArePowersOfTwoFrom4To256) {
  Config config;
  for (const std::uint64_t size : {4, 8, 16, 32, 64, 128, 256}) {
    config.warp_size = size;
    EXPECT_NO_THROW(config.check("w")) << size;
  }
  for (const std::uint64_t size : {1, 2, 3, 24, 48, 255}) {
    config.warp_size = size;
    EXPECT_THAT([&] { config.check("w"); },
                Throws<InputError>(Property(&InputError::what, HasSubstr(std::to_string(size)))));
  }
}

}  // namespace
}  // namespace weft::warp_formation
