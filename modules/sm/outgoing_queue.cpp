#include "sm/outgoing_queue.h"

namespace weft::sm {

void OutgoingQueue::reset() {
  queue_.clear();
  writes_in_flight_ = 0;
  carried_.clear();
  joined_.clear();
}

void OutgoingQueue::read(const OutgoingRequest& request) {
  if (joins(request)) {
    OutgoingRequest& last = this->last();
    last.bytes += request.bytes;
    last.tag = joined_.join(last.tag, request.tag);
    ++joined_reads_;
    return;
  }
  queue_.push(request);
  ++reads_;
  ++data_;
}

void OutgoingQueue::write(const OutgoingRequest& request, bool waits) {
  queue_.push(request);
  ++(request.kind == AccessKind::kAtomic ? atomics_ : writes_);
  ++data_;
  bytes_ += request.bytes;
  if (!waits) ++writes_in_flight_;
}

void OutgoingQueue::write_back(const OutgoingRequest& request) {
  write(request, false);
  ++write_backs_;
}

void OutgoingQueue::bind(statistics::Group& group) {
  group.counter("data_requests", units::kRequests, "data requests sent to the crossbar", data_);
  group.counter("read_requests", units::kRequests, "reads sent to the crossbar", reads_);
  group.counter("write_requests", units::kRequests, "writes sent to the crossbar", writes_);
  group.counter("write_backs", units::kLines, "dirty lines of the data cache sent to the crossbar",
                write_backs_);
  group.counter("atomic_requests", units::kRequests, "atomics sent to the crossbar", atomics_);
  if (joined_bytes_ != 0) {
    group.counter("joined_reads", units::kRequests,
                  "reads of a sector that went along with the request for its neighbour", joined_reads_);
  }
  group.counter("write_bytes", units::kBytes, "bytes of writes and atomics sent", bytes_);
}

void OutgoingQueue::bind_length(statistics::Group& group) {
  group.gauge("miss_queue", units::kRequests, "requests that wait for the crossbar",
              [this] { return queue_.size(); });
}

}  // namespace weft::sm
