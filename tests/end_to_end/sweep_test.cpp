// `weft sweep`: runs into a database, killed at any moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
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
  std::vector<pid_t> list;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string words{std::istreambuf_iterator<char>(in), {}};
    if (words.find(folder.path("s.db.runs")) == std::string::npos) continue;
    list.push_back(std::stoi(entry.path().filename().string()));
  }
  return list;
}

TEST(Sweep, RunsWhatTheStoreDoesNotHave) {
  const Folder folder;
  folder.write("s.json", sweep_text());
  const Exit first = weft(command(folder));
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, AllOf(HasSubstr("12 runs, 12 to do"), HasSubstr("12 of 12 runs, 100 %")));
  EXPECT_THAT(first.out, HasSubstr("12 runs: 12 done, 0 failed, 0 to do"));
  const ordered_json rows = rows_of(folder);
  ASSERT_EQ(rows.size(), 12u);
  const Exit again = weft(command(folder));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("12 runs, 0 to do"));
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
    for (int i = 0; i < 100 && !workers(folder).empty(); ++i) usleep(10'000);
    EXPECT_TRUE(workers(folder).empty()) << "its runs go with it";
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
        std::ifstream in("/proc/" + std::to_string(worker) + "/cmdline", std::ios::binary);
        std::string words{std::istreambuf_iterator<char>(in), {}};
        if (words.find("sweep") == std::string::npos && kill(worker, SIGKILL) == 0) ++killed;
      }
      usleep(20'000);
    }
  });
  const Exit first = weft(command(folder));
  over = true;
  hunter.join();
  ASSERT_GT(killed, 0);
  ASSERT_EQ(first.code, 3) << first.err;
  EXPECT_THAT(first.err, HasSubstr("killed: by signal 9"));
  const Exit second = weft(command(folder));
  EXPECT_EQ(second.code, 3);
  EXPECT_THAT(second.err, HasSubstr(" 0 to do")) << "what failed is not repeated unasked";
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
  std::ostringstream wanted;
  wanted << "sm.pipeline_depth  8      24      +" << deep;
  EXPECT_THAT(exit.out, AllOf(HasSubstr("cycles, workload bfs, size small; mean "), HasSubstr(wanted.str())));
  folder.write("s.json", sweep_text());
  EXPECT_THAT(weft(command(folder, {"--effects", "cycles"})).err,
              HasSubstr("--effects: has a meaning for a sweep with \"screening\" only"));
}

TEST(Sweep, MistakesCostNoRun) {
  const Folder folder;
  folder.write("s.json", sweep_text());
  const Exit exported =
      weft({"sweep", folder.path("s.json"), "--store", folder.path("s.db"), "--export", "x.txt"});
  EXPECT_EQ(exported.code, 2);
  EXPECT_THAT(exported.err, HasSubstr("--export: found 'x.txt'; allowed: a name that ends in .csv or .json"));
  const Exit nowhere = weft({"sweep", folder.path("s.json"), "--store", folder.path("none/s.db")});
  EXPECT_EQ(nowhere.code, 2);
  const Exit none = weft({"sweep", "--store", folder.path("s.db")});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no " + folder.path("s.db")));
  EXPECT_FALSE(folder.has("s.db"));
}

}  // namespace
}  // namespace weft::end_to_end::sweep_test
