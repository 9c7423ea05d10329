// A GPU in a platform that is not Weft's: a memory, a driver that knows nothing but generic payloads and the
// registers, and an interrupt line.
//
//   driver ──▶ gpu.host_socket        registers, and device memory
//   gpu.dma_socket ──▶ memory         packets, parameters, PTX, and the data, which kernels read in place
//   gpu.irq ──▶ driver ──▶ gpu.reset_in
//
// With the name of a file (without .vcd) it writes waveforms.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/weft_registers.h"

namespace {

constexpr std::uint64_t kMemoryBase = 0x8000'0000;
constexpr std::uint64_t kMemoryBytes = 16 << 20;

// Plain loosely-timed memory: 50 ns for each access, and direct memory access for who asks.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket;

  explicit Memory(sc_core::sc_module_name name) : sc_module(name), bytes_(kMemoryBytes) {
    socket.register_b_transport(this, &Memory::transport);
    socket.register_get_direct_mem_ptr(this, &Memory::grant);
  }
  // The driver's own view of the memory.
  template <typename T>
  T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(bytes_.data() + (address - kMemoryBase));
  }

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address(), length = payload.get_data_length();
    if (address < kMemoryBase || length > kMemoryBytes || address - kMemoryBase > kMemoryBytes - length) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.get_byte_enable_ptr() != nullptr) {
      payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), at<unsigned char>(address), length);
    if (payload.is_write()) std::memcpy(at<unsigned char>(address), payload.get_data_ptr(), length);
    delay += sc_core::sc_time(50, sc_core::SC_NS);
    payload.set_dmi_allowed(true);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  bool grant(tlm::tlm_generic_payload&, tlm::tlm_dmi& region) {
    region.allow_read_write();
    region.set_start_address(kMemoryBase);
    region.set_end_address(kMemoryBase + kMemoryBytes - 1);
    region.set_dmi_ptr(bytes_.data());
    region.set_read_latency(sc_core::sc_time(50, sc_core::SC_NS));
    region.set_write_latency(sc_core::sc_time(50, sc_core::SC_NS));
    return true;
  }

  std::vector<unsigned char> bytes_;
};

// Where the driver puts things in memory.
constexpr std::uint64_t kRing = kMemoryBase, kArguments = kMemoryBase + 0x1000,
                        kObject = kMemoryBase + 0x1100, kSignal = kMemoryBase + 0x1200,
                        kName = kMemoryBase + 0x1300, kFrom = kMemoryBase + 0x10'0000,
                        kText = kMemoryBase + 0x30'0000;
constexpr std::uint32_t kRingPackets = 8, kElements = 10'000, kBlock = 128;

class Driver : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Driver);
  tlm_utils::simple_initiator_socket<Driver> socket;
  sc_core::sc_in<bool> irq;
  sc_core::sc_out<bool> reset;

  Driver(sc_core::sc_module_name name, Memory& memory, std::string ptx)
      : sc_module(name), memory_(memory), ptx_(std::move(ptx)) {
    SC_THREAD(run);
  }
  // Elements that are not what they should be; all of them until the work is done.
  std::uint32_t wrong() const { return wrong_; }

 private:
  void run() {
    if (read(WEFT_REG_ID) != WEFT_ID_VALUE) SC_REPORT_FATAL("driver", "no GPU found");
    reset.write(true);
    wait(sc_core::sc_time(100, sc_core::SC_NS));
    reset.write(false);
    do {
      wait(sc_core::sc_time(10, sc_core::SC_NS));
    } while ((read(WEFT_REG_STATUS) & WEFT_STATUS_IN_RESET) != 0);

    write64(WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), kMemoryBase);
    write64(WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), kMemoryBytes);
    write(WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);

    // Device memory is the driver's to give out: the module first, then what kernels need while they run,
    // then the results.
    const std::uint64_t device = read64(WEFT_REG_DEVICE_BASE_LO);
    constexpr std::uint64_t kModuleBytes = 1 << 16, kScratchBytes = 1 << 16;
    const std::uint64_t results = device + kModuleBytes + kScratchBytes;
    write64(WEFT_QUEUE(0, WEFT_QUEUE_RING_BASE_LO), kRing);
    write(WEFT_QUEUE(0, WEFT_QUEUE_RING_PACKETS), kRingPackets);
    write64(WEFT_QUEUE(0, WEFT_QUEUE_SCRATCH_BASE_LO), device + kModuleBytes);
    write64(WEFT_QUEUE(0, WEFT_QUEUE_SCRATCH_BYTES_LO), kScratchBytes);
    for (std::uint32_t i = 0; i < kRingPackets; ++i) {
      memory_.at<weft_kernel_dispatch_packet>(kRing)[i].header = WEFT_PACKET_INVALID;
    }
    write(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    write(WEFT_REG_IRQ_ENABLE, WEFT_IRQ_COMPLETION | WEFT_IRQ_ERROR);

    const std::string name = "scale";
    std::memcpy(memory_.at<char>(kText), ptx_.data(), ptx_.size());
    std::memcpy(memory_.at<char>(kName), name.data(), name.size());
    auto& object = *memory_.at<weft_kernel_object>(kObject);
    object = {};
    object.magic = WEFT_KERNEL_OBJECT_MAGIC;
    object.ptx_address = kText;
    object.ptx_bytes = ptx_.size();
    object.name_address = kName;
    object.name_bytes = static_cast<std::uint32_t>(name.size());
    object.memory_address = device;
    object.memory_bytes = kModuleBytes;

    for (std::uint32_t i = 0; i < kElements; ++i)
      memory_.at<std::int32_t>(kFrom)[i] = static_cast<std::int32_t>(i);
    struct Arguments {
      std::uint64_t from, to;
      std::int32_t factor, n;
    };
    *memory_.at<Arguments>(kArguments) = {kFrom, results, 3, kElements};
    *memory_.at<std::int64_t>(kSignal) = 1;

    weft_kernel_dispatch_packet packet{};
    packet.setup = 1;
    packet.workgroup_size[0] = kBlock;
    packet.workgroup_size[1] = packet.workgroup_size[2] = 1;
    packet.grid_size[0] = (kElements + kBlock - 1) / kBlock * kBlock;
    packet.grid_size[1] = packet.grid_size[2] = 1;
    packet.kernel_object = kObject;
    packet.kernarg_address = kArguments;
    packet.completion_signal = kSignal;
    packet.header = WEFT_PACKET_KERNEL_DISPATCH;
    *memory_.at<weft_kernel_dispatch_packet>(kRing) = packet;
    write(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL), 1);

    while (!irq.read()) wait(irq.value_changed_event());
    const std::uint32_t status = read(WEFT_REG_IRQ_STATUS);
    write(WEFT_REG_IRQ_STATUS, status);
    if ((status & WEFT_IRQ_ERROR) != 0) {
      std::fprintf(stderr, "integrator: the GPU reports error %u\n", read(WEFT_REG_ERROR_CODE));
    }
    wrong_ = 0;
    const std::vector<std::int32_t> found = device_words(results - device, kElements);
    for (std::uint32_t i = 0; i < kElements; ++i) wrong_ += found[i] != 3 * static_cast<std::int32_t>(i);
    std::printf("%s: signal %lld, %u elements, %u wrong\n", sc_core::sc_time_stamp().to_string().c_str(),
                static_cast<long long>(*memory_.at<std::int64_t>(kSignal)), kElements, wrong_);
    sc_core::sc_stop();
  }

  // Of device memory, from an offset on: its bytes themselves where the GPU grants them, else by transport.
  std::vector<std::int32_t> device_words(std::uint64_t offset, std::size_t count) {
    std::vector<std::int32_t> words(count);
    const std::size_t bytes = count * sizeof words[0];
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(WEFT_APERTURE + offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(words.data()));
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    tlm::tlm_dmi region;
    if (socket->get_direct_mem_ptr(payload, region) && region.is_read_allowed()) {
      const std::uint64_t skipped = WEFT_APERTURE + offset - region.get_start_address();
      std::memcpy(words.data(), region.get_dmi_ptr() + skipped, bytes);
      return words;
    }
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_error()) SC_REPORT_FATAL("driver", payload.get_response_string().c_str());
    return words;
  }

  std::uint32_t access(tlm::tlm_command command, std::uint64_t address, std::uint32_t value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_error()) SC_REPORT_FATAL("driver", payload.get_response_string().c_str());
    return value;
  }
  std::uint32_t read(std::uint64_t address) { return access(tlm::TLM_READ_COMMAND, address, 0); }
  std::uint64_t read64(std::uint64_t address) {
    const std::uint64_t low = read(address);
    return low | std::uint64_t{read(address + 4)} << 32;
  }
  void write(std::uint64_t address, std::uint32_t value) { access(tlm::TLM_WRITE_COMMAND, address, value); }
  void write64(std::uint64_t address, std::uint64_t value) {
    write(address, static_cast<std::uint32_t>(value));
    write(address + 4, static_cast<std::uint32_t>(value >> 32));
  }

  Memory& memory_;
  const std::string ptx_;
  std::uint32_t wrong_ = kElements;
};

}  // namespace

int sc_main(int argc, char* argv[]) try {
  std::ifstream text(PTX, std::ios::binary);
  const std::string ptx((std::istreambuf_iterator<char>(text)), {});

  weft::Gpu gpu("gpu", weft::load_config(CONFIG, {"host.dma_transport=lt", "system.enabled=true"}), {});
  Memory memory("memory");
  Driver driver("driver", memory, ptx);
  sc_core::sc_signal<bool> irq("irq"), reset("reset");
  driver.socket.bind(gpu.host_socket);
  gpu.dma_socket.bind(memory.socket);
  gpu.irq.bind(irq);
  driver.irq.bind(irq);
  driver.reset.bind(reset);
  gpu.reset_in.bind(reset);

  sc_core::sc_trace_file* file = nullptr;
  if (argc > 1) {
    file = sc_core::sc_create_vcd_trace_file(argv[1]);
    file->set_time_unit(1, sc_core::SC_PS);
    sc_core::sc_trace(file, irq, "irq");
    sc_core::sc_trace(file, reset, "reset");
    gpu.trace(file, "host,launch,sm0.scheduler*,crossbar");
  }

  sc_core::sc_start();
  if (file != nullptr) sc_core::sc_close_vcd_trace_file(file);
  return driver.wrong() == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "integrator: %s\n", error.what());
  return 2;
}
