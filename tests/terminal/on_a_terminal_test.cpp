// The program on a terminal, on pipes, and with NO_COLOR: a pseudo-terminal is what it writes to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <sstream>

#include "end_to_end/process.h"

namespace weft::end_to_end::on_a_terminal_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kEscape = "\x1b[";

// A variable of the environment, for the programs that are started meanwhile; null: not set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// What lies on a terminal is in `out`, of both streams.
Start terminal(unsigned short columns = 120) {
  Start start = patient(300);
  start.terminal_columns = columns;
  return start;
}

std::string without_escapes(const std::string& text) {
  static const std::regex escape("\x1b\\[[0-9;]*[mK]");
  return std::regex_replace(text, escape, "");
}

const std::vector<std::string> kRun{"run", "--workload", "vector_add", "--size", "small"};

TEST(OnATerminal, ResultsHeadingsAndErrorsHaveColour) {
  const Variable kind("TERM", "xterm"), colour("NO_COLOR", nullptr);
  const Exit run = weft(kRun, terminal());
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, AllOf(HasSubstr("\x1b[32mverified\x1b[0m"),
                             HasSubstr("\x1b[1mbreakdown of scheduler cycles\x1b[0m")));
  const Exit refused = weft({"run", "--workload", "nothing"}, terminal());
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.out, HasSubstr("\x1b[1;31mweft:\x1b[0m "));
  const Exit list = weft({"reproduce"}, terminal());
  EXPECT_THAT(list.out, HasSubstr("\x1b[1mname "));
}

TEST(OnATerminal, WithoutColourTheTextIsTheSame) {
  const Variable kind("TERM", "xterm");
  const auto stable = [](const Exit& exit) {
    static const std::regex host("CPU seconds.*|\r");
    return std::regex_replace(without_escapes(exit.out), host, "");
  };
  const Exit coloured = weft(kRun, terminal());
  const Variable no("NO_COLOR", "1");
  const Exit plain = weft(kRun, terminal());
  EXPECT_THAT(coloured.out, HasSubstr("\x1b[32m"));
  EXPECT_THAT(plain.out, Not(HasSubstr("m\x1b")));
  EXPECT_THAT(plain.out, Not(HasSubstr("\x1b[32m")));
  EXPECT_EQ(stable(coloured), stable(plain));
}

TEST(OnATerminal, NoEscapeCodesForADumbOneAPipeOrAFile) {
  const Folder folder;
  std::vector<std::string> run = kRun;
  run.insert(run.end(), {"--out", folder.path("out")});
  const Variable kind("TERM", "xterm");
  const Exit piped = weft(run);
  EXPECT_THAT(piped.out, AllOf(HasSubstr("verified: "), Not(HasSubstr(kEscape))));
  EXPECT_THAT(piped.err, Not(HasSubstr(kEscape)));
  EXPECT_THAT(weft({"run", "--workload", "nothing"}).err, Not(HasSubstr(kEscape)));
  ASSERT_EQ(weft(run, terminal()).code, 0);
  EXPECT_THAT(folder.text("out/summary.txt"), AllOf(HasSubstr("verified: "), Not(HasSubstr(kEscape))));
  const Variable dumb("TERM", "dumb");
  EXPECT_THAT(weft(kRun, terminal()).out, AllOf(HasSubstr("verified: "), Not(HasSubstr(kEscape))));
}

TEST(OnATerminal, CompareRewritesOneLineWithItsProgress) {
  const Variable kind("TERM", "xterm");
  const std::vector<std::string> words{"compare", "--workloads", "vector_add,reduction",
                                       "--size",  "small",       "--schemes",
                                       "sbr,dwf", "--jobs",      "1"};
  const Exit on_terminal = weft(words, terminal());
  ASSERT_EQ(on_terminal.code, 0) << on_terminal.out;
  EXPECT_TRUE(std::regex_search(on_terminal.out,
                                std::regex("\r\x1b\\[K1 of 4 runs done, 25 %, about [0-9]+ s left\r")))
      << on_terminal.out;
  EXPECT_THAT(on_terminal.out, HasSubstr("\r\x1b[K4 of 4 runs done, 100 %\r\x1b[K\x1b[1mworkload"));
  const Exit piped = weft(words);
  EXPECT_THAT(piped.err, Not(HasSubstr("runs done")));

  const Exit narrow = weft(words, terminal(20));
  EXPECT_THAT(narrow.out, HasSubstr("\r\x1b[K1 of 4 runs done, …\r")) << "it must not go on in the next line";
}

// A kernel by itself is one launch, whose blocks are known.
TEST(OnATerminal, ARunOfOneLaunchTellsItsPercentage) {
  const Folder folder;
  const std::string ptx = folder.write("spin.ptx", R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry spin()
{
  .reg .u32 %r<2>;
  .reg .pred %p<2>;
  mov.u32 %r1, 900;
again:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
)");
  const Variable kind("TERM", "xterm");
  const Exit run = weft({"run", "--ptx", ptx, "--grid", "240", "--block", "256"}, terminal());
  ASSERT_EQ(run.code, 0) << run.out;
  EXPECT_TRUE(std::regex_search(
      run.out, std::regex("\r\x1b\\[K[0-9]+/240 blocks, [0-9]+ %, about [0-9]+ s left, [0-9]+ cycles")))
      << run.out;
}

}  // namespace
}  // namespace weft::end_to_end::on_a_terminal_test
