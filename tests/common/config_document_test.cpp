#include "common/config_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "common/input_error.h"
#include "folder.h"

namespace weft {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;
using test::input_error;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ConfigDocument, ReadsJson) {
  EXPECT_EQ(config::read(R"({"sm": {"count": 16}})", "x.json"), (json{{"sm", {{"count", 16}}}}));
}

TEST(ConfigDocument, SyntaxErrorHasLineAndColumn) {
  EXPECT_THAT(input_error([] { config::read("{\n  \"a\": 1,\n  }", "x.json"); }),
              AllOf(StartsWith("x.json:3:3: "), HasSubstr("expected string literal")));
  EXPECT_THAT(input_error([] { config::read("?", "x.json"); }), StartsWith("x.json:1:1: "));
  EXPECT_THAT(input_error([] { config::read("\n?", "x.json"); }), StartsWith("x.json:2:1: "));
  EXPECT_THAT(input_error([] { config::read("", "x.json"); }), StartsWith("x.json:1:1: "));
  EXPECT_THAT(input_error([] { config::read("{\"a\": [1, 2}", "x.json"); }), StartsWith("x.json:1:12: "));
}

TEST(ConfigDocument, SyntaxErrorSpeaksOfTheFileAndNotOfTheParser) {
  const std::string message = input_error([] { config::read("{\"a\" 1}", "x.json"); });
  EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
  EXPECT_EQ(message.find("at line"), std::string::npos) << message;
}

TEST(ConfigDocument, RefusesComments) {
  EXPECT_THROW(config::read("{} // no", "x.json"), InputError);
}

TEST(ConfigDocument, RefusesNumbersTooLargeForADouble) {
  EXPECT_THAT(input_error([] { config::read(R"({"a": 1e999})", "x.json"); }), HasSubstr("1e999"));
}

TEST(ConfigDocument, RefusesRepeatedKeysInOneObjectOnly) {
  EXPECT_THAT(input_error([] { config::read(R"({"a": 1, "b": 2, "a": 3})", "x.json"); }),
              HasSubstr("\"a\" occurs twice"));
  EXPECT_NO_THROW(config::read(R"({"a": {"a": 1}, "b": {"a": 2}})", "x.json"));
}

TEST(ConfigDocument, RefusesDeepNesting) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_NO_THROW(config::read(nested(config::kMaximumNesting), "x.json"));
  EXPECT_THAT(input_error([&] { config::read(nested(100000), "x.json"); }),
              HasSubstr("nested deeper than 64"));
}

TEST(ConfigDocument, RefusesHugeText) {
  EXPECT_THAT(input_error([] { config::read(std::string(config::kMaximumBytes + 1, ' '), "x.json"); }),
              HasSubstr("allowed: at most 16777216"));
}

TEST(ConfigDocument, MissingFileAndDirectoryAreInputErrors) {
  EXPECT_THAT(input_error([] { config::read_file("/nowhere/at all.json"); }),
              AllOf(StartsWith("/nowhere/at all.json: "), HasSubstr("No such file")));
  EXPECT_THAT(input_error([] { config::read_file("/"); }), StartsWith("/: cannot be"));
}

TEST(ConfigDocument, ReadsAFile) {
  const test::Folder folder;
  EXPECT_EQ(config::read_file(folder.write("a config.json", R"({"a": "é"})")), (json{{"a", "é"}}));
}

// Whatever the bytes: a document or an InputError, nothing else.
RC_GTEST_PROP(ConfigDocument, AnyTextIsReadOrRefused, ()) {
  std::string text = R"({"name": "x", "sm": {"count": 16, "l1d": {"sets": [1, 2.5e3, true, null]}}})";
  const auto changes = *rc::gen::container<std::vector<std::pair<std::size_t, unsigned char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, text.size()), rc::gen::arbitrary<unsigned char>()));
  for (const auto& [place, byte] : changes) text[place] = static_cast<char>(byte);
  try {
    const json document = config::read(text, "x.json");
    RC_ASSERT(!document.is_discarded());
  } catch (const InputError& error) {
    RC_ASSERT(std::string(error.what()).rfind("x.json", 0) == 0);
  }
}

TEST(ConfigOverride, SetsJsonValues) {
  json document = {{"sm", {{"count", 16}}}};
  EXPECT_EQ(config::apply_override(document, "sm.count=30").pointers, (Words{"/sm/count"}));
  EXPECT_EQ(config::apply_override(document, "sm.l1d.enabled=false").pointers, (Words{"/sm/l1d"}));
  config::apply_override(document, R"(l2={"sets": 8})");
  config::apply_override(document, "clocks.core_mhz=1.3e3");
  EXPECT_EQ(document, (json{{"sm", {{"count", 30}, {"l1d", {{"enabled", false}}}}},
                            {"l2", {{"sets", 8}}},
                            {"clocks", {{"core_mhz", 1300.0}}}}));
}

TEST(ConfigOverride, OfAnObjectSetsItsKeysAndLeavesTheOthers) {
  json document = {{"sm", {{"count", 16}, {"l1d", {{"sets", 4}, {"ways", 2}}}}}};
  const auto given = config::apply_override(document, R"(sm={"l1d": {"sets": 8}, "l1i": {"sets": 2}})");
  EXPECT_EQ(document,
            (json{{"sm", {{"count", 16}, {"l1d", {{"sets", 8}, {"ways", 2}}}, {"l1i", {{"sets", 2}}}}}}));
  EXPECT_EQ(given.pointers, (Words{"/sm/l1d/sets", "/sm/l1i"}));
}

TEST(ConfigOverride, RefusesAnObjectThatSetsNothing) {
  json document = {{"sm", {{"count", 16}}}};
  for (const char* text : {"sm={}", R"(sm={"l1d": {}})", "x={}"}) {
    EXPECT_EQ(
        input_error([&] { config::apply_override(document, text); }),
        std::string("--set ") + text + ": sets no key; allowed: a value, or an object with the keys to set");
  }
  EXPECT_EQ(document["sm"]["count"], 16);
  EXPECT_THAT(input_error([&] { config::apply_override(document, "sm={}", "--gpu-set"); }),
              StartsWith("--gpu-set sm={}: "));
}

TEST(ConfigOverride, TakesAnythingElseAsAString) {
  json document = json::object();
  config::apply_override(document, "a=greedy_then_oldest");
  config::apply_override(document, "b=");
  config::apply_override(document, "c=x=y");
  config::apply_override(document, "d=\"64\"");
  EXPECT_EQ(document, (json{{"a", "greedy_then_oldest"}, {"b", ""}, {"c", "x=y"}, {"d", "64"}}));
}

TEST(ConfigOverride, RefusesPathsThatCannotBe) {
  json document = {{"sm", {{"count", 16}}}};
  EXPECT_THAT(input_error([&] { config::apply_override(document, "sm.count"); }), HasSubstr("path=value"));
  EXPECT_THAT(input_error([&] { config::apply_override(document, "=3"); }), HasSubstr("path=value"));
  EXPECT_THAT(input_error([&] { config::apply_override(document, "sm..count=3"); }),
              HasSubstr("empty level"));
  EXPECT_THAT(input_error([&] { config::apply_override(document, "sm.=3"); }), HasSubstr("empty level"));
  EXPECT_THAT(
      input_error([&] { config::apply_override(document, "sm.count.x=3"); }),
      AllOf(StartsWith("--set sm.count.x=3: "), HasSubstr("/sm/count is 16 (an integer), not an object")));
  std::string deep = "a";
  for (int level = 0; level < 100000; ++level) deep += ".a";
  EXPECT_THAT(input_error([&] { config::apply_override(document, deep + "=1"); }),
              HasSubstr("deeper than 64"));
  EXPECT_EQ(document, (json{{"sm", {{"count", 16}}}}));
}

TEST(ConfigFound, ShortensWithoutCuttingACharacter) {
  const std::string text = config::found(json(std::string(58, 'x') + "éé"));
  EXPECT_THAT(text, AllOf(HasSubstr("x... (a string)"), ::testing::Not(HasSubstr("\xc3..."))));
}

TEST(ConfigPointer, EscapesAsTheStandardSays) {
  EXPECT_EQ(config::join_pointer("/a", "b/c~d"), "/a/b~1c~0d");
}

}  // namespace
}  // namespace weft
