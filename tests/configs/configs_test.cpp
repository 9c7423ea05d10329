#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/config_document.h"

namespace weft {
namespace {

using nlohmann::json;
using Leaves = std::map<std::string, std::string>;

const std::filesystem::path kConfigs = WEFT_CONFIGS;

json machine(const std::string& name) {
  return config::read_file(kConfigs / (name + ".json"));
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigs / folder)) {
    if (entry.path().extension() == ".json") names.push_back(folder + entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> machine_names() {
  return names_in("");
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Every value of `document` by its dotted path, without the name.
Leaves leaves_of(const json& document) {
  Leaves leaves;
  const json flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    std::string path = pointer.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    if (path != "name" && path != "about") leaves[path] = text_of(value);
  }
  return leaves;
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool matches(const std::string& path, const std::string& pattern) {
  const auto a = split(path, ".");
  const auto b = split(pattern, ".");
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](const auto& x, const auto& y) { return y == "*" || x == y; });
}

// The table on the page of a machine or a DRAM standard: pattern -> value. A row may join keys of one object:
// `sm.l1d.sets`, `.ways`.
std::vector<std::pair<std::string, std::string>> documented(const std::string& name) {
  std::ifstream file(kConfigs / (name + ".md"));
  EXPECT_TRUE(file.is_open()) << "there is no page configs/" << name << ".md";
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const auto columns = split(line, " | ");
    if (columns.size() != 3) {
      ADD_FAILURE() << "not three columns: " << line;
      continue;
    }
    const auto keys = split(columns[0].substr(2), ", ");
    const auto values = split(columns[1], ", ");
    EXPECT_EQ(keys.size(), values.size()) << line;
    EXPECT_GT(columns[2].size(), 3U) << "no source or reason: " << line;
    const std::string first = keys[0].substr(1, keys[0].size() - 2);
    const std::string parent = first.substr(0, first.rfind('.'));
    for (std::size_t i = 0; i < keys.size() && i < values.size(); ++i) {
      const std::string key = keys[i].substr(1, keys[i].size() - 2);
      rows.emplace_back(key[0] == '.' ? parent + key : key, values[i]);
    }
  }
  return rows;
}

class Described : public ::testing::TestWithParam<std::string> {};

TEST_P(Described, IsNamedAsItsFile) {
  EXPECT_EQ(machine(GetParam())["name"], std::filesystem::path(GetParam()).filename().string());
}

TEST_P(Described, EveryValueIsDocumentedOnceWithItsSource) {
  Leaves undocumented = leaves_of(machine(GetParam()));
  for (const auto& [pattern, value] : documented(GetParam())) {
    bool found = false;
    for (auto leaf = undocumented.begin(); leaf != undocumented.end();) {
      if (!matches(leaf->first, pattern)) {
        ++leaf;
        continue;
      }
      EXPECT_EQ(leaf->second, value) << leaf->first;
      found = true;
      leaf = undocumented.erase(leaf);
    }
    EXPECT_TRUE(found) << pattern << " is documented but not in the file, or documented twice";
  }
  for (const auto& [path, value] : undocumented)
    ADD_FAILURE() << path << " = " << value << " is not documented";
}

class Machine : public ::testing::TestWithParam<std::string> {};

TEST_P(Machine, ThreadsFitTheirWarps) {
  const json document = machine(GetParam());
  const std::uint64_t warp = document["warp_formation"]["warp_size"];
  const json& sm = document["sm"];
  EXPECT_GE(sm["max_warps"].get<std::uint64_t>() * warp, sm["max_threads"].get<std::uint64_t>());
  EXPECT_EQ(sm["max_threads"].get<std::uint64_t>() % warp, 0U);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machines, Described, ::testing::ValuesIn(machine_names()), test_name);
INSTANTIATE_TEST_SUITE_P(DramStandards, Described, ::testing::ValuesIn(names_in("dram/")), test_name);
INSTANTIATE_TEST_SUITE_P(All, Machine, ::testing::ValuesIn(machine_names()), test_name);

std::uint64_t cache_bytes(const json& cache) {
  return cache["sets"].get<std::uint64_t>() * cache["ways"].get<std::uint64_t>() *
         cache["line_bytes"].get<std::uint64_t>();
}

// GB/s of all channels.
double bandwidth(const json& document) {
  json memory =
      config::read_file(kConfigs / "dram" / (document["dram"]["standard"].get<std::string>() + ".json"));
  memory.update(document["dram"]);
  const double bytes = memory["channels"].get<double>() * memory["devices"].get<double>() *
                       memory["device_bits"].get<double>() / 8;
  return bytes * memory["beats_per_clock"].get<double>() * document["clocks"]["memory_mhz"].get<double>() /
         1e3;
}

// The index, configs/README.md, has a row for each machine, which leads to its page.
TEST(Machines, AreThoseOfTheIndex) {
  std::ifstream file(kConfigs / "README.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| [", 0) != 0) continue;
    const std::string name = line.substr(3, line.find(']') - 3);
    EXPECT_THAT(line, ::testing::StartsWith("| [" + name + "](" + name + ".md) |"));
    rows.push_back(name);
  }
  EXPECT_THAT(rows, ::testing::UnorderedElementsAreArray(machine_names()));
}

TEST(Machines, DwrHasThePrintedRates) {
  const json document = machine("dwr-tesla");
  const json& sm = document["sm"];
  // Two floating-point operations per lane and cycle.
  EXPECT_NEAR(sm["count"].get<double>() * sm["simd_groups"].get<double>() * sm["simd_width"].get<double>() *
                  2 * document["clocks"]["core_mhz"].get<double>() / 1e3,
              332.8, 1e-9);
  EXPECT_NEAR(bandwidth(document), 76.8, 1e-9);
  EXPECT_EQ(cache_bytes(sm["l1d"]), 48U << 10);
  EXPECT_EQ(sm["registers"].get<std::uint64_t>() * 4, 64U << 10);
  EXPECT_FALSE(document["l2"]["enabled"].get<bool>());
}

TEST(Machines, HarpHasThePrintedCaches) {
  const json document = machine("harp-fermi");
  const json& sm = document["sm"];
  EXPECT_EQ(cache_bytes(sm["l1d"]), 48U << 10);
  EXPECT_EQ(cache_bytes(sm["l1t"]), 8U << 10);
  EXPECT_EQ(cache_bytes(sm["l1c"]), 8U << 10);
  EXPECT_EQ(cache_bytes(document["l2"]), 128U << 10);
  EXPECT_EQ(sm["registers"].get<std::uint64_t>() * 4, 128U << 10);
  EXPECT_EQ(sm["max_threads"].get<std::uint64_t>(), 2U * 768);
}

TEST(Machines, StsimtHasThePrintedCaches) {
  const json document = machine("stsimt");
  EXPECT_EQ(cache_bytes(document["sm"]["l1d"]), 32U << 10);
  EXPECT_EQ(cache_bytes(document["sm"]["l1i"]), 4U << 10);
  EXPECT_EQ(cache_bytes(document["l2"]) * document["dram"]["channels"].get<std::uint64_t>(), 1U << 20);
  EXPECT_NEAR(bandwidth(document), 102.4, 1e-9);
}

TEST(Machines, Gtx480HasTheCachesOfTheComparison) {
  const json document = machine("gtx480");
  const json& sm = document["sm"];
  EXPECT_EQ(cache_bytes(sm["l1d"]), 16U << 10);
  EXPECT_EQ(cache_bytes(sm["l1t"]), 12U << 10);
  EXPECT_EQ(cache_bytes(sm["l1c"]), 8U << 10);
  EXPECT_EQ(cache_bytes(sm["l1i"]), 2U << 10);
  EXPECT_EQ(cache_bytes(document["l2"]), 64U << 10);
  EXPECT_NEAR(bandwidth(document), 177.408, 1e-9);
}

}  // namespace
}  // namespace weft
