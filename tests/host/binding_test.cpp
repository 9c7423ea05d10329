// How platforms bind a GPU: sockets of the types that everybody uses, found by their names, or left unbound.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "host/packets.h"
#include "host/test_memory.h"
#include "weft/platform/gpu.h"
#include "weft/weft_registers.h"

namespace weft::test::binding_test {
namespace {

using Payload = tlm::tlm_generic_payload;

constexpr std::uint64_t kRam = 0x8000'0000;
constexpr std::uint64_t kRamBytes = 1 << 20;
constexpr std::uint64_t kGpu = 0x10'0000'0000;

GpuConfig config() {
  return load_config("gtx480", {"sm.count=1", "dram.bytes=4194304"});
}

// Functions with the parameters of public platforms: a bus of VCML deduces the width of a socket with the
// default policy, the interconnect of libsystemctlm-soc takes the default socket itself.
template <unsigned WIDTH>
void bind_like_vcml(tlm::tlm_base_target_socket<WIDTH>& in, tlm::tlm_base_initiator_socket<WIDTH>& source) {
  source.bind(in);
}
template <unsigned WIDTH>
void bind_like_vcml(tlm::tlm_base_initiator_socket<WIDTH>& out, tlm::tlm_base_target_socket<WIDTH>& target) {
  out.bind(target);
}

// A bus with two ways in, to memory and to the GPU behind it.
struct Bus : sc_core::sc_module {
  tlm_utils::simple_target_socket_tagged<Bus> cpu{"cpu"}, gpu{"gpu"};
  tlm_utils::simple_initiator_socket_tagged<Bus> memory{"memory"}, registers{"registers"};

  explicit Bus(const sc_core::sc_module_name& name) : sc_module(name) {
    cpu.register_b_transport(this, &Bus::transport, 0);
    gpu.register_b_transport(this, &Bus::transport, 1);
  }
  void memmap(tlm::tlm_target_socket<>& target) { registers.bind(target); }
  void transport(int, Payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    if (address < kGpu) return memory->b_transport(payload, delay);
    payload.set_address(address - kGpu);
    registers->b_transport(payload, delay);
    payload.set_address(address);
  }
};

struct Cpu : sc_core::sc_module {
  SC_HAS_PROCESS(Cpu);
  tlm_utils::simple_initiator_socket<Cpu> socket{"socket"};
  std::function<void()> script;
  bool done = false;

  explicit Cpu(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(run); }
  void run() {
    script();
    done = true;
  }
  std::uint32_t access(tlm::tlm_command command, std::uint64_t address, std::uint32_t value) {
    Payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    sc_core::wait(delay);
    EXPECT_TRUE(payload.is_response_ok()) << std::hex << address << " " << payload.get_response_string();
    return value;
  }
  std::uint32_t read(std::uint64_t address) { return access(tlm::TLM_READ_COMMAND, kGpu + address, 0); }
  void write(std::uint64_t address, std::uint32_t value) {
    access(tlm::TLM_WRITE_COMMAND, kGpu + address, value);
  }
  void write64(std::uint64_t address, std::uint64_t value) {
    write(address, static_cast<std::uint32_t>(value));
    write(address + 4, static_cast<std::uint32_t>(value >> 32));
  }
};

// A packet that copies 8 bytes of memory needs both sockets.
struct Platform {
  Platform() {
    bus.cpu.bind(cpu.socket);
    bus.memory.bind(memory.socket);
    cpu.script = [this] { copy(); };
  }
  void copy() {
    EXPECT_EQ(cpu.read(WEFT_REG_ID), static_cast<std::uint32_t>(WEFT_ID_VALUE));
    memory.put<std::uint64_t>(kRam + 0x1000, 0x1122'3344'5566'7788);
    weft_copy_packet packet{};
    packet.format = WEFT_VENDOR_COPY;
    packet.source = kRam + 0x1000;
    packet.destination = kRam + 0x2000;
    packet.bytes = 8;
    packet.header = WEFT_PACKET_VENDOR;
    memory.put(kRam, packet);
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), kRam);
    cpu.write64(WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), kRamBytes);
    cpu.write(WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
    cpu.write64(WEFT_QUEUE(0, WEFT_QUEUE_RING_BASE_LO), kRam);
    cpu.write(WEFT_QUEUE(0, WEFT_QUEUE_RING_PACKETS), 8);
    cpu.write(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    cpu.write(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL), 1);
    for (int i = 0; i < 100 && cpu.read(WEFT_QUEUE(0, WEFT_QUEUE_READ_INDEX)) == 0; ++i)
      sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    error = cpu.read(WEFT_REG_ERROR_CODE);
  }
  void run() {
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    EXPECT_TRUE(cpu.done);
  }
  void expect_copied() {
    run();
    EXPECT_EQ(error, 0u) << gpu.host_error();
    EXPECT_EQ(memory.get<std::uint64_t>(kRam + 0x2000), 0x1122'3344'5566'7788u);
    EXPECT_EQ(gpu.violations(), "");
  }

  Gpu gpu{"gpu", config(), {true, true}};
  TestMemory memory{"memory", kRam, kRamBytes};
  Bus bus{"bus"};
  Cpu cpu{"cpu"};
  std::uint32_t error = 0;
};

TEST(Binding, BusesOfPublicPlatformsBindTheSockets) {
  Platform platform;
  bind_like_vcml(platform.bus.gpu, platform.gpu.dma_socket);
  platform.bus.memmap(platform.gpu.host_socket);
  platform.expect_copied();
}

TEST(Binding, TheTargetsDirectionToo) {
  Platform platform;
  bind_like_vcml(platform.bus.registers, platform.gpu.host_socket);
  platform.gpu.dma_socket.bind(platform.bus.gpu);
  platform.expect_copied();
}

// The documented names are those in SystemC's hierarchy.
TEST(Binding, ObjectsHaveTheDocumentedNames) {
  Gpu gpu("gpu", config(), {});
  EXPECT_EQ(sc_core::sc_find_object("gpu.host_socket"), &gpu.host_socket);
  EXPECT_EQ(sc_core::sc_find_object("gpu.dma_socket"), &gpu.dma_socket);
  EXPECT_EQ(sc_core::sc_find_object("gpu.irq"), &gpu.irq);
  EXPECT_EQ(sc_core::sc_find_object("gpu.queue_irq"), &gpu.queue_irq);
  EXPECT_EQ(sc_core::sc_find_object("gpu.queue_irq_3"), &gpu.queue_irq[3]);
  EXPECT_EQ(sc_core::sc_find_object("gpu.reset_in"), &gpu.reset_in);
}

// A platform that a file describes binds objects by their names, as late as SystemC allows.
struct NetList : sc_core::sc_module {
  explicit NetList(const sc_core::sc_module_name& name) : sc_module(name) {}
  void before_end_of_elaboration() override {
    auto* const dma = dynamic_cast<tlm::tlm_initiator_socket<>*>(sc_core::sc_find_object("gpu.dma_socket"));
    auto* const host = dynamic_cast<tlm::tlm_target_socket<>*>(sc_core::sc_find_object("gpu.host_socket"));
    auto* const in = dynamic_cast<tlm::tlm_target_socket<>*>(sc_core::sc_find_object("bus.gpu"));
    auto* const out = dynamic_cast<tlm::tlm_initiator_socket<>*>(sc_core::sc_find_object("bus.registers"));
    ASSERT_TRUE(dma != nullptr && host != nullptr && in != nullptr && out != nullptr);
    dma->bind(*in);
    out->bind(*host);
  }
};

TEST(Binding, ByNameWhenTheSimulationBegins) {
  Platform platform;
  const NetList list("list");
  platform.expect_copied();
}

// ---- unbound

TEST(Binding, NothingNeedsToBeBound) {
  Gpu gpu("gpu", config(), {true, true});
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  EXPECT_EQ(gpu.statistics().sample().count("host"), 0u) << "no host side";
  EXPECT_TRUE(gpu.idle());
}

TEST(Binding, WithoutAHostOnly) {
  Gpu gpu("gpu", config(), {true, true});
  TestMemory memory("memory", kRam, kRamBytes);
  gpu.dma_socket.bind(memory.socket);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  EXPECT_EQ(gpu.statistics().sample().count("host"), 1u);
  EXPECT_EQ(memory.accesses, 0u);
}

// The packet lies nowhere: an error of the bus.
TEST(Binding, WithoutMemoryOnly) {
  Platform platform;
  Cpu idle("idle");
  idle.script = [] {};
  platform.bus.gpu.bind(idle.socket);
  platform.bus.memmap(platform.gpu.host_socket);
  platform.run();
  EXPECT_EQ(platform.error, static_cast<std::uint32_t>(WEFT_ERROR_BUS)) << platform.gpu.host_error();
  EXPECT_EQ(platform.gpu.violations(), "");
}

}  // namespace
}  // namespace weft::test::binding_test
