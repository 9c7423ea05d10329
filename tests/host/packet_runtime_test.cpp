// Kernels of packets that print, allocate and free, and their times, on a whole GPU: with and without timing,
// and with and without direct access to system memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bus/picoseconds.h"
#include "host/gpu_machine.h"

namespace weft::test::packet_runtime_test {
namespace {

// `say`: thread i prints "thread i" and a line end. `take`: out[i] is the address of 32 bytes that hold i.
// `give`: frees the address in out[i]. `wrong`: prints, and then frees what malloc did not give.
const char* const kText = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 arguments);
.extern .func (.param .b64 pointer) malloc (.param .b64 bytes);
.extern .func free (.param .b64 pointer);
.global .align 1 .b8 line[11] = {116, 104, 114, 101, 97, 100, 32, 37, 100, 10, 0};
.visible .entry say(.param .u64 out, .param .u32 factor) {
  .local .align 8 .b8 stack[8]; .reg .b32 %r<4>; .reg .b64 %rd<6>;
  mov.u32 %r1, %tid.x;
  mov.u64 %rd1, stack; st.local.u32 [%rd1], %r1; cvta.local.u64 %rd2, %rd1;
  mov.u64 %rd3, line; cvta.global.u64 %rd4, %rd3;
  { .param .b64 a; st.param.b64 [a], %rd4; .param .b64 b; st.param.b64 [b], %rd2; .param .b32 c;
    call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }
  ret;
}
.visible .entry take(.param .u64 out, .param .u32 factor) {
  .reg .b32 %r<4>; .reg .b64 %rd<6>;
  mov.u32 %r1, %tid.x;
  { .param .b64 a; st.param.b64 [a], 32; .param .b64 b;
    call.uni (b), malloc, (a); ld.param.b64 %rd1, [b]; }
  st.u32 [%rd1], %r1;
  ld.param.u64 %rd2, [out]; mul.wide.u32 %rd3, %r1, 8; add.u64 %rd2, %rd2, %rd3;
  st.global.u64 [%rd2], %rd1;
  ret;
}
.visible .entry give(.param .u64 out, .param .u32 factor) {
  .reg .b32 %r<4>; .reg .b64 %rd<6>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd2, [out]; mul.wide.u32 %rd3, %r1, 8; add.u64 %rd2, %rd2, %rd3;
  ld.global.u64 %rd1, [%rd2];
  { .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }
  ret;
}
.visible .entry wrong(.param .u64 out, .param .u32 factor) {
  .local .align 8 .b8 stack[8]; .reg .b32 %r<4>; .reg .b64 %rd<6>;
  mov.u64 %rd1, stack; st.local.u32 [%rd1], 77; cvta.local.u64 %rd2, %rd1;
  mov.u64 %rd3, line; cvta.global.u64 %rd4, %rd3;
  { .param .b64 a; st.param.b64 [a], %rd4; .param .b64 b; st.param.b64 [b], %rd2; .param .b32 c;
    call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }
  { .param .b64 a; st.param.b64 [a], 4096; call.uni free, (a); }
  ret;
}
)";

constexpr std::uint64_t kOutput = kRam + 0x7'0000, kTimes = kRam + 0x7'8000;
constexpr std::uint32_t kOutputBytes = 16 + 400;
constexpr std::uint64_t kHeap = kDeviceBase + 0x4'0000, kHeapBytes = 0x800;
// Kernel objects: put_kernel leaves 0x100 bytes for them.
constexpr std::uint64_t kSay = kObject, kTake = kObject + 0x40, kGive = kObject + 0x80,
                        kWrong = kObject + 0xC0;

struct Setup {
  std::string name;
  bool functional;
  std::vector<std::string> overrides;
  TestMemory::Direct direct = TestMemory::Direct::kNone;
};
std::ostream& operator<<(std::ostream& out, const Setup& setup) {
  return out << setup.name;
}

class PacketRuntime : public ::testing::TestWithParam<Setup> {
 public:
  PacketRuntime() : machine(config_of("gtx480", GetParam().overrides)) {
    machine.with_ram();
    machine.ram.direct = GetParam().direct;
    for (const auto& [name, object] :
         {std::pair{"say", kSay}, {"take", kTake}, {"give", kGive}, {"wrong", kWrong}})
      put_kernel(machine.ram, name, kText, object);
  }
  void run(const std::function<void()>& script) {
    ASSERT_TRUE(machine.cpu.run([&] {
      if (GetParam().functional) machine.cpu.write32(WEFT_REG_MODE, WEFT_MODE_FUNCTIONAL);
      for (unsigned q = 0; q < 2; ++q) {
        const auto at = [q](std::uint64_t offset) { return WEFT_QUEUE_RUNTIME(q, offset); };
        machine.cpu.write64(at(WEFT_QUEUE_RUNTIME_OUTPUT_BASE_LO), q == 0 ? kOutput : 0);
        machine.cpu.write32(at(WEFT_QUEUE_RUNTIME_OUTPUT_BYTES), kOutputBytes);
        machine.cpu.write64(at(WEFT_QUEUE_RUNTIME_HEAP_BASE_LO), kHeap);
        machine.cpu.write64(at(WEFT_QUEUE_RUNTIME_HEAP_BYTES_LO), kHeapBytes);
      }
      machine.open();
      script();
    }));
  }
  // A packet of so many threads, in queue `q`.
  void launch(std::uint64_t object, std::uint16_t threads, unsigned q = 0) {
    machine.ram.put<std::int64_t>(kSignal, 1);
    weft_kernel_dispatch_packet packet = dispatch_packet(1, threads);
    packet.kernel_object = object;
    packet.times_address = kTimes;
    machine.submit(q, submitted_[q]++, packet);
    machine.wait_for_interrupt();
    machine.acknowledge();
  }
  std::string text() const {
    const weft_output output = machine.ram.get<weft_output>(kOutput);
    const auto* const ring = reinterpret_cast<const char*>(&machine.ram.bytes[kOutput + 16 - kRam]);
    std::string text;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(output.written, kOutputBytes - 16); ++i)
      text += ring[i];
    return text;
  }
  std::vector<std::uint64_t> addresses(unsigned threads) {
    const std::vector<std::uint32_t> words = machine.read_words(kOut, std::size_t{2} * threads);
    std::vector<std::uint64_t> addresses(threads);
    for (unsigned i = 0; i < threads; ++i)
      addresses[i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
    return addresses;
  }

  Machine machine;

 private:
  std::uint32_t submitted_[2] = {};
};

std::string lines(unsigned threads) {
  std::string text;
  for (unsigned i = 0; i < threads; ++i) text += "thread " + std::to_string(i) + "\n";
  return text;
}

TEST_P(PacketRuntime, TextArrives) {
  run([&] {
    launch(kSay, 20);
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), 0) << machine.gpu.host_error();
    EXPECT_EQ(text(), lines(20));
    launch(kSay, 5);
    EXPECT_EQ(text(), lines(20) + lines(5));
    EXPECT_EQ(machine.ram.get<weft_output>(kOutput).lost, 0u);
    // 64 threads print 630 bytes. Of the first ones the ring has no room.
    launch(kSay, 64);
    const std::uint64_t lost = machine.ram.get<weft_output>(kOutput).lost;
    EXPECT_EQ(lost, 24u);
    const std::string before = lines(20) + lines(5),
                      newest = lines(64).substr(lines(static_cast<unsigned>(lost)).size());
    EXPECT_EQ(machine.ram.get<weft_output>(kOutput).written, before.size() + newest.size());
  });
}

TEST_P(PacketRuntime, TextOfAFaultArrives) {
  run([&] {
    launch(kWrong, 1);
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), -WEFT_ERROR_FAULT);
    EXPECT_EQ(machine.reg(WEFT_QUEUE_FAULT(0, WEFT_QUEUE_FAULT_KIND)),
              static_cast<std::uint32_t>(WEFT_FAULT_INVALID_FREE))
        << machine.gpu.host_error();
    EXPECT_EQ(text(), "thread 77\n");
  });
}

// What one queue's kernel takes, another queue's gives back: they share the heap.
TEST_P(PacketRuntime, QueuesShareAHeap) {
  constexpr std::uint16_t kThreads = kHeapBytes / 32;
  run([&] {
    for (unsigned round = 0; round < 3; ++round) {
      launch(kTake, kThreads, round % 2);
      EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), 0) << machine.gpu.host_error();
      std::vector<std::uint64_t> taken = addresses(kThreads);
      for (std::uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(machine.read_words(taken[i], 1)[0], i);
      std::sort(taken.begin(), taken.end());
      for (std::uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(taken[i], kHeap + 32 * i);
      launch(kGive, kThreads, 1 - round % 2);
      EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), 0) << machine.gpu.host_error();
    }
    launch(kGive, 1);  // again
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), -WEFT_ERROR_FAULT);
    EXPECT_NE(machine.gpu.host_error().find("freed before"), std::string::npos) << machine.gpu.host_error();
  });
}

// Kernels of a queue without a heap get none of the other queue's.
TEST_P(PacketRuntime, QueuesWithoutAHeapGetNothing) {
  run([&] {
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), 0);
    machine.cpu.write64(WEFT_QUEUE_RUNTIME(0, WEFT_QUEUE_RUNTIME_HEAP_BASE_LO), 0);
    machine.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    launch(kTake, 1);  // stores to the null pointer
    EXPECT_EQ(machine.ram.get<std::int64_t>(kSignal), -WEFT_ERROR_FAULT);
    EXPECT_EQ(machine.reg(WEFT_QUEUE_FAULT(0, WEFT_QUEUE_FAULT_ADDRESS_LO)), 0u);
  });
}

TEST_P(PacketRuntime, TimesAreThoseOfTheKernel) {
  run([&] {
    const std::uint64_t begin = now_picoseconds();
    launch(kSay, 32);
    const auto times = machine.ram.get<weft_packet_times>(kTimes);
    EXPECT_GT(times.begin_ps, begin);
    EXPECT_LT(times.end_ps, now_picoseconds());
    if (!GetParam().functional) {
      EXPECT_GT(times.end_ps, times.begin_ps + 100'000);
    } else if (machine.ram.direct == TestMemory::Direct::kAll || GetParam().overrides.empty()) {
      EXPECT_EQ(times.end_ps, times.begin_ps);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Modes, PacketRuntime,
    ::testing::Values(Setup{"Timed", false, {}},
                      Setup{"TimedWithSystemMemory", false, {"system.enabled=true"}},
                      Setup{"Functional", true, {}},
                      Setup{"FunctionalByTransactions", true, {"system.enabled=true"}},
                      Setup{"FunctionalDirect", true, {"system.enabled=true"}, TestMemory::Direct::kAll}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft::test::packet_runtime_test
