// The GPU behind CUDA's libraries: all that they need from it, so that it can be another one.
//
// There are two: `Simulator` builds a GPU in this process (simulator.h); `LinuxDriver` uses the GPU of the
// machine through the kernel's driver (linux_driver.h). To add one, derive a class, and name it in
// Settings::Kind and in Context::backend(). runtime/cuda/README.md ("Another back-end") goes through it step
// by step.
//
// What the libraries do themselves, over any back-end: handles, the default stream's order, pageable memory
// (through a shared buffer), pools, fat binaries, attributes and occupancy (from the configuration and the
// program text), errors, the profile. What a back-end does: memory, loading of programs, and the operations
// in streams.
//
// Rules for all functions:
// - Calls are serialised by the context's lock. A back-end may have threads, but calls back (`Ended`, host
//   functions, operations of `streams()`) only from within one of the calls below.
// - Addresses are the GPU's. Device memory lies where the configuration says (addresses.device_base,
//   dram.bytes); every other address is a host pointer, which the GPU uses as it is.
// - Bad input throws InputError, which becomes cudaErrorInvalidValue or what the caller makes of it; an error
//   of CUDA's is thrown by fail() (error.h). runtime::OutOfDeviceMemory: no device memory is left.
// - Times are picoseconds of the GPU's own clock, which never goes back until a reset.
#ifndef WEFT_RUNTIME_CUDA_CORE_BACKEND_H
#define WEFT_RUNTIME_CUDA_CORE_BACKEND_H

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/cuda/core/error.h"
#include "weft/common/fault.h"
#include "weft/dispatch/launch.h"
#include "weft/loader/loaded_module.h"
#include "weft/runtime/areas.h"
#include "weft/runtime/arguments.h"
#include "weft/runtime/device_limits.h"
#include "weft/runtime/streams.h"

namespace weft::cuda {

class Simulator;

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // ---- memory

  // Device memory, aligned to 256 bytes. Throws runtime::OutOfDeviceMemory.
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  virtual void free(std::uint64_t address) = 0;
  // Device memory that no allocation can have.
  virtual std::uint64_t reserved_bytes() const { return 0; }
  // Memory of whole pages that the host and kernels use by the same address: pinned and managed memory.
  // Contains zeros. Throws std::bad_alloc.
  virtual void* allocate_shared(std::uint64_t bytes) = 0;
  // Also of memory from before a reset, which kernels no longer see.
  virtual void free_shared(void* memory, std::uint64_t bytes) = 0;
  // Memory of the program's own becomes visible to kernels (cudaHostRegister), until `unshare` or a reset.
  virtual void share(void* memory, std::uint64_t bytes);
  virtual void unshare(void* memory);

  // ---- programs

  // Puts the variables and kernels of a PTX text onto the GPU. `name` is for messages. Managed variables lie
  // where `place_managed` says, in shared memory. `max_registers` of a thread, as the program asks for it; 0:
  // as the machine has. The module lives until a reset. What it says of its kernels (registers, parameters,
  // shared memory) must be what launches use.
  virtual loader::LoadedModule& load(const std::string& ptx, const std::string& name,
                                     const loader::LoadedModule::Place& place_managed,
                                     unsigned max_registers) = 0;

  // ---- operations in streams

  // How and when a kernel, copy or fill was done.
  struct Outcome {
    std::uint64_t begin_ps = 0, end_ps = 0;
    std::uint64_t cycles = 0;  // of a kernel, in the core's clock
  };
  using Ended = std::function<void(const Outcome&)>;
  struct Launch {
    loader::LoadedModule* module = nullptr;
    std::string kernel;
    dispatch::Dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint64_t dynamic_shared = 0;   // bytes
    int preferred_shared_percent = -1;  // as dispatch::Launch has it
    runtime::Arguments arguments{};
  };

  // Streams, events and what waits for what: created, recorded and asked here. An operation that is added
  // begins when those before it are done.
  virtual runtime::Streams& streams() = 0;
  // Each puts an operation behind those of the stream, and returns. `ended` is called when it is done, before
  // the operations behind it begin; not after a fault. `launch` throws InputError for a launch that the
  // machine refuses, in a text that names the setting that would help.
  virtual void launch(runtime::StreamId stream, const Launch& launch, const Ended& ended) = 0;
  // The boxes may lie in device memory, shared memory, and, if both do, in any memory of the host's.
  virtual void copy(runtime::StreamId stream, const runtime::Area& to, const runtime::Area& from,
                    const runtime::Box& box, const Ended& ended) = 0;
  // `pattern`, of 4 bytes, again and again in each row.
  virtual void fill(runtime::StreamId stream, const runtime::Area& to, const runtime::Box& box,
                    std::uint32_t pattern, const Ended& ended) = 0;
  // Calls a function of the program: in one of the calls that wait, never in this one. It may take its time.
  virtual void call(runtime::StreamId stream, std::function<void()> function) = 0;

  // ---- waiting

  // Until all operations are done, those of a stream, or those before an event. Throw SimulatedFault if a
  // kernel faulted or hung, with thread, PC and source line in its text; after it nothing runs before a
  // reset.
  virtual void synchronise() = 0;
  virtual void synchronise(runtime::StreamId stream) = 0;
  virtual void wait_for(runtime::EventId event) = 0;
  // Lets operations go on for a program that waits without calling, perhaps for memory that kernels write.
  // Until all are done, or `stop` says so, or kernels run on and on, perhaps until the program does
  // something. Throws as synchronise().
  enum class Advance { kDone, kKernelsWait, kStopped };
  virtual Advance advance(const std::function<bool()>& stop) = 0;
  // Of the fault that the last SimulatedFault was about.
  virtual FaultKind fault_kind() const = 0;

  // ---- the rest

  // What kernels have printed since the last call of this, in order.
  virtual std::string take_output() = 0;
  // Of stack, printf and heap, for the launches from now on. Throws InputError.
  virtual void set_limits(const runtime::DeviceLimits& limits) = 0;
  // As when it was made: no allocations, modules, streams, faults. Shared memory that the program still has
  // is not seen by kernels any more.
  virtual void reset() = 0;

  // ---- what not every back-end can do

  // Whether the operations from now on are to take simulated time (--launches, --region).
  virtual void set_timed(bool timed);
  // The process is about to end with this status.
  virtual void ended(int /*status*/) {}
  // Statistics, checks, arrays and textures need the simulator itself. nullptr: this back-end has none.
  virtual Simulator* simulator() { return nullptr; }
};

inline void Backend::share(void* /*memory*/, std::uint64_t /*bytes*/) {
  fail(Error::kNotSupported,
       "this GPU cannot use memory that the program has allocated itself (cudaHostRegister); allowed: "
       "cudaMallocHost, cudaMallocManaged");
}
inline void Backend::unshare(void* /*memory*/) {}
inline void Backend::set_timed(bool /*timed*/) {
  fail(Error::kNotSupported, "this GPU cannot select the launches that are timed");
}

}  // namespace weft::cuda

#endif
