// The configurations of the memory modules can be written, read back and described.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/config_document.h"
#include "common/config_reader.h"
#include "common/config_schema.h"
#include "common/config_writer.h"
#include "crossbar/crossbar.h"
#include "dram/dram_channel.h"
#include "l2/l2_bank.h"
#include "weft/common/error.h"

namespace weft {
namespace {

template <class Config>
class MemoryConfig : public ::testing::Test {};

using Configs = ::testing::Types<l2::Config, crossbar::Config, dram::ChannelConfig, memory::ChannelMapConfig,
                                 cache::TagConfig>;
// Which type, in the name of a test.
struct Index {
  template <class>
  static std::string GetName(int index) {  // NOLINT(readability-identifier-naming): what GoogleTest calls
    return std::to_string(index);
  }
};
TYPED_TEST_SUITE(MemoryConfig, Configs, Index);

// Every integer, changed by one where its range allows, survives; the defaults are possible.
TYPED_TEST(MemoryConfig, SurvivesWritingAndReading) {
  TypeParam config;
  EXPECT_NO_THROW(config.check(""));
  nlohmann::json document = config::write(config);
  for (auto& value : document) {
    if (value.is_number_integer()) value = value.template get<std::uint64_t>() + 1;
  }
  TypeParam read;
  config::load(read, document, "test.json");
  EXPECT_EQ(nlohmann::json(config::write(read)).dump(1), document.dump(1));
  EXPECT_NE(nlohmann::json(config::write(config)).dump(1), document.dump(1));
}

TYPED_TEST(MemoryConfig, RefusesAQueueOfNoPlacesAndUnknownKeys) {
  TypeParam config;
  nlohmann::json document = config::write(config);
  document["no_such_key"] = 1;
  EXPECT_THROW(config::load(config, document, "test.json"), InputError);
  document = config::write(config);
  for (const auto& [key, value] : document.items()) {
    if (key.find("queue") == std::string::npos) continue;
    nlohmann::json zero = document;
    zero[key] = 0;
    EXPECT_THROW(config::load(config, zero, "test.json"), InputError) << key;
  }
}

TYPED_TEST(MemoryConfig, HasASchema) {
  TypeParam config;
  const auto schema = config::schema(config, "part");
  const nlohmann::json document = config::write(config);
  for (const auto& [key, value] : document.items()) EXPECT_TRUE(schema["properties"].contains(key)) << key;
}

}  // namespace
}  // namespace weft
