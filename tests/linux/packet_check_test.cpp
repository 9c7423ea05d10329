// What the driver lets into a ring: packets that are well-formed, with addresses of one process.
#include "linux/linux_machine.h"

namespace weft::test {
namespace packet_check_test {
namespace {

// Two processes; packets of the first with one field changed each.
struct Bench {
  explicit Bench(LinuxMachine& machine) : process(machine), other(machine) {
    queue = process.queue();
    kernel = process.kernel("nothing");
    other_kernel = other.kernel("nothing");
    data = process.buffer(WEFT_BUFFER_DEVICE, 8192);
    foreign = other.buffer(WEFT_BUFFER_DEVICE, 8192);
  }
  template <class Packet, class Change>
  void expect(int error, Packet packet, Change change, const char* what) {
    change(packet);
    EXPECT_EQ(process.submit(queue, packet), error) << what;
  }
  // The signals of the process and of the other, and what is nobody's.
  template <class Packet, class Field>
  void expect_signal(const Packet& packet, Field field, const char* what) {
    const auto with = [&](std::uint64_t address) { return [=](Packet& p) { field(p) = address; }; };
    expect(-EACCES, packet, with(other.signal(0)), what);
    expect(-EACCES, packet, with(kDeviceBase - 8), what);
    expect(-EACCES, packet, with(process.page.address - 8), what);
    expect(-EINVAL, packet, with(process.signal(0) + 4), what);
  }

  Process process, other;
  std::uint32_t queue = 0;
  std::uint64_t kernel = 0, other_kernel = 0;
  weft_buffer data{}, foreign{};
};

TEST(LinuxPackets, DispatchesNameOwnKernelsAndMemory) {
  LinuxMachine machine;
  machine.run([&] {
    Bench bench(machine);
    using Packet = weft_kernel_dispatch_packet;
    const Packet packet = bench.process.dispatch(bench.kernel, 0, 0);
    bench.expect(-EACCES, packet, [&](Packet& p) { p.kernel_object = bench.other_kernel; }, "kernel");
    bench.expect(-EACCES, packet, [&](Packet& p) { p.kernel_object += 64; }, "inside a kernel");
    bench.expect(-EACCES, packet, [&](Packet& p) { p.kernel_object = bench.data.address; }, "own object");
    bench.expect(-EACCES, packet, [&](Packet& p) { p.kernarg_address = bench.foreign.address; }, "kernarg");
    bench.expect(-EINVAL, packet, [&](Packet& p) { p.reserved0 = 1; }, "reserved0");
    bench.expect(-EINVAL, packet, [&](Packet& p) { p.setup = 0; }, "setup");
    bench.expect(-EINVAL, packet, [&](Packet& p) { p.setup = 4; }, "setup");
    bench.expect_signal(packet, [](Packet& p) -> auto& { return p.completion_signal; }, "signal");
    bench.expect_signal(packet, [](Packet& p) -> auto& { return p.times_address; }, "times");
    const std::uint64_t last = bench.process.page.address + 4088;
    bench.expect(-EACCES, packet, [&](Packet& p) { p.times_address = last; }, "half of the times");
    bench.expect(0, packet, [](Packet& p) { p.kernarg_address = 0; }, "no parameters");
    EXPECT_EQ(bench.process.wait_for(0), 0);
  });
}

TEST(LinuxPackets, BarriersNameOwnSignals) {
  LinuxMachine machine;
  machine.run([&] {
    Bench bench(machine);
    using Packet = weft_barrier_packet;
    bench.process.signal(1, 0);
    for (const int type : {WEFT_PACKET_BARRIER_AND, WEFT_PACKET_BARRIER_OR}) {
      const Packet packet = barrier_packet(static_cast<std::uint16_t>(type), bench.process.page.address + 8,
                                           bench.process.page.address + 8, bench.process.signal(0));
      for (const unsigned i : {0u, 1u, 2u, 3u, 4u})
        bench.expect_signal(packet, [i](Packet& p) -> auto& { return p.dep_signal[i]; }, "dep_signal");
      bench.process.signal(0);
      bench.expect_signal(packet, [](Packet& p) -> auto& { return p.completion_signal; }, "signal");
      bench.expect_signal(packet, [](Packet& p) -> auto& { return p.times_address; }, "times");
      bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved0 = 1; }, "reserved0");
      bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved1 = 1; }, "reserved1");
      bench.process.signal(0);
      bench.expect(0, packet, [](Packet&) {}, "as it is");
      EXPECT_EQ(bench.process.wait_for(0), 0);
    }
  });
}

TEST(LinuxPackets, CopiesStayInOwnBuffers) {
  LinuxMachine machine;
  machine.run([&] {
    Bench bench(machine);
    using Packet = weft_copy_packet;
    const std::uint64_t data = bench.data.address;
    const Packet packet = copy_packet(data, data + 4096, 4096, bench.process.signal(0));
    bench.expect(-EACCES, packet, [&](Packet& p) { p.source = bench.foreign.address; }, "source");
    bench.expect(-EACCES, packet, [&](Packet& p) { p.destination = bench.foreign.address; }, "destination");
    bench.expect(-EACCES, packet, [&](Packet& p) { p.source = data - 1; }, "source begins before");
    bench.expect(-EACCES, packet, [&](Packet& p) { p.destination += 1; }, "destination ends behind");
    bench.expect(-EACCES, packet, [](Packet& p) { p.bytes = UINT64_MAX; }, "wraps around");
    bench.expect(-EACCES, packet, [](Packet& p) { p.destination = UINT64_MAX - 10; }, "wraps around");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.destination -= 1; }, "overlaps");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved0 = 1; }, "reserved0");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved1[0] = 1; }, "reserved1");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved1[1] = 1; }, "reserved1");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.format = 77; }, "format");
    bench.expect_signal(packet, [](Packet& p) -> auto& { return p.completion_signal; }, "signal");
    bench.expect_signal(packet, [](Packet& p) -> auto& { return p.times_address; }, "times");
    bench.process.signal(0);
    bench.expect(0, packet, [](Packet&) {}, "as it is");
    EXPECT_EQ(bench.process.wait_for(0), 0);
  });
}

TEST(LinuxPackets, FillsStayInOwnBuffers) {
  LinuxMachine machine;
  machine.run([&] {
    Bench bench(machine);
    using Packet = weft_fill_packet;
    Packet packet{};
    packet.header = WEFT_PACKET_VENDOR;
    packet.format = WEFT_VENDOR_FILL;
    packet.destination = bench.data.address;
    packet.bytes = bench.data.bytes;
    packet.completion_signal = bench.process.signal(0);
    bench.expect(-EACCES, packet, [&](Packet& p) { p.destination = bench.foreign.address; }, "destination");
    bench.expect(-EACCES, packet, [](Packet& p) { p.destination -= 1; }, "begins before");
    bench.expect(-EACCES, packet, [](Packet& p) { p.bytes += 1; }, "ends behind");
    bench.expect(-EACCES, packet, [](Packet& p) { p.bytes = UINT64_MAX; }, "wraps around");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved0 = 1; }, "reserved0");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved1[0] = 1; }, "reserved1");
    bench.expect(-EINVAL, packet, [](Packet& p) { p.reserved1[1] = 1; }, "reserved1");
    bench.expect_signal(packet, [](Packet& p) -> auto& { return p.completion_signal; }, "signal");
    bench.expect_signal(packet, [](Packet& p) -> auto& { return p.times_address; }, "times");
    packet.pattern = 0x01020304;
    packet.times_address = bench.process.page.address + 4080;
    packet.completion_signal = bench.process.signal(0);
    bench.expect(0, packet, [](Packet&) {}, "as it is");
    EXPECT_EQ(bench.process.wait_for(0), 0);
    for (unsigned i = 0; i < 2048; ++i) ASSERT_EQ(bench.process.word(bench.data, i), 0x01020304u) << i;
    const auto* const times = reinterpret_cast<const std::uint64_t*>(bench.process.page.data) + 510;
    EXPECT_GT(times[0], 0u);
    EXPECT_GT(times[1], times[0]);
  });
}

TEST(LinuxPackets, HeadersAreOfAKnownKind) {
  LinuxMachine machine;
  machine.run([&] {
    Bench bench(machine);
    using Packet = weft_kernel_dispatch_packet;
    const Packet packet = bench.process.dispatch(bench.kernel, 0, 0);
    for (unsigned type = 0; type < 256; ++type) {
      if (type == WEFT_PACKET_KERNEL_DISPATCH || type == WEFT_PACKET_BARRIER_AND ||
          type == WEFT_PACKET_BARRIER_OR || type == WEFT_PACKET_VENDOR) {
        continue;
      }
      bench.expect(-EINVAL, packet, [&](Packet& p) { p.header = static_cast<std::uint16_t>(type); }, "type");
    }
    bench.expect(-EINVAL, packet, [](Packet& p) { p.header |= 0x2000; }, "reserved bits");
    const auto fences = WEFT_PACKET_BARRIER_BIT | WEFT_PACKET_FENCE_MASK;
    bench.expect(0, packet, [&](Packet& p) { p.header |= fences; }, "fences");
    EXPECT_EQ(bench.process.wait_for(0), 0);
  });
}

TEST(LinuxPackets, OneBadPacketKeepsTheOthersOut) {
  LinuxMachine machine;
  machine.run([&] {
    Bench bench(machine);
    weft_kernel_dispatch_packet packets[2] = {bench.process.dispatch(bench.kernel, 0, 0),
                                              bench.process.dispatch(bench.other_kernel, 0, 1)};
    EXPECT_EQ(weft_submit(bench.process.device, bench.queue, packets, 2), -EACCES);
    for (unsigned i = 0; i < 50; ++i) machine.pass();
    EXPECT_EQ(bench.process.value(0), 1);
    EXPECT_EQ(weft_submit(bench.process.device, bench.queue, packets, 1), 0);
    EXPECT_EQ(bench.process.wait_for(0), 0);
  });
}

TEST(LinuxPackets, BuffersAndKernelsThatAreDestroyedAreNobodys) {
  LinuxMachine machine;
  machine.run([&] {
    Bench bench(machine);
    const std::uint64_t data = bench.data.address;
    const auto copy = copy_packet(data, data + 4096, 64, bench.process.signal(0));
    const auto dispatch = bench.process.dispatch(bench.kernel, 0, 1);
    ASSERT_EQ(weft_buffer_destroy(bench.process.device, &bench.data), 0);
    ASSERT_EQ(weft_kernel_destroy(bench.process.device, bench.kernel), 0);
    EXPECT_EQ(bench.process.submit(bench.queue, copy), -EACCES);
    EXPECT_EQ(bench.process.submit(bench.queue, dispatch), -EACCES);
  });
}

}  // namespace
}  // namespace packet_check_test
}  // namespace weft::test
