// A whole GPU with system memory and a driver that knows nothing of Weft but its registers and packets. Hop
// monitors stand on every hop, inside and outside.
#ifndef WEFT_TESTS_HOST_GPU_MACHINE_H
#define WEFT_TESTS_HOST_GPU_MACHINE_H

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "default_addresses.h"
#include "host/packets.h"
#include "host/test_memory.h"
#include "host/traffic.h"
#include "weft/platform/gpu.h"

namespace weft::test {

inline constexpr std::uint64_t kRam = 0x8000'0000;
inline constexpr std::uint64_t kRamBytes = 1 << 20;
// For a GPU whose device memory lies behind the memory of packets.
inline constexpr const char* kCarveOut = "carve_out.base=2148532224";
inline constexpr std::uint64_t kOut = kDeviceBase + 0x2'0000;

inline GpuConfig config_of(const std::string& name, std::vector<std::string> overrides = {}) {
  overrides.insert(overrides.end(), {"sm.count=2", "dram.bytes=4194304"});
  return load_config(name, overrides);
}

// A GPU with system memory and a driver.
struct Machine {
  explicit Machine(const GpuConfig& config, const std::string& name = "machine")
      : ram((name + "_ram").c_str(), kRam, kRamBytes + (config.carve_out.enabled ? config.dram.bytes : 0)),
        cpu((name + "_cpu").c_str()),
        cpu_hop((name + "_cpu_hop").c_str()),
        ram_hop((name + "_ram_hop").c_str()),
        gpu((name + "_gpu").c_str(), config, {true, true}) {
    cpu.socket.bind(cpu_hop.target);
    cpu_hop.initiator.bind(gpu.host_socket);
    gpu.irq.bind(irq);
    gpu.reset_in.bind(reset);
    put_kernel(ram, "fill");
    put_arguments(ram, kOut, 3);
    ram.put<std::int64_t>(kSignal, 1);
  }
  void with_ram() {
    gpu.dma_socket.bind(ram_hop.target);
    ram_hop.initiator.bind(ram.socket);
  }
  ~Machine() {
    EXPECT_EQ(cpu_hop.report(), "");
    EXPECT_EQ(ram_hop.report(), "");
    EXPECT_EQ(gpu.violations(), "");
    EXPECT_EQ(ram.foreign, 0u);
  }

  std::uint32_t reg(std::uint64_t address) { return cpu.read32(address); }
  void open(std::uint64_t window = kRam, std::uint64_t bytes = kRamBytes) {
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), window);
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), bytes);
    cpu.write32(WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
    for (unsigned q = 0; q < 2; ++q) {
      cpu.write64(WEFT_QUEUE(q, WEFT_QUEUE_RING_BASE_LO), kRing + 0x200 * q);
      cpu.write32(WEFT_QUEUE(q, WEFT_QUEUE_RING_PACKETS), 8);
      cpu.write64(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BASE_LO), kDeviceBase + 0x10'0000 + 0x8'0000 * q);
      cpu.write64(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BYTES_LO), 0x8'0000);
      cpu.write32(WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    }
    cpu.write32(WEFT_REG_IRQ_ENABLE, WEFT_IRQ_COMPLETION | WEFT_IRQ_ERROR);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << gpu.host_error();
  }
  template <class Packet>
  void submit(unsigned q, std::uint32_t index, const Packet& packet) {
    ram.put(kRing + 0x200 * q + index % 8 * 64, packet);
    cpu.write32(WEFT_QUEUE(q, WEFT_QUEUE_DOORBELL), index + 1);
  }
  void wait_for_interrupt() {
    const sc_core::sc_time limit = sc_core::sc_time_stamp() + sc_core::sc_time(5, sc_core::SC_MS);
    while (!irq.read() && sc_core::sc_time_stamp() < limit)
      sc_core::wait(sc_core::sc_time(100, sc_core::SC_NS));
    ASSERT_TRUE(irq.read()) << "no interrupt";
  }
  void acknowledge() {
    cpu.write32(WEFT_REG_IRQ_STATUS, UINT32_MAX);
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
  }
  std::vector<std::uint32_t> read_words(std::uint64_t device_address, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    Traffic::Access access;
    access.address = WEFT_APERTURE + (device_address - kDeviceBase);
    access.data = reinterpret_cast<unsigned char*>(words.data());
    access.bytes = static_cast<unsigned>(count * 4);
    EXPECT_EQ(cpu.access(access), tlm::TLM_OK_RESPONSE);
    return words;
  }
  // Launches `fill` over 5 blocks of 64 threads and checks what it left. Index of queue 0's packet.
  void run_fill(std::uint32_t index) {
    ram.put<std::int64_t>(kSignal, 1);
    submit(0, index, dispatch_packet(5, 64));
    wait_for_interrupt();
    EXPECT_EQ(ram.get<std::int64_t>(kSignal), 0);
    EXPECT_EQ(reg(WEFT_REG_ERROR_CODE), 0u) << gpu.host_error();
    const auto words = read_words(kOut, 321);
    for (std::uint32_t i = 0; i < 320; ++i) ASSERT_EQ(words[i], 3 * i + 5) << i;
    EXPECT_EQ(words[320], 0u);
    acknowledge();
  }

  TestMemory ram;
  Traffic cpu;
  HopMonitor cpu_hop, ram_hop;
  Gpu gpu;
  sc_core::sc_signal<bool> irq, reset;
};

}  // namespace weft::test

#endif
