// `weft measure` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::measure_test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The result of one machine is what another is compared with.
TEST(Measure, ComparesTwoMachines) {
  const Folder folder;
  const std::string file = folder.path("gtx480.json");
  const Exit first = weft({"measure", "--only", "^latency instruction=fma.rn.f(32|64)$", "--out", file});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("instruction=fma.rn.f32"), HasSubstr("10.00  cycles")));
  const ordered_json json = ordered_json::parse(std::ifstream(file));
  EXPECT_EQ(json.at("machine"), "gtx480");
  ASSERT_EQ(json.at("measurements").size(), 2u);
  EXPECT_EQ(json.at("measurements")[0].dump(),
            R"({"name":"latency","parameters":{"instruction":"fma.rn.f32"},"value":10.0,"unit":"cycles"})");
  const Exit second = weft({"measure", "--set", "sm.latency.float_fma.cycles=15", "--only",
                            "^latency instruction=(fma.rn.f32|popc.b32)$", "--against", file});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, AllOf(HasSubstr("20.00   10.00   2.00  cycles"), HasSubstr("popc.b32"),
                                HasSubstr("1 measurement is not in " + file)));
}

TEST(Measure, ListsWhatThereIs) {
  const Exit all = weft({"measure", "--list"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("latency instruction=fma.rn.f32 [cycles]\n"),
                             HasSubstr("bandwidth level=dram access=copy [GB/s]\n")));
  EXPECT_THAT(weft({"measure", "--list", "--only", "chase"}).out, Not(HasSubstr("bandwidth")));
}

TEST(Measure, SaysWhatIsWrong) {
  const Folder folder;
  const auto refused = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"measure"};
    all.insert(all.end(), words.begin(), words.end());
    const Exit exit = weft(all);
    EXPECT_EQ(exit.code, 2);
    return exit.err;
  };
  EXPECT_THAT(refused({"--only", "["}), HasSubstr("--only: found '['; allowed: a POSIX extended regular"));
  EXPECT_THAT(refused({"--only", "nothing"}),
              AllOf(HasSubstr("--only: found 'nothing', which matches no measurement"), HasSubstr("chase")));
  EXPECT_THAT(refused({"--gpu", "--set", "sm.count=1"}), HasSubstr("--gpu: found --set as well"));
  EXPECT_THAT(refused({"--gpu", "--config", "gtx480"}), HasSubstr("--gpu: found --config as well"));
  EXPECT_THAT(refused({"--config", "nowhere"}), HasSubstr("nowhere"));
  const std::string no_json = folder.write("a.json", "{"), other = folder.write("b.json", "{}");
  EXPECT_THAT(refused({"--against", no_json}), HasSubstr(no_json));
  EXPECT_THAT(refused({"--against", other}), HasSubstr(other + ": these are no results of weft measure"));
  EXPECT_THAT(refused({"--out", folder.path("none/c.json")}), HasSubstr("none/c.json"));
}

}  // namespace
}  // namespace weft::end_to_end::measure_test
