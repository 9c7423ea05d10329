// Runs that end early, and results that cannot be written: what is there is kept, and said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> endless(const Folder& folder, std::vector<std::string> more) {
  std::vector<std::string> words{"run",
                                 "--ptx",
                                 folder.write("endless.ptx", kEndlessKernel),
                                 "--grid",
                                 "1",
                                 "--block",
                                 "32",
                                 "--arg",
                                 "ptr:4",
                                 "--out",
                                 folder.path("out")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Interruption, BySigintKeepsTheStatisticsSoFar) {
  const Folder folder;
  Start start;
  start.interrupt_after_ms = 700;
  const Exit exit = weft(endless(folder, {}), start);
  EXPECT_EQ(exit.code, 3) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("interrupted"));
  const auto stats = folder.json("out/stats.json");
  EXPECT_EQ(stats.at("interrupted"), true);
  EXPECT_GT(stats.at("cycles"), 0);
  EXPECT_GT(stats.at("thread_instructions"), 0);
  EXPECT_TRUE(folder.has("out/config.json"));
}

TEST(Interruption, ByTheCycleLimitDoesTheSame) {
  const Folder folder;
  const Exit exit = weft(endless(folder, {"--max-cycles", "4321"}));
  EXPECT_EQ(exit.code, 3) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("--max-cycles"));
  const auto stats = folder.json("out/stats.json");
  EXPECT_EQ(stats.at("interrupted"), true);
  EXPECT_NEAR(stats.at("cycles").get<double>(), 4321, 2);
}

TEST(Interruption, DoesNotTouchARunWithinTheLimit) {
  const Exit exit = weft({"run", "--workload", "vector_add", "--size", "n=1000", "--max-cycles", "10000000"});
  EXPECT_EQ(exit.code, 0) << exit.err;
}

// A limit on the size of files stands for a full disk: write() fails in the middle of a file.
TEST(FullDisk, KeepsEarlierResults) {
  const Folder folder;
  const std::vector<std::string> words{"run",   "--workload", "vector_add",      "--size",
                                       "n=500", "--out",      folder.path("out")};
  ASSERT_EQ(weft(words).code, 0);
  const std::string before = folder.text("out/stats.json");

  Start full;
  full.file_size_limit = 16'384;
  ASSERT_GT(before.size(), full.file_size_limit);
  const Exit exit = weft(words, full);
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("stats.json: cannot be written: File too large"));
  EXPECT_THAT(exit.out, HasSubstr("verified")) << "the summary still reaches the terminal";
  EXPECT_EQ(folder.text("out/stats.json"), before) << "the older file is whole";
  EXPECT_EQ(Folder::names_of(folder.path("out")),
            (std::vector<std::string>{"config.json", "stats.json", "summary.txt"}))
      << "and no half file lies beside it";
}

TEST(FullDisk, OfStandardOutput) {
  // As `weft schema > /dev/full`.
  Start start;
  start.output = "/dev/full";
  const Exit exit = weft({"schema"}, start);
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("standard output cannot be written"));
}

TEST(Results, CannotBeWrittenIntoAFile) {
  const Folder folder;
  const auto file = folder.write("file", "");
  const Exit exit = weft({"run", "--workload", "vector_add", "--size", "n=500", "--out", file + "/out"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr(file + "/out"));
  EXPECT_EQ(exit.out, "") << "found before the simulation";
}

}  // namespace
}  // namespace weft::end_to_end
