// The tutorial's code is that of the example plugin: the README of warp_formation quotes all of
// min_pc.cpp, in order.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace weft::warp_formation::test::tutorial_test {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(std::string(WEFT_SOURCE_DIR "/") + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string without_blank_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) {
    if (!line.empty()) text += line + "\n";
  }
  return text;
}

// The C++ of the README's section on schemes of one's own.
std::vector<std::string> quoted() {
  std::vector<std::string> code;
  bool in_section = false, in_code = false;
  for (const auto& line : lines_of("modules/warp_formation/README.md")) {
    if (line.rfind("## ", 0) == 0) in_section = line == "## A scheme of your own";
    if (!in_section) continue;
    const bool fence = line.rfind("```", 0) == 0;
    if (in_code && !fence) code.push_back(line);
    if (fence) in_code = line == "```cpp";
  }
  return code;
}

TEST(Tutorial, QuotesTheWholeExample) {
  const auto code = quoted();
  ASSERT_GT(code.size(), 100u);
  EXPECT_EQ(without_blank_lines(code),
            without_blank_lines(lines_of("platform/examples/scheme_plugin/min_pc.cpp")));
}

}  // namespace
}  // namespace weft::warp_formation::test::tutorial_test
