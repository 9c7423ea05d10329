// printf and malloc of a queue's kernels: the registers, the ring of text, heaps that queues share.
#include <random>

#include "host/command_bench.h"

namespace weft::test {
namespace {

constexpr std::uint64_t kOutput = kRam + 0x7'0000;
constexpr std::uint64_t kHeap = kDevice + 0x4'0000, kHeapBytes = 0x1000;
constexpr std::uint64_t kUntouched = 0x5A5A'5A5A'5A5A'5A5A;

class QueueRuntime : public Commands {
 public:
  // Gives queue `q` other registers.
  void set_output(std::uint64_t address, std::uint32_t bytes, unsigned q = 0) {
    bench.cpu.write64(WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO), address);
    bench.cpu.write32(WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_OUTPUT_BYTES), bytes);
  }
  void set_heap(std::uint64_t address, std::uint64_t bytes, unsigned q = 0) {
    bench.cpu.write64(WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_HEAP_BASE_LO), address);
    bench.cpu.write64(WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO), bytes);
  }
  bool switched(bool on, unsigned q = 0) {
    bench.cpu.write32(WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), on ? WEFT_QUEUE_ENABLE : 0);
    return (reg(WEFT_QUEUE(q, WEFT_QUEUE_CONTROL)) != 0) == on;
  }
  void open_with_output(std::uint32_t bytes, std::uint64_t address = kOutput) {
    ASSERT_TRUE(switched(false));
    set_output(address, bytes);
    ASSERT_TRUE(switched(true)) << bench.host.error_text();
  }
  execute::DeviceServices& services(unsigned q = 0) { return *bench.host.services(q); }
  // A kernel that prints this.
  void print(const std::vector<std::string>& texts, const Fault& fault = {}) {
    bench.ram.put<std::int64_t>(kSignal, 1);
    submit(dispatch_packet(1, 32));
    bench.wait_us(50);
    ASSERT_EQ(bench.gpu.running.size(), 1u) << bench.host.error_text();
    for (const std::string& text : texts) services().print(text);
    bench.gpu.finish(fault);
    const std::uint64_t written = output().written;
    while (signal() == 1) {
      if (output().written != written) seen_before_signal = true;
      bench.wait_us(0.001);
    }
    bench.wait_us(5);
  }
  weft_output output() { return bench.ram.get<weft_output>(kOutput); }
  std::string ring(std::uint32_t bytes) {
    const auto* const begin = reinterpret_cast<const char*>(&bench.ram.bytes[kOutput - kRam + 16]);
    return {begin, bytes - 16};
  }

  bool seen_before_signal = false;
};

TEST_F(QueueRuntime, RegistersKeepWhatIsWritten) {
  run([&] {
    set_output(0x1234'5678'9ABC'DEF0, 0x1357'9BDF, 3);
    set_heap(0x0FED'CBA9'8765'4321, 0x2468'ACE0'1122'3344, 3);
    const auto now = [&](std::uint64_t offset) { return reg(WEFT_QUEUE_RUNTIME(3, offset)); };
    EXPECT_EQ(now(WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO), 0x9ABC'DEF0u);
    EXPECT_EQ(now(WEFT_QUEUE_RUNTIME_OUTPUT_BASE_HI), 0x1234'5678u);
    EXPECT_EQ(now(WEFT_QUEUE_RUNTIME_OUTPUT_BYTES), 0x1357'9BDFu);
    EXPECT_EQ(now(WEFT_QUEUE_RUNTIME_HEAP_BASE_LO), 0x8765'4321u);
    EXPECT_EQ(now(WEFT_QUEUE_RUNTIME_HEAP_BASE_HI), 0x0FED'CBA9u);
    EXPECT_EQ(now(WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO), 0x1122'3344u);
    EXPECT_EQ(now(WEFT_QUEUE_RUNTIME_HEAP_BYTES_HI), 0x2468'ACE0u);
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME(2, WEFT_QUEUE_RUNTIME_OUTPUT_BYTES)), 0u);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u);
    set_output(kOutput, 1000);  // queue 0 is on
    expect_error(WEFT_ERROR_LOCKED, WEFT_QUEUE_RUNTIME(0, WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO),
                 "cannot be written now");
    EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME(0, WEFT_QUEUE_RUNTIME_OUTPUT_BYTES)), 0u);
  });
}

TEST_F(QueueRuntime, RangesThatMakeNoSenseAreRefused) {
  struct Case {
    std::uint64_t output, heap;
    std::uint32_t output_bytes;
    std::uint64_t heap_bytes;
    std::uint64_t where;  // 0: it is good
    const char* text = "";
  };
  const std::vector<Case> cases = {
      {kOutput, 0, 17, 0, 0},
      {kDevice, 0, kDeviceBytes, 0, 0},
      {kOutput + 4, 0, 100, 0, kOutput + 4, "an output of 100 bytes at 0x80070004; allowed: more than 16"},
      {kOutput, 0, 16, 0, kOutput, "an output of 16 bytes"},
      {kOutput, 0, 0, 0, kOutput, "an output of 0 bytes"},
      {0x1000, 0, 100, 0, 0x1000, "device memory or a window"},
      {kRam + kRamBytes - 96, 0, 100, 0, kRam + kRamBytes - 96, "an output of 100 bytes"},
      {0, kHeap, 0, 1, 0},
      {0, kDevice, 0, kDeviceBytes, 0},
      {0, kHeap + 128, 0, 1, kHeap + 128, "a heap of 1 bytes at 0x100040080; allowed: 1 or more bytes, at a"},
      {0, kHeap, 0, 0, kHeap, "a heap of 0 bytes"},
      {0, kRam, 0, 4096, kRam, "all of them in device memory"},
      {0, kHeap, 0, kDeviceBytes, kHeap, "a heap of 1048576 bytes"},
      {0, kHeap, 0, UINT64_MAX, kHeap, "a heap of 18446744073709551615 bytes"}};
  run([&] {
    for (const Case& c : cases) {
      ASSERT_TRUE(switched(false));
      set_output(c.output, c.output_bytes);
      set_heap(c.heap, c.heap_bytes);
      EXPECT_EQ(switched(true), c.where == 0) << c.text;
      if (c.where == 0) {
        EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << bench.host.error_text();
        EXPECT_NE(bench.host.services(0), nullptr);
      } else {
        expect_error(WEFT_ERROR_QUEUE, c.where, c.text);
        EXPECT_EQ(bench.host.services(0), nullptr);
      }
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    }
    set_output(0, 0);
    set_heap(0, 0);
    EXPECT_TRUE(switched(true));
    EXPECT_EQ(bench.host.services(0), nullptr);
  });
}

// The text of many kernels against a model of the ring, of many sizes.
TEST_F(QueueRuntime, TextGoesAroundTheRing) {
  std::mt19937 random(3);
  run([&] {
    for (const std::uint32_t bytes : {17u, 24u, 16u + 61, 16u + 1000}) {
      const std::uint64_t size = bytes - 16;
      bench.ram.put(kOutput, weft_output{0, 0});
      open_with_output(bytes);
      bench.ram.put(kOutput + bytes, kUntouched);
      std::string model = ring(bytes);
      std::uint64_t written = 0;
      for (unsigned kernel = 0; kernel < 12; ++kernel) {
        std::vector<std::string> texts(random() % 4);
        std::string all;
        for (std::string& text : texts) {
          text.assign(random() % (size / 3 + 1), static_cast<char>('a' + random() % 26));
          all += text;
        }
        seen_before_signal = false;
        print(texts);
        EXPECT_EQ(seen_before_signal, !all.empty());
        for (const char c : all) model[written++ % size] = c;
        ASSERT_EQ(output().written, written);
        ASSERT_EQ(output().lost, 0u);
        ASSERT_EQ(ring(bytes), model);
        ASSERT_EQ(bench.ram.get<std::uint64_t>(kOutput + bytes), kUntouched);
        ASSERT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << bench.host.error_text();
      }
    }
  });
}

// Of one kernel's text the newest calls that fit stay, and the others are counted.
TEST_F(QueueRuntime, WhatDoesNotFitIsLost) {
  bench.ram.put(kOutput, weft_output{0, 5});
  run([&] {
    open_with_output(16 + 8);
    print({"old", "abcd", "efgh"});
    EXPECT_EQ(ring(24), "abcdefgh");
    EXPECT_EQ(output().written, 8u);
    EXPECT_EQ(output().lost, 6u);
    print({"nine char"});
    EXPECT_EQ(ring(24), "abcdefgh");
    EXPECT_EQ(output().written, 8u);
    EXPECT_EQ(output().lost, 7u);
    print({"x"});
    EXPECT_EQ(ring(24), "xbcdefgh");
    EXPECT_EQ(output().lost, 7u);
  });
}

TEST_F(QueueRuntime, TextOfAKernelThatFaultsArrives) {
  run([&] {
    open_with_output(16 + 8);
    print({"oh no"}, {FaultKind::kTrap, "trap"});
    EXPECT_TRUE(seen_before_signal);
    EXPECT_EQ(signal(), -WEFT_ERROR_FAULT);
    EXPECT_EQ(output().written, 5u);
    EXPECT_EQ(ring(24).substr(0, 5), "oh no");
    expect_error(WEFT_ERROR_FAULT, 0, "trap");
  });
}

TEST_F(QueueRuntime, AnOutputOfKernelsThatPrintNothingIsNotTouched) {
  bench.ram.bad_begin = kOutput;
  bench.ram.bad_end = kOutput + 24;
  run([&] {
    open_with_output(16 + 8);
    print({});
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << bench.host.error_text();
  });
}

// The bus refuses the numbers, or the text. A fault of the kernel goes before.
TEST_F(QueueRuntime, AnOutputThatTheBusRefusesFailsThePacket) {
  run([&] {
    for (const std::uint64_t bad : {kOutput, kOutput + 16}) {
      bench.ram.bad_begin = bad;
      bench.ram.bad_end = bad + 8;
      open_with_output(16 + 8);
      print({"text"});
      expect_error(WEFT_ERROR_BUS, bad, bad == kOutput ? "a read was refused" : "a write was refused");
      EXPECT_EQ(signal(), -WEFT_ERROR_BUS);
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
      open_with_output(16 + 8);
      print({"text"}, {FaultKind::kTrap, "trap"});
      expect_error(WEFT_ERROR_FAULT, 0, "trap");
      EXPECT_EQ(signal(), -WEFT_ERROR_FAULT);
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    }
  });
}

TEST_F(QueueRuntime, WithoutOutputTextGoesNowhere) {
  run([&] {
    ASSERT_TRUE(switched(false));
    set_heap(kHeap, kHeapBytes);
    ASSERT_TRUE(switched(true));
    print({"text"});
    EXPECT_EQ(signal(), 0);
    EXPECT_EQ(output().written, 0u);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u);
  });
}

TEST_F(QueueRuntime, WithoutHeapThereIsNoMemory) {
  run([&] {
    open_with_output(100);
    EXPECT_EQ(services().allocate(16), 0u);
    EXPECT_FALSE(services().release(kHeap));
  });
}

// Queues with the same range share what is allocated; it lives as long as one of them is on.
TEST_F(QueueRuntime, QueuesShareAHeap) {
  run([&] {
    bench.open_queue(1, kRing + 0x200);
    bench.open_queue(2, kRing + 0x400);
    for (unsigned q = 0; q < 3; ++q) {
      ASSERT_TRUE(switched(false, q));
      set_heap(q == 2 ? kHeap + kHeapBytes : kHeap, kHeapBytes, q);
      ASSERT_TRUE(switched(true, q)) << bench.host.error_text();
    }
    EXPECT_EQ(services(0).allocate(kHeapBytes - 16), kHeap);
    EXPECT_EQ(services(1).allocate(32), 0u);
    EXPECT_EQ(services(1).allocate(16), kHeap + kHeapBytes - 16);
    EXPECT_EQ(services(2).allocate(32), kHeap + kHeapBytes);  // its own
    EXPECT_FALSE(services(2).release(kHeap));
    ASSERT_TRUE(switched(false, 0));
    EXPECT_EQ(services(1).allocate(16), 0u) << "still full";
    ASSERT_TRUE(switched(true, 0));
    EXPECT_EQ(services(0).allocate(16), 0u) << "joined again";
    EXPECT_TRUE(services(1).release(kHeap));
    EXPECT_EQ(services(0).allocate(16), kHeap);
    ASSERT_TRUE(switched(false, 0));
    ASSERT_TRUE(switched(false, 1));
    ASSERT_TRUE(switched(true, 1));
    EXPECT_EQ(services(1).allocate(kHeapBytes), kHeap) << "a new one";
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << bench.host.error_text();
  });
}

TEST_F(QueueRuntime, HeapsDoNotOverlap) {
  run([&] {
    ASSERT_TRUE(switched(false));
    set_heap(kHeap, kHeapBytes);
    ASSERT_TRUE(switched(true));
    bench.open_queue(1, kRing + 0x200);
    ASSERT_TRUE(switched(false, 1));
    for (const auto& [base, bytes] : {std::pair{kHeap, kHeapBytes + 256},
                                      {kHeap, kHeapBytes - 256},
                                      {kHeap + 256, kHeapBytes - 256},
                                      {kHeap - 256, std::uint64_t{257}}}) {
      set_heap(base, bytes, 1);
      EXPECT_FALSE(switched(true, 1));
      expect_error(WEFT_ERROR_QUEUE, base, "overlaps another one of an enabled queue");
      bench.cpu.write32(WEFT_REG_ERROR_CODE, 0);
    }
    set_heap(kHeap - 256, 256, 1);
    EXPECT_TRUE(switched(true, 1));
    ASSERT_TRUE(switched(false, 1));
    ASSERT_TRUE(switched(false, 0));
    set_heap(kHeap + 256, kHeapBytes, 1);  // the other queue is off
    EXPECT_TRUE(switched(true, 1)) << bench.host.error_text();
  });
}

TEST_F(QueueRuntime, AResetForgetsAll) {
  run([&] {
    ASSERT_TRUE(switched(false));
    set_output(kOutput, 100);
    set_heap(kHeap, kHeapBytes);
    ASSERT_TRUE(switched(true));
    EXPECT_EQ(services().allocate(kHeapBytes), kHeap);
    services().print("before");
    bench.cpu.write32(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    bench.wait_us(1);
    for (const host::RegisterEntry& entry : host::queue_runtime_registers())
      EXPECT_EQ(reg(WEFT_QUEUE_RUNTIME(0, entry.offset)), 0u) << entry.name;
    EXPECT_EQ(bench.host.services(0), nullptr);
    bench.open_window();
    set_output(kOutput, 100);
    set_heap(kHeap, kHeapBytes);
    bench.open_queue(0, kRing);
    EXPECT_EQ(services().allocate(kHeapBytes), kHeap);
    print({"after"});
    EXPECT_EQ(output().written, 5u);
    EXPECT_EQ(ring(100).substr(0, 5), "after");
  });
}

}  // namespace
}  // namespace weft::test
