// `weft cuda --launches` and `--region`: which launches are timed, that the others have the same results, and
// what the results say of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "end_to_end/process.h"
#include "platform/csv_table.h"

namespace weft::selection_test {
namespace {

using end_to_end::Exit;
using end_to_end::Folder;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr std::uint64_t kLaunches = 6;

Exit run(const Folder& folder, const Words& options) {
  Words words{"cuda", "--set", "sm.count=2", "--out", folder.path("r")};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", DRIVER_REGIONS});
  return end_to_end::weft(words);
}

std::set<std::uint64_t> timed_launches(const nlohmann::json& stats) {
  std::set<std::uint64_t> timed;
  for (const auto& activity : stats["activities"]) {
    if (!activity.contains("grid")) continue;
    const bool is_timed = activity["timed"];
    EXPECT_EQ(activity["cycles"] != 0, is_timed) << activity;
    EXPECT_EQ(activity["duration_ns"] != 0, is_timed) << activity;
    EXPECT_GT(activity["thread_instructions"], 0u) << activity;
    if (is_timed) timed.insert(activity["launch"].get<std::uint64_t>());
  }
  return timed;
}

struct Choice {
  Words options;
  std::set<std::uint64_t> timed;
};
const std::vector<Choice> kChoices{{{"--launches", "1"}, {1}},
                                   {{"--launches", "2-4"}, {2, 3, 4}},
                                   {{"--launches", "6-6"}, {6}},
                                   {{"--launches", "5-18446744073709551615"}, {5, 6}},
                                   {{"--launches", "1-6"}, {1, 2, 3, 4, 5, 6}},
                                   {{"--launches", "7-9"}, {}},
                                   {{"--region", "profiler"}, {3, 5}}};

TEST(Selection, TimesTheLaunchesThatAreChosen) {
  for (const Choice& choice : kChoices) {
    for (const Words& more : {Words{}, Words{"--instant-copies"}, Words{"--check", "memory", "race"}}) {
      const bool some = choice.timed.size() == 2 || choice.timed.size() == 3;
      if (!some && !more.empty()) continue;
      const Folder folder;
      Words options = choice.options;
      options.insert(options.end(), more.begin(), more.end());
      const Exit exit = run(folder, options);
      ASSERT_EQ(exit.code, 0) << choice.options[1] << exit.err;  // also: its results are right
      const auto stats = folder.json("r/stats.json");
      EXPECT_EQ(timed_launches(stats), choice.timed) << choice.options[1];
      EXPECT_EQ(stats["selection"]["launches"], kLaunches);
      EXPECT_EQ(stats["selection"]["timed_launches"], choice.timed.size());
      const auto& sum = stats["by_name"]["add_one"];
      EXPECT_EQ(sum["calls"], choice.timed.size());
      EXPECT_EQ(sum.value("untimed_calls", std::uint64_t{0}), kLaunches - choice.timed.size());
      const std::string summary = folder.text("r/summary.txt");
      EXPECT_THAT(exit.err, HasSubstr(summary));
      const std::string of = std::to_string(choice.timed.size()) + " of 6 launches w";
      EXPECT_THAT(summary, HasSubstr(choice.timed.empty() ? "none of 6 launches was timed" : of));
      EXPECT_THAT(summary, HasSubstr("(" + choice.options[0] + " "));
      EXPECT_EQ(summary.find("add_one (not timed)") != std::string::npos, choice.timed.size() != kLaunches);
      const std::string table = folder.has("r/launches.csv") ? folder.text("r/launches.csv") : "";
      EXPECT_EQ(test::CsvTable(table).rows().size(), choice.timed.size());
      if (choice.timed.empty()) continue;
      // Numbers of the device are of the timed launches: instructions of each are the same.
      const auto& device = stats["devices"][0];
      EXPECT_EQ(device["thread_instructions"].get<std::uint64_t>(),
                sum["thread_instructions"].get<std::uint64_t>());
      EXPECT_EQ(device.value("untimed_thread_instructions", std::uint64_t{0}),
                device["thread_instructions"].get<std::uint64_t>() / choice.timed.size() *
                    (kLaunches - choice.timed.size()));
    }
  }
}

// A launch that is timed by itself takes the cycles that it takes among timed ones, as far as caches and
// memory are as then: the first one.
TEST(Selection, ATimedLaunchTakesTheSameCycles) {
  const Folder all, one;
  ASSERT_EQ(run(all, {"--instant-copies"}).code, 0);
  ASSERT_EQ(run(one, {"--instant-copies", "--launches", "1"}).code, 0);
  EXPECT_FALSE(all.json("r/stats.json").contains("selection"));
  const auto first = [](const Folder& folder) {
    const auto stats = folder.json("r/stats.json");
    for (const auto& activity : stats["activities"]) {
      if (activity.contains("grid")) return activity["cycles"].get<std::uint64_t>();
    }
    return std::uint64_t{0};
  };
  EXPECT_GT(first(all), 100u);
  EXPECT_EQ(first(all), first(one));
}

// Copies take time from the first timed launch to the last one, or in the region.
TEST(Selection, CopiesOutsideTakeNoTime) {
  const auto timed_copies = [](const Words& options) {
    const Folder folder;
    EXPECT_EQ(run(folder, options).code, 0);
    const auto stats = folder.json("r/stats.json");
    std::vector<bool> timed;
    for (const auto& activity : stats["activities"]) {
      if (activity.contains("bytes")) timed.push_back(activity["duration_ns"] != 0);
    }
    return timed;
  };
  using Timed = std::vector<bool>;
  EXPECT_EQ(timed_copies({}), (Timed{true, true, true}));
  EXPECT_EQ(timed_copies({"--launches", "3-5"}), (Timed{false, true, false}));
  EXPECT_EQ(timed_copies({"--launches", "1-4"}), (Timed{false, false, false}));
  EXPECT_EQ(timed_copies({"--region", "profiler"}), (Timed{false, false, false}));
}

TEST(Selection, TheSameProgramGivesTheSameBytes) {
  const Folder a, b;
  for (const Folder* folder : {&a, &b}) ASSERT_EQ(run(*folder, {"--launches", "2-4"}).code, 0);
  EXPECT_EQ(a.text("r/stats.json"), b.text("r/stats.json"));
}

TEST(Selection, WhatDoesNotGoTogetherIsRefused) {
  const Folder folder;
  const auto said = [&](const Words& options, const char* text) {
    const Exit exit = run(folder, options);
    EXPECT_EQ(exit.code, 2);
    EXPECT_THAT(exit.err, HasSubstr(text));
  };
  said({"--functional", "--launches", "1-2"}, "--launches: is not allowed with --functional");
  said({"--functional", "--region", "profiler"}, "--region: is not allowed with --functional");
  said({"--launches", "1-2", "--region", "profiler"}, "--launches: is not allowed with --region");
  said({"--launches", "3-2"}, "--launches: found '3-2'; allowed: N-M with N up to M");
  said({"--launches", "0"}, "--launches: found '0'; allowed: a whole number from 1");
  said({"--region", "kernel"}, "--region: found 'kernel'; allowed: profiler");
}

}  // namespace
}  // namespace weft::selection_test
