// Tables for people: widths, alignment, parts.
#include "study/terminal/table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

namespace weft::study::table_test {
namespace {

TEST(TextTable, AlignsByColumnsOfTheDisplayNotBytes) {
  TextTable table({{"name", Align::kLeft}, {"a ÷ b"}, {"why", Align::kLeft}});
  table.row({"·", "1.5", "first"}).row({"longer", "12345.5"}).row({"x", "÷", "日本"});
  EXPECT_EQ(table.text(),
            "name      a ÷ b  why\n"
            "·           1.5  first\n"
            "longer  12345.5\n"
            "x             ÷  日本\n");
  EXPECT_EQ(display_width("a ÷ b·"), 6u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(TextTable, WithoutHeadingsHasNoLineForThem) {
  TextTable table({{"", Align::kLeft, 6}, {"", Align::kLeft}}, 1, 2);
  table.row({"run", "a workload"}).row({"list", ""});
  EXPECT_EQ(table.text(), "  run     a workload\n  list\n");
}

TEST(TextTable, WhatDoesNotFitStandsBelowWithTheSameKeys) {
  TextTable table({{"workload", Align::kLeft}, {"scheme", Align::kLeft}, {"cycles"}, {"IPC"}, {"lanes"}}, 2);
  table.row({"bfs", "sbr", "1000", "1.25", "0.5"})
      .remark({"", "harp"}, "not finished, for a reason that is longer than the line")
      .row({"", "dwf", "900", "1.50", "0.75"});
  EXPECT_EQ(table.text(32),
            "workload  scheme  cycles\n"
            "bfs       sbr       1000\n"
            "          harp    not finished, for a reason that is longer than the line\n"
            "          dwf        900\n"
            "\n"
            "workload  scheme   IPC  lanes\n"
            "bfs       sbr     1.25    0.5\n"
            "          dwf     1.50   0.75\n")
      << "the remark is as long as it is";
}

TEST(TextTable, PartsAreAboutAsWide) {
  TextTable table({{"key", Align::kLeft}, {"aaaaaa"}, {"bbbbbb"}, {"cccccc"}, {"dddddd"}});
  table.row({"x", "1", "2", "3", "4"});
  EXPECT_EQ(table.text(30),
            "key  aaaaaa  bbbbbb\nx         1       2\n\nkey  cccccc  dddddd\nx         3       4\n");
}

TEST(TextTable, NoLineIsWiderThanAsked) {
  for (std::size_t most = 24; most < 60; ++most) {
    TextTable table({{"k", Align::kLeft}, {"one"}, {"another"}, {"third one"}, {"·····"}});
    table.row({"key", "1", "22", "333", "4444"}).row({"other key", "123456", "22", "3", "4"});
    std::istringstream lines(table.text(most));
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line); ++rows) EXPECT_LE(display_width(line), most) << line;
    EXPECT_EQ(rows > 3, most < 9 + 2 + 6 + 2 + 7 + 2 + 9 + 2 + 5) << most;
  }
}

TEST(TextTable, RefusesMoreCellsThanColumns) {
  TextTable table({{"a"}, {"b"}});
  EXPECT_THROW(table.row({"1", "2", "3"}), std::invalid_argument);
  EXPECT_THROW(table.remark({"1", "2"}, "why"), std::invalid_argument);
}

TEST(Clipped, CutsCharactersNotBytes) {
  EXPECT_EQ(clipped("a·b·c", 5), "a·b·c");
  EXPECT_EQ(clipped("a·b·c", 4), "a·b…");
  EXPECT_EQ(clipped("日本語", 5), "日本…");
  EXPECT_EQ(clipped("日本語", 4), "日…");
  EXPECT_EQ(clipped("abc", 0), "");
}

TEST(Label, IsPaddedWithItsIndent) {
  EXPECT_EQ(label("IPC", 6), "IPC   ");
  EXPECT_EQ(label("÷", 6, 2), "  ÷   ");
  EXPECT_EQ(label("longer than that", 6, 2), "  longer than that");
}

}  // namespace
}  // namespace weft::study::table_test
