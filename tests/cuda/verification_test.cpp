// CUDA programs in `weft compare` and sweeps: what they print, end with and copy from the device is compared
// with a functional run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::verification_test {
namespace {

using end_to_end::Exit;
using end_to_end::Folder;
using end_to_end::weft;
using nlohmann::ordered_json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Exit compare(const Folder& folder, const std::string& schemes, const Words& program) {
  Words words{"compare", "--config", "harp-fermi", "--schemes", schemes, "--out", folder.path(), "--"};
  words.insert(words.end(), program.begin(), program.end());
  return weft(words);
}

std::string result_of(const Folder& folder) {
  return folder.json("comparison.json").at("runs")[0].at("result").get<std::string>();
}

TEST(CudaProgram, IsVerifiedUnderAllSchemes) {
  const Folder folder;
  const std::string all = "sbr,dwf,lwm,dwr-16,crown,harp,tbc";
  const Exit exit = compare(folder, all, {DRIVER_VERIFIED});
  EXPECT_EQ(exit.code, 0) << exit.err;
  const ordered_json comparison = folder.json("comparison.json");
  ASSERT_EQ(comparison.at("runs").size(), 7u);
  for (const ordered_json& row : comparison.at("runs")) {
    EXPECT_EQ(row.at("result"), "verified") << row;
    EXPECT_EQ(row.at("workload"), "driver_verified");
    EXPECT_GT(row.at("cycles"), 0u);
    EXPECT_TRUE(row.at("idle_share").is_number());
  }
  EXPECT_EQ(folder.text("runs/driver_verified/harp/output.txt"), "sum 2016\n");
  const ordered_json outputs = folder.json("runs/driver_verified/harp/stats.json").at("outputs");
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].at("name"), "copy 1 from the device");
  EXPECT_EQ(outputs[0].at("bytes"), 256);
  const Exit again = compare(folder, all, {DRIVER_VERIFIED});
  EXPECT_THAT(again.err, HasSubstr("7 of 7 runs already have results"));
  EXPECT_EQ(again.out, exit.out);
}

TEST(CudaProgram, RowsSayWhatDiffers) {
  struct Case {
    Words program;
    std::string result;
  };
  const std::vector<Case> cases{
      {{DRIVER_VERIFIED, "four"}, "verified"},
      {{DRIVER_VERIFIED, "copies"}, "wrong result: copy 1 from the device differs from the functional run"},
      {{DRIVER_VERIFIED, "prints"},
       "wrong result: standard output differs from the functional run at byte 12"},
      {{DRIVER_VERIFIED, "ends"}, "wrong result: exit code 5; the functional run has 4"},
      {{"/bin/echo", "no device"}, "no results: the program did not use the device"}};
  for (const Case& one : cases) {
    const Folder folder;
    const Exit exit = compare(folder, "sbr", one.program);
    EXPECT_EQ(result_of(folder), one.result);
    EXPECT_EQ(exit.code == 0, one.result == "verified") << exit.code;
  }
}

TEST(CudaProgram, RunsInASweep) {
  const Folder folder;
  folder.write("s.json",
               ordered_json{{"config", "harp-fermi"},
                            {"axes",
                             {{{"name", "program"},
                               {"values",
                                {{"right", {{"cuda", DRIVER_VERIFIED}}},
                                 {"wrong", {{"cuda", DRIVER_VERIFIED}, {"arguments", {"copies"}}}}}}},
                              {{"name", "scheme"}, {"values", {"sbr", "tbc"}}}}}}
                   .dump());
  const Words command{"sweep",    folder.path("s.json"),  "--store", folder.path("s.db"),
                      "--export", folder.path("out.json")};
  const Exit exit = weft(command);
  EXPECT_EQ(exit.code, 1);
  const ordered_json rows = folder.json("out.json");
  ASSERT_EQ(rows.size(), 4u);
  for (const std::size_t i : {0, 1}) {
    EXPECT_EQ(rows[i].at("run").at("state"), "done") << rows[i].at("run");
    EXPECT_EQ(rows[i + 2].at("run").at("state"), "wrong");
    EXPECT_EQ(rows[i + 2].at("run").at("reason"), "copy 1 from the device differs from the functional run");
  }
  EXPECT_THAT(weft(command).err, HasSubstr("4 of 4 runs already have results"));
}

}  // namespace
}  // namespace weft::verification_test
