// Fill packets: a pattern of 4 bytes, from any byte on, of any length.
#include <random>

#include "host/command_bench.h"

namespace weft::test {
namespace {

class Fills : public Commands {
 public:
  static constexpr std::uint32_t kPattern = 0xD4C3'B2A1;
  // The byte that a fill leaves at its place `i`.
  static unsigned char byte_of(std::uint64_t i) {
    return static_cast<unsigned char>(kPattern >> 8 * (i % 4));
  }
  // Fills, and compares all that lies around.
  void fill(TestMemory& memory, std::uint64_t base, std::uint64_t offset, std::uint64_t bytes) {
    constexpr std::uint64_t kAround = 200;
    std::fill_n(&memory.bytes[offset - kAround], bytes + 2 * kAround, static_cast<unsigned char>(0x55));
    bench.ram.put<std::int64_t>(kSignal, 1);
    submit(fill_packet(base + offset, bytes, kPattern));
    bench.wait_us(5 + static_cast<double>(bytes) / 500);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << bench.host.error_text();
    for (std::uint64_t i = offset - kAround; i < offset + bytes + kAround; ++i) {
      const bool filled = i >= offset && i < offset + bytes;
      ASSERT_EQ(memory.bytes[i], filled ? byte_of(i - offset) : 0x55) << i - offset << " of " << bytes;
    }
  }
};

TEST_F(Fills, ReachEveryByteAndNoOther) {
  std::mt19937 random(1);
  run([&] {
    for (std::uint64_t offset = 0; offset < 5; ++offset) {
      for (const std::uint64_t bytes : {1, 2, 3, 4, 5, 127, 128, 129, 1003}) {
        fill(bench.ram, kRam, 0x2'0000 + offset, bytes);
        fill(bench.device, kDevice, 0x2'0000 + offset, bytes);
      }
    }
    for (unsigned i = 0; i < 50; ++i) {
      fill(bench.ram, kRam, 0x2'0000 + random() % 300, 1 + random() % 3000);
      fill(bench.device, kDevice, 0x2'0000 + random() % 300, 1 + random() % 3000);
    }
  });
}

TEST_F(Fills, OfNothingAreDone) {
  run([&] {
    submit(fill_packet(0, 0, kPattern));  // the address does not matter
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << bench.host.error_text();
  });
}

TEST_F(Fills, ReadNothing) {
  run([&] {
    const std::uint64_t before = bench.ram.accesses;
    submit(fill_packet(kRam + 0x2'0000, 0x4000, kPattern, 0));
    bench.wait_us(50);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 1u);
    EXPECT_EQ(bench.ram.accesses - before, 0x4000u / 128 + 2);  // the packet is read, and marked as done
  });
}

TEST_F(Fills, ElsewhereAreRefused) {
  struct Case {
    weft_fill_packet packet;
    std::uint32_t code;
    std::uint64_t where;
    const char* text;
  };
  const auto with = [](auto change) {
    weft_fill_packet packet = fill_packet(kDevice, 64, kPattern);
    change(packet);
    return packet;
  };
  const std::vector<Case> cases = {
      {with([](auto& p) { p.reserved0 = 1; }), WEFT_ERROR_PACKET, kRing, "reserved"},
      {with([](auto& p) { p.reserved1[1] = 1; }), WEFT_ERROR_PACKET, kRing, "reserved"},
      {with([](auto& p) { p.format = 3; }), WEFT_ERROR_PACKET, kRing, "format 3; allowed: 1 and 2"},
      {with([](auto& p) { p.bytes = UINT64_MAX; }), WEFT_ERROR_PACKET, kRing, "wraps around"},
      {with([](auto& p) { p.bytes = kDeviceBytes + 1; }), WEFT_ERROR_BUS, kDevice, "a fill reaches beyond"},
      {with([](auto& p) { p.destination = 0x1000; }), WEFT_ERROR_BUS, 0x1000, "a fill reaches beyond"},
      {with([](auto& p) { p.destination = kRam - 1; }), WEFT_ERROR_BUS, kRam - 1, "a fill reaches beyond"}};
  run([&] {
    for (const Case& c : cases) {
      bench.ram.put<std::int64_t>(kSignal, 1);
      const std::uint64_t at = kRing + submitted_ % 8 * 64;
      submit(c.packet);
      bench.wait_us(10);
      expect_error(c.code, c.where == kRing ? at : c.where, c.text);
      EXPECT_EQ(signal(), -static_cast<std::int64_t>(c.code));
      EXPECT_EQ(std::count(bench.device.bytes.begin(), bench.device.bytes.end(), 0), kDeviceBytes);
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    }
  });
}

TEST_F(Fills, AnErrorOfTheTargetNamesItsAddress) {
  bench.ram.bad_begin = kRam + 0x2'0000 + 500;
  bench.ram.bad_end = bench.ram.bad_begin + 1;
  run([&] {
    submit(fill_packet(kRam + 0x2'0000, 1000, kPattern));
    bench.wait_us(10);
    expect_error(WEFT_ERROR_BUS, kRam + 0x2'0000 + 384, "fill");  // the burst of 128 bytes with byte 500
    EXPECT_EQ(signal(), -WEFT_ERROR_BUS);
  });
}

}  // namespace
}  // namespace weft::test
