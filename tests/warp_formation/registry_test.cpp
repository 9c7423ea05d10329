// The registry of schemes, and the checks of their configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/config_origins.h"
#include "common/config_reader.h"
#include "common/config_schema.h"
#include "common/config_writer.h"
#include "warp_formation/dwf_options.h"
#include "warp_formation/sbr_options.h"
#include "warp_formation/tbc_options.h"
#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation::registry_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

TEST(Registry, KnowsSbr) {
  EXPECT_THAT(scheme_names(), Contains("sbr"));
}

TEST(Registry, RefusesADuplicateName) {
  const auto again = [] {
    Scheme scheme = *find_scheme("dwf");
    scheme.name = "sbr";
    register_scheme(std::move(scheme));
  };
  EXPECT_THAT(again, Throws<InputError>(Property(&InputError::what, HasSubstr("sbr"))));
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

TEST(Registry, RefusesNamesThatAreNoKeysAndTooManyStates) {
  const auto named = [](const char* name, std::size_t states) {
    Scheme scheme = *find_scheme("sbr");
    scheme.name = name;
    scheme.states.resize(states);
    register_scheme(std::move(scheme));
  };
  for (const char* name : {"", "Mine", "my scheme", "a/b", "warp_size", "likely_convergence"})
    EXPECT_THAT([&] { named(name, 0); }, Throws<InputError>(Property(&InputError::what, HasSubstr(name))));
  EXPECT_THAT([&] { named("many", kOwnStates + 1); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("5 waiting states"))));
}

// The effective configuration and the schema list schemes as the build lists them.
TEST(Options, KeysComeInTheOrderOfRegistration) {
  std::vector<std::string> keys;
  const nlohmann::ordered_json written = config::write(Config());
  for (const auto& [key, value] : written.items()) keys.push_back(key);
  const std::vector<std::string> expected = {"scheme",
                                             "warp_size",
                                             "scheduling",
                                             "two_level",
                                             "reconvergence",
                                             "likely_convergence",
                                             "sbr",
                                             "dwf",
                                             "tbc",
                                             "capri",
                                             "dwr",
                                             "lwm",
                                             "harp",
                                             "crown",
                                             "stackless",
                                             "thread_frontiers",
                                             "convergence_barriers",
                                             "multi_path",
                                             "dual_path",
                                             "dws",
                                             "sbi",
                                             "swi",
                                             "variable_warps"};
  ASSERT_GE(keys.size(), expected.size());
  // The scheme of the tutorial, which is linked to this program, is wherever the linker put it.
  const auto of_tests = [](const std::string& key) { return key == "min_pc" || key == "late"; };
  keys.erase(std::remove_if(keys.begin(), keys.end(), of_tests), keys.end());
  EXPECT_THAT(keys, ElementsAreArray(expected));
}

TEST(Options, CopiesAreTheirOwn) {
  Config config;
  config.own<DwfOptions>().lut_entries = 64;
  Config copy = config;
  copy.own<DwfOptions>().lut_entries = 16;
  EXPECT_EQ(config.own<DwfOptions>().lut_entries, 64u);
  EXPECT_EQ(copy.own<DwfOptions>().lut_entries, 16u);
  config = copy;
  EXPECT_EQ(config.own<DwfOptions>().lut_entries, 16u);
}

TEST(Options, ASharedKeyIsReadByAllThatHaveItAndWrittenForTheOneThatRuns) {
  const auto document = nlohmann::json::parse(R"({"scheme": "tbc", "likely_convergence": "static"})");
  Config config;
  config::load(config, document, "f.json");
  EXPECT_TRUE(config.own<SbrOptions>().likely_points());
  EXPECT_TRUE(config.own<TbcOptions>().likely_points());
  config.own<SbrOptions>().likely_convergence = LikelyConvergence::kOff;
  EXPECT_EQ(config::write(config).at("likely_convergence"), "static");
  config.scheme = "sbr";
  EXPECT_EQ(config::write(config).at("likely_convergence"), "off");
}

TEST(Options, ASharedKeyIsRefusedWhereTheSchemeHasNone) {
  Config config;
  config.scheme = "dwf";
  config.own<SbrOptions>().likely_convergence = LikelyConvergence::kStatic;
  EXPECT_THAT([&] { config.check("w"); },
              Throws<config::RuleError>(Property(
                  &config::RuleError::what,
                  testing::StrEq("w/likely_convergence: scheme dwf has no likely-convergence points; "
                                 "allowed with sbr, tbc, harp, crown"))));
  config.scheme = "tbc";
  EXPECT_NO_THROW(config.check("w"));
}

// Whatever values a scheme draws for tests must be ones that a user may write.
TEST(Options, RandomValuesAreAllowedOnes) {
  Random random(1);
  const Config defaults;
  for (int i = 0; i < 200; ++i) {
    for (const auto& entry : defaults.options.entries()) {
      Config config;
      config.scheme = entry.scheme;
      config.options.find(entry.scheme)->randomise(random);
      const nlohmann::json document = config::write(config);
      Config read;
      ASSERT_NO_THROW(config::load(read, document, "f.json")) << document.dump(2);
      ASSERT_NO_THROW(read.check("w")) << document.dump(2);
      EXPECT_EQ(nlohmann::json(config::write(read)), document);
    }
  }
}

TEST(Options, AConfigurationOlderThanItsSchemeGetsTheDefaults) {
  Config config;
  Scheme late = *find_scheme("dwf");
  late.name = "late";
  register_scheme(std::move(late));
  config.scheme = "late";
  EXPECT_NE(create(config, Geometry()), nullptr);
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
}  // namespace weft::warp_formation::registry_test
