// Shuffles from threads that do not take part, by what keeps them away; and correct shuffles, which are
// silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_bench.h"

namespace weft::test::warp_check_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

check::Options warp_check(std::uint64_t reports = 16) {
  check::Options options;
  options.warp = true;
  options.reports = reports;
  return options;
}

class WarpCheck : public ::testing::TestWithParam<Mode> {
 protected:
  static std::string run(const std::string& body, unsigned threads,
                         const check::Options& options = warp_check()) {
    return reports_of(GetParam(), options, [&](GpuBench& bench) {
      bench.load(kernel_text(".param .u64 data", "mov.u32 %r1, %tid.x;\n" + body + "\nret;"));
      bench.run({2, 1, 1}, {threads, 1, 1}, runtime::Arguments().add(bench.zeros(4)));
    });
  }
};

TEST_P(WarpCheck, ThreadsThatHaveExited) {
  EXPECT_THAT(
      run("setp.ge.u32 %p1, %r1, 8;\n@%p1 ret;\nshfl.sync.down.b32 %r2, %r1, 4, 31, 0xffffffff;", 32),
      AllOf(StartsWith("shuffle from outside | 8 | k: thread (4,0,0) of block ("),
            HasSubstr(", pc 3, k.ptx:9:1"),
            HasSubstr(
                "shfl reads lane 8 of its warp, which has exited: the value is undefined; Weft gives 0")));
}

TEST_P(WarpCheck, ThreadsThatTheBlockDoesNotHave) {
  EXPECT_THAT(run("shfl.sync.bfly.b32 %r2, %r1, 16, 31, 0xffffffff;", 40),
              AllOf(StartsWith("shuffle from outside | 16 | k: thread (32,0,0) of block ("),
                    HasSubstr("shfl reads lane 16 of its warp, which does not exist in the block")));
}

TEST_P(WarpCheck, ThreadsThatTheMaskDoesNotName) {
  EXPECT_THAT(run("setp.ge.u32 %p1, %r1, 8;\n@%p1 bra JOIN;\nshfl.sync.idx.b32 %r2, %r1, 9, 31, 0xff;\n"
                  "JOIN: bar.sync 0;",
                  32),
              AllOf(StartsWith("shuffle from outside | 16 | k: thread (0,0,0) of block ("),
                    HasSubstr("shfl reads lane 9 of its warp, which its member mask 0xff does not name")));
}

TEST_P(WarpCheck, ThreadsInAnotherBranchWithoutSync) {
  EXPECT_THAT(
      run("setp.ge.u32 %p1, %r1, 8;\n@%p1 bra JOIN;\nshfl.up.b32 %r2, %r1, 1, 0;\n"
          "shfl.idx.b32 %r2, %r1, 20, 31;\nJOIN: bar.sync 0;",
          32),
      AllOf(StartsWith("shuffle from outside | 16 | k: thread (0,0,0) of block ("),
            HasSubstr("lane 20 of its warp, which does not execute the instruction together with it")));
}

TEST_P(WarpCheck, CorrectOnesAreSilent) {
  EXPECT_EQ(
      run("shfl.sync.down.b32 %r2, %r1, 4, 31, 0xffffffff;\nshfl.sync.up.b32 %r2, %r1, 1, 0, 0xffffffff;\n"
          "shfl.sync.bfly.b32 %r2, %r1, 8, 0x181f, 0xffffffff;\n"
          "setp.ge.u32 %p1, %r1, 8;\n@%p1 bra JOIN;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, 0xff;\n"
          // Beyond the segment a thread keeps its own value.
          "shfl.sync.down.b32 %r2, %r1, 4, 0x1807, 0xff;\nJOIN: bar.sync 0;",
          32),
      "");
}

// The others wait for these, at a barrier of the block or where they meet again.
TEST_P(WarpCheck, MembersThatCannotCome) {
  for (const char* primitive :
       {"shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", "vote.sync.ballot.b32 %r2, %p1, -1;",
        "match.any.sync.b32 %r2, %r1, -1;", "redux.sync.add.u32 %r2, %r1, -1;", "bar.warp.sync -1;"}) {
    EXPECT_THAT(
        run("setp.ge.u32 %p1, %r1, 12;\n@%p1 bra JOIN;\n" + std::string(primitive) + "\nJOIN: bar.sync 0;",
            32),
        AllOf(StartsWith("members absent | 24 | k: thread (0,0,0) of block ("),
              HasSubstr("with member mask 0xffffffff executes without 0xfffff000, which wait at a")))
        << primitive;
    EXPECT_EQ(run(std::string(primitive) + "\nbar.sync 0;", 32), "") << primitive;
  }
}

TEST_P(WarpCheck, AlignedBarriersInDivergentCode) {
  struct Case {
    const char *one, *other;
    bool found;
  };
  for (const Case& c : {Case{"bar.sync 0;", "bar.sync 0;", true},
                        {"barrier.sync.aligned 0;", "barrier.sync.aligned 0;", true},
                        {"barrier.sync.aligned 0;", "barrier.sync 0;", true},
                        {"bar.sync 1, 64;", "bar.sync 1, 64;", true},
                        {"bar.arrive 1, 64;", "bar.sync 1, 64;", true},
                        {"bar.red.popc.u32 %r5, 0, %p1;", "bar.red.popc.u32 %r6, 0, %p1;", true},
                        {"barrier.sync 0;", "barrier.sync 0;", false}}) {
    const auto arms = [&](const std::string& which) {
      return which + "setp.eq.u32 %p1, %r7, 0; @%p1 bra A;\n" + c.one + "\nbra E;\nA: " + c.other +
             "\nE: add.u32 %r1, %r1, 1;";
    };
    const std::string name = std::string(c.one) + " | " + c.other;
    const std::string divergent = run(arms("and.b32 %r7, %r1, 1;"), 64);
    if (c.found) {
      EXPECT_THAT(divergent,
                  AllOf(StartsWith("barrier in divergent code | "), HasSubstr(": aligned barrier "),
                        HasSubstr("of the same warp arrived from pc ")))
          << name;
    } else {
      EXPECT_EQ(divergent, "") << name;
    }
    EXPECT_EQ(run(arms("and.b32 %r7, %r1, 32;"), 64), "") << name << ", each warp in one arm";
  }
  EXPECT_EQ(
      run("L: bar.sync 0;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 90; bar.sync 0; and.b32 %r7, %r1, 3;",
          64),
      "")
      << "one after the other";
}

TEST_P(WarpCheck, EndsTheLaunchAfterSoManyReports) {
  const std::string body =
      "FOREVER: shfl.sync.bfly.b32 %r2, %r1, 16, 31, 0xffffffff;\nadd.u32 %r1, %r1, 1;\nbra FOREVER;";
  EXPECT_THAT(run(body, 8, warp_check(1)),
              AllOf(HasSubstr("stopped by --check after 1 reports"), HasSubstr("shuffle from outside | ")));
}

INSTANTIATE_TEST_SUITE_P(Modes, WarpCheck, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::test::warp_check_test
