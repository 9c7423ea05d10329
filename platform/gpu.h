// weft::Gpu: SMs, crossbar, L2 banks and GDDR5 channels, owned by value and wired; nothing else.
//
//   weft::Gpu gpu("gpu", config);
//   gpu.launch(launch);                       // checked; throws InputError if a block cannot fit an SM
//   while (!gpu.idle()) sc_core::sc_start(gpu.idle_event() ...);
#ifndef WEFT_PLATFORM_GPU_H
#define WEFT_PLATFORM_GPU_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

#include "common/fault.h"
#include "common/statistics.h"
#include "dispatch/launch.h"
#include "platform/gpu_config.h"
#include "ptx/module.h"

namespace weft {

namespace host {
class DmaEngine;
}
namespace sm {
class DeviceServices;
}
namespace texture {
class Table;
}
namespace gddr5 {
class MemoryImage;
}
namespace sm {
class AccessObserver;
class InstructionProfile;
struct DeviceMemoryView;
}  // namespace sm

// What the command line shows of a running launch.
struct Progress {
  std::uint64_t blocks_done = 0, blocks_total = 0;
  std::uint64_t cycles = 0;               // core cycles spent in launches so far
  std::uint64_t thread_instructions = 0;  // executed so far
};

// What a GPU counted in total since construction or the last statistics reset.
struct Totals {
  std::uint64_t cycles = 0;  // core cycles in which a launch was active
  std::uint64_t thread_instructions = 0, warp_instructions = 0;
  double ipc = 0;              // thread instructions per core cycle, all SMs
  double lane_activity = 0;    // active lanes / (issue beats with an active lane x SIMD width)  [HARP eq. 2]
  double simd_efficiency = 0;  // mean over warp instructions of active threads / warp size     [ST Fig. 4]
  double idle_share = 0;       // scheduler cycles without a ready warp / scheduler cycles       [DWR III]
  double coalescing_rate = 0;  // memory thread instructions / requests that enter the crossbar  [DWR eq. 1]
};

class Gpu : public sc_core::sc_module {
  struct Impl;

 public:
  using HostSocket =
      tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  using DmaSocket =
      tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  using InterruptPort =
      sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  using ResetPort = sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  struct Options {
    bool sleeping = true;   // false: step every module at every edge (same results, slower)
    bool monitors = false;  // a hop monitor on every hop
  };

  Gpu(sc_core::sc_module_name name, const GpuConfig& config, const Options& options);
  ~Gpu() override;

  // What launch() refuses, without launching: throws the same InputError.
  void check(const dispatch::Launch& launch) const;
  // Puts a launch behind those of its queue (Launch::queue), which run one after the other; launches of
  // different queues overlap where SMs are free. Throws InputError if the grid is empty or too large, the
  // block does not fit an SM (saying which resource), or the parameters have the wrong size. After a fault
  // the launch ends at once (Launch::done), until the reset.
  void launch(const dispatch::Launch& launch);
  // The same for a launch that check() has passed.
  void enqueue(const dispatch::Launch& launch);
  bool idle() const;                            // nothing queued, running, or on its way to memory
  const sc_core::sc_event& idle_event() const;  // notified when the last launch has drained

  // The fault or hang that stopped the GPU, if any: text with thread, PC, source line. It ends all launches,
  // of all queues. Cleared by reset().
  bool faulted() const;
  const std::string& fault() const;
  FaultKind fault_kind() const;
  // Stops the running launches from outside the SMs (SIGINT, --max-cycles, a copy that failed).
  void abandon(const Fault& reason);

  // Back to the state after construction: memory, caches, tables, statistics.
  void reset();

  const GpuConfig& config() const;
  // Device memory; addresses are offsets into it plus kDeviceBase. Where it lies in system memory
  // (GpuConfig::CarveOut), its bytes move there when the simulation starts; without direct access they change
  // hands before and after each launch.
  gddr5::MemoryImage& memory();
  texture::Table& objects();  // texture and surface objects; emptied by reset()
  // The same memory with its mapped pages, for who runs kernels without the SMs.
  sm::DeviceMemoryView memory_view() const;
  // Shows accesses and barriers of the launches from now on to `observer`, which outlives them; nullptr: to
  // nobody. Launches that are observed do not overlap.
  void observe(sm::AccessObserver* observer);
  // Counts instructions of the launches from now on in `profile`, which outlives them; nullptr: does not.
  void profile(sm::InstructionProfile* profile);
  // Asked when all threads only repeat loops with the same registers, which is a hang (fault()) unless the
  // answer is true, or they read system memory: the host may yet change what they read. It is asked again
  // while they do.
  void when_spinning(std::function<bool()> may_be_helped);
  // What printf, malloc and free of kernels use; must outlive the GPU. Without: no output, an empty heap.
  void provide(sm::DeviceServices* services);
  statistics::Registry& statistics();
  Totals totals() const;
  Progress progress() const;
  // Occupancy; 0: the launch would be refused.
  std::uint32_t blocks_per_sm(const dispatch::Launch& launch) const;
  // How programs are decoded for this GPU, and the limit on registers with which one has to be decoded again
  // so that a block of `threads` fits; 0: it may stay as it is.
  ptx::DecodeOptions decode_options() const;
  std::uint32_t registers_to_fit(const ptx::Program& program, std::uint64_t threads) const;
  // Device memory that the launch needs at Launch::local_address.
  std::uint64_t local_memory_bytes(const dispatch::Launch& launch) const;
  // Waveforms of core edges first_cycle to last_cycle (vcd/README.md). Once, before the simulation starts;
  // InputError if it has, if the window is empty, if the file cannot be written, or if Weft was built without
  // tracing.
  void trace(const std::string& file, std::uint64_t first_cycle, std::uint64_t last_cycle);
  // Ends the waveform, if there is one. InputError if it is not complete because it could not be written: the
  // run went on without it. The destructor ends it silently.
  void close_trace();
  // Every hop monitor's violations, as text; empty without Options::monitors.
  std::string violations() const;
  // System memory (GpuConfig::System::enabled, else InputError): kernels reach addresses inside windows
  // through dma_socket, with the same numbers. With direct access (DMI) instructions act when they issue,
  // without it when their transactions complete. add_window throws InputError as sm::SystemMemory does.
  // reset() removes all windows. The window registers of the host side are windows for kernels too.
  void add_system_window(std::uint64_t base, std::uint64_t bytes);
  void remove_system_window(std::uint64_t base);
  // Address checks: only mapped pages of device memory may be accessed by kernels. `address` is a device
  // address.
  void map(std::uint64_t address, std::uint64_t bytes, bool mapped);
  // Copies in simulated time.
  host::DmaEngine& dma();
  // What ERROR_CODE of the host side is about, in words; empty if it is 0.
  const std::string& host_error() const;

 private:
  void end_of_elaboration() override;
  void start_of_simulation() override;
  std::unique_ptr<Impl> impl_;

 public:
  // The GPU in an SoC (modules/host/README.md). Each may stay unbound.
  HostSocket& host_socket;  // registers, and the aperture to device memory
  DmaSocket& dma_socket;    // to system memory, inside windows only
  InterruptPort& irq;       // a level
  ResetPort& reset_in;      // a level; the GPU is reset at its rise
};

// Device addresses of global memory start here; below lie the shared and local windows
// (isa/address_windows.h).
inline constexpr std::uint64_t kDeviceBase = 0x1'0000'0000;
// Granule of Gpu::map.
inline constexpr std::uint64_t kPageBytes = 4096;

}  // namespace weft

#endif
