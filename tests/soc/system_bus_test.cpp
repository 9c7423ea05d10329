#include "soc/system_bus.h"

#include <gtest/gtest.h>

#include "bus/hop_monitor.h"
#include "generic_initiator.h"
#include "soc/ram.h"
#include "soc/timer.h"
#include "weft/common/error.h"

namespace weft::soc::system_bus_test {
namespace {

using sc_core::sc_time;
using test::BlockingInitiator;
using test::TimedInitiator;

constexpr std::uint64_t kRamBase = 0x8000'0000, kTimerBase = 0x1000'0000;

// Latencies in ns: bus 10, RAM 50 and 16 bytes/ns, timer 5.
RamConfig ram_config() {
  RamConfig config;
  config.bytes = 1u << 20;
  return config;
}

template <class Initiator>
struct Bench {
  explicit Bench(std::uint64_t outstanding = 16, RamConfig ram_settings = ram_config())
      : initiator("initiator"),
        bus("bus", SystemBus::Config{10, outstanding}, 1,
            {{"ram", kRamBase, ram_settings.bytes}, {"timer", kTimerBase, 4096}}),
        ram("ram", ram_settings),
        timer("timer", sc_time(5, sc_core::SC_NS)),
        front("front"),
        back("back") {
    initiator.socket.bind(front.target);
    front.initiator.bind(bus.initiators[0]);
    bus.targets[0].bind(back.target);
    back.initiator.bind(ram.socket);
    bus.targets[1].bind(timer.socket);
    timer.interrupt(line);
    back.set_memory_bytes(ram_settings.bytes);
  }
  void run() {
    sc_core::sc_start(sc_time(1, sc_core::SC_MS));
    front.check_complete();
    back.check_complete();
    EXPECT_EQ(front.report(), "");
    EXPECT_EQ(back.report(), "");
  }
  Initiator initiator;
  SystemBus bus;
  Ram ram;
  Timer timer;
  HopMonitor front, back;
  sc_core::sc_signal<bool> line;
};

TEST(SystemBus, LooselyTimedAccessesReachTheirTargetWithBothLatencies) {
  Bench<BlockingInitiator> bench;
  bench.initiator.script = [&](BlockingInitiator& initiator) {
    unsigned char data[64];
    for (unsigned i = 0; i < 64; ++i) data[i] = static_cast<unsigned char>(i);
    EXPECT_EQ(initiator.access(tlm::TLM_WRITE_COMMAND, kRamBase + 256, data, 64), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(initiator.delay, sc_time(10 + 50 + 4, sc_core::SC_NS));
    EXPECT_EQ(bench.ram.data()[256 + 63], 63);
    // The bytes that are enabled, of the last ones of the memory.
    unsigned char enables[4] = {0, 0xff, 0xff, 0}, word[4] = {1, 2, 3, 4};
    const std::uint64_t last = kRamBase + (1u << 20) - 4;
    EXPECT_EQ(initiator.access(tlm::TLM_WRITE_COMMAND, last, word, 4, enables), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(initiator.read32(last), 0x00030200u);
    EXPECT_EQ(initiator.read32(kTimerBase), 15u);  // the time at the timer: bus and its own latency
  };
  bench.run();
}

TEST(SystemBus, AccessesOutsideRegionsAreAddressErrors) {
  Bench<BlockingInitiator> bench;
  bench.initiator.script = [&](BlockingInitiator& initiator) {
    unsigned char data[64] = {};
    for (const std::uint64_t address :
         {std::uint64_t{0}, kRamBase - 4, kRamBase + (1u << 20), ~std::uint64_t{3}})
      EXPECT_EQ(initiator.access(tlm::TLM_READ_COMMAND, address, data, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    // Across the end, and the last one that is inside.
    EXPECT_EQ(initiator.access(tlm::TLM_READ_COMMAND, kRamBase + (1u << 20) - 63, data, 64),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(initiator.access(tlm::TLM_READ_COMMAND, kRamBase + (1u << 20) - 64, data, 64),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(initiator.access(tlm::TLM_READ_COMMAND, kRamBase, data, 64, nullptr, 8),
              tlm::TLM_BURST_ERROR_RESPONSE);
  };
  bench.run();
}

TEST(SystemBus, DirectPointersAndDebugAccessesAreTranslated) {
  Bench<BlockingInitiator> bench;
  bench.initiator.script = [&](BlockingInitiator& initiator) {
    tlm::tlm_generic_payload payload;
    unsigned char data[8] = {9, 8, 7, 6, 5, 4, 3, 2};
    test::fill(payload, tlm::TLM_WRITE_COMMAND, kRamBase + 100, data, 8);
    tlm::tlm_dmi region;
    region.init();
    ASSERT_TRUE(initiator.socket->get_direct_mem_ptr(payload, region));
    EXPECT_EQ(region.get_start_address(), kRamBase);
    EXPECT_EQ(region.get_end_address(), kRamBase + (1u << 20) - 1);
    EXPECT_EQ(region.get_dmi_ptr(), bench.ram.data());
    EXPECT_EQ(initiator.socket->transport_dbg(payload), 8u);
    EXPECT_EQ(bench.ram.data()[107], 2);
    // At the end of the memory a debug access moves what is there.
    payload.set_address(kRamBase + (1u << 20) - 3);
    EXPECT_EQ(initiator.socket->transport_dbg(payload), 3u);
    EXPECT_EQ(payload.get_data_length(), 8u);
    payload.set_address(kTimerBase);
    EXPECT_FALSE(initiator.socket->get_direct_mem_ptr(payload, region));
    bench.ram.socket->invalidate_direct_mem_ptr(16, 31);
    ASSERT_EQ(initiator.invalidated.size(), 1u);
    EXPECT_EQ(initiator.invalidated[0], std::make_pair(kRamBase + 16, kRamBase + 31));
  };
  bench.run();
}

TEST(SystemBus, TimedAccessesOverlapAndComeBackInOrder) {
  Bench<TimedInitiator> bench;
  bench.initiator.add(tlm::TLM_WRITE_COMMAND, kRamBase, 64, 7);
  bench.initiator.add(tlm::TLM_READ_COMMAND, kRamBase, 64);
  bench.initiator.add(tlm::TLM_READ_COMMAND, kRamBase - 1, 1);
  bench.run();
  const auto& accesses = bench.initiator.accesses;
  // 10 to the RAM, 50 there, 4 for the bytes; the second finds the way back busy for another 4.
  EXPECT_EQ(accesses[0].response, 64);
  EXPECT_EQ(accesses[1].response, 68);
  EXPECT_EQ(accesses[1].data, std::vector<unsigned char>(64, 7));
  EXPECT_EQ(accesses[2].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(accesses[2].response, 10);
}

TEST(SystemBus, EndOfRequestIsWithheldBeyondTheLimit) {
  Bench<TimedInitiator> bench(2);
  for (unsigned i = 0; i < 3; ++i) bench.initiator.add(tlm::TLM_READ_COMMAND, kRamBase + 64 * i, 64);
  bench.run();
  const auto& accesses = bench.initiator.accesses;
  EXPECT_EQ(accesses[1].request_ended, 0);
  EXPECT_EQ(accesses[2].request_ended, 64);  // as the first is back
  EXPECT_EQ(accesses[2].response, 64 + 64);
}

TEST(SystemBus, WithheldEndOfResponseHoldsTheNextBack) {
  Bench<TimedInitiator> bench;
  bench.initiator.hold_ns = 20;
  for (unsigned i = 0; i < 3; ++i) bench.initiator.add(tlm::TLM_READ_COMMAND, kRamBase + 64 * i, 64);
  bench.run();
  EXPECT_EQ(bench.initiator.accesses[0].response, 64);
  EXPECT_EQ(bench.initiator.accesses[1].response, 84);
  EXPECT_EQ(bench.initiator.accesses[2].response, 104);
}

TEST(SystemBus, MemoryTakesWhatItHasPlacesFor) {
  RamConfig config = ram_config();
  config.places = 1;
  Bench<TimedInitiator> bench(16, config);
  for (unsigned i = 0; i < 3; ++i) bench.initiator.add(tlm::TLM_READ_COMMAND, kRamBase, 16);
  bench.run();
  // One at a time: 10 + 50 + 1, then another 50 + 1 each.
  EXPECT_EQ(bench.initiator.accesses[0].response, 61);
  EXPECT_EQ(bench.initiator.accesses[1].response, 112);
  EXPECT_EQ(bench.initiator.accesses[2].response, 163);
}

TEST(SystemBus, TimedAccessesToRegistersCompleteAtOnce) {
  Bench<TimedInitiator> bench;
  bench.initiator.add(tlm::TLM_READ_COMMAND, kTimerBase, 4);
  bench.initiator.add(tlm::TLM_WRITE_COMMAND, kTimerBase, 4);
  bench.run();
  const auto& accesses = bench.initiator.accesses;
  EXPECT_EQ(accesses[0].response, 15);
  EXPECT_EQ(accesses[0].data[0], 15);
  EXPECT_EQ(accesses[1].status, tlm::TLM_COMMAND_ERROR_RESPONSE);  // the time is read only
}

TEST(SystemBus, RegionsThatOverlapAreRefused) {
  EXPECT_THROW(SystemBus("bus", {}, 1, {{"a", 0, 4096}, {"b", 4095, 10}}), InputError);
  EXPECT_THROW(SystemBus("empty", {}, 1, {{"a", 0, 0}}), InputError);
  EXPECT_THROW(SystemBus("beyond", {}, 1, {{"a", ~std::uint64_t{0}, 2}}), InputError);
}

}  // namespace
}  // namespace weft::soc::system_bus_test
