// Kernels without timing whose data lie in system memory that grants no direct access, or reading only: they
// wait for transactions, and debug transport is not asked.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/gpu_machine.h"

namespace weft::test::untimed_transactions_test {
namespace {

// out[i] = 3 * in[i] + i; the last word of `in` counts the threads.
const char* const kTriple = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry triple(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u32 %r5, [%rd4];
  mad.lo.u32 %r6, %r5, 3, %r4;
  add.u64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r6;
  red.global.add.u32 [%rd2+4096], 1;
  ret;
}
)";
constexpr std::uint64_t kIn = kRam + 0x8'0000, kResults = kRam + 0x9'0000;
constexpr std::uint32_t kThreads = 4 * 64;

struct UntimedMachine : Machine {
  explicit UntimedMachine(const std::string& transport, std::vector<std::string> more = {})
      : Machine(config_of("gtx480", with(transport, std::move(more)))) {
    with_ram();
    ram.answers_debug = false;
    put_kernel(ram, "triple", kTriple);
    for (std::uint32_t i = 0; i < kThreads; ++i) ram.put<std::uint32_t>(kIn + 4 * i, 7 * i + 1);
  }
  static std::vector<std::string> with(const std::string& transport, std::vector<std::string> more) {
    more.insert(more.end(),
                {"system.enabled=true", "host.functional=true", "host.dma_transport=" + transport});
    return more;
  }
  void begin(unsigned q = 0, std::uint32_t index = 0, std::uint64_t results = kResults,
             std::uint64_t arguments = kArguments) {
    ram.put<std::int64_t>(kSignal + 8 * q, 1);
    ram.put<std::uint64_t>(arguments, kIn);
    ram.put<std::uint64_t>(arguments + 8, results);
    auto packet = dispatch_packet(4, 64, kSignal + 8 * q);
    packet.kernarg_address = arguments;
    submit(q, index, packet);
  }
  void expect_tripled(std::uint64_t results = kResults) {
    for (std::uint32_t i = 0; i < kThreads; ++i)
      ASSERT_EQ(ram.get<std::uint32_t>(results + 4 * i), 3 * (7 * i + 1) + i) << i;
    EXPECT_EQ(ram.get<std::uint32_t>(results + 4096), kThreads);
  }
};

class UntimedTransactions : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Transports, UntimedTransactions, ::testing::Values("at", "lt"),
                         [](const auto& info) { return info.param; });

// A load, a store, and the two halves of an atomic: each takes the time of the memory.
TEST_P(UntimedTransactions, StandInForDirectAccess) {
  UntimedMachine machine(GetParam());
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    const std::uint64_t before = machine.ram.accesses;
    const double begin = sc_core::sc_time_stamp().to_seconds();
    machine.begin();
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
    EXPECT_GE(machine.ram.accesses - before, kThreads * 4u);
    EXPECT_GE(sc_core::sc_time_stamp().to_seconds() - begin, kThreads * 4 * 50e-9);
    machine.expect_tripled();
  }));
  EXPECT_EQ(machine.ram.debugged, 1u) << "the kernel object, before the launch";
  EXPECT_EQ(machine.gpu.totals().cycles, 0u) << "without timing";
}

// What may only be read is read directly.
TEST_P(UntimedTransactions, OnlyOfWhatMayNotBeAccessedDirectly) {
  UntimedMachine machine(GetParam());
  std::uint64_t accesses[3] = {};
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    machine.begin();
    machine.wait_for_interrupt();  // the kernel is read and parsed
    machine.acknowledge();
    std::uint32_t index = 1;
    for (const auto direct :
         {TestMemory::Direct::kNone, TestMemory::Direct::kRead, TestMemory::Direct::kAll}) {
      machine.ram.direct = direct;
      machine.ram.put<std::uint32_t>(kResults + 4096, 0);
      machine.ram.accesses = 0;
      machine.begin(0, index++);
      machine.wait_for_interrupt();
      machine.acknowledge();
      accesses[static_cast<std::size_t>(direct)] = machine.ram.accesses;
      machine.expect_tripled();
    }
  }));
  EXPECT_EQ(accesses[0] - accesses[1], kThreads) << "the loads";
  EXPECT_EQ(accesses[1] - accesses[2], kThreads * 3) << "the stores and atomics";
  EXPECT_LT(accesses[2], 20u) << "packets only";
}

TEST_P(UntimedTransactions, AnErrorIsTheKernelsFault) {
  UntimedMachine machine(GetParam());
  machine.ram.bad_begin = kResults + 40;
  machine.ram.bad_end = kResults + 44;
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    machine.begin();
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    EXPECT_NE(machine.gpu.host_error().find("thread (10,0,0) of block (0,0,0)"), std::string::npos)
        << machine.gpu.host_error();
    EXPECT_NE(machine.gpu.host_error().find(
                  "system memory answered TLM_GENERIC_ERROR_RESPONSE to a write of 4 bytes at 0x80090028"),
              std::string::npos)
        << machine.gpu.host_error();
  }));
}

// One after the other: both queues' kernels wait in one process.
TEST_P(UntimedTransactions, OfTwoQueues) {
  UntimedMachine machine(GetParam());
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    machine.begin(0);
    machine.begin(1, 0, kResults + 0x4000, kArguments + 0x40);
    while (machine.ram.get<std::int64_t>(kSignal) != 0 || machine.ram.get<std::int64_t>(kSignal + 8) != 0)
      sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    machine.expect_tripled();
    machine.expect_tripled(kResults + 0x4000);
  }));
  EXPECT_EQ(machine.gpu.untimed_counters().launches, 2u);
}

// A reset in the middle, while the memory owes an answer: the next kernel begins when it has come.
TEST_P(UntimedTransactions, EndWithTheReset) {
  UntimedMachine machine(GetParam());
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    machine.begin();
    while (machine.ram.get<std::uint32_t>(kResults) == 0)
      sc_core::wait(sc_core::sc_time(100, sc_core::SC_NS));
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    machine.ram.stuck = GetParam() == "at";
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    machine.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    machine.ram.go_on();
    while ((machine.reg(WEFT_REG_STATUS) & WEFT_STATUS_IN_RESET) != 0)
      sc_core::wait(sc_core::sc_time(100, sc_core::SC_NS));
    const std::uint32_t counted = machine.ram.get<std::uint32_t>(kResults + 4096);
    EXPECT_LT(counted, kThreads) << "it was in the middle";
    sc_core::wait(sc_core::sc_time(20, sc_core::SC_US));
    EXPECT_EQ(machine.ram.get<std::uint32_t>(kResults + 4096), counted) << "it has ended";
    machine.ram.put<std::uint32_t>(kResults + 4096, 0);
    machine.open();
    machine.begin();
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
    machine.expect_tripled();
  }));
  EXPECT_EQ(machine.gpu.untimed_counters().launches, 1u) << "since the reset";
}

}  // namespace
}  // namespace weft::test::untimed_transactions_test
