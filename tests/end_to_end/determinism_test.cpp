// The same run gives the same statistics: again, without sleeping modules, and with the base instruction set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/statistics_sample.h"
#include "end_to_end/process.h"
#include "platform/csv_table.h"
#include "warp_formation/schemes.h"

namespace weft::end_to_end::determinism_test {
namespace {

// stats.json without what depends on the machine that ran it.
std::string comparable(const Folder& folder, const std::string& name) {
  auto stats = folder.json(name + "/stats.json");
  for (const char* key : {"cpu_seconds", "wall_seconds", "peak_memory_bytes"}) {
    EXPECT_EQ(stats.erase(key), 1u) << key;
  }
  return stats.dump(1);
}

std::string run(const Folder& folder, const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--out", folder.path(name)});
  const Exit exit = weft(arguments);
  EXPECT_EQ(exit.code, 0) << exit.out << exit.err;
  return comparable(folder, name);
}

// Both tables against stats.json.
void add_up(const Folder& folder, const std::string& name) {
  const auto stats = folder.json(name + "/stats.json"), config = folder.json(name + "/config.json");
  const test::CsvTable samples(folder.text(name + "/samples.csv")),
      launches(folder.text(name + "/launches.csv"));
  const statistics::Sample tree(stats.at("statistics"));
  const double sms = config.at("sm").at("count").get<double>();
  EXPECT_EQ(samples.sum("cycles"), stats.at("cycles").get<double>() * sms);
  EXPECT_EQ(launches.sum("cycles"), stats.at("cycles").get<double>()) << "they do not overlap";
  EXPECT_EQ(launches.sum("sm_cycles"), stats.at("cycles").get<double>() * sms);
  EXPECT_EQ(static_cast<double>(launches.rows().size()), tree.sum({"gpu", "launches"}));
  for (const test::CsvTable* table : {&samples, &launches}) {
    EXPECT_EQ(table->sum("thread_instructions"), stats.at("thread_instructions").get<double>());
    EXPECT_EQ(table->sum("warp_instructions"), stats.at("warp_instructions").get<double>());
    EXPECT_EQ(table->sum("active_lanes"), tree.sum({"sm", "active_lanes"}));
    EXPECT_EQ(table->sum("threads"), tree.sum({"sm", "threads_launched"}));
    EXPECT_EQ(table->sum("data_requests"), tree.sum({"sm", "memory", "data_requests"}));
    EXPECT_EQ(table->sum("l1d_accesses"), tree.sum({"sm", "memory", "l1d", "accesses"}));
    for (const char* bucket : {"issued", "memory", "dependence", "empty"})
      EXPECT_EQ(table->sum("cycles_" + std::string(bucket)), tree.sum({"sm", "scheduler", "cycles", bucket}));
  }
  EXPECT_EQ(samples.sum("cycles_issued", "sm", "1"), tree.sum({{"sm", 1}, "scheduler", "cycles", "issued"}));
  EXPECT_GT(samples.sum("live_threads"), 0);
  EXPECT_GT(samples.sum("memory.queue"), 0);
}

class Determinism : public ::testing::TestWithParam<const char*> {};

TEST_P(Determinism, OfEveryStatistic) {
  const Folder folder;
  const std::vector<std::string> arguments{"run", "--config", GetParam(), "--workload",
                                           "bfs", "--size",   "n=700"};
  auto sampled = arguments;
  sampled.insert(sampled.end(), {"--sample", "300"});
  const std::string first = run(folder, "first", sampled);
  EXPECT_EQ(run(folder, "second", arguments), first) << "who takes samples only looks on";

  auto awake = sampled;
  awake.emplace_back("--no-sleep");
  EXPECT_EQ(run(folder, "awake", awake), first) << "modules that sleep must count as if they had not";
  for (const char* table : {"/samples.csv", "/launches.csv"})
    EXPECT_EQ(folder.text("awake" + std::string(table)), folder.text("first" + std::string(table)));
  EXPECT_FALSE(folder.has("second/samples.csv"));
  add_up(folder, "first");

  setenv("WEFT_ISA", "base", 1);
  EXPECT_EQ(run(folder, "base", arguments), first)
      << "both compiled versions of the hot loops give the same bits";
  unsetenv("WEFT_ISA");
}

INSTANTIATE_TEST_SUITE_P(All, Determinism,
                         ::testing::Values("crown-tesla", "dwr-tesla", "gtx480", "harp-fermi", "stsimt"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

// At the end of each interval every live thread is in one state, under each scheme.
TEST(ThreadStates, SumToTheLiveThreads) {
  const std::vector<std::string> states{"in_pipeline", "ready", "barrier", "reconvergence", "inactive"};
  for (const std::string& scheme : scheme_classes::all()) {
    SCOPED_TRACE(scheme);
    const Folder folder;
    ASSERT_EQ(weft({"run", "--config", "harp-fermi", "--workload", "bfs", "--size", "n=700", "--sample",
                    "300", "--set", "sm.observe.stalled_threads=true", "warp_formation.scheme=" + scheme,
                    "--out", folder.path()})
                  .code,
              0);
    const test::CsvTable samples(folder.text("samples.csv"));
    for (const auto& row : samples.rows()) {
      unsigned long sum = 0;
      for (const std::string& state : states) sum += std::stoul(row.at("threads." + state));
      ASSERT_EQ(sum, std::stoul(row.at("live_threads"))) << row.at("cycle");
    }
    EXPECT_EQ(samples.sum("threads.reconvergence") != 0, scheme_classes::waits_for_others(scheme));
  }
}

class DeterminismOnGtx480 : public ::testing::TestWithParam<std::string> {};

// Schedulers that are asked only when something has happened choose as those that are asked in every cycle.
TEST_P(DeterminismOnGtx480, OfBarriersAndSharedMemory) {
  for (const char* dependence : {"scoreboard", "barrel"}) {
    SCOPED_TRACE(dependence);
    const Folder folder;
    const std::vector<std::string> arguments{"run",
                                             "--workload",
                                             "reduction",
                                             "--size",
                                             "small",
                                             "--set",
                                             "warp_formation.scheme=" + GetParam(),
                                             "sm.dependence=" + std::string(dependence)};
    auto awake = arguments;
    awake.emplace_back("--no-sleep");
    EXPECT_EQ(run(folder, "awake", awake), run(folder, "first", arguments));
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, DeterminismOnGtx480, ::testing::ValuesIn(scheme_classes::all()),
                         scheme_classes::name_of);

}  // namespace
}  // namespace weft::end_to_end::determinism_test
