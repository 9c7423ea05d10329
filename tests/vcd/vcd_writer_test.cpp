#include "vcd/vcd_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "end_to_end/process.h"
#include "vcd/vcd_reader.h"
#include "weft/common/error.h"

namespace weft::vcd {
namespace {

using end_to_end::Folder;
using ::testing::HasSubstr;

TEST(VcdWriter, WritesHeaderScopesDumpAndChanges) {
  const Folder folder;
  {
    VcdWriter vcd(folder.path("a.vcd"));
    vcd.comment("a test");
    vcd.open_scope("gpu");
    const auto kernel = vcd.text("kernel");
    vcd.open_scope("sm0");
    const auto lanes = vcd.vector("lanes", 6);
    const auto pc = vcd.vector("pc", 8);
    vcd.close_scope();
    vcd.close_scope();
    vcd.end_definitions();
    vcd.set(lanes, 32);
    vcd.begin(1000);
    vcd.at(1500);
    vcd.set(lanes, 32);  // no change
    vcd.at(2000);
    vcd.set(lanes, 0);
    vcd.set(pc, 5);
    vcd.set(kernel, "two words");
    vcd.at(3000);
    vcd.set(pc, VcdWriter::kUndriven);
    vcd.end(3500);
    EXPECT_FALSE(vcd.open());
    EXPECT_EQ(vcd.error(), "");
  }
  EXPECT_EQ(folder.text("a.vcd"),
            "$version Weft $end\n"
            "$timescale 1 ps $end\n"
            "$comment a test $end\n"
            "$scope module gpu $end\n"
            "$var string 1 ! kernel $end\n"
            "$scope module sm0 $end\n"
            "$var wire 6 \" lanes $end\n"
            "$var wire 8 # pc $end\n"
            "$upscope $end\n"
            "$upscope $end\n"
            "$enddefinitions $end\n"
            "#1000\n"
            "$dumpvars\n"
            "s- !\n"
            "b100000 \"\n"
            "bz #\n"
            "$end\n"
            "#2000\n"
            "b0 \"\n"
            "b101 #\n"
            "stwo_words !\n"
            "#3000\n"
            "bz #\n"
            "#3500\n");
}

TEST(VcdWriter, WritesNothingBeforeBegin) {
  const Folder folder;
  {
    VcdWriter vcd(folder.path("a.vcd"));
    vcd.open_scope("gpu");
    const auto lanes = vcd.vector("lanes", 6);
    vcd.close_scope();
    vcd.end_definitions();
    vcd.at(10);
    vcd.set(lanes, 1);
    vcd.end(20);
  }
  const std::string text = folder.text("a.vcd");
  EXPECT_EQ(text.find('#'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("$enddefinitions $end\n"));
}

// More signals than one, and than two characters can name.
TEST(VcdWriter, GivesEverySignalACodeOfItsOwn) {
  constexpr std::size_t kSignals = 94 + 94 * 94 + 100;
  const Folder folder;
  {
    VcdWriter vcd(folder.path("a.vcd"));
    vcd.open_scope("s");
    for (std::size_t i = 0; i < kSignals; ++i) vcd.vector("v" + std::to_string(i), VcdWriter::kMaxWidth);
    vcd.close_scope();
    vcd.end_definitions();
    for (std::size_t i = 0; i < kSignals; ++i) vcd.set(VcdWriter::Signal(i), i);
    vcd.begin(7);
  }
  const Vcd vcd = read_vcd(folder.text("a.vcd"));  // refuses codes used twice
  ASSERT_EQ(vcd.waves.size(), kSignals);
  for (std::size_t i = 0; i < kSignals; i += 97) {
    EXPECT_EQ(std::stoull(vcd.waves.at("s.v" + std::to_string(i)).changes.at(0).value, nullptr, 2), i);
  }
}

TEST(VcdWriter, RefusesWhatTheFormatCannotSay) {
  const Folder folder;
  VcdWriter vcd(folder.path("a.vcd"));
  EXPECT_THROW(vcd.open_scope("a b"), std::logic_error);
  EXPECT_THROW(vcd.open_scope(""), std::logic_error);
  EXPECT_THROW(vcd.vector("v", 0), std::logic_error);
  EXPECT_THROW(vcd.vector("v", 64), std::logic_error);
  EXPECT_THROW(vcd.text("a\tb"), std::logic_error);
}

TEST(VcdWriter, SaysAtOnceThatAFileCannotBeWritten) {
  const Folder folder;
  const std::string path = folder.path("none") + "/a.vcd";
  try {
    VcdWriter vcd(path);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), path + ": cannot be written: No such file or directory");
  }
  VcdWriter full("/dev/full");
  EXPECT_THROW(full.end_definitions(), InputError);
}

// A limit on the size of files stands for a full disk: write() fails in the middle of a line.
TEST(VcdWriter, CutsBackToACompleteStepWhenTheDiskIsFull) {
  constexpr std::uint64_t kLimit = 3'000'000;
  const rlimit limit{kLimit, RLIM_INFINITY};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Folder folder;
  VcdWriter vcd(folder.path("a.vcd"));
  vcd.open_scope("s");
  const auto a = vcd.vector("a", 40), b = vcd.vector("b", 40);
  vcd.close_scope();
  vcd.end_definitions();
  vcd.begin(1);
  std::uint64_t time = 1;
  while (vcd.open() && time < 1'000'000) {
    vcd.at(++time);
    vcd.set(a, time);
    vcd.set(b, time);
  }
  vcd.end(time);
  EXPECT_EQ(vcd.error(),
            folder.path("a.vcd") + ": cannot be written: File too large; what was written before is kept");
  const std::uint64_t bytes = std::filesystem::file_size(folder.path("a.vcd"));
  EXPECT_LE(bytes, kLimit);
  EXPECT_GT(bytes, kLimit - 100) << "no more than one step is lost";
  const Vcd read = read_vcd(folder.text("a.vcd"));
  const std::uint64_t last = std::stoull(read.waves.at("s.a").changes.back().value, nullptr, 2);
  EXPECT_EQ(read.end, last);
  EXPECT_EQ(read.waves.at("s.b").changes.back().time, last) << "the last step is whole";
}

}  // namespace
}  // namespace weft::vcd
