// Requests on their way out of an SM, in the order in which they leave it (`sm.miss_queue`).
//
// With `sm.request_sectors`, reads of one instruction that follow each other and go to neighbouring sectors
// of an aligned block leave as one request. A read that joins the last request needs no place of its own.
#ifndef WEFT_SM_OUTGOING_QUEUE_H
#define WEFT_SM_OUTGOING_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <tlm>

#include "bus/memory_transaction.h"
#include "common/ring.h"
#include "sm/carried_bytes.h"
#include "sm/joined_tags.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"

namespace weft::sm {

struct OutgoingRequest {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  AccessKind kind = AccessKind::kRead;
  std::uint16_t atomic_lanes = 0;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;             // in device memory, or of system memory + kSystemSpace
  std::uint64_t tag = 0;                 // comes back with the response
  std::uint32_t access = kDeviceMemory;  // system memory: SystemAccesses::open
  std::uint32_t carried = kNothing;      // a write that is looked at: OutgoingQueue::carried
  std::uint32_t instruction = kAlone;    // whose reads of neighbouring sectors may be one request

  static constexpr std::uint32_t kDeviceMemory = UINT32_MAX, kNothing = CarriedBytes::kNone,
                                 kAlone = UINT32_MAX;
};

class OutgoingQueue {
 public:
  // For so many requests, whose writes have at most `bytes`. Reads of one instruction are one request within
  // aligned blocks of `joined_bytes`, a power of two; 0: each is one.
  OutgoingQueue(std::size_t requests, std::size_t bytes, std::size_t joined_bytes = 0)
      : queue_(requests), carried_(bytes), joined_bytes_(joined_bytes) {}
  void reset();
  void archive(Archive& archive) { archive(at_rest(queue_), at_rest(writes_in_flight_)); }

  std::size_t room() const { return queue_.capacity() - queue_.size(); }
  // The read would go along with the last request.
  bool joins(const OutgoingRequest& read) {
    if (joined_bytes_ == 0 || queue_.empty() || read.instruction == OutgoingRequest::kAlone) return false;
    const OutgoingRequest& last = this->last();
    const std::uint64_t begin = read.address & (joined_bytes_ - 1);  // in its block
    return last.instruction == read.instruction && last.command == tlm::TLM_READ_COMMAND &&
           last.address + last.bytes == read.address && begin != 0 && begin + read.bytes <= joined_bytes_;
  }
  bool full() const { return queue_.full(); }
  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return queue_.size(); }
  // Nothing is queued, and every write has been answered that is not waited for.
  bool idle() const { return queue_.empty() && writes_in_flight_ == 0; }

  // Precondition of all: there is room, or the read joins. Fetches of constants and instructions are not
  // counted among data.
  void fetch(const OutgoingRequest& request) { queue_.push(request); }
  void read(const OutgoingRequest& request);
  // A write or an atomic; `waits`: for its answer.
  void write(const OutgoingRequest& request, bool waits);
  void write_back(const OutgoingRequest& request);
  void answered_write() { --writes_in_flight_; }
  // The response to a request that several reads joined: calls visit(tag) for each of them.
  template <class Visit>
  void answered_joined(std::uint64_t tag, Visit&& visit) {
    joined_.take(tag, visit);
  }
  // The first request leaves.
  OutgoingRequest take() {
    const OutgoingRequest request = queue_.front();
    queue_.pop();
    return request;
  }

  // From now on writes to device memory keep a copy of their bytes in `image`; nullptr: no more.
  void carry(const std::uint8_t* image) { image_ = image; }
  bool carries() const { return image_ != nullptr; }
  // A copy of these bytes of device memory; kNothing if none are kept.
  std::uint32_t copy(std::uint64_t address, std::size_t bytes) {
    return image_ == nullptr ? CarriedBytes::kNone : carried_.take(image_ + address, bytes);
  }
  const std::uint8_t* carried(std::uint32_t copy) const { return carried_.of(copy); }
  void drop(std::uint32_t copy) { carried_.give(copy); }

  // Data requests so far.
  std::uint64_t data_requests() const { return data_; }
  void bind(statistics::Group& group);
  void bind_length(statistics::Group& group);

 private:
  OutgoingRequest& last() { return queue_.at(queue_.size() - 1); }

  Ring<OutgoingRequest> queue_;
  std::uint32_t writes_in_flight_ = 0;
  CarriedBytes carried_;
  const std::size_t joined_bytes_;
  JoinedTags joined_;
  const std::uint8_t* image_ = nullptr;  // whose bytes are carried
  std::uint64_t data_ = 0, reads_ = 0, writes_ = 0, write_backs_ = 0, atomics_ = 0, bytes_ = 0,
                joined_reads_ = 0;
};

}  // namespace weft::sm

#endif
