// Memory instructions on their way to the part of the load-store unit that all schedulers of an SM share:
// each scheduler has a queue and an address unit of its own (Huerta et al., MICRO 2025).
//
// An instruction has an entry of its scheduler's queue from its issue until it enters the shared part. The
// address unit begins one in so many cycles, in order; the shared part takes one in so many, of all
// schedulers, and places at it go to instructions in the order of their issue.
#ifndef WEFT_DATAPATH_ADDRESS_QUEUES_H
#define WEFT_DATAPATH_ADDRESS_QUEUES_H

#include <algorithm>
#include <cstddef>
#include <vector>

#include "datapath/datapath.h"

namespace weft::datapath {

class AddressQueues {
 public:
  AddressQueues(const AddressQueue& config, unsigned schedulers)
      : entries_(config.entries),
        address_interval_(config.address_interval),
        shared_interval_(config.shared_interval),
        queues_(on() ? schedulers : 0) {
    for (Queue& queue : queues_) queue.leaves.assign(entries_, 0);
    // No place is farther from an issue than this.
    const std::size_t most =
        2 * (entries_ * address_interval_ + (schedulers * entries_ + 1) * 2 * shared_interval_) + 2;
    if (on()) taken_.assign(most, kNever);
  }

  bool on() const { return entries_ != 0; }
  Cycle shared_interval() const { return shared_interval_; }
  void reset() {
    for (Queue& queue : queues_) {
      std::fill(queue.leaves.begin(), queue.leaves.end(), 0);
      queue.address = 0;
    }
    std::fill(taken_.begin(), taken_.end(), kNever);
  }
  // The first cycle from `now` on at which the scheduler's queue has an entry.
  Cycle free(Cycle now, unsigned scheduler) const {
    const Queue& queue = queues_[scheduler];
    return std::max(now, queue.leaves[queue.oldest]);
  }
  // An instruction takes an entry, which is free. Returns the cycle in which it enters the shared part.
  Cycle enter(Cycle now, unsigned scheduler) {
    Queue& queue = queues_[scheduler];
    Cycle at = std::max(now, queue.address);
    queue.address = at + address_interval_;
    at = std::max(at, last_of(queue));  // in order
    while (!is_free(at)) ++at;
    taken_[at % taken_.size()] = at;
    queue.leaves[queue.oldest] = at;
    queue.oldest = (queue.oldest + 1) % entries_;
    return at;
  }
  Cycle next_free(Cycle now, Cycle next) const {
    for (const Queue& queue : queues_) {
      const Cycle leaves = queue.leaves[queue.oldest];
      if (leaves > now) next = std::min(next, leaves);
    }
    return next;
  }

 private:
  struct Queue {
    std::vector<Cycle> leaves;  // when the last `entries_` enter the shared part, as a ring
    std::size_t oldest = 0;
    Cycle address = 0;  // when the address unit is free
  };

  Cycle last_of(const Queue& queue) const { return queue.leaves[(queue.oldest + entries_ - 1) % entries_]; }
  // Nobody enters so near to it that the shared part would be busy.
  bool is_free(Cycle at) const {
    const Cycle first = at - std::min(at, shared_interval_ - 1);
    for (Cycle c = first; c < at + shared_interval_; ++c) {
      if (taken_[c % taken_.size()] == c) return false;
    }
    return true;
  }

  const std::size_t entries_;
  const Cycle address_interval_, shared_interval_;
  std::vector<Queue> queues_;  // by scheduler
  std::vector<Cycle> taken_;   // by cycle, modulo its size: the cycle in which an instruction enters
};

}  // namespace weft::datapath

#endif
