// The requests that a scheduler holds: a place for each, and lists of them from the oldest to the youngest.
#ifndef WEFT_DRAM_REQUEST_LISTS_H
#define WEFT_DRAM_REQUEST_LISTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/common/archive.h"
#include "weft/dram/request_order.h"

namespace weft::dram {

struct RequestList {
  std::uint16_t first = QueuedRequest::kNone, last = QueuedRequest::kNone;
  bool empty() const { return first == QueuedRequest::kNone; }
  void archive(Archive& archive) {
    auto& [first_, last_] = *this;
    archive(first_, last_);
  }
};

class RequestPlaces {
 public:
  using Index = std::uint16_t;
  static constexpr Index kNone = QueuedRequest::kNone;

  explicit RequestPlaces(std::size_t places);

  std::size_t size() const { return requests_.size(); }
  const std::vector<QueuedRequest>& all() const { return requests_; }
  QueuedRequest& operator[](Index index) { return requests_[index]; }
  const QueuedRequest& operator[](Index index) const { return requests_[index]; }

  // A free place, with the request in it and in no list. There must be one.
  Index take(const BankRequest& request);
  void release(Index index) { free_.push_back(index); }

  void append(RequestList& list, Index index);
  void unlink(RequestList& list, Index index);
  // At its place by age.
  void insert(RequestList& list, Index index);

  std::size_t length(const RequestList& list) const;
  // The youngest request of the list for one of the same bursts; nullptr: none.
  const QueuedRequest* overlapped(const RequestList& list, const BankRequest& request) const;
  static bool overlap(const BankRequest& one, const BankRequest& other);

  void archive(Archive& archive) {
    auto& [requests, free, arrivals] = *this;
    archive(set_anew(requests), free, arrivals);
  }

 private:
  std::vector<QueuedRequest> requests_;
  std::vector<Index> free_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace weft::dram

#endif
