// Kernels that work on system memory: with direct access, by transactions alone, and without timing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "default_addresses.h"
#include "platform/gpu_bench.h"
#include "platform/scale_kernel.h"
#include "platform/unified_machine.h"

namespace weft::test::unified_memory_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;
using Access = SystemRam::Access;

constexpr std::uint64_t kBase = UnifiedMachine::kBase, kRamBytes = UnifiedMachine::kRamBytes;
using Machine = UnifiedMachine;

struct Way {
  const char* name;
  Access access;
  bool cached, functional;
};

class Unified : public ::testing::TestWithParam<Way> {
 public:
  Unified()
      : machine(GetParam().access, {GetParam().cached ? "sm.system_cached=true" : "sm.system_cached=false"},
                [] {
                  runtime::DeviceOptions options;
                  options.monitors = true;
                  options.functional.all = GetParam().functional;
                  return options;
                }()) {}
  Machine machine;
};

// The host writes, the kernel reads and writes, the host reads: no copies.
TEST_P(Unified, GpuAndHostShareDataBothWays) {
  constexpr std::uint32_t kThreads = 4 * 96;
  SystemRam& ram = machine.ram;
  for (std::uint32_t i = 0; i < kThreads; ++i) ram.word(4 * i) = 1000 + i;
  machine.bench.load(scale_kernel());
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    machine.bench.run({4, 1, 1}, {96, 1, 1}, runtime::Arguments().add(kBase).add(kBase + 8192));
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      ASSERT_EQ(ram.word(8192 + 4 * i), 3 * (1000 + i + turn) + 1) << i;
      ram.word(4 * i) += 1;  // the second launch sees what the host has changed
    }
  }
  EXPECT_EQ(ram.word(8192 + 4 * kThreads), 0u);
  EXPECT_EQ(machine.violations(), "");
  if (GetParam().functional) {
    EXPECT_EQ(ram.reads + ram.writes, 0u);
    return;
  }
  // One per 128-byte block and warp, of which 96 threads have three; both launches.
  const std::uint64_t expected = kThreads / 32;
  EXPECT_EQ(ram.reads, 2 * expected);
  EXPECT_EQ(ram.writes, 2 * expected);
}

TEST_P(Unified, SystemAndDeviceMemoryInOneInstruction) {
  GpuBench& bench = machine.bench;
  const runtime::Address device = bench.zeros(512);
  bench.load(kernel_text(".param .u64 system, .param .u64 device", R"(
  ld.param.u64 %rd1, [system];
  ld.param.u64 %rd2, [device];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  selp.b64 %rd3, %rd1, %rd2, %p1;
  mul.wide.u32 %rd4, %r1, 8;
  add.u64 %rd3, %rd3, %rd4;
  mul.wide.u32 %rd5, %r1, 100000;
  st.u64 [%rd3], %rd5;
  ld.u64 %rd6, [%rd3];
  add.u64 %rd6, %rd6, 1;
  st.u64 [%rd3], %rd6;
  ret;)"));
  bench.run({1, 1, 1}, {48, 1, 1}, runtime::Arguments().add(kBase + 4096).add(device));
  const auto words = bench.read(device, 128);
  for (std::uint32_t i = 0; i < 48; ++i) {
    const std::uint32_t expected = 100000 * i + 1;
    EXPECT_EQ(machine.ram.word(4096 + 8 * i), i % 2 == 0 ? expected : 0) << i;
    EXPECT_EQ(words[2 * i], i % 2 == 1 ? expected : 0) << i;
  }
  EXPECT_EQ(machine.violations(), "");
}

// 4 blocks of 64 threads count one word up; each of them sees another value.
TEST_P(Unified, Atomics) {
  GpuBench& bench = machine.bench;
  const runtime::Address device = bench.zeros(4 * 256);
  bench.load(kernel_text(".param .u64 counter, .param .u64 seen", R"(
  ld.param.u64 %rd1, [counter];
  ld.param.u64 %rd2, [seen];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r7, 1;
  atom.global.add.u32 %r5, [%rd1], %r7;
  mov.u32 %r7, 77;
  st.global.u32 [%rd2], %r5;
  red.global.max.u32 [%rd1+4], %r4;
  cvt.u64.u32 %rd5, %r4;
  atom.global.add.u64 %rd6, [%rd1+8], %rd5;
  ret;)"));
  bench.run({4, 1, 1}, {64, 1, 1}, runtime::Arguments().add(kBase + 256).add(device));
  EXPECT_EQ(machine.ram.word(256), 256u);
  EXPECT_EQ(machine.ram.word(260), 255u);
  EXPECT_EQ(machine.ram.word(264), 255u * 256 / 2);
  auto seen = bench.read(device, 256);
  std::sort(seen.begin(), seen.end());
  std::vector<std::uint32_t> all(256);
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_EQ(seen, all);
  EXPECT_EQ(machine.violations(), "");
}

TEST_P(Unified, NarrowAndVectorAccesses) {
  GpuBench& bench = machine.bench;
  bench.load(kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd2, %rd1, %rd2;
  ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2];
  ld.global.s8 %r6, [%rd2+3];
  add.u32 %r2, %r2, %r6;
  st.global.v2.u32 [%rd2+8], {%r3, %r2};
  st.global.u8 [%rd2+1], %r5;
  ret;)"));
  for (std::uint32_t i = 0; i < 40; ++i) {
    machine.ram.word(16 * i) = 0xfe000000 + i;
    machine.ram.word(16 * i + 4) = 7 * i;
    machine.ram.word(16 * i + 12) = 0x150 + i;
  }
  bench.run({1, 1, 1}, {40, 1, 1}, runtime::Arguments().add(kBase));
  for (std::uint32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(machine.ram.word(16 * i), 0xfe000000 + i + ((0x150 + i) % 256 << 8)) << i;
    EXPECT_EQ(machine.ram.word(16 * i + 8), 7 * i);
    EXPECT_EQ(machine.ram.word(16 * i + 12), 0xfe000000 + i - 2);
  }
}

TEST_P(Unified, OutsideOfWindowsIsAFaultAsEver) {
  machine.bench.load(scale_kernel());
  EXPECT_THAT(
      machine.fault_of({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(kBase).add(kBase + kRamBytes - 64)),
      AllOf(HasSubstr("thread (16,0,0)"), HasSubstr("k.ptx:"), HasSubstr("store of 4 bytes at 0x80010000"),
            HasSubstr("not in global memory")));
}

TEST_P(Unified, MisalignedIsAFault) {
  machine.bench.load(scale_kernel());
  EXPECT_THAT(machine.fault_of({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(kBase + 2).add(kBase)),
              HasSubstr("is not aligned to 4 bytes"));
}

INSTANTIATE_TEST_SUITE_P(Ways, Unified,
                         ::testing::Values(Way{"direct", Access::kDirect, false, false},
                                           Way{"direct_cached", Access::kDirect, true, false},
                                           Way{"direct_read_only", Access::kDirectReadOnly, false, false},
                                           Way{"transactions", Access::kTransactions, false, false},
                                           Way{"transactions_cached", Access::kTransactions, true, false},
                                           Way{"functional_direct", Access::kDirect, false, true},
                                           Way{"functional", Access::kTransactions, false, true}),
                         [](const auto& info) { return info.param.name; });

// One thread, one load, and a store that waits for it. 700 cycles at 700 MHz are a microsecond.
TEST(UnifiedTime, IsThatOfTheMemoryBehindTheSocket) {
  for (const Access access : {Access::kDirect, Access::kTransactions}) {
    const auto cycles = [&](double latency_ns, unsigned port_cycles) {
      return std::stoll(apart([&] {
        Machine machine(access,
                        {"clocks.core_mhz=700", "clocks.interconnect_mhz=700",
                         "system.latency=" + std::to_string(port_cycles)},
                        {}, latency_ns);
        machine.bench.load(scale_kernel());
        return std::to_string(
            machine.bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(kBase).add(kBase + 8192)));
      }));
    };
    const auto quick = cycles(1000, 4);
    // The load is on the way of the store, so both of their latencies count.
    EXPECT_EQ(cycles(3000, 4) - quick, 2 * 2 * 700);
    EXPECT_EQ(cycles(1000, 54) - quick, 2 * 50);
  }
}

// A second load of the same line: from the first-level cache, if the configuration has it there.
TEST(UnifiedTime, IsShorterWhereTheFirstLevelCaches) {
  const std::string twice = kernel_text(".param .u64 in, .param .u64 out", R"(
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r2, %r1, 0;
  ld.global.u32 %r3, [%rd1+4];
  add.u32 %r3, %r3, %r2;
  st.global.u32 [%rd2], %r3;
  ret;)");
  const auto reads = [&](const char* cached) {
    return std::stoi(apart([&] {
      Machine machine(Access::kTransactions, {cached});
      machine.ram.word(0) = 5;
      machine.ram.word(4) = 6;
      machine.bench.load(twice);
      machine.bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(kBase).add(kBase + 8192));
      EXPECT_EQ(machine.ram.word(8192), 11u);
      return std::to_string(machine.ram.reads);
    }));
  };
  EXPECT_EQ(reads("sm.system_cached=true"), 1);
  EXPECT_EQ(reads("sm.system_cached=false"), 2);
}

// A block is read from the first byte that a thread asks for to the last; a line only where all of it lies in
// the window.
TEST(UnifiedTime, NothingBeyondAWindowIsTouched) {
  for (const char* cached : {"sm.system_cached=true", "sm.system_cached=false"}) {
    apart([&] {
      Machine machine(Access::kDirect, {cached});
      machine.bench.device.gpu().remove_system_window(kBase);
      machine.bench.device.gpu().add_system_window(kBase + 40, 24);
      machine.bench.device.gpu().add_system_window(kBase + 64, 36);
      for (std::uint32_t i = 0; i < 5; ++i) machine.ram.word(52 + 4 * i) = i;
      machine.bench.load(scale_kernel());
      EXPECT_EQ(machine.fault_of({1, 1, 1}, {5, 1, 1}, runtime::Arguments().add(kBase + 52).add(kBase + 80)),
                "");
      for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(machine.ram.word(80 + 4 * i), 3 * i + 1);
      EXPECT_EQ(machine.ram.reads, 2u) << "one of each window";
      EXPECT_EQ(machine.ram.bytes, 12u + 8 + 20);
      return std::string();
    });
  }
}

TEST(UnifiedFault, AnErrorAnswerNamesThreadPcAndLine) {
  for (const char* which : {"load", "store"}) {
    const std::string fault = apart([&] {
      Machine machine(Access::kTransactions);
      machine.ram.bad_from = 4096 + 4 * 37;  // thread 37 and later
      machine.bench.load(scale_kernel());
      const bool load = which == std::string("load");
      return machine.fault_of(
          {1, 1, 1}, {64, 1, 1},
          runtime::Arguments().add(kBase + (load ? 4096 : 0)).add(kBase + (load ? 0 : 4096)));
    });
    const bool load = which == std::string("load");
    EXPECT_THAT(fault,
                AllOf(HasSubstr("k: thread (37,0,0) of block (0,0,0), pc"),
                      HasSubstr(load ? "k.ptx:14" : "k.ptx:16"), HasSubstr("TLM_ADDRESS_ERROR_RESPONSE"),
                      HasSubstr(load ? "a read of 4" : "a write of 4"), HasSubstr("0x80001094")));
  }
}

TEST(UnifiedFault, WindowsAreChecked) {
  Machine machine(Access::kDirect);
  Gpu& gpu = machine.bench.device.gpu();
  EXPECT_THAT([&] { gpu.add_system_window(kBase + 4096, 1); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("another window"))));
  EXPECT_THAT([&] { gpu.add_system_window(kDeviceBase - 4096, 8192); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("device memory"))));
  EXPECT_THAT([&] { gpu.add_system_window(0, 0x0100'0001); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("shared memory"))));
  EXPECT_THROW(gpu.add_system_window(0, 0), InputError);
  EXPECT_THROW(gpu.add_system_window(std::uint64_t{1} << 58, 1), InputError);
  gpu.add_system_window(0, 0x0100'0000);
}

TEST(UnifiedFault, WithoutTheConfigurationThereIsNone) {
  GpuBench bench;
  EXPECT_THAT([&] { bench.device.gpu().add_system_window(kBase, 4096); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("system.enabled"))));
}

// The kernel spins until the host sets a flag; the watchdog must not take that for a livelock.
class Host final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Host);
  Host(sc_core::sc_module_name name, SystemRam& ram) : sc_module(name), ram_(ram) { SC_THREAD(set); }

 private:
  void set() {
    wait(100, sc_core::SC_US);
    ram_.word(0) = 42;
  }
  SystemRam& ram_;
};

TEST(UnifiedHost, MayAnswerAKernelThatWaits) {
  for (const Access access : {Access::kDirect, Access::kTransactions}) {
    apart([&] {
      Machine machine(access, {"watchdog.cycles=1000"});
      Host host("host", machine.ram);
      machine.bench.load(kernel_text(".param .u64 flag", R"(
  ld.param.u64 %rd1, [flag];
AGAIN:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  st.global.u32 [%rd1+4], %r1;
  ret;)"));
      EXPECT_EQ(machine.fault_of({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(kBase)), "");
      EXPECT_EQ(machine.ram.word(4), 42u);
      EXPECT_GT(sc_core::sc_time_stamp(), sc_core::sc_time(100, sc_core::SC_US));
      return std::string();
    });
  }
}

TEST(UnifiedHost, SleepingChangesNothing) {
  for (const Access access : {Access::kDirect, Access::kTransactions}) {
    const auto run = [&](bool sleeping) {
      return apart([&] {
        runtime::DeviceOptions options;
        options.sleeping = sleeping;
        Machine machine(access, {"system.queue=2", "system.outstanding=3"}, options);
        machine.bench.load(scale_kernel());
        machine.bench.run({4, 1, 1}, {128, 1, 1}, runtime::Arguments().add(kBase).add(kBase + 8192));
        return machine.bench.statistics().dump();
      });
    };
    const std::string once = run(true);
    EXPECT_THAT(once, HasSubstr("\"system_port\""));
    EXPECT_TRUE(run(false) == once);
  }
}

// A reset while transactions are under way: nothing of them touches memory or SMs afterwards.
TEST(UnifiedHost, AResetInTheMiddle) {
  for (const Access access : {Access::kDirect, Access::kTransactions}) {
    apart([&] {
      Machine machine(access, {}, {}, 5000);
      GpuBench& bench = machine.bench;
      bench.load(scale_kernel());
      bench.device.gpu().launch([&] {
        dispatch::Launch launch;
        auto& module = bench.device.load_module(scale_kernel(), "again.ptx");
        launch.program = module.program("k");
        launch.grid = {8, 1, 1};
        launch.block = {128, 1, 1};
        launch.parameters =
            runtime::lay_out(runtime::Arguments().add(kBase).add(kBase + 8192), *launch.program);
        return launch;
      }());
      sc_core::sc_start(4, sc_core::SC_US);
      EXPECT_FALSE(bench.device.gpu().idle());
      bench.reset();
      EXPECT_THROW(bench.device.gpu().add_system_window(kDeviceBase, 1), InputError);
      bench.device.gpu().add_system_window(kBase, kRamBytes);
      std::fill(machine.ram.data.begin(), machine.ram.data.end(), static_cast<unsigned char>(0));
      for (std::uint32_t i = 0; i < 64; ++i) machine.ram.word(4 * i) = i;
      bench.load(scale_kernel());
      EXPECT_EQ(machine.fault_of({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(kBase).add(kBase + 16384)),
                "");
      for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(machine.ram.word(16384 + 4 * i), 3 * i + 1);
      return std::string();
    });
  }
}

}  // namespace
}  // namespace weft::test::unified_memory_test
