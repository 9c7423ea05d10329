// Kernels without timing, from outside: the register MODE and host.functional.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/gpu_machine.h"
#include "weft/memory/memory_image.h"

namespace weft::test::functional_test {
namespace {

// out[i] = i + turns, after so many turns; `broken` stores to address 0.
const char* const kText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry turn(.param .u64 out, .param .u32 turns) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [turns];
  mov.u32 %r6, 0;
again:
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, %r5;
  @%p1 bra again;
  add.u32 %r6, %r6, %r4;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r6;
  ret;
}
.visible .entry broken(.param .u64 out, .param .u32 turns) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  mov.u64 %rd1, 0; mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
constexpr std::uint32_t kLong = 6'000;

struct MachineSetup {
  std::string name, config;
  std::vector<std::string> overrides;
};
std::ostream& operator<<(std::ostream& out, const MachineSetup& setup) {
  return out << setup.name;
}

struct FunctionalMachine : Machine {
  explicit FunctionalMachine(const MachineSetup& setup) : Machine(config_of(setup.config, setup.overrides)) {
    with_ram();
    ram.direct = TestMemory::Direct::kAll;
    put_kernel(ram, "turn", kText);
    put_kernel(ram, "broken", kText, kObject + 0x40);
  }
  // The time from the doorbell to the interrupt, in nanoseconds.
  double run_turns(unsigned q, std::uint32_t index, std::uint32_t turns, std::uint64_t out) {
    ram.put<std::int64_t>(kSignal, 1);
    put_arguments(ram, out, turns);
    const double begin = sc_core::sc_time_stamp().to_seconds();
    submit(q, index, dispatch_packet(5, 64));
    wait_for_interrupt();
    const double end = sc_core::sc_time_stamp().to_seconds();
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << gpu.host_error();
    acknowledge();
    return (end - begin) * 1e9;
  }
  void expect_turned(std::uint32_t turns, std::uint64_t out) {
    if (out < kDeviceBase) {
      for (std::uint32_t i = 0; i < 320; ++i) ASSERT_EQ(ram.get<std::uint32_t>(out + 4 * i), i + turns) << i;
      return;
    }
    const auto words = read_words(out, 320);
    for (std::uint32_t i = 0; i < 320; ++i) ASSERT_EQ(words[i], i + turns) << i;
  }
  std::uint64_t untimed() {
    return gpu.statistics().sample().at("host").at("queue0").at("untimed_kernels").get<std::uint64_t>();
  }
};

class HostFunctional : public ::testing::TestWithParam<MachineSetup> {};
INSTANTIATE_TEST_SUITE_P(
    Machines, HostFunctional,
    ::testing::Values(MachineSetup{"Gtx480", "gtx480", {"system.enabled=true"}},
                      MachineSetup{
                          "LooselyTimed", "gtx480", {"system.enabled=true", "host.dma_transport=lt"}},
                      MachineSetup{"NoL2", "dwr-tesla", {"system.enabled=true"}},
                      MachineSetup{"WithoutMemory", "integrated", {kCarveOut, "system.enabled=true"}}),
    [](const auto& info) { return info.param.name; });

// There and back, twice, in one run without a reset: results are equal, and kernels take no time in between.
TEST_P(HostFunctional, AKernelTakesNoTimeUntilTheModeIsSwitchedBack) {
  FunctionalMachine machine(GetParam());
  // Room for results in system memory, too.
  const std::uint64_t outs[] = {kOut, kRam + 0x8'0000};
  ASSERT_TRUE(machine.cpu.run(
      [&] {
        machine.open();
        std::uint32_t index = 0;
        machine.run_turns(0, index++, 1, kOut);  // the kernel is read and parsed
        for (const std::uint64_t out : outs) {
          const double timed = machine.run_turns(0, index++, kLong, out);
          machine.expect_turned(kLong, out);
          EXPECT_GT(timed, 50'000);
          const std::uint64_t cycles = machine.gpu.totals().cycles, before = machine.untimed();

          machine.cpu.write32(WEFT_REG_MODE, WEFT_MODE_FUNCTIONAL);
          EXPECT_EQ(machine.reg(WEFT_REG_MODE), static_cast<std::uint32_t>(WEFT_MODE_FUNCTIONAL));
          const double one = machine.run_turns(0, index++, 1, out);
          machine.expect_turned(1, out);
          const double many = machine.run_turns(0, index++, kLong + 7, out);
          machine.expect_turned(kLong + 7, out);
          EXPECT_LT(many, 10'000) << "packets only";
          EXPECT_NEAR(many, one, 100) << "ns; a look of the test";
          EXPECT_EQ(machine.gpu.totals().cycles, cycles);
          EXPECT_EQ(machine.untimed(), before + 2);

          machine.cpu.write32(WEFT_REG_MODE, 0);
          const double again = machine.run_turns(0, index++, kLong, out);
          machine.expect_turned(kLong, out);
          EXPECT_NEAR(again, timed, 0.01 * timed);
          EXPECT_GT(machine.gpu.totals().cycles, cycles);
          EXPECT_EQ(machine.untimed(), before + 2);
        }
      },
      sc_core::sc_time(50, sc_core::SC_MS)));
  EXPECT_EQ(machine.gpu.untimed_counters().launches, 4u);
}

// A kernel in time goes on, undisturbed by one without.
TEST_P(HostFunctional, BesideAKernelInTime) {
  FunctionalMachine machine(GetParam());
  ASSERT_TRUE(machine.cpu.run(
      [&] {
        machine.open();
        constexpr std::uint64_t kOther = kOut + 0x1000;
        put_arguments(machine.ram, kOut, kLong);
        machine.submit(1, 0, dispatch_packet(5, 64, 0));
        sc_core::wait(sc_core::sc_time(50, sc_core::SC_US));
        EXPECT_EQ(machine.reg(WEFT_QUEUE(1, WEFT_QUEUE_READ_INDEX)), 0u) << "it runs";
        machine.cpu.write32(WEFT_REG_MODE, WEFT_MODE_FUNCTIONAL);
        EXPECT_LT(machine.run_turns(0, 0, 3 * kLong, kOther), 20'000);
        EXPECT_EQ(machine.reg(WEFT_QUEUE(1, WEFT_QUEUE_READ_INDEX)), 0u) << "it still runs";
        machine.expect_turned(3 * kLong, kOther);
        while (machine.reg(WEFT_QUEUE(1, WEFT_QUEUE_READ_INDEX)) == 0)
          sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));
        machine.expect_turned(kLong, kOut);
      },
      sc_core::sc_time(50, sc_core::SC_MS)));
}

TEST_P(HostFunctional, AFaultStopsItsQueueOnly) {
  MachineSetup setup = GetParam();
  setup.overrides.emplace_back("host.functional=true");
  FunctionalMachine machine(setup);
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    EXPECT_EQ(machine.reg(WEFT_REG_MODE), static_cast<std::uint32_t>(WEFT_MODE_FUNCTIONAL));
    auto packet = dispatch_packet(1, 32);
    packet.kernel_object = kObject + 0x40;
    machine.submit(0, 0, packet);
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    EXPECT_NE(machine.gpu.host_error().find("broken"), std::string::npos) << machine.gpu.host_error();
    EXPECT_NE(machine.reg(WEFT_REG_STATUS) & WEFT_STATUS_FAULT, 0u);
    EXPECT_EQ(machine.reg(WEFT_QUEUE_FAULT(0, WEFT_QUEUE_FAULT_PC)), 2u);
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), -WEFT_ERROR_FAULT);
    EXPECT_FALSE(machine.gpu.faulted());
    machine.acknowledge();
    machine.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    machine.run_turns(1, 0, 3, kOut);
    machine.expect_turned(3, kOut);
    machine.cpu.write32(WEFT_REG_MODE, 0);
    machine.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));
    EXPECT_EQ(machine.reg(WEFT_REG_MODE), static_cast<std::uint32_t>(WEFT_MODE_FUNCTIONAL))
        << "as configured";
    machine.open();
    machine.run_turns(0, 0, 3, kOut);
    machine.expect_turned(3, kOut);
    EXPECT_EQ(machine.gpu.totals().cycles, 0u);
  }));
  EXPECT_EQ(machine.gpu.untimed_counters().launches, 1u) << "since the reset";
}

// What would be refused in time is refused without.
TEST(HostFunctionalErrors, ImpossibleLaunchesAreRefused) {
  FunctionalMachine machine({"", "gtx480", {"host.functional=true"}});
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    auto packet = dispatch_packet(1, 32);
    packet.group_segment_size = 1 << 20;
    machine.submit(0, 0, packet);
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), static_cast<std::uint32_t>(WEFT_ERROR_LAUNCH));
  }));
}

// Interrupted, it ends as a launch that was stopped from outside.
TEST(HostFunctionalErrors, AKernelWithoutAnEndCanBeInterrupted) {
  FunctionalMachine machine({"", "gtx480", {"host.functional=true"}});
  int asked = 0;
  machine.gpu.interrupt_untimed([&] { return ++asked > 3; });
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    put_arguments(machine.ram, kOut, UINT32_MAX);
    machine.submit(0, 0, dispatch_packet(5, 64));
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    EXPECT_EQ(machine.gpu.fault(), "interrupted");
    EXPECT_EQ(machine.gpu.fault_kind(), FaultKind::kStopped);
  }));
}

}  // namespace
}  // namespace weft::test::functional_test
