#include "study/page/report_series.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "folder.h"

namespace weft::study::report_series_test {
namespace {

using nlohmann::ordered_json;

TEST(Series, AddUpSmsAndJoinIntervals) {
  const test::Folder folder;
  ResultRun run;
  run.folder = folder.path();
  EXPECT_TRUE(sample_series(run).is_null());
  std::string table = "cycle,sm,cycles,ipc,cycles_issued,live_threads\n";
  constexpr int kIntervals = 2500;
  for (int i = 1; i <= kIntervals; ++i) {
    for (int sm = 0; sm < 2; ++sm)
      table += std::to_string(10 * i) + "," + std::to_string(sm) + ",10,0.5," + std::to_string(i) + "," +
               std::to_string(i + sm) + "\n";
  }
  folder.write("samples.csv", table);
  const ordered_json series = sample_series(run);
  const auto& cycles = series.at("cycle");
  ASSERT_LE(cycles.size(), kMostPoints);
  ASSERT_EQ(cycles.size(), 834u);  // three intervals each
  EXPECT_EQ(cycles[0], 30);
  EXPECT_EQ(cycles.back(), 10 * kIntervals);
  const auto& issued = series.at("columns").at("cycles_issued");
  EXPECT_EQ(issued[0], 2 * (1 + 2 + 3));
  EXPECT_EQ(issued.back(), 2 * kIntervals);
  EXPECT_EQ(series.at("columns").at("live_threads")[0], 3 + 4) << "a gauge is as it was at the end";
  EXPECT_FALSE(series.at("columns").contains("ipc"));
}

TEST(Series, AverageThePower) {
  const test::Folder folder;
  ResultRun run;
  run.folder = folder.path();
  std::string table = "cycle,cycles,power_w\n";
  for (int i = 1; i <= 1500; ++i) table += std::to_string(i) + "," + (i % 2 == 1 ? "30,10" : "10,50") + "\n";
  folder.write("power.csv", table);
  const ordered_json power = power_series(run).at("columns").at("power_w");
  ASSERT_EQ(power.size(), 750u);
  EXPECT_DOUBLE_EQ(power[0].get<double>(), (30.0 * 10 + 10 * 50) / 40);
}

}  // namespace
}  // namespace weft::study::report_series_test
