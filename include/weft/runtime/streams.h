// Streams and events: what the host asks for in one stream happens in order, in different streams at once.
//
//   Streams streams(clock);
//   const auto a = streams.create(), b = streams.create();
//   streams.add(a, {[&](Streams::Done done) { start_copy(..., done); }});
//   streams.record(a, event);
//   streams.wait(b, event);          // what is added to b from here on comes after the copy
//
// An operation begins when those before it are done, and says when it is done itself: at once or later, from
// the simulation. Time is the caller's clock. Free of SystemC.
#ifndef WEFT_RUNTIME_STREAMS_H
#define WEFT_RUNTIME_STREAMS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace weft::runtime {

using StreamId = std::uint32_t;
using EventId = std::uint32_t;

class Streams {
 public:
  using Done = std::function<void()>;
  struct Operation {
    std::function<void(Done)> begin;
    // Operations of the same kind (not 0) that follow each other all begin at once: they keep their order
    // themselves, as launches of one queue of the GPU do.
    std::uint32_t kind = 0;
    // Asked when those before are done; false: someone calls again when it may have become true. Empty: true.
    std::function<bool()> ready = nullptr;
  };
  using Clock = std::function<std::uint64_t()>;  // picoseconds

  explicit Streams(Clock clock) : clock_(std::move(clock)) {}

  // Stream 0 is there from the beginning.
  StreamId create();
  // What is in the stream still happens; its number is not used again. Throws InputError for 0 and for a
  // number that is no stream, as all that follow do.
  void destroy(StreamId stream);
  void add(StreamId stream, Operation operation);
  // Looks again at every stream whose next operation was not ready.
  void poll();
  bool idle(StreamId stream) const;  // everything in it is done
  bool idle() const;

  EventId create_event();
  void destroy_event(EventId event);
  // The event has happened when all that is in the stream now is done.
  void record(StreamId stream, EventId event);
  // What comes later in the stream waits for the event as it was last recorded; goes on at once if it never
  // was.
  void wait(StreamId stream, EventId event);
  bool recorded(EventId event) const;  // was recorded, and has happened
  bool pending(EventId event) const;   // was recorded, and has not happened
  // When it happened, in picoseconds of simulated time. Precondition: recorded().
  std::uint64_t time_of(EventId event) const;

  // Called when a stream or an event that was not done is.
  void on_progress(std::function<void()> told) { told_ = std::move(told); }
  // As after construction. Operations that have begun are forgotten: their Done does nothing.
  void reset();

 private:
  // A recording of an event, shared with the streams that wait for it.
  struct Recording {
    bool happened = false;
    std::uint64_t picoseconds = 0;
    std::vector<StreamId> waiting;
  };
  struct Stream {
    std::deque<Operation> operations;
    std::uint32_t outstanding = 0;  // begun, not done
    std::uint32_t kind = 0;         // of those
    bool destroyed = false;
  };

  Stream& stream_of(StreamId stream);
  const Stream& stream_of(StreamId stream) const;
  std::shared_ptr<Recording>& recording_of(EventId event);
  const std::shared_ptr<Recording>& recording_of(EventId event) const;
  void advance(StreamId stream);
  void advance_all();
  bool begin_next(StreamId number);
  void finish(StreamId stream);

  const Clock clock_;
  std::map<StreamId, Stream> streams_{{0, {}}};
  std::map<EventId, std::shared_ptr<Recording>> events_;
  StreamId next_stream_ = 1;
  EventId next_event_ = 0;
  std::deque<StreamId> due_;  // streams in which something may begin
  bool advancing_ = false;
  std::uint64_t generation_ = 0;
  std::function<void()> told_;
};

}  // namespace weft::runtime

#endif
