#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/config_reader.h"
#include "common/config_writer.h"
#include "common/example_config.h"

namespace weft {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using test::ExampleCache;
using test::ExampleConfig;
using test::Replacement;

TEST(ConfigWriter, WritesKeysInTheOrderOfDescribe) {
  EXPECT_EQ(config::write(ExampleConfig{}).dump(),
            R"({"name":"example","core_mhz":1300.0,"unbounded":0.0,"seed":1,)"
            R"("sm":{"l1d":{"enabled":true,"sets":64,"ways":4,"replacement":"lru"},)"
            R"("l1i":{"enabled":true,"sets":64,"ways":4,"replacement":"lru"}}})");
}

TEST(ConfigWriter, UnbalancedDescribeIsAProgrammersError) {
  config::Writer writer;
  EXPECT_THROW(writer.end(), std::logic_error);
  writer.begin("sm", "");
  EXPECT_THROW(writer.document(), std::logic_error);
}

ExampleCache any_cache() {
  ExampleCache cache;
  cache.sets = *rc::gen::inRange<std::uint64_t>(1, 65537);
  cache.ways = *rc::gen::inRange<std::uint64_t>(1, 1025);
  cache.enabled = *rc::gen::arbitrary<bool>();
  cache.replacement = *rc::gen::element(Replacement::kLru, Replacement::kFifo, Replacement::kRandom);
  return cache;
}

// Effective configurations reproduce a run only if nothing is lost on the way through text.
RC_GTEST_PROP(ConfigRoundTrip, WrittenTextReadsBackEqual, ()) {
  ExampleConfig config;
  config.name = *rc::gen::string<std::string>();
  for (char& c : config.name) c = static_cast<char>(c & 0x7f);
  config.core_mhz = 1 + *rc::gen::inRange<std::uint32_t>(0, 4000000000U) * (9999.0 / 4e9);
  config.unbounded = *rc::gen::arbitrary<double>();
  config.seed = *rc::gen::arbitrary<std::uint64_t>();
  config.data = any_cache();
  config.instruction = any_cache();
  const std::string text = config::write(config).dump(2);
  ExampleConfig again;
  config::load(again, config::read(text, "x.json"), "x.json");
  RC_ASSERT(config::write(again).dump(2) == text);
  RC_ASSERT(again.core_mhz == config.core_mhz);
  RC_ASSERT(again.unbounded == config.unbounded);
  RC_ASSERT(again.seed == config.seed);
  RC_ASSERT(again.name == config.name);
  RC_ASSERT(again.data.replacement == config.data.replacement);
  RC_ASSERT(again.instruction.ways == config.instruction.ways);
}

}  // namespace
}  // namespace weft
