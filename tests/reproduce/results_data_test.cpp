// Stored numbers of runs, and names of an older Weft. Pages that come out of data are tried in
// tests/end_to_end/results_data_test.cpp.
#include "study/judge/results_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "folder.h"
#include "papers.h"
#include "study/run/renames.h"

namespace weft::study::results_data_test {
namespace {

using reproduce_test::library;
using reproduce_test::message_of;
using test::Folder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// An experiment with numbers that are made up: 1 to 8 cycles for its runs, in order.
struct Made {
  Experiment experiment = library().read("stsimt-example");
  ExperimentPlan plan{experiment};
  RunTable table = plan.empty_table();

  Made() {
    double cycles = 0;
    for (const auto& entry : plan.entries()) {
      RunResult& result = table[0][entry.place];
      result.result = "verified";
      result.build = "0.1.0 a";
      result.work = entry.run->work;
      result.machine = entry.run->effective;
      for (const std::string& key : plan.wanted(entry).keys) result.reading.numbers[key] = 0.1;
      result.reading.numbers["/cycles"] = ++cycles;
      result.reading.bound = "latency";
    }
  }
  std::string text() const { return data_text(plan, table, "weft reproduce stsimt-example"); }
  // What the data lack.
  std::vector<std::string> missing(const std::string& data) const {
    const Folder folder;
    folder.write("x.json", data);
    std::vector<std::string> missing;
    ResultsData(folder.path("x.json")).table(plan, missing);
    return missing;
  }
  std::string refused(const nlohmann::json& data) const {
    return message_of([&] { missing(data.dump()); });
  }
};

TEST(ResultsData, ComeBackAsTheyWere) {
  const Made made;
  const Folder folder;
  folder.write("x.json", made.text());
  const ResultsData data(folder.path("x.json"));
  EXPECT_EQ(data.command(), "weft reproduce stsimt-example");
  std::vector<std::string> missing;
  const RunTable table = data.table(made.plan, missing);
  EXPECT_THAT(missing, SizeIs(0));
  for (const auto& entry : made.plan.entries()) {
    const RunResult &before = made.table[0][entry.place], &after = table[0][entry.place];
    EXPECT_EQ(after.reading.numbers, before.reading.numbers);
    EXPECT_EQ(after.reading.bound, "latency");
    EXPECT_EQ(after.build, "0.1.0 a");
    EXPECT_EQ(*after.machine, *before.machine);
  }
  EXPECT_TRUE(data_text(made.plan, table, data.command()) == made.text());
}

TEST(ResultsData, SayWhatTheyLack) {
  Made made;
  const std::string all = made.text();
  nlohmann::json fewer = nlohmann::json::parse(all);
  fewer["runs"].erase(1);
  EXPECT_THAT(made.missing(fewer.dump()), ElementsAre(HasSubstr("lacks 1 run (the first: ")));

  // Another machine than the experiment has now.
  nlohmann::json other = nlohmann::json::parse(all);
  other["config"]["sm"]["pipeline_depth"] = 99;
  EXPECT_THAT(made.missing(other.dump()), ElementsAre(HasSubstr("of another machine or program")));
  // A key that is not there has its default, as in a build that did not know it.
  nlohmann::json older = nlohmann::json::parse(all);
  const auto effective = nlohmann::json::parse(*made.plan.plan().runs[0].effective);
  ASSERT_EQ(effective.at("sm").at("l1i").at("kept"), false);
  older["config"]["sm"]["l1i"].erase("kept");
  EXPECT_THAT(made.missing(older.dump()), SizeIs(0));

  // A measure of counters that nobody kept.
  made.experiment.measures.push_back({"new", "new", 3, {"sm.memory.l1d.fills"}, {}, {}, {}, 1, ""});
  EXPECT_THAT(made.missing(all), ElementsAre(AllOf(HasSubstr("lacks counters"), HasSubstr("l1d.fills"))));
}

TEST(ResultsData, AreRefusedWithThePlace) {
  const Made made;
  const nlohmann::json good = nlohmann::json::parse(made.text());
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    return made.refused(bad);
  };
  EXPECT_EQ(made.refused(good), "no error");
  EXPECT_THAT(with("/format", 2), HasSubstr("/format: found 2"));
  EXPECT_THAT(with("/experiment", "harp-schemes"), HasSubstr("allowed: \"stsimt-example\""));
  EXPECT_THAT(with("/runs/0/numbers", {1}), AllOf(HasSubstr("/runs/0/numbers"), HasSubstr("one for each")));
  EXPECT_THAT(with("/runs/0/numbers/0", "x"), AllOf(HasSubstr("/runs/0/numbers/0"), HasSubstr("a number")));
  EXPECT_THAT(with("/runs/0/machine", 99), AllOf(HasSubstr("/runs/0/machine"), HasSubstr("below ")));
  EXPECT_THAT(with("/runs/0/machine", -1), HasSubstr("/runs/0/machine"));
  EXPECT_THAT(with("/runs/0", good["runs"][1]), AllOf(HasSubstr("/runs/1"), HasSubstr("duplicate")));
  EXPECT_THAT(with("/machines/0", "x"), AllOf(HasSubstr("/machines/0"), HasSubstr("RFC 6902")));
  EXPECT_THAT(with("/config/sm/nonsense", 1), HasSubstr("nonsense"));
  EXPECT_THAT(with("/builds", nlohmann::json::array()), HasSubstr("'builds'"));
}

// --- names that changed ---

const std::vector<Rename> kRenames{{"sm*.memory.old", "sm*.memory.fresh"},
                                   {"l2_*.old.hits", "l2_*.fresh.hits"},
                                   {"sm.depth", "sm.front.depth"}};

TEST(Renames, GiveStatisticsTheNamesOfToday) {
  auto statistics = nlohmann::ordered_json::parse(
      R"({"sm0": {"memory": {"a": 1, "old": 2, "b": 3}}, "sm1": {"memory": {"old": 4}},
          "smart": {"memory": {"old": 5}}, "l2_0": {"old": {"hits": 6, "old": 7}}})");
  rename_statistics(statistics, kRenames);
  EXPECT_EQ(statistics.dump(), R"({"sm0":{"memory":{"a":1,"fresh":2,"b":3}},"sm1":{"memory":{"fresh":4}},)"
                               R"("smart":{"memory":{"old":5}},"l2_0":{"fresh":{"hits":6,"old":7}}})");
  EXPECT_EQ(renamed_path("sm3.memory.old", kRenames), "sm3.memory.fresh");
  EXPECT_EQ(renamed_path("sm.memory.old", kRenames), "sm.memory.fresh");
  EXPECT_EQ(renamed_path("sm*.memory.old", kRenames), "sm*.memory.fresh");
  EXPECT_EQ(renamed_path("sm3.memory.older", kRenames), "sm3.memory.older");
  EXPECT_EQ(renamed_path("/cycles", kRenames), "/cycles");
}

TEST(Renames, MoveKeysOfAConfiguration) {
  auto config = nlohmann::json::parse(R"({"sm": {"depth": 8, "count": 2}})");
  rename_keys(config, kRenames);
  EXPECT_EQ(config.dump(), R"({"sm":{"count":2,"front":{"depth":8}}})");
  // Under both names: the reader of configurations refuses the old one.
  auto both = nlohmann::json::parse(R"({"sm": {"depth": 8, "front": {"depth": 9}}})");
  const auto before = both;
  rename_keys(both, kRenames);
  EXPECT_EQ(both, before);
}

// Memory channels were called gddr5 in 0.1.
TEST(Renames, KnowTheGroupsOfOlderVersions) {
  auto statistics = nlohmann::ordered_json::parse(R"({"gddr5_0": {"reads": 1}, "gddr5_11": {"reads": 2}})");
  rename_statistics(statistics);
  EXPECT_EQ(statistics.dump(), R"({"dram0":{"reads":1},"dram11":{"reads":2}})");
  EXPECT_EQ(renamed_path("gddr5_3.reads"), "dram3.reads");
  EXPECT_EQ(renamed_path("gddr5_*.reads"), "dram*.reads");
  EXPECT_EQ(renamed_path("gddr5.reads"), "dram.reads");
  EXPECT_EQ(renamed_path("gddr5x.reads"), "gddr5x.reads");
  auto config = nlohmann::json::parse(R"({"gddr5": {"t_cl": 12}})");
  rename_keys(config);
  EXPECT_EQ(config.dump(), R"({"dram":{"t_cl":12}})");
  EXPECT_EQ(renamed_setting("gddr5.t_cl=4"), "dram.t_cl=4");
  EXPECT_EQ(renamed_setting("seed=2"), "seed=2");
}

}  // namespace
}  // namespace weft::study::results_data_test
