// `weft sweep`: runs into a database, killed at any moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "end_to_end/process.h"

namespace weft::end_to_end::sweep_test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string sweep_text(const std::string& limits = "") {
  return R"({"config": "harp-fermi", )" + limits + R"("axes": [
    {"name": "workload", "values": ["bfs", "aes"]}, {"name": "size", "values": ["small"]},
    {"name": "scheme", "values": ["sbr", "dwf", "harp"]}, {"name": "seed", "values": [1, 2]}]})";
}

std::vector<std::string> command(const Folder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"sweep",    folder.path("s.json"),     "--store", folder.path("s.db"),
                                 "--export", folder.path("s.json.json")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// What the store has, without what is another with each time that the runs are done.
ordered_json rows_of(const Folder& folder) {
  ordered_json rows = folder.json("s.json.json");
  for (ordered_json& row : rows) {
    for (const char* key : {"ended", "wall_seconds", "cpu_seconds", "peak_bytes", "number"})
      row["run"].erase(key);
  }
  return rows;
}

// Runs of the sweep in this folder that are under way.
std::vector<pid_t> workers(const Folder& folder) {
  return processes_with(folder.path("s.db.runs"));
}

TEST(Sweep, RunsWhatTheStoreDoesNotHave) {
  const Folder folder;
  folder.write("s.json", sweep_text());
  const Exit first = weft(command(folder));
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, AllOf(HasSubstr("12 of 12 runs to do"), HasSubstr("12 of 12 runs done, 100 %")));
  EXPECT_THAT(first.out, HasSubstr("12 runs: 12 done, 0 failed, 0 to do"));
  const ordered_json rows = rows_of(folder);
  ASSERT_EQ(rows.size(), 12u);
  const Exit again = weft(command(folder));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("0 of 12 runs to do"));
  EXPECT_EQ(rows_of(folder), rows);

  // The numbers are those of the run.
  const Exit run = weft({"run", "--config", "harp-fermi", "--set", "warp_formation.scheme=harp", "--workload",
                         "aes", "--size", "small,seed=2", "--out", folder.path("run")});
  ASSERT_EQ(run.code, 0);
  const ordered_json results = folder.json("run/stats.json");
  EXPECT_EQ(rows[11].at("axes").at("scheme"), "harp");
  EXPECT_EQ(rows[11].at("values").at("cycles"), results.at("cycles"));
  EXPECT_EQ(rows[11].at("values").at("gpu.launches"), results.at("statistics").at("gpu").at("launches"));

  const Exit listed = weft({"sweep", "--store", folder.path("s.db")});
  EXPECT_THAT(listed.out, HasSubstr("s: 12 of 12 points done"));
}

// All make the store, or find it half made.
TEST(Sweep, SeveralMayBeginOneStoreTogether) {
  constexpr std::size_t kProcesses = 6;
  for (int round = 0; round < 8; ++round) {
    const Folder folder;
    folder.write("s.json", sweep_text());
    std::vector<Exit> exits(kProcesses);
    std::vector<std::thread> threads;
    threads.reserve(kProcesses);
    for (Exit& exit : exits) {
      threads.emplace_back([&] {
        exit = weft({"sweep", folder.path("s.json"), "--store", folder.path("s.db"), "--plan"}, patient(100));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Exit& exit : exits) {
      EXPECT_EQ(exit.code, 0) << exit.err;
      EXPECT_EQ(exit.out, exits[0].out);
    }
  }
}

// Runs that two sweeps record at the same time have metrics of the same names.
TEST(Sweep, TwoMayFillOneStoreTogether) {
  const Folder folder;
  for (const char* name : {"a", "b"}) {
    folder.write(std::string(name) + ".json", R"({"config": "gtx480", "set": ["sm.count=1"], "axes": [
      {"name": "workload", "values": ["bfs"]}, {"name": "size", "values": ["small"]},
      {"name": "scheme", "values": [")" + std::string(*name == 'a' ? "sbr" : "dwf") +
                                                  R"("]}, {"name": "seed", "values": [1, 2, 3]}]})");
  }
  std::vector<Exit> exits(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < exits.size(); ++i) {
    threads.emplace_back([&, i] {
      exits[i] = weft(
          {"sweep", folder.path(i == 0 ? "a.json" : "b.json"), "--store", folder.path("s.db"), "--jobs", "2"},
          patient(100));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Exit& exit : exits) EXPECT_EQ(exit.code, 0) << exit.err;
  for (const char* name : {"a", "b"}) {
    const std::string text = std::string(name) + ".json";
    const Exit again = weft(
        {"sweep", folder.path(text), "--store", folder.path("s.db"), "--export", folder.path("rows.json")});
    EXPECT_EQ(again.code, 0) << again.err;
    const ordered_json rows = folder.json("rows.json");
    ASSERT_EQ(rows.size(), 3u);
    for (const auto& row : rows) {
      EXPECT_EQ(row.at("run").at("state"), "done");
      EXPECT_GT(row.at("values").at("cycles").get<double>(), 0);
    }
  }
}

TEST(Sweep, KilledAtAnyMomentEndsAsUndisturbed) {
  const Folder undisturbed;
  undisturbed.write("s.json", sweep_text());
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(weft(command(undisturbed)).code, 0);
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  const ordered_json wanted = rows_of(undisturbed);

  std::mt19937 random(4321);
  int lost = 0, kept = 0;
  std::size_t before = 0;
  Folder folder;
  folder.write("s.json", sweep_text());
  for (int round = 0; round < 20; ++round) {
    Start start;
    start.signal = SIGKILL;
    start.interrupt_after_ms = 1 + static_cast<int>(random() % static_cast<unsigned>(whole));
    const Exit exit = weft(command(folder), start);
    EXPECT_TRUE(exit.code == 0 || exit.code == 128 + SIGKILL) << exit.code << exit.err;
    if (exit.code != 0) ++lost;
    EXPECT_TRUE(end_soon(folder.path())) << "its runs go with it";
    // What was recorded is there.
    const Exit plan = weft({"sweep", folder.path("s.json"), "--store", folder.path("s.db"), "--plan"});
    std::size_t done = 0;
    for (std::size_t at = 0; (at = plan.out.find("  done  ", at)) != std::string::npos; ++at) ++done;
    EXPECT_GE(done, before) << plan.out << plan.err;
    kept += before > 0 ? 1 : 0;
    before = done;
    if (done < 12 && round < 19) continue;
    ASSERT_EQ(weft(command(folder)).code, 0);
    EXPECT_EQ(rows_of(folder), wanted);
    for (const char* name : {"s.db", "s.db-wal", "s.db-shm"}) std::filesystem::remove(folder.path(name));
    before = 0;
  }
  EXPECT_GT(lost, 0);
  EXPECT_GT(kept, 0) << "there was something to lose";
}

TEST(Sweep, AWorkerThatIsKilledIsRecordedAndRepeated) {
  const Folder folder;
  folder.write("s.json", sweep_text());
  std::atomic<bool> over{false};
  std::atomic<int> killed{0};
  std::thread hunter([&] {
    while (!over && killed < 3) {
      for (const pid_t worker : workers(folder)) {
        // Not a process that is about to become one: its parent would seem to be killed.
        if (command_line(worker).find("sweep") == std::string::npos && kill(worker, SIGKILL) == 0) ++killed;
      }
      usleep(20'000);
    }
  });
  const Exit first = weft(command(folder));
  over = true;
  hunter.join();
  ASSERT_GT(killed, 0);
  ASSERT_EQ(first.code, 3) << first.err;
  EXPECT_THAT(first.err, HasSubstr("killed by signal 9"));
  const Exit second = weft(command(folder));
  EXPECT_EQ(second.code, 3);
  EXPECT_THAT(second.err, HasSubstr(" 0 of 12 runs to do")) << "what failed is not repeated unasked";
  const Exit third = weft(command(folder, {"--retry"}));
  EXPECT_EQ(third.code, 0) << third.err;
  int attempts = 0;
  for (const ordered_json& row : rows_of(folder)) {
    EXPECT_EQ(row.at("run").at("state"), "done");
    attempts += row.at("run").at("attempts").get<int>();
  }
  EXPECT_GT(attempts, 12);
}

TEST(Sweep, LimitsEndRuns) {
  const Folder folder;
  folder.write("s.json", R"({"config": "gtx480", "limits": {"seconds": 0.3}, "axes": [
    {"name": "workload", "values": ["bfs"]}, {"name": "size", "values": ["default"]}]})");
  const Exit time = weft(command(folder));
  EXPECT_EQ(time.code, 3);
  EXPECT_THAT(time.err, HasSubstr("time: more than 0.3 s"));
  folder.write("s.json", R"({"config": "gtx480", "limits": {"mebibytes": 8}, "axes": [
    {"name": "workload", "values": ["bfs"]}, {"name": "size", "values": ["default"]}]})");
  const Exit memory = weft(command(folder, {"--retry"}));
  EXPECT_EQ(memory.code, 3);
  EXPECT_THAT(memory.err, HasSubstr("memory: more than 8 MiB"));
  folder.write("s.json", R"({"config": "gtx480", "limits": {"core_cycles": 100}, "axes": [
    {"name": "workload", "values": ["bfs"]}, {"name": "size", "values": ["small"]}]})");
  const Exit cycles = weft(command(folder));
  EXPECT_EQ(cycles.code, 3);
  EXPECT_THAT(cycles.err, HasSubstr("fault: "));
}

TEST(Sweep, AScreeningTellsWhatEachFactorChanges) {
  const Folder folder;
  folder.write("s.json",
               R"({"config": "harp-fermi", "screening": {"factors": ["sm.pipeline_depth", "scheme"]},
    "axes": [{"name": "workload", "values": ["bfs"]}, {"name": "size", "values": ["small"]},
             {"name": "scheme", "values": ["sbr", "harp"]}, {"name": "sm.pipeline_depth", "values": [8, 24]}]})");
  const Exit exit = weft(command(folder, {"--effects", "cycles"}));
  ASSERT_EQ(exit.code, 0) << exit.err;
  // The design of two factors has all four combinations.
  double mean = 0, deep = 0;
  for (const ordered_json& row : rows_of(folder)) {
    const double cycles = row.at("values").at("cycles").get<double>();
    mean += cycles / 4;
    deep += (row.at("axes").at("sm.pipeline_depth") == "24" ? cycles : -cycles) / 2;
  }
  EXPECT_GT(deep, 0);
  std::ostringstream heading, wanted;
  heading << "cycles, workload bfs, size small; mean " << mean << "\n";
  wanted << "sm.pipeline_depth  8      24      +" << deep;
  EXPECT_THAT(exit.out, AllOf(HasSubstr(heading.str()), HasSubstr(wanted.str())));
  folder.write("s.json", sweep_text());
  EXPECT_THAT(weft(command(folder, {"--effects", "cycles"})).err,
              HasSubstr("--effects: is allowed for a sweep with \"screening\" only"));
}

// Depth and ways of the cache decide; schemes less so.
std::string search_text(const std::string& halving) {
  return R"({"config": "harp-fermi", "set": ["sm.observe.events=true"], )" + halving + R"("axes": [
    {"name": "workload", "values": ["bfs", "aes"]},
    {"name": "size", "values": ["small,seed=1", "small,seed=2", "small,seed=3"]},
    {"name": "scheme", "values": ["sbr", "harp"]}, {"name": "sm.l1d.ways", "values": [1, 4]},
    {"name": "sm.pipeline_depth", "values": [8, 24]}]})";
}

const char* const kHalving = R"("halving": {"rungs": "size", "metric": "cycles", "keep_one_in": 2}, )";

// By the last of the three sizes: the combination with the least product of both programs' cycles.
std::string best_of(const ordered_json& rows) {
  std::map<std::string, double> products;
  for (const ordered_json& row : rows) {
    const ordered_json& axes = row.at("axes");
    if (axes.at("size") != "small,seed=3") continue;
    const std::string name = "scheme " + axes.at("scheme").get<std::string>() + ", sm.l1d.ways " +
                             axes.at("sm.l1d.ways").get<std::string>() + ", sm.pipeline_depth " +
                             axes.at("sm.pipeline_depth").get<std::string>();
    products.try_emplace(name, 1).first->second *= row.at("values").at("cycles").get<double>();
  }
  return std::min_element(products.begin(), products.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

TEST(Sweep, ASearchFindsTheBestWithFewerRuns) {
  const Folder folder, all;
  all.write("s.json", search_text(""));
  ASSERT_EQ(weft(command(all)).code, 0);
  const ordered_json factorial = rows_of(all);
  ASSERT_EQ(factorial.size(), 48u);
  folder.write("s.json", search_text(kHalving));
  const Exit plan = weft({"sweep", folder.path("s.json"), "--store", folder.path("s.db"), "--plan"});
  EXPECT_THAT(plan.out, AllOf(HasSubstr("rung 1, size small,seed=1: 8 candidates, 16 runs"),
                              HasSubstr("rung 3, size small,seed=3: at most 2 candidates, 4 runs"),
                              HasSubstr("together at most 28 runs, of 48 of all combinations")));
  const Exit exit = weft(command(folder));
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.err, AllOf(HasSubstr("rung 1 of 3, size small,seed=1, 16 of 16 runs to do"),
                              HasSubstr("rung 1 of 3: 1 of 16 runs done, 6 %"),
                              HasSubstr("rung 2 of 3: 8 of 8 runs done, 100 %"),
                              HasSubstr("rung 3 of 3: 4 of 4 runs")));
  EXPECT_THAT(exit.out, AllOf(HasSubstr("best: " + best_of(factorial) + "; cycles "),
                              HasSubstr("28 runs of the 48 of all combinations (58.3 %)"),
                              HasSubstr("s: 28 runs: 28 done, 0 failed, 0 to do")));
  // Each run is that of the whole sweep.
  const ordered_json rows = rows_of(folder);
  ASSERT_EQ(rows.size(), 28u);
  for (const ordered_json& row : rows) EXPECT_EQ(row, factorial.at(row.at("point").get<std::size_t>() - 1));
  const Exit stands = weft({"sweep", folder.path("s.json"), "--store", folder.path("s.db"), "--ranking"});
  EXPECT_EQ(exit.out.substr(0, stands.out.size()), stands.out);
  const Exit again = weft(command(folder, {"--pareto", "cycles,energy,area"}));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("rung 3 of 3, size small,seed=3, 0 of 4 runs to do"), Not(HasSubstr("done"))));
  EXPECT_THAT(again.out, HasSubstr(" of 2 on the Pareto front"));
}

TEST(Sweep, ASearchThatIsKilledGoesOn) {
  const Folder undisturbed;
  undisturbed.write("s.json", search_text(kHalving));
  const auto begin = std::chrono::steady_clock::now();
  const Exit wanted = weft(command(undisturbed));
  ASSERT_EQ(wanted.code, 0);
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  const Folder folder;
  folder.write("s.json", search_text(kHalving));
  std::mt19937 random(99);
  int killed = 0;
  for (bool over = false; !over && killed < 20;) {
    Start start;
    start.signal = SIGKILL;
    start.interrupt_after_ms = static_cast<int>(whole / 20 + random() % static_cast<unsigned>(whole / 5));
    over = weft(command(folder), start).code == 0;
    killed += over ? 0 : 1;
    EXPECT_TRUE(end_soon(folder.path())) << "its runs go with it";
  }
  EXPECT_GT(killed, 0);
  const Exit last = weft(command(folder));
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(last.out.substr(0, last.out.find("\ns: ")), wanted.out.substr(0, wanted.out.find("\ns: ")));
  const ordered_json rows = rows_of(folder);
  EXPECT_EQ(rows, rows_of(undisturbed));
  for (const ordered_json& row : rows) EXPECT_EQ(row.at("run").at("attempts"), 1);
}

TEST(Sweep, ASearchByANumberThatNoRunHasCostsOneRun) {
  const Folder folder;
  folder.write("s.json", search_text(R"("halving": {"rungs": "size", "metric": "cycels"}, )"));
  const Exit exit = weft(command(folder));
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("s.json: /halving/metric: found 'cycels', which no run has"));
  const Exit listed = weft({"sweep", "--store", folder.path("s.db")});
  EXPECT_THAT(listed.out, HasSubstr("s: 1 of 16 points done"));
}

TEST(Sweep, MistakesCostNoRun) {
  const Folder folder;
  folder.write("s.json", sweep_text());
  const Exit exported =
      weft({"sweep", folder.path("s.json"), "--store", folder.path("s.db"), "--export", "x.txt"});
  EXPECT_EQ(exported.code, 2);
  EXPECT_THAT(exported.err, HasSubstr("--export: found 'x.txt'; allowed: a name that ends in .csv or .json"));
  const auto refused = [&](const std::vector<std::string>& more) {
    const Exit exit = weft(command(folder, more));
    EXPECT_EQ(exit.code, 2);
    return exit.err;
  };
  EXPECT_THAT(refused({"--ranking"}), HasSubstr("--ranking: is allowed for a sweep with \"halving\" only"));
  EXPECT_THAT(refused({"--per", "workload"}), HasSubstr("--per: is allowed with --pareto only"));
  EXPECT_THAT(refused({"--pareto", "cycles", "--per", "no"}),
              HasSubstr("--per: found 'no'; allowed: workload, "));
  EXPECT_THAT(refused({"--pareto", "cycles", "--per", "scheme"}), HasSubstr("--pareto: found no axis"));
  EXPECT_THAT(refused({"--pareto", "cycles:lest"}), HasSubstr("--pareto: found 'cycles:lest'"));
  const Exit nowhere = weft({"sweep", folder.path("s.json"), "--store", folder.path("none/s.db")});
  EXPECT_EQ(nowhere.code, 2);
  const Exit none = weft({"sweep", "--store", folder.path("s.db")});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("found no " + folder.path("s.db")));
  EXPECT_FALSE(folder.has("s.db"));
}

}  // namespace
}  // namespace weft::end_to_end::sweep_test
