#include "weft/runtime/streams.h"

#include <algorithm>
#include <string>
#include <utility>

#include "weft/common/error.h"

namespace weft::runtime {

StreamId Streams::create() {
  streams_.emplace(next_stream_, Stream());
  return next_stream_++;
}

void Streams::destroy(StreamId stream) {
  Stream& found = stream_of(stream);
  if (stream == 0) throw InputError("stream 0", "always exists and cannot be destroyed");
  found.destroyed = true;
  if (idle(stream)) streams_.erase(stream);
}

Streams::Stream& Streams::stream_of(StreamId stream) {
  return const_cast<Stream&>(std::as_const(*this).stream_of(stream));
}

const Streams::Stream& Streams::stream_of(StreamId stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.destroyed) {
    throw InputError("stream " + std::to_string(stream),
                     "does not exist; there are " + std::to_string(streams_.size()));
  }
  return found->second;
}

bool Streams::idle(StreamId stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() || (found->second.operations.empty() && found->second.outstanding == 0);
}

bool Streams::idle() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second.operations.empty() && entry.second.outstanding == 0;
  });
}

void Streams::add(StreamId stream, Operation operation) {
  stream_of(stream).operations.push_back(std::move(operation));
  advance(stream);
}

void Streams::poll() {
  for (const auto& entry : streams_) due_.push_back(entry.first);
  advance_all();
}

EventId Streams::create_event() {
  events_.emplace(next_event_, nullptr);
  return next_event_++;
}

void Streams::destroy_event(EventId event) {
  recording_of(event);
  events_.erase(event);
}

std::shared_ptr<Streams::Recording>& Streams::recording_of(EventId event) {
  return const_cast<std::shared_ptr<Recording>&>(std::as_const(*this).recording_of(event));
}

const std::shared_ptr<Streams::Recording>& Streams::recording_of(EventId event) const {
  const auto found = events_.find(event);
  if (found == events_.end()) {
    throw InputError("event " + std::to_string(event),
                     "does not exist; there are " + std::to_string(events_.size()));
  }
  return found->second;
}

void Streams::record(StreamId stream, EventId event) {
  stream_of(stream);
  const auto recording = std::make_shared<Recording>();
  recording_of(event) = recording;
  add(stream, {[this, recording](const Done& done) {
        recording->happened = true;
        recording->picoseconds = clock_();
        due_.insert(due_.end(), recording->waiting.begin(), recording->waiting.end());
        recording->waiting.clear();
        if (told_) told_();
        done();
      }});
}

void Streams::wait(StreamId stream, EventId event) {
  stream_of(stream);
  const std::shared_ptr<Recording> recording = recording_of(event);
  if (recording == nullptr) return;
  Operation operation;
  operation.begin = [recording](const Done& done) { done(); };
  operation.ready = [recording, stream] {
    if (!recording->happened) recording->waiting.push_back(stream);
    return recording->happened;
  };
  add(stream, std::move(operation));
}

bool Streams::recorded(EventId event) const {
  const auto& recording = recording_of(event);
  return recording != nullptr && recording->happened;
}

bool Streams::pending(EventId event) const {
  const auto& recording = recording_of(event);
  return recording != nullptr && !recording->happened;
}

std::uint64_t Streams::time_of(EventId event) const {
  return recording_of(event)->picoseconds;
}

// Operations may be done as soon as they begin, and let others begin in other streams: one loop works off
// what is due, however deep the calls.
void Streams::advance(StreamId stream) {
  due_.push_back(stream);
  advance_all();
}

void Streams::advance_all() {
  if (advancing_) return;
  struct Guard {  // an operation may throw
    explicit Guard(bool& set) : flag(set) { flag = true; }
    ~Guard() { flag = false; }
    bool& flag;
  } const guard(advancing_);
  while (!due_.empty()) {
    const StreamId stream = due_.front();
    due_.pop_front();
    while (begin_next(stream)) {
    }
  }
}

bool Streams::begin_next(StreamId number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return false;
  Stream& stream = found->second;
  if (stream.operations.empty()) {
    if (stream.outstanding == 0 && stream.destroyed) streams_.erase(found);
    return false;
  }
  const std::uint32_t kind = stream.operations.front().kind;
  if (stream.outstanding != 0 && (kind == 0 || kind != stream.kind)) return false;
  if (stream.operations.front().ready && !stream.operations.front().ready()) return false;
  const Operation operation = std::move(stream.operations.front());
  stream.operations.pop_front();
  ++stream.outstanding;
  stream.kind = kind;
  operation.begin([this, number, generation = generation_] {
    if (generation == generation_) finish(number);
  });
  return true;
}

void Streams::finish(StreamId stream) {
  const auto found = streams_.find(stream);
  --found->second.outstanding;
  if (idle(stream) && told_) told_();
  advance(stream);
}

void Streams::reset() {
  streams_.clear();
  streams_.emplace(0, Stream());
  events_.clear();
  due_.clear();
  next_stream_ = 1;
  next_event_ = 0;
  ++generation_;
}

}  // namespace weft::runtime
