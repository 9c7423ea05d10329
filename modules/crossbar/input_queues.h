// The packets that wait at one input of a network: in one queue, or in one for each output interface (virtual
// output queues). The queues share the places of the input.
#ifndef WEFT_CROSSBAR_INPUT_QUEUES_H
#define WEFT_CROSSBAR_INPUT_QUEUES_H

#include <cstdint>
#include <numeric>
#include <vector>

namespace weft::crossbar {

template <class Packet>
class InputQueues {
 public:
  InputQueues(std::size_t places, std::size_t queues)
      : places_(places), next_(places), free_(places), queues_(queues) {
    std::iota(free_.rbegin(), free_.rend(), std::uint16_t{0});
  }

  std::size_t size() const { return places_.size() - free_.size(); }
  bool full() const { return free_.empty(); }
  bool empty(unsigned queue) const { return queues_[queue].first == kNone; }
  const Packet& front(unsigned queue) const { return places_[queues_[queue].first]; }

  // Not when full.
  void push(unsigned queue, const Packet& packet) {
    const std::uint16_t place = free_.back();
    free_.pop_back();
    places_[place] = packet;
    next_[place] = kNone;
    Queue& own = queues_[queue];
    (own.first == kNone ? own.first : next_[own.last]) = place;
    own.last = place;
  }
  void pop(unsigned queue) {
    Queue& own = queues_[queue];
    free_.push_back(own.first);
    own.first = next_[own.first];
  }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  struct Queue {
    std::uint16_t first = kNone, last = kNone;
  };
  std::vector<Packet> places_;
  std::vector<std::uint16_t> next_, free_;
  std::vector<Queue> queues_;
};

}  // namespace weft::crossbar

#endif
