// `weft compare`: several runs side by side.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "end_to_end/process.h"

namespace weft::end_to_end::compare_test {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

double sum_over_sms(const ordered_json& statistics, const std::string& pointer) {
  double sum = 0;
  for (unsigned sm = 0; statistics.contains("sm" + std::to_string(sm)); ++sm) {
    sum += statistics["sm" + std::to_string(sm)].at(ordered_json::json_pointer(pointer)).get<double>();
  }
  return sum;
}

// The columns of a CSV line whose quoted cells have no commas.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> list;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) list.push_back(cell);
  return list;
}

// The cells of a line of a table for people: two blanks or more are between them.
std::vector<std::string> printed_cells(const std::string& line) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(line.find("  ", begin), line.size());
    list.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return list;
}

// What stands in the tables of numbers that were printed, by heading, for each of four runs; nothing is wider
// than a page, numbers end below the end of their heading, and the legend names each heading once.
void expect_tables_of(const std::string& text, const ordered_json& runs) {
  std::istringstream lines(text);
  std::map<std::string, std::vector<std::string>> columns;
  std::multiset<std::string> legend;
  bool in_legend = false;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    if (in_legend) legend.insert(printed_cells(line).at(0));
    in_legend = in_legend || line == "columns";
    if (line.rfind("workload", 0) != 0) continue;
    const auto headings = printed_cells(line);
    const std::string heading_line = line;
    for (std::size_t row = 0; row < runs.size(); ++row) {
      ASSERT_TRUE(std::getline(lines, line));
      EXPECT_LE(line.size(), 100u) << line;
      auto values = printed_cells(line);
      if (line[0] == ' ') values.insert(values.begin(), "");
      ASSERT_EQ(values.size(), headings.size()) << line;
      for (std::size_t c = 2; c < headings.size(); ++c) {
        columns[headings[c]].push_back(values[c]);
        const std::size_t end = heading_line.find("  " + headings[c]) + 2 + headings[c].size();
        if (headings[c] == "bound by") continue;
        EXPECT_EQ(line.substr(end - values[c].size(), values[c].size()), values[c]) << line;
        EXPECT_TRUE(end == line.size() || line[end] == ' ') << line;
      }
    }
  }
  const std::map<std::string, const char*> names{
      {"cycles", "cycles"},           {"IPC", "ipc"},
      {"speed-up", "speedup"},        {"lanes", "lane_activity"},
      {"depth", "depth_utilisation"}, {"K", "idle_share_k"},
      {"idle", "idle_share"},         {"mJ", "energy_mj"},
      {"barrier", "stalled_barrier"}, {"mm2/SM", "scheme_mm2_per_sm"}};
  for (const auto& [heading, name] : names) {
    ASSERT_EQ(columns[heading].size(), runs.size()) << heading << ": once";
    for (std::size_t row = 0; row < runs.size(); ++row)
      EXPECT_NEAR(std::stod(columns[heading][row]), runs[row].at(name).get<double>(), 0.006) << heading;
  }
  for (const auto& [heading, values] : columns) EXPECT_EQ(legend.count(heading), 1u) << heading;
  EXPECT_EQ(legend.size(), columns.size());
}

TEST(Compare, RowsAreTheNumbersOfTheRuns) {
  const Folder folder;
  const Exit exit = weft({"compare", "--config", "harp-fermi", "--schemes", "sbr,harp+harp.first_level=4",
                          "--workloads", "bfs,vector_add", "--size", "small", "--out", folder.path()},
                         patient(500));
  ASSERT_EQ(exit.code, 0) << exit.err;
  const ordered_json comparison = folder.json("comparison.json");
  const ordered_json& runs = comparison.at("runs");
  ASSERT_EQ(runs.size(), 4u);
  ASSERT_EQ(comparison.at("pareto").size(), 2u);
  EXPECT_EQ(comparison.at("pareto")[0].at("edp"), 1);
  EXPECT_THAT(exit.out, HasSubstr("Pareto front of speed, energy and area: "));
  const std::vector<std::pair<std::string, std::string>> order{{"bfs", "sbr"},
                                                               {"bfs", "harp+harp.first_level=4"},
                                                               {"vector_add", "sbr"},
                                                               {"vector_add", "harp+harp.first_level=4"}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    const auto& [workload, scheme] = order[i];
    EXPECT_EQ(run.at("workload"), workload);
    EXPECT_EQ(run.at("scheme"), scheme);
    EXPECT_EQ(run.at("result"), "verified");
    std::string of = "runs/";
    of.append(workload).append("/").append(scheme);
    const ordered_json stats = folder.json(of + "/stats.json"), config = folder.json(of + "/config.json");
    EXPECT_EQ(config.at("warp_formation").at("harp").at("first_level"), scheme == "sbr" ? 8 : 4);
    for (const char* key :
         {"cycles", "ipc", "lane_activity", "simd_efficiency", "coalescing_rate", "idle_share",
          "idle_share_blocked", "idle_share_k", "thread_instructions", "executed_thread_instructions"})
      EXPECT_EQ(run.at(key), stats.at(key)) << key;

    EXPECT_EQ(run.at("edp_njs").get<double>(), stats.at("energy").at("edp").get<double>() * 1e9);
    EXPECT_EQ(run.at("scheme_mm2_per_sm"), stats.at("area").at("scheme_mm2_per_sm"));
    EXPECT_GT(stats.at("area").at("scheme_mm2_per_sm").get<double>(), 0);

    const ordered_json& all = stats.at("statistics");
    const double cycles = stats.at("cycles").get<double>();
    const auto schedulers = [&](const char* name) {
      return sum_over_sms(all, std::string("/scheduler0/") + name) +
             sum_over_sms(all, std::string("/scheduler1/") + name);
    };
    EXPECT_DOUBLE_EQ(run.at("depth_utilisation").get<double>(),
                     schedulers("lane_cycles") / schedulers("held_cycles"));
    EXPECT_DOUBLE_EQ(run.at("idle_share_k").get<double>(),
                     1 - sum_over_sms(all, "/active_beats") / schedulers("held_cycles"));
    EXPECT_EQ(schedulers("held_cycles"), 2 * 16 * cycles - schedulers("cycles/empty"));
    const double oracle =
        sum_over_sms(all, "/oracle/executions") / (16 * sum_over_sms(all, "/oracle/issues"));
    EXPECT_DOUBLE_EQ(run.at("oracle_lane_activity").get<double>(), oracle);
    EXPECT_LE(run.at("lane_activity").get<double>(), oracle + 1e-12);
    double threads = 0;
    for (const char* kind : {"in_pipeline", "ready", "barrier", "reconvergence", "inactive"})
      threads += sum_over_sms(all, std::string("/stalled/") + kind);
    EXPECT_DOUBLE_EQ(
        run.at("stalled_share").get<double>(),
        (sum_over_sms(all, "/stalled/reconvergence") + sum_over_sms(all, "/stalled/inactive")) / threads);
    EXPECT_DOUBLE_EQ(run.at("stalled_of_launched").get<double>(),
                     (sum_over_sms(all, "/stalled/reconvergence") + sum_over_sms(all, "/stalled/inactive")) /
                         sum_over_sms(all, "/stalled/launched_thread_cycles"));
    const double first = runs[i / 2 * 2].at("cycles").get<double>();
    EXPECT_DOUBLE_EQ(run.at("speedup").get<double>(), first / cycles);
  }
  const double a = runs[1].at("speedup").get<double>(), b = runs[3].at("speedup").get<double>();
  const ordered_json means = folder.json("comparison.json").at("means").at("harp+harp.first_level=4");
  EXPECT_DOUBLE_EQ(means.at("harmonic").get<double>(), 2 * a * b / (a + b));
  EXPECT_DOUBLE_EQ(means.at("geometric").get<double>(), std::sqrt(a * b));
  // harp fills lanes, and says what its tables need: per scheduler 10,880 bytes with 1,024 threads.
  EXPECT_GT(runs[1].at("lane_activity"), runs[0].at("lane_activity"));
  EXPECT_GT(runs[1].at("storage_bits_per_sm"), 0);

  EXPECT_THAT(exit.out,
              AllOf(StartsWith("workload"), HasSubstr("harp+harp.first_level=4"), HasSubstr("harmonic")));
  expect_tables_of(exit.out, runs);

  std::string heading, line;
  std::istringstream csv(folder.text("comparison.csv"));
  std::getline(csv, heading);
  const auto names = cells(heading);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(std::getline(csv, line));
    const auto values = cells(line);
    ASSERT_EQ(values.size(), names.size()) << line;
    const auto at = [&](const char* name) {
      return values[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
    };
    EXPECT_EQ(at("scheme"), "\"" + order[i].second + "\"");
    EXPECT_EQ(std::stod(at("lane_activity")), runs[i].at("lane_activity").get<double>());
    EXPECT_EQ(at("cycles"), runs[i].at("cycles").dump());
  }
  EXPECT_FALSE(std::getline(csv, line));
}

// Everything but the CPU time, whatever ran beside it.
// What a size sets beside the inputs (registers per thread, here) belongs to the record of the run.
TEST(Compare, FindsTheResultsOfASizeThatSetsSomething) {
  const Folder folder;
  const std::vector<std::string> words{
      "compare", "--config", "dwr-tesla", "--workloads", "back_propagation", "--schemes",
      "sbr",     "--size",   "dwr",       "--out",       folder.path()};
  const Exit exit = weft(words, patient(300));
  ASSERT_EQ(exit.code, 0) << exit.out;
  EXPECT_EQ(folder.json("comparison.json").at("runs").at(0).at("result"), "verified");
  EXPECT_THAT(weft(words).err, HasSubstr("1 of 1 runs already have results"));
}

TEST(Compare, DoesNotDependOnTheNumberOfJobs) {
  const Folder folder;
  const auto rows = [&](const std::string& jobs) {
    const Exit exit = weft({"compare", "--schemes", "sbr,dwf,tbc", "--workloads", "reduction", "--size",
                            "small", "--jobs", jobs, "--out", folder.path(jobs)},
                           patient(500));
    EXPECT_EQ(exit.code, 0) << exit.err;
    ordered_json json = folder.json(jobs + "/comparison.json");
    for (auto& run : json["runs"]) run.erase("cpu_seconds");
    return json;
  };
  EXPECT_EQ(rows("1"), rows("3"));
}

TEST(Compare, ARunThatFailsIsARowThatSaysWhy) {
  const Folder folder;
  const Exit refused = weft({"compare", "--config", "dwr-tesla", "--schemes", "sbr,dwr-7", "--workloads",
                             "vector_add", "--size", "small", "--out", folder.path()},
                            patient(500));
  EXPECT_EQ(refused.code, 2);
  const ordered_json runs = folder.json("comparison.json").at("runs");
  EXPECT_EQ(runs[0].at("exit_code"), 0);
  EXPECT_GT(runs[0].at("cycles"), 0);
  EXPECT_EQ(runs[1].at("exit_code"), 2);
  EXPECT_TRUE(runs[1].at("cycles").is_null());
  EXPECT_TRUE(runs[1].at("speedup").is_null());
  EXPECT_THAT(runs[1].at("result").get<std::string>(),
              AllOf(StartsWith("refused: "), HasSubstr("largest_warp"), HasSubstr("7")));
  EXPECT_THAT(refused.out, HasSubstr("refused: "));

  // What an earlier comparison left there does not count.
  const Exit again = weft({"compare", "--config", "dwr-tesla", "--schemes", "sbr", "--workloads",
                           "vector_add", "--size", "n=many", "--out", folder.path()},
                          patient(500));
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(folder.json("comparison.json").at("runs")[0].at("cycles").is_null());

  const Exit cut = weft(
      {"compare", "--schemes", "sbr", "--workloads", "vector_add", "--size", "small", "--max-cycles", "50"},
      patient(500));
  EXPECT_EQ(cut.code, 3);
  EXPECT_THAT(cut.out, HasSubstr("fault: "));
}

// Compaction within a warp is a setting of the datapath that schemes are compared with. 16 lanes run a warp
// of 32 in two cycles, if schedulers do not wait for the second one.
TEST(Compare, TakesSettingsOfTheDatapath) {
  const Folder folder;
  const std::string bcc = "sbr+datapath.compaction=bcc", scc = "sbr+datapath.compaction=scc";
  const Exit exit = weft({"compare", "--config", "harp-fermi", "--set", "sm.issue_alignment=false",
                          "--schemes", "sbr," + bcc + "," + scc + ",harp", "--workloads", "visibility",
                          "--size", "small", "--out", folder.path()},
                         patient(500));
  ASSERT_EQ(exit.code, 0) << exit.err;
  std::map<std::string, double> speedups;
  const ordered_json comparison = folder.json("comparison.json");
  for (const auto& run : comparison.at("runs")) speedups[run.at("scheme")] = run.at("speedup");
  EXPECT_GT(speedups.at(bcc), 1.1);
  EXPECT_GT(speedups.at(scc), speedups.at(bcc));
  EXPECT_EQ(folder.json("runs/visibility/" + scc + "/config.json").at("datapath").at("compaction"), "scc");
  EXPECT_EQ(folder.json("runs/visibility/harp/config.json").at("datapath").at("compaction"), "auto");
  const Exit wrong = weft({"compare", "--schemes", "sbr+datapath.compaction=bbc", "--workloads", "vector_add",
                           "--size", "small"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.out + wrong.err, AllOf(HasSubstr("bbc"), HasSubstr("bcc")));
}

TEST(Compare, HasAllSchemesIfNoneIsNamed) {
  const Exit exit = weft({"compare", "--workloads", "vector_add", "--size", "n=64"}, patient(300));
  ASSERT_EQ(exit.code, 0) << exit.err;
  std::set<std::string> words;
  std::istringstream in(exit.out);
  std::string word;
  in.ignore(exit.out.size(), '\n');
  in >> word >> word;
  EXPECT_EQ(word, "sbr");
  while (in >> word) words.insert(word);
  for (const char* name :
       {"convergence_barriers", "dual_path", "dws", "harp", "multi_path", "stackless", "thread_frontiers"}) {
    EXPECT_EQ(words.count(name), 1u) << name;
  }
}

TEST(Compare, NamesAreChecked) {
  const auto said = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"compare"};
    all.insert(all.end(), words.begin(), words.end());
    const Exit exit = weft(all);
    EXPECT_EQ(exit.code, 2);
    EXPECT_EQ(exit.out, "");
    return exit.err;
  };
  EXPECT_THAT(said({"--schemes", "sbr,drw"}),
              AllOf(HasSubstr("'drw'"), HasSubstr("crown"), HasSubstr("tbc")));
  EXPECT_THAT(said({"--schemes", "sbr,sbr"}), HasSubstr("duplicate 'sbr' in 'sbr,sbr'"));
  EXPECT_THAT(said({"--schemes", "sbr,,dwf"}), HasSubstr("--schemes"));
  EXPECT_THAT(said({"--schemes", "sbr+order"}), HasSubstr("PATH=VALUE"));
  EXPECT_THAT(said({"--schemes", "srb+datapath.compaction=bcc"}), HasSubstr("or datapath.PATH"));
  EXPECT_THAT(said({"--workloads", "bfz"}), AllOf(HasSubstr("bfz"), HasSubstr("vector_add")));
  EXPECT_THAT(said({"--config", "gtx"}), HasSubstr("gtx480"));
  EXPECT_THAT(said({"--set", "sm.cuont=3"}), HasSubstr("cuont"));
}

TEST(Compare, AnInterruptEndsTheRunsAndLeavesTheTable) {
  Start start = patient(500);
  start.interrupt_after_ms = 3000;
  const Exit exit = weft(
      {"compare", "--schemes", "sbr,dwf", "--workloads", "bfs", "--size", "large", "--jobs", "1"}, start);
  EXPECT_EQ(exit.code, 3);
  EXPECT_THAT(exit.out, AllOf(HasSubstr("dwf"), HasSubstr("not finished: interrupted"),
                              HasSubstr("not run: interrupted"), Not(HasSubstr("speed-up over"))));
}

// Six quick runs.
std::vector<std::string> quick(const Folder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"compare",
                                 "--config",
                                 "dwr-tesla",
                                 "--schemes",
                                 "sbr,lwm",
                                 "--workloads",
                                 "vector_add,reduction,matrix_multiply",
                                 "--size",
                                 "small",
                                 "--jobs",
                                 "2",
                                 "--out",
                                 folder.path("out"),
                                 "--set",
                                 "sm.count=1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Files of runs that are finished, as the comparison's folder has them: path -> which file, and when made.
std::map<std::string, std::pair<ino_t, long>> results(const Folder& folder) {
  std::map<std::string, std::pair<ino_t, long>> files;
  for (const char* workload : {"vector_add", "reduction", "matrix_multiply"}) {
    for (const char* scheme : {"sbr", "lwm"}) {
      const std::string path =
          folder.path(std::string("out/runs/") + workload + "/" + scheme + "/stats.json");
      struct stat status = {};
      if (stat(path.c_str(), &status) == 0) files[path] = {status.st_ino, status.st_mtim.tv_nsec};
    }
  }
  return files;
}

// The tables without what the host decides.
ordered_json table_of(const Folder& folder) {
  ordered_json json = folder.json("out/comparison.json");
  for (auto& run : json["runs"]) run.erase("cpu_seconds");
  std::istringstream csv(folder.text("out/comparison.csv"));
  std::string line;
  std::getline(csv, line);
  const auto names = cells(line);
  const auto seconds = std::find(names.begin(), names.end(), "cpu_seconds") - names.begin();
  while (std::getline(csv, line)) {
    auto values = cells(line);
    values.at(static_cast<std::size_t>(seconds)) = "";
    json["csv"].push_back(values);
  }
  return json;
}

TEST(Compare, DoesNotRepeatWhatIsThere) {
  const Folder folder;
  ASSERT_EQ(weft(quick(folder)).code, 0);
  const auto first = results(folder);
  const ordered_json table = table_of(folder);
  ASSERT_EQ(first.size(), 6u);

  const Exit again = weft(quick(folder));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("6 of 6 runs already have results"));
  EXPECT_EQ(results(folder), first);
  EXPECT_EQ(table_of(folder), table);

  // Results that are not whole, not of this configuration, or not wanted.
  folder.write("out/runs/matrix_multiply/sbr/stats.json", "{\"fault\": null");
  std::filesystem::remove(folder.path("out/runs/matrix_multiply/lwm/run.json"));
  EXPECT_THAT(weft(quick(folder)).err, HasSubstr("4 of 6 runs already have results"));
  EXPECT_EQ(table_of(folder), table);
  EXPECT_THAT(weft(quick(folder, {"sm.simd_width=16"})).err, Not(HasSubstr("already")));
  EXPECT_NE(table_of(folder), table);
  EXPECT_THAT(weft(quick(folder)).err, Not(HasSubstr("already")));
  const auto before = results(folder);
  EXPECT_THAT(weft(quick(folder, {"--again"})).err, Not(HasSubstr("already")));
  for (const auto& [path, file] : results(folder)) EXPECT_NE(before.at(path), file) << path;
  EXPECT_EQ(table_of(folder), table);
}

TEST(Compare, KilledAtAnyMomentGoesOnWhereItWas) {
  const Folder undisturbed;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(weft(quick(undisturbed)).code, 0);
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  const ordered_json wanted = table_of(undisturbed);

  std::mt19937 random(1234);
  unsigned left = 0;  // rows that a killed comparison found finished
  auto folder = std::make_unique<Folder>();
  for (int round = 0; round < 20; ++round) {
    const auto before = results(*folder);
    Start start;
    start.signal = round % 2 == 0 ? SIGKILL : SIGTERM;
    start.interrupt_after_ms = 1 + static_cast<int>(random() % static_cast<unsigned>(whole.count()));
    const Exit exit = weft(quick(*folder), start);
    EXPECT_TRUE(exit.code == 0 || exit.code == 3 || exit.code == 128 + start.signal) << exit.code << exit.err;

    // Nothing that was finished is gone or was repeated, and the tables say what is finished.
    const auto now = results(*folder);
    for (const auto& [path, file] : before) {
      ASSERT_EQ(now.count(path), 1u) << path;
      EXPECT_EQ(now.at(path), file) << path;
    }
    left += static_cast<unsigned>(before.size());
    if (folder->has("out/comparison.json")) {
      const ordered_json table = table_of(*folder);
      for (std::size_t i = 0; i < 6; ++i) {
        const ordered_json& run = table["runs"][i];
        if (run["result"] == "verified") {
          EXPECT_EQ(run["cycles"], wanted["runs"][i]["cycles"]);
        } else {
          EXPECT_THAT(run["result"].get<std::string>(), StartsWith("not "));
          EXPECT_TRUE(run["cycles"].is_null());
        }
      }
    }
    EXPECT_TRUE(end_soon(folder->path())) << "its runs go with it";

    if (now.size() < 6 && round < 19) continue;
    ASSERT_EQ(weft(quick(*folder)).code, 0);
    EXPECT_EQ(table_of(*folder), wanted);
    const auto last = results(*folder);
    for (const auto& [path, file] : now) EXPECT_EQ(last.at(path), file) << "repeated: " << path;
    for (const auto& [path, file] : last) {
      EXPECT_EQ(Folder::names_of(std::filesystem::path(path).parent_path()).size(), 8u)
          << path << ": seven files and the messages";
    }
    EXPECT_EQ(Folder::names_of(folder->path("out")),
              (std::vector<std::string>{"comparison.csv", "comparison.json", "runs"}));
    folder = std::make_unique<Folder>();
  }
  EXPECT_GT(left, 0u) << "there was something to lose";
}

TEST(Compare, HasItsFolderForItself) {
  const Folder folder;
  const int other = open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  const Exit exit =
      weft({"compare", "--workloads", "vector_add", "--schemes", "sbr", "--out", folder.path()});
  close(other);
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("another weft compare writes to this folder"));
  EXPECT_TRUE(Folder::names_of(folder.path()).empty());
}

TEST(Compare, NeedsAFolderForTemporaryFilesThatIsThere) {
  setenv("TMPDIR", "/nowhere", 1);
  const Exit exit = weft({"compare", "--workloads", "vector_add", "--schemes", "sbr"});
  unsetenv("TMPDIR");
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(StartsWith("weft: /nowhere: cannot create a folder in it: No such file"),
                              HasSubstr("--out DIR")));
}

}  // namespace
}  // namespace weft::end_to_end::compare_test
