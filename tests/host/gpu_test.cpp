// Whole GPUs driven from outside: registers, packets in system memory, interrupts. Hop monitors stand on
// every hop, inside and outside.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "host/gpu_machine.h"
#include "weft/memory/memory_image.h"

namespace weft::test {
namespace {

struct Setup {
  std::string name, config;
  std::vector<std::string> overrides;
};
std::ostream& operator<<(std::ostream& out, const Setup& setup) {
  return out << setup.name;
}

class GpuFromOutside : public ::testing::TestWithParam<Setup> {
 public:
  GpuFromOutside() : machine(config_of(GetParam().config, GetParam().overrides)) {
    machine.with_ram();
    if (GetParam().name.find("LooselyTimed") != std::string::npos) machine.cpu.style = Traffic::Style::kLoose;
  }
  Machine machine;
};
INSTANTIATE_TEST_SUITE_P(
    Machines, GpuFromOutside,
    ::testing::Values(Setup{"Gtx480", "gtx480", {}},
                      Setup{"LooselyTimed", "gtx480", {"host.dma_transport=lt"}},
                      Setup{"NoL2", "dwr-tesla", {}}, Setup{"SharedInterfaces", "harp-fermi", {}},
                      // Device memory in system memory, which grants no direct access.
                      Setup{"WithoutMemory", "integrated", {kCarveOut}},
                      Setup{"WithoutMemoryLooselyTimed", "integrated", {kCarveOut, "host.dma_transport=lt"}}),
    [](const auto& info) { return info.param.name; });

TEST_P(GpuFromOutside, RunsAKernelFromAPacket) {
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    machine.run_fill(0);
    machine.run_fill(1);
  }));
  EXPECT_EQ(machine.gpu.totals().thread_instructions, 2u * 320 * 12);
  EXPECT_EQ(machine.gpu.statistics().sample().at("host").at("queue0").at("kernels").get<int>(), 2);
}

// 4 GiB of system memory from 0x8000'0000 on as one window; what lies in the way is named.
TEST(GpuMap, TheRegistersFollowTheConfiguration) {
  Machine machine(config_of("gtx480", {"system.enabled=true", "addresses.device_base=6442450944"}));
  machine.with_ram();
  ASSERT_TRUE(machine.cpu.run([&] {
    EXPECT_EQ(machine.reg(WEFT_REG_DEVICE_BASE_LO), 0x8000'0000u);
    EXPECT_EQ(machine.reg(WEFT_REG_DEVICE_BASE_HI), 1u);
    const auto refusal = [&](unsigned window, std::uint64_t base, std::uint64_t bytes) {
      machine.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      machine.cpu.write64(WEFT_WINDOW(window, WEFT_WINDOW_BASE_LO), base);
      machine.cpu.write64(WEFT_WINDOW(window, WEFT_WINDOW_BYTES_LO), bytes);
      machine.cpu.write32(WEFT_WINDOW(window, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
      EXPECT_EQ(machine.reg(WEFT_WINDOW(window, WEFT_WINDOW_CONTROL)) != 0, machine.gpu.host_error().empty());
      return machine.gpu.host_error();
    };
    EXPECT_EQ(refusal(0, 0x8000'0000, 0x1'0000'0000), "");
    EXPECT_EQ(refusal(1, 0x1'8000'0000, 0x1000),
              "window 1, 0x180000000 to 0x180000fff, overlaps device memory, 0x180000000 to 0x1803fffff "
              "(addresses.device_base)");
    EXPECT_EQ(refusal(1, 0x0200'0000, 0x1000),
              "window 1, 0x2000000 to 0x2000fff, overlaps the window of local memory, 0x2000000 to 0x2ffffff "
              "(addresses.local_base)");
    EXPECT_EQ(refusal(1, 0x1'0000'0000, 0x1000),
              "window 1, 0x100000000 to 0x100000fff, overlaps window 0, 0x80000000 to 0x17fffffff");
    EXPECT_EQ(refusal(1, 0x1000, 0x800),
              "window 1 has 2048 bytes at 0x1000; allowed: multiples of 4096, at least one, up to "
              "0x400000000000000");
  }));
}

TEST_P(GpuFromOutside, CopiesAndTheApertureSeeTheSameMemory) {
  std::mt19937 random(1);
  for (std::size_t i = 0x8'0000; i < kRamBytes; ++i)
    machine.ram.bytes[i] = static_cast<unsigned char>(random());
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    constexpr unsigned kBytes = 20'001;
    machine.ram.put<std::int64_t>(kSignal, 3);
    machine.submit(0, 0, copy_packet(kRam + 0x8'0000, kDeviceBase + 0x3'0005, kBytes));
    machine.submit(0, 1, copy_packet(kDeviceBase + 0x3'0005, kDeviceBase + 0x4'0000, kBytes));
    machine.submit(0, 2, copy_packet(kDeviceBase + 0x4'0000, kRam + 0x4'0003, kBytes));
    while (machine.ram.get<std::int64_t>(kSignal) != 0) sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    EXPECT_EQ(std::memcmp(&machine.ram.bytes[0x8'0000], &machine.ram.bytes[0x4'0003], kBytes), 0);
    const auto words = machine.read_words(kDeviceBase + 0x4'0000, kBytes / 4);
    EXPECT_EQ(std::memcmp(words.data(), &machine.ram.bytes[0x8'0000], kBytes / 4 * 4), 0);
  }));
}

// The loop never ends; the queue's other packets, the other queue and the registers live on until the reset,
// after which a launch works.
TEST_P(GpuFromOutside, ResetInTheMiddleOfAKernel) {
  put_kernel(machine.ram, "spin", R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry spin() {
  .reg .b32 %r<4>; .reg .pred %p<2>;
  mov.u32 %r1, 0;
AGAIN: add.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN;
  ret;
}
)");
  ASSERT_TRUE(machine.cpu.run([&] {
    for (const bool by_pin : {false, true}) {
      machine.open();
      machine.submit(0, 0, dispatch_packet(4, 64));
      sc_core::wait(sc_core::sc_time(30, sc_core::SC_US));
      EXPECT_FALSE(machine.gpu.idle());
      EXPECT_EQ(machine.reg(WEFT_REG_STATUS), static_cast<std::uint32_t>(WEFT_STATUS_BUSY));
      machine.ram.put<std::int64_t>(kSignal + 8, 1);
      machine.submit(1, 0, copy_packet(kRam, kDeviceBase + 0x3'0000, 5000, kSignal + 8));
      machine.wait_for_interrupt();
      EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal + 8), 0);
      if (by_pin) {
        machine.reset.write(true);
        sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
        machine.reset.write(false);
      } else {
        machine.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
      }
      sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
      EXPECT_TRUE(machine.gpu.idle());
      EXPECT_FALSE(machine.irq.read());
      EXPECT_EQ(machine.reg(WEFT_REG_STATUS), 0u);
      EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), 1);
      EXPECT_EQ(machine.read_words(kDeviceBase + 0x3'0000, 1)[0], 0u);  // a reset clears device memory
    }
    put_kernel(machine.ram, "fill");
    machine.open();
    machine.run_fill(0);
  }));
}

// Two kernels run side by side, each a block at a time, when one of them faults. The other one ends as if
// alone; then the queue runs what is behind the fault. Device memory stays.
TEST_P(GpuFromOutside, AFaultEndsItsKernelOnly) {
  constexpr std::uint64_t kOther = kOut + 0x2000, kNowhere = 0x7'0000'0000;
  constexpr std::uint64_t kOtherObject = kObject + 0x40, kOtherArguments = kArguments + 0x40;
  const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry turn(.param .u64 out, .param .u32 turns) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [turns];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r6, 0;
again:
  add.u32 %r6, %r6, 1;
  ld.global.u32 %r7, [%rd1];
  add.u32 %r7, %r7, 1;
  st.global.u32 [%rd1], %r7;
  setp.lt.u32 %p1, %r6, %r5;
  @%p1 bra again;
  ret;
}
.visible .entry broken(.param .u64 out, .param .u32 turns) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 0;
again:
  ld.global.u32 %r2, [4294967296];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 20;
  @%p1 bra again;
  mov.u32 %r3, %tid.x;
  setp.eq.u32 %p1, %r3, 37;
  @%p1 st.global.u32 [%rd1], %r1;
  bar.sync 0;
  ret;
}
)";
  put_kernel(machine.ram, "broken", text);
  put_arguments(machine.ram, kNowhere, 3);
  put_kernel(machine.ram, "turn", text, kOtherObject);
  machine.ram.put<std::uint64_t>(kOtherArguments, kOther);
  machine.ram.put<std::uint32_t>(kOtherArguments + 8, 40);
  machine.ram.put<std::int64_t>(kSignal + 8, 1);
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    auto other = dispatch_packet(6, 64, kSignal + 8);
    other.kernel_object = kOtherObject;
    other.kernarg_address = kOtherArguments;
    machine.submit(1, 0, other);
    machine.submit(0, 0, dispatch_packet(7, 64));
    machine.submit(0, 1, other);  // what is behind the fault
    machine.wait_for_interrupt();
    while (machine.reg(WEFT_REG_ERROR_CODE) == 0) sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_QUEUE), 0u);
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_ADDRESS_LO), kNowhere & UINT32_MAX);
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_ADDRESS_HI), kNowhere >> 32);
    const auto why = [&](std::uint64_t offset) { return machine.reg(WEFT_QUEUE_FAULT(0, offset)); };
    EXPECT_EQ(why(WEFT_QUEUE_FAULT_KIND), static_cast<std::uint32_t>(WEFT_FAULT_ILLEGAL_ADDRESS));
    EXPECT_EQ(why(WEFT_QUEUE_FAULT_PC), 8u) << machine.gpu.host_error();
    EXPECT_EQ(why(WEFT_QUEUE_FAULT_THREAD_X), 37u);
    EXPECT_LT(why(WEFT_QUEUE_FAULT_BLOCK_X), 7u);
    EXPECT_NE(machine.gpu.host_error().find("broken: thread (37,0,0)"), std::string::npos)
        << machine.gpu.host_error();
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), -WEFT_ERROR_FAULT);
    EXPECT_FALSE(machine.gpu.faulted());
    const auto finished = [&](std::int64_t left) {
      for (int i = 0; i < 3000 && machine.ram.get<std::int64_t>(kSignal + 8) != left; ++i)
        sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
      EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal + 8), left);
    };
    finished(0);
    for (const std::uint32_t word : machine.read_words(kOther, 384)) ASSERT_EQ(word, 40u);

    machine.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    finished(-1);
    for (const std::uint32_t word : machine.read_words(kOther, 384)) ASSERT_EQ(word, 80u);
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
    EXPECT_EQ(machine.reg(WEFT_REG_STATUS), 0u);
  }));
}

// Numbers of a dispatch packet, at their bounds and beyond. The queue stops at what is refused, and the GPU
// runs the next.
class PacketRanges : public ::testing::Test {
 public:
  PacketRanges() : machine(config_of("gtx480")) { machine.with_ram(); }
  using Change = std::function<void(weft_kernel_dispatch_packet&)>;

  void refuse(const char* text, const Change& change) {
    weft_kernel_dispatch_packet packet = dispatch_packet(1, 32);
    change(packet);
    machine.submit(0, 0, packet);
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), static_cast<std::uint32_t>(WEFT_ERROR_LAUNCH)) << text;
    EXPECT_NE(machine.gpu.host_error().find(text), std::string::npos) << machine.gpu.host_error();
    start_again();
  }
  void take(const Change& change) {
    weft_kernel_dispatch_packet packet = dispatch_packet(1, 32);
    change(packet);
    machine.ram.put<std::int64_t>(kSignal, 1);
    machine.submit(0, 0, packet);
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), 0);
    start_again();
  }
  void start_again() {
    machine.acknowledge();
    machine.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_RING_PACKETS), 8);  // from its first packet on
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
  }
  Machine machine;
};

TEST_F(PacketRanges, AreHeldAndSaidWhenTheyAreNot) {
  using P = weft_kernel_dispatch_packet;
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    take([](P& p) { p.group_segment_size = 49152; });
    refuse("49153 bytes of dynamic shared memory", [](P& p) { p.group_segment_size = 49153; });
    refuse("4294967295 bytes of dynamic shared memory", [](P& p) { p.group_segment_size = UINT32_MAX; });
    take([](P& p) { p.private_segment_size = 524'288; });
    refuse("a stack of 524289 bytes", [](P& p) { p.private_segment_size = 524'289; });
    refuse("a stack of 4294967295 bytes", [](P& p) { p.private_segment_size = UINT32_MAX; });
    refuse("1025 threads", [](P& p) { p.workgroup_size[0] = 1025, p.grid_size[0] = 1025; });
    take([](P& p) { p.setup = 3, p.workgroup_size[2] = 32, p.grid_size[2] = 32; });
    refuse("block.z is 65", [](P& p) {
      p.setup = 3, p.workgroup_size[0] = p.grid_size[0] = 1, p.workgroup_size[2] = p.grid_size[2] = 65;
    });
    refuse("grid.y is 65536", [](P& p) { p.setup = 2, p.grid_size[1] = 65536; });
    refuse("grid.z is 4294967295", [](P& p) { p.setup = 3, p.grid_size[2] = UINT32_MAX; });
    refuse("grid.x is 4294967295", [](P& p) { p.workgroup_size[0] = 1, p.grid_size[0] = UINT32_MAX; });
    machine.run_fill(0);
  }));
}

// Kernels and packets share dma_socket: the kernel reads and writes system memory itself while the DMA engine
// copies from and to it.
class KernelsInSystemMemory : public ::testing::TestWithParam<std::string> {
 public:
  KernelsInSystemMemory()
      : machine(config_of("gtx480", {"system.enabled=true", "host.dma_transport=" + GetParam()})) {
    machine.with_ram();
  }
  Machine machine;
};
INSTANTIATE_TEST_SUITE_P(Transports, KernelsInSystemMemory, ::testing::Values("at", "lt"),
                         [](const auto& info) { return info.param; });

TEST_P(KernelsInSystemMemory, ShareTheSocketWithCopies) {
  constexpr std::uint64_t kThere = kRam + 0x8'0000;
  put_arguments(machine.ram, kThere, 7);
  std::mt19937 random(5);
  for (std::size_t i = 0; i < 20'000; ++i)
    machine.ram.bytes[0x2'0000 + i] = static_cast<unsigned char>(random());
  ASSERT_TRUE(machine.cpu.run([&] {
    for (int round = 0; round < 2; ++round) {
      std::fill_n(machine.ram.bytes.begin() + 0x8'0000, 4 * 321, 0);
      machine.ram.put<std::int64_t>(kSignal, 1);
      machine.ram.put<std::int64_t>(kSignal + 8, 2);
      machine.open();
      machine.submit(1, 0, copy_packet(kRam + 0x2'0000, kDeviceBase + 0x3'0000, 20'000, kSignal + 8));
      machine.submit(1, 1, copy_packet(kDeviceBase + 0x3'0000, kRam + 0x4'0000, 20'000, kSignal + 8));
      machine.submit(0, 0, dispatch_packet(5, 64));
      while (machine.ram.get<std::int64_t>(kSignal) + machine.ram.get<std::int64_t>(kSignal + 8) != 0) {
        sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
        if (machine.reg(WEFT_REG_ERROR_CODE) != 0) break;
      }
      EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
      for (std::uint32_t i = 0; i < 320; ++i)
        ASSERT_EQ(machine.ram.get<std::uint32_t>(kThere + 4 * i), 7 * i + 5);
      EXPECT_EQ(machine.ram.get<std::uint32_t>(kThere + 4 * 320), 0u);
      EXPECT_EQ(std::memcmp(&machine.ram.bytes[0x2'0000], &machine.ram.bytes[0x4'0000], 20'000), 0);
      sc_core::wait(sc_core::sc_time(5, sc_core::SC_US));
      machine.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);  // and all of it once more
      sc_core::wait(sc_core::sc_time(2, sc_core::SC_US));
    }
  }));
}

// One frequency for all domains, of a whole number of picoseconds: then all edges lie as at time 0, and what
// a reset leaves behind would show as another time or statistic.
class GpuReset : public ::testing::Test {
 public:
  Machine machine{
      config_of("gtx480", {"clocks.core_mhz=500", "clocks.interconnect_mhz=500", "clocks.memory_mhz=500"})};
};

TEST_F(GpuReset, EqualsFreshConstruction) {
  machine.with_ram();
  const auto run = [&] {
    sc_core::sc_time start = sc_core::sc_time_stamp();
    machine.open();
    machine.run_fill(0);
    machine.submit(0, 1, copy_packet(kRam, kDeviceBase + 0x3'0000, 3000));
    machine.wait_for_interrupt();
    machine.acknowledge();
    return (sc_core::sc_time_stamp() - start).to_string() + machine.gpu.statistics().sample().dump();
  };
  ASSERT_TRUE(machine.cpu.run([&] {
    sc_core::wait(sc_core::sc_time(100, sc_core::SC_NS));
    const std::string fresh = run();
    for (const bool by_pin : {false, true, false}) {
      if (by_pin) {
        machine.reset.write(true);
        sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
        machine.reset.write(false);
      } else {
        machine.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
      }
      sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
      EXPECT_EQ(run(), fresh);
    }
  }));
}

// Two GPUs in one simulation; the second is the first one's system memory, so packets of its driver's copy
// from one device memory to the other.
class TwoGpus : public ::testing::Test {
 public:
  TwoGpus() {
    // The aperture of the second is at 0x1000'0000 on the first one's bus.
    first.gpu.dma_socket.bind(first.ram_hop.target);
    first.ram_hop.initiator.bind(second.gpu.host_socket);
  }
  struct Bare {
    Bare() : gpu("second", config_of("harp-fermi"), {true, true}) {}
    Gpu gpu;
  };
  Machine first{config_of("gtx480"), "first"};
  Bare second;
};

TEST_F(TwoGpus, CopyFromOneToTheOther) {
  std::vector<unsigned char> data(10'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 13);
  ASSERT_TRUE(first.cpu.run([&] {
    auto& cpu = first.cpu;
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), WEFT_APERTURE);
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), 0x10'0000);
    cpu.write32(WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
    // The ring lies in the first one's own memory, the signal in the second one's.
    cpu.write64(WEFT_QUEUE(0, WEFT_QUEUE_RING_BASE_LO), kDeviceBase);
    cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_RING_PACKETS), 8);
    cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    const auto to_aperture = [&](std::uint64_t offset, void* from, unsigned bytes) {
      Traffic::Access access;
      access.command = tlm::TLM_WRITE_COMMAND;
      access.address = WEFT_APERTURE + offset;
      access.data = static_cast<unsigned char*>(from);
      access.bytes = bytes;
      EXPECT_EQ(cpu.access(access), tlm::TLM_OK_RESPONSE);
    };
    to_aperture(0x1'0000, data.data(), static_cast<unsigned>(data.size()));
    weft_copy_packet packet =
        copy_packet(kDeviceBase + 0x1'0000, WEFT_APERTURE + 0x2'0001, data.size(), WEFT_APERTURE);
    to_aperture(0, &packet, sizeof packet);
    cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL), 1);
    sc_core::wait(sc_core::sc_time(200, sc_core::SC_US));
    EXPECT_EQ(first.reg(WEFT_QUEUE(0, WEFT_QUEUE_READ_INDEX)), 1u);
    EXPECT_EQ(first.reg(WEFT_REG_ERROR_CODE), 0u) << first.gpu.host_error();
  }));
  const unsigned char* there = second.gpu.memory().data();
  EXPECT_EQ(std::memcmp(there + 0x2'0001, data.data(), data.size()), 0);
  std::int64_t signal;
  std::memcpy(&signal, there, sizeof signal);
  EXPECT_EQ(signal, -1);
  EXPECT_EQ(second.gpu.violations(), "");
}

// As many SMs as there may be, and the host side beside them.
class CrowdedGpu : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Sms, CrowdedGpu, ::testing::Values(63, 64, 65, 127));

TEST_P(CrowdedGpu, RunsAKernelFromAPacket) {
  Machine machine(load_config("gtx480", {"sm.count=" + std::to_string(GetParam()), "dram.bytes=4194304"}));
  machine.with_ram();
  const std::uint32_t blocks = 2 * GetParam();
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    EXPECT_EQ(machine.reg(WEFT_REG_SMS), GetParam());
    machine.submit(0, 0, dispatch_packet(blocks, 64));
    machine.wait_for_interrupt();
    EXPECT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
    const auto words = machine.read_words(kOut, blocks * 64);
    for (std::uint32_t i = 0; i < blocks * 64; ++i) ASSERT_EQ(words[i], 3 * i + 5) << i;
  }));
  // The last one has worked, too, and its packets went through the crossbar.
  const auto statistics = machine.gpu.statistics().sample();
  const std::string last = "sm" + std::to_string(GetParam() - 1);
  EXPECT_GT(statistics.at(last).at("thread_instructions").get<double>(), 0);
  EXPECT_GT(statistics.at("crossbar").at(last).at("response_bytes").get<double>(), 0);
  EXPECT_GT(statistics.at("host").at("response_bytes").get<double>(), 0);
}

// A payload that a target keeps takes no place from the next transactions: the time stays as it is. Its bytes
// stay as they are.
TEST(GpuPayloads, ATargetMayKeepThem) {
  const std::size_t keeps[] = {0, 16, 300};
  std::vector<std::unique_ptr<Machine>> machines;
  for (const std::size_t count : keeps) {
    machines.push_back(std::make_unique<Machine>(
        config_of("gtx480", {"host.outstanding=2", "system.enabled=true", "system.outstanding=4"}),
        "keeps" + std::to_string(count)));
    machines.back()->with_ram();
    machines.back()->ram.keeps = count;
  }
  std::vector<sc_core::sc_time> times;
  const sc_core::sc_time turn(200, sc_core::SC_US);  // the clocks have an edge at each multiple
  for (std::size_t i = 0; i < machines.size(); ++i) {
    Machine& machine = *machines[i];
    ASSERT_TRUE(machine.cpu.run([&] {
      sc_core::wait(turn * static_cast<double>(i + 1) - sc_core::sc_time_stamp());
      machine.open();
      for (std::uint32_t index = 0; index < 3; ++index) {
        machine.ram.put<std::int64_t>(kSignal, 1);
        put_arguments(machine.ram, index == 1 ? kRam + 0x8'0000 : kOut, 3);  // stores to system memory, too
        machine.submit(0, index, dispatch_packet(5, 64));
        machine.wait_for_interrupt();
        ASSERT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
        machine.acknowledge();
      }
      times.push_back(sc_core::sc_time_stamp() - turn * static_cast<double>(i + 1));
    }));
    for (std::uint32_t word = 0; word < 320; ++word)
      ASSERT_EQ(machine.ram.get<std::uint32_t>(kRam + 0x8'0000 + 4 * word), 3 * word + 5) << word;
    machine.ram.let_go();
    EXPECT_FALSE(machine.ram.kept_changed);
  }
  ASSERT_EQ(times.size(), machines.size());
  EXPECT_EQ(times[1], times[0]);
  EXPECT_EQ(times[2], times[0]);
}

}  // namespace
}  // namespace weft::test
