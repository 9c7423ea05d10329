// The device API that workloads stand on: memory, modules, launches, in program order.
//
//   runtime::Device device(config, {});
//   auto a = device.allocate(bytes);
//   device.copy_to(a, host.data(), bytes);
//   auto& module = device.load_module(ptx_text, "kernel.ptx");
//   device.launch(module, "vadd", {4096, 1, 1}, {256, 1, 1}, runtime::Arguments().add(a).add(n));
//   device.synchronise();
//
// One Device per process (SystemC elaborates once), used from where sc_start may be called: sc_main, not a
// process of the simulation. Calls from several threads must be serialised by the caller.
#ifndef WEFT_RUNTIME_DEVICE_H
#define WEFT_RUNTIME_DEVICE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/check/check.h"
#include "weft/common/error.h"
#include "weft/common/fault.h"
#include "weft/dispatch/launch.h"
#include "weft/functional/counters.h"
#include "weft/loader/loaded_module.h"
#include "weft/platform/device_memory.h"
#include "weft/platform/gpu_config.h"
#include "weft/platform/hop_observation.h"
#include "weft/platform/totals.h"
#include "weft/runtime/areas.h"
#include "weft/runtime/arguments.h"
#include "weft/runtime/copy_engine.h"
#include "weft/runtime/device_limits.h"
#include "weft/runtime/host_link.h"
#include "weft/runtime/streams.h"

namespace weft {
class Gpu;
namespace sm {
class InstructionProfile;
}
namespace debugger {
class Debugger;
}
}  // namespace weft

namespace weft::runtime {

using Address = std::uint64_t;  // a device address
using loader::LoadedModule;

// Launches that run functionally, without timing: all, the first `launches`, or those before the first launch
// of `kernel` (whatever lasts longer). The others are timed; memory is the same.
struct FunctionalOptions {
  bool all = false;
  std::uint64_t launches = 0;
  std::string kernel;
};

// Looks on as launches begin and end; changes nothing.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  // The launch is queued: device memory is as its kernel will find it, but for launches that have not run
  // yet.
  virtual void launching(const dispatch::Launch& launch, const LoadedModule& module) = 0;
  // All launches so far are done.
  virtual void synchronised() = 0;
};

struct DeviceOptions {
  bool sleeping = true;
  bool monitors = false;                     // Gpu::Options
  std::vector<HopObservation> observations;  // the same
  std::uint64_t max_cycles = 0;              // core cycles over all launches; 0: no limit
  // Threads' instructions over all launches, timed or not; 0: no limit.
  std::uint64_t max_instructions = 0;
  // Bytes of device memory in front of the first allocation that are none, and that kernels may access all
  // the same. A multiple of kPageBytes; less than the device's memory.
  std::uint64_t leading_room = 0;
  DeviceLimits limits;                            // of stack, printf and heap
  std::function<void(const Progress&)> progress;  // called a few times per second of wall time while running
  std::function<bool()> interrupted;              // polled; true abandons the launch (SIGINT)
  FunctionalOptions functional;
  check::Options check;
  LaunchObserver* observer = nullptr;  // must outlive the device
  // The host's own memory is the GPU's system memory, of which kernels see what `share` names. Needs
  // system.enabled in the configuration.
  std::optional<HostLink> host_memory;
  // Where device memory lies in system memory (carve_out.enabled): the device puts a RAM behind dma_socket.
  // False: whoever makes the device binds it.
  bool own_system_memory = true;
  sm::InstructionProfile* profile =
      nullptr;                             // counts instructions of timed launches; must outlive the device
  debugger::Debugger* debugger = nullptr;  // of timed launches; must outlive the device
  // Called with what `Device::resume` takes, between two launches, at most every `checkpoint_seconds` of the
  // host's time; unset: never. Within the simulation: it must not throw.
  std::function<void(std::string state)> checkpoint;
  double checkpoint_seconds = 0;
};

// The launch was stopped from outside: by `interrupted`, `max_cycles` or `max_instructions`.
class LaunchAbandoned : public SimulatedFault {
 public:
  using SimulatedFault::SimulatedFault;
};

// Device memory has no room for an allocation; the text names the setting with which it would have.
class OutOfDeviceMemory : public InputError {
 public:
  OutOfDeviceMemory(const std::string& text, std::uint64_t device_bytes)
      : InputError("", text), device_bytes_(device_bytes) {}
  // The size of device memory (dram.bytes) that would do; UINT64_MAX: none.
  std::uint64_t device_bytes() const { return device_bytes_; }

 private:
  std::uint64_t device_bytes_;
};

// What the simulation has cost so far, in seconds: time inside synchronise() only.
struct Effort {
  double cpu_seconds = 0, wall_seconds = 0;
};

class Device {
 public:
  Device(const GpuConfig& config, DeviceOptions options);
  ~Device();

  // 256-byte aligned. Throws OutOfDeviceMemory when memory is exhausted (bytes asked, bytes free).
  Address allocate(std::uint64_t bytes);
  void free(Address address);
  // The range must lie in one allocation or variable, else InputError. Copies take no simulated time; they
  // act at once, so synchronise() first if a launch reads or writes the range.
  void copy_to(Address to, const void* from, std::uint64_t bytes);
  void copy_from(void* to, Address from, std::uint64_t bytes) const;
  void fill(Address to, std::uint8_t value, std::uint64_t bytes);

  // Kernels may use these bytes of the host's at the host's own pointers, until `unshare` or a reset; without
  // timing or copies the host sees what they write when they are done. Throws InputError without
  // DeviceOptions::host_memory, and for a range that overlaps one that is shared.
  void share(void* begin, std::uint64_t bytes);
  // The range that was shared from there on. Not while kernels use it.
  void unshare(void* begin);

  // Parses a module and places its .global and .const variables. Throws InputError with file, line and
  // column. The module lives as long as the device.
  LoadedModule& load_module(const std::string& ptx, const std::string& file);
  LoadedModule& load_module_file(const std::string& path);
  // Several modules, linked: what is .extern in one is what another defines as .visible or .weak.
  struct Source {
    std::string ptx, file;
  };
  // Managed variables lie where `place_managed` says, in memory of the host's that is shared.
  LoadedModule& load_modules(const std::vector<Source>& sources,
                             const LoadedModule::Place& place_managed = nullptr);
  // The PTX that was loaded, where sm.observe.instructions is on; else nothing.
  const std::vector<Source>& sources() const;
  // The address of a variable, and its size. Throws InputError listing the module's variables.
  Address symbol(const LoadedModule& module, const std::string& name, std::uint64_t* bytes = nullptr) const;
  // Decodes the kernel if this is its first use: here instructions that cannot be executed are refused.
  const ptx::Program& program(LoadedModule& module, const std::string& kernel);

  // What a launch would find: how many of its blocks an SM holds at a time (0: it would be refused), and the
  // most threads that a block may have, without dynamic shared memory. Throw InputError as `program`.
  std::uint32_t blocks_per_sm(LoadedModule& module, const std::string& kernel, std::uint32_t threads,
                              std::uint64_t dynamic_shared);
  std::uint32_t most_threads(LoadedModule& module, const std::string& kernel);

  // Throws InputError for an unknown kernel, a wrong number or size of arguments (listing what the kernel
  // takes), a block that does not fit. Launches made with this call run one after the other.
  void launch(LoadedModule& module, const std::string& kernel, dispatch::Dim3 grid, dispatch::Dim3 block,
              const Arguments& arguments, std::uint64_t dynamic_shared = 0);
  // Runs the simulation until every launch is done and every stream empty. Throws SimulatedFault if a kernel
  // faulted or hung, LaunchAbandoned if it was interrupted or reached a limit. After either the device can
  // still be read, but runs nothing more before reset().
  void synchronise();

  // Streams and events: created, recorded, waited for and asked here; what is in a stream advances only while
  // the simulation runs, in one of the calls below or in synchronise(). The calls above are of stream 0,
  // whose launches do not wait for other streams; copies above act at once.
  Streams& streams();
  // As above, behind what is in the stream. Ranges are checked now, and bytes move when it is the copy's
  // turn: host memory must stay as it is until then. With a copy engine they take simulated time.
  // `ended` is told how and when the launch ended, while the simulation runs; as Launch::done. A launch
  // without timing begins and ends at one instant, and has no cycles. `preferred_shared_percent`: as
  // dispatch::Launch has it.
  using Ended = std::function<void(const dispatch::LaunchOutcome&)>;
  void launch(StreamId stream, LoadedModule& module, const std::string& kernel, dispatch::Dim3 grid,
              dispatch::Dim3 block, const Arguments& arguments, std::uint64_t dynamic_shared = 0,
              const Ended& ended = {}, int preferred_shared_percent = -1);
  void copy_to(StreamId stream, Address to, const void* from, std::uint64_t bytes);
  void copy_from(StreamId stream, void* to, Address from, std::uint64_t bytes);
  void copy(StreamId stream, Address to, Address from, std::uint64_t bytes);  // may overlap
  void fill(StreamId stream, Address to, std::uint8_t value, std::uint64_t bytes);
  // Rows, and parts of arrays. Between two places of the host's it takes no time.
  void copy(StreamId stream, const Area& to, const Area& from, const Box& box);
  // `pattern`, of 4 bytes, again and again in each row. In device memory, or in what of the host's is shared.
  void fill(StreamId stream, const Area& to, const Box& box, std::uint32_t pattern);
  // Calls `function` when it is its turn; it may add to streams, but not synchronise.
  void call(StreamId stream, std::function<void()> function);
  // The same, not from within the simulation, whose time stands still until the function returns: always in
  // one of the calls that run it, never in this one. It may take its time.
  void call_outside(StreamId stream, std::function<void()> function);
  // Run the simulation until the stream is empty, or the event has happened as it was last recorded. Throw
  // as synchronise().
  void synchronise(StreamId stream);
  void wait_for(EventId event);
  // Runs the simulation for a host that does not ask for it, and may write to memory meanwhile: kernels that
  // wait for such a write do not count as hung. Until every stream is empty, or threads only repeat loops as
  // if they waited, or `stop` says so, which is asked every few thousand cycles. Throws as synchronise().
  enum class Advance { kDone, kKernelsWait, kStopped };
  Advance advance(const std::function<bool()>& stop);
  // Whether launches, copies and fills from the next call on take simulated time; else they run without
  // timing, as with FunctionalOptions::all. A reset does not change it.
  void set_timed(bool timed);
  // Moves the bytes of copies and fills in streams from now on; nullptr: they take no time. Must outlive the
  // device or be taken back.
  void use(CopyEngine* engine);

  // Continues another run of the same program from a state that it handed to DeviceOptions::checkpoint: the
  // program makes its calls again, from the first on, and finds what it found then. Launches up to there do
  // not run, and copies from the device return what they returned. Before the first launch, of a device made
  // with the same configuration and options; only launches without a stream, and copies that act at once.
  // Throws InputError for a state that is none.
  void resume(std::string state);
  // Launches that have not come back yet to where the state was made.
  bool resuming() const;
  // Why checkpoints cannot be made with this device; empty: they can.
  std::string cannot_be_kept() const;

  // For long work of the host's own, between launches: throws LaunchAbandoned if DeviceOptions::interrupted
  // says so.
  void stop_if_interrupted();

  // What kernels printed since the last call of this, in order. After synchronise().
  std::string take_output();
  // Bytes of the device heap that kernels hold (malloc without free).
  std::uint64_t heap_in_use() const;
  // For the launches from now on. The heap keeps its size once a kernel has used it. Throws InputError for a
  // stack beyond what a thread may have.
  void set_limits(const DeviceLimits& limits);
  // Back to the state after construction: no modules (references to them end), no allocations, fresh GPU.
  void reset();

  std::uint64_t leading_room() const;  // DeviceOptions::leading_room
  const Effort& effort() const;
  // The part of it that functional launches took, and what they executed; the GPU's totals are of the timed
  // ones.
  const Effort& functional_effort() const;
  const functional::Counters& functional_counters() const;
  // Of the timed launches.
  Totals totals() const;
  // What DeviceOptions::check has found so far.
  const std::vector<check::Report>& reports() const;
  // What check::Options::compares_writes has left out, and why: a line each.
  std::vector<std::string> not_compared() const;
  Gpu& gpu();
  const Gpu& gpu() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A whole file or pipe. Throws InputError if it cannot be read, is a directory, or has more than 256 MiB.
std::string read_text(const std::string& path);

}  // namespace weft::runtime

#endif
