// The table of features in docs/your-cuda-program.md: each row is tried, and must be true. What runs has
// right results and no report; what is refused gives an error and says what the table says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "end_to_end/process.h"

namespace weft::features_test {
namespace {

using end_to_end::Exit;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

struct Row {
  std::string feature, happens, helps;
};

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string without_ticks(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  return text;
}

std::vector<Row> table() {
  std::ifstream page(WEFT_PAGE);
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| feature |", 0) == 0) inside = true;
    if (line.rfind("|", 0) != 0) inside = false;
    if (!inside || line.rfind("|---", 0) == 0 || line.rfind("| feature |", 0) == 0) continue;
    std::istringstream cells(line.substr(1));
    Row row;
    for (std::string* cell : {&row.feature, &row.happens, &row.helps}) {
      std::getline(cells, *cell, '|');
      *cell = trimmed(*cell);
    }
    row.feature = row.feature.substr(0, row.feature.find(" ("));  // names of functions, for who looks for one
    rows.push_back(row);
  }
  return rows;
}

Exit use(const std::string& feature) {
  return end_to_end::weft({"cuda", "--quiet", "--set", "sm.count=1", "--", FEATURES, feature});
}

TEST(Features, TheTableHasEachOnce) {
  std::istringstream names(end_to_end::run(FEATURES, {}).out);
  std::multiset<std::string> used, listed;
  for (std::string name; std::getline(names, name);) used.insert(name);
  for (const Row& row : table()) listed.insert(row.feature);
  EXPECT_GT(used.size(), 20u);
  EXPECT_EQ(used, listed);
}

TEST(Features, DoWhatTheTableSays) {
  for (const Row& row : table()) {
    const Exit run = use(row.feature);
    EXPECT_EQ(run.code, 0) << row.feature << ": " << run.err;
    if (row.happens.rfind("runs", 0) == 0) {
      EXPECT_EQ(run.out, "") << row.feature;
      EXPECT_EQ(run.err, "") << row.feature;
      continue;
    }
    EXPECT_EQ(row.happens.rfind("refused", 0), 0u) << row.feature << ": " << row.happens;
    EXPECT_THAT(run.out, HasSubstr("error ")) << row.feature;
    EXPECT_NE(row.helps, "") << row.feature;
    EXPECT_THAT(run.err, HasSubstr(without_ticks(row.helps))) << row.feature;
  }
}

// The setting that a refusal names makes the feature run.
TEST(Features, RunWithTheSettingThatHelps) {
  unsigned tried = 0;
  for (const Row& row : table()) {
    const std::string helps = without_ticks(row.helps);
    const auto at = helps.find("--set ");
    if (at == std::string::npos) continue;
    ++tried;
    Words words{"cuda", "--quiet", "--set", "sm.count=1"};
    std::istringstream settings(helps.substr(at));
    for (std::string word; settings >> word;) words.push_back(word);
    words.insert(words.end(), {"--", FEATURES, row.feature});
    const Exit run = end_to_end::weft(words);
    EXPECT_EQ(run.code, 0) << row.feature << ": " << run.err;
    EXPECT_EQ(run.out, "") << row.feature << ": " << run.err;
  }
  EXPECT_EQ(tried, 2u);
}

}  // namespace
}  // namespace weft::features_test
