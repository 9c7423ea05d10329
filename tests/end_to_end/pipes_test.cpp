// Named pipes without anybody at their other end, where a file is asked for; and a process that gets no
// descriptors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::pipes_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

struct Case {
  const char* name;
  Words words;  // PIPE: the pipe; GOOD: a kernel; OUT: a folder whose stats.json is the pipe
  const char* why;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class LonelyPipe : public ::testing::TestWithParam<Case> {};

TEST_P(LonelyPipe, IsNotWaitedForForEver) {
  const Folder folder;
  fs::create_directories(folder.path("out"));
  const std::string pipe = folder.path("out/stats.json"), good = folder.write("good.ptx", kGoodKernel);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Words words = GetParam().words;
  for (std::string& word : words) {
    for (const auto& [mark, text] :
         {std::pair<std::string, std::string>{"PIPE", pipe}, {"GOOD", good}, {"OUT", folder.path("out")}}) {
      if (const auto at = word.find(mark); at != std::string::npos) word.replace(at, mark.size(), text);
    }
  }
  const Exit exit = weft(words, patient(40));
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_THAT(exit.err, AllOf(HasSubstr(GetParam().why), Not(HasSubstr("internal error"))));
}

constexpr const char* kAlone = "stats.json: cannot be read: no process has opened the other end of this pipe";
constexpr const char* kUnread =
    "stats.json: cannot be written: no process has opened the other end of this pipe";
constexpr const char* kNoFile = "stats.json: is not a regular file";
const Words kGood{"run", "--ptx", "GOOD", "--grid", "1", "--block", "32", "--set", "sm.count=1", "--arg"};

Words good(const Words& more) {
  Words words = kGood;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

INSTANTIATE_TEST_SUITE_P(
    Files, LonelyPipe,
    ::testing::Values(Case{"ptx", {"ptx", "PIPE"}, kAlone},
                      Case{"run_ptx", {"run", "--ptx", "PIPE", "--grid", "1", "--block", "1"}, kAlone},
                      Case{"configuration", {"check-config", "PIPE"}, kAlone},
                      Case{"argument", good({"ptr:128=file:PIPE", "u32:1"}), kAlone},
                      Case{"sweep", {"sweep", "PIPE", "--store", "OUT/s.db"}, kAlone},
                      Case{"plugin", {"check-config", "gtx480", "--plugin", "PIPE"}, kNoFile},
                      Case{"report", {"report", "OUT"}, kNoFile},
                      Case{"dump", good({"ptr:128", "u32:1", "--dump", "0=PIPE"}), kUnread},
                      Case{"waveform", good({"ptr:128", "u32:1", "--vcd", "PIPE"}), kUnread},
                      Case{"results", good({"ptr:128", "u32:1", "--out", "OUT"}), kUnread}),
    [](const ::testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

// Pipes of a shell have somebody at their other end, at once or later.
TEST(PipesOfAShell, AreRead) {
  const Folder folder;
  const std::string file = folder.write("good.ptx", kGoodKernel);
  const std::string weft_ptx = std::string(WEFT_PROGRAM) + " ptx ";
  for (const std::string& command :
       {weft_ptx + "/dev/stdin < " + file, "cat " + file + " | " + weft_ptx + "/dev/stdin",
        weft_ptx + "<(cat " + file + ")", weft_ptx + "<(sleep 0.3; cat " + file + ")",
        "(sleep 0.3; cat " + file + ") | " + weft_ptx + "/proc/self/fd/0"}) {
    const Exit exit = run("/bin/bash", {"-c", command});
    EXPECT_EQ(exit.code, 0) << command << exit.err;
    EXPECT_THAT(exit.out, HasSubstr("good"));
  }
}

// The system refuses a pipe, a process or a file: that is no error of Weft's own.
TEST(FewDescriptors, AreToldPlainly) {
  const Folder folder;
  const auto limited = [&](unsigned descriptors, const std::string& words) {
    return run("/bin/bash",
               {"-c", "ulimit -n " + std::to_string(descriptors) + "; exec " + WEFT_PROGRAM + " " + words},
               patient(60));
  };
  unsigned least = 4;  // with which the program starts: the dynamic linker opens one library at a time
  while (limited(least, "--version").code == 127) ++least;
  const std::string run_words = "run --workload vector_add --size n=64 --set sm.count=1 ";
  for (unsigned descriptors = least; descriptors < least + 5; ++descriptors) {
    for (const std::string& words :
         {run_words + "--vcd " + folder.path("n.fst"), run_words + "--vcd " + folder.path("n.vcd"),
          run_words + "--out " + folder.path("out"),
          run_words + "--plugin " + WEFT_PLUGIN_FOLDER + "/min_pc.so"}) {
      const Exit exit = limited(descriptors, words);
      EXPECT_THAT(exit.err, Not(HasSubstr("internal error"))) << descriptors << " " << words;
      EXPECT_TRUE(exit.code == 0 || exit.code == 2) << descriptors << " " << words << "\n" << exit.err;
    }
  }
  const Exit exit = limited(least, run_words + "--vcd " + folder.path("n.fst"));
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, HasSubstr("n.fst: cannot create a pipe to vcd2fst: Too many open files"));
}

}  // namespace
}  // namespace weft::end_to_end::pipes_test
