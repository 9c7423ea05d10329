// What of a GPU leads to system memory: windows that kernels reach, and device memory itself where it is a
// carve-out of system memory.
#ifndef WEFT_PLATFORM_SYSTEM_SIDE_H
#define WEFT_PLATFORM_SYSTEM_SIDE_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "execute/system_memory.h"
#include "system_port/carve_out.h"
#include "system_port/system_port.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/gpu_config.h"

namespace weft {

class SystemSide {
 public:
  SystemSide(const GpuConfig& config, memory::MemoryImage& image);

  // The modules that the configuration asks for. `memory_ports`: banks of the L2 cache, or of the crossbar,
  // behind which device memory lies.
  void make_ports(ClockDomain& interconnect, unsigned memory_ports);
  // Told when a kernel's write to a window is done, and when direct access to some bytes, both included,
  // ends.
  std::function<void(std::uint64_t address, const tlm::tlm_generic_payload& write)> on_written;
  std::function<void(std::uint64_t first, std::uint64_t last)> on_withdrawn;
  // Moves bytes of a window by transactions, if the caller may wait for them: empty, or what the memory did
  // instead (execute::SystemMemory::Path). Without a value: the caller may not.
  std::function<std::optional<std::string>(bool write, std::uint64_t address, std::uint8_t* data,
                                           unsigned bytes)>
      transact;
  // Of device memory in system memory: told that others no longer see it in the image at any time.
  std::function<void()> on_attached;

  // nullptr: kernels reach no windows.
  execute::SystemMemory* windows() { return config_.system.enabled ? &windows_ : nullptr; }
  // nullptr: they, or device memory, are not there.
  system_port::SystemPort* window_port() { return window_port_ ? &*window_port_ : nullptr; }
  system_port::SystemPort* memory_port() { return memory_port_ ? &*memory_port_ : nullptr; }
  bool has_carve_out() const { return carve_out_.has_value(); }
  // Whether the host may use the image's bytes at any time: not if there is system memory behind.
  bool memory_is_direct() const { return !attached_; }

  // When the simulation starts. Throws InputError, naming `where`, if there is no system memory for the
  // carve-out; `bound`: dma_socket is.
  void attach(const std::string& where, bool bound);
  // Before a launch, and before the end of one is told.
  void exchange(const std::vector<std::uint8_t>& mapped, std::uint64_t page_bytes);

  void reset_ports();
  void reset_memory();
  bool quiet() const { return !memory_port_.has_value() || memory_port_->quiet(); }
  void bind(statistics::Group& root);
  void probes(const Probes::Scope& root) const;

 private:
  void reach_windows();
  system_port::CarveOut::Path memory_path();

  const GpuConfig& config_;
  memory::MemoryImage& image_;
  execute::SystemMemory windows_;
  std::optional<system_port::SystemPort> window_port_, memory_port_;
  std::optional<system_port::CarveOut> carve_out_;
  bool attached_ = false;
};

}  // namespace weft

#endif
