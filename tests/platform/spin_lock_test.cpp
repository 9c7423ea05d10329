// Spin locks between threads of one warp: under which schemes they end, and under which the watchdog finds a
// deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "platform/gpu_bench.h"
#include "warp_formation/warp_formation.h"

namespace weft::test {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kThreads = 64;

// Every thread takes the lock once and counts. The first form leaves its loop with the lock, so that under a
// stack, or a reconvergence barrier, the holder waits behind the loop for those that spin. In the second one
// the holder's arm reconverges only behind the unlock (the way out of the loop, which nobody takes, sees to
// that): whether it runs at all is what the scheme decides.
const std::string kHeldBehindTheLoop = R"(
SPIN:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra SPIN;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, 1;
  st.volatile.global.u32 [%rd1+4], %r11;
  membar.gl;
  atom.global.exch.b32 %r12, [%rd1], 0;
  ret;)";
const std::string kHeldInAnArm = R"(
SPIN:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.eq.u32 %p1, %r10, 0;
  @%p1 bra HOLDER;
  setp.gt.u32 %p2, %r10, 1;
  @%p2 bra OUT;
  bra SPIN;
HOLDER:
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, 1;
  st.volatile.global.u32 [%rd1+4], %r11;
  membar.gl;
  atom.global.exch.b32 %r12, [%rd1], 0;
OUT:
  ret;)";

// "" if all threads have counted, else the fault, or what was counted.
std::string result_of(const std::string& scheme, const std::string& dependence, const std::string& body) {
  GpuBench bench({"sm.count=1", "watchdog.cycles=20000", "warp_formation.scheme=" + scheme,
                  "sm.dependence=" + dependence});
  const auto out = bench.zeros(64);
  bench.load(kernel_text(".param .u64 out", "  ld.param.u64 %rd1, [out];\n" + body));
  try {
    bench.run({1, 1, 1}, {kThreads, 1, 1}, runtime::Arguments().add(out));
  } catch (const std::exception& error) {
    return error.what();
  }
  if (!bench.device.gpu().fault().empty()) return bench.device.gpu().fault();
  const auto counted = bench.read(out + 4, 1)[0];
  return counted == kThreads ? "" : std::to_string(counted) + " threads";
}

using Case = std::tuple<std::string, const char*>;  // scheme, dependence model

class SpinLock : public ::testing::TestWithParam<Case> {};

TEST_P(SpinLock, HeldBehindItsLoopEndsOnlyWithoutReconvergence) {
  const auto& [scheme, dependence] = GetParam();
  const std::string result = result_of(scheme, dependence, kHeldBehindTheLoop);
  if (scheme == "dwf") {
    EXPECT_EQ(result, "");
  } else {
    EXPECT_THAT(result, HasSubstr("SIMT deadlock"));
  }
}

TEST_P(SpinLock, HeldInAnArmEndsWhereBothArmsRun) {
  const auto& [scheme, dependence] = GetParam();
  const std::string result = result_of(scheme, dependence, kHeldInAnArm);
  if (std::set<std::string>{"dwf", "harp", "crown"}.count(scheme) != 0) {
    EXPECT_EQ(result, "");
  } else {
    EXPECT_THAT(result, HasSubstr("SIMT deadlock"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, SpinLock,
    ::testing::Combine(::testing::Values("sbr", "dwf", "tbc", "lwm", "dwr", "harp", "crown"),
                       ::testing::Values("barrel", "scoreboard")),
    [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

// A scheme that is not in the list above would go untested.
TEST(SpinLocks, KnowEveryScheme) {
  EXPECT_THAT(warp_formation::scheme_names(),
              ::testing::UnorderedElementsAre("sbr", "dwf", "tbc", "lwm", "dwr", "harp", "crown"));
}

}  // namespace
}  // namespace weft::test
