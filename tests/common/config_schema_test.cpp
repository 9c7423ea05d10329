// The generated schema against an independent validator: it must judge as the reader does.
#include "common/config_schema.h"

#include <gtest/gtest.h>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "common/config_reader.h"
#include "common/config_writer.h"
#include "common/example_config.h"
#include "weft/common/error.h"

namespace weft {
namespace {

using nlohmann::json;
using test::ExampleConfig;

class ConfigSchema : public ::testing::Test {
 protected:
  ConfigSchema() {
    document_ = json::parse(config::schema(ExampleConfig{}, "example").dump());
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(document_), schema_);
  }

  bool schema_accepts(const json& value) {
    // Strong types: "64" is not an integer.
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(value), nullptr);
  }

  static bool reader_accepts(const json& value) {
    try {
      ExampleConfig config;
      config::load(config, value, "x.json");
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  json document_;
  valijson::Schema schema_;
};

TEST_F(ConfigSchema, SaysWhatEachKeyIs) {
  EXPECT_EQ(document_["$schema"], "http://json-schema.org/draft-07/schema#");
  EXPECT_EQ(document_["title"], "example");
  EXPECT_EQ(document_["properties"]["core_mhz"], (json{{"type", "number"},
                                                       {"description", "core clock [MHz]"},
                                                       {"minimum", 1.0},
                                                       {"maximum", 10000.0},
                                                       {"default", 1300.0}}));
  const json& l1d = document_["properties"]["sm"]["properties"]["l1d"];
  EXPECT_EQ(l1d["additionalProperties"], false);
  EXPECT_EQ(l1d["properties"]["replacement"]["enum"], json::array({"lru", "fifo", "random"}));
  // A range without an end has no maximum: UINT64_MAX is not a number that every validator can hold.
  EXPECT_FALSE(document_["properties"]["seed"].contains("maximum"));
  EXPECT_FALSE(document_["properties"]["unbounded"].contains("minimum"));
}

TEST_F(ConfigSchema, KeepsBothDescriptionsOfOneObject) {
  const json& sm = document_["properties"]["sm"]["properties"];
  EXPECT_TRUE(sm.contains("l1d"));
  EXPECT_TRUE(sm.contains("l1i"));
}

TEST_F(ConfigSchema, AcceptsWhatTheWriterWrites) {
  EXPECT_TRUE(schema_accepts(json::parse(config::write(ExampleConfig{}).dump())));
}

TEST_F(ConfigSchema, JudgesAsTheReaderDoes) {
  const std::vector<std::pair<json, bool>> cases = {
      {json::object(), true},
      {json::array(), false},
      {{{"$schema", "x"}}, true},
      {{{"name", "x"}}, true},
      {{{"name", 1}}, false},
      {{{"nam", "x"}}, false},
      {{{"core_mhz", 1}}, true},
      {{{"core_mhz", 10000}}, true},
      {{{"core_mhz", 0.99}}, false},
      {{{"core_mhz", 10001}}, false},
      {{{"core_mhz", "1"}}, false},
      {{{"unbounded", -1e30}}, true},
      {{{"seed", -1}}, false},
      {{{"sm", 1}}, false},
      {{{"sm", {{"l1d", {{"sets", 1}}}}}}, true},
      {{{"sm", {{"l1d", {{"sets", 0}}}}}}, false},
      {{{"sm", {{"l1d", {{"sets", 65536}}}}}}, true},
      {{{"sm", {{"l1d", {{"sets", 65537}}}}}}, false},
      {{{"sm", {{"l1d", {{"sets", 2.5}}}}}}, false},
      {{{"sm", {{"l1d", {{"sets", "64"}}}}}}, false},
      {{{"sm", {{"l1d", {{"setz", 64}}}}}}, false},
      {{{"sm", {{"l1d", {{"enabled", false}}}}}}, true},
      {{{"sm", {{"l1d", {{"enabled", 0}}}}}}, false},
      {{{"sm", {{"l1d", {{"replacement", "fifo"}}}}}}, true},
      {{{"sm", {{"l1d", {{"replacement", "plru"}}}}}}, false},
      {{{"sm", {{"l1i", {{"ways", 1025}}}}}}, false},
  };
  for (const auto& [value, good] : cases) {
    EXPECT_EQ(reader_accepts(value), good) << value;
    EXPECT_EQ(schema_accepts(value), good) << value;
  }
}

TEST(ConfigSchemaBuilder, UnbalancedDescribeIsAProgrammersError) {
  config::SchemaBuilder builder("x");
  EXPECT_THROW(builder.end(), std::logic_error);
  builder.begin("sm", "");
  EXPECT_THROW(builder.document(), std::logic_error);
}

}  // namespace
}  // namespace weft
