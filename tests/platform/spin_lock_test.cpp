// Spin locks between threads of one warp: under which schemes they end, and under which the watchdog finds a
// deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/config_writer.h"
#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"

namespace weft::test::spin_lock_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

// The form that programs use: the lock is taken and given back within one turn, and whoever failed meets the
// others at the turn's end.
const std::string kHeldInsideTheLoop = R"(
SPIN:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.eq.u32 %p1, %r10, 0;
  @!%p1 bra NEXT;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, 1;
  st.volatile.global.u32 [%rd1+4], %r11;
  membar.gl;
  atom.global.exch.b32 %r12, [%rd1], 0;
NEXT:
  @!%p1 bra SPIN;
  ret;)";

const std::vector<std::string> kSoon = {"watchdog.cycles=20000", "warp_formation.dwr.lat_timeout=4000"};

// "" if all threads have counted, else the fault, or what was counted.
std::string result_of(const std::string& scheme, const std::string& dependence, const std::string& body,
                      std::vector<std::string> overrides = kSoon) {
  overrides.insert(overrides.end(),
                   {"sm.count=1", "warp_formation.scheme=" + scheme, "sm.dependence=" + dependence});
  GpuBench bench(overrides);
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

TEST_P(SpinLock, HeldBehindItsLoopEndsWhereNobodyMustWaitForSpinners) {
  const auto& [scheme, dependence] = GetParam();
  const std::string result = result_of(scheme, dependence, kHeldBehindTheLoop);
  if (scheme_classes::ends_lock_held_behind_its_loop(scheme)) {
    EXPECT_EQ(result, "");
  } else {
    EXPECT_THAT(result, HasSubstr("SIMT deadlock"));
  }
}

TEST_P(SpinLock, HeldInAnArmEndsWhereBothArmsRun) {
  const auto& [scheme, dependence] = GetParam();
  const std::string result = result_of(scheme, dependence, kHeldInAnArm);
  if (scheme_classes::ends_lock_held_in_an_arm(scheme)) {
    EXPECT_EQ(result, "");
  } else {
    EXPECT_THAT(result, HasSubstr("SIMT deadlock"));
  }
}

// No scheme hangs what the stack runs. Under dwr a holder that waits before its load for a partner, which
// spins and comes to none, goes on after the time-out.
TEST_P(SpinLock, HeldInsideItsLoopEndsUnderEveryScheme) {
  const auto& [scheme, dependence] = GetParam();
  EXPECT_EQ(result_of(scheme, dependence, kHeldInsideTheLoop, {}), "");
}

INSTANTIATE_TEST_SUITE_P(Schemes, SpinLock,
                         ::testing::Combine(::testing::ValuesIn(scheme_classes::all()),
                                            ::testing::Values("barrel", "scoreboard")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

// As published, the threads that these schemes let go first spin for ever; if they give way after some turns,
// the holder comes to its unlock.
struct Form {
  const char* name;
  const std::string* body;
};
using YieldCase = std::tuple<std::string, Form, unsigned, const char*>;  // scheme, form, turns, dependence
class YieldingSpinLock : public ::testing::TestWithParam<YieldCase> {};

std::string name_of(const YieldCase& test) {
  const auto& [scheme, form, turns, dependence] = test;
  return scheme + "_" + form.name + "_after_" + std::to_string(turns) + "_" + dependence;
}

TEST_P(YieldingSpinLock, Ends) {
  const auto& [scheme, form, turns, dependence] = GetParam();
  const std::string key = "warp_formation." + scheme + ".yield_after=" + std::to_string(turns);
  EXPECT_EQ(result_of(scheme, dependence, *form.body, {key}), "");
}

// Schemes with the key.
std::vector<std::string> yielding_schemes() {
  const nlohmann::ordered_json keys = config::write(warp_formation::Config());
  std::vector<std::string> schemes = scheme_classes::all();
  const auto never_yields = [&keys](const std::string& scheme) {
    return !keys.contains(scheme) || !keys.at(scheme).contains("yield_after");
  };
  schemes.erase(std::remove_if(schemes.begin(), schemes.end(), never_yields), schemes.end());
  return schemes;
}

INSTANTIATE_TEST_SUITE_P(Schemes, YieldingSpinLock,
                         ::testing::Combine(::testing::ValuesIn(yielding_schemes()),
                                            ::testing::Values(Form{"behind", &kHeldBehindTheLoop},
                                                              Form{"arm", &kHeldInAnArm},
                                                              Form{"inside", &kHeldInsideTheLoop}),
                                            ::testing::Values(1u, 20u),
                                            ::testing::Values("barrel", "scoreboard")),
                         [](const auto& info) { return name_of(info.param); });

// Those who spin do not come to the point where the holder waits, so it leaves after the time-out.
using TimeOutCase = std::tuple<Form, const char*>;
class TimeOutSpinLock : public ::testing::TestWithParam<TimeOutCase> {};

TEST_P(TimeOutSpinLock, Ends) {
  const auto& [form, dependence] = GetParam();
  EXPECT_EQ(result_of("multi_path", dependence, *form.body, {"warp_formation.multi_path.timeout=100"}), "");
}

INSTANTIATE_TEST_SUITE_P(MultiPath, TimeOutSpinLock,
                         ::testing::Combine(::testing::Values(Form{"behind", &kHeldBehindTheLoop},
                                                              Form{"arm", &kHeldInAnArm},
                                                              Form{"inside", &kHeldInsideTheLoop}),
                                            ::testing::Values("barrel", "scoreboard")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param);
                         });

// As on a GPU with code for a target below sm_70, in which no compiler places a yield.
TEST(SpinLocks, WithoutYieldsTheHolderWaitsAtItsBarrier) {
  const std::string key = "warp_formation.convergence_barriers.yield_after=0";
  const std::string result =
      result_of("convergence_barriers", "scoreboard", kHeldBehindTheLoop, {key, "watchdog.cycles=20000"});
  EXPECT_THAT(result, AllOf(HasSubstr("SIMT deadlock"), Not(HasSubstr("since Volta"))));
}

TEST(SpinLocks, TheMessageNamesTheSchemeUnderWhichTheyEnd) {
  EXPECT_THAT(result_of("sbr", "scoreboard", kHeldBehindTheLoop),
              HasSubstr("--set warp_formation.scheme=convergence_barriers"));
}

TEST(SpinLocks, WithoutATimeoutTheLatBarrierHangsThem) {
  EXPECT_THAT(result_of("dwr", "barrel", kHeldInsideTheLoop,
                        {"watchdog.cycles=20000", "warp_formation.dwr.lat_timeout=0"}),
              HasSubstr("SIMT deadlock"));
}

TEST(SpinLocks, TheTimeoutComesBeforeTheWatchdog) {
  const auto message_of = [](const std::vector<std::string>& overrides) {
    try {
      load_config("gtx480", overrides);
      return std::string();
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  const std::string dwr = "warp_formation.scheme=dwr";
  EXPECT_THAT(message_of({dwr, "watchdog.cycles=100000"}),
              AllOf(HasSubstr("/warp_formation/dwr/lat_timeout"), HasSubstr("found 100000 cycles"),
                    HasSubstr("less than watchdog.cycles = 100000, or 0 (never)")));
  EXPECT_EQ(message_of({dwr, "watchdog.cycles=100001"}), "");
  EXPECT_EQ(message_of({dwr, "watchdog.cycles=1000", "warp_formation.dwr.lat_timeout=0"}), "");
  EXPECT_EQ(message_of({"watchdog.cycles=1000"}), "") << "of no matter to other schemes";
}

TEST(SpinLocks, KnowEveryScheme) {
  for (const std::string& scheme : scheme_classes::all())
    EXPECT_NO_THROW(scheme_classes::promises_of(scheme)) << scheme;
  EXPECT_FALSE(yielding_schemes().empty());
}

}  // namespace
}  // namespace weft::test::spin_lock_test
