// Launches that wait to begin: in order within a queue, and across queues the oldest that may begin first.
#ifndef WEFT_DISPATCH_LAUNCH_QUEUE_H
#define WEFT_DISPATCH_LAUNCH_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "dispatch/launch.h"

namespace weft::dispatch {

class LaunchQueue {
 public:
  void push(const Launch& launch) { waiting_.push_back(launch); }
  bool empty() const { return waiting_.empty(); }

  // Whether a launch may begin: one whose queue has none running.
  bool ready() const { return next() != waiting_.end(); }
  // The oldest that may; its queue is busy until `finished`. Precondition: ready().
  Launch take() {
    const auto oldest = next();
    Launch launch = *oldest;
    waiting_.erase(oldest);
    busy_.push_back(launch.queue);
    return launch;
  }
  void finished(std::uint32_t queue) { busy_.erase(std::find(busy_.begin(), busy_.end(), queue)); }

  // Forgets everything; returns what was waiting, in order.
  std::deque<Launch> clear() {
    busy_.clear();
    return std::exchange(waiting_, {});
  }

 private:
  // An older launch of the same queue would have been found before, or is what makes the queue busy.
  std::deque<Launch>::const_iterator next() const {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Launch& launch) {
      return std::find(busy_.begin(), busy_.end(), launch.queue) == busy_.end();
    });
  }

  std::deque<Launch> waiting_;       // in the order in which they came
  std::vector<std::uint32_t> busy_;  // queues with a running launch
};

}  // namespace weft::dispatch

#endif
