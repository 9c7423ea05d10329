// Queues, packets, signals, interrupts: what a driver does and sees, with a GPU whose kernels end on command.
#include "host/command_bench.h"

namespace weft::test {
namespace {

TEST_F(Commands, ADispatchBecomesALaunch) {
  run([&] {
    bench.cpu.write32(WEFT_REG_IRQ_ENABLE, WEFT_IRQ_COMPLETION);
    EXPECT_FALSE(bench.gpu.mapped && bench.gpu.running.empty() == false);
    weft_kernel_dispatch_packet packet = dispatch_packet(5, 64);
    packet.setup = 2;
    packet.workgroup_size[1] = 2;
    packet.grid_size[1] = 6;
    packet.group_segment_size = 96;
    packet.private_segment_size = 100;
    packet.header |= WEFT_PACKET_BARRIER_BIT | 0x1400;
    submit(packet);
    bench.wait_us(50);
    ASSERT_EQ(bench.gpu.running.size(), 1u);
    const dispatch::Launch& launch = bench.gpu.running[0].launch;
    EXPECT_EQ(launch.program->name, "fill");
    EXPECT_EQ(launch.grid, (dispatch::Dim3{5, 3, 1}));
    EXPECT_EQ(launch.block, (dispatch::Dim3{64, 2, 1}));
    EXPECT_EQ(launch.dynamic_shared, 96u);
    EXPECT_EQ(launch.stack_bytes, 112u);
    EXPECT_EQ(bench.gpu.running[0].queue, 0u);
    // out and factor, and as they lie in the queue's scratch.
    const std::vector<std::uint8_t> parameters = {0, 0, 2, 0, 1, 0, 0, 0, 3, 0, 0, 0};
    EXPECT_EQ(launch.parameters, parameters);
    EXPECT_EQ(launch.parameter_address, kDevice + kDeviceBytes / 2);
    EXPECT_EQ(std::memcmp(&bench.device.bytes[kDeviceBytes / 2], parameters.data(), 12), 0);
    // The module's one variable comes first in its memory, the code 256 bytes behind it.
    EXPECT_EQ(bench.device.get<std::uint32_t>(kModuleMemory - kDevice), 5u);
    EXPECT_EQ(launch.code_address, kModuleMemory + 256);
    EXPECT_EQ(launch.local_address, 0u);
    EXPECT_TRUE(bench.gpu.mapped);
    EXPECT_EQ(reg(WEFT_REG_STATUS), WEFT_STATUS_BUSY);
    EXPECT_EQ(queue(WEFT_QUEUE_STATUS), WEFT_QUEUE_STATUS_ENABLED | WEFT_QUEUE_STATUS_BUSY);
    EXPECT_EQ(signal(), 1);
    EXPECT_FALSE(bench.irq.read());

    bench.gpu.finish();
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 1u);
    EXPECT_EQ(bench.ram.get<std::uint16_t>(kRing), WEFT_PACKET_INVALID);
    EXPECT_TRUE(bench.irq.read());
    EXPECT_EQ(reg(WEFT_REG_IRQ_STATUS), WEFT_IRQ_COMPLETION);
    EXPECT_EQ(reg(WEFT_REG_STATUS), 0u);
    bench.cpu.write32(WEFT_REG_IRQ_STATUS, WEFT_IRQ_COMPLETION);
    sc_core::wait(sc_core::SC_ZERO_TIME);
    EXPECT_FALSE(bench.irq.read());
  });
}

// The second dispatch of a kernel object reads the packet and the parameters: 1 + 1 bursts, and nothing of
// the object, the text or the name.
TEST_F(Commands, KernelsAreKeptUntilInvalidated) {
  run([&] {
    const auto reads_of_a_dispatch = [&] {
      const std::uint64_t before = bench.ram.accesses;
      weft_kernel_dispatch_packet packet = dispatch_packet(1, 32, 0);
      submit(packet);
      bench.wait_us(50);
      bench.gpu.finish();
      bench.wait_us(5);
      return bench.ram.accesses - before;
    };
    // Packet, object, text in bursts of 128 bytes, name, parameters; then the packet's header.
    const std::uint64_t text = (std::strlen(kFillText) + 127) / 128;
    EXPECT_EQ(reads_of_a_dispatch(), 1 + 1 + text + 1 + 1 + 1);
    EXPECT_EQ(reads_of_a_dispatch(), 1 + 1 + 1u);
    bench.device.put<std::uint32_t>(kModuleMemory - kDevice, 77);
    EXPECT_EQ(reads_of_a_dispatch(), 3u);
    EXPECT_EQ(bench.device.get<std::uint32_t>(kModuleMemory - kDevice), 77u);
    bench.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_INVALIDATE);
    EXPECT_EQ(reads_of_a_dispatch(), 5 + text);
    EXPECT_EQ(bench.device.get<std::uint32_t>(kModuleMemory - kDevice), 5u);
  });
}

// Without debug transport each dispatch reads the object, one burst more, and sees that it is another one.
TEST_F(Commands, ChangedObjectsAreSeenWithoutDebugTransport) {
  bench.ram.answers_debug = false;
  run([&] {
    const auto accesses = [&] {
      const std::uint64_t before = bench.ram.accesses;
      submit(dispatch_packet(1, 32, 0));
      bench.wait_us(50);
      bench.gpu.finish();
      bench.wait_us(5);
      return bench.ram.accesses - before;
    };
    accesses();
    EXPECT_EQ(accesses(), 4u);  // packet, object, parameters; then the packet's header
    auto object = bench.ram.get<weft_kernel_object>(kObject);
    object.ptx_bytes = 0;
    bench.ram.put(kObject, object);
    submit(dispatch_packet(1, 32, 0));
    bench.wait_us(50);
    expect_error(WEFT_ERROR_KERNEL_OBJECT, kObject, "PTX of 0");
  });
}

// The object of another kernel, another name or another text at the same place: the next dispatch runs that.
TEST_F(Commands, ChangedKernelsAreLoadedAnew) {
  run([&] {
    const auto runs = [&] {
      submit(dispatch_packet(1, 32, 0));
      bench.wait_us(50);
      EXPECT_EQ(bench.gpu.running.size(), 1u) << bench.host.error_text();
      if (bench.gpu.running.empty()) return std::string();
      const auto program = bench.gpu.running[0].launch.program;
      bench.gpu.finish();
      bench.wait_us(5);
      return program->name + " " + std::to_string(program->code.size());
    };
    const std::string fill = runs();
    EXPECT_EQ(fill.substr(0, 5), "fill ");
    const std::uint64_t other_name = kName + 0x40;
    bench.ram.put_bytes(other_name, "nothing", 7);
    auto object = bench.ram.get<weft_kernel_object>(kObject);
    object.name_address = other_name, object.name_bytes = 7;
    bench.ram.put(kObject, object);
    EXPECT_EQ(runs(), "nothing 1");
    put_kernel(bench.ram, "fill");
    EXPECT_EQ(runs(), fill);
    object = bench.ram.get<weft_kernel_object>(kObject);
    // The same object, but a letter of the text: `bias` begins at 6, and both kernels see it.
    std::string text = kFillText;
    text[text.find("bias = 5") + 7] = '6';
    bench.ram.put_bytes(kText, text.data(), text.size());
    EXPECT_EQ(runs(), fill);
    EXPECT_EQ(bench.device.get<std::uint32_t>(kModuleMemory - kDevice), 6u);
    bench.device.put<std::uint32_t>(kModuleMemory - kDevice, 77);
    EXPECT_EQ(runs(), fill);
    EXPECT_EQ(bench.device.get<std::uint32_t>(kModuleMemory - kDevice), 77u) << "unchanged, so not loaded";
    // The object is none any more.
    object.magic = 0;
    bench.ram.put(kObject, object);
    submit(dispatch_packet(1, 32, 0));
    bench.wait_us(50);
    expect_error(WEFT_ERROR_KERNEL_OBJECT, kObject, "magic");
  });
}

TEST_F(Commands, ArgumentsInDeviceMemoryAreUsedWhereTheyAre) {
  run([&] {
    weft_kernel_dispatch_packet packet = dispatch_packet(1, 32);
    packet.kernarg_address = kDevice + 0x300;
    bench.device.put<std::uint64_t>(0x300, 0xABCD);
    submit(packet);
    bench.wait_us(50);
    ASSERT_EQ(bench.gpu.running.size(), 1u);
    EXPECT_EQ(bench.gpu.running[0].launch.parameter_address, kDevice + 0x300);
    EXPECT_EQ(bench.gpu.running[0].launch.parameters[0], 0xCD);
    EXPECT_EQ(bench.gpu.running[0].launch.parameters[1], 0xAB);
    bench.gpu.finish();
    bench.wait_us(5);
  });
}

TEST_F(Commands, LocalVariablesLieBehindTheParameters) {
  run([&] {
    // 16 bytes a thread; the bench's GPU wants a thousand times as much.
    put_kernel(bench.ram, "fill", R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 factor) {
  .local .b32 spill[4]; .reg .b64 %rd<3>; .reg .b32 %r<3>;
  mov.u64 %rd1, spill; ld.param.u32 %r1, [factor]; st.local.u32 [%rd1], %r1; ret;
}
)");
    const auto with_scratch = [&](std::uint64_t bytes) {
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
      bench.cpu.write64(WEFT_QUEUE(0, WEFT_QUEUE_SCRATCH_BYTES_LO), bytes);
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    };
    with_scratch(16'255);
    submit(dispatch_packet(1, 32));
    bench.wait_us(50);
    expect_error(WEFT_ERROR_MEMORY, kRing, "need 16256 bytes");  // 256 for the parameters
    with_scratch(16'256);
    bench.ram.put<std::int64_t>(kSignal, 1);
    submit(dispatch_packet(1, 32));
    bench.wait_us(50);
    ASSERT_EQ(bench.gpu.running.size(), 1u);
    EXPECT_EQ(bench.gpu.running[0].launch.local_address, kDevice + kDeviceBytes / 2 + 256);
    bench.gpu.finish();
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
  });
}

// A block whose threads cannot have all registers gets a program that spills, decoded once, with code of its
// own.
TEST_F(Commands, LargeBlocksGetAProgramOfFewerRegisters) {
  run([&] {
    std::string text =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry fill(.param .u64 out, .param .u32 factor) {\n"
        ".reg .b64 %rd<2>; .reg .b32 %r<32>;\nld.param.u64 %rd1, [out];\n";
    for (int i = 0; i < 30; ++i) text += "ld.global.u32 %r" + std::to_string(i) + ", [%rd1];\n";
    for (int i = 0; i < 30; ++i) text += "st.global.u32 [%rd1], %r" + std::to_string(i) + ";\n";
    put_kernel(bench.ram, "fill", text + "ret;\n}\n");
    bench.gpu.registers_of_large_blocks = 30;
    std::vector<dispatch::Launch> launches;
    for (const std::uint16_t threads : {128, 64, 256}) {
      bench.ram.put<std::int64_t>(kSignal, 1);
      submit(dispatch_packet(1, threads));
      bench.wait_us(50);
      ASSERT_EQ(bench.gpu.running.size(), 1u);
      launches.push_back(bench.gpu.running[0].launch);
      bench.gpu.finish();
      bench.wait_us(5);
    }
    EXPECT_LE(launches[0].program->registers_per_thread, 30u);
    EXPECT_GT(launches[0].program->spill_loads, 0u);
    EXPECT_NE(launches[0].local_address, 0u);
    EXPECT_GT(launches[1].program->registers_per_thread, 30u);
    EXPECT_EQ(launches[1].local_address, 0u);
    EXPECT_NE(launches[1].code_address, launches[0].code_address);
    EXPECT_EQ(launches[2].program, launches[0].program);
    EXPECT_EQ(launches[2].code_address, launches[0].code_address);
  });
}

TEST_F(Commands, CopiesReachEverywhere) {
  run([&] {
    for (unsigned i = 0; i < 1000; ++i) bench.ram.bytes[0x2'0000 + i] = static_cast<unsigned char>(i * 7);
    bench.ram.put<std::int64_t>(kSignal, 3);
    submit(copy_packet(kRam + 0x2'0000, kDevice + 0x3'0003, 1000));     // in
    submit(copy_packet(kDevice + 0x3'0003, kDevice + 0x4'0100, 1000));  // within
    submit(copy_packet(kDevice + 0x4'0100, kRam + 0x3'0001, 1000));     // out
    submit(copy_packet(0, 0, 0, 0));                                    // of nothing
    bench.wait_us(100);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 4u);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(std::memcmp(&bench.ram.bytes[0x2'0000], &bench.ram.bytes[0x3'0001], 1000), 0);
    EXPECT_EQ(bench.ram.bytes[0x3'0000], 0);
    EXPECT_EQ(bench.ram.bytes[0x3'0001 + 1000], 0);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u);
  });
}

TEST_F(Commands, BarriersWaitForSignals) {
  run([&] {
    const auto waits = [&](std::uint16_t type, std::int64_t first, std::int64_t second) {
      bench.ram.put<std::int64_t>(kSignal + 8, first);
      bench.ram.put<std::int64_t>(kSignal + 16, second);
      submit(barrier_packet(type, kSignal + 8, kSignal + 16, 0));
      bench.wait_us(20);
      const bool waiting = (queue(WEFT_QUEUE_STATUS) & WEFT_QUEUE_STATUS_BUSY) != 0;
      bench.ram.put<std::int64_t>(kSignal + 8, 0);
      bench.ram.put<std::int64_t>(kSignal + 16, 0);
      bench.wait_us(5);
      EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), submitted_);
      return waiting;
    };
    EXPECT_FALSE(waits(WEFT_PACKET_BARRIER_AND, 0, 0));
    EXPECT_TRUE(waits(WEFT_PACKET_BARRIER_AND, 1, 0));
    EXPECT_TRUE(waits(WEFT_PACKET_BARRIER_AND, 0, 1));
    EXPECT_FALSE(waits(WEFT_PACKET_BARRIER_OR, 0, 1));
    EXPECT_FALSE(waits(WEFT_PACKET_BARRIER_OR, 1, 0));
    EXPECT_TRUE(waits(WEFT_PACKET_BARRIER_OR, 1, 1));
    submit(barrier_packet(WEFT_PACKET_BARRIER_AND, 0, 0));
    submit(barrier_packet(WEFT_PACKET_BARRIER_OR, 0, 0, 0));
    bench.wait_us(5);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 8u);
    EXPECT_EQ(signal(), 0);
  });
}

// All queues decrement one signal at the same time; none of their decrements is lost.
TEST_F(Commands, QueuesShareASignal) {
  constexpr std::uint32_t kQueues = 4, kPackets = 8;
  run([&] {
    bench.ram.put<std::int64_t>(kSignal, kQueues * kPackets);
    for (std::uint32_t q = 0; q < kQueues; ++q) {
      if (q != 0) bench.open_queue(q, kRing + 0x200 * q);
      for (std::uint32_t i = 0; i < kPackets; ++i)
        bench.put_packet(kRing + 0x200 * q, i, copy_packet(kRam, kDevice + 0x1000 * q, 64));
    }
    for (std::uint32_t q = 0; q < kQueues; ++q) bench.doorbell(q, kPackets);
    bench.wait_us(60);
    EXPECT_EQ(signal(), 0);
    for (std::uint32_t q = 0; q < kQueues; ++q)
      EXPECT_EQ(reg(WEFT_QUEUE(q, WEFT_QUEUE_READ_INDEX)), kPackets);
    // The negative value of one that fails is not overwritten by one that is done.
    bench.ram.put<std::int64_t>(kSignal, 2);
    auto bad = dispatch_packet(1, 32);
    bad.setup = 4;
    for (std::uint32_t q = 0; q < 2; ++q)
      bench.put_packet(kRing + 0x200 * q, kPackets, copy_packet(kRam, kDevice, 64));
    bench.put_packet(kRing, kPackets, bad);
    for (std::uint32_t q = 0; q < 2; ++q) bench.doorbell(q, kPackets + 1);
    bench.wait_us(20);
    EXPECT_LT(signal(), 0);
  });
}

// The signal of one queue's copy lets the other queue's barrier go.
TEST_F(Commands, QueuesWaitForEachOther) {
  run([&] {
    bench.open_queue(1, kRing + 0x200);
    bench.ram.put<std::int64_t>(kSignal + 8, 1);
    bench.put_packet(kRing + 0x200, 0, barrier_packet(WEFT_PACKET_BARRIER_AND, kSignal + 8, 0, kSignal));
    bench.doorbell(1, 1);
    bench.wait_us(5);
    EXPECT_EQ(signal(), 1);
    submit(copy_packet(kRam, kDevice, 64, kSignal + 8));
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(reg(WEFT_QUEUE(1, WEFT_QUEUE_READ_INDEX)), 1u);
  });
}

TEST_F(Commands, TheHeaderIsPublishedLast) {
  run([&] {
    weft_copy_packet packet = copy_packet(kRam, kDevice, 64);
    packet.header = WEFT_PACKET_INVALID;
    submit(packet);
    bench.wait_us(5);
    EXPECT_EQ(signal(), 1);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u);
    bench.ram.put<std::uint16_t>(kRing, WEFT_PACKET_VENDOR);
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);
  });
}

// The index passes 2^16 packets of a ring of 8 and the doorbell's 32 bits: the model is a counter.
TEST_F(Commands, RingsWrapAround) {
  run([&] {
    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
    bench.cpu.write64(WEFT_QUEUE(0, WEFT_QUEUE_READ_POINTER_LO), kSignal + 64);
    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    bench.ram.put<std::int64_t>(kSignal, 100);
    std::uint32_t written = 0;
    for (int round = 0; written < 100; ++round) {
      const std::uint32_t now = std::min(1u + static_cast<std::uint32_t>(round % 8), 100 - written);
      for (std::uint32_t i = 0; i < now; ++i) {
        bench.put_packet(kRing, written + i, copy_packet(kRam, kDevice + 0x1000, 8));
      }
      written += now;
      bench.doorbell(0, written);
      bench.wait_us(15);
      ASSERT_EQ(queue(WEFT_QUEUE_READ_INDEX), written);
      ASSERT_EQ(bench.ram.get<std::uint64_t>(kSignal + 64), written);
    }
    EXPECT_EQ(signal(), 0);
  });
}

TEST_F(Commands, DoorbellStorm) {
  run([&] {
    bench.ram.put<std::int64_t>(kSignal, 8);
    for (unsigned i = 0; i < 8; ++i) bench.put_packet(kRing, i, copy_packet(kRam, kDevice + 0x1000, 200));
    for (std::uint32_t i = 0; i < 400; ++i) bench.doorbell(0, std::min(1 + i / 10, 8u));
    bench.wait_us(20);
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 8u);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u);
    for (std::uint32_t bad : {17u, 7u, 0u, 0x8000'0008u, 0xFFFF'FFFFu}) {
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      bench.doorbell(0, bad);
      expect_error(WEFT_ERROR_DOORBELL, bad, "write index");
      EXPECT_EQ(reg(WEFT_REG_ERROR_QUEUE), 0u);
    }
    bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    bench.doorbell(2, 1);
    expect_error(WEFT_ERROR_DOORBELL, 1, "off");
    EXPECT_EQ(reg(WEFT_REG_ERROR_QUEUE), 2u);
    bench.wait_us(20);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 8u);
  });
}

TEST_F(Commands, WindowsAreChecked) {
  struct Case {
    std::uint64_t base, bytes;
    bool good;
  };
  const std::vector<Case> cases = {
      {0x9000'0000, 0x1000, true},
      {0x9000'0000, 0, false},
      {0x9000'0800, 0x1000, false},
      {0x9000'0000, 0x800, false},
      {kRam - 0x1000, 0x1000, true},
      {kRam - 0x1000, 0x2000, false},
      {kRam + 0xFF000, 0x2000, false},
      {kDevice - 0x1000, 0x1000, true},
      {kDevice - 0x1000, 0x2000, false},
      {kDevice + kDeviceBytes, 0x1000, true},
      {0x0100'0000, 0x1000, false},
      {0x02FF'F000, 0x1000, false},
      {0x0300'0000, 0x1000, true},
      {0, 0x0100'0000, true},
      {0, 0x0100'1000, false},
      {(1ull << 58) - 0x1000, 0x1000, true},
      {(1ull << 58) - 0x1000, 0x2000, false},
      {0xFFFF'FFFF'FFFF'F000, 0x1000, false},
  };
  run([&] {
    for (const Case& c : cases) {
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      bench.cpu.write64(WEFT_WINDOW(2, WEFT_WINDOW_BASE_LO), c.base);
      bench.cpu.write64(WEFT_WINDOW(2, WEFT_WINDOW_BYTES_LO), c.bytes);
      bench.cpu.write32(WEFT_WINDOW(2, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
      EXPECT_EQ(reg(WEFT_WINDOW(2, WEFT_WINDOW_CONTROL)), c.good ? WEFT_WINDOW_ENABLE : 0u)
          << std::hex << c.base;
      EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), c.good ? WEFT_ERROR_NONE : WEFT_ERROR_WINDOW) << std::hex << c.base;
      EXPECT_EQ(bench.gpu.windows[2].second, c.good ? c.bytes : 0) << std::hex << c.base;
      if (c.good) {
        EXPECT_EQ(bench.gpu.windows[2].first, c.base);
        bench.cpu.write32(WEFT_WINDOW(2, WEFT_WINDOW_BASE_LO), 0);  // fixed while it is on
        EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), static_cast<std::uint32_t>(WEFT_ERROR_LOCKED));
        EXPECT_EQ(reg(WEFT_WINDOW(2, WEFT_WINDOW_BASE_LO)), static_cast<std::uint32_t>(c.base));
      } else {
        EXPECT_EQ(error_address(), c.base);
        EXPECT_EQ(bench.host.error_text().rfind("window 2", 0), 0u) << bench.host.error_text();
      }
      bench.cpu.write32(WEFT_WINDOW(2, WEFT_WINDOW_CONTROL), 0);
      EXPECT_EQ(bench.gpu.windows[2].second, 0u);
    }
  });
}

TEST_F(Commands, RingsOutOfRangeAreRefused) {
  struct Case {
    std::uint64_t base;
    std::uint32_t packets;
    bool good;
  };
  const std::vector<Case> cases = {
      {kRam, 1, true},
      {kRam, 0, false},
      {kRam, 3, false},
      {kRam + 32, 2, false},
      {kRam, 0x4000, true},
      {kRam, 0x8000, false},
      {kRam, 0x8000'0000, false},
      {kRam + kRamBytes - 64, 1, true},
      {kRam + kRamBytes - 64, 2, false},
      {kRam + kRamBytes, 1, false},
      {kDevice, 0x4000, true},
      {kDevice - 64, 2, false},
      {0, 1, false},
      {0xFFFF'FFFF'FFFF'FFC0, 1, false},
      {0xFFFF'FFFF'FFFF'FFC0, 2, false},
  };
  run([&] {
    for (const Case& c : cases) {
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      bench.open_queue(3, c.base, c.packets);
      EXPECT_EQ(reg(WEFT_QUEUE(3, WEFT_QUEUE_CONTROL)), c.good ? 1u : 0u)
          << std::hex << c.base << " " << c.packets;
      EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), c.good ? WEFT_ERROR_NONE : WEFT_ERROR_QUEUE) << std::hex << c.base;
      bench.cpu.write32(WEFT_QUEUE(3, WEFT_QUEUE_CONTROL), 0);
    }
    bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_RING_PACKETS), 4);  // of a queue that is on
    expect_error(WEFT_ERROR_LOCKED, WEFT_QUEUE(0, WEFT_QUEUE_RING_PACKETS), "cannot be written now");
    EXPECT_EQ(queue(WEFT_QUEUE_RING_PACKETS), 8u);
  });
}

// The faulting kernel's queue stops, and says where. The other queue and device memory go on; then this one
// does too, with the packet behind.
TEST_F(Commands, AFaultStopsItsQueueOnly) {
  const Fault fault{
      FaultKind::kMisalignedAddress, "the kernel went wrong", {7, {1, 2, 3}, {4, 5, 6}}, 0x1'0000'0003};
  run([&] {
    bench.cpu.write32(WEFT_REG_IRQ_ENABLE, WEFT_IRQ_FAULT);
    bench.open_queue(1, kRing + 0x200);
    const auto why = [&](unsigned q, std::uint64_t offset) { return reg(WEFT_QUEUE_FAULT(q, offset)); };
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_CODE), 0u);
    submit(dispatch_packet(1, 32));
    submit(dispatch_packet(2, 32, kSignal + 8));
    bench.ram.put<std::int64_t>(kSignal + 8, 1);
    bench.wait_us(50);
    bench.gpu.finish(fault);
    bench.wait_us(5);
    EXPECT_TRUE(bench.irq.read());
    expect_error(WEFT_ERROR_FAULT, 0x1'0000'0003, "went wrong");
    EXPECT_EQ(reg(WEFT_REG_ERROR_QUEUE), 0u);
    EXPECT_EQ(reg(WEFT_REG_STATUS), WEFT_STATUS_FAULT);
    EXPECT_EQ(reg(WEFT_REG_IRQ_STATUS), WEFT_IRQ_FAULT | WEFT_IRQ_ERROR);
    EXPECT_EQ(signal(), -WEFT_ERROR_FAULT);
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_CODE), static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_KIND), static_cast<std::uint32_t>(WEFT_FAULT_MISALIGNED_ADDRESS));
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_ADDRESS_LO), 3u);
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_ADDRESS_HI), 1u);
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_PC), 7u);
    for (std::uint32_t d = 0; d < 3; ++d) {
      EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_THREAD_X + 4 * d), 1 + d);
      EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_BLOCK_X + 4 * d), 4 + d);
    }
    EXPECT_EQ(queue(WEFT_QUEUE_STATUS), WEFT_QUEUE_STATUS_ENABLED | WEFT_QUEUE_STATUS_ERROR);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 1u);
    EXPECT_EQ(bench.ram.get<std::uint16_t>(kRing), WEFT_PACKET_INVALID);
    EXPECT_TRUE(bench.gpu.running.empty()) << "the packet behind waits";

    bench.put_packet(kRing + 0x200, 0, copy_packet(kRam, kDevice, 8, kSignal + 16));
    bench.ram.put<std::int64_t>(kSignal + 16, 1);
    bench.doorbell(1, 1);
    bench.wait_us(5);
    EXPECT_EQ(signal(2), 0);
    EXPECT_EQ(why(1, WEFT_QUEUE_FAULT_CODE), 0u);

    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_CODE), static_cast<std::uint32_t>(WEFT_ERROR_FAULT));
    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    EXPECT_EQ(why(0, WEFT_QUEUE_FAULT_CODE), 0u);
    bench.wait_us(5);
    ASSERT_EQ(bench.gpu.running.size(), 1u);
    EXPECT_EQ(bench.gpu.running[0].launch.grid[0], 2u);
    bench.gpu.finish();
    bench.wait_us(5);
    EXPECT_EQ(signal(1), 0);
    EXPECT_EQ(queue(WEFT_QUEUE_READ_INDEX), 2u);
    EXPECT_EQ(signal(), -WEFT_ERROR_FAULT);
    EXPECT_EQ(bench.gpu.resets, 0);
  });
}

// A fault that did not come from a packet has stopped the whole GPU: kernels of packets fail at once.
TEST_F(Commands, AStoppedGpuFailsPackets) {
  run([&] {
    bench.gpu.gpu_fault = {FaultKind::kHang, "all stands still"};
    submit(dispatch_packet(1, 32));
    bench.wait_us(50);
    expect_error(WEFT_ERROR_FAULT, 0, "stands still");
    EXPECT_EQ(signal(), -WEFT_ERROR_FAULT);
    EXPECT_EQ(reg(WEFT_QUEUE_FAULT(0, WEFT_QUEUE_FAULT_PC)), WEFT_NO_PC);
    EXPECT_TRUE(bench.gpu.running.empty());
    bench.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    bench.wait_us(5);
    EXPECT_EQ(reg(WEFT_REG_STATUS), 0u);
  });
}

// Who waits for what has failed fails too: a barrier for all signals at the first that is negative, one for
// any signal when all are.
TEST_F(Commands, BarriersDoNotWaitForWhatHasFailed) {
  constexpr std::uint64_t kFirst = kSignal + 8, kSecond = kSignal + 16;
  run([&] {
    const auto again = [&] {
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
      bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
      bench.ram.put<std::int64_t>(kSignal, 1);
    };
    bench.ram.put<std::int64_t>(kFirst, 1);
    bench.ram.put<std::int64_t>(kSecond, -WEFT_ERROR_FAULT);
    submit(barrier_packet(WEFT_PACKET_BARRIER_OR, kFirst, kSecond));
    bench.wait_us(5);
    EXPECT_EQ(signal(), 1) << "the first may still become 0";
    bench.ram.put<std::int64_t>(kFirst, 0);
    bench.wait_us(5);
    EXPECT_EQ(signal(), 0);

    again();
    bench.ram.put<std::int64_t>(kFirst, -1);
    submit(barrier_packet(WEFT_PACKET_BARRIER_OR, kFirst, kSecond));
    bench.wait_us(5);
    expect_error(WEFT_ERROR_DEPENDENCY, kSecond, "dep_signal is -10");
    EXPECT_EQ(signal(), -WEFT_ERROR_DEPENDENCY);

    again();
    bench.ram.put<std::int64_t>(kFirst, 1);
    bench.ram.put<std::int64_t>(kSecond, 1);
    submit(barrier_packet(WEFT_PACKET_BARRIER_AND, kFirst, kSecond));
    bench.wait_us(5);
    EXPECT_EQ(signal(), 1);
    bench.ram.put<std::int64_t>(kFirst, -1);
    bench.wait_us(5);
    expect_error(WEFT_ERROR_DEPENDENCY, kFirst, "dep_signal is -1");
    EXPECT_EQ(signal(), -WEFT_ERROR_DEPENDENCY);
  });
}

}  // namespace
}  // namespace weft::test
