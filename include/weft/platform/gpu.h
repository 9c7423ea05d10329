// weft::Gpu: SMs, crossbar, L2 banks and DRAM channels, owned by value and wired; nothing else.
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
#include <string_view>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "weft/common/archive.h"
#include "weft/common/fault.h"
#include "weft/common/statistics.h"
#include "weft/dispatch/launch.h"
#include "weft/functional/counters.h"
#include "weft/platform/device_memory.h"
#include "weft/platform/gpu_config.h"
#include "weft/platform/hop_observer.h"
#include "weft/platform/recordings.h"
#include "weft/platform/totals.h"
#include "weft/ptx/module.h"

namespace weft {

namespace host {
class DmaEngine;
}
namespace texture {
class Table;
}
namespace memory {
class MemoryImage;
}
namespace execute {
class AccessObserver;
class DeviceServices;
struct DeviceMemoryView;
struct Kernel;
}  // namespace execute
namespace sm {
class SmObserver;
}

class Gpu : public sc_core::sc_module {
  struct Impl;

 public:
  using HostSocket = tlm::tlm_target_socket<>;
  using DmaSocket = tlm::tlm_initiator_socket<>;
  using InterruptPort =
      sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  using ResetPort = sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  struct Options {
    bool sleeping = true;   // false: step every module at every edge (same results, slower)
    bool monitors = false;  // a hop monitor on every hop
    // Observers of one's own; several on a hop stand in this order, the first at the side of the SMs. The
    // constructor throws InputError if a name matches no hop.
    std::vector<HopObservation> observations = {};

    Options& observe(std::string hops, HopObserverFactory make) {
      observations.push_back({std::move(hops), std::move(make)});
      return *this;
    }
    // Modules of one's own in place of hops' targets (hop_observer.h). InputError also if a hop gets two.
    Options& replace(std::string hops, HopObserverFactory make) {
      observations.push_back({std::move(hops), std::move(make), true, true});
      return *this;
    }
  };

  Gpu(sc_core::sc_module_name name, const GpuConfig& config, const Options& options);
  ~Gpu() override;

  // What runs a launch, here (`enqueue`) or without timing; throws the InputError with which launch()
  // refuses.
  std::shared_ptr<execute::Kernel> prepare(const dispatch::Launch& launch) const;
  // Puts a launch behind those of its queue (Launch::queue), which run one after the other; launches of
  // different queues overlap where SMs are free. Throws InputError if the grid is empty or too large, the
  // block does not fit an SM (saying which resource), or the parameters have the wrong size. After a fault
  // that stopped the GPU the launch ends at once (Launch::done), until the reset.
  void launch(const dispatch::Launch& launch);
  // The same for what prepare() has made. Nothing of it may change any more.
  void enqueue(const std::shared_ptr<execute::Kernel>& kernel);
  // Runs a launch at once, without timing: simulated time stands still, and what kernels in time do meanwhile
  // comes before or after it. Returns the fault that ended it, or that had stopped the GPU before; none: it
  // is done. Throws InputError as launch does. A kernel that waits for something outside never ends, but by
  // `interrupt_untimed`.
  Fault run_untimed(const dispatch::Launch& launch);
  // The same from within the simulation. The kernel runs in a process of the GPU. Where system memory grants
  // no direct access, the kernel waits there for transactions, which take simulated time. `ended` is called
  // once, perhaps from within this call; not after a reset.
  void run_untimed(const dispatch::Launch& launch, std::function<void(const Fault&)> ended);
  // Asked now and then while such a launch runs; true ends it, as `abandon` does.
  void interrupt_untimed(std::function<bool()> interrupted);
  // What these launches have executed.
  const functional::Counters& untimed_counters() const;
  bool idle() const;                            // nothing queued, running, or on its way to memory
  const sc_core::sc_event& idle_event() const;  // notified when the last launch has drained

  // The fault or hang that stopped the GPU, if any: text with thread, PC, source line. It ends all launches,
  // of all queues. Cleared by reset(). A fault of a contained launch, as those of packets are, does not stop
  // the GPU (dispatch::Launch::contained).
  bool faulted() const;
  const std::string& fault() const;
  FaultKind fault_kind() const;
  // Stops the running launches from outside the SMs (SIGINT, --max-cycles, a copy that failed).
  void abandon(const Fault& reason);

  // Back to the state after construction: memory, caches, tables, statistics.
  void reset();

  // What a simulation can be continued with where no launch runs (platform/README.md): everything but device
  // memory, texture objects and what waits to begin. `rests` is called within the simulation when a launch
  // has ended and none runs; archive() writes from within that call only, and throws NotAtRest if something
  // is still on its way to memory. It reads into a GPU of the same configuration that has run nothing, at the
  // same simulated time; what happened at that instant after the call happens then.
  void when_launches_rest(std::function<void()> rests);
  void archive(Archive& archive);
  // Why it cannot be; empty: it can.
  std::string cannot_be_kept() const;

  const GpuConfig& config() const;
  // Device memory; addresses are offsets into it plus device_base(), as the configuration's `addresses` has
  // it. Where it lies in system memory
  // (GpuConfig::CarveOut), its bytes move there when the simulation starts; without direct access they change
  // hands before and after each launch.
  memory::MemoryImage& memory();
  std::uint64_t device_base() const;
  // The host has copied bytes to this offset, in no time. They are in the L2 now if l2.host_copies_fill says
  // so.
  void host_copied(std::uint64_t offset, std::uint64_t bytes);
  texture::Table& objects();  // texture and surface objects; emptied by reset()
  // The same memory with its mapped pages, for who runs kernels without the SMs.
  execute::DeviceMemoryView memory_view() const;
  // Shows accesses and barriers of the launches from now on to `observer`, which outlives them; nullptr: to
  // nobody. Launches that are observed do not overlap.
  void observe(execute::AccessObserver* observer);
  // Shows what an SM does to `observer` (modules/sm/sm_observer.h) from now on, or no more. Not from within a
  // call to an observer. One that is attached outlives the GPU.
  void attach(unsigned sm, sm::SmObserver& observer);
  void detach(unsigned sm, const sm::SmObserver& observer);
  // Asked when all threads only repeat loops with the same registers, which is a hang (fault()) unless the
  // answer is true, or they read system memory: the host may yet change what they read. It is asked again
  // while they do.
  void when_spinning(std::function<bool()> may_be_helped);
  // What printf, malloc and free of kernels use; must outlive the GPU. Without: no output, an empty heap.
  void provide(execute::DeviceServices* services);
  statistics::Group& statistics();
  Totals totals() const;
  // How busy its parts were, and which of them bounds the launches so far (platform/README.md).
  std::vector<Utilisation> utilisation() const;
  Bound bound() const;
  Progress progress() const;
  // The kernel that the SM holds or held last; empty: none since the last launch of all has ended.
  std::string_view kernel_of(unsigned sm) const;
  // Occupancy; 0: the launch would be refused.
  std::uint32_t blocks_per_sm(const dispatch::Launch& launch) const;
  // How programs are decoded for this GPU, and the limit on registers with which one has to be decoded again
  // so that a block of `threads` fits; 0: it may stay as it is.
  ptx::DecodeOptions decode_options() const;
  std::uint32_t registers_to_fit(const ptx::Program& program, std::uint64_t threads) const;
  // Device memory that the launch needs at Launch::local_address.
  std::uint64_t local_memory_bytes(const dispatch::Launch& launch) const;
  // Waveforms, timeline, tables.
  Recordings& recordings();
  const Recordings& recordings() const;
  // Waveforms in a file of SystemC's, beside whatever else is traced there; InputError as for
  // Recordings::write_waveform. Their names begin with that of the GPU: "top.gpu.sm0.active_lanes".
  void trace(sc_core::sc_trace_file* file, const SignalSelection& selection) const;
  void trace(sc_core::sc_trace_file* file) const override;  // of all signals, as sc_trace calls it
  // Every hop monitor's violations, as text; empty without Options::monitors.
  std::string violations() const;
  // System memory (GpuConfig::System::enabled, else InputError): kernels reach addresses inside windows
  // through dma_socket, with the same numbers. With direct access (DMI) instructions act when they issue,
  // without it when their transactions complete. add_window throws InputError as execute::SystemMemory does.
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
  // The GPU in an SoC (modules/host/README.md). Each may stay unbound. The names in SystemC's hierarchy are
  // those of the members.
  HostSocket& host_socket;                       // registers, and the aperture to device memory
  DmaSocket& dma_socket;                         // to system memory, inside windows only
  InterruptPort& irq;                            // a level
  sc_core::sc_vector<InterruptPort>& queue_irq;  // a level for each queue (host.queues)
  ResetPort& reset_in;                           // a level; the GPU is reset at its rise
};

}  // namespace weft

#endif
