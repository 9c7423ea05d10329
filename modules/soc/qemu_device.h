// A PCI device of stock QEMU whose inside is in this simulation: qemu-system-x86_64 with
// `-device x-pci-proxy-dev,fd=N` hands every access to its BARs over a socket (QEMU's multi-process protocol,
// docs/devel/multi-process.rst), and shares its guest's memory by file descriptors.
//
// BAR 0 are the GPU's registers, BAR 1 the first 16 MiB of its device memory. The guest runs at its own
// speed: while it does not ask for anything, simulated time goes on as long as something happens in the
// simulation. Results of a program are therefore the same from run to run, times are not. Interrupts of such
// a device need KVM in QEMU. With Config::doorbells the guest gets a second device (qemu_doorbells.h) that
// has interrupts without KVM, and all of device memory; else guests poll.
#ifndef WEFT_SOC_QEMU_DEVICE_H
#define WEFT_SOC_QEMU_DEVICE_H

#include <sys/types.h>
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "soc/qemu_doorbells.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"

namespace weft::soc {

class QemuDevice : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(QemuDevice);
  struct Config {
    std::string program = "qemu-system-x86_64";
    std::uint64_t ram_mib = 128;
    double step_ns = 1000;
    std::string arguments;         // further words of QEMU's command line
    std::string kernel_arguments;  // of the guest's kernel
    std::uint64_t pool_mib = 0;  // the end of the guest's memory, which its kernel leaves to the GPU's driver
    double boot_seconds = 0;     // of real time, until the guest must have asked for the GPU; 0: no limit
    bool doorbells = false;
    void describe(config::Visitor& v);
    // Throws InputError, also if the pool leaves the kernel too little.
    void check(const std::string& where) const;
  };
  // What the guest begins with.
  struct Guest {
    std::string image;   // a multiboot image, or a Linux kernel
    std::string initrd;  // path; empty: none
    // Files of the guest in /sys/firmware/qemu_fw_cfg/by_name, by name and content.
    std::vector<std::pair<std::string, std::string>> files;
  };
  // Where a BAR's first byte lies for `socket`.
  struct Bar {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;  // a power of two
  };

  tlm_utils::simple_initiator_socket<QemuDevice> socket;
  tlm_utils::passthrough_target_socket<QemuDevice> memory;  // the guest's, by guest address

  QemuDevice(sc_core::sc_module_name name, const Config& config, const std::array<Bar, 2>& bars);
  // Ends QEMU if it still runs.
  ~QemuDevice() override;

  // With Config::doorbells, before start(): the file of device memory, and the number of interrupts. Throws
  // InputError.
  void share(int device_memory, unsigned interrupts);
  // A rising edge of an interrupt of the GPU. Precondition: share().
  void interrupt(unsigned number);
  // Starts QEMU, its serial port on standard output. Throws InputError.
  void start(const Guest& guest);
  void give_up_if(std::function<bool()> condition) { give_up_ = std::move(condition); }

  // What the guest wrote to the port 0xf4 of isa-debug-exit; 0 if it has powered off.
  std::optional<int> exit_code() const { return exit_code_; }
  const std::string& fault() const { return fault_; }
  const sc_core::sc_event& ended() const { return ended_; }
  // Real time from the start until now, or the end: the guest's clock.
  double seconds() const;
  void bind(statistics::Group& group);

 private:
  // Of the protocol: the layout of QEMU 7.2 on a 64-bit host.
  struct Header {
    std::int32_t command;
    std::uint32_t reserved;
    std::uint64_t bytes;
  };
  struct Region {
    std::uint64_t base, bytes;
    unsigned char* host;
  };

  std::vector<std::string> command_line(const Guest& guest, int link) const;
  void run();
  bool boots_too_long() const;
  void end_with(const std::string& fault);
  bool message_waits(int timeout_ms) const;
  bool receive();
  bool receive_bytes(void* to, std::size_t bytes, std::vector<int>* descriptors);
  bool answer();
  bool reply(std::uint64_t value);
  void share_memory(const std::vector<int>& descriptors);
  void forget_memory();
  std::uint64_t read_config(std::uint32_t address, unsigned bytes) const;
  void write_config(std::uint32_t address, std::uint32_t value, unsigned bytes);
  std::uint64_t access_bar(bool write, std::uint64_t address, std::uint64_t value, unsigned bytes);
  void reap();

  const Region* find(std::uint64_t address, std::uint64_t bytes) const;
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool dmi(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& granted);
  unsigned debug(tlm::tlm_generic_payload& payload);

  const Config config_;
  const std::array<Bar, 2> bars_;
  pid_t process_ = -1;
  int link_ = -1;
  Header header_{};
  std::array<unsigned char, 256> content_{};
  std::array<unsigned char, 256> config_space_{};
  std::vector<Region> regions_;
  std::function<bool()> give_up_;
  using Clock = std::chrono::steady_clock;
  std::unique_ptr<QemuDoorbells> doorbells_;
  Clock::time_point began_ = Clock::now(), stopped_ = began_;
  unsigned resets_ = 0;  // of the guest's machine
  bool heard_ = false;   // QEMU has sent a message
  std::optional<int> exit_code_;
  std::string fault_;
  sc_core::sc_event ended_;
  std::uint64_t reads_ = 0, writes_ = 0, errors_ = 0, interrupts_ = 0;
};

}  // namespace weft::soc

#endif
