// The GPU on a bus of its own platform, with Weft's driver in C running on a CPU that is a thread: it runs
// ahead of simulated time by up to a quantum, and sleeps until the GPU interrupts it.
//
//   cpu ──▶ bus ──▶ memory            at 0x8000'0000
//           ▲ └───▶ gpu.host_socket   at 0x1'0000'0000
//   gpu.dma_socket
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "program.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"

namespace {

using Payload = tlm::tlm_generic_payload;

constexpr std::uint64_t kMemoryBase = 0x8000'0000, kMemoryBytes = 16 << 20;
constexpr std::uint64_t kGpuBase = 0x1'0000'0000;

// Plain memory, at offsets from its first byte on.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket;

  explicit Memory(const sc_core::sc_module_name& name) : sc_module(name), bytes_(kMemoryBytes) {
    socket.register_b_transport(this, &Memory::transport);
    socket.register_transport_dbg(this, &Memory::move);
    socket.register_get_direct_mem_ptr(this, &Memory::grant);
  }
  unsigned char* data() { return bytes_.data(); }

 private:
  void transport(Payload& payload, sc_core::sc_time& delay) {
    const bool plain = payload.get_byte_enable_ptr() == nullptr;
    const bool done = plain && move(payload) == payload.get_data_length();
    payload.set_dmi_allowed(done);
    payload.set_response_status(done    ? tlm::TLM_OK_RESPONSE
                                : plain ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                        : tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    delay += sc_core::sc_time(50, sc_core::SC_NS);
  }
  unsigned move(Payload& payload) {
    const std::uint64_t offset = payload.get_address(), length = payload.get_data_length();
    if (offset > kMemoryBytes || length > kMemoryBytes - offset) return 0;
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), bytes_.data() + offset, length);
    if (payload.is_write()) std::memcpy(bytes_.data() + offset, payload.get_data_ptr(), length);
    return payload.get_data_length();
  }
  bool grant(Payload&, tlm::tlm_dmi& region) {
    region.allow_read_write();
    region.set_start_address(0);
    region.set_end_address(kMemoryBytes - 1);
    region.set_dmi_ptr(bytes_.data());
    return true;
  }

  std::vector<unsigned char> bytes_;
};

// Decodes addresses: a target sees offsets into its range. Direct access, its end, and debug go the same way.
class Bus : public sc_core::sc_module {
 public:
  struct Range {
    std::uint64_t base, bytes;
  };
  tlm_utils::multi_passthrough_target_socket<Bus> initiators;
  tlm_utils::multi_passthrough_initiator_socket<Bus> targets;  // bound in the order of the ranges

  Bus(const sc_core::sc_module_name& name, std::vector<Range> ranges)
      : sc_module(name), initiators("initiators"), targets("targets"), ranges_(std::move(ranges)) {
    initiators.register_b_transport(this, &Bus::transport);
    initiators.register_transport_dbg(this, &Bus::debug);
    initiators.register_get_direct_mem_ptr(this, &Bus::grant);
    targets.register_invalidate_direct_mem_ptr(this, &Bus::invalidate);
  }

 private:
  int target_of(const Payload& payload) const {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const std::uint64_t offset = payload.get_address() - ranges_[i].base;
      if (offset < ranges_[i].bytes && payload.get_data_length() <= ranges_[i].bytes - offset)
        return static_cast<int>(i);
    }
    return -1;
  }
  // Calls the target with its own address; the initiator finds the payload as it was.
  template <class Call>
  void at_target(int target, Payload& payload, const Call& call) {
    const std::uint64_t address = payload.get_address();
    payload.set_address(address - ranges_[static_cast<std::size_t>(target)].base);
    call(*targets[target]);
    payload.set_address(address);
  }
  void transport(int, Payload& payload, sc_core::sc_time& delay) {
    const int target = target_of(payload);
    if (target < 0) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    at_target(target, payload, [&](tlm::tlm_fw_transport_if<>& to) { to.b_transport(payload, delay); });
  }
  unsigned debug(int, Payload& payload) {
    const int target = target_of(payload);
    unsigned bytes = 0;
    if (target >= 0)
      at_target(target, payload, [&](tlm::tlm_fw_transport_if<>& to) { bytes = to.transport_dbg(payload); });
    return bytes;
  }
  bool grant(int, Payload& payload, tlm::tlm_dmi& region) {
    const int target = target_of(payload);
    if (target < 0) return false;
    bool granted = false;
    at_target(target, payload,
              [&](tlm::tlm_fw_transport_if<>& to) { granted = to.get_direct_mem_ptr(payload, region); });
    const std::uint64_t base = ranges_[static_cast<std::size_t>(target)].base;
    region.set_start_address(region.get_start_address() + base);
    region.set_end_address(region.get_end_address() + base);
    return granted;
  }
  void invalidate(int target, sc_dt::uint64 first, sc_dt::uint64 last) {
    const Range& range = ranges_[static_cast<std::size_t>(target)];
    last = std::min<sc_dt::uint64>(last, range.bytes - 1);
    for (unsigned i = 0; i < initiators.size(); ++i)
      initiators[static_cast<int>(i)]->invalidate_direct_mem_ptr(range.base + first, range.base + last);
  }

  const std::vector<Range> ranges_;
};

class Cpu : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Cpu);
  tlm_utils::simple_initiator_socket<Cpu> socket;
  sc_core::sc_in<bool> irq;

  Cpu(const sc_core::sc_module_name& name, Memory& memory, std::string ptx)
      : sc_module(name), socket("socket"), irq("irq"), memory_(memory), ptx_(std::move(ptx)) {
    SC_THREAD(run);
  }
  int result() const { return result_; }

 private:
  void run() {
    keeper_.reset();
    weft_io io{};
    io.context = this;
    io.read32 = [](void* cpu, std::uint64_t offset) {
      return static_cast<Cpu*>(cpu)->access(tlm::TLM_READ_COMMAND, offset, 0);
    };
    io.write32 = [](void* cpu, std::uint64_t offset, std::uint32_t value) {
      static_cast<Cpu*>(cpu)->access(tlm::TLM_WRITE_COMMAND, offset, value);
    };
    io.mask = [](void*) {};  // this CPU looks at its interrupt in unmask() only
    io.sleep = [](void* cpu) { static_cast<Cpu*>(cpu)->sleep(); };
    io.unmask = [](void* cpu) {
      if (static_cast<Cpu*>(cpu)->irq.read()) program_interrupt();
    };
    io.memory = memory_.data();
    io.memory_address = kMemoryBase;
    io.memory_bytes = kMemoryBytes;
    result_ = program_run(&io, ptx_.data(), ptx_.size());
    keeper_.sync();
    std::printf("%s: program returned %d\n", sc_core::sc_time_stamp().to_string().c_str(), result_);
    sc_core::sc_stop();
  }

  // Registers of the GPU, from this CPU's local time.
  std::uint32_t access(tlm::tlm_command command, std::uint64_t offset, std::uint32_t value) {
    Payload payload;
    payload.set_command(command);
    payload.set_address(kGpuBase + offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    sc_core::sc_time local = keeper_.get_local_time();
    socket->b_transport(payload, local);
    if (payload.is_response_error()) SC_REPORT_FATAL("cpu", payload.get_response_string().c_str());
    keeper_.set(local);
    if (keeper_.need_sync()) keeper_.sync();
    return value;
  }
  // The GPU works while simulated time passes: nobody may wait for it in local time.
  void sleep() {
    keeper_.sync();
    while (!irq.read()) wait(irq.value_changed_event());
  }

  Memory& memory_;
  const std::string ptx_;
  tlm_utils::tlm_quantumkeeper keeper_;
  int result_ = -100;
};

}  // namespace

int sc_main(int, char*[]) try {
  std::ifstream file(PTX, std::ios::binary);
  const std::string ptx((std::istreambuf_iterator<char>(file)), {});
  tlm::tlm_global_quantum::instance().set(sc_core::sc_time(1, sc_core::SC_US));

  weft::Gpu gpu("gpu", weft::load_config(CONFIG, {"host.dma_transport=lt", "system.enabled=true"}), {});
  const std::uint64_t gpu_bytes = WEFT_APERTURE + gpu.config().dram.bytes;
  Bus bus("bus", {{kMemoryBase, kMemoryBytes}, {kGpuBase, gpu_bytes}});
  Memory memory("memory");
  Cpu cpu("cpu", memory, ptx);
  sc_core::sc_signal<bool> irq("irq");
  cpu.socket.bind(bus.initiators);
  gpu.dma_socket.bind(bus.initiators);
  bus.targets.bind(memory.socket);
  bus.targets.bind(gpu.host_socket);
  gpu.irq.bind(irq);
  cpu.irq.bind(irq);

  sc_core::sc_start();
  return cpu.result() == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "c_driver: %s\n", error.what());
  return 2;
}
