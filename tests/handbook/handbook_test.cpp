// A page of the handbook keeps its word (page.h). Its commands run one after the other, in a folder that
// looks like the root of the repository with everything built. A command ends with exit code 0, or the page
// asks for its exit code next, by `echo $?`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/process.h"
#include "page.h"
#include "vcd/timeline_reader.h"

namespace weft::handbook_test {
namespace {

namespace fs = std::filesystem;

// The root of the repository, but for what a page would change there.
void make_root(const test::Folder& folder) {
  for (const auto& entry : fs::directory_iterator(WEFT_SOURCE)) {
    const std::string name = entry.path().filename().string();
    if (name[0] != '.' && name != "build" && name != "out" && name != "weft")
      fs::create_symlink(entry.path(), folder.path(name));
  }
  fs::create_directories(folder.path("build"));
  fs::create_symlink(WEFT_BUILD, folder.path("build/release"));
  fs::create_symlink(WEFT_COMMANDS "/weft", folder.path("weft"));
  fs::create_directory(folder.path("home"));
  setenv("HOME", folder.path("home").c_str(), 1);
  ASSERT_EQ(chdir(folder.path().c_str()), 0);
}

// Numbers of the page are those of firmware by GCC 12.
constexpr double kOfOtherFirmware = WEFT_FIRMWARE_GCC == 12 ? 0 : 0.02;

bool shows(const std::string& text, const std::string& words, bool firmware) {
  return firmware && kOfOtherFirmware != 0 ? has_words_about(text, words, kOfOtherFirmware)
                                           : has_words(text, words);
}

// The lines, in their order.
void expect_lines(const std::string& text, const std::vector<std::string>& lines, bool firmware) {
  std::istringstream out(text);
  std::vector<std::string> printed;
  for (std::string line; std::getline(out, line);) printed.push_back(plain(line));
  auto from = printed.begin();
  for (const std::string& line : lines) {
    from = std::find_if(from, printed.end(),
                        [&](const std::string& candidate) { return shows(candidate, line, firmware); });
    ASSERT_NE(from, printed.end()) << "not printed, or not here: " << line << "\n" << text;
    ++from;
  }
}

void write_or_compare(const File& file, const test::Folder& folder) {
  if (!fs::exists(file.path)) {
    folder.write(file.path, file.text);
    return;
  }
  const std::string there = folder.text(file.path);
  EXPECT_THAT(there, ::testing::HasSubstr(file.text)) << file.path << " has other lines";
}

// In any of the timelines that the commands wrote.
void expect_slices(const std::vector<Slice>& slices) {
  if (slices.empty()) return;
  std::vector<test::TimelineFile::Slice> there;
  for (const auto& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() != ".perfetto-trace") continue;
    const test::TimelineFile timeline(entry.path().string());
    there.insert(there.end(), timeline.slices.begin(), timeline.slices.end());
  }
  for (const Slice& slice : slices) {
    std::string others;
    bool found = false;
    for (const auto& other : there) {
      if (other.track != slice.track) continue;
      found = found || (other.name == slice.name && other.begin == slice.begin && other.end == slice.end);
      others += other.name + " " + std::to_string(other.begin) + " " + std::to_string(other.end) + "\n";
    }
    EXPECT_TRUE(found) << slice.track << " has no slice " << slice.name << " " << slice.begin << " "
                       << slice.end << ", but\n"
                       << others;
  }
}

class Handbook : public ::testing::TestWithParam<std::string> {};

TEST_P(Handbook, PrintsWhatItShows) {
  const Page page = read_page(WEFT_SOURCE "/docs/" + GetParam());
  const test::Folder folder;
  make_root(folder);
  std::string all;
  int code = 0;
  bool firmware = false;
  for (std::size_t i = 0; i < page.steps.size(); ++i) {
    if (const File* file = std::get_if<File>(&page.steps[i])) {
      write_or_compare(*file, folder);
      continue;
    }
    const Command& command = std::get<Command>(page.steps[i]);
    SCOPED_TRACE(command.text);
    const std::string shell =
        "exec 2>&1; PATH='" WEFT_COMMANDS "':$PATH; (exit " + std::to_string(code) + "); " + command.text;
    const end_to_end::Exit exit = end_to_end::run("/bin/bash", {"-c", shell}, end_to_end::patient(500));
    code = exit.code;
    const Command* next = i + 1 < page.steps.size() ? std::get_if<Command>(&page.steps[i + 1]) : nullptr;
    const bool asked = next != nullptr && next->text == "echo $?";
    ASSERT_TRUE(asked || code == 0) << "exit code " << code << "\n" << exit.out;
    expect_lines(exit.out, command.lines, command.firmware);
    firmware = firmware || command.firmware;
    if (HasFatalFailure()) return;
    all += exit.out;
  }
  expect_slices(page.slices);
  for (const std::string& number : page.numbers)
    EXPECT_TRUE(shows(all, number, firmware)) << number << " in code style, and printed by no command";
}

// More than a minute each: whole runs under every setting that the page talks of; a build that the test of
// the installed package makes, too.
const std::set<std::string> kLongPages = {"reading-a-report.md", "rtl-beside-tlm.md"};

std::vector<std::string> pages(bool is_long) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(WEFT_SOURCE "/docs")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".md" || (kLongPages.count(name) != 0) != is_long) continue;
    if (!read_page(entry.path()).steps.empty()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (!is_long) names.emplace_back("../experiments/README.md");  // a tutorial
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pages, Handbook, ::testing::ValuesIn(pages(false)), test_name);
INSTANTIATE_TEST_SUITE_P(LongPages, Handbook, ::testing::ValuesIn(pages(true)), test_name);

TEST(HandbookPage, WordsAndNumbersAreWholeOnes) {
  EXPECT_TRUE(has_words("cycles 184, 0.42", "184"));
  EXPECT_TRUE(has_words("(0.42).", "0.42"));
  EXPECT_FALSE(has_words("1840 and 2184", "184"));
  EXPECT_FALSE(has_words("10.42", "0.42"));
  EXPECT_FALSE(has_words("0.421", "0.42"));
  EXPECT_FALSE(has_words("184.5", "184"));
  EXPECT_TRUE(has_words("In all 184.", "184"));
  EXPECT_TRUE(has_words("weft: /sm/count: is 0", "/sm/count"));
  EXPECT_FALSE(has_words("misses", "miss"));
}

TEST(HandbookPage, NumbersAreAboutAsPrinted) {
  const std::string text = "[ 616410.571 ns] 9 levels (a+b), 10 interrupts\n#303045714\n0,3,\"x\",294765.8";
  EXPECT_TRUE(has_words_about(text, "[ 620034.428 ns] 9 levels (a+b), 10 interrupts", 0.02));
  EXPECT_FALSE(has_words_about(text, "[ 640034.428 ns] 9 levels", 0.02));
  EXPECT_FALSE(has_words_about(text, "[ 620034.428 ns] 8 levels", 0.02));
  EXPECT_FALSE(has_words_about(text, "[ 620034.428 ns] 9 levels (ab)", 0.02));
  EXPECT_TRUE(has_words_about(text, "#303000000", 0.02));
  EXPECT_TRUE(has_words_about(text, "0,3,\"x\",295000.1", 0.02));
  EXPECT_FALSE(has_words_about(text, "0,4,\"x\",294765.8", 0.02));
}

}  // namespace
}  // namespace weft::handbook_test
