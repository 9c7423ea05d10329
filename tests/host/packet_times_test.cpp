// Times of packets: when a kernel, a copy, a fill or a barrier began and ended, in simulated time.
#include "host/command_bench.h"

namespace weft::test {
namespace {

constexpr std::uint64_t kTimes = kRam + 0x7'0000;

template <class Packet>
Packet timed(Packet packet, std::uint64_t address = kTimes) {
  packet.times_address = address;
  return packet;
}

class PacketTimes : public Commands {
 public:
  weft_packet_times times(std::uint64_t address = kTimes) {
    return bench.ram.get<weft_packet_times>(address);
  }
  // Of a good packet: within the time since `begin`, in picoseconds; written before the signal.
  void expect_times(std::uint64_t begin, std::uint64_t at_least) {
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << bench.host.error_text();
    EXPECT_GT(times().begin_ps, begin);
    EXPECT_GE(times().end_ps - times().begin_ps, at_least);
    EXPECT_LT(times().end_ps, now_picoseconds());
    bench.ram.put(kTimes, weft_packet_times{});
  }
};

TEST_F(PacketTimes, OfAKernel) {
  run([&] {
    const std::uint64_t begin = now_picoseconds();
    submit(timed(dispatch_packet(1, 32)));
    bench.wait_us(50);
    ASSERT_EQ(bench.gpu.running.size(), 1u);
    const std::uint64_t launched = bench.gpu.running[0].begin_ps;
    EXPECT_EQ(times().begin_ps, 0u);
    bench.gpu.finish();
    const std::uint64_t ended = now_picoseconds();
    while (times().end_ps == 0) bench.wait_us(0.001);
    EXPECT_EQ(signal(), 1);  // follows
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(times().begin_ps, launched);
    EXPECT_EQ(times().end_ps, ended);
    expect_times(begin, 1'000'000);
  });
}

TEST_F(PacketTimes, OfAKernelWithoutTiming) {
  run([&] {
    bench.cpu.write32(WEFT_REG_MODE, WEFT_MODE_FUNCTIONAL);
    const std::uint64_t begin = now_picoseconds();
    submit(timed(dispatch_packet(1, 32)));
    bench.wait_us(50);
    ASSERT_EQ(bench.gpu.untimed.size(), 1u);
    EXPECT_EQ(times().begin_ps, times().end_ps);
    expect_times(begin, 0);
  });
}

TEST_F(PacketTimes, OfCopiesAndFills) {
  bench.ram.put<std::int64_t>(kSignal, 4);
  run([&] {
    std::uint64_t begin = now_picoseconds();
    submit(timed(copy_packet(kRam, kDevice, 6400)));
    bench.wait_us(50);
    const std::uint64_t bursts = 6400 / 128;
    expect_times(begin, bursts * 1000);  // a clock of 1 GHz, and a burst in each cycle at best
    begin = now_picoseconds();
    submit(timed(fill_packet(kDevice, 6400, 0)));
    bench.wait_us(50);
    expect_times(begin, bursts * 1000);
    begin = now_picoseconds();
    submit(timed(copy_packet(kRam, kDevice, 0)));
    bench.wait_us(5);
    EXPECT_EQ(times().begin_ps, times().end_ps);
    expect_times(begin, 0);
    begin = now_picoseconds();
    submit(timed(fill_packet(kDevice, 0, 0)));
    bench.wait_us(5);
    EXPECT_EQ(times().begin_ps, times().end_ps);
    expect_times(begin, 0);
    EXPECT_EQ(signal(), 0);
  });
}

TEST_F(PacketTimes, OfABarrierAreItsEnd) {
  run([&] {
    bench.ram.put<std::int64_t>(kSignal + 8, 1);
    submit(timed(barrier_packet(WEFT_PACKET_BARRIER_AND, kSignal + 8, 0)));
    bench.wait_us(20);
    bench.ram.put<std::int64_t>(kSignal + 8, 0);
    const std::uint64_t met = now_picoseconds();
    bench.wait_us(20);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(times().begin_ps, times().end_ps);
    expect_times(met, 0);
  });
}

TEST_F(PacketTimes, InDeviceMemory) {
  run([&] {
    submit(timed(dispatch_packet(1, 32), kDevice + 0x400));
    bench.wait_us(50);
    bench.gpu.finish();
    const std::uint64_t ended = now_picoseconds();
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
    weft_packet_times in_device;
    std::memcpy(&in_device, &bench.device.bytes[0x400], sizeof in_device);
    EXPECT_EQ(in_device.end_ps, ended);
  });
}

// A packet that fails leaves the memory of its times as it is.
TEST_F(PacketTimes, NotOfAPacketThatFails) {
  bench.ram.put(kTimes, weft_packet_times{7, 8});
  run([&] {
    submit(timed(dispatch_packet(1, 32)));
    bench.wait_us(50);
    bench.gpu.finish({FaultKind::kTrap, "trap"});
    bench.wait_us(5);
    EXPECT_EQ(signal(), -WEFT_ERROR_FAULT);
    EXPECT_EQ(times().begin_ps, 7u);
    EXPECT_EQ(times().end_ps, 8u);
  });
}

// Refused before anything is done.
TEST_F(PacketTimes, ElsewhereAreRefused) {
  struct Case {
    std::uint64_t address;
    std::uint32_t code;
    std::uint64_t where;
    const char* text;
  };
  const std::vector<Case> cases = {
      {kTimes + 4, WEFT_ERROR_PACKET, kRing, "times_address is not a multiple of 8"},
      {kRam + kRamBytes - 8, WEFT_ERROR_BUS, kRam + kRamBytes - 8, "times_address lies outside"},
      {kDevice + kDeviceBytes, WEFT_ERROR_BUS, kDevice + kDeviceBytes, "times_address lies outside"},
      {UINT64_MAX - 7, WEFT_ERROR_BUS, UINT64_MAX - 7, "times_address lies outside"}};
  run([&] {
    const auto refused = [&](const auto& packet, const Case& c) {
      bench.ram.put<std::int64_t>(kSignal, 1);
      const std::uint64_t at = kRing + submitted_ % 8 * 64;
      submit(packet);
      bench.wait_us(30);
      expect_error(c.code, c.where == kRing ? at : c.where, c.text);
      EXPECT_EQ(signal(), -static_cast<std::int64_t>(c.code));
      EXPECT_TRUE(bench.gpu.running.empty());
      EXPECT_EQ(bench.device.bytes[0], 0);
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    };
    for (const Case& c : cases) {
      refused(timed(dispatch_packet(1, 32), c.address), c);
      refused(timed(fill_packet(kDevice, 4, ~0u), c.address), c);
      refused(timed(copy_packet(kText, kDevice, 4), c.address), c);
      refused(timed(barrier_packet(WEFT_PACKET_BARRIER_OR, 0, 0), c.address), c);
    }
  });
}

// An error of the target.
TEST_F(PacketTimes, ThatTheBusRefusesFailThePacket) {
  bench.ram.bad_begin = kTimes;
  bench.ram.bad_end = kTimes + 16;
  run([&] {
    submit(timed(fill_packet(kDevice, 4, 1)));
    bench.wait_us(20);
    expect_error(WEFT_ERROR_BUS, kTimes, "a write was refused");
    EXPECT_EQ(signal(), -WEFT_ERROR_BUS);
  });
}

}  // namespace
}  // namespace weft::test
