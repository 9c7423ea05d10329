// Launches that wait to begin: in order within a queue, and across queues the oldest that may begin first.
// `Waiting` is what is kept of one.
#ifndef WEFT_DISPATCH_LAUNCH_QUEUE_H
#define WEFT_DISPATCH_LAUNCH_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace weft::dispatch {

template <class Waiting>
class LaunchQueue {
 public:
  void push(std::uint32_t queue, Waiting launch) { waiting_.push_back({queue, std::move(launch)}); }
  bool empty() const { return waiting_.empty(); }

  // Whether a launch may begin: one whose queue has none running.
  bool ready() const { return next() != waiting_.end(); }
  // The oldest that may; its queue is busy until `finished`. Precondition: ready().
  Waiting take() {
    const auto oldest = next();
    Entry entry = *oldest;
    waiting_.erase(oldest);
    busy_.push_back(entry.queue);
    return std::move(entry.launch);
  }
  void finished(std::uint32_t queue) { busy_.erase(std::find(busy_.begin(), busy_.end(), queue)); }

  // Forgets everything; returns what was waiting, in order.
  std::vector<Waiting> clear() {
    busy_.clear();
    std::vector<Waiting> launches;
    for (Entry& entry : std::exchange(waiting_, {})) launches.push_back(std::move(entry.launch));
    return launches;
  }

 private:
  struct Entry {
    std::uint32_t queue = 0;
    Waiting launch;
  };
  // An older launch of the same queue would have been found before, or is what makes the queue busy.
  typename std::deque<Entry>::const_iterator next() const {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Entry& entry) {
      return std::find(busy_.begin(), busy_.end(), entry.queue) == busy_.end();
    });
  }

  std::deque<Entry> waiting_;        // in the order in which they came
  std::vector<std::uint32_t> busy_;  // queues with a running launch
};

}  // namespace weft::dispatch

#endif
