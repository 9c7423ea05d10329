#include <gtest/gtest.h>

#include <sstream>

#include "bus/hop_monitor.h"
#include "generic_initiator.h"
#include "soc/finisher.h"
#include "soc/interrupt_controller.h"
#include "soc/timer.h"
#include "soc/uart.h"
#include "weft/common/error.h"

namespace weft::soc::peripherals_test {
namespace {

using sc_core::sc_time;
using test::BlockingInitiator;

const sc_time& latency() {
  static const sc_time kTime(5, sc_core::SC_NS);
  return kTime;
}

void wait_ns(double ns) {
  sc_core::wait(ns, sc_core::SC_NS);
}

// An initiator in front of a device, with a monitor between them.
struct Bench {
  explicit Bench(RegisterDevice& device) : initiator("initiator"), monitor("monitor") {
    initiator.socket.bind(monitor.target);
    monitor.initiator.bind(device.socket);
  }
  void run(std::function<void(BlockingInitiator&)> script) {
    bool ended = false;
    initiator.script = [&](BlockingInitiator& self) {
      script(self);
      ended = true;
    };
    sc_core::sc_start(sc_time(1, sc_core::SC_MS));
    EXPECT_TRUE(ended);
    EXPECT_EQ(monitor.report(), "");
  }
  BlockingInitiator initiator;
  HopMonitor monitor;
};

TEST(RegisterDevice, BadAccessesAreAnsweredByTheirError) {
  std::ostringstream out;
  Uart uart("uart", out, false, latency());
  Bench bench(uart);
  bench.run([](BlockingInitiator& initiator) {
    unsigned char data[8] = {}, enables[4] = {0xff, 0xff, 0xff, 0xff};
    const auto read = tlm::TLM_READ_COMMAND, write = tlm::TLM_WRITE_COMMAND;
    EXPECT_EQ(initiator.access(read, 4, data, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(initiator.delay, latency());
    EXPECT_EQ(initiator.access(read, 2, data, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(read, 8, data, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(read, 0, data, 8), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(read, 0, data, 1), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(read, 0, data, 4, nullptr, 2), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(read, 0, data, 4, enables), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(write, 4, data, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(tlm::TLM_IGNORE_COMMAND, 4, data, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    tlm::tlm_generic_payload debug;
    test::fill(debug, read, 0, data, 8);
    EXPECT_EQ(initiator.socket->transport_dbg(debug), 8u);
    EXPECT_EQ(data[4], 1);
    test::fill(debug, write, 0, data, 4);
    EXPECT_EQ(initiator.socket->transport_dbg(debug), 0u);
  });
  EXPECT_EQ(out.str(), "");
}

TEST(Uart, LinesCarryTheTimeOfTheirFirstCharacter) {
  std::ostringstream out;
  {
    Uart uart("uart", out, true, latency());
    Bench bench(uart);
    bench.run([](BlockingInitiator& initiator) {
      for (const char c : std::string("ab\r\n")) {
        initiator.write32(0, static_cast<std::uint32_t>(c));
        wait_ns(100);
      }
      initiator.write32(0, 'c');
    });
  }
  EXPECT_EQ(out.str(), "[        5.000 ns] ab\n[      405.000 ns] c\n");
}

TEST(Timer, InterruptsAtTheTimeThatItWasGiven) {
  Timer timer("timer", latency());
  sc_core::sc_signal<bool> line;
  timer.interrupt(line);
  Bench bench(timer);
  bench.run([&](BlockingInitiator& initiator) {
    wait_ns(1000);
    EXPECT_EQ(initiator.read32(0), 1005u);
    EXPECT_EQ(initiator.read32(4), 0u);
    initiator.write32(0x8, 3000);
    initiator.write32(0xc, 0);
    wait_ns(0);
    EXPECT_FALSE(line.read());
    sc_core::wait(line.posedge_event());
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_time(3000, sc_core::SC_NS));
    initiator.write32(0x8, 5000);
    wait_ns(1);
    EXPECT_FALSE(line.read());
    EXPECT_EQ(initiator.read32(0x8), 5000u);
    initiator.write32(0xc, 1);  // not for another 4 seconds
    wait_ns(10'000);
    EXPECT_FALSE(line.read());
  });
}

TEST(Finisher, KeepsTheFirstCodeAndTellsWhenItsTimeHasCome) {
  Finisher finisher("finisher", 64u << 20, latency());
  Bench bench(finisher);
  bench.run([&](BlockingInitiator& initiator) {
    EXPECT_FALSE(finisher.exit_code().has_value());
    EXPECT_EQ(initiator.read32(4), 16384u);
    initiator.write32(0, 0x103);
    sc_core::wait(finisher.finished());
    EXPECT_EQ(sc_core::sc_time_stamp(), latency());
    initiator.write32(0, 4);
    EXPECT_EQ(finisher.exit_code(), 3);
  });
}

TEST(InterruptController, ServesTheLowestSourceAndAsksAgainWhileALineIsHigh) {
  InterruptController controller("controller", 3, latency());
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines("line", 3);
  sc_core::sc_signal<bool> interrupt;
  controller.sources.bind(lines);
  controller.interrupt(interrupt);
  Bench bench(controller);
  bench.run([&](BlockingInitiator& initiator) {
    enum : std::uint64_t { kPending = 0, kEnable = 4, kClaim = 8 };
    lines[1] = true;
    lines[2] = true;
    wait_ns(1);
    EXPECT_FALSE(interrupt.read());  // not enabled
    EXPECT_EQ(initiator.read32(kPending), 6u);
    EXPECT_EQ(initiator.read32(kClaim), 0u);
    initiator.write32(kEnable, 7);
    wait_ns(1);
    EXPECT_TRUE(interrupt.read());
    EXPECT_EQ(initiator.read32(kClaim), 2u);  // source 1
    EXPECT_EQ(initiator.read32(kClaim), 3u);
    EXPECT_EQ(initiator.read32(kClaim), 0u);
    wait_ns(1);
    EXPECT_FALSE(interrupt.read());  // both are being served
    lines[1] = false;
    wait_ns(1);
    initiator.write32(kClaim, 2);
    wait_ns(1);
    EXPECT_FALSE(interrupt.read());
    initiator.write32(kClaim, 3);  // its line is still high
    wait_ns(1);
    EXPECT_TRUE(interrupt.read());
    lines[2] = false;
    wait_ns(1);
    EXPECT_FALSE(interrupt.read());  // level-sensitive: gone with its line
    EXPECT_EQ(initiator.read32(kClaim), 0u);
  });
}

TEST(InterruptController, TakesOneTo32Sources) {
  EXPECT_THROW(InterruptController("none", 0, latency()), InputError);
  EXPECT_THROW(InterruptController("many", 33, latency()), InputError);
}

}  // namespace
}  // namespace weft::soc::peripherals_test
