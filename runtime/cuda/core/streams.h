// Streams, events, and the work in them.
//
// Work is done in the order of the calls, one after the other, when it is asked for: an order that every
// program allows, since a stream is in order and an event is recorded before it is waited for. Times are
// simulated: kernels take what the machine takes, copies and fills none.
#ifndef WEFT_RUNTIME_CUDA_CORE_STREAMS_H
#define WEFT_RUNTIME_CUDA_CORE_STREAMS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "runtime/cuda/core/memory.h"
#include "weft/cuda_structures.h"

namespace weft::cuda {

class Context;
struct Function;

struct Stream {
  unsigned number = 0;  // 0: the default stream
  unsigned flags = 0;
  int priority = 0;
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t picoseconds = 0;  // simulated
};

struct Launch {
  Function* function = nullptr;
  dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  // The address of each argument; or, if `extra` is not null, its names and values (cuLaunchKernel).
  void** arguments = nullptr;
  void** extra = nullptr;
};

class Streams {
 public:
  explicit Streams(Context& context);
  ~Streams();

  Stream& create(unsigned flags, int priority);
  void destroy(Stream& stream);
  // The stream of a handle: null or 1 is the default stream, 2 that of the calling thread. Fails with
  // kInvalidHandle.
  Stream& stream(const void* handle);

  Event& create_event(unsigned flags);
  Event& event(const void* handle);  // fails with kInvalidHandle
  void destroy_event(Event& event);
  void record(Event& event, Stream& stream);
  // Fails with kInvalidHandle if one was never recorded or takes no time.
  float milliseconds(const Event& start, const Event& end) const;

  // Fails with kInvalidConfiguration, kInvalidValue or kOutOfResources. A fault of the kernel is not this
  // call's error: it is that of the next.
  void launch(const Launch& launch, Stream& stream);
  void copy(const End& to, const End& from, const Box& box, Stream& stream);
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, Stream& stream);
  void fill(const End& to, const Box& box, std::uint32_t value, unsigned bytes_of_value, Stream& stream);
  // Calls a function of the program behind all work in the stream.
  void call(Stream& stream, const std::function<void()>& function);
  // What the streams have been given is done; prints what kernels printed.
  void synchronise();

  std::uint64_t now() const;  // picoseconds
  void reset();

 private:
  std::uint64_t check(const Launch& launch) const;
  void run(const Launch& launch, Stream& stream);

  Context& context_;
  Stream default_;
  unsigned next_number_ = 1;
  std::unordered_map<const void*, std::unique_ptr<Stream>> streams_;
  std::unordered_map<const void*, std::unique_ptr<Event>> events_;
};

}  // namespace weft::cuda

#endif
