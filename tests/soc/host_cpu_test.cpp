// Host CPUs run firmware (firmware/*.c) on a small SoC: bus, RAM, interrupt controller, timer, serial output.
#include "soc/host_cpu.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "bus/hop_monitor.h"
#include "platform/firmware/soc_map.h"
#include "soc/cpu_core_loader.h"
#include "soc/elf_image.h"
#include "soc/finisher.h"
#include "soc/interrupt_controller.h"
#include "soc/ram.h"
#include "soc/system_bus.h"
#include "soc/timer.h"
#include "soc/uart.h"
#include "weft/common/error.h"

namespace weft::soc::host_cpu_test {
namespace {

using sc_core::sc_time;

constexpr double kBusNs = 10, kDeviceNs = 5;

// Copies bytes within RAM by pointer, a microsecond after BYTES has been written: FROM 0, TO 4, BYTES 8.
// Reading FROM lets the interrupt line fall.
class Copier : public RegisterDevice {
 public:
  SC_HAS_PROCESS(Copier);
  sc_core::sc_out<bool> interrupt;
  Copier(sc_core::sc_module_name name, Ram& ram)
      : RegisterDevice(name, sc_time(kDeviceNs, sc_core::SC_NS)), interrupt("interrupt"), ram_(ram) {
    SC_METHOD(copy);
    sensitive << go_;
    dont_initialize();
  }

 private:
  Access read(std::uint64_t, std::uint32_t& value, const sc_time&, bool) override {
    value = 0;
    done_ = false;
    go_.notify(sc_core::SC_ZERO_TIME);
    return Access::kDone;
  }
  Access write(std::uint64_t offset, std::uint32_t value, const sc_time&) override {
    registers_[offset / 4 % 3] = value;
    if (offset == 8) {
      pending_ = true;
      go_.notify(1, sc_core::SC_US);
    }
    return Access::kDone;
  }
  void copy() {
    if (pending_) {
      std::memcpy(ram_.data() + (registers_[1] - SOC_RAM_BASE), ram_.data() + (registers_[0] - SOC_RAM_BASE),
                  registers_[2]);
      done_ = true;
      pending_ = false;
    }
    interrupt.write(done_);
  }
  Ram& ram_;
  std::uint32_t registers_[3] = {};
  bool pending_ = false, done_ = false;
  sc_core::sc_event go_;
};

RamConfig ram_of(std::uint64_t pages, bool dmi) {
  RamConfig config;
  config.bytes = pages * 4096;
  config.dmi = dmi;
  return config;
}

// Pauses the simulation at the program's end and notes what was then.
class End : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(End);
  End(sc_core::sc_module_name name, const Finisher& finisher, const HostCpu& cpu)
      : sc_module(name), cpu_(cpu) {
    SC_METHOD(pause);
    sensitive << finisher.finished() << cpu.faulted();
    dont_initialize();
  }
  sc_time at;
  std::uint64_t instructions = 0;

 private:
  void pause() {
    at = sc_core::sc_time_stamp();
    instructions = cpu_.instructions();
    sc_core::sc_pause();
  }
  const HostCpu& cpu_;
};

struct System {
  explicit System(const std::string& architecture, const std::string& program, double quantum_ns = 10'000,
                  std::uint64_t pages = 1024, bool dmi = true)
      : bus("bus", SystemBus::Config{kBusNs, 4}, 1,
            {{"ram", SOC_RAM_BASE, pages * 4096},
             {"uart", SOC_UART_BASE, SOC_DEVICE_BYTES},
             {"interrupts", SOC_INTERRUPTS_BASE, SOC_DEVICE_BYTES},
             {"timer", SOC_TIMER_BASE, SOC_DEVICE_BYTES},
             {"system", SOC_SYSTEM_BASE, SOC_DEVICE_BYTES},
             {"copier", SOC_GPU_BASE, SOC_DEVICE_BYTES}}),
        ram("ram", ram_of(pages, dmi)),
        uart("uart", text, true, latency),
        controller("controller", SOC_SOURCES, latency),
        timer("timer", latency),
        finisher("finisher", pages * 4096, latency),
        copier("copier", ram),
        monitor("monitor"),
        cpu("cpu", HostCpu::Config{1000, 1, quantum_ns}, load_cpu_core(architecture),
            {{SOC_RAM_BASE, pages * 4096, true},
             {SOC_UART_BASE, 4 * SOC_DEVICE_BYTES, false},
             {SOC_GPU_BASE, SOC_DEVICE_BYTES, false}}),
        line("line"),
        sources("source", SOC_SOURCES),
        end("end", finisher, cpu) {
    cpu.socket.bind(monitor.target);
    monitor.initiator.bind(bus.initiators[0]);
    RegisterDevice* devices[] = {&uart, &controller, &timer, &finisher, &copier};
    bus.targets[0].bind(ram.socket);
    for (unsigned i = 0; i < 5; ++i) bus.targets[i + 1].bind(devices[i]->socket);
    timer.interrupt(sources[SOC_SOURCE_TIMER]);
    copier.interrupt(sources[SOC_SOURCE_GPU]);
    controller.sources.bind(sources);
    controller.interrupt(line);
    cpu.interrupt(line);
    const ElfImage image =
        ElfImage::read(std::string(WEFT_TEST_FIRMWARE) + "/" + program + "-" + architecture + ".elf");
    for (const auto& segment : image.segments)
      std::memcpy(ram.data() + (segment.address - SOC_RAM_BASE), segment.bytes.data(), segment.bytes.size());
    cpu.set_entry(image.entry);
  }
  // Until the program ends or faults; at most 20 ms of simulated time.
  void run() {
    cpu.bind(tree.group("cpu"));
    sc_core::sc_start(sc_time(20, sc_core::SC_MS));
    EXPECT_EQ(monitor.report(), "");
  }
  std::uint64_t statistic(const std::string& name) {
    return tree.sum({"cpu", std::string_view(name)}).value();
  }

  const sc_time latency{kDeviceNs, sc_core::SC_NS};
  std::ostringstream text;
  SystemBus bus;
  Ram ram;
  Uart uart;
  InterruptController controller;
  Timer timer;
  Finisher finisher;
  Copier copier;
  HopMonitor monitor;
  HostCpu cpu;
  sc_core::sc_signal<bool> line;
  sc_core::sc_vector<sc_core::sc_signal<bool>> sources;
  statistics::Group tree;
  End end;
};

class HostCpuTest : public testing::TestWithParam<const char*> {};

TEST_P(HostCpuTest, SleepsUntilTheTimerFiresAndNoHandlerRunsTwice) {
  System system(GetParam(), "interrupts");
  system.run();
  EXPECT_EQ(system.finisher.exit_code(), 0) << system.cpu.fault();
  EXPECT_NE(system.text.str().find("] start\n"), std::string::npos);
  EXPECT_NE(system.text.str().find("] fired 11\n"), std::string::npos) << system.text.str();
  EXPECT_EQ(system.statistic("sleeps"), 10u);
  // Ten sleeps of at least 45 microseconds.
  EXPECT_GT(system.statistic("asleep_ns"), 450'000u);
  EXPECT_LT(system.statistic("asleep_ns"), 500'000u);
}

// Simulated time is what the instructions (1 ns each), the accesses to devices (bus and device) and the
// sleeps took, to the nanosecond, whatever the quantum.
TEST_P(HostCpuTest, TimeIsTheSumOfWhatTheProgramDid) {
  System system(GetParam(), "interrupts");
  system.run();
  ASSERT_EQ(system.finisher.exit_code(), 0);
  const double accesses = static_cast<double>(system.statistic("reads") + system.statistic("writes"));
  const double sum = static_cast<double>(system.end.instructions) + accesses * (kBusNs + kDeviceNs) +
                     static_cast<double>(system.statistic("asleep_ns"));
  EXPECT_EQ(system.end.at / sc_time(1, sc_core::SC_NS), sum);
}

TEST_P(HostCpuTest, SeesCodeThatADeviceOverwrote) {
  System system(GetParam(), "overwrite");
  system.run();
  EXPECT_EQ(system.finisher.exit_code(), 0) << system.cpu.fault();
}

TEST_P(HostCpuTest, StopsWithTheReasonAtWhatAProgramMustNotDo) {
  System system(GetParam(), "faults", 10'000, 1024);
  system.run();
  EXPECT_NE(system.cpu.fault().find("read of 4 bytes at 0x10000100: TLM_ADDRESS_ERROR_RESPONSE"),
            std::string::npos)
      << system.cpu.fault();
  EXPECT_FALSE(system.finisher.exit_code().has_value());
}
TEST_P(HostCpuTest, StopsAtAnAccessWhereNothingIs) {
  System system(GetParam(), "faults", 10'000, 1025);
  system.run();
  EXPECT_NE(system.cpu.fault().find("read of 4 bytes at 0x40000000, which is not mapped"), std::string::npos)
      << system.cpu.fault();
}
TEST_P(HostCpuTest, StopsAtAnException) {
  System system(GetParam(), "faults", 10'000, 1026);
  system.run();
  const char* name = std::string(GetParam()) == "rv64" ? "environment call" : "supervisor call";
  EXPECT_NE(system.cpu.fault().find(name), std::string::npos) << system.cpu.fault();
}
TEST_P(HostCpuTest, StopsAtAWriteToAReadOnlyRegister) {
  System system(GetParam(), "faults", 10'000, 1027);
  system.run();
  EXPECT_NE(system.cpu.fault().find("write of 4 bytes at 0x10003004: TLM_COMMAND_ERROR_RESPONSE"),
            std::string::npos)
      << system.cpu.fault();
}

std::vector<const char*> architectures() {
  std::vector<const char*> list;
  if (std::strstr(WEFT_TEST_ARCHITECTURES, "rv64") != nullptr) list.push_back("rv64");
  if (std::strstr(WEFT_TEST_ARCHITECTURES, "aarch64") != nullptr) list.push_back("aarch64");
  return list;
}
INSTANTIATE_TEST_SUITE_P(Architectures, HostCpuTest, testing::ValuesIn(architectures()),
                         [](const auto& info) { return std::string(info.param); });

TEST(CpuCoreLoader, AnUnknownArchitectureIsAnInputError) {
  EXPECT_THROW(load_cpu_core("z80"), InputError);
}

}  // namespace
}  // namespace weft::soc::host_cpu_test
