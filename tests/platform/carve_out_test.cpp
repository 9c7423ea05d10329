// A GPU without memory controllers: all its device memory is a part of system memory. With direct access and
// without, everything that lies in device memory works, system memory has the bytes, and the time is the
// memory's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <numeric>
#include <tuple>

#include "default_addresses.h"
#include "platform/gpu_bench.h"
#include "platform/scale_kernel.h"
#include "platform/system_ram.h"
#include "soc/ram.h"
#include "weft/runtime/arguments.h"

namespace weft::test::carve_out_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr std::uint64_t kBase = 0x9000'0000;
constexpr std::uint64_t kBytes = 16u << 20;

struct Machine {
  explicit Machine(bool direct, std::vector<std::string> overrides = {},
                   const std::string& config = "integrated", double latency_ns = 60,
                   double bytes_per_ns = 25.6)
      : bench(with_carve_out(std::move(overrides)), config, options()),
        ram("ram", memory(direct, latency_ns, bytes_per_ns), kBase) {
    bench.device.gpu().dma_socket.bind(ram.socket);
  }
  static std::vector<std::string> with_carve_out(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"carve_out.enabled=true", "carve_out.base=" + std::to_string(kBase),
                                         "dram.bytes=" + std::to_string(kBytes), "sm.count=2"});
    return overrides;
  }
  static runtime::DeviceOptions options() {
    runtime::DeviceOptions options;
    options.monitors = true;
    options.own_system_memory = false;
    return options;
  }
  static soc::RamConfig memory(bool direct, double latency_ns, double bytes_per_ns) {
    soc::RamConfig config;
    config.bytes = kBytes;
    config.latency_ns = latency_ns;
    config.bytes_per_ns = bytes_per_ns;
    config.places = 64;
    config.dmi = direct;
    return config;
  }
  // What the rest of the system sees.
  std::uint32_t& there(runtime::Address device, std::uint64_t index = 0) {
    return *reinterpret_cast<std::uint32_t*>(ram.data() + (device - kDeviceBase) + 4 * index);
  }
  ~Machine() { EXPECT_EQ(bench.device.gpu().violations(), ""); }

  GpuBench bench;
  soc::Ram ram;
};

struct Way {
  const char* name;
  const char* config;
  bool direct;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class CarvedGpu : public ::testing::TestWithParam<Way> {
 public:
  Machine machine{GetParam().direct, {}, GetParam().config};
  GpuBench& bench = machine.bench;
};

// Others on the bus write what a launch reads, and read what it wrote; lines that caches hold included.
TEST_P(CarvedGpu, SharesItsMemoryWithTheSystem) {
  constexpr std::uint32_t kThreads = 4 * 96;
  std::vector<std::uint32_t> values(kThreads);
  std::iota(values.begin(), values.end(), 1000);
  const runtime::Address in = bench.words(values), out = bench.zeros(4 * kThreads);
  bench.load(scale_kernel());
  for (std::uint32_t turn = 0; turn < 3; ++turn) {
    bench.run({4, 1, 1}, {96, 1, 1}, runtime::Arguments().add(in).add(out));
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      ASSERT_EQ(machine.there(in, i), 1000 + i + turn) << i;
      ASSERT_EQ(machine.there(out, i), 3 * (1000 + i + turn) + 1) << i;
      machine.there(in, i) += 1;
    }
  }
}

// Copies of the device API go there too, with the next launch.
TEST_P(CarvedGpu, CopiesReachSystemMemory) {
  const runtime::Address one = bench.words({1, 2, 3}), other = bench.zeros(128);
  bench.load(scale_kernel());
  bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(other).add(other + 64));
  EXPECT_EQ(machine.there(one, 2), 3u) << "written before the simulation began";
  const std::uint32_t value = 77;
  bench.device.copy_to(one, &value, 4);
  bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(other).add(other + 64));
  EXPECT_EQ(machine.there(one), 77u);
}

// Local variables, a module's variables, the heap, atomics, parameters through an address, shared lines.
TEST_P(CarvedGpu, EverythingInDeviceMemoryWorks) {
  const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.global .u32 counter = 5;
.const .u32 table[2] = {11, 13};
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.visible .entry k(.param .u64 out) {
  .local .align 4 .b8 mine[64];
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  and.b32 %r5, %r4, 15;
  mul.wide.u32 %rd2, %r5, 4;
  mov.u64 %rd3, mine;
  add.u64 %rd3, %rd3, %rd2;
  st.local.u32 [%rd3], %r4;
  atom.global.add.u32 %r6, [counter], 1;
  ld.const.u32 %r7, [table+4];
  { .param .b64 bytes; .param .b64 result;
    st.param.b64 [bytes], 16;
    call (result), malloc, (bytes);
    ld.param.b64 %rd4, [result]; }
  st.u32 [%rd4+8], %r7;
  ld.local.u32 %r8, [%rd3];
  ld.u32 %r9, [%rd4+8];
  add.u32 %r8, %r8, %r9;
  mul.wide.u32 %rd5, %r4, 4;
  add.u64 %rd1, %rd1, %rd5;
  st.global.u32 [%rd1], %r8;
  ret;
})";
  constexpr std::uint32_t kThreads = 6 * 64;
  const runtime::Address out = bench.zeros(4 * kThreads);
  auto& module = bench.device.load_module(text, "all.ptx");
  bench.device.launch(module, "k", {6, 1, 1}, {64, 1, 1}, runtime::Arguments().add(out));
  bench.device.synchronise();
  const auto values = bench.read(out, kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    ASSERT_EQ(values[i], i + 13) << i;
    ASSERT_EQ(machine.there(out, i), i + 13) << i;
  }
  EXPECT_EQ(machine.there(module.address_of("counter", nullptr)), 5 + kThreads);
}

// Back to zero on both sides, and as good as new.
TEST_P(CarvedGpu, IsResetWithItsMemory) {
  const auto once = [&] {
    const runtime::Address in = bench.words({5, 6, 7, 8}), out = bench.zeros(16);
    bench.load(scale_kernel());
    const std::uint64_t cycles = bench.run({1, 1, 1}, {4, 1, 1}, runtime::Arguments().add(in).add(out));
    EXPECT_EQ(machine.there(out, 3), 25u);
    return cycles;
  };
  const std::uint64_t cycles = once();
  bench.reset();
  for (std::uint64_t i = 0; i < kBytes; ++i) ASSERT_EQ(machine.ram.data()[i], 0) << i;
  EXPECT_EQ(once(), cycles);
}

INSTANTIATE_TEST_SUITE_P(Ways, CarvedGpu,
                         ::testing::Values(Way{"Direct", "integrated", true},
                                           Way{"Carried", "integrated", false},
                                           Way{"DirectWithoutL2", "dwr-tesla", true},
                                           Way{"CarriedWithoutL2", "dwr-tesla", false}),
                         [](const auto& info) { return info.param.name; });

// ---- time

// A load whose address is the last one's value, in a ring of `lines` lines; whole rounds, so that the L2
// holds the next line always or, being smaller, never.
double cycles_per_load(Machine& machine, unsigned lines) {
  constexpr unsigned kLine = 128, kTurns = 4096;
  GpuBench& bench = machine.bench;
  const runtime::Address ring = bench.zeros(lines * kLine), out = bench.zeros(4);
  for (unsigned i = 0; i < lines; ++i) {
    const std::uint64_t next = ring + (i + 1) % lines * kLine;
    bench.device.copy_to(ring + i * kLine, &next, 8);
  }
  bench.load(looped_kernel("ld.global.u64 %rd3, [%rd3];"));
  const auto cycles = [&](std::uint32_t turns) {
    const auto arguments = runtime::Arguments().add(out).add(turns).add(ring);
    return static_cast<double>(bench.run({1, 1, 1}, {1, 1, 1}, arguments));
  };
  const double once = (cycles(kTurns), cycles(kTurns));
  return (cycles(2 * kTurns) - once) / kTurns;
}

const std::vector<std::string> kOneClock = {"clocks.core_mhz=1000", "clocks.interconnect_mhz=1000",
                                            "sm.l1d.enabled=false"};

double load_to_use(double latency_ns, double bytes_per_ns, unsigned lines) {
  const std::string text = apart([&] {
    Machine machine(true, kOneClock, "integrated", latency_ns, bytes_per_ns);
    return std::to_string(cycles_per_load(machine, lines));
  });
  return std::stod(text);
}

// The L2 holds 1,024 lines of 128 bytes: a ring of 64 stays there, one of 4,096 never hits. A miss takes,
// over a hit, an edge from the L2 to the port, the memory's latency and the line's transfer, an edge to take
// its answer, and one that the L2 needs for a fill (modules/l2): at 1 ns per cycle 1 + 100 + 128/16 + 1 + 1.
TEST(CarveOutTime, AMissTakesTheMemorysTime) {
  const double hit = load_to_use(100, 16, 64);
  EXPECT_NEAR(load_to_use(100, 16, 4096) - hit, 1 + 100 + 8 + 1 + 1, 0.01);
  EXPECT_NEAR(load_to_use(250, 16, 4096) - hit, 1 + 250 + 8 + 1 + 1, 0.01);
  EXPECT_NEAR(load_to_use(100, 4, 4096) - hit, 1 + 100 + 32 + 1 + 1, 0.01);
}

// Reading 4 MiB that no cache holds takes bytes / bandwidth, whatever the latency: 64 lines are under way,
// and one takes 60 ns + 128 / 8 ns, so that all of them could bring 64 * 128 / 76 = 107 bytes per ns.
TEST(CarveOutTime, ManyMissesTakeTheMemorysBandwidth) {
  constexpr std::uint32_t kRead = 4u << 20;
  const std::string text = apart([&] {
    Machine machine(true, kOneClock, "integrated", 60, 8);
    const runtime::Address in = machine.bench.zeros(kRead), out = machine.bench.zeros(64);
    machine.bench.load(kernel_text(".param .u64 in, .param .u64 out", R"(
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd1, %rd1, %rd3;
  ld.global.u32 %r5, [%rd1];
  setp.ne.u32 %p1, %r5, 0;
  @%p1 st.global.u32 [%rd2], %r5;
  ret;)"));
    return std::to_string(
        machine.bench.run({kRead / 4 / 256, 1, 1}, {256, 1, 1}, runtime::Arguments().add(in).add(out)));
  });
  EXPECT_NEAR(std::stod(text) * 8 / kRead, 1, 0.01);
}

// The bytes' way does not change the time.
TEST(CarveOutTime, IsTheSameWithoutDirectAccess) {
  for (const char* config : {"integrated", "dwr-tesla"}) {
    const auto run = [&](bool direct, bool sleeping) {
      return apart([&] {
        auto options = Machine::options();
        options.sleeping = sleeping;
        GpuBench bench(Machine::with_carve_out({"carve_out.queue=2", "carve_out.outstanding=3"}), config,
                       options);
        soc::Ram ram("ram", Machine::memory(direct, 60, 25.6), kBase);
        bench.device.gpu().dma_socket.bind(ram.socket);
        const runtime::Address in = bench.zeros(4 * 4096), out = bench.zeros(4 * 4096);
        bench.load(scale_kernel());
        bench.run({16, 1, 1}, {256, 1, 1}, runtime::Arguments().add(in).add(out));
        return bench.statistics().dump();
      });
    };
    const std::string once = run(true, true);
    EXPECT_THAT(once, HasSubstr("\"carve_out\""));
    EXPECT_TRUE(run(false, true) == once) << config;
    EXPECT_TRUE(run(true, false) == once) << config << " without sleep";
  }
}

// ---- what goes wrong

// Interconnects may leave another address in a payload than that with which it was sent.
class CarveOutBehindABus : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Transports, CarveOutBehindABus,
                         ::testing::Combine(::testing::Values("gtx480", "dwr-tesla"),
                                            ::testing::Values("at", "lt")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param), 0, 3) + "_" + std::get<1>(info.param);
                         });

TEST_P(CarveOutBehindABus, KeepsItsOwnAddresses) {
  const auto& [config, transport] = GetParam();
  constexpr std::uint32_t kThreads = 4 * 96;
  GpuBench bench(Machine::with_carve_out({std::string("host.dma_transport=") + transport}), config,
                 Machine::options());
  SystemRam ram("ram", kBase, kBytes, SystemRam::Access::kTransactions);
  ram.behind_bus = true;
  bench.device.gpu().dma_socket.bind(ram.socket);
  std::vector<std::uint32_t> values(kThreads);
  std::iota(values.begin(), values.end(), 1000);
  const runtime::Address in = bench.words(values), out = bench.zeros(4 * kThreads);
  bench.load(scale_kernel());
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    bench.run({4, 1, 1}, {96, 1, 1}, runtime::Arguments().add(in).add(out));
    for (std::uint32_t i = 0; i < kThreads; ++i)
      ASSERT_EQ(ram.word(out - kDeviceBase + 4 * i), 3 * (1000 + i) + 1) << i;
  }
  EXPECT_EQ(bench.device.gpu().violations(), "");
}

TEST(CarveOutErrors, NeedsSystemMemory) {
  GpuBench bench(Machine::with_carve_out({}), "integrated", Machine::options());
  EXPECT_THAT([] { sc_core::sc_start(1, sc_core::SC_NS); },
              Throws<InputError>(Property(&InputError::what,
                                          AllOf(HasSubstr("gpu"), HasSubstr("dma_socket is not bound")))));
}

TEST(CarveOutErrors, NeedsAllOfIt) {
  GpuBench bench(Machine::with_carve_out({}), "integrated", Machine::options());
  auto memory = Machine::memory(true, 60, 25.6);
  memory.bytes -= 4096;
  soc::Ram ram("ram", memory, kBase);
  bench.device.gpu().dma_socket.bind(ram.socket);
  EXPECT_THAT([] { sc_core::sc_start(1, sc_core::SC_NS); },
              Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("from 0x90000000 to 0x90ffffff"),
                                                                   HasSubstr("does not reach 0x90ffffff")))));
}

// Memory that fails in the middle of a kernel: a fault, as of any memory.
TEST(CarveOutErrors, OfMemoryAreFaults) {
  GpuBench bench(Machine::with_carve_out({}), "integrated", Machine::options());
  SystemRam ram("ram", kBase, kBytes, SystemRam::Access::kTransactions);
  bench.device.gpu().dma_socket.bind(ram.socket);
  const runtime::Address in = bench.words({1, 2, 3, 4}), out = bench.zeros(64);
  bench.load(scale_kernel());
  sc_core::sc_start(1, sc_core::SC_NS);
  ram.bad_from = 0;
  EXPECT_THAT(
      [&] { bench.run({1, 1, 1}, {4, 1, 1}, runtime::Arguments().add(in).add(out)); },
      Throws<SimulatedFault>(Property(&SimulatedFault::what,
                                      HasSubstr("the memory system answered TLM_ADDRESS_ERROR_RESPONSE"))));
  EXPECT_GT(bench.statistics().at("carve_out").at("errors"), 0);
}

// ---- direct access that ends

// Takes direct access to `ram` back at `at`. (A method: a thread that ends confuses AddressSanitizer.)
class Revocation final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Revocation);
  Revocation(sc_core::sc_module_name name, SystemRam& ram, const sc_core::sc_time& at)
      : sc_module(name), ram_(ram), at_(at) {
    SC_METHOD(revoke);
  }

 private:
  void revoke() {
    if (sc_core::sc_time_stamp() < at_) {
      next_trigger(at_ - sc_core::sc_time_stamp());
    } else {
      ram_.socket->invalidate_direct_mem_ptr(0, UINT64_MAX);
    }
  }
  SystemRam& ram_;
  const sc_core::sc_time at_;
};

TEST(CarveOutDirectAccess, MayEndBetweenLaunches) {
  GpuBench bench(Machine::with_carve_out({}), "integrated", Machine::options());
  SystemRam ram("ram", kBase, kBytes, SystemRam::Access::kDirect);
  bench.device.gpu().dma_socket.bind(ram.socket);
  const runtime::Address in = bench.words({1, 2, 3, 4}), out = bench.zeros(64);
  bench.load(scale_kernel());
  bench.run({1, 1, 1}, {4, 1, 1}, runtime::Arguments().add(in).add(out));
  ram.socket->invalidate_direct_mem_ptr(0, UINT64_MAX);
  EXPECT_EQ(bench.read(out, 4)[3], 13u);
  ram.word(in - kDeviceBase) = 100;
  bench.run({1, 1, 1}, {4, 1, 1}, runtime::Arguments().add(in).add(out));
  EXPECT_EQ(bench.read(out, 4)[0], 301u);
  EXPECT_EQ(ram.word(out - kDeviceBase), 301u);
  EXPECT_EQ(bench.device.gpu().violations(), "");
}

TEST(CarveOutDirectAccess, MayEndInAKernel) {
  GpuBench bench(Machine::with_carve_out({}), "integrated", Machine::options());
  SystemRam ram("ram", kBase, kBytes, SystemRam::Access::kDirect);
  Revocation revocation("revocation", ram, sc_core::sc_time(1, sc_core::SC_US));
  bench.device.gpu().dma_socket.bind(ram.socket);
  const runtime::Address in = bench.zeros(1 << 20), out = bench.zeros(1 << 20);
  bench.load(scale_kernel());
  bench.run({1024, 1, 1}, {256, 1, 1}, runtime::Arguments().add(in).add(out));
  EXPECT_GT(sc_core::sc_time_stamp(), sc_core::sc_time(1, sc_core::SC_US));
  for (std::uint64_t i = 0; i < 1024 * 256; ++i) ASSERT_EQ(ram.word(out - kDeviceBase + 4 * i), 1u) << i;
  bench.reset();
  const runtime::Address again = bench.words({7});
  bench.load(scale_kernel());
  bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(again).add(again));
  EXPECT_EQ(ram.word(again - kDeviceBase), 22u);
}

// ---- host_socket

struct Cpu final : sc_core::sc_module {
  explicit Cpu(sc_core::sc_module_name name) : sc_module(name), socket("socket") {}
  tlm_utils::simple_initiator_socket<Cpu> socket;
};

// The aperture shows the same bytes, by transactions and debug transport.
TEST_P(CarvedGpu, TheApertureShowsTheSameBytes) {
  constexpr std::uint64_t kAperture = 0x1000'0000;
  Cpu module("cpu");
  auto& cpu = module.socket;
  cpu.bind(bench.device.gpu().host_socket);
  const runtime::Address word = bench.words({1234});
  const std::uint64_t offset = word - kDeviceBase;
  std::uint32_t value = 0;
  const auto access = [&](tlm::tlm_command command, bool debug) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(kAperture + offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay;
    if (debug) {
      EXPECT_EQ(cpu->transport_dbg(payload), 4u);
    } else {
      cpu->b_transport(payload, delay);
      EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
      EXPECT_GE(delay, sc_core::sc_time(60, sc_core::SC_NS)) << "the memory's latency at least";
    }
  };
  sc_core::sc_start(1, sc_core::SC_NS);
  for (const bool debug : {true, false}) {
    value = 0;
    access(tlm::TLM_READ_COMMAND, debug);
    EXPECT_EQ(value, 1234u);
    machine.there(word) = 4321;
    access(tlm::TLM_READ_COMMAND, debug);
    EXPECT_EQ(value, 4321u);
    value = 1234;
    access(tlm::TLM_WRITE_COMMAND, debug);
    EXPECT_EQ(machine.there(word), 1234u);
    EXPECT_EQ(bench.read(word, 1)[0], 1234u);
  }
  tlm::tlm_generic_payload payload;
  payload.set_address(kAperture);
  tlm::tlm_dmi region;
  EXPECT_FALSE(cpu->get_direct_mem_ptr(payload, region));
}

}  // namespace
}  // namespace weft::test::carve_out_test
