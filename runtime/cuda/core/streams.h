// Streams, events, and the work in them, over a back-end.
//
// A call puts work into a stream and returns. The simulation runs when a program waits: for a stream, an
// event, the device, or a copy of memory that is not pinned. The default stream waits for the blocking
// streams, and they for it. Times are simulated.
#ifndef WEFT_RUNTIME_CUDA_CORE_STREAMS_H
#define WEFT_RUNTIME_CUDA_CORE_STREAMS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/cuda/core/backend.h"
#include "runtime/cuda/core/launch_attributes.h"
#include "runtime/cuda/core/memory.h"
#include "runtime/cuda/core/profile.h"
#include "weft/cuda_structures.h"

namespace weft::cuda {

class Context;
struct Function;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  std::uint32_t number = 0;  // runtime::StreamId; 0: the default stream
  StreamAttributes attributes{};
  bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
};

struct Event {
  unsigned flags = 0;
  std::uint32_t number = 0;  // runtime::EventId
  bool asked = false;        // whether it has happened; said no
};

struct Launch {
  Function* function = nullptr;
  dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  int preferred_carveout = -1;  // percent; -1: as the function says
  // The address of each argument; or, if `extra` is not null, its names and values (cuLaunchKernel).
  void** arguments = nullptr;
  void** extra = nullptr;
  std::vector<Event*> events{};  // recorded when the kernel has ended
};

// Whether a call returns at once, or when what it asked for is done.
enum class Host { kGoesOn, kWaits };

class Streams {
 public:
  explicit Streams(Context& context) : context_(context) {}

  Stream& create(unsigned flags, int priority);
  void destroy(Stream& stream);
  // The stream of a handle: null or 1 is the default stream, 2 that of the calling thread. Fails with
  // kInvalidHandle.
  Stream& stream(const void* handle);

  Event& create_event(unsigned flags);
  Event& event(const void* handle);  // fails with kInvalidHandle
  void destroy_event(Event& event);
  void record(Event& event, Stream& stream);
  void wait(Stream& stream, Event& event);
  // Fail with kNotReady the first time they are asked and there is work left; asked again, they wait for it:
  // a program that polls has nothing else to do.
  void query(Event& event);
  void query(Stream& stream);
  // Managed memory that is to belong to a stream, to all or to the host: what is in the stream comes first.
  // Fails with kInvalidValue for other memory.
  void attach(Stream& stream, std::uint64_t address, unsigned flags);
  // Fails with kInvalidHandle if one was never recorded or takes no time, with kNotReady if one has not
  // happened.
  float milliseconds(const Event& start, const Event& end);

  // Fails with kInvalidConfiguration, kInvalidValue or kOutOfResources.
  void launch(const Launch& launch, Stream& stream);
  // Fail with kInvalidValue for what lies outside of allocations and arrays. Those of memory that is not
  // pinned wait for their stream.
  void copy(const End& to, const End& from, const Box& box, Stream& stream, Host host = Host::kGoesOn);
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, Stream& stream);
  // `value` is repeated: `bytes_of_value` 1, 2 or 4, of which addresses and sizes are multiples.
  void fill(const End& to, const Box& box, std::uint32_t value, unsigned bytes_of_value, Stream& stream);
  // Calls a function of the program behind all work in the stream; it must not call CUDA.
  void call(Stream& stream, std::function<void()> function);
  bool has_functions() const { return functions_ != 0; }  // that are still to be called

  // Run the simulation, and print what kernels printed. A fault becomes the context's; they fail with its
  // error.
  void synchronise(Stream& stream);
  void synchronise(Event& event);
  void synchronise();
  // Runs the simulation while the program does not wait in a call: until all is done, or `stop` says so, or
  // kernels seem to wait for the program. A fault becomes the context's.
  enum class Advance { kDone, kKernelsWait, kStopped, kFaulted };
  Advance advance(const std::function<bool()>& stop);

  void reset();

 private:
  void check(const Launch& launch) const;
  void order(Stream& stream);
  void add_kernel(Activity activity);
  template <class Work>
  void run(Work&& work);
  // What keeps, when a copy has ended, a digest of what it brought from the device; empty: nothing does.
  std::function<void()> note_of_copy(const End& to, const End& from, const Box& box, Activity::Kind kind);
  // A copy or fill is about to be put into the stream: completes its record.
  void begin(Activity& activity, const Stream& stream);
  // What keeps its record when it has ended, and then calls `then`, if that is something.
  Backend::Ended kept(Activity activity, std::function<void()> then);
  // Host memory that kernels do not see: it may change once a call has returned.
  bool is_pageable(const End& end) const;
  Backend::Outcome copy_pageable(const End& to, const End& from, const Box& box, Stream& stream);

  Context& context_;
  Stream default_;
  std::optional<std::uint32_t> barrier_;  // event that orders the default stream
  unsigned functions_ = 0;                // in streams
  const Stream* asked_ = nullptr;         // by query, and said no
  std::unordered_map<const void*, std::unique_ptr<Stream>> streams_;
  std::unordered_map<std::thread::id, std::unique_ptr<Stream>> of_threads_;
  std::unordered_map<const void*, std::unique_ptr<Event>> events_;
};

}  // namespace weft::cuda

#endif
