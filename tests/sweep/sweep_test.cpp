// Sweeps: files, points and runs, the store. The command itself is tried in tests/end_to_end/sweep_test.cpp.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "folder.h"
#include "refusals.h"
#include "study/judge/experiment_plan.h"
#include "study/plan/plan_file.h"
#include "study/plan/screening_design.h"
#include "study/run/sqlite_store.h"
#include "study/session/csv_reader.h"
#include "weft/common/error.h"

namespace weft::study::sweep_test {
namespace {

using test::Folder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kTwo = R"({"title": "two axes", "config": "harp-fermi", "set": ["sm.observe.events=true"],
  "limits": {"seconds": 1.5, "mebibytes": 100, "core_cycles": 5000},
  "axes": [{"name": "workload", "values": ["bfs", "aes"]},
           {"name": "seed", "values": [1, 2]},
           {"name": "scheme", "values": ["sbr", "dwr-16"]},
           {"name": "size", "values": ["small"]},
           {"name": "l1", "values": {"small": ["sm.l1d.ways=2"], "as it is": []}}]})";

std::string with_axes(const std::string& axes) {
  return R"({"axes": [)" + axes + "]}";
}

TEST(SweepFile, HasARunForEveryCombination) {
  const Folder folder;
  const Plan sweep = plan_of_file(folder.write("two.json", kTwo));
  EXPECT_EQ(sweep.name, "two");
  EXPECT_EQ(sweep.title, "two axes");
  EXPECT_THAT(sweep.axes, ElementsAre("workload", "seed", "scheme", "size", "l1"));
  EXPECT_EQ(sweep.most_seconds, 1.5);
  EXPECT_EQ(sweep.most_bytes, 100u << 20);
  ASSERT_EQ(sweep.points.size(), 16u);
  ASSERT_EQ(sweep.runs.size(), 16u);
  EXPECT_THAT(sweep.points[0].values, ElementsAre("bfs", "1", "sbr", "small", "as it is"));
  EXPECT_THAT(sweep.points[1].values, ElementsAre("bfs", "1", "sbr", "small", "small"));
  EXPECT_THAT(sweep.points[15].values, ElementsAre("aes", "2", "dwr-16", "small", "small"));
  std::set<std::string> ids;
  for (const auto& run : sweep.runs) ids.insert(run.id);
  EXPECT_EQ(ids.size(), 16u);
  const auto& run = sweep.runs[sweep.points[15].run];
  EXPECT_EQ(run.size, "small,seed=2") << "a seed belongs to the size, wherever that stands";
  EXPECT_EQ(run.scheme, "dwr");
  EXPECT_THAT(run.command("there", true),
              ElementsAre("run", "--config", "harp-fermi", "--out", "there", "--max-cycles", "5000", "--set",
                          "sm.observe.events=true", "--set", "warp_formation.dwr.largest_warp=16", "--set",
                          "warp_formation.scheme=dwr", "--set", "sm.l1d.ways=2", "--workload", "aes",
                          "--size", "small,seed=2"));
}

TEST(SweepFile, PointsThatAreTheSameRunShareIt) {
  const Folder folder;
  const Plan sweep = plan_of_file(folder.write(
      "s.json", with_axes(R"({"name": "workload", "values": ["aes"]}, {"name": "size", "values": ["small"]},
                             {"name": "scheme", "values": ["sbr"]},
                             {"name": "l1", "values": {"a": [], "b": ["warp_formation.scheme=sbr"]}})")));
  ASSERT_EQ(sweep.points.size(), 2u);
  EXPECT_EQ(sweep.runs.size(), 1u);
  EXPECT_EQ(sweep.points[1].run, 0u);
}

TEST(SweepFile, AnExperimentIsOne) {
  const Plan sweep = plan_named("harp-schemes");
  EXPECT_THAT(sweep.axes, ElementsAre("program", "variant"));
  EXPECT_GT(sweep.points.size(), 40u);
  EXPECT_THAT(sweep.points[0].values, Contains("sbr"));
  EXPECT_THAT(message_of([] { plan_named("harpy"); }),
              AllOf(HasSubstr("found 'harpy'"), HasSubstr("an experiment: dwr-limits, "),
                    HasSubstr("harp-schemes, ")));
}

TEST(SweepFile, ProgramsAreNamedByWhatIsInThem) {
  const Folder folder;
  const std::string text =
      with_axes(R"({"name": "program", "values": {"mine": {"ptx": "k.ptx", "arguments": ["--grid", "1"]},
                                                  "app": {"cuda": "app"}}})");
  const std::string file = folder.write("s.json", text);
  EXPECT_THAT(message_of([&] { plan_of_file(file); }), HasSubstr("app: cannot be read"));
  folder.write("k.ptx", "one");
  folder.write("app", "x");
  EXPECT_THAT(message_of([&] { plan_of_file(file); }), HasSubstr("app: is not executable"));
  std::filesystem::permissions(folder.path("app"), std::filesystem::perms::owner_all);
  const Plan one = plan_of_file(file), again = plan_of_file(file);
  folder.write("k.ptx", "two");
  const Plan two = plan_of_file(file);
  EXPECT_EQ(one.runs[1].id, again.runs[1].id);
  EXPECT_NE(one.runs[1].id, two.runs[1].id);
  EXPECT_EQ(one.runs[0].id, two.runs[0].id);
  EXPECT_THAT(one.runs[1].command("d", false),
              ElementsAre("run", "--config", "gtx480", "--out", "d", "--no-sync", "--ptx",
                          folder.path("k.ptx"), "--grid", "1"));
  EXPECT_THAT(one.runs[0].command("d", false),
              ElementsAre("cuda", "--config", "gtx480", "--out", "d", "--quiet", "--", folder.path("app")));
  // All machines share the functional runs, with which results are compared.
  EXPECT_THAT(one.runs[1].reference->command("d", false),
              ElementsAre("run", "--config", "gtx480", "--out", "d", "--set", "warp_formation.scheme=sbr",
                          "--no-sync", "--functional", "--ptx", folder.path("k.ptx"), "--grid", "1"));
  EXPECT_THAT(one.runs[0].reference->command("d", false),
              ElementsAre("cuda", "--config", "gtx480", "--out", "d", "--set", "warp_formation.scheme=sbr",
                          "--functional", "--quiet", "--", folder.path("app")));
}

TEST(SweepFile, MistakesAreAnsweredWithTheirPlace) {
  const std::string bfs = R"({"name": "workload", "values": ["bfs"]})";
  EXPECT_THAT(refusal("{"), HasSubstr("s.json:1"));
  EXPECT_THAT(refusal("{}"), HasSubstr("'axes' is missing"));
  EXPECT_THAT(refusal(R"({"axes": [], "plam": 1})"), HasSubstr("unknown key 'plam'"));
  EXPECT_THAT(refusal(with_axes("")), HasSubstr("/axes: found"));
  EXPECT_THAT(refusal(with_axes(R"({"name": "size", "values": ["small"]})")),
              HasSubstr("/axes: need either \"workload\" or \"program\""));
  EXPECT_THAT(refusal(with_axes(bfs + "," + bfs)), HasSubstr("duplicate 'workload'"));
  EXPECT_THAT(refusal(with_axes(R"({"name": "workload", "values": ["bfs", "bfs"]})")),
              HasSubstr("/axes/0/values/1: duplicate 'bfs'"));
  EXPECT_THAT(refusal(with_axes(bfs + R"(,{"name": "seed", "values": [-1]})")),
              HasSubstr("/axes/1/values/0: found -1"));
  EXPECT_THAT(refusal(with_axes(bfs + R"(,{"name": "scheme", "values": ["sbrr"]})")), HasSubstr("sbrr"));
  EXPECT_THAT(refusal(with_axes(bfs + R"(,{"name": "sm.no", "values": [1]})")),
              AllOf(HasSubstr("the run with workload bfs, sm.no 1"), HasSubstr("sm.no")));
  EXPECT_THAT(refusal(with_axes(bfs + R"(,{"name": "x", "values": {"a": ["no"]}})")),
              HasSubstr("/axes/1/values/a/0: found \"no\" (a string); allowed: \"path=value\""));
  EXPECT_THAT(refusal(with_axes(R"({"name": "program", "values": ["p"]})")),
              HasSubstr("/axes/0/values: found"));
  EXPECT_THAT(refusal(with_axes(R"({"name": "program", "values": {"p": {"ptx": "a", "cuda": "b"}}})")),
              HasSubstr("needs either 'ptx' or 'cuda'"));
  EXPECT_THAT(refusal(R"({"limits": {"seconds": 0}, "axes": [)" + bfs + "]}"),
              HasSubstr("/limits/seconds: found 0"));
  EXPECT_THAT(refusal(with_axes(R"({"name": "workload", "values": ["no"]})")),
              AllOf(HasSubstr("the run with workload no"), HasSubstr("bfs")));
}

// --- screening designs ---

TEST(ScreeningDesign, LevelsAreBalancedAndAnyTwoFactorsIndependent) {
  for (std::size_t factors = 1; factors <= kMostFactors; ++factors) {
    for (const bool foldover : {false, true}) {
      const auto design = screening_design(factors, foldover);
      EXPECT_EQ(design.size(), (factors / 4 * 4 + 4) * (foldover ? 2 : 1));
      for (std::size_t a = 0; a < factors; ++a) {
        int balance = 0;
        std::vector<int> together(factors, 0);
        for (const auto& row : design) {
          ASSERT_EQ(row.size(), factors);
          balance += row[a] ? 1 : -1;
          for (std::size_t b = 0; b < a; ++b) together[b] += row[a] == row[b] ? 1 : -1;
        }
        EXPECT_EQ(balance, 0) << factors << " " << a;
        for (std::size_t b = 0; b < a; ++b) EXPECT_EQ(together[b], 0) << factors << " " << a << " " << b;
      }
    }
  }
  EXPECT_THROW(screening_design(0, false), std::invalid_argument);
  EXPECT_THROW(screening_design(kMostFactors + 1, false), std::invalid_argument);
}

TEST(ScreeningDesign, FindsTheEffectsOfASum) {
  const auto design = screening_design(5, false);
  std::vector<double> results;
  for (const auto& row : design) results.push_back(100 + (row[0] ? 8 : 0) - (row[3] ? 30 : 0));
  const auto effects = effects_of(design, results);
  EXPECT_NEAR(effects[0], 8, 1e-9);
  EXPECT_NEAR(effects[1], 0, 1e-9);
  EXPECT_NEAR(effects[3], -30, 1e-9);
}

TEST(ScreeningDesign, AFoldoverFreesEffectsOfInteractions) {
  const auto interaction = [](const std::vector<std::vector<bool>>& design) {
    std::vector<double> results;
    for (const auto& row : design) results.push_back(row[0] && row[1] ? 12 : 0);
    return effects_of(design, results);
  };
  const auto plain = interaction(screening_design(7, false)), folded = interaction(screening_design(7, true));
  double mixed = 0;
  for (std::size_t f = 2; f < 7; ++f) {
    mixed += std::abs(plain[f]);
    EXPECT_NEAR(folded[f], 0, 1e-9);
  }
  EXPECT_GT(mixed, 1) << "there was something to free them of";
}

TEST(SweepFile, AScreeningVariesItsFactorsTogether) {
  const Folder folder;
  const std::string axes =
      R"("axes": [{"name": "workload", "values": ["bfs", "aes"]}, {"name": "size", "values": ["small"]},
    {"name": "sm.l1d.ways", "values": [2, 4]}, {"name": "scheme", "values": ["sbr", "harp"]},
    {"name": "long", "values": {"no": [], "yes": ["sm.pipeline_depth=24"]}}])";
  const Plan sweep = plan_of_file(folder.write("s.json", R"({"config": "harp-fermi", "screening":
    {"factors": ["sm.l1d.ways", "long", "scheme"], "foldover": true}, )" +
                                                             axes + "}"));
  EXPECT_THAT(sweep.factors, ElementsAre(2, 4, 3));
  EXPECT_EQ(sweep.design.size(), 8u);
  ASSERT_EQ(sweep.points.size(), 16u) << "of each workload the design";
  EXPECT_THAT(sweep.points[0].values, ElementsAre("bfs", "small", "4", "sbr", "yes"));
  EXPECT_THAT(sweep.points[3].values, ElementsAre("bfs", "small", "2", "sbr", "no")) << "all first levels";
  EXPECT_EQ(sweep.points[8].values[0], "aes");
  const auto with = [&](const std::string& screening) {
    return refusal("{\"screening\": " + screening + ", " + axes + "}");
  };
  EXPECT_THAT(with(R"({"factors": ["no"]})"), HasSubstr("/screening/factors/0: found \"no\""));
  EXPECT_THAT(with(R"({"factors": ["size"]})"), HasSubstr("'size' has 1 values; allowed: an axis with two"));
  EXPECT_THAT(with(R"({"factors": ["long", "long"]})"), HasSubstr("duplicate 'long'"));
  EXPECT_THAT(with(R"({"factors": ["long"], "foldover": 1})"), HasSubstr("/screening/foldover: found 1"));
}

// --- store ---

Plan two_runs(const Folder& folder) {
  return plan_of_file(folder.write(
      "s.json", with_axes(R"({"name": "workload", "values": ["bfs"]}, {"name": "size", "values": ["small"]},
                             {"name": "scheme", "values": ["sbr", "harp"]})")));
}

StoredRun done(double cycles) {
  StoredRun result;
  result.state = "done";
  result.end.wall_seconds = 3;
  result.end.cpu_seconds = 2;
  result.values = {{"cycles", cycles}, {"sm0.blocks", 1}, {"sm1.blocks", 3}};
  return result;
}

TEST(SweepStoreFile, HasWhatWasRecordedWhenItIsOpenedAgain) {
  const Folder folder;
  const Plan sweep = two_runs(folder);
  const std::string file = folder.path("s.db");
  {
    SqliteStore store(file);
    store.describe(sweep);
    EXPECT_FALSE(store.state_of(sweep.runs[0].id));
    EXPECT_FALSE(store.seconds_of(sweep.runs[0]));
    StoredRun failed;
    failed.state = "fault";
    failed.reason = "a \"bad\" day, all in all";
    failed.end.code = 3;
    store.record(sweep.runs[0], failed);
    store.record(sweep.runs[1], done(70));
    EXPECT_EQ(store.sweeps().at(0).failed, 1u);
  }
  SqliteStore store(file);
  EXPECT_EQ(store.state_of(sweep.runs[0].id), "fault");
  store.record(sweep.runs[0], done(50));
  EXPECT_EQ(store.seconds_of(sweep.runs[0]), 2);
  const auto summary = store.sweeps();
  ASSERT_EQ(summary.size(), 1u);
  EXPECT_EQ(summary[0].name, "s");
  EXPECT_EQ(summary[0].points, 2u);
  EXPECT_EQ(summary[0].done, 2u);
  EXPECT_EQ(summary[0].failed, 0u);
  const auto rows = store.json("s");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("axes").at("scheme"), "sbr");
  EXPECT_EQ(rows[0].at("run").at("attempts"), 2) << "one failed";
  EXPECT_EQ(rows[1].at("run").at("attempts"), 1);
  EXPECT_EQ(rows[0].at("values"), nlohmann::ordered_json({{"cycles", 50}}))
      << "of the failed run none are left";

  SQLite::Database database(file);
  EXPECT_EQ(database.execAndGet("SELECT COUNT(*) FROM value").getInt(), 6);
  SQLite::Statement total(database,
                          "SELECT sum, least, most, instances FROM total WHERE kind = 'sm*.blocks'");
  ASSERT_TRUE(total.executeStep());
  EXPECT_EQ(total.getColumn(0).getDouble(), 4);
  EXPECT_EQ(total.getColumn(1).getDouble(), 1);
  EXPECT_EQ(total.getColumn(2).getDouble(), 3);
  EXPECT_EQ(total.getColumn(3).getInt(), 2);
}

TEST(SweepStoreFile, HasAllValuesOfARun) {
  const Folder folder;
  const Plan sweep = two_runs(folder);
  const std::string file = folder.path("s.db");
  for (const std::size_t count : {0u, 1u, 99u, 100u, 101u, 250u}) {
    StoredRun result = done(50);
    result.values.clear();
    for (std::size_t i = 0; i < count; ++i)
      result.values.emplace_back("part" + std::to_string(i) + ".number", static_cast<double>(i) / 4);
    SqliteStore(file).record(sweep.runs[0], result);
    const SqliteStore store(file);
    for (std::size_t i = 0; i < 250; ++i) {
      const auto value = store.value_of(sweep.runs[0].id, "part" + std::to_string(i) + ".number");
      ASSERT_EQ(value.has_value(), i < count) << count << " " << i;
      if (!value.has_value()) continue;
      EXPECT_EQ(*value, static_cast<double>(i) / 4);
    }
  }
  SQLite::Database database(file);
  EXPECT_EQ(database.execAndGet("SELECT COUNT(*) FROM value").getInt(), 250)
      << "of the runs before none are left";
  EXPECT_EQ(database.execAndGet("SELECT COUNT(*) FROM configuration").getInt(), 1);
  SQLite::Statement broken(database, "PRAGMA foreign_key_check");
  EXPECT_FALSE(broken.executeStep());
}

TEST(SweepStoreFile, IsATableForOthers) {
  const Folder folder;
  const Plan sweep = two_runs(folder);
  SqliteStore store(folder.path("s.db"));
  store.describe(sweep);
  StoredRun failed;
  failed.state = "fault";
  failed.reason = "a \"bad\" day, all in all";
  store.record(sweep.runs[1], failed);
  const std::string text = store.csv("s");
  CsvReader table(text, "s.csv");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.cell(table.column("scheme")), "sbr");
  EXPECT_EQ(table.cell(table.column("run.state")), "") << "not run yet";
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.whole(table.column("point")), 2u);
  EXPECT_EQ(table.cell(table.column("run.reason")), failed.reason);
  EXPECT_FALSE(table.next());
}

TEST(SweepStoreFile, NothingElseIsTakenForAStore) {
  const Folder folder;
  EXPECT_THAT(
      message_of([&] { SqliteStore store(folder.write("text.db", std::string(5000, 'x'))); }),
      AllOf(HasSubstr("text.db: cannot be used as a store"), HasSubstr("allowed: a store of weft sweep")));
  {
    SQLite::Database other(folder.path("other.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE mine(x)");
  }
  EXPECT_THAT(message_of([&] { SqliteStore store(folder.path("other.db")); }),
              HasSubstr("is another kind of database"));
  EXPECT_THAT(message_of([&] { SqliteStore store(folder.path("none/s.db")); }), HasSubstr("unable to open"));
  SQLite::Database other(folder.path("other.db"));
  EXPECT_EQ(other.execAndGet("SELECT COUNT(*) FROM sqlite_master").getInt(), 1) << "it is as it was";
}

TEST(SweepStoreFile, MetricsArePathsOfNumbers) {
  const auto results = nlohmann::ordered_json::parse(
      R"({"cycles": 3, "size": {"n": 1}, "verified": true, "wall_seconds": 1, "utilisation": {"l2": {"mean": 0.5}},
          "statistics": {"gpu": {"cycles": 3}, "l2_0": {"bins": [1, 2], "name": "x"}}})");
  EXPECT_THAT(metrics_of(results),
              ElementsAre(std::pair("cycles", 3.0), std::pair("utilisation.l2.mean", 0.5),
                          std::pair("gpu.cycles", 3.0), std::pair("l2_0.bins[0]", 1.0),
                          std::pair("l2_0.bins[1]", 2.0)));
  EXPECT_EQ(kind_of_metric("sm12.memory.l1d.hits"), "sm*.memory.l1d.hits");
  EXPECT_EQ(kind_of_metric("l2_0.bins[1]"), "l2_*.bins[1]");
  EXPECT_EQ(kind_of_metric("gpu.cycles2"), "gpu.cycles2");
}

}  // namespace
}  // namespace weft::study::sweep_test
