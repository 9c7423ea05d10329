// Registers and aperture, as an initiator sees them that knows nothing of Weft; loosely and approximately
// timed.
#include <nlohmann/json.hpp>
#include <random>

#include "host/host_bench.h"

namespace weft::test {
namespace {

struct Protocol {
  Traffic::Style style;
  bool late_end;
};

std::ostream& operator<<(std::ostream& out, const Protocol& protocol) {
  return out << (protocol.style == Traffic::Style::kLoose ? "lt" : protocol.late_end ? "at, END_RESP" : "at");
}

class HostPort : public ::testing::TestWithParam<Protocol> {
 public:
  HostPort() { use(bench); }
  static void use(HostBench& bench) {
    bench.cpu.style = GetParam().style;
    bench.cpu.late_end = GetParam().late_end;
  }
  void run(std::function<void()> script) { ASSERT_TRUE(bench.cpu.run(std::move(script))); }

  HostBench bench;
};

INSTANTIATE_TEST_SUITE_P(Protocols, HostPort,
                         ::testing::Values(Protocol{Traffic::Style::kLoose, false},
                                           Protocol{Traffic::Style::kApproximate, false},
                                           Protocol{Traffic::Style::kApproximate, true}),
                         [](const auto& info) {
                           if (info.param.style == Traffic::Style::kLoose) return "Loose";
                           return info.param.late_end ? "ApproximateWithEndResp" : "Approximate";
                         });

TEST_P(HostPort, IdentityRegisters) {
  bench.gpu.cycle = 0x7'0000'0003;
  run([&] {
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_ID), 0x54464557u);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_STATUS), 0u);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_MEMORY_BYTES_LO), 0x10'0000u);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_DEVICE_BASE_HI), 1u);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_QUEUES), 4u);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_SMS), 15u);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_CYCLES_LO), 3u);
    bench.gpu.cycle = 0x8'0000'0000;  // the high word is that of the last reading of the low word
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_CYCLES_HI), 7u);
  });
  bench.expect_quiet();
}

// Two registers in one access: the low one first, as two accesses would.
TEST_P(HostPort, TwoRegistersAtOnce) {
  bench.gpu.cycle = 0x7'0000'0003;
  run([&] {
    const auto access = [&](tlm::tlm_command command, std::uint64_t address, std::uint64_t value) {
      Traffic::Access access;
      access.command = command;
      access.address = address;
      access.data = reinterpret_cast<unsigned char*>(&value);
      access.bytes = 8;
      EXPECT_EQ(bench.cpu.access(access), tlm::TLM_OK_RESPONSE);
      return value;
    };
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, WEFT_REG_CYCLES_LO, 0), 0x7'0000'0003u);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, WEFT_REG_MEMORY_BYTES_LO, 0), 0x10'0000u);
    access(tlm::TLM_WRITE_COMMAND, WEFT_WINDOW(1, WEFT_WINDOW_BASE_LO), 0x12'3456'7000);
    EXPECT_EQ(bench.cpu.read32(WEFT_WINDOW(1, WEFT_WINDOW_BASE_LO)), 0x3456'7000u);
    EXPECT_EQ(bench.cpu.read32(WEFT_WINDOW(1, WEFT_WINDOW_BASE_HI)), 0x12u);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, WEFT_WINDOW(1, WEFT_WINDOW_BASE_LO), 0), 0x12'3456'7000u);
  });
  bench.expect_quiet();
}

TEST_P(HostPort, EveryBadAccessIsAnswered) {
  using Status = tlm::tlm_response_status;
  constexpr auto kRead = tlm::TLM_READ_COMMAND;
  constexpr auto kWrite = tlm::TLM_WRITE_COMMAND;
  bench.cpu_mistakes = {HopRule::kLength, HopRule::kDataPointer};
  unsigned char data[64] = {};
  unsigned char enables[4] = {0xff, 0xff, 0xff, 0xff};
  struct Bad {
    const char* what;
    tlm::tlm_command command;
    std::uint64_t address;
    unsigned bytes;
    unsigned char* enables;
    unsigned width;
    Status status;
  };
  const std::uint64_t end = WEFT_APERTURE + kDeviceBytes;
  const std::vector<Bad> bad = {
      {"unaligned", kRead, 0x002, 4, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"two bytes", kRead, 0x000, 2, nullptr, 0, tlm::TLM_BURST_ERROR_RESPONSE},
      {"three registers", kRead, 0x000, 12, nullptr, 0, tlm::TLM_BURST_ERROR_RESPONSE},
      {"two registers, unaligned", kRead, 0x004, 8, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"two registers, one of which is none", kRead, 0x110, 8, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"two registers, streaming", kRead, 0x000, 8, nullptr, 4, tlm::TLM_BURST_ERROR_RESPONSE},
      {"read only beside another", kWrite, 0x1010, 8, nullptr, 0, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"no bytes", kRead, 0x000, 0, nullptr, 4, tlm::TLM_BURST_ERROR_RESPONSE},
      {"byte enables", kRead, 0x000, 4, enables, 0, tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE},
      {"streaming", kRead, 0x000, 4, nullptr, 2, tlm::TLM_BURST_ERROR_RESPONSE},
      {"no register", kRead, 0x054, 4, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"behind the last queue", kRead, 0x1100, 4, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"behind the last window", kRead, 0x180, 4, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"read only", kWrite, WEFT_REG_ID, 4, nullptr, 0, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"read only in a queue", kWrite, 0x1010, 4, nullptr, 0, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"neither read nor write", tlm::TLM_IGNORE_COMMAND, 0, 4, nullptr, 0, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"behind the registers", kRead, 0x10000, 4, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"before the aperture", kRead, WEFT_APERTURE - 4, 4, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"behind the aperture", kWrite, end, 1, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"past the end", kWrite, end - 1, 2, nullptr, 0, tlm::TLM_BURST_ERROR_RESPONSE},
      {"the last address", kRead, UINT64_MAX, 1, nullptr, 0, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"nothing", kRead, WEFT_APERTURE, 0, nullptr, 4, tlm::TLM_BURST_ERROR_RESPONSE},
      {"streaming memory", kRead, WEFT_APERTURE, 8, nullptr, 4, tlm::TLM_BURST_ERROR_RESPONSE},
      {"ignored", tlm::TLM_IGNORE_COMMAND, WEFT_APERTURE, 4, nullptr, 0, tlm::TLM_COMMAND_ERROR_RESPONSE},
  };
  run([&] {
    for (const Bad& b : bad) {
      Traffic::Access access;
      access.command = b.command;
      access.address = b.address;
      access.data = data;
      access.bytes = b.bytes;
      access.enables = b.enables;
      access.enables_bytes = b.enables != nullptr ? 4 : 0;
      access.streaming_width = b.width;
      EXPECT_EQ(bench.cpu.access(access), b.status) << b.what;
    }
    Traffic::Access no_data;
    no_data.address = WEFT_APERTURE;
    EXPECT_EQ(bench.cpu.access(no_data), tlm::TLM_GENERIC_ERROR_RESPONSE) << "no data pointer";
  });
  EXPECT_EQ(bench.device.accesses, 0u);
  EXPECT_EQ(std::count(bench.device.bytes.begin(), bench.device.bytes.end(), 0),
            static_cast<std::ptrdiff_t>(kDeviceBytes));
}

// Byte enables go out with the bursts, so that they cost no more of these, and no more time.
TEST(HostPort, ByteEnablesTakeNoMoreTime) {
  HostBench bench;
  constexpr unsigned kBytes = 1 << 16;
  sc_core::sc_time times[3];
  std::uint64_t accesses[3] = {};
  ASSERT_TRUE(bench.cpu.run([&] {
    std::vector<unsigned char> data(kBytes, 0x5a), alternate = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
    std::vector<unsigned char> last(kBytes, TLM_BYTE_DISABLED);
    last.back() = TLM_BYTE_ENABLED;
    std::vector<unsigned char>* const enables[] = {nullptr, &alternate, &last};
    for (std::size_t i = 0; i < 3; ++i) {
      Traffic::Access access;
      access.command = tlm::TLM_WRITE_COMMAND;
      access.address = WEFT_APERTURE;
      access.data = data.data();
      access.bytes = kBytes;
      if (enables[i] != nullptr) {
        access.enables = enables[i]->data();
        access.enables_bytes = static_cast<unsigned>(enables[i]->size());
      }
      bench.device.accesses = 0;
      const sc_core::sc_time begin = sc_core::sc_time_stamp();
      EXPECT_EQ(bench.cpu.access(access), tlm::TLM_OK_RESPONSE);
      times[i] = sc_core::sc_time_stamp() - begin;
      accesses[i] = bench.device.accesses;
      std::fill(data.begin(), data.end(), 0xa5);
    }
  }));
  EXPECT_EQ(accesses[0], kBytes / 128u);
  EXPECT_EQ(accesses[1], accesses[0]);
  EXPECT_EQ(accesses[2], 1u);
  EXPECT_NEAR(times[1] / times[0], 1, 0.01);
  EXPECT_LT(times[2], times[0]);
  for (unsigned i = 0; i < kBytes; ++i)
    ASSERT_EQ(bench.device.bytes[i], i % 2 == 0 || i == kBytes - 1 ? 0xa5 : 0x5a) << i;
}

// Random reads and writes of any place and length, some with byte enables, against a shadow of the memory.
TEST_P(HostPort, ApertureIsDeviceMemory) {
  std::mt19937_64 random(7);
  std::vector<unsigned char> shadow(kDeviceBytes, 0);
  run([&] {
    for (int i = 0; i < 400; ++i) {
      const unsigned bytes = 1 + static_cast<unsigned>(random() % (i % 10 == 0 ? 5000 : 40));
      const std::uint64_t offset = i % 7 == 0 ? kDeviceBytes - bytes : random() % (kDeviceBytes - bytes);
      std::vector<unsigned char> data(bytes), enables(1 + random() % 9);
      for (auto& byte : data) byte = static_cast<unsigned char>(random());
      for (auto& enable : enables) enable = random() % 3 != 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
      const std::vector<unsigned char> before = data;
      Traffic::Access access;
      access.command = random() % 2 != 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
      access.address = WEFT_APERTURE + offset;
      access.data = data.data();
      access.bytes = bytes;
      const bool with_enables = i % 3 == 0;
      if (with_enables) {
        access.enables = enables.data();
        access.enables_bytes = static_cast<unsigned>(enables.size());
      }
      ASSERT_EQ(bench.cpu.access(access), tlm::TLM_OK_RESPONSE);
      EXPECT_TRUE(access.dmi_hint);
      for (unsigned k = 0; k < bytes; ++k) {
        const bool enabled = !with_enables || enables[k % enables.size()] == TLM_BYTE_ENABLED;
        if (access.command == tlm::TLM_WRITE_COMMAND) {
          if (enabled) shadow[offset + k] = before[k];
        } else {
          ASSERT_EQ(data[k], enabled ? shadow[offset + k] : before[k]) << "byte " << k << " of access " << i;
        }
      }
    }
  });
  EXPECT_TRUE(bench.device.bytes == shadow);
  bench.expect_quiet();
}

TEST_P(HostPort, DirectAccessUntilTheReset) {
  tlm::tlm_dmi region;
  tlm::tlm_generic_payload payload;
  const auto ask = [&](std::uint64_t address) {
    payload.set_address(address);
    return bench.cpu.socket->get_direct_mem_ptr(payload, region);
  };
  run([&] {
    EXPECT_FALSE(ask(WEFT_REG_ID));
    EXPECT_EQ(region.get_end_address(), 0x0FFF'FFFFu);
    EXPECT_FALSE(ask(WEFT_APERTURE + kDeviceBytes));
    EXPECT_EQ(region.get_start_address(), 0x1010'0000u);
    ASSERT_TRUE(ask(WEFT_APERTURE + 77));
    EXPECT_EQ(region.get_start_address(), 0x1000'0000u);
    EXPECT_EQ(region.get_end_address(), 0x100F'FFFFu);
    EXPECT_TRUE(region.is_read_write_allowed());
    region.get_dmi_ptr()[0x1234] = 0x5A;
    Traffic::Access access;
    unsigned char byte = 0;
    access.address = WEFT_APERTURE + 0x1234;
    access.data = &byte;
    access.bytes = 1;
    EXPECT_EQ(bench.cpu.access(access), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(byte, 0x5A);
    EXPECT_TRUE(bench.cpu.invalidated.empty());
    bench.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    bench.wait_us(1);
    ASSERT_EQ(bench.cpu.invalidated.size(), 1u);
    EXPECT_EQ(bench.cpu.invalidated[0],
              std::make_pair(std::uint64_t{0x1000'0000}, std::uint64_t{0x100F'FFFF}));
  });
}

TEST_P(HostPort, DebugTransportTakesNoTimeAndChangesNoRegister) {
  run([&] {
    bench.gpu.cycle = 0x9'0000'0001;
    bench.cpu.read32(WEFT_REG_CYCLES_LO);
    bench.gpu.cycle = 0xA'0000'0002;
    sc_core::sc_time before = sc_core::sc_time_stamp();
    unsigned char data[16] = {};
    tlm::tlm_generic_payload payload;
    const auto move = [&](tlm::tlm_command command, std::uint64_t address, unsigned bytes) {
      payload.set_command(command);
      payload.set_address(address);
      payload.set_data_ptr(data);
      payload.set_data_length(bytes);
      return bench.cpu.socket->transport_dbg(payload);
    };
    EXPECT_EQ(move(tlm::TLM_READ_COMMAND, 1, 9), 9u);  // "EFT", the version, status and control begin
    EXPECT_EQ(std::memcmp(data, "EFT\3\0\1\0", 7), 0);
    EXPECT_EQ(move(tlm::TLM_READ_COMMAND, WEFT_REG_CYCLES_LO, 8), 8u);
    EXPECT_EQ(data[0], 2);
    EXPECT_EQ(data[4], 9);  // no new reading was latched
    EXPECT_EQ(move(tlm::TLM_WRITE_COMMAND, WEFT_REG_IRQ_ENABLE, 4), 0u);
    data[0] = 0x77;
    EXPECT_EQ(move(tlm::TLM_WRITE_COMMAND, WEFT_APERTURE + kDeviceBytes - 3, 16), 3u);
    EXPECT_EQ(bench.device.bytes[kDeviceBytes - 3], 0x77);
    EXPECT_EQ(move(tlm::TLM_READ_COMMAND, 0x20000, 4), 0u);
    bench.cpu_mistakes.insert(HopRule::kDataPointer);
    payload.set_data_ptr(nullptr);
    for (const std::uint64_t address : {std::uint64_t{WEFT_REG_ID}, std::uint64_t{WEFT_APERTURE}}) {
      for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_length(4);
        EXPECT_EQ(bench.cpu.socket->transport_dbg(payload), 0u) << address;
      }
    }
    EXPECT_EQ(sc_core::sc_time_stamp(), before);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_IRQ_ENABLE), 0u);
  });
}

class HostPortWithTwoPlaces : public ::testing::Test {
 public:
  static host::Config config() {
    host::Config config;
    config.requests = 2;
    return config;
  }
  HostBench bench{config()};
};

TEST_F(HostPortWithTwoPlaces, WithholdsEndReqAndLosesNothing) {
  std::vector<std::uint32_t> words(200);
  ASSERT_TRUE(bench.cpu.run([&] {
    std::vector<Traffic::Access> accesses(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = static_cast<std::uint32_t>(i * 3 + 1);
      accesses[i].command = i % 4 == 3 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
      accesses[i].address = i % 4 == 3 ? WEFT_REG_ID : WEFT_APERTURE + 4 * i;
      accesses[i].data = reinterpret_cast<unsigned char*>(&words[i]);
    }
    bench.cpu.burst(accesses);
    for (const auto& access : accesses) EXPECT_EQ(access.status, tlm::TLM_OK_RESPONSE);
  }));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % 4 == 3) {
      EXPECT_EQ(words[i], 0x54464557u);
    } else {
      EXPECT_EQ(bench.device.get<std::uint32_t>(4 * i), i * 3 + 1);
    }
  }
  statistics::Group tree;
  bench.host.bind(tree.group("host"));
  EXPECT_GT(tree.sample().at("host").at("port").at("stalls").get<double>(), 100);
  bench.expect_quiet();
}

// The bench's interconnect clock has 1 ns: BEGIN_REQ at 10 ns is seen at edge 11, the response comes
// register_cycles = 4 edges later.
TEST_F(HostPortWithTwoPlaces, ARegisterTakesItsCycles) {
  ASSERT_TRUE(bench.cpu.run([&] {
    sc_core::wait(sc_core::sc_time(10, sc_core::SC_NS) - sc_core::sc_time_stamp());
    bench.cpu.read32(WEFT_REG_ID);
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(15, sc_core::SC_NS));
    bench.cpu.style = Traffic::Style::kLoose;
    bench.cpu.read32(WEFT_REG_ID);
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(19, sc_core::SC_NS));
  }));
}

}  // namespace
}  // namespace weft::test
