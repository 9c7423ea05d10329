// Bad configurations: the message names the place, what was found and what is allowed; the exit code is 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::end_to_end::bad_configs_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(BadConfig, MissingFileOrName) {
  EXPECT_THAT(weft({"check-config", "/nowhere/gpu.json"}).err, HasSubstr("/nowhere/gpu.json"));
  EXPECT_EQ(weft({"check-config", "/nowhere/gpu.json"}).code, 2);
  const Exit unknown = weft({"run", "--config", "gtx9999", "--workload", "bfs", "--size", "small"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("gtx9999"), HasSubstr("gtx480")));
}

TEST(BadConfig, MalformedJson) {
  const Folder folder;
  for (const char* text : {"", "{", "[]", "{\"sm\": {\"count\": }}", "{\"sm\": {}} trailing", "nonsense"}) {
    const auto file = folder.write("bad.json", text);
    const Exit exit = weft({"check-config", file});
    EXPECT_EQ(exit.code, 2) << text;
    EXPECT_THAT(exit.err, HasSubstr("bad.json")) << text;
  }
}

struct Bad {
  const char* json;
  std::vector<const char*> told;  // the message has each of these
};
void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.json;
}
class BadValue : public ::testing::TestWithParam<Bad> {};

TEST_P(BadValue, IsRefused) {
  const Folder folder;
  const Exit exit = weft({"check-config", folder.write("bad.json", GetParam().json)});
  EXPECT_EQ(exit.code, 2) << exit.out;
  EXPECT_THAT(exit.err, HasSubstr("bad.json"));
  for (const char* told : GetParam().told) EXPECT_THAT(exit.err, HasSubstr(told));
}

INSTANTIATE_TEST_SUITE_P(
    OfSystems, BadValue,
    ::testing::Values(
        Bad{R"({"cpu": {"kind": "z80"}})", {"/cpu/kind", "z80", "rv64", "external"}},
        Bad{R"({"cpu": {"mhz": 0}})", {"/cpu/mhz", "0"}},
        Bad{R"({"cpu": {"megahertz": 10}})", {"/cpu: unknown key \"megahertz\"", "mhz"}},
        Bad{R"({"cpu": {"kind": "external", "external": {"socket": 5}}})", {"/cpu/external/socket", "5"}},
        Bad{R"({"gpu": "gtx9999"})", {"/gpu", "gtx9999", "gtx480"}},
        Bad{R"({"gpu": "gtx480", "bus": {"outstanding": 0}})", {"/bus/outstanding", "0"}},
        Bad{R"({"gpu": "gtx480", "ram": {"bytes": 5000}})", {"/ram/bytes", "5000", "multiple of 4096"}},
        Bad{R"({"gpu": "gtx480", "ram": {"dmi": false}})", {"/ram/dmi", "false", "true"}},
        Bad{R"({"peripherals": {"latency_ns": "fast"}})", {"/peripherals/latency_ns", "fast"}},
        Bad{R"({"gpu": "gtx480", "sm": {"count": 4}})", {"unknown key \"sm\"", "peripherals"}}));

INSTANTIATE_TEST_SUITE_P(
    All, BadValue,
    ::testing::Values(Bad{R"({"sm": {"cuont": 4}})",
                          {"/sm: unknown key \"cuont\"", "count"}},  // unknown key, with those known
                      Bad{R"({"sm": {"count": "four"}})", {"/sm/count", "four"}},  // wrong type
                      Bad{R"({"sm": {"count": 1.5}})", {"/sm/count", "1.5"}},
                      Bad{R"({"sm": {"count": -1}})", {"/sm/count", "-1"}},
                      Bad{R"({"sm": {"count": 0}})", {"/sm/count", "0"}}, Bad{R"({"sm": 4})", {"/sm"}},
                      Bad{R"({"sm": {"l1d": {"line_bytes": 48}}})",
                          {"/sm/l1d/line_bytes", "48"}},  // impossible cache geometry
                      Bad{R"({"sm": {"miss_queue": 0}})",
                          {"/sm/miss_queue", "0"}},  // a queue of zero entries
                      Bad{R"({"dram": {"queue_size": 0}})", {"/dram/queue_size", "0"}},
                      Bad{R"({"warp_formation": {"scheme": "magic"}})", {"magic", "sbr"}},
                      Bad{R"({"datapath": {"kind": "quantum"}})", {"/datapath/kind", "quantum", "spatial"}}));

TEST(BadConfig, Overrides) {
  const std::vector<std::pair<const char*, const char*>> cases{{"sm.cuont=4", "cuont"},
                                                               {"sm.count=four", "four"},
                                                               {"sm.count", "sm.count"},
                                                               {"=4", "=4"},
                                                               {"sm.count=0", "0"}};
  for (const auto& [override_text, told] : cases) {
    const Exit exit = weft({"check-config", "gtx480", "--set", override_text});
    EXPECT_EQ(exit.code, 2) << override_text;
    EXPECT_THAT(exit.err, HasSubstr(told)) << override_text;
  }
}

}  // namespace
}  // namespace weft::end_to_end::bad_configs_test
