// What a Device consists of. For the files of runtime/ only.
#ifndef WEFT_RUNTIME_DEVICE_IMPL_H
#define WEFT_RUNTIME_DEVICE_IMPL_H

#include <chrono>
#include <cstdint>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "check/checks.h"
#include "functional/engine.h"
#include "runtime/allocator.h"
#include "runtime/device_runtime.h"
#include "runtime/host_memory.h"
#include "soc/ram.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"
#include "weft/runtime/device.h"

namespace weft::runtime {

// Returns from sc_start at the instant at which the GPU, a stream or an event is done, so that simulated time
// does not depend on the slices. sc_pause leaves the simulation as it is; sc_stop would end it.
class IdleWaiter : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(IdleWaiter);
  IdleWaiter(sc_core::sc_module_name name, const sc_core::sc_event& idle) : sc_module(name) {
    SC_METHOD(pause);
    sensitive << idle << progress_;
    dont_initialize();
  }
  void look() { progress_.notify(sc_core::SC_ZERO_TIME); }

 private:
  void pause() {
    // A launch made meanwhile from elsewhere in the same instant must not see two pauses.
    if (sc_core::sc_get_status() == sc_core::SC_RUNNING) sc_core::sc_pause();
  }
  sc_core::sc_event progress_;
};

// Says that something runs, also when the scope is left by an exception.
class Running {
 public:
  explicit Running(bool& flag) : flag_(flag) { flag_ = true; }
  ~Running() { flag_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  bool& flag_;
};

// Adds the time of its scope to an Effort, also when the scope is left by an exception.
class EffortTimer {
 public:
  explicit EffortTimer(Effort& effort) : effort_(effort), cpu_(std::clock()), wall_(Clock::now()) {}
  ~EffortTimer() {
    effort_.cpu_seconds += static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC;
    effort_.wall_seconds += std::chrono::duration<double>(Clock::now() - wall_).count();
  }
  EffortTimer(const EffortTimer&) = delete;
  EffortTimer& operator=(const EffortTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Effort& effort_;
  std::clock_t cpu_;
  Clock::time_point wall_;
};

// Throws InputError. (host_memory.cpp)
void check_timing(const HostLink& options);

struct Device::Impl {
  Impl(const GpuConfig& config, DeviceOptions chosen);

  // What dma_socket leads to.
  void make_system_memory();
  Address allocate(std::uint64_t bytes);
  std::uint64_t size_for(std::uint64_t bytes) const;
  void release(Address address);
  // The host pointer to a range of device memory. Throws InputError unless it lies in one allocation.
  std::uint8_t* at(Address address, std::uint64_t bytes) const;
  bool is_device(Address address) const {
    return address >= gpu.device_base() && address - gpu.device_base() < gpu.memory().bytes();
  }
  HostMemory& host_memory();
  // The heap of malloc in kernels takes device memory once a kernel can ask for some.
  void need_heap(const ptx::Program& program);
  // Local variables of every thread that can be resident. Launches of a stream run one after the other and
  // share its area; one that needs more gets a larger one, and the old area stays until the launches that use
  // it are done.
  Address local_area(const dispatch::Launch& launch, StreamId stream);
  // Where a program's instructions lie. Nothing is stored there: the address is for the instruction caches'
  // traffic.
  Address code_area(const ptx::Program& program);
  struct Prepared {
    std::shared_ptr<execute::Kernel> kernel;
    bool functional = false;
  };
  // A launch that has passed all checks, with its addresses.
  Prepared prepare(StreamId stream, LoadedModule& module, const std::string& kernel,
                   const dispatch::Dim3& grid, const dispatch::Dim3& block, const Arguments& arguments,
                   std::uint64_t dynamic_shared, int preferred_shared_percent = -1);
  // Puts it into its stream.
  void start(const Prepared& prepared, StreamId stream, const Ended& ended);
  // Gives back the parameter blocks of launches that are done, and, `all`, what outlived its use.
  void release_scratch(bool all);

  // device_run.cpp
  bool is_functional(const std::string& kernel);
  // Returns how the launch ended.
  dispatch::LaunchOutcome run_functional(execute::Kernel& kernel);
  // Runs the simulation until `reached`, or a fault.
  void run(const std::function<bool()>& reached);
  bool run_outside();  // the next function of call_outside(), if one is due
  void reserve_leading_room();
  // Bytes that stay free behind an allocation, and between variables of a module: an access by one behind a
  // round size would be to the next one.
  std::uint64_t gap() const { return options.check.gaps() ? Allocator::kAlignment : 0; }
  void abandon(const std::string& reason);
  // Of all launches, timed or not.
  std::uint64_t thread_instructions() const;
  bool reached_instructions() const;
  std::string instructions_reached() const;
  void throw_if_faulted() const;

  // device_checkpoint.cpp
  void rest();            // no launch runs: the time for a checkpoint, if one is due
  void return_to_rest();  // if all that is not to run has been launched: there the simulation goes on
  void archive(Archive& archive);
  void archive_memory(Archive& archive);
  void read(void* to, Address from, std::uint64_t bytes);  // of the host's, which may be one of old

  // device_streams.cpp
  // Throws InputError unless the box lies in one allocation, or within the array. Host memory passes.
  void require_inside(const Area& area, const Box& box) const;
  std::uint8_t* pointer(std::uint64_t address) const;  // of either memory
  void copy_now(const Area& to, const Area& from, const Box& box) const;
  void fill_now(const Area& to, const Box& box, std::uint32_t pattern) const;
  void written(const Area& to, const Box& box);
  // Whether a copy or fill of this call takes simulated time.
  bool takes_time() const { return copies != nullptr && !options.functional.all; }

  DeviceOptions options;
  DeviceRuntime runtime;
  std::uint64_t next_function = 0;
  mutable Gpu gpu;  // reading device memory does not change the device
  IdleWaiter waiter;
  std::optional<HostMemory> host;
  // System memory that holds device memory (GpuConfig::carve_out): behind dma_socket, or a part of `host`.
  std::optional<soc::Ram> ram;
  std::optional<memory::MemoryImage> carve_out;
  Allocator allocator;
  functional::Engine engine;
  std::optional<check::Checks> checks;
  Streams streams;
  bool running = false;  // within synchronise: functional launches may begin
  struct Outside {
    std::function<void()> function;
    Streams::Done done;
  };
  // Functions of call_outside() and launches without timing whose turn has come within the simulation.
  std::deque<Outside> outside;
  // Within advance(); and whether the watchdog has found, in it, that threads only repeat themselves.
  bool advancing = false, kernels_wait = false;
  CopyEngine* copies = nullptr;
  struct Checkpoints {
    std::uint64_t launched = 0, ended = 0;  // timed launches
    std::string reads;                      // what the host has read from the device, one after the other
    bool streams = false;                   // used for what cannot be done again
    std::chrono::steady_clock::time_point next = std::chrono::steady_clock::now();
    // While launches that ran in another run are skipped: its state, where they end, and how far the host has
    // read.
    std::optional<Archive> state;
    std::uint64_t skipped = 0;
    std::size_t read_at = 0;
    bool skips(std::uint64_t launch) const { return state.has_value() && launch < skipped; }
  } checkpoints;
  Address highest = gpu.device_base();  // beyond all that was ever allocated
  std::uint64_t launches = 0;
  bool reached_kernel = false;  // FunctionalOptions::kernel
  std::vector<std::unique_ptr<LoadedModule>> modules;
  std::vector<Source> sources;    // of them, with sm.observe.instructions
  std::vector<Address> spent;     // parameter blocks of launches that are done
  std::vector<Address> outgrown;  // local areas
  std::unordered_map<const ptx::Program*, Address> code_areas;
  struct LocalArea {
    Address address = 0;
    std::uint64_t bytes = 0;
  };
  std::map<StreamId, LocalArea> local_areas;
  bool abandoned = false;
  Effort effort, functional_effort;
};

}  // namespace weft::runtime

#endif
