// The files of figures: what is in them, how they scale, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/input_error.h"
#include "energy/event_energy_technology.h"
#include "folder.h"

namespace weft::test::technology_test {
namespace {

using energy::Technology;
using nlohmann::ordered_json;
using testing::HasSubstr;

const std::string kFile = std::string(WEFT_CONFIG_FOLDER) + "/technology/40nm.json";

ordered_json document() {
  std::ifstream in(kFile);
  return ordered_json::parse(in);
}

// Reads the file after `change`.
Technology changed(const std::function<void(ordered_json&)>& change, double node = 0) {
  ordered_json json = document();
  change(json);
  const Folder folder;
  return Technology::read(folder.write("technology.json", json.dump()), node);
}

TEST(Technology, HasASourceForEachFigure) {
  const Technology technology = Technology::read(kFile, 0);
  EXPECT_EQ(technology.node_nm(), 40);
  EXPECT_GT(technology.figures().size(), 30u);
  for (const auto& [name, figure] : technology.figures()) {
    EXPECT_GT(figure.source.size(), 4u) << name;
    EXPECT_LE(figure.low, 1) << name;
    EXPECT_GE(figure.high, 1) << name;
  }
}

// The other file of the node is another answer to one question.
TEST(Technology, OfIdleLanesDiffersInThemAlone) {
  const Technology plain = Technology::read(kFile, 0);
  const Technology idle =
      Technology::read(std::string(WEFT_CONFIG_FOLDER) + "/technology/40nm-idle-lanes.json", 0);
  for (const auto& [name, figure] : plain.figures()) {
    const auto& other = idle.at(name);
    EXPECT_EQ(figure.value == other.value && figure.low == other.low && figure.high == other.high,
              name != "operation.idle_lane")
        << name;
  }
  EXPECT_NEAR(idle.at("operation.idle_lane").value, 0.75 * plain.at("operation.integer").value, 0.1);
}

// Between 45 and 32 nm: 1.0 and 0.9 V. Charge goes with the length and the square of the voltage.
TEST(Technology, ScalesWithLengthAndVoltage) {
  const auto at_45 = [](ordered_json& json) { json["node_nm"] = 45; };
  const Technology from = changed(at_45), to = changed(at_45, 32);
  EXPECT_EQ(from.at("operation.float_fma").value, document()["figures"]["operation.float_fma"]["value"]);
  EXPECT_NEAR(to.at("operation.float_fma").value / from.at("operation.float_fma").value, 32.0 / 45 * 0.81,
              1e-12);
  EXPECT_NEAR(to.at("leakage.lane").value / from.at("leakage.lane").value, 32.0 / 45 * 0.9, 1e-12);
  EXPECT_NEAR(to.at("register_crossbar.pitch").value / from.at("register_crossbar.pitch").value, 32.0 / 45,
              1e-12);
  EXPECT_EQ(to.at("dram.read").value, from.at("dram.read").value);
  EXPECT_EQ(to.at("sram.read_width_exponent").value, from.at("sram.read_width_exponent").value);
}

// A figure may be of another node than the rest of the file.
TEST(Technology, BringsFiguresToItsNode) {
  const Technology plain = changed([](ordered_json& json) { json["figures"]["issue"].erase("node_nm"); });
  const Technology given = Technology::read(kFile, 0);
  const double volts = 0.9 + 0.1 * (40.0 - 32) / (45 - 32);
  EXPECT_NEAR(given.at("issue").value / plain.at("issue").value, 40.0 / 45 * volts * volts, 1e-12);
}

// No rule leads to FinFETs. Figures of such a node are read as they are.
TEST(Technology, IsNotScaledBelow22Nanometres) {
  const auto at = [](double node) {
    return [node](ordered_json& json) {
      json["node_nm"] = node;
      for (auto& figure : json["figures"]) figure.erase("node_nm");
    };
  };
  EXPECT_THAT(input_error([&] { Technology::read(kFile, 8); }),
              HasSubstr("energy.node_nm: found 8, to which operation.integer would be scaled from 40 nm; "
                        "allowed: at least 22 nm on both sides"));
  EXPECT_THAT(input_error([&] { changed(at(8), 40); }), HasSubstr("found 40, to which"));
  EXPECT_GT(Technology::read(kFile, 22).at("wire").value, 0);
  EXPECT_EQ(changed(at(8)).at("wire").value, document()["figures"]["wire"]["value"]);
}

struct Mistake {
  std::function<void(ordered_json&)> change;
  const char* message;
};

TEST(Technology, RefusesWhatIsWrong) {
  const Mistake mistakes[] = {
      {[](ordered_json& j) { j["figures"].erase("wire"); }, "/figures/wire: is missing"},
      {[](ordered_json& j) { j["figures"]["wires"] = j["figures"]["wire"]; }, "/figures/wires: unknown"},
      {[](ordered_json& j) { j["figures"]["wire"]["unit"] = "pJ"; }, "allowed: \"pJ/bit/mm\""},
      {[](ordered_json& j) { j["figures"]["wire"]["value"] = -1; }, "found -1; allowed: numbers from 0"},
      {[](ordered_json& j) { j["figures"]["wire"]["low"] = 2; }, "found 2; allowed: numbers from 0"},
      {[](ordered_json& j) { j["figures"]["wire"].erase("source"); }, "/figures/wire/source: is missing"},
      {[](ordered_json& j) { j["figures"]["wire"]["basis"] = "guess"; }, "allowed: read, recalled, derived"},
      {[](ordered_json& j) { j["supply"] = ordered_json::array(); }, "/supply: allowed: a list"},
      {[](ordered_json& j) { j["node"] = 40; }, "/node: unknown"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string text = input_error([&] { changed(mistake.change); });
    EXPECT_THAT(text, HasSubstr(mistake.message));
    EXPECT_THAT(text, HasSubstr("technology.json"));
  }
}

}  // namespace
}  // namespace weft::test::technology_test
