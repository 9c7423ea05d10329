// Runs that end early, and results that cannot be written: what is there is kept, and said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/output_files.h"
#include "end_to_end/kernels.h"
#include "end_to_end/process.h"
#include "platform/csv_table.h"
#include "vcd/timeline_reader.h"

namespace weft::end_to_end::interruption_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// As batch systems end a program, and `timeout`, which sends the signal to it and to its group.
TEST(Interruption, BySigtermAndSighupDoesTheSame) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const Folder folder;
    Start start;
    start.interrupt_after_ms = 500;
    start.signal = signal;
    start.signals = 2;
    const Exit exit = weft(endless(folder, {}), start);
    EXPECT_EQ(exit.code, 3) << signal << exit.err;
    EXPECT_THAT(exit.err, HasSubstr("interrupted"));
    ASSERT_TRUE(folder.has("out/stats.json")) << signal;
    EXPECT_EQ(folder.json("out/stats.json").at("interrupted"), true);
    EXPECT_EQ(folder.json("out/run.json").at("finished"), false);
  }
}

TEST(Interruption, ByTheCycleLimitDoesTheSame) {
  const Folder folder;
  const Exit exit = weft(endless(folder, {"--max-cycles", "4321", "--sample", "1000"}));
  EXPECT_EQ(exit.code, 3) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("--max-cycles"));
  const auto stats = folder.json("out/stats.json");
  EXPECT_EQ(stats.at("interrupted"), true);
  EXPECT_EQ(folder.json("out/run.json").at("finished"), true) << "it ends there every time";
  EXPECT_NEAR(stats.at("cycles").get<double>(), 4321, 2);
  // The tables have what there is, and the last interval as far as it went.
  const test::CsvTable launches(folder.text("out/launches.csv")), samples(folder.text("out/samples.csv"));
  ASSERT_EQ(launches.rows().size(), 1U);
  EXPECT_EQ(launches.rows()[0].at("end"), "stopped");
  EXPECT_EQ(launches.sum("cycles"), stats.at("cycles").get<double>());
  for (const test::CsvTable* table : {&launches, &samples})
    EXPECT_EQ(table->sum("thread_instructions"), stats.at("thread_instructions").get<double>());
  EXPECT_EQ(samples.sum("cycles", "sm", "0"), stats.at("cycles").get<double>());
  EXPECT_EQ(samples.rows().back().at("cycle"), "5000");
}

TEST(Tables, OfAKernelThatFaults) {
  const Folder folder;
  const std::string kernel = folder.write("fault.ptx", R"(.version 6.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  mov.u64 %rd1, 0;
  mov.u32 %r1, %tid.x;
  add.u32 %r2, %r1, 1;
  st.global.u32 [%rd1], %r2;
  ret;
})");
  const Exit exit = weft({"run", "--ptx", kernel, "--grid", "1", "--block", "32", "--arg", "ptr:4",
                          "--sample", "100", "--out", folder.path("out")});
  EXPECT_EQ(exit.code, 3) << exit.err;
  const auto stats = folder.json("out/stats.json");
  const test::CsvTable launches(folder.text("out/launches.csv")), samples(folder.text("out/samples.csv"));
  ASSERT_EQ(launches.rows().size(), 1U);
  EXPECT_EQ(launches.rows()[0].at("end"), "faulted");
  EXPECT_EQ(launches.rows()[0].at("kernel"), "k");
  EXPECT_GT(stats.at("thread_instructions").get<double>(), 0);
  for (const test::CsvTable* table : {&launches, &samples})
    EXPECT_EQ(table->sum("thread_instructions"), stats.at("thread_instructions").get<double>());
}

// What lies in the folder is of the last run, or gone.
TEST(Tables, OfAnEarlierRunGo) {
  const Folder folder;
  const std::vector<std::string> words{"run",    "--workload", "vector_add",      "--size",
                                       "n=1000", "--out",      folder.path("out")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return weft(more).code;
  };
  EXPECT_EQ(with({"--sample", "200"}), 0);
  EXPECT_TRUE(folder.has("out/samples.csv"));
  EXPECT_EQ(with({}), 0);
  EXPECT_FALSE(folder.has("out/samples.csv"));
  EXPECT_TRUE(folder.has("out/launches.csv"));
  EXPECT_EQ(with({"--functional"}), 0);
  EXPECT_FALSE(folder.has("out/launches.csv"));
  EXPECT_TRUE(folder.has("out/stats.json"));
}

TEST(Tables, NeedAFolderAndCycles) {
  const Exit nowhere = weft({"run", "--workload", "vector_add", "--size", "n=1000", "--sample", "100"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--out"));
  const Folder folder;
  const Exit untimed = weft({"run", "--workload", "vector_add", "--size", "n=1000", "--sample", "100",
                             "--functional", "--out", folder.path("out")});
  EXPECT_EQ(untimed.code, 2);
  EXPECT_THAT(untimed.err, HasSubstr("--functional"));
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
  const std::string before = folder.text("out/stats.json"), config = folder.text("out/config.json");

  Start full;
  full.file_size_limit = 16'384;
  ASSERT_GT(before.size(), full.file_size_limit);
  std::vector<std::string> other = words;
  other.insert(other.end(), {"--set", "sm.count=3"});
  const Exit exit = weft(other, full);
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("stats.json: cannot be written: File too large"));
  EXPECT_THAT(exit.out, HasSubstr("verified")) << "the summary still reaches the terminal";
  EXPECT_EQ(folder.text("out/stats.json"), before) << "the older file is whole";
  EXPECT_EQ(folder.text("out/config.json"), config) << "and the others are of the same run";
  EXPECT_EQ(
      Folder::names_of(folder.path("out")),
      (std::vector<std::string>{"config.json", "launches.csv", "run.json", "stats.json", "summary.txt"}))
      << "and no half file lies beside it";
  EXPECT_EQ(Folder::names_of(folder.path()), (std::vector<std::string>{"out"}));
}

TEST(FullDisk, EndsTheTableOfTransactionsAtAWholeRow) {
  const Folder folder;
  Start full;
  full.file_size_limit = 16'384;
  const Exit exit = weft(
      {"run", "--workload", "vector_add", "--size", "n=20000", "--transactions", folder.path("t.csv")}, full);
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_THAT(exit.err,
              HasSubstr("t.csv: cannot be written: File too large; what was written before is kept"));
  EXPECT_THAT(exit.out, HasSubstr("verified"));
  const std::string text = folder.text("t.csv");
  EXPECT_GT(text.size(), 15'000U);
  EXPECT_EQ(text.substr(text.size() - 4), ",ok\n");
}

TEST(FullDisk, EndsTheTimelineAtAWholeEvent) {
  const Folder folder;
  Start full;
  full.file_size_limit = 1'200'000;
  const Exit exit = weft({"run", "--workload", "vector_add", "--size", "n=20000", "--timeline",
                          folder.path("t"), "--out", folder.path("out")},
                         full);
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("/t: cannot be written: File too large; what was written before is kept"));
  EXPECT_THAT(exit.out, HasSubstr("verified"));
  EXPECT_EQ(folder.json("out/stats.json").at("verified"), true) << "the results are there nevertheless";
  const std::string text = folder.text("t");
  EXPECT_GT(text.size(), 1'199'000U);
  // Slices that are open on a full disk do not end; all else is whole.
  try {
    const test::TimelineFile file(folder.path("t"));
    ADD_FAILURE() << "a slice was open";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a slice that does not end"));
  }
}

TEST(Timeline, OfARunThatReachesItsSizeIsNoError) {
  const Folder folder;
  const Exit exit = weft({"run", "--workload", "vector_add", "--size", "n=20000", "--timeline",
                          folder.path("t"), "--timeline-bytes", "300000"});
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(
      exit.err,
      HasSubstr("because it has reached its limit of 300000 bytes; --timeline-bytes raises the limit"));
  EXPECT_THAT(exit.out, HasSubstr("verified"));
  const test::TimelineFile file(folder.path("t"));
  EXPECT_LE(folder.text("t").size(), 300'000U);
  EXPECT_EQ(file.instants.back().track, "end of the timeline");
}

TEST(FullDisk, OfStandardOutput) {
  // As `weft schema > /dev/full`.
  Start start;
  start.output = "/dev/full";
  const Exit exit = weft({"schema"}, start);
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("standard output cannot be written"));
}

TEST(FullDisk, OfAReaderThatGoes) {
  const Folder folder;
  Start start;
  start.without_output = true;
  const Exit exit = weft({"run", "--workload", "vector_add", "--size", "n=500", "--out", folder.path("out"),
                          "--vcd", folder.path("a.vcd")},
                         start);
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("standard output cannot be written"));
  EXPECT_EQ(folder.json("out/stats.json").at("verified"), true) << "the results are there nevertheless";
  EXPECT_THAT(folder.text("a.vcd"), Not(HasSubstr("verified")))
      << "no file takes the place of standard output";
}

TEST(Results, OfAFinishedRunAreElsewhereIfTheirNamesAreTaken) {
  const Folder folder;
  make_folder(folder.path("out/stats.json"));
  const Exit exit =
      weft({"run", "--workload", "vector_add", "--size", "n=500", "--out", folder.path("out") + "/"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("out/stats.json: cannot be written: Is a directory; the results are in " +
                                  folder.path("out-")));
  const auto names = Folder::names_of(folder.path());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(folder.json(names[1] + "/stats.json").at("verified"), true);
  EXPECT_EQ(Folder::names_of(folder.path("out")), (std::vector<std::string>{"stats.json"})) << "all or none";
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
}  // namespace weft::end_to_end::interruption_test
