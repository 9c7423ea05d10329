// Launches that cannot be, and kernels that fault or hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::bad_kernels_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Exit run(const Folder& folder, const std::string& text, std::vector<std::string> options) {
  options.insert(options.begin(), {"run", "--ptx", folder.write("k.ptx", text), "--set", "sm.count=2"});
  return weft(options);
}

TEST(BadLaunch, UnknownKernel) {
  const Folder folder;
  const Exit exit = run(folder, kGoodKernel, {"--kernel", "godo", "--grid", "1", "--block", "32"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(HasSubstr("godo"), HasSubstr("good")));
}

TEST(BadLaunch, KernelNotNamedAmongSeveral) {
  const Folder folder;
  const Exit exit =
      run(folder, kGoodKernel + ".visible .entry other() { ret; }\n", {"--grid", "1", "--block", "32"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(HasSubstr("good"), HasSubstr("other"), HasSubstr("--kernel")));
}

TEST(BadLaunch, WrongArguments) {
  const Folder folder;
  const Exit count = run(folder, kGoodKernel, {"--grid", "1", "--block", "32", "--arg", "ptr:128"});
  EXPECT_EQ(count.code, 2);
  EXPECT_THAT(count.err, AllOf(HasSubstr("got 1 arguments; the kernel takes 2"), HasSubstr("u64 out")));
  const Exit size = run(folder, kGoodKernel, {"--grid", "1", "--block", "32", "--arg", "ptr:128", "u64:1"});
  EXPECT_EQ(size.code, 2);
  EXPECT_THAT(size.err, HasSubstr("argument 1 has 8 bytes"));
}

TEST(BadLaunch, Geometry) {
  const Folder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"0", "32"},          {"1", "0"},          {"1", "2000"},
      {"1", "65536,65536"}, {"1,0,1", "32"},     {"4294967295,4294967295,4294967295", "1"},
      {"1,1,1,1", "32"},    {"4294967296", "1"}, {"one", "32"},
      {"", "32"},           {"-1", "32"},        {"1", "32,,1"}};
  for (const auto& [grid, block] : cases) {
    const Exit exit =
        run(folder, kGoodKernel,
            {std::string("--grid=") + grid, std::string("--block=") + block, "--arg", "ptr:8000", "u32:1"});
    EXPECT_EQ(exit.code, 2) << grid << " x " << block << "\n" << exit.err;
  }
}

TEST(BadLaunch, BlockTooLargeForTheSmSaysWhichResource) {
  const Folder folder;
  const Exit threads =
      run(folder, kGoodKernel,
          {"--set", "sm.max_threads=64", "--grid", "1", "--block", "96", "--arg", "ptr:8000", "u32:1"});
  EXPECT_EQ(threads.code, 2);
  EXPECT_THAT(threads.err, HasSubstr("thread"));
  const Exit shared =
      run(folder, kGoodKernel,
          {"--shared", "100000", "--grid", "1", "--block", "32", "--arg", "ptr:8000", "u32:1"});
  EXPECT_EQ(shared.code, 2);
  EXPECT_THAT(shared.err, HasSubstr("shared"));
}

TEST(BadLaunch, BufferLargerThanTheDevice) {
  const Folder folder;
  const Exit exit =
      run(folder, kGoodKernel,
          {"--set", "dram.bytes=67108864", "--grid", "1", "--block", "32", "--arg", "ptr:80000000", "u32:1"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(HasSubstr("80000000"), HasSubstr("free")));
}

TEST(Fault, LoadFromUnmappedMemoryNamesThreadPlaceAndAddress) {
  const Folder folder;
  const Exit exit = run(folder, kPtxHeader + R"(
.file 1 "kernel.cu"
.visible .entry wild(.param .u64 out) {
  .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 37;
  .loc 1 12 3
  @%p1 ld.global.u32 %r2, [%rd1+268435456];
  ret;
}
)",
                        {"--grid", "1", "--block", "64", "--arg", "ptr:64", "--out", folder.path("out")});
  EXPECT_EQ(exit.code, 3) << exit.out << exit.err;
  EXPECT_THAT(exit.err, AllOf(HasSubstr("37"), HasSubstr("kernel.cu:12"), HasSubstr("k.ptx:12")));
  EXPECT_THAT(exit.err, ::testing::ContainsRegex("0x[0-9a-f]{9}")) << "the address";
  const auto stats = folder.json("out/stats.json");
  EXPECT_EQ(stats.at("interrupted"), false);
  EXPECT_THAT(stats.at("fault"), HasSubstr("kernel.cu:12"));
}

TEST(Fault, BarrierDeadlockIsFoundByTheWatchdog) {
  const Folder folder;
  // Half of the threads wait at barrier 0 for all, the other half at barrier 1.
  const Exit exit = run(folder, kPtxHeader + R"(
.visible .entry deadlock(.param .u64 out) {
  .reg .b32 %r<3>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra first;
  bar.sync 1;
  ret;
first:
  bar.sync 0;
  ret;
}
)",
                        {"--set", "watchdog.cycles=5000", "--grid", "1", "--block", "64", "--arg", "ptr:64"});
  EXPECT_EQ(exit.code, 3) << exit.out << exit.err;
  EXPECT_THAT(exit.err, AllOf(HasSubstr("warp 0"), HasSubstr("waits at barrier 0"), HasSubstr("k.ptx:14"),
                              HasSubstr("warp 1"), HasSubstr("waits at barrier 1"), HasSubstr("k.ptx:11")))
      << "every live warp, what it waits for and where it goes on";
}

}  // namespace
}  // namespace weft::end_to_end::bad_kernels_test
