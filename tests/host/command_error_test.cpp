// Packets, kernel objects and addresses that are wrong: what the GPU says, and that it goes on.
#include "host/command_bench.h"

namespace weft::test {
namespace {

struct BadPacket {
  const char* name;
  std::function<void(weft_kernel_dispatch_packet&)> break_it;
  std::uint32_t code;
  std::uint64_t address;
  const char* text;
};

std::ostream& operator<<(std::ostream& out, const BadPacket& bad) {
  return out << bad.name;
}

class Malformed : public Commands, public ::testing::WithParamInterface<BadPacket> {};

// Each stops the queue behind its packet, with an interrupt and a negative signal; the queue then goes on
// with a good one.
TEST_P(Malformed, StopsTheQueueAndSaysWhy) {
  run([&] {
    bench.cpu.write32(WEFT_REG_IRQ_ENABLE, WEFT_IRQ_ERROR);
    weft_kernel_dispatch_packet packet = dispatch_packet(1, 32);
    GetParam().break_it(packet);
    submit(packet);
    bench.wait_us(50);
    expect_error(GetParam().code, GetParam().address, GetParam().text);
    EXPECT_EQ(reg(WEFT_REG_ERROR_QUEUE), 0u);
    EXPECT_EQ(queue(WEFT_QUEUE_STATUS), WEFT_QUEUE_STATUS_ENABLED | WEFT_QUEUE_STATUS_ERROR);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 1u);
    EXPECT_EQ(reg(WEFT_QUEUE_FAULT(0, WEFT_QUEUE_FAULT_CODE)), GetParam().code);
    EXPECT_EQ(reg(WEFT_QUEUE_FAULT(0, WEFT_QUEUE_FAULT_ADDRESS_LO)), GetParam().address & UINT32_MAX);
    EXPECT_EQ(reg(WEFT_QUEUE_FAULT(0, WEFT_QUEUE_FAULT_KIND)), 0u);
    EXPECT_EQ(bench.ram.get<std::uint16_t>(kRing), WEFT_PACKET_INVALID);
    EXPECT_TRUE(bench.irq.read());
    EXPECT_EQ(reg(WEFT_REG_IRQ_STATUS), WEFT_IRQ_ERROR);
    const bool has_signal = packet.completion_signal == kSignal;
    EXPECT_EQ(signal(), has_signal ? -static_cast<std::int64_t>(GetParam().code) : 1);
    EXPECT_TRUE(bench.gpu.running.empty());

    bench.cpu.write32(WEFT_REG_IRQ_STATUS, WEFT_IRQ_ERROR);
    bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u);
    EXPECT_FALSE(bench.irq.read());
    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    bench.ram.put<std::int64_t>(kSignal, 1);
    submit(dispatch_packet(1, 32));
    bench.wait_us(50);
    ASSERT_EQ(bench.gpu.running.size(), 1u);
    bench.gpu.finish();
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u);
  });
}

using P = weft_kernel_dispatch_packet;
INSTANTIATE_TEST_SUITE_P(
    Packets, Malformed,
    ::testing::Values(
        BadPacket{"Type", [](P& p) { p.header = 4; }, WEFT_ERROR_PACKET, kRing, "type 4"},
        BadPacket{"HeaderBits", [](P& p) { p.header |= 0x8000; }, WEFT_ERROR_PACKET, kRing, "header"},
        BadPacket{"Vendor", [](P& p) { p.header = 0; }, WEFT_ERROR_PACKET, kRing, "reserved"},
        BadPacket{"Setup", [](P& p) { p.setup = 4; }, WEFT_ERROR_PACKET, kRing, "setup"},
        BadPacket{"NoBlock", [](P& p) { p.workgroup_size[0] = 0; }, WEFT_ERROR_PACKET, kRing, "blocks of 0"},
        BadPacket{"NoGrid", [](P& p) { p.grid_size[0] = 0; }, WEFT_ERROR_PACKET, kRing, "grid of 0"},
        BadPacket{"Partial", [](P& p) { p.grid_size[0] = 33; }, WEFT_ERROR_PACKET, kRing, "whole blocks"},
        BadPacket{"UnusedDimension", [](P& p) { p.grid_size[2] = p.workgroup_size[2] = 2; },
                  WEFT_ERROR_PACKET, kRing, "dimension"},
        BadPacket{"Reserved", [](P& p) { p.reserved0 = 1; }, WEFT_ERROR_PACKET, kRing, "reserved"},
        BadPacket{"Signal", [](P& p) { p.completion_signal += 4; }, WEFT_ERROR_PACKET, kRing,
                  "completion_signal"},
        BadPacket{"NoObject", [](P& p) { p.kernel_object = 0; }, WEFT_ERROR_PACKET, kRing, "kernel_object"},
        BadPacket{"ObjectNowhere", [](P& p) { p.kernel_object = 0x4000; }, WEFT_ERROR_BUS, 0x4000, "read"},
        BadPacket{"NotAnObject", [](P& p) { p.kernel_object = kText; }, WEFT_ERROR_KERNEL_OBJECT, kText,
                  "magic"},
        BadPacket{"ArgumentsNowhere", [](P& p) { p.kernarg_address = 0x90000000; }, WEFT_ERROR_BUS,
                  0x90000000, "read"},
        BadPacket{"ArgumentsPastTheEnd", [](P& p) { p.kernarg_address = kRam + kRamBytes - 8; },
                  WEFT_ERROR_BUS, kRam + kRamBytes, "read"},
        BadPacket{"BlockTooLarge", [](P& p) { p.workgroup_size[0] = 65535, p.grid_size[0] = 65535; },
                  WEFT_ERROR_LAUNCH, kRing, "65535"},
        BadPacket{"GridTooLarge", [](P& p) { p.grid_size[0] = 32 * 1001; }, WEFT_ERROR_LAUNCH, kRing,
                  "too large"},
        BadPacket{"Stack", [](P& p) { p.private_segment_size = 1 << 30; }, WEFT_ERROR_LAUNCH, kRing,
                  "stack"}),
    [](const auto& info) { return info.param.name; });

TEST_F(Commands, SignalsOutsideAreRefused) {
  run([&] {
    submit(copy_packet(kRam, kDevice, 8, 0x7000'0000));
    bench.wait_us(10);
    expect_error(WEFT_ERROR_BUS, 0x7000'0000, "read");
  });
}

TEST_F(Commands, AnErrorOfTheTargetNamesItsAddress) {
  bench.ram.bad_begin = kRam + 0x2'0000 + 500;
  bench.ram.bad_end = bench.ram.bad_begin + 1;
  run([&] {
    submit(copy_packet(kRam + 0x2'0000, kDevice, 1000));
    bench.wait_us(10);
    expect_error(WEFT_ERROR_BUS, kRam + 0x2'0000 + 384, "copy");  // the burst of 128 bytes with byte 500
    EXPECT_EQ(signal(), -WEFT_ERROR_BUS);
  });
}

struct BadModule {
  const char* name;
  std::function<void(TestMemory&)> break_it;
  std::uint32_t code;
  std::uint64_t address;
  const char* text;
};
std::ostream& operator<<(std::ostream& out, const BadModule& bad) {
  return out << bad.name;
}
class BadObject : public Commands, public ::testing::WithParamInterface<BadModule> {};

TEST_P(BadObject, IsRefused) {
  GetParam().break_it(bench.ram);
  run([&] {
    submit(dispatch_packet(1, 32));
    bench.wait_us(100);
    expect_error(GetParam().code, GetParam().address, GetParam().text);
    EXPECT_TRUE(bench.gpu.running.empty());
  });
}

void edit(TestMemory& ram, const std::function<void(weft_kernel_object&)>& change) {
  auto object = ram.get<weft_kernel_object>(kObject);
  change(object);
  ram.put(kObject, object);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, BadObject,
    ::testing::Values(
        BadModule{"NoText", [](TestMemory& r) { edit(r, [](auto& o) { o.ptx_bytes = 0; }); },
                  WEFT_ERROR_KERNEL_OBJECT, kObject, "PTX of 0"},
        BadModule{"HugeText", [](TestMemory& r) { edit(r, [](auto& o) { o.ptx_bytes = UINT64_MAX; }); },
                  WEFT_ERROR_KERNEL_OBJECT, kObject, "bytes"},
        BadModule{"TextPastTheEnd", [](TestMemory& r) { edit(r, [](auto& o) { o.ptx_bytes = kRamBytes; }); },
                  WEFT_ERROR_BUS, kText, "outside"},
        BadModule{"HugeName", [](TestMemory& r) { edit(r, [](auto& o) { o.name_bytes = UINT32_MAX; }); },
                  WEFT_ERROR_KERNEL_OBJECT, kObject, "name"},
        BadModule{"Reserved", [](TestMemory& r) { edit(r, [](auto& o) { o.reserved2 = 9; }); },
                  WEFT_ERROR_KERNEL_OBJECT, kObject, "reserved"},
        BadModule{"MemoryInTheWindow",
                  [](TestMemory& r) { edit(r, [](auto& o) { o.memory_address = kRam; }); }, WEFT_ERROR_MEMORY,
                  kRam, "device memory"},
        BadModule{"LittleMemory", [](TestMemory& r) { edit(r, [](auto& o) { o.memory_bytes = 256; }); },
                  WEFT_ERROR_MEMORY, kModuleMemory, "instructions"},
        BadModule{"NoMemory", [](TestMemory& r) { edit(r, [](auto& o) { o.memory_bytes = 0; }); },
                  WEFT_ERROR_MEMORY, kModuleMemory, "variables"},
        BadModule{"Syntax", [](TestMemory& r) { r.bytes[kText - kRam + 40] = '!'; }, WEFT_ERROR_MODULE, kText,
                  "module at 0x80004000:"},
        BadModule{"Name", [](TestMemory& r) { r.bytes[kName - kRam] = 'F'; }, WEFT_ERROR_MODULE, kText,
                  "Fill"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft::test
