#include "common/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config_checker.h"
#include "common/example_config.h"
#include "common/input_error.h"

namespace weft {
namespace {

using nlohmann::json;
using test::ExampleConfig;
using test::input_error;
using test::Replacement;
using ::testing::HasSubstr;

ExampleConfig loaded(const json& document) {
  ExampleConfig config;
  config::load(config, document, "x.json");
  return config;
}

std::string refusal(const json& document) {
  return input_error([&] { loaded(document); });
}

TEST(ConfigReader, AbsentKeysKeepTheirDefaults) {
  const ExampleConfig config = loaded({{"sm", {{"l1d", {{"sets", 8}}}}}});
  EXPECT_EQ(config.data.sets, 8U);
  EXPECT_EQ(config.data.ways, 4U);
  EXPECT_EQ(config.instruction.sets, 64U);
  EXPECT_EQ(config.name, "example");
}

TEST(ConfigReader, ReadsEveryKind) {
  const ExampleConfig config = loaded({{"name", "y"},
                                       {"core_mhz", 650},
                                       {"unbounded", -1e30},
                                       {"seed", UINT64_MAX},
                                       {"sm", {{"l1d", {{"enabled", false}, {"replacement", "fifo"}}}}}});
  EXPECT_EQ(config.name, "y");
  EXPECT_EQ(config.core_mhz, 650);
  EXPECT_EQ(config.unbounded, -1e30);
  EXPECT_EQ(config.seed, UINT64_MAX);
  EXPECT_FALSE(config.data.enabled);
  EXPECT_EQ(config.data.replacement, Replacement::kFifo);
}

TEST(ConfigReader, TakesWholeRealNumbersAsIntegers) {
  EXPECT_EQ(loaded({{"sm", {{"l1d", {{"sets", 1e3}}}}}}).data.sets, 1000U);
}

TEST(ConfigReader, AllowsASchemaKeyAtTheTopOnly) {
  EXPECT_NO_THROW(loaded({{"$schema", "weft.schema.json"}}));
  EXPECT_THROW(loaded({{"sm", {{"$schema", "x"}}}}), InputError);
}

TEST(ConfigReader, UnknownKeysGetTheNearestKnownOne) {
  EXPECT_EQ(refusal({{"sm", {{"l1d", {{"setz", 8}}}}}}),
            "x.json: /sm/l1d: unknown key \"setz\"; did you mean \"sets\"? "
            "allowed: enabled, sets, ways, replacement");
  EXPECT_EQ(refusal({{"sn", json::object()}}),
            "x.json: /: unknown key \"sn\"; did you mean \"sm\"? "
            "allowed: name, core_mhz, unbounded, seed, sm");
  EXPECT_EQ(refusal({{"sm", {{"associativity", 8}}}}),
            "x.json: /sm: unknown key \"associativity\"; allowed: l1d, l1i");
}

TEST(ConfigReader, IntegersOutOfRangeOrOfAnotherType) {
  const std::string allowed = "; allowed: an integer from 1 to 65536 (sets)";
  const auto sets = [](const json& value) { return refusal({{"sm", {{"l1d", {{"sets", value}}}}}}); };
  const std::string where = "x.json: /sm/l1d/sets: is ";
  EXPECT_EQ(sets(0), where + "0 (an integer)" + allowed);
  EXPECT_EQ(sets(65537), where + "65537 (an integer)" + allowed);
  EXPECT_EQ(sets(-1), where + "-1 (an integer)" + allowed);
  EXPECT_EQ(sets(2.5), where + "2.5 (a real number)" + allowed);
  EXPECT_EQ(sets("64"), where + "\"64\" (a string)" + allowed);
  EXPECT_EQ(sets(true), where + "true (a boolean)" + allowed);
  EXPECT_EQ(sets(nullptr), where + "null" + allowed);
  EXPECT_EQ(sets(json::array({1, 2})), where + "[1,2] (an array)" + allowed);
  EXPECT_EQ(sets(json::object()), where + "{} (an object)" + allowed);
  EXPECT_EQ(refusal({{"seed", 1e300}}),
            "x.json: /seed: is 1e+300 (a real number); allowed: an integer of at least 0");
}

TEST(ConfigReader, RealsOutOfRangeOrOfAnotherType) {
  EXPECT_EQ(refusal({{"core_mhz", 0.5}}),
            "x.json: /core_mhz: is 0.5 (a real number); allowed: a number from 1.0 to 10000.0 (MHz)");
  EXPECT_EQ(refusal({{"core_mhz", "fast"}}),
            "x.json: /core_mhz: is \"fast\" (a string); allowed: a number from 1.0 to 10000.0 (MHz)");
  EXPECT_EQ(refusal({{"unbounded", json::array()}}),
            "x.json: /unbounded: is [] (an array); allowed: a number");
}

TEST(ConfigReader, WordsTextsAndBooleans) {
  const auto l1d = [](const char* key, const json& value) {
    return refusal({{"sm", {{"l1d", {{key, value}}}}}});
  };
  EXPECT_EQ(
      l1d("replacement", "lro"),
      "x.json: /sm/l1d/replacement: is \"lro\" (a string); did you mean \"lru\"? allowed: lru, fifo, random");
  EXPECT_EQ(l1d("replacement", 1),
            "x.json: /sm/l1d/replacement: is 1 (an integer); allowed: one of the strings lru, fifo, random");
  EXPECT_EQ(l1d("enabled", 1), "x.json: /sm/l1d/enabled: is 1 (an integer); allowed: true, false");
  EXPECT_EQ(refusal({{"name", 1}}), "x.json: /name: is 1 (an integer); allowed: a string");
}

TEST(ConfigReader, ObjectsMustBeObjects) {
  EXPECT_EQ(refusal({{"sm", 3}}), "x.json: /sm: is 3 (an integer); allowed: an object");
  EXPECT_EQ(refusal(json::array()), "x.json: is [] (an array); allowed: an object");
}

TEST(ConfigReader, AnErrorLeavesTheStructAsItWas) {
  ExampleConfig config;
  EXPECT_THROW(config::load(config, {{"name", "new"}, {"sm", {{"l1d", {{"sets", 0}}}}}}, "x.json"),
               InputError);
  EXPECT_EQ(config.name, "example");
}

TEST(ConfigReader, BlamesTheOptionForWhatTheOptionSet) {
  const auto with = [](const std::string& option) {
    json document = {{"sm", {{"l1d", {{"ways", 0}, {"sets", 8}}}}}};
    if (option != "sm.l1d.ways=1") document["sm"]["l1d"]["ways"] = 4;
    const std::vector<config::Override> given{config::apply_override(document, option)};
    ExampleConfig config;
    return input_error([&] { config::load(config, document, "x.json", given); });
  };
  EXPECT_EQ(
      with("sm.l1d.sets=0"),
      "--set sm.l1d.sets=0: /sm/l1d/sets: is 0 (an integer); allowed: an integer from 1 to 65536 (sets)");
  EXPECT_EQ(with("sm.l1x.sets=8"),
            "--set sm.l1x.sets=8: /sm: unknown key \"l1x\"; did you mean \"l1d\"? allowed: l1d, l1i");
  EXPECT_EQ(with("sm.l1i={\"set\": 8}"),
            "--set sm.l1i={\"set\": 8}: /sm/l1i: unknown key \"set\"; did you mean \"sets\"? "
            "allowed: enabled, sets, ways, replacement");
}

TEST(ConfigReader, StillBlamesTheFileForTheRest) {
  json document = {{"sm", {{"l1d", {{"ways", 0}}}}}};
  const std::vector<config::Override> given{config::apply_override(document, "sm.l1d.sets=8")};
  ExampleConfig config;
  EXPECT_EQ(input_error([&] { config::load(config, document, "x.json", given); }),
            "x.json: /sm/l1d/ways: is 0 (an integer); allowed: an integer from 1 to 1024 (ways)");
}

// A rule that joins sm.count and warps; `origins` of a document and options that break it.
std::string broken_rule(const json& given, const std::vector<std::string>& options,
                        const std::vector<std::string>& others = {"/sm/count"}) {
  json document = given;
  std::vector<config::Override> overrides;
  overrides.reserve(options.size());
  for (const std::string& option : options) overrides.push_back(config::apply_override(document, option));
  const std::string file = "x.json";
  return input_error([&] {
    config::Origins(document, file, overrides).check([&] {
      throw config::RuleError("/warps", others, "too many");
    });
  });
}

TEST(ConfigRules, SayWhereEachOfTheirValuesComesFrom) {
  const json file = {{"warps", 4}, {"sm", {{"count", 2}}}};
  EXPECT_EQ(broken_rule(file, {}), "x.json: /warps: too many");
  EXPECT_EQ(broken_rule(json::object(), {}), "x.json: /warps: too many");
  EXPECT_EQ(
      broken_rule(file, {"warps=8", "sm.count=1"}),
      "--set warps=8, --set sm.count=1: /warps: too many (/warps is from --set warps=8, /sm/count is from "
      "--set sm.count=1)");
  EXPECT_EQ(broken_rule(file, {"sm.count=1"}),
            "--set sm.count=1: /warps: too many (/warps is from x.json, /sm/count is from --set sm.count=1)");
  EXPECT_EQ(broken_rule({{"sm", {{"count", 2}}}}, {"sm.count=1"}),
            "--set sm.count=1: /warps: too many (/warps is the default, /sm/count is from --set sm.count=1)");
  EXPECT_EQ(broken_rule(file, {"warps=8"}, {}), "--set warps=8: /warps: too many") << "of one value";
}

TEST(ConfigChecker, FindsInAStructWhatTheReaderFindsInJson) {
  const auto refused = [](auto change) {
    ExampleConfig config;
    change(config);
    return input_error([&] { config::check_ranges(config, "gpu"); });
  };
  EXPECT_NO_THROW(config::check_ranges(ExampleConfig(), "gpu"));
  EXPECT_EQ(refused([](ExampleConfig& c) { c.data.sets = 0; }),
            "gpu: /sm/l1d/sets: is 0; allowed: an integer from 1 to 65536 (sets)");
  EXPECT_EQ(refused([](ExampleConfig& c) { c.data.sets = UINT64_MAX; }),
            "gpu: /sm/l1d/sets: is 18446744073709551615; allowed: an integer from 1 to 65536 (sets)");
  EXPECT_THAT(refused([](ExampleConfig& c) { c.data.replacement = static_cast<Replacement>(9); }),
              HasSubstr("allowed: lru, fifo, random"));
}

TEST(ConfigReader, UnbalancedDescribeIsAProgrammersError) {
  const json document = json::object();
  const std::string file = "x.json";
  const std::vector<config::Override> none;
  config::Reader reader(document, file, none);
  EXPECT_THROW(reader.end(), std::logic_error);
  reader.begin("sm", "");
  EXPECT_THROW(reader.finish(), std::logic_error);
}

}  // namespace
}  // namespace weft
