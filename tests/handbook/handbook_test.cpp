// A page of the handbook keeps its word: each command of its blocks marked `console` ends with exit code 0,
// and prints the lines that follow it there, in their order, whatever the spaces. A number in code style in
// the text stands in what one of them printed. Commands run in a folder of their own, one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::end_to_end::handbook_test {
namespace {

struct Command {
  std::vector<std::string> arguments;  // without the program
  std::vector<std::string> lines;      // that it prints
};

struct Page {
  std::vector<Command> commands;
  std::vector<std::string> numbers;
};

// With one space where there are some.
std::string plain(const std::string& line) {
  std::istringstream words(line);
  std::string text, word;
  while (words >> word) text += (text.empty() ? "" : " ") + word;
  return text;
}

void add_numbers(const std::string& line, std::vector<std::string>& numbers) {
  for (std::size_t begin = line.find('`'); begin != std::string::npos;) {
    const std::size_t end = line.find('`', begin + 1);
    if (end == std::string::npos) return;
    const std::string code = line.substr(begin + 1, end - begin - 1);
    if (!code.empty() && std::isdigit(static_cast<unsigned char>(code[0])) != 0) numbers.push_back(code);
    begin = line.find('`', end + 1);
  }
}

Page read(const std::string& file) {
  std::ifstream in(std::string(WEFT_HANDBOOK) + "/" + file);
  EXPECT_TRUE(in) << file;
  Page page;
  std::string fence, line;
  while (std::getline(in, line)) {
    if (line.rfind("```", 0) == 0) {
      fence = fence.empty() ? line : "";
    } else if (fence.empty()) {
      add_numbers(line, page.numbers);
    } else if (fence == "```console") {
      if (line.rfind("$ ./weft ", 0) == 0) {
        std::istringstream words(line.substr(9));
        Command command;
        for (std::string word; words >> word;) command.arguments.push_back(word);
        page.commands.push_back(command);
      } else if (page.commands.empty()) {
        ADD_FAILURE() << file << ": found '" << line << "' before any command";
      } else {
        page.commands.back().lines.push_back(plain(line));
      }
    }
  }
  return page;
}

class Handbook : public ::testing::TestWithParam<std::string> {};

TEST_P(Handbook, PrintsWhatItShows) {
  const Page page = read(GetParam());
  const Folder folder;
  ASSERT_EQ(chdir(folder.path().c_str()), 0);
  std::string all;
  for (const Command& command : page.commands) {
    std::string shown;
    for (const std::string& word : command.arguments) shown += " " + word;
    SCOPED_TRACE("weft" + shown);
    const Exit exit = weft(command.arguments, patient(500));
    ASSERT_EQ(exit.code, 0) << exit.err;
    std::istringstream out(exit.out);
    std::vector<std::string> printed;
    for (std::string line; std::getline(out, line);) printed.push_back(plain(line));
    auto from = printed.begin();
    for (const std::string& line : command.lines) {
      from = std::find_if(from, printed.end(), [&](const std::string& candidate) {
        return candidate.find(line) != std::string::npos;
      });
      ASSERT_NE(from, printed.end()) << "not printed, or not here: " << line << "\n" << exit.out;
      ++from;
    }
    all += exit.out;
  }
  for (const std::string& number : page.numbers)
    EXPECT_THAT(all, ::testing::HasSubstr(number)) << "in code style, and printed by no command";
}

std::vector<std::string> pages() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_HANDBOOK)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".md" && !read(name).commands.empty()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Pages, Handbook, ::testing::ValuesIn(pages()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace weft::end_to_end::handbook_test
