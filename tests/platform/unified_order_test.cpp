// Kernels on system memory whose writes take effect late: what each thread sees nevertheless, what the
// first-level cache may keep, and that direct access changes no cycle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "platform/scale_kernel.h"
#include "platform/unified_machine.h"

namespace weft::test::unified_order_test {
namespace {

using Access = SystemRam::Access;
using Machine = UnifiedMachine;
constexpr std::uint64_t kBase = Machine::kBase;

// Memory does writes after 5 us, and reads at once.
struct SlowWrites : MachineWith<LateRam> {
  explicit SlowWrites(const std::vector<std::string>& overrides = {}, const std::string& config = "gtx480")
      : MachineWith(overrides, config, options(), Access::kTransactions) {}
  static runtime::DeviceOptions options() {
    runtime::DeviceOptions options;
    options.monitors = true;
    return options;
  }
};

// Each thread: word += 1, five times; then writes over what it reads.
TEST(UnifiedOrder, AThreadSeesItsOwnStores) {
  for (const std::string& name : machine_names()) {
    if (name.find("integrated") == 0) continue;  // wants more memory behind dma_socket
    for (const char* cached : {"sm.system_cached=false", "sm.system_cached=true"}) {
      const bool has_sectors = load_config(config_of(name)).sm.l1d.sector_bytes != 0;
      if (has_sectors && std::string(cached) == "sm.system_cached=true") continue;  // is refused
      SCOPED_TRACE(name + " " + cached);
      apart([&] {
        SlowWrites machine(overrides_of(name, {cached}), config_of(name));
        machine.bench.load(kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;
  mad.lo.u32 %r4, %r2, 128, %r1;
  mul.wide.u32 %rd2, %r4, 8;
  add.u64 %rd1, %rd1, %rd2;
  and.b32 %r6, %r1, 3;
  setp.eq.u32 %p2, %r6, 1;
L:
  ld.global.u32 %r5, [%rd1];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%rd1], %r5;
  @%p2 st.global.u8 [%rd1+1], %r6;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 5;
  @%p1 bra L;
  ld.global.u32 %r7, [%rd1+4];
  st.global.u32 [%rd1+4], %r5;
  red.global.add.u32 [%rd1], %r7;
  ret;)"));
        for (std::uint32_t i = 0; i < 256; ++i) {
          machine.ram.word(8 * i) = 16 * i;
          machine.ram.word(8 * i + 4) = 7;
        }
        EXPECT_EQ(machine.fault_of({2, 1, 1}, {128, 1, 1}, runtime::Arguments().add(kBase)), "");
        for (std::uint32_t i = 0; i < 256; ++i) {
          std::uint32_t word = 16 * i, sum = 0;
          for (unsigned turn = 0; turn < 5; ++turn) {
            word = sum = word + 1;
            if (i % 4 == 1) word = (word & ~0xff00u) | 0x100;
          }
          EXPECT_EQ(machine.ram.word(8 * i), word + 7) << i;
          EXPECT_EQ(machine.ram.word(8 * i + 4), sum) << i;
        }
        EXPECT_EQ(machine.violations(), "");
        return std::string();
      });
    }
  }
}

// A load that a warp executes once: the value reaches the registers of all its threads as it comes.
TEST(UnifiedOrder, AScalarLoadIsForTheWholeWarp) {
  for (const char* config : {"gtx480", "stsimt"}) {
    for (const char* cached : {"sm.system_cached=false", "sm.system_cached=true"}) {
      apart([&] {
        SlowWrites machine({cached, "scalarization.kind=full"}, config);
        machine.bench.load(kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r4, %r2, 64, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd2, %rd1, %rd2;
  mul.wide.u32 %rd3, %r2, 8;
  add.u64 %rd3, %rd1, %rd3;
  ld.global.v2.u32 {%r5, %r6}, [%rd3];
  mad.lo.u32 %r5, %r5, %r6, %r4;
  st.global.u32 [%rd2+4096], %r5;
  ret;)"));
        for (std::uint32_t i = 0; i < 8; ++i) machine.ram.word(4 * i) = 10 + i;
        EXPECT_EQ(machine.fault_of({4, 1, 1}, {64, 1, 1}, runtime::Arguments().add(kBase)), "");
        for (std::uint32_t i = 0; i < 256; ++i) {
          const std::uint32_t first = 10 + i / 64 * 2;
          EXPECT_EQ(machine.ram.word(4096 + 4 * i), first * (first + 1) + i) << i;
        }
        EXPECT_GT(machine.bench.sum_over_sms(statistics::Path{"scalar", "instructions"}), 0);
        return std::string();
      });
    }
  }
}

// Warp 0 writes, warp 1 reads after a barrier and writes over it after another.
TEST(UnifiedOrder, ABarrierOrdersTheBlock) {
  for (const char* cached : {"sm.system_cached=false", "sm.system_cached=true"}) {
    apart([&] {
      SlowWrites machine({cached});
      machine.bench.load(kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  xor.b32 %r2, %r1, 32;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd4, %rd1, %rd2;
  ld.global.u32 %r6, [%rd4];
  bar.sync 0;
  add.u32 %r3, %r1, 100;
  st.global.u32 [%rd3], %r3;
  bar.sync 0;
  ld.global.u32 %r4, [%rd4];
  bar.sync 0;
  st.global.u32 [%rd4], %r6;
  st.global.u32 [%rd3+1024], %r4;
  ret;)"));
      for (std::uint32_t i = 0; i < 64; ++i) machine.ram.word(4 * i) = 900 + i;
      EXPECT_EQ(machine.fault_of({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(kBase)), "");
      for (std::uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(machine.ram.word(1024 + 4 * i), 100 + (i ^ 32)) << i;
        EXPECT_EQ(machine.ram.word(4 * i), 900 + i) << i;
      }
      EXPECT_EQ(machine.violations(), "");
      return std::string();
    });
  }
}

// Block 0 writes system memory and then, behind `order`, a flag in device memory, for which block 1 waits.
std::uint32_t seen_behind(const std::string& store_flag, const std::string& load_flag, const char* cached) {
  return static_cast<std::uint32_t>(std::stoul(apart([&] {
    SlowWrites machine({cached});
    GpuBench& bench = machine.bench;
    const runtime::Address flag = bench.zeros(4);
    bench.load(kernel_text(".param .u64 data, .param .u64 flag", R"(
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [flag];
  mov.u32 %r1, %ctaid.x;
  ld.global.u32 %r9, [%rd1];
  add.u32 %r9, %r9, 1;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra WAIT;
  mov.u32 %r2, 42; mov.u32 %r3, 1;
  st.global.u32 [%rd1], %r2;
  )" + store_flag + R"(
  ret;
WAIT:
  )" + load_flag + R"(
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra WAIT;
  ld.global.u32 %r5, [%rd1];
  st.global.u32 [%rd1+128], %r5;
  ret;)"));
    EXPECT_EQ(machine.fault_of({2, 1, 1}, {1, 1, 1}, runtime::Arguments().add(kBase).add(flag)), "");
    return std::to_string(machine.ram.word(128));
  })));
}

TEST(UnifiedOrder, FencesAndReleasesOrderSystemAndDeviceMemory) {
  for (const char* cached : {"sm.system_cached=false", "sm.system_cached=true"}) {
    EXPECT_EQ(seen_behind("membar.gl; st.global.u32 [%rd2], %r3;",
                          "ld.volatile.global.u32 %r4, [%rd2]; membar.gl;", cached),
              42u);
    EXPECT_EQ(seen_behind("st.release.gpu.global.u32 [%rd2], %r3;", "ld.acquire.gpu.global.u32 %r4, [%rd2];",
                          cached),
              42u);
    EXPECT_EQ(seen_behind("atom.global.release.sys.add.u32 %r4, [%rd2], 1;",
                          "atom.global.acquire.sys.add.u32 %r4, [%rd2], 0;", cached),
              42u);
  }
  // Nobody orders these: the flag is there at once, the word 5 us later.
  EXPECT_EQ(seen_behind("st.global.u32 [%rd2], %r3;", "ld.volatile.global.u32 %r4, [%rd2];",
                        "sm.system_cached=false"),
            0u);
}

// Every second byte, where the others are changed meanwhile by somebody else.
class Changer final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Changer);
  Changer(sc_core::sc_module_name name, SystemRam& ram) : sc_module(name), ram_(ram) {
    SC_METHOD(change);
    dont_initialize();
    sensitive << when_;
    when_.notify(4, sc_core::SC_US);
  }

 private:
  void change() {
    for (std::uint32_t i = 0; i < 32; ++i) ram_.data[2 * i + 1] = static_cast<unsigned char>(200 + i);
  }
  SystemRam& ram_;
  sc_core::sc_event when_;
};

TEST(UnifiedOrder, PartialWritesLeaveTheBytesBetween) {
  for (const bool enables : {false, true}) {
    for (const char* what :
         {"st.global.u8 [%rd1], %r1;", "ld.global.u16 %r2, [%rd1]; st.global.u8 [%rd1], %r1;"}) {
      apart([&] {
        SlowWrites machine({enables ? "system.partial_writes=byte_enables" : "system.partial_writes=split"});
        Changer changer("changer", machine.ram);
        machine.bench.load(kernel_text(".param .u64 data", std::string(R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 2;
  add.u64 %rd1, %rd1, %rd2;
  )") + what + "\n  ret;"));
        EXPECT_EQ(machine.fault_of({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(kBase)), "");
        for (std::uint32_t i = 0; i < 32; ++i) {
          EXPECT_EQ(machine.ram.data[2 * i], i);
          EXPECT_EQ(machine.ram.data[2 * i + 1], 200 + i);
        }
        EXPECT_EQ(machine.ram.writes, enables ? 1u : 32u);
        EXPECT_EQ(machine.ram.enabled_writes, enables ? 1u : 0u);
        EXPECT_EQ(machine.violations(), "");
        return std::string();
      });
    }
  }
}

// Parts of a write wait, are under way and are answered when the reset comes.
TEST(UnifiedOrder, AResetInTheMiddleOfParts) {
  for (const char* writes : {"system.partial_writes=split", "system.partial_writes=byte_enables"}) {
    for (const double us : {0.2, 0.5, 4.0, 5.2}) {
      apart([&] {
        SlowWrites machine({writes, "system.outstanding=5", "system.queue=2"});
        const std::string text = kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u8 [%rd1+1], %r1;
  red.global.add.u32 [%rd1+4096], %r1;
  ret;)");
        machine.bench.load(text);
        machine.bench.device.gpu().launch([&] {
          dispatch::Launch launch;
          auto& module = machine.bench.device.load_module(text, "again.ptx");
          launch.program = module.program("k");
          launch.grid = {4, 1, 1};
          launch.block = {64, 1, 1};
          launch.parameters = runtime::lay_out(runtime::Arguments().add(kBase), *launch.program);
          return launch;
        }());
        sc_core::sc_start(us, sc_core::SC_US);
        EXPECT_FALSE(machine.bench.device.gpu().idle());
        machine.bench.reset();
        sc_core::sc_start(20, sc_core::SC_US);  // what had left the GPU is done
        std::fill(machine.ram.data.begin(), machine.ram.data.end(), static_cast<unsigned char>(0));
        machine.bench.device.gpu().add_system_window(kBase, Machine::kRamBytes);
        machine.bench.load(text);
        EXPECT_EQ(machine.fault_of({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(kBase)), "");
        for (std::uint32_t i = 0; i < 64; ++i) {
          EXPECT_EQ(machine.ram.word(4 * i), i << 8);
          EXPECT_EQ(machine.ram.word(4096 + 4 * i), i);
        }
        EXPECT_EQ(machine.violations(), "");
        return std::string();
      });
    }
  }
}

// An atomic with gaps: as many reads and writes as runs of bytes, or one of each.
TEST(UnifiedOrder, AtomicsInOneBlock) {
  for (const bool enables : {false, true}) {
    apart([&] {
      SlowWrites machine({enables ? "system.partial_writes=byte_enables" : "system.partial_writes=split"});
      const runtime::Address before = machine.bench.zeros(128);
      machine.bench.load(kernel_text(".param .u64 data, .param .u64 before", R"(
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd4, [before];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd4, %rd4, %rd2;
  and.b32 %r2, %r1, 7;
  mul.wide.u32 %rd2, %r2, 16;
  add.u64 %rd1, %rd1, %rd2;
  atom.global.add.u32 %r3, [%rd1], %r1;
  st.global.u32 [%rd4], %r3;
  ret;)"));
      for (std::uint32_t i = 0; i < 8; ++i) machine.ram.word(16 * i) = 1000 * i;
      EXPECT_EQ(machine.fault_of({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(kBase).add(before)), "");
      const auto seen = machine.bench.read(before, 32);
      for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(machine.ram.word(16 * i), 1000 * i + 4 * i + 48);
        EXPECT_EQ(seen[i], 1000 * i);
        EXPECT_EQ(seen[i + 8], 1000 * i + i);
      }
      EXPECT_EQ(machine.ram.reads, enables ? 1u : 8u);
      EXPECT_EQ(machine.ram.writes, enables ? 1u : 8u);
      return std::string();
    });
  }
}

// ---- the first-level cache

// The host changes a word at 50 us; the kernel reads it before, and again after 100 us by `load`, behind
// `order`.
std::uint32_t seen_after_the_host(const std::string& load) {
  return static_cast<std::uint32_t>(std::stoul(apart([&] {
    Machine machine(Access::kTransactions, {"sm.system_cached=true", "watchdog.cycles=1000000"});
    struct Host final : sc_core::sc_module {
      SC_HAS_PROCESS(Host);
      Host(sc_core::sc_module_name name, SystemRam& memory) : sc_module(name), ram(memory) {
        SC_METHOD(change);
        dont_initialize();
        sensitive << when;
        when.notify(50, sc_core::SC_US);
      }
      void change() {
        ram.word(0) = 42;
        if (invalidates) ram.socket->invalidate_direct_mem_ptr(0, UINT64_MAX);
      }
      SystemRam& ram;
      bool invalidates = false;
      sc_core::sc_event when;
    } host("host", machine.ram);
    host.invalidates = load.find("invalidated") != std::string::npos;
    machine.ram.word(0) = 7;
    machine.bench.load(kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data];
  ld.global.u32 %r1, [%rd1];
  mov.u32 %r2, 0;
L:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 4000;
  @%p1 bra L;
  )" + load + R"(
  mad.lo.u32 %r3, %r1, 1000, %r3;
  st.global.u32 [%rd1+4096], %r3;
  ret;)"));
    EXPECT_EQ(machine.fault_of({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(kBase)), "");
    EXPECT_GT(sc_core::sc_time_stamp(), sc_core::sc_time(100, sc_core::SC_US));
    return std::to_string(machine.ram.word(4096));
  })));
}

TEST(UnifiedCache, KeepsWhatOthersWriteFromBeingSeenUntilAsked) {
  EXPECT_EQ(seen_after_the_host("ld.global.u32 %r3, [%rd1];"), 7007u);
  EXPECT_EQ(seen_after_the_host("membar.gl; ld.global.u32 %r3, [%rd1];"), 7007u);
  EXPECT_EQ(seen_after_the_host("membar.sys; ld.global.u32 %r3, [%rd1];"), 7042u);
  EXPECT_EQ(seen_after_the_host("ld.volatile.global.u32 %r3, [%rd1];"), 7042u);
  EXPECT_EQ(seen_after_the_host("ld.global.cv.u32 %r3, [%rd1];"), 7042u);
  EXPECT_EQ(seen_after_the_host("ld.acquire.sys.global.u32 %r3, [%rd1+128]; ld.global.u32 %r3, [%rd1];"),
            7042u);
  EXPECT_EQ(seen_after_the_host("ld.global.u32 %r3, [%rd1]; // invalidated"), 7042u);
}

// A store of block 1 is seen by block 0, which has the line; with 1024 threads, each block has an SM of its
// own.
TEST(UnifiedCache, StoresAndAtomicsOfOtherSmsAreSeen) {
  const auto check = [](const std::string& change, bool behind_bus) {
    apart([&] {
      SlowWrites machine({"sm.system_cached=true"});
      machine.ram.behind_bus = behind_bus;
      const runtime::Address flag = machine.bench.zeros(4);
      machine.bench.load(kernel_text(".param .u64 data, .param .u64 flag", std::string(R"(
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [flag];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
  mov.u32 %r1, %ctaid.x;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  )") + change + R"(
  membar.gl;
  st.global.u32 [%rd2], %r1;
  ret;
WAIT:
  ld.volatile.global.u32 %r4, [%rd2];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra WAIT;
  ld.global.u32 %r5, [%rd1];
  mad.lo.u32 %r5, %r2, 100, %r5;
  st.global.u32 [%rd1+128], %r5;
  ret;)"));
      EXPECT_EQ(machine.fault_of({2, 1, 1}, {1024, 1, 1}, runtime::Arguments().add(kBase).add(flag)), "");
      EXPECT_EQ(machine.ram.word(128), 1u);
      return std::string();
    });
  };
  for (const bool behind_bus : {false, true}) {
    SCOPED_TRACE(behind_bus);
    check("st.global.u32 [%rd1], %r1;", behind_bus);
    check("red.global.add.u32 [%rd1], %r1;", behind_bus);
  }
}

// ---- time

std::string mixed_kernel() {
  return kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r9, 0;
  mad.lo.u32 %r4, %r1, %r2, %r3;
L:
  mul.lo.u32 %r5, %r4, 17; and.b32 %r5, %r5, 1023; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  mul.wide.u32 %rd2, %r4, 4; add.u64 %rd4, %rd1, %rd2;
  ld.global.u32 %r7, [%rd4];
  add.u32 %r7, %r7, %r6;
  st.global.u32 [%rd4+8192], %r7;
  and.b32 %r8, %r3, 3; setp.eq.u32 %p2, %r8, 1;
  @%p2 st.global.u8 [%rd4+16384], %r7;
  red.global.add.u32 [%rd3+32768], 1;
  add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 3; @%p1 bra L;
  ret;)");
}

TEST(UnifiedTime, IsTheSameWithAndWithoutDirectAccess) {
  for (const char* config : {"gtx480", "dwr-tesla"}) {
    for (const char* cached : {"sm.system_cached=false", "sm.system_cached=true"}) {
      for (const char* transport : {"host.dma_transport=at", "host.dma_transport=lt"}) {
        for (const bool mixed : {false, true}) {
          const auto run = [&](Access access) {
            return apart([&] {
              Machine machine(access, {cached, transport}, {}, 100, config);
              for (std::uint32_t i = 0; i < 2048; ++i) machine.ram.word(4 * i) = i;
              machine.bench.load(mixed ? mixed_kernel() : scale_kernel());
              runtime::Arguments arguments;
              arguments.add(kBase);
              if (!mixed) arguments.add(kBase + 32768);
              machine.bench.run({4, 1, 1}, {128, 1, 1}, arguments);
              std::string text = machine.bench.statistics().dump();
              for (const unsigned char byte : machine.ram.data) text += static_cast<char>('a' + byte % 16);
              return text;
            });
          };
          EXPECT_TRUE(run(Access::kDirect) == run(Access::kTransactions)) << config << cached << transport;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::test::unified_order_test
