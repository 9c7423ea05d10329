// `weft report`: what the page has, against the results it is made of; and the page in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::end_to_end::report_test {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

Exit run_bfs(const std::string& out, const std::vector<std::string>& settings) {
  std::vector<std::string> arguments{"run",        "--workload", "bfs", "--size",   "small", "--config",
                                     "harp-fermi", "--out",      out,   "--sample", "500",   "--set"};
  arguments.insert(arguments.end(), settings.begin(), settings.end());
  return weft(arguments);
}

const std::vector<std::string> kObserved = {"sm.observe.instructions=true", "sm.observe.events=true",
                                            "sm.observe.stalled_threads=true"};

std::vector<std::string> observed(const std::string& scheme) {
  std::vector<std::string> settings = kObserved;
  settings.push_back("warp_formation.scheme=" + scheme);
  return settings;
}

TEST(Report, HasTheNumbersOfTheResults) {
  const Folder folder;
  ASSERT_EQ(run_bfs(folder.path("a"), observed("sbr")).code, 0);
  ASSERT_EQ(run_bfs(folder.path("b"), observed("harp")).code, 0);
  const Exit exit =
      weft({"report", folder.path("a"), folder.path("b"), "--json", "--out", folder.path("model.json")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const ordered_json model = folder.json("model.json");
  ASSERT_EQ(model.at("runs").size(), 2u);
  for (const auto& [run, name] : {std::pair(0u, "a"), std::pair(1u, "b")}) {
    const ordered_json& shown = model.at("runs")[run];
    const ordered_json results = folder.json(std::string(name) + "/stats.json");
    EXPECT_EQ(shown.at("numbers").at("cycles"), results.at("cycles"));
    EXPECT_EQ(shown.at("bound"), results.at("bound_by"));
    EXPECT_DOUBLE_EQ(shown.at("energy").at("joules").get<double>(),
                     results.at("energy").at("joules").get<double>());
    // Every cycle of every scheduler, in the buckets, over the lines of code, and over time.
    const double all = results.at("cycles").get<double>() * shown.at("schedulers").get<double>();
    double buckets = 0, lines = 0, series = 0;
    for (const auto& [bucket, cycles] : shown.at("buckets").items()) {
      buckets += cycles.get<double>();
      const ordered_json& over_time = shown.at("series").at("columns").at("cycles_" + bucket);
      series +=
          std::accumulate(over_time.begin(), over_time.end(), 0.0,
                          [](double sum, const ordered_json& value) { return sum + value.get<double>(); });
    }
    const ordered_json& kernel = shown.at("profile").at("kernels")[0];
    std::uint64_t lost = 0;
    for (const char* view : {"source", "ptx"}) {
      double sum = 0;
      for (const auto& cycles : kernel.at("rest").at("cycles")) sum += cycles.get<double>();
      for (const auto& line : kernel.at(view)) {
        if (!line.contains("cycles")) continue;
        for (const auto& cycles : line.at("cycles")) sum += cycles.get<double>();
      }
      lines = lines == 0 ? sum : lines;
      EXPECT_EQ(sum, lines);
    }
    EXPECT_EQ(buckets, all);
    EXPECT_EQ(lines, all);
    EXPECT_EQ(series, all);
    for (const auto& branch : kernel.at("branches")) lost += branch.at("parted").get<std::uint64_t>();
    EXPECT_GT(lost, 0u);
    EXPECT_THAT(kernel.at("branches")[0].at("source_text").get<std::string>(),
                HasSubstr("level[vertex] != current"));
  }
  // What differs, and nothing else.
  std::vector<std::string> keys;
  for (const auto& row : model.at("differences")) keys.push_back(row.at("key"));
  EXPECT_THAT(keys, ::testing::ElementsAre("warp_formation/scheme"));
  EXPECT_EQ(model.at("differences")[0].at("values"), ordered_json({"sbr", "harp"}));
}

TEST(Report, ReadsComparisons) {
  const Folder folder;
  ASSERT_EQ(weft({"compare", "--workloads", "bfs", "--schemes", "sbr,harp", "--config", "harp-fermi",
                  "--size", "small", "--out", folder.path("c")})
                .code,
            0);
  ASSERT_EQ(weft({"report", folder.path("c"), "--json", "--out", folder.path("model.json")}).code, 0);
  const ordered_json model = folder.json("model.json");
  ASSERT_EQ(model.at("runs").size(), 2u);
  EXPECT_EQ(model.at("runs")[0].at("name"), "sbr");
  EXPECT_EQ(model.at("runs")[1].at("name"), "harp");
}

TEST(Report, RefusesWhatItCannotRead) {
  const Folder folder;
  const auto says = [&](const std::vector<std::string>& arguments, const std::string& text) {
    const Exit exit = weft(arguments);
    EXPECT_EQ(exit.code, 2) << exit.out;
    EXPECT_THAT(exit.err, HasSubstr(text));
  };
  const std::string out = folder.path("page.html");
  says({"report", "--out", out}, "found no folder");
  says({"report", folder.path("nowhere"), "--out", out}, "nowhere: found no folder; allowed: ");
  ASSERT_EQ(run_bfs(folder.path("a"), kObserved).code, 0);
  const std::string samples = folder.text("a/samples.csv");
  folder.write("a/samples.csv", samples.substr(0, samples.size() - 20));
  says({"report", folder.path("a"), "--out", out}, "samples.csv:");
  folder.write("a/samples.csv", samples);
  folder.write("a/config.json", "[]");
  says({"report", folder.path("a"), "--out", out}, "config.json: found no object");
  ASSERT_EQ(
      weft({"run", "--workload", "bfs", "--size", "small", "--functional", "--out", folder.path("f")}).code,
      0);
  says({"report", folder.path("f"), "--out", out}, "found a run without timing");
  EXPECT_FALSE(folder.has("page.html"));
}

// Charts, sorting, the comparison, a phone, printing, and that nothing is asked of a network: page_check.mjs.
TEST(Report, WorksInABrowser) {
  const Folder folder;
  const std::string hostile = folder.path("<img src=x onerror=alert(1)><script>");
  ASSERT_EQ(run_bfs(hostile, observed("sbr")).code, 0);
  ASSERT_EQ(run_bfs(folder.path("b"), observed("harp")).code, 0);
  const Exit exit = weft({"report", hostile, folder.path("b"), "--out", folder.path("page.html")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  if (exit.err.find("no charts") != std::string::npos)
    GTEST_SKIP() << "without a network npm could not get the chart libraries: charts are not checked";
  EXPECT_LT(folder.text("page.html").size(), 2u << 20);
  const std::string command = "node '" WEFT_PAGE_CHECK "' '--text=" + hostile + "' '" +
                              folder.path("page.html") + "' > '" + folder.path("said") + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << folder.text("said");
}

// Without the chart libraries, the tables say the same.
TEST(Report, HasTablesWithoutCharts) {
  const Folder folder;
  ASSERT_EQ(run_bfs(folder.path("a"), kObserved).code, 0);
  ASSERT_EQ(weft({"report", folder.path("a"), "--without-charts", "--out", folder.path("page.html")}).code,
            0);
  EXPECT_LT(folder.text("page.html").size(), 512u << 10);
  const std::string command = "node '" WEFT_PAGE_CHECK "' --without-charts '" + folder.path("page.html") +
                              "' > '" + folder.path("said") + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << folder.text("said");
}

}  // namespace
}  // namespace weft::end_to_end::report_test
