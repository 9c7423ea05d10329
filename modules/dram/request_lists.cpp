#include "dram/request_lists.h"

#include <numeric>

namespace weft::dram {

RequestPlaces::RequestPlaces(std::size_t places) : requests_(places), free_(places) {
  std::iota(free_.rbegin(), free_.rend(), Index{0});
}

RequestPlaces::Index RequestPlaces::take(const BankRequest& request) {
  const Index index = free_.back();
  free_.pop_back();
  requests_[index] = {request, arrivals_++};
  return index;
}

void RequestPlaces::append(RequestList& list, Index index) {
  QueuedRequest& entry = requests_[index];
  entry.previous = list.last;
  entry.next = kNone;
  (list.empty() ? list.first : requests_[list.last].next) = index;
  list.last = index;
}

void RequestPlaces::unlink(RequestList& list, Index index) {
  const QueuedRequest& entry = requests_[index];
  (entry.previous == kNone ? list.first : requests_[entry.previous].next) = entry.next;
  (entry.next == kNone ? list.last : requests_[entry.next].previous) = entry.previous;
}

void RequestPlaces::insert(RequestList& list, Index index) {
  QueuedRequest& entry = requests_[index];
  Index after = list.first;
  while (after != kNone && requests_[after].order < entry.order) after = requests_[after].next;
  if (after == kNone) {
    append(list, index);
    return;
  }
  entry.next = after;
  entry.previous = requests_[after].previous;
  (entry.previous == kNone ? list.first : requests_[entry.previous].next) = index;
  requests_[after].previous = index;
}

std::size_t RequestPlaces::length(const RequestList& list) const {
  std::size_t count = 0;
  for (Index index = list.first; index != kNone; index = requests_[index].next) ++count;
  return count;
}

bool RequestPlaces::overlap(const BankRequest& one, const BankRequest& other) {
  return one.row == other.row && one.first_burst < other.first_burst + other.bursts &&
         other.first_burst < one.first_burst + one.bursts;
}

const QueuedRequest* RequestPlaces::overlapped(const RequestList& list, const BankRequest& request) const {
  const QueuedRequest* youngest = nullptr;
  for (Index index = list.first; index != kNone; index = requests_[index].next) {
    if (overlap(requests_[index].request, request)) youngest = &requests_[index];
  }
  return youngest;
}

}  // namespace weft::dram
