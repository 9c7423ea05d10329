// `--vcd FILE.fst`: GTKWave's vcd2fst makes it, and what goes wrong there is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "end_to_end/process.h"

namespace weft::vcd::fst_test {
namespace {

using end_to_end::Exit;
using end_to_end::Start;
using end_to_end::weft;
using test::Folder;
using ::testing::AllOf;
using ::testing::HasSubstr;

// PATH, for the programs that are started meanwhile.
class Path {
 public:
  explicit Path(const std::string& path) : before_(std::getenv("PATH")) { setenv("PATH", path.c_str(), 1); }
  ~Path() { setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  const std::string before_;
};

std::vector<std::string> run(const std::string& waveform, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run",    "--config", "dwr-tesla", "--workload", "bfs",
                                 "--size", "small",    "--vcd",     waveform};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool is_there(const char* program) {
  return std::system((std::string("command -v ") + program + " >/dev/null").c_str()) == 0;
}

// Changes by signal; a value without the zeros in front, which FST adds.
using Changes = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

Changes changes_of(const std::string& vcd) {
  Changes changes;
  std::map<std::string, std::string> names;
  std::vector<std::string> scopes;
  std::istringstream lines(vcd);
  std::string time;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string first, second, width, code, name;
    in >> first >> second;
    if (first == "$scope") {
      in >> name;
      scopes.push_back(name);
    } else if (first == "$upscope") {
      scopes.pop_back();
    } else if (first == "$var") {
      in >> width >> code >> name;
      std::string whole;
      for (const std::string& scope : scopes) whole += scope + ".";
      names[code] = whole + name;
    } else if (!first.empty() && first[0] == '#') {
      time = first;
    } else if (!first.empty() && (first[0] == 'b' || first[0] == 's')) {
      const std::size_t digits = std::min(first.find_first_not_of('0', 1), first.size() - 1);
      std::string value = first[0] == 's' ? first : "b" + first.substr(digits);
      if (value.find('z') != std::string::npos && first[0] == 'b') value = "bz";
      auto& list = changes[names.at(second)];
      if (list.empty() || list.back().second != value) list.emplace_back(time, value);
    }
  }
  return changes;
}

TEST(Fst, HasTheChangesOfTheVcd) {
  if (!is_there("vcd2fst") || !is_there("fst2vcd")) GTEST_SKIP() << "GTKWave is not installed";
  const Folder folder;
  const std::vector<std::string> some{"--vcd-signals", "sm0.scheduler*,dram0"};
  ASSERT_EQ(weft(run(folder.path("a.vcd"), some)).code, 0);
  const Exit made = weft(run(folder.path("a.fst"), some));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.err, "");
  EXPECT_LT(std::filesystem::file_size(folder.path("a.fst")) * 3,
            std::filesystem::file_size(folder.path("a.vcd")));
  const std::string back = "fst2vcd " + folder.path("a.fst") + " >" + folder.path("b.vcd");
  ASSERT_EQ(std::system(back.c_str()), 0);
  const Changes expected = changes_of(folder.text("a.vcd"));
  EXPECT_GT(expected.size(), 10U);
  EXPECT_EQ(changes_of(folder.text("b.vcd")), expected);
}

TEST(Fst, AMissingProgramIsToldBeforeTheRun) {
  const Folder folder;
  const Path nothing(folder.path());
  const Exit exit = weft(run(folder.path("a.fst"), {"--out", folder.path("out")}));
  EXPECT_EQ(exit.code, 2);
  EXPECT_EQ(exit.out, "");
  EXPECT_THAT(exit.err, AllOf(HasSubstr("a.fst: cannot start vcd2fst"), HasSubstr("GTKWave")));
  EXPECT_FALSE(std::filesystem::exists(folder.path("out/stats.json")));
}

TEST(Fst, OneThatFailsCostsTheWaveformNotTheResults) {
  const Folder folder;
  const std::string program = folder.write("vcd2fst", "#!/bin/sh\nread line\nexit 7\n");
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  const Path mine(folder.path() + ":/usr/bin:/bin");
  const Exit exit = weft(run(folder.path("a.fst"), {"--out", folder.path("out")}));
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("a.fst: vcd2fst ended with exit code 7"));
  EXPECT_EQ(folder.json("out/stats.json").at("verified"), true);
}

// vcd2fst itself says nothing of a disk that is full.
TEST(Fst, AFullDiskIsTold) {
  if (!is_there("vcd2fst")) GTEST_SKIP() << "GTKWave is not installed";
  const Folder folder;
  Start full;
  full.file_size_limit = 200'000;
  const Exit exit = weft(run(folder.path("a.fst"), {"--out", folder.path("out")}), full);
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("a.fst: is incomplete"));
  EXPECT_EQ(folder.json("out/config.json").at("name"), "dwr-tesla");
}

// After an interrupt there is what was simulated.
TEST(Fst, AnInterruptLeavesAWholeFile) {
  if (!is_there("vcd2fst") || !is_there("fst2vcd")) GTEST_SKIP() << "GTKWave is not installed";
  const Folder folder;
  Start start;
  start.interrupt_after_ms = 1500;
  std::vector<std::string> words = run(folder.path("a.fst"), {"--vcd-signals", "sm0"});
  words[6] = "large";
  const Exit exit = weft(words, start);
  EXPECT_EQ(exit.code, 3) << exit.err;
  const std::string back = "fst2vcd " + folder.path("a.fst") + " >" + folder.path("b.vcd");
  EXPECT_EQ(std::system(back.c_str()), 0);
  EXPECT_GT(changes_of(folder.text("b.vcd")).size(), 10U);
}

}  // namespace
}  // namespace weft::vcd::fst_test
