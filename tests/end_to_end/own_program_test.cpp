// PTX of one's own in `weft compare`, sweeps and experiments: every run is compared with a functional one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::own_program_test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

// out[n] is the n-th thread that came to the counter.
const std::string kOrderKernel = kPtxHeader + R"(
.visible .entry order(.param .u64 count, .param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [count];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mad.lo.u32 %r3, %r2, %r5, %r1;
  atom.global.add.u32 %r4, [%rd1], 1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r3;
  ret;
}
)";

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> results_of(const Folder& folder) {
  std::vector<std::string> results;
  const ordered_json comparison = folder.json("c/comparison.json");
  for (const ordered_json& row : comparison.at("runs"))
    results.push_back(row.at("result").get<std::string>());
  return results;
}

TEST(OwnPtx, IsVerifiedUnderAllSchemes) {
  const Folder folder;
  folder.write("content", std::string(256, 'x'));
  const Words command{"compare",
                      "--ptx",
                      folder.write("k.ptx", kGoodKernel),
                      "--kernel",
                      "good",
                      "--grid",
                      "1",
                      "--block",
                      "64",
                      "--arg",
                      "ptr:256=file:" + folder.path("content"),
                      "u32:5",
                      "--out",
                      folder.path("c")};
  const Exit exit = weft(command);
  EXPECT_EQ(exit.code, 0) << exit.err;
  const std::vector<std::string> results = results_of(folder);
  EXPECT_GE(results.size(), 17u) << "schemes";
  EXPECT_THAT(results, Each("verified"));
  EXPECT_EQ(folder.json("c/runs/good/harp/stats.json").at("outputs")[0].at("name"), "argument 0");
  EXPECT_EQ(folder.json("c/runs/good/harp/stats.json").at("outputs"),
            folder.json("c/runs/good/sbr/verification.json").at("outputs"));
  const std::string count = std::to_string(results.size());
  const Exit again = weft(command);
  EXPECT_THAT(again.err, HasSubstr(count + " of " + count + " runs already have results"));
  EXPECT_EQ(again.out, exit.out);
  EXPECT_THAT(weft({"report", folder.path("c"), "--json", "--out", folder.path("page.json")}).err,
              Not(HasSubstr("found")));
  EXPECT_THAT(folder.text("page.json"), HasSubstr("verified: equal to the functional run"));
  // What a buffer begins with belongs to a run.
  folder.write("content", std::string(256, 'y'));
  EXPECT_THAT(weft(with(command, {"--schemes", "sbr,dwf"})).err, Not(HasSubstr("already have results")));
}

TEST(OwnPtx, ThatDependsOnTheOrderOfThreadsIsNotVerified) {
  const Folder folder;
  const Words command{"compare",
                      "--ptx",
                      folder.write("k.ptx", kOrderKernel),
                      "--grid",
                      "4",
                      "--block",
                      "128",
                      "--arg",
                      "ptr:4",
                      "ptr:2048",
                      "--schemes",
                      "sbr,harp",
                      "--out",
                      folder.path("c")};
  const Exit exit = weft(command);
  const std::string wrong = "wrong result: argument 1 differs from the functional run";
  EXPECT_EQ(exit.code, 1);
  EXPECT_THAT(exit.out, HasSubstr(wrong));
  EXPECT_EQ(results_of(folder), std::vector<std::string>(2, wrong));
  const Exit again = weft(command);
  EXPECT_THAT(again.err, HasSubstr("2 of 2 runs already have results"));
  EXPECT_EQ(results_of(folder), std::vector<std::string>(2, wrong));
}

TEST(OwnPtx, RunsInASweep) {
  const Folder folder;
  folder.write("good.ptx", kGoodKernel);
  folder.write("order.ptx", kOrderKernel);
  folder.write("s.json", R"({"config": "gtx480", "axes": [
    {"name": "program", "values": {
      "mine": {"ptx": "good.ptx", "arguments": ["--grid", "1", "--block", "64", "--arg", "ptr:256", "u32:5"]},
      "racy": {"ptx": "order.ptx",
               "arguments": ["--grid", "4", "--block", "128", "--arg", "ptr:4", "ptr:2048"]}}},
    {"name": "scheme", "values": ["sbr", "harp"]}]})");
  const Words command{"sweep",    folder.path("s.json"),  "--store", folder.path("s.db"),
                      "--export", folder.path("out.json")};
  const Exit exit = weft(command);
  EXPECT_EQ(exit.code, 1);
  EXPECT_THAT(exit.err, HasSubstr("2 functional runs first, as reference for results"));
  const ordered_json rows = folder.json("out.json");
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rows[i].at("run").at("state"), "done") << rows[i];
    EXPECT_EQ(rows[i + 2].at("run").at("state"), "wrong");
    EXPECT_EQ(rows[i + 2].at("run").at("reason"), "argument 1 differs from the functional run");
  }
  EXPECT_THAT(weft(command).err,
              AllOf(HasSubstr("4 of 4 runs already have results"), Not(HasSubstr("first"))));
  EXPECT_THAT(weft(with(command, {"--retry"})).err,
              AllOf(HasSubstr("2 of 4 runs to do"), Not(HasSubstr("first"))))
      << "what they are compared with is there";
}

TEST(OwnPtx, IsCharacterized) {
  const Folder folder;
  const Exit exit = weft({"characterize", "--ptx", folder.write("k.ptx", kGoodKernel), "--grid", "1",
                          "--block", "64", "--arg", "ptr:256", "u32:5", "--out", folder.path("r")});
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.out, HasSubstr("verified: buffers equal those of a functional run"));
  const ordered_json kernel = folder.json("r/characteristics.json").at("kernels").at(0);
  EXPECT_EQ(kernel.at("kernel"), "good");
  EXPECT_EQ(kernel.at("thread_instructions"), 64 * 8);
  const Exit racy = weft({"characterize", "--ptx", folder.write("o.ptx", kOrderKernel), "--grid", "4",
                          "--block", "128", "--arg", "ptr:4", "ptr:2048"});
  EXPECT_EQ(racy.code, 1);
  EXPECT_THAT(racy.out, HasSubstr("WRONG: argument 1 differs from the functional run"));
  EXPECT_THAT(weft({"characterize"}).err, HasSubstr("needs a workload"));
}

TEST(OwnPtx, MistakesAreAnswered) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kGoodKernel);
  const auto refused = [&](const Words& more) {
    const Exit exit = weft(with({"compare"}, more));
    EXPECT_EQ(exit.code, 2);
    return exit.err;
  };
  const Words good{"--ptx", ptx, "--grid", "1", "--block", "64", "--arg", "ptr:256", "u32:5"};
  EXPECT_THAT(refused(with(good, {"--workloads", "bfs"})),
              HasSubstr("--workloads: found --ptx as well; allowed: one of the two"));
  EXPECT_THAT(refused(with(good, {"--size", "small"})), HasSubstr("--size: found --ptx as well"));
  EXPECT_THAT(refused(with(good, {"--", "./app"})),
              HasSubstr("--ptx: found a CUDA program after -- as well"));
  EXPECT_THAT(refused({"--workloads", "bfs", "--", "./app"}),
              HasSubstr("--workloads: found a program after --"));
  EXPECT_THAT(refused({"--"}), HasSubstr("found no program after --"));
  EXPECT_THAT(refused({"--grid", "1"}), HasSubstr("--grid: is allowed with --ptx only"));
  EXPECT_THAT(refused({"--ptx", ptx, "--grid", "1"}), HasSubstr("--ptx needs --grid and --block"));
  EXPECT_THAT(refused({"--ptx", ptx, "--grid", "1", "--block", "64", "--arg", "u32:5"}),
              HasSubstr("at least one ptr:BYTES"));
  EXPECT_THAT(refused({"--ptx", ptx, "--grid", "1", "--block", "64", "--arg", "ptr:x"}),
              HasSubstr("--arg 0"));
}

// What fails without timing cannot be compared with.
TEST(OwnPtx, IsNotVerifiedWithoutAFunctionalRun) {
  const Folder folder;
  const Exit exit = weft({"compare", "--ptx", folder.write("k.ptx", kGoodKernel), "--kernel", "other",
                          "--grid", "1", "--block", "64", "--arg", "ptr:256", "u32:5", "--schemes", "sbr"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.out, HasSubstr("refused: "));
  const Exit missing = weft({"compare", "--ptx", folder.path("nowhere"), "--grid", "1", "--block", "64",
                             "--arg", "ptr:256", "--schemes", "sbr,harp"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.out, HasSubstr("nowhere: cannot be read: No such file"));
}

}  // namespace
}  // namespace weft::end_to_end::own_program_test
