// Results as JSON.
#include "microbenchmarks/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "weft/common/error.h"

namespace weft::microbenchmarks::results_test {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Results, AreTheSameAfterAFile) {
  Results results{"a \"GPU\"", "Weft", 15, 700.5, {}, {{"latency instruction=tanh", "no such instruction"}}};
  results.measurements.push_back({"chase", "cycles", {{"cache", "ca"}, {"bytes", "1024"}}, 36.06256});
  results.measurements.push_back({"launch", "us", {}, 0.25});
  const ordered_json json = ordered_json::parse(json_text(results));
  EXPECT_EQ(json.at("measurements")[0].at("parameters").at("bytes"), 1024) << "a number";
  EXPECT_EQ(json.at("refused")[0].at("reason"), "no such instruction");
  const Results again = from_json(json, "here");
  EXPECT_EQ(again.machine, results.machine);
  EXPECT_EQ(again.software, "Weft");
  EXPECT_EQ(again.sms, 15u);
  EXPECT_EQ(again.core_mhz, 700.5);
  ASSERT_EQ(again.measurements.size(), 2u);
  EXPECT_EQ(again.measurements[0].id(), "chase cache=ca bytes=1024");
  EXPECT_EQ(again.measurements[0].value, 36.0626) << "four decimals";
  EXPECT_EQ(again.measurements[1].id(), "launch");
}

TEST(Results, OfAnotherFormAreRefused) {
  EXPECT_THAT([] { from_json(ordered_json::object(), "file.json"); },
              ThrowsMessage<InputError>(HasSubstr("file.json: these are no results of weft measure")));
}

// Names of a recording must be those that Weft measures, else --against would show nothing.
TEST(Results, OfTheH100BelongToMeasurements) {
  std::ifstream file(WEFT_MEASURED "/h100.json");
  const Results h100 = from_json(ordered_json::parse(file), "h100.json");
  Facts facts;
  facts.shared_per_block = 227u << 10;
  facts.l2_bytes = 50u << 20;
  std::map<std::string, std::string> units;
  for (const Measurement& each : all_measurements(facts, sizes_for(facts))) units[each.id()] = each.unit;
  std::size_t known = 0;
  for (const Result& each : h100.measurements) {
    const auto found = units.find(each.id());
    if (found == units.end()) continue;
    EXPECT_EQ(found->second, each.unit) << each.id();
    ++known;
  }
  // The old recording went up to 256 MB with small strides too.
  EXPECT_GT(known, h100.measurements.size() * 9 / 10);
}

}  // namespace
}  // namespace weft::microbenchmarks::results_test
