// `base`: a configuration file on top of another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "folder.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"

namespace weft::test::config_base_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ConfigBase : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static std::string message(const std::string& file, const std::vector<std::string>& settings = {}) {
    try {
      load_config(file, settings);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  Folder folder_;
};

TEST_F(ConfigBase, GivesWhatTheFileLeavesOut) {
  const std::string mine =
      write("mine.json",
            R"({"base": "gtx480", "name": "mine", "sm": {"count": 4, "l1d": {"ways": 2}, "l1c": {}}})");
  nlohmann::ordered_json expected = effective_config(load_config("gtx480", {"sm.count=4", "sm.l1d.ways=2"}));
  expected["name"] = "mine";
  const nlohmann::ordered_json effective = effective_config(load_config(mine));
  EXPECT_EQ(effective, expected);
  EXPECT_FALSE(effective.contains("base"));
  EXPECT_EQ(load_config(mine, {"sm.count=5"}).sm.count, 5u);
}

// A base has a base, by a path from its own folder; the last word on a value holds, and a name is not
// inherited.
TEST_F(ConfigBase, IsAChain) {
  write("first.json", R"({"base": "harp-fermi", "name": "first", "sm": {"count": 2}, "dram": {"t_cl": 11}})");
  write("below/second.json", R"({"base": "../first.json", "sm": {"l1d": {"sets": 16}}})");
  const std::string third = write("third.json", R"({"base": "below/second.json", "sm": {"count": 3}})");
  const GpuConfig config = load_config(third);
  EXPECT_EQ(config.name, "unnamed");
  EXPECT_EQ(config.sm.count, 3u);
  EXPECT_EQ(config.sm.l1d.tags.sets, 16u);
  EXPECT_EQ(config.dram.channel.scheduler.timing.cl, 11u);
}

// A standard replaces the timings of the base, not those of its own file.
TEST_F(ConfigBase, GivesWayToAStandard) {
  const std::string other = write("other.json", R"({"base": "harp-fermi", "dram": {"standard": "gddr5"}})");
  const std::string own =
      write("own.json", R"({"base": "harp-fermi", "dram": {"standard": "gddr5", "t_cl": 9}})");
  EXPECT_EQ(load_config("harp-fermi").dram.channel.scheduler.timing.cl, 10u);
  EXPECT_EQ(load_config(other).dram.channel.scheduler.timing.cl, 12u);
  EXPECT_EQ(load_config(own).dram.channel.scheduler.timing.cl, 9u);
  EXPECT_THAT(message(write("none.json", R"({"base": "gtx480", "dram": {"standard": "ddr9"}})")),
              HasSubstr("none.json: /dram/standard: unknown configuration \"ddr9\""));
}

TEST_F(ConfigBase, IsBlamedForItsOwnValuesOnly) {
  const std::string base = write("base.json", R"({"base": "gtx480", "sm": {"max_threads": 16}})");
  const std::string mine =
      write("mine.json", R"({"base": "base.json", "warp_formation": {"warp_size": 32}})");
  EXPECT_THAT(message(mine), AllOf(HasSubstr("/sm/max_threads is from " + base),
                                   HasSubstr("/warp_formation/warp_size is from " + mine)));
  EXPECT_THAT(message(write("key.json", R"({"base": "gtx480", "sm": {"l1d": {"setz": 1}}})")),
              HasSubstr("key.json: /sm/l1d: unknown key \"setz\"; did you mean \"sets\"?"));
  EXPECT_THAT(message(write("value.json", R"({"base": "gtx480", "sm": {"count": 0}})")),
              HasSubstr("value.json: /sm/count: is 0"));
  EXPECT_THAT(message(write("group.json", R"({"base": "gtx480", "sm": 3})")),
              HasSubstr("group.json: /sm: is 3"));
}

TEST_F(ConfigBase, IsRefusedWithTheReason) {
  EXPECT_THAT(message(write("name.json", R"({"base": "gtx481"})")),
              AllOf(HasSubstr("name.json: /base: unknown configuration \"gtx481\""), HasSubstr("gtx480")));
  EXPECT_THAT(message(write("number.json", R"({"base": 3})")),
              HasSubstr("number.json: /base: is 3 (an integer)"));
  EXPECT_THAT(message(write("missing.json", R"({"base": "gone.json"})")), HasSubstr("gone.json"));
  write("one.json", R"({"base": "two.json"})");
  EXPECT_THAT(message(write("two.json", R"({"base": "./one.json"})")),
              AllOf(HasSubstr("one.json: /base: leads back to "), HasSubstr("two.json")));
  write("list.json", "[1]");
  EXPECT_THAT(message(write("on_list.json", R"({"base": "list.json"})")),
              HasSubstr("list.json: is [1] (an array)"));
  EXPECT_THAT(message("gtx480", {"base=gv100"}), StartsWith("--set base=gv100: sets base"));
}

}  // namespace
}  // namespace weft::test::config_base_test
