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
      AllOf(
          StartsWith("shuffle from outside | 8 | k: thread (4,0,0) of block ("),
          HasSubstr(", pc 3, k.ptx:9:1"),
          HasSubstr("shfl reads lane 8 of its warp, which has exited: the value is undefined, and 0 here")));
}

TEST_P(WarpCheck, ThreadsThatTheBlockDoesNotHave) {
  EXPECT_THAT(run("shfl.sync.bfly.b32 %r2, %r1, 16, 31, 0xffffffff;", 40),
              AllOf(StartsWith("shuffle from outside | 16 | k: thread (32,0,0) of block ("),
                    HasSubstr("shfl reads lane 16 of its warp, a thread that the block does not have")));
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
