// Resets, by the register and by the pin, in the middle of everything: no initiator is left without an
// answer, no target gets a second one, and what follows is as after power-on.
#include <cmath>
#include <random>

#include "host/host_bench.h"
#include "host/packets.h"

namespace weft::test {
namespace {

// What a driver does first: everything it reads and sees, as text.
std::string first_steps(HostBench& bench, const std::function<void(std::string&)>& middle = {}) {
  std::string seen;
  const auto note = [&](std::uint64_t value) { seen += std::to_string(value) + " "; };
  put_kernel(bench.ram, "fill");
  put_arguments(bench.ram, kDevice, 3);
  bench.ram.put<std::int64_t>(kSignal, 2);
  bench.open_window();
  bench.open_queue(1, kRing);
  bench.put_packet(kRing, 0, copy_packet(kText, kDevice + 0x5000, 300));
  bench.put_packet(kRing, 1, dispatch_packet(2, 32));
  sc_core::sc_time start = sc_core::sc_time_stamp();
  bench.doorbell(1, 2);
  while (bench.gpu.running.empty()) sc_core::wait(sc_core::sc_time(1, sc_core::SC_NS));
  note(static_cast<std::uint64_t>(std::llround((sc_core::sc_time_stamp() - start).to_seconds() * 1e9)));
  if (middle) middle(seen);
  bench.gpu.finish();
  bench.wait_us(5);
  for (std::uint64_t at = 0; at < 0x1100; at += 4) {
    if (at < 0x4C || (at >= 0x100 && at < 0x114) ||
        (at >= 0x1040 && at < 0x107C && at % 0x40 != 0x1C && at % 0x40 < 0x38))
      note(bench.cpu.read32(at));
  }
  note(bench.ram.get<std::uint64_t>(kSignal));
  for (unsigned i = 0; i < 300; ++i) note(bench.device.bytes[0x5000 + i]);
  return seen;
}

// 1,000 MHz and edges at whole nanoseconds: resets move nothing against the clock.
class Reset : public ::testing::TestWithParam<bool> {
 public:
  // By the register or, if GetParam(), the pin.
  void reset() {
    if (GetParam()) {
      bench.reset.write(true);
      bench.wait_us(0.1);
      bench.reset.write(false);
      bench.wait_us(0.1);
    } else {
      bench.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
      bench.wait_us(0.2);
    }
  }
  void quiet() {
    while ((bench.cpu.read32(WEFT_REG_STATUS) & WEFT_STATUS_IN_RESET) != 0) bench.wait_us(0.1);
  }
  HostBench bench;
};
INSTANTIATE_TEST_SUITE_P(Ways, Reset, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Pin" : "Register"; });

TEST_P(Reset, EqualsFreshConstruction) {
  ASSERT_TRUE(bench.cpu.run([&] {
    const std::string fresh = first_steps(bench);
    EXPECT_GT(fresh.size(), 500u);
    for (int i = 0; i < 3; ++i) {
      reset();
      EXPECT_EQ(first_steps(bench), fresh);
    }
    reset();
    // In the middle of a kernel.
    EXPECT_NE(first_steps(bench,
                          [&](std::string& seen) {
                            reset();
                            seen = first_steps(bench);
                            EXPECT_EQ(seen, fresh);
                            bench.gpu.running.push_back({{}, 0, [](const host::LaunchEnd&) {}, 0});
                          }),
              fresh);
  }));
  bench.expect_quiet();
}

// At 60 different instants of a copy and of a dispatch.
TEST_P(Reset, InTheMiddleOfAnything) {
  ASSERT_TRUE(bench.cpu.run([&] {
    const std::string fresh = first_steps(bench);
    for (int i = 0; i < 60; ++i) {
      reset();
      quiet();
      bench.open_window();
      bench.open_queue(0, kRing);
      bench.put_packet(kRing, 0, copy_packet(kText, kDevice, 1000, 0));
      bench.put_packet(kRing, 1, dispatch_packet(1, 32, 0));
      bench.doorbell(0, 2);
      bench.wait_us(0.037 * i);
    }
    reset();
    quiet();
    EXPECT_EQ(first_steps(bench), fresh);
  }));
  bench.expect_quiet();
  EXPECT_EQ(bench.gpu.resets, 61);
}

// Accesses to host_socket that are under way get an error, not silence.
TEST_P(Reset, AnswersWhatIsUnderWay) {
  bench.device.stuck = true;
  ASSERT_TRUE(bench.cpu.run([&] {
    std::vector<unsigned char> data(64);
    std::vector<Traffic::Access> accesses(4);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      accesses[i].address = WEFT_APERTURE + 64 * i;
      accesses[i].data = data.data();
      accesses[i].bytes = 16;
    }
    sc_core::sc_spawn([&] {
      bench.wait_us(1);
      if (GetParam()) {
        bench.reset.write(true);
      } else {
        std::uint32_t one = WEFT_CONTROL_RESET;
        tlm::tlm_generic_payload payload;
        payload.set_command(tlm::TLM_WRITE_COMMAND);
        payload.set_address(WEFT_REG_CONTROL);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&one));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_core::sc_time delay;
        bench.cpu.socket->b_transport(payload, delay);
      }
    });
    bench.cpu.burst(accesses);
    for (const auto& access : accesses) EXPECT_EQ(access.status, tlm::TLM_GENERIC_ERROR_RESPONSE);
  }));
  bench.cpu_hop.check_complete();
}

TEST_P(Reset, WhatTheBusStillOwesIsWaitedFor) {
  bench.ram.stuck = true;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.open_window();
    bench.open_queue(0, kRing);
    bench.doorbell(0, 1);
    bench.wait_us(1);
    reset();
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_STATUS), WEFT_STATUS_IN_RESET);
    EXPECT_EQ(bench.cpu.write32(WEFT_REG_IRQ_ENABLE, 1), tlm::TLM_GENERIC_ERROR_RESPONSE);
    bench.ram.go_on();
    bench.wait_us(1);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_STATUS), 0u);
    EXPECT_EQ(bench.cpu.write32(WEFT_REG_IRQ_ENABLE, 1), tlm::TLM_OK_RESPONSE);
  }));
  bench.expect_quiet();
}

TEST(ResetPin, HoldsTheGpu) {
  HostBench bench;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.reset.write(true);
    bench.wait_us(1);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_STATUS), WEFT_STATUS_IN_RESET);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_ID), 0x54464557u);
    EXPECT_EQ(bench.cpu.write32(WEFT_REG_IRQ_ENABLE, 1), tlm::TLM_GENERIC_ERROR_RESPONSE);
    Traffic::Access access;
    unsigned char byte;
    access.address = WEFT_APERTURE;
    access.data = &byte;
    access.bytes = 1;
    EXPECT_EQ(bench.cpu.access(access), tlm::TLM_GENERIC_ERROR_RESPONSE);
    tlm::tlm_dmi region;
    tlm::tlm_generic_payload payload;
    payload.set_address(WEFT_APERTURE);
    EXPECT_FALSE(bench.cpu.socket->get_direct_mem_ptr(payload, region));
    EXPECT_EQ(bench.gpu.resets, 1);
    bench.reset.write(false);
    bench.wait_us(1);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_STATUS), 0u);
    EXPECT_EQ(bench.gpu.resets, 1);
  }));
}

}  // namespace
}  // namespace weft::test
