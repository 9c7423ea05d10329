// A HostInterface between a traffic generator, system memory and device memory, with a GPU whose kernels end
// when the test says so. Hop monitors stand on all three sockets.
#ifndef WEFT_TESTS_HOST_HOST_BENCH_H
#define WEFT_TESTS_HOST_HOST_BENCH_H

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "bus/picoseconds.h"
#include "host/host_interface.h"
#include "host/test_memory.h"
#include "host/traffic.h"
#include "weft/common/error.h"

namespace weft::test {

inline constexpr std::uint64_t kDevice = 0x1'0000'0000;
inline constexpr std::uint64_t kDeviceBytes = 1 << 20;
inline constexpr std::uint64_t kRam = 0x8000'0000;
inline constexpr std::uint64_t kRamBytes = 1 << 20;

// What the command processor asks for, as it asks.
struct MockGpu : host::GpuControl {
  struct Running {
    dispatch::Launch launch;
    std::uint32_t queue;
    host::LaunchEnded ended;
    std::uint64_t begin_ps;
  };
  explicit MockGpu(std::vector<unsigned char>& memory) : bytes(memory) {}

  void launch(dispatch::Launch launch, std::uint32_t queue, host::LaunchEnded ended) override {
    if (launch.grid[0] > 1000) throw InputError("kernel", "a grid that is too large");
    running.push_back({std::move(launch), queue, std::move(ended), now_picoseconds()});
  }
  void run_untimed(dispatch::Launch launch, std::uint32_t /*queue*/, host::LaunchEnded ended) override {
    if (launch.grid[0] > 1000) throw InputError("kernel", "a grid that is too large");
    untimed.push_back(std::move(launch));
    ended({gpu_fault, now_picoseconds(), now_picoseconds()});
  }
  std::uint64_t local_memory_bytes(const dispatch::Launch& launch) const override {
    return launch.program->local_bytes * 1000;
  }
  std::uint32_t registers_to_fit(const ptx::Program& program, std::uint64_t threads) const override {
    return threads > 64 && program.registers_per_thread > registers_of_large_blocks
               ? registers_of_large_blocks
               : 0;
  }
  void map_memory() override { mapped = true; }
  bool set_window(unsigned index, std::uint64_t base, std::uint64_t size) override {
    windows.at(index) = {base, size};
    return true;
  }
  void reset() override {
    ++resets;
    running.clear();
    gpu_fault = {};
    mapped = false;
    std::fill(bytes.begin(), bytes.end(), 0);
    reset_bus();
    host->reset();
  }
  unsigned char* memory() override { return bytes.data(); }
  void write_memory(std::uint64_t offset, const unsigned char* data, std::size_t size) override {
    std::copy_n(data, size, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::uint64_t cycles() const override { return cycle; }
  unsigned sms() const override { return 15; }
  Fault fault() const override { return gpu_fault; }

  // Ends the oldest kernel.
  void finish(const Fault& fault = {}) {
    const Running ended = running.front();
    running.erase(running.begin());
    ended.ended({fault, ended.begin_ps, now_picoseconds()});
  }

  std::uint32_t registers_of_large_blocks = 255;
  std::vector<unsigned char>& bytes;
  host::HostInterface* host = nullptr;
  std::function<void()> reset_bus;  // to device memory
  std::vector<Running> running;
  std::vector<dispatch::Launch> untimed;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> windows =
      std::vector<std::pair<std::uint64_t, std::uint64_t>>(4);
  std::uint64_t cycle = 0;
  Fault gpu_fault;
  bool mapped = false;
  int resets = 0;
};

// What has the sockets and ports: SystemC allows them within modules only.
struct Chip : sc_core::sc_module {
  Chip(const sc_core::sc_module_name& name, std::size_t queues) : sc_module(name), connections(queues) {}
  host::Connections connections;
};

struct HostBench {
  explicit HostBench(const host::Config& config = {})
      : device("device", 0, kDeviceBytes),
        ram("ram", kRam, kRamBytes),
        clock("clock", 1000),
        gpu(device.bytes),
        chip("chip", config.queues),
        host("host", config, chip.connections, clock, gpu, machine::AddressWindows(), kDeviceBytes, 4096),
        cpu("cpu"),
        cpu_hop("cpu_hop"),
        ram_hop("ram_hop"),
        device_hop("device_hop") {
    gpu.host = &host;
    gpu.reset_bus = [this] {
      device.drop();
      device_hop.reset();
    };
    cpu.socket.bind(cpu_hop.target);
    cpu_hop.initiator.bind(chip.connections.host_socket);
    chip.connections.dma_socket.bind(ram_hop.target);
    ram_hop.initiator.bind(ram.socket);
    host.device_socket().bind(device_hop.target);
    device_hop.initiator.bind(device.socket);
    chip.connections.irq.bind(irq);
    chip.connections.reset_in.bind(reset);
  }
  ~HostBench() {
    for (HopMonitor* hop : {&ram_hop, &device_hop}) EXPECT_EQ(hop->report(), "");
    for (const auto& violation : cpu_hop.violations())
      EXPECT_EQ(cpu_mistakes.count(violation.rule), 1u) << violation.text;
    EXPECT_EQ(ram.foreign, 0u) << "dma_socket left the windows";
    EXPECT_EQ(device.foreign, 0u);
  }
  // Nothing may be left under way.
  void expect_quiet() {
    for (HopMonitor* hop : {&cpu_hop, &ram_hop, &device_hop}) hop->check_complete();
  }

  // From a script: window 0 is all of `ram`, queue q has its ring at `ring` and scratch at device memory's
  // middle.
  void open_window() {
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), kRam);
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), kRamBytes);
    cpu.write32(WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
  }
  void open_queue(unsigned q, std::uint64_t ring, std::uint32_t packets = 8) {
    cpu.write64(WEFT_QUEUE(q, WEFT_QUEUE_RING_BASE_LO), ring);
    cpu.write32(WEFT_QUEUE(q, WEFT_QUEUE_RING_PACKETS), packets);
    cpu.write64(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BASE_LO), kDevice + kDeviceBytes / 2 + q * 0x4000);
    cpu.write64(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BYTES_LO), 0x4000);
    cpu.write32(WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
  }
  void doorbell(unsigned q, std::uint32_t index) { cpu.write32(WEFT_QUEUE(q, WEFT_QUEUE_DOORBELL), index); }
  // Packet `index` of a ring of 8 packets.
  template <class Packet>
  void put_packet(std::uint64_t ring, std::uint64_t index, const Packet& packet) {
    ram.put(ring + index % 8 * 64, packet);
  }
  static void wait_us(double us) { sc_core::wait(sc_core::sc_time(us, sc_core::SC_US)); }

  TestMemory device, ram;
  ClockDomain clock;
  MockGpu gpu;
  Chip chip;
  host::HostInterface host;
  Traffic cpu;
  HopMonitor cpu_hop, ram_hop, device_hop;
  std::set<HopRule> cpu_mistakes;  // that a test makes on purpose
  sc_core::sc_signal<bool> irq, reset;
};

}  // namespace weft::test

#endif
