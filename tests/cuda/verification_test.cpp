// CUDA programs in `weft compare`, `weft characterize`, sweeps and experiments: what they print, end with and
// copy from the device is compared with a functional run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/experiments.h"
#include "end_to_end/process.h"
#include "warp_formation/schemes.h"

namespace weft::verification_test {
namespace {

using end_to_end::Exit;
using end_to_end::Folder;
using end_to_end::weft;
using nlohmann::ordered_json;
using ::testing::AllOf;
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
  const std::vector<std::string> schemes = scheme_classes::all();
  std::string all;
  // A variant of a size, of the scheme that has some.
  for (const std::string& scheme : schemes)
    all += (all.empty() ? "" : ",") + scheme + (scheme == "dwr" ? "-16" : "");
  const Exit exit = compare(folder, all, {DRIVER_VERIFIED});
  EXPECT_EQ(exit.code, 0) << exit.err;
  const ordered_json comparison = folder.json("comparison.json");
  ASSERT_EQ(comparison.at("runs").size(), schemes.size());
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
  const std::string count = std::to_string(schemes.size());
  EXPECT_THAT(again.err, HasSubstr(count + " of " + count + " runs already have results"));
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
      {{"/bin/echo", "no device"}, "no results: the program did not use the device"},
      {{"/bin/false"}, "no results: the program did not use the device, and its exit code is 1"},
      {{"./nowhere"}, "refused: ./nowhere: cannot be started: No such file or directory"}};
  for (const Case& one : cases) {
    const Folder folder;
    const Exit exit = compare(folder, "sbr", one.program);
    EXPECT_EQ(result_of(folder), one.result);
    EXPECT_EQ(exit.code == 0, one.result == "verified") << exit.code;
  }
}

TEST(CudaProgram, RunsInASweep) {
  const Folder folder;
  ordered_json sweep{{"config", "harp-fermi"},
                     {"axes",
                      {{{"name", "program"},
                        {"values",
                         {{"right", {{"cuda", DRIVER_VERIFIED}}},
                          {"wrong", {{"cuda", DRIVER_VERIFIED}, {"arguments", {"copies"}}}}}}},
                       {{"name", "scheme"}, {"values", {"sbr", "tbc"}}}}}};
  folder.write("s.json", sweep.dump());
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
  sweep["axes"][0]["values"]["wrong"]["cuda"] = "nowhere";
  folder.write("s.json", sweep.dump());
  EXPECT_THAT(weft(command).err,
              AllOf(HasSubstr(": /axes/0/values/wrong/cuda: "), HasSubstr("nowhere: cannot be read")));
}

Exit characterize(const Words& options, const Words& program) {
  Words words{"characterize", "--config", "harp-fermi"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return weft(words);
}

TEST(CudaProgram, IsCharacterized) {
  const Folder folder;
  const Exit exit = characterize({"--out", folder.path()}, {DRIVER_VERIFIED, "four"});
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.out, HasSubstr("driver_verified on harp-fermi, scheme sbr; verified: output, exit code "));
  EXPECT_THAT(exit.out, HasSubstr("kernel numbers\n"));
  const ordered_json all = folder.json("characteristics.json"),
                     device = folder.json("stats.json")["devices"][0];
  EXPECT_EQ(all.at("workload"), "driver_verified");
  ASSERT_EQ(all.at("kernels").size(), 1u);
  const ordered_json& kernel = all.at("kernels")[0];
  EXPECT_EQ(kernel.at("shapes"), ordered_json({{"(1) x (64)", 1}}));
  EXPECT_EQ(kernel.at("static_lats"), 1) << "a store";
  for (const char* const name : {"thread_instructions", "warp_instructions", "executed_thread_instructions"})
    EXPECT_EQ(kernel.at(name), device.at(name)) << name;

  const Exit wrong = characterize({}, {DRIVER_VERIFIED, "copies"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out,
              AllOf(HasSubstr("WRONG: copy 1 from the device differs"), HasSubstr("kernel numbers")));
}

TEST(CudaProgram, IsCharacterizedOrItIsSaidWhyNot) {
  const Exit no_kernel = characterize({"--set", "sm.max_threads=32", "sm.max_warps=1"}, {DRIVER_VERIFIED});
  EXPECT_EQ(no_kernel.code, 3);
  EXPECT_THAT(no_kernel.out, AllOf(HasSubstr("no results: the program ran no kernel: "),
                                   HasSubstr("a block does not fit an SM: it needs 64 threads")));
  const auto refused = [](const Exit& exit) {
    EXPECT_EQ(exit.code, 2);
    return exit.err;
  };
  EXPECT_THAT(refused(characterize({}, {"./nowhere"})), HasSubstr("./nowhere: cannot be read: No such file"));
  EXPECT_THAT(refused(characterize({}, {WEFT_PAGE})),
              HasSubstr("is not executable; allowed: a CUDA program"));
  EXPECT_THAT(refused(characterize({"--size", "small"}, {DRIVER_VERIFIED})),
              HasSubstr("--size: found a program after -- as well; allowed: one of the two"));
  EXPECT_THAT(refused(characterize({"bfs"}, {DRIVER_VERIFIED})),
              HasSubstr("or -- ./program; one of the three"));
  EXPECT_THAT(refused(weft({"cuda", "--characteristics", "--", DRIVER_VERIFIED})),
              HasSubstr("needs --out DIR"));
  EXPECT_THAT(
      refused(weft({"cuda", "--out", "nowhere", "--characteristics", "--functional", "--", DRIVER_VERIFIED})),
      HasSubstr("--characteristics: is not allowed with --functional"));
}

TEST(CudaProgram, RunsInAnExperiment) {
  const end_to_end::Experiments experiments;
  experiments.claims(
      {end_to_end::claim("p.order", "order", ordered_json::array({ordered_json::array({"sbr", "harp"})}))});
  ordered_json experiment =
      end_to_end::small_experiment({{{"abbr", "MINE"}, {"cuda", "program"}},
                                    {{"abbr", "FOUR"}, {"cuda", DRIVER_VERIFIED}, {"arguments", {"four"}}}});
  experiment.erase("size");
  for (const char* const variant : {"sbr", "harp"}) {
    experiment["claims"][0]["values"][variant] = {
        {"measure", "cycles"}, {"variant", variant}, {"programs", {"MINE"}}};
  }
  experiment["claims"][0]["id"] = "p.order";
  std::filesystem::copy_file(DRIVER_VERIFIED, experiments.experiment("own", experiment) / "program");
  const Folder folder;
  const Words command{"reproduce", "own", "--out", folder.path("a")};
  const Exit exit = weft(command);
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("2 functional runs first, as reference for results"));
  EXPECT_THAT(exit.out, HasSubstr("Programs: MINE = `program`, FOUR = `driver_verified four`."));
  EXPECT_THAT(exit.out, HasSubstr("reproduced"));
  EXPECT_THAT(weft(command).err, HasSubstr("4 of 4 runs already have results"));

  const Words from{"reproduce", "own", "--out", folder.path("b"), "--from-results", folder.path("a")};
  EXPECT_EQ(weft(from).code, 0);
  for (const char* const file : {"own.md", "own.json", "own.csv", "verdicts.md"})
    EXPECT_EQ(folder.text(std::string("b/") + file), folder.text(std::string("a/") + file)) << file;

  // Another program of the same name: the data are not of it.
  experiment["programs"][0]["cuda"] = "/bin/true";
  experiments.experiment("own", experiment);
  EXPECT_THAT(weft(from).err, HasSubstr("2 runs (the first: MINE sbr) of another machine or program"));
  for (const auto& [file, why] : {std::pair("nowhere", "nowhere: cannot be read: No such file"),
                                  {"experiment.json", "is not executable; allowed: a CUDA program"}}) {
    experiment["programs"][0]["cuda"] = file;
    experiments.experiment("own", experiment);
    const Exit refused = weft(command);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("own/experiment.json: "), HasSubstr(": /programs/0/cuda: "), HasSubstr(why)));
  }
}

}  // namespace
}  // namespace weft::verification_test
