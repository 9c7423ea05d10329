// Device functions as a user meets them: linked files, what kernels print, exit codes of faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::functions_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kCaller = kPtxHeader + R"(
.extern .func (.param .b32 r) triple(.param .b32 x);
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .b8 text[13] = {116, 111, 111, 107, 32, 37, 100, 10};
.visible .entry caller(.param .u64 out) {
  .local .align 8 .b8 arguments[8];
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), triple, (a); ld.param.b32 %r2, [b]; }
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r2;
  setp.ge.u32 %p1, %r1, 3;
  @%p1 ret;
  st.local.u32 [arguments], %r2;
  mov.u64 %rd3, arguments;
  cvta.local.u64 %rd3, %rd3;
  mov.u64 %rd4, text;
  { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd4; st.param.b64 [b], %rd3;
    call (c), vprintf, (a, b); }
  ret;
}
)";
const std::string kTriple = kPtxHeader + R"(
.visible .func (.param .b32 r) triple(.param .b32 x) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  mul.lo.u32 %r2, %r1, 3;
  st.param.b32 [r], %r2;
  ret;
}
)";

TEST(Functions, OfSeveralFilesAreLinkedAndPrint) {
  const Folder folder;
  const std::string a = folder.write("a.ptx", kCaller), b = folder.write("b.ptx", kTriple);
  const Exit exit = weft({"run", "--ptx", a, "--ptx", b, "--grid", "1", "--block", "8", "--set", "sm.count=1",
                          "--arg", "ptr:32", "--dump", "0=" + folder.path("out")});
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.out, StartsWith("took 0\ntook 3\ntook 6\n"));
  const std::string out = folder.text("out");
  for (std::uint32_t t = 0; t < 8; ++t) {
    std::uint32_t value = 0;
    std::memcpy(&value, out.data() + 4 * t, 4);
    EXPECT_EQ(value, 3 * t);
  }
  const Exit alone = weft({"run", "--ptx", a, "--grid", "1", "--block", "8", "--arg", "ptr:32"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("a.ptx:13:58: 'call (b), triple, (a)': function 'triple' is not defined"));
}

TEST(Functions, FaultsHaveExitCodeThree) {
  const Folder folder;
  const auto run = [&](const std::string& body) {
    return weft({"run", "--ptx", folder.write("k.ptx", kPtxHeader + ".entry k() {\n" + body + " ret;\n}\n"),
                 "--grid", "1", "--block", "8", "--set", "sm.count=1"});
  };
  const Exit trap =
      run(".reg .pred %p<2>; .reg .b32 %r<2>;\nmov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;\n");
  EXPECT_EQ(trap.code, 3);
  EXPECT_THAT(trap.err, HasSubstr("thread (5,0,0) of block (0,0,0), pc 2, "));
  EXPECT_THAT(trap.err, HasSubstr("k.ptx:7:1: trap"));
  EXPECT_EQ(run("brkpt;\n").code, 3);
  const Exit index = run(".reg .b32 %r<2>;\nmov.u32 %r1, 2;\nt: .branchtargets A, A;\nbrx.idx %r1, t;\nA:\n");
  EXPECT_EQ(index.code, 3);
  EXPECT_THAT(index.err, HasSubstr("branch by index 2, the list has 2 targets"));
}

}  // namespace
}  // namespace weft::end_to_end::functions_test
