// libFuzzer on what software writes to a GPU in an SoC: registers, packets, kernel objects, PTX, signals,
// doorbells, in any order and at any time, with resets in between. Whatever it does, the hops keep to the
// protocol, nothing leaves the windows, the interrupt line says what its registers say, and after a reset a
// good launch works.
//
// An input is a list of operations of four bytes or more; what it says is taken modulo what makes some sense,
// so that most inputs get far.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "bus/hop_monitor.h"
#include "default_addresses.h"
#include "fuzz/require.h"
#include "host/packets.h"
#include "host/register_table.h"
#include "host/test_memory.h"
#include "host/traffic.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"

// Libraries that are not instrumented grow strings and vectors too; and the GPU lives until the end, part of
// it known only to coroutines of SystemC, whose stacks are not searched for pointers.
extern "C" const char* __asan_default_options() {
  return "detect_container_overflow=0:detect_stack_use_after_return=0:detect_leaks=0";
}

// GCC's objects, which the libraries are, take a class's table of virtual bases from where its vtable is.
// clang leaves one out that it does not need itself.
template class tlm_utils::passthrough_target_socket_b<weft::HopMonitor, 32, tlm::tlm_base_protocol_types>;
template class tlm_utils::simple_initiator_socket_b<weft::HopMonitor, 32, tlm::tlm_base_protocol_types>;

namespace weft::fuzz {
namespace {

using test::kArguments, test::kObject, test::kRing, test::kSignal, test::kText;

constexpr std::uint64_t kRam = 0x8000'0000;
constexpr std::uint64_t kRamBytes = 1 << 16;
constexpr std::uint64_t kOut = kDeviceBase + 0x2'0000;
constexpr std::uint64_t kDeviceBytes = 1 << 20;
constexpr unsigned kQueues = 4;
constexpr std::uint32_t kThreads = 32;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{byte()} << 8 * i;
    return value;
  }
  // Addresses: most near something.
  std::uint64_t address() {
    constexpr std::uint64_t kPlaces[] = {kRam,
                                         kRing,
                                         kObject,
                                         kText,
                                         kArguments,
                                         kSignal,
                                         kDeviceBase,
                                         kOut,
                                         kRam + kRamBytes,
                                         kDeviceBase + kDeviceBytes,
                                         0,
                                         UINT64_MAX - 63};
    const unsigned choice = byte();
    if (choice >= 224) return std::uint64_t{word()} << (choice & 31);
    return kPlaces[choice % std::size(kPlaces)] + 8 * std::uint64_t{byte()} - (choice >= 192 ? 4 : 0);
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

struct Machine {
  Machine()
      : ram("ram", kRam, kRamBytes),
        cpu("cpu"),
        cpu_hop("cpu_hop"),
        ram_hop("ram_hop"),
        gpu("gpu",
            load_config("gtx480",
                        {"sm.count=1", "dram.bytes=1048576", "dram.channels=1", "watchdog.cycles=2000"}),
            {true, true}) {
    cpu.socket.bind(cpu_hop.target);
    cpu_hop.initiator.bind(gpu.host_socket);
    gpu.dma_socket.bind(ram_hop.target);
    ram_hop.initiator.bind(ram.socket);
    gpu.irq.bind(irq);
    gpu.reset_in.bind(reset);
    cpu.style = test::Traffic::Style::kLoose;
    // Without timing (MODE) there is no watchdog: a kernel that does not end is ended here.
    gpu.interrupt_untimed([this] { return ++asked > 200; });
  }

  static void run_ns(double nanoseconds) { sc_core::sc_start(sc_core::sc_time(nanoseconds, sc_core::SC_NS)); }
  // From outside of the simulation: registers act at once.
  std::uint32_t access(tlm::tlm_command command, std::uint64_t address, std::uint32_t value,
                       unsigned bytes = 4) {
    unsigned char data[64] = {};
    std::memcpy(data, &value, sizeof value);
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    sc_core::sc_time delay;
    cpu.socket->b_transport(payload, delay);
    std::memcpy(&value, data, sizeof value);
    return value;
  }
  std::uint32_t read(std::uint64_t address) { return access(tlm::TLM_READ_COMMAND, address, 0); }
  void write(std::uint64_t address, std::uint32_t value) { access(tlm::TLM_WRITE_COMMAND, address, value); }
  void write64(std::uint64_t address, std::uint64_t value) {
    write(address, static_cast<std::uint32_t>(value));
    write(address + 4, static_cast<std::uint32_t>(value >> 32));
  }

  void fill_memory() {
    asked = 0;
    std::fill(ram.bytes.begin(), ram.bytes.end(), 0);
    test::put_kernel(ram, "fill");
    test::put_arguments(ram, kOut, 3);
    ram.put<std::int64_t>(kSignal, 1);
  }
  void open() {
    write64(WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), kRam);
    write64(WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), kRamBytes);
    write(WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
    for (unsigned q = 0; q < kQueues; ++q) {
      write64(WEFT_QUEUE(q, WEFT_QUEUE_RING_BASE_LO), kRing + 0x200 * q);
      write(WEFT_QUEUE(q, WEFT_QUEUE_RING_PACKETS), 8);
      write64(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BASE_LO), kDeviceBase + 0x8'0000 + 0x1'0000 * q);
      write64(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BYTES_LO), 0x1'0000);
      write(WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    }
    write(WEFT_REG_IRQ_ENABLE, 7);
  }

  void check() {
    run_ns(1);  // the line follows its registers by a delta cycle
    require(irq.read() == ((read(WEFT_REG_IRQ_STATUS) & read(WEFT_REG_IRQ_ENABLE)) != 0),
            "the interrupt line");
    require(cpu_hop.report().empty() && ram_hop.report().empty(), "the protocol of an outer hop");
    const std::string inner = gpu.violations();
    require(inner.empty(), ("the protocol of an inner hop: " + inner).c_str());
    require((read(WEFT_REG_ERROR_CODE) != 0) == !gpu.host_error().empty(), "an error without a text");
  }
  void go_back_to_start() {
    reset.write(false);
    write(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    run_ns(300);
    while ((read(WEFT_REG_STATUS) & WEFT_STATUS_IN_RESET) != 0) run_ns(300);
    require(read(WEFT_REG_STATUS) == 0 && !irq.read(), "the state after a reset");
  }
  void check_that_a_launch_works() {
    fill_memory();
    open();
    ram.put(kRing, test::dispatch_packet(1, kThreads));
    write(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL), 1);
    for (int i = 0; i < 50 && ram.get<std::int64_t>(kSignal) != 0; ++i) run_ns(1000);
    require(ram.get<std::int64_t>(kSignal) == 0, "a good launch after the reset");
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      std::uint32_t word;
      std::memcpy(&word, gpu.memory().data() + (kOut - kDeviceBase) + 4 * i, sizeof word);
      require(word == 3 * i + 5, "the result of a good launch");
    }
  }

  test::TestMemory ram;
  test::Traffic cpu;
  HopMonitor cpu_hop, ram_hop;
  Gpu gpu;
  sc_core::sc_signal<bool> irq, reset;
  unsigned asked = 0;
};

class Session {
 public:
  Session(Machine& machine, Input& input) : m_(machine), in_(input) {}

  void operate() {
    switch (in_.byte() % 12) {
      case 0:
        return write_register();
      case 1:
      case 2:
      case 3:
        return put_packet();
      case 4:
      case 5:
        return ring();
      case 6:
        return poke();
      case 7:
        return change_text();
      case 8:
        return Machine::run_ns(in_.byte() * 10.0);
      case 9:
        return Machine::run_ns(in_.byte() * 300.0);
      case 10:
        return reset();
      default:
        m_.access(in_.byte() % 2 != 0 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND,
                  in_.byte() % 2 != 0 ? WEFT_APERTURE + kDeviceBytes - in_.byte() : in_.word(), in_.word(),
                  1 + in_.byte() % 64);
    }
  }

 private:
  void write_register() {
    const unsigned kind = in_.byte();
    const unsigned which = in_.byte();
    std::uint64_t address = 4 * std::uint64_t{which % 20};
    if (kind % 3 == 1) address = WEFT_WINDOW(kind / 3 % 4, 4 * (which % 5));
    if (kind % 3 == 2) {
      const unsigned queue = kind / 3 % kQueues;
      address =
          which < 192 ? WEFT_QUEUE(queue, 4 * (which % 16)) : WEFT_QUEUE_RUNTIME(queue, 4 * (which % 8));
    }
    const std::uint64_t value = in_.byte() % 2 != 0 ? in_.byte() : in_.address();
    m_.write(address, static_cast<std::uint32_t>(value));
  }

  // A good packet of some kind, of which some fields are replaced.
  void put_packet() {
    unsigned char bytes[64];
    const unsigned kind = in_.byte();
    if (kind % 8 == 0) {
      const auto packet =
          test::copy_packet(in_.address(), in_.address(), in_.word() >> in_.byte() % 32, kSignal);
      std::memcpy(bytes, &packet, sizeof bytes);
    } else if (kind % 8 == 4) {
      const auto packet =
          test::fill_packet(in_.address(), in_.word() >> in_.byte() % 32, in_.word(), kSignal);
      std::memcpy(bytes, &packet, sizeof bytes);
    } else if (kind % 4 == 1) {
      const auto packet =
          test::barrier_packet(kind % 8 < 4 ? WEFT_PACKET_BARRIER_AND : WEFT_PACKET_BARRIER_OR,
                               kSignal + 8 * (in_.byte() % 4), kSignal + 8 * (in_.byte() % 4), kSignal);
      std::memcpy(bytes, &packet, sizeof bytes);
    } else {
      const auto packet =
          test::dispatch_packet(1 + in_.byte() % 8, static_cast<std::uint16_t>(1 + in_.byte()));
      std::memcpy(bytes, &packet, sizeof bytes);
    }
    for (unsigned changes = in_.byte() % 4; changes > 0; --changes) {
      if (in_.byte() % 2 != 0) {
        bytes[in_.byte() % 64] = in_.byte();
      } else {
        const std::uint64_t value = in_.address();
        std::memcpy(bytes + in_.byte() % 8 * 8, &value, sizeof value);
      }
    }
    const unsigned q = in_.byte() % kQueues;
    m_.ram.put_bytes(kRing + 0x200 * q + in_.byte() % 8 * 64, bytes, sizeof bytes);
  }

  void ring() {
    const unsigned q = in_.byte() % kQueues;
    const std::uint32_t read_index = m_.read(WEFT_QUEUE(q, WEFT_QUEUE_READ_INDEX));
    const unsigned how = in_.byte();
    m_.write(WEFT_QUEUE(q, WEFT_QUEUE_DOORBELL), how < 250 ? read_index + how % 9 : in_.word());
  }

  void poke() {
    const std::uint64_t address = in_.address();
    const std::uint64_t value = in_.byte() % 2 != 0 ? in_.byte() : in_.address();
    if (address >= kRam && address - kRam <= kRamBytes - 8) m_.ram.put(address, value);
  }

  void change_text() {
    const std::uint64_t at = kText + in_.word() % std::strlen(test::kFillText);
    m_.ram.put<std::uint8_t>(at, in_.byte());
  }

  void reset() {
    if (in_.byte() % 2 != 0) {
      m_.reset.write(!m_.reset.read());
      Machine::run_ns(in_.byte());
    } else {
      m_.write(WEFT_REG_CONTROL, in_.byte() % 4);
      Machine::run_ns(200);
      m_.open();
    }
  }

  Machine& m_;
  Input& in_;
};

void check_input(Machine& machine, Input input) {
  machine.fill_memory();
  machine.open();
  Session session(machine, input);
  for (unsigned i = 0; i < 64 && !input.empty(); ++i) session.operate();
  machine.check();
  machine.go_back_to_start();
  machine.check_that_a_launch_works();
  machine.check();
  machine.go_back_to_start();
}

Machine* machine = nullptr;

}  // namespace
}  // namespace weft::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  if (fuzz::machine == nullptr) fuzz::machine = new fuzz::Machine;  // SystemC elaborates once
  fuzz::check_input(*fuzz::machine, {data, size});
  return 0;
}

// libsystemc wants it; libFuzzer has the main function.
int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}
