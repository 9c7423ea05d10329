// An example SoC: host CPU, bus, memory, interrupt controller, timer, serial output, and the GPU as one
// device among them. Owns its parts by value and wires them; nothing else. The memory map is
// platform/firmware/soc_map.h.
//
//   Soc soc("soc", config, gpu_config, std::cout, {});
//   soc.load("bfs-rv64.elf");
//   while (!soc.ended()) sc_core::sc_start(...);          // pauses at the end
//   return *soc.exit_code();
#ifndef WEFT_PLATFORM_SOC_H
#define WEFT_PLATFORM_SOC_H

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "bus/hop_monitor.h"
#include "platform/soc/soc_config.h"
#include "soc/finisher.h"
#include "soc/interrupt_controller.h"
#include "soc/timer.h"
#include "soc/uart.h"
#include "weft/common/statistics.h"
#include "weft/platform/gpu.h"
#include "weft/platform/interrupt_call.h"

namespace weft {

class Soc : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Soc);
  // `console` takes the serial output and outlives the SoC. Kernels can always reach system memory
  // (gpu.system.enabled is set). A GPU without memory of its own (gpu.carve_out) takes the end of memory from
  // its base on; software is told of what lies below. Throws InputError if there is no such host CPU, its
  // socket cannot be made, or the carve-out does not lie in memory.
  Soc(sc_core::sc_module_name name, const SocConfig& config, GpuConfig gpu, std::ostream& console,
      const Gpu::Options& options);

  // Puts a program into memory and sets the host CPU's start; of kind qemu: starts QEMU with it, and with
  // this initial RAM disk, if there is one. Throws InputError if it cannot be read, is for another
  // architecture or does not fit the memory, or if the CPU is external; and for a RAM disk without QEMU.
  void load(const std::string& path, const std::string& initrd = "");
  // Asked while the simulation waits for an external CPU: true gives up.
  void give_up_if(const std::function<bool()>& condition);

  // The program has ended, or cannot go on; the simulation pauses then.
  bool ended() const { return exit_code().has_value() || !fault().empty(); }
  std::optional<int> exit_code() const;
  // Why the host CPU stopped for good, if it did before the program's end.
  std::string fault() const;

  Gpu& gpu() { return gpu_; }
  // Of the parts around the GPU, which has its own.
  statistics::Group& statistics() { return statistics_; }
  // Real time that QEMU has run, which is the clock of its guest; 0 for other host CPUs.
  double guest_seconds() const { return qemu_.has_value() ? qemu_->seconds() : 0; }
  std::uint64_t host_instructions() const { return cpu_.has_value() ? cpu_->instructions() : 0; }
  // Writes an unfinished line of the serial output.
  void flush_serial_output() { uart_.flush(); }
  // Of the protocol on the hops to the bus, if monitored; empty: none.
  std::string violations() const;

 private:
  void pause();
  const sc_core::sc_event& cpu_ended() const;
  void load_into_memory(const std::string& path);
  void wire();
  void wire_doorbells();

  const SocConfig config_;
  const sc_core::sc_time latency_;
  soc::SystemBus bus_;
  std::optional<soc::Ram> ram_;  // with QEMU the guest's memory is the system's
  soc::Uart uart_;
  soc::InterruptController interrupts_;
  soc::Timer timer_;
  const std::uint64_t software_bytes_;  // of memory, that are not the GPU's own
  soc::Finisher finisher_;
  Gpu gpu_;
  std::optional<soc::HostCpu> cpu_;
  std::optional<soc::ExternalCpu> external_;
  std::optional<soc::QemuDevice> qemu_;
  std::vector<std::unique_ptr<InterruptCall>> doorbells_;  // of the GPU's queues
  std::optional<HopMonitor> cpu_monitor_, gpu_monitor_;
  sc_core::sc_vector<sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS>> sources_;
  sc_core::sc_signal<bool> interrupt_;
  statistics::Group statistics_;
};

}  // namespace weft

#endif
