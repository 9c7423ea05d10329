// One direction of a crossbar: input queues, arbitration, output queues. Free of SystemC.
//
// Inputs and outputs are queues; several of them may share a network interface, which moves one flit per
// cycle. A packet of n flits that is granted at edge g keeps its input and output interface busy for n cycles
// and can leave the output queue at edge g + n - 1 + router_latency. A grant needs a place in the output
// queue, which is taken at once. At each edge every free output interface grants at most one packet among the
// heads of the input queues.
//
// An input has one queue, or one for each output interface (virtual output queues), which then offers its
// head to that interface.
//
// With an input speed-up of s, an input interface may pass packets to s outputs at the same time. What comes
// in from outside is still one flit per cycle: a packet may be granted no earlier than its first flit is
// there. So a speed-up makes up for time lost at the head of the queue, and widens nothing.
#ifndef WEFT_CROSSBAR_PACKET_NETWORK_H
#define WEFT_CROSSBAR_PACKET_NETWORK_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "common/ring.h"
#include "crossbar/input_queues.h"
#include "crossbar/queue_set.h"
#include "weft/common/archive.h"
#include "weft/crossbar/crossbar_config.h"

namespace weft::crossbar {

class PacketNetwork {
 public:
  struct Packet {
    void* content = nullptr;  // the owner's
    unsigned output = 0;
    unsigned flits = 1;
    std::uint64_t order = 0;  // of arrival in this direction
    Cycle ready = 0;          // first edge at which it may be granted, or leave the output queue
  };
  struct Shape {
    unsigned inputs = 1;
    unsigned outputs = 1;
    unsigned inputs_per_interface = 1;
    unsigned outputs_per_interface = 1;
    // So many of the last inputs and of the last outputs have a network interface each.
    unsigned lone_inputs = 0;
    unsigned lone_outputs = 0;
    std::size_t input_queue = 1;
    std::size_t output_queue = 1;
    Cycle router_latency = 1;
    unsigned input_speedup = 1;
    bool virtual_output_queues = false;
    Arbitration arbitration = Arbitration::kRoundRobin;
  };

  explicit PacketNetwork(const Shape& shape);

  bool input_full(unsigned input) const { return state_.inputs[input].full(); }
  // Packets in a queue.
  std::size_t waiting_in(unsigned input) const { return state_.inputs[input].size(); }
  std::size_t waiting_out(unsigned output) const { return state_.outputs[output].size(); }
  // Not when the input is full.
  void push(unsigned input, void* content, unsigned output, unsigned flits, Cycle ready);

  // Grants packets at edge `now`.
  void arbitrate(Cycle now);

  // The output queues that hold packets.
  const QueueSet& occupied() const { return state_.occupied; }
  // The head of an output queue that is not empty.
  const Packet& head(unsigned output) const { return state_.outputs[output].front(); }
  void pop(unsigned output) {
    Ring<Packet>& queue = state_.outputs[output];
    if (queue.full()) next_grant_ = kUnknown;
    queue.pop();
    if (queue.empty()) state_.occupied.erase(output);
  }

  // The next edge after `now` at which a packet could be granted, if nothing arrives and no output queue is
  // popped.
  Cycle next_grant(Cycle now);

  // Drops all packets.
  void reset();
  void archive(Archive& archive) {
    archive(state_);
    next_grant_ = kUnknown;
  }

  // Flits that went through an output interface: statistics.
  std::uint64_t& flits(unsigned output_interface) { return flits_[output_interface]; }
  // Whether a packet is on its way: arriving, going through an interface, or in the router.
  bool transmits(Cycle now) const {
    const auto busy = [now](const OutputInterface& out) { return out.busy_until > now; };
    const auto leaving = [now](const Ring<Packet>& out) { return !out.empty() && out.front().ready > now; };
    const auto arriving = [now, this](const InputQueues<Packet>& in) {
      for (unsigned queue = 0; queue < queues_; ++queue)
        if (!in.empty(queue) && in.front(queue).ready > now) return true;
      return false;
    };
    return std::any_of(state_.interfaces_out.begin(), state_.interfaces_out.end(), busy) ||
           std::any_of(state_.outputs.begin(), state_.outputs.end(), leaving) ||
           std::any_of(state_.inputs.begin(), state_.inputs.end(), arriving);
  }
  // Likewise, through an input interface.
  std::uint64_t& flits_in(unsigned input_interface) { return flits_in_[input_interface]; }
  unsigned input_interfaces() const { return static_cast<unsigned>(flits_in_.size()); }
  unsigned output_interfaces() const { return static_cast<unsigned>(flits_.size()); }

 private:
  static constexpr unsigned kNone = QueueSet::kNone;
  static constexpr Cycle kUnknown = 0;

  struct OutputInterface {
    QueueSet candidates;  // inputs whose head goes to one of this interface's outputs
    Cycle busy_until = 0;
    unsigned last = 0;  // the input granted last
    void archive(Archive& archive) {
      auto& [candidates_, busy_until_, last_] = *this;
      archive(at_rest(candidates_), busy_until_, last_);
    }
  };
  struct State {
    // Numbers of interfaces, and of queues at each input.
    State(const Shape& shape, std::size_t in, std::size_t out, std::size_t queues);
    std::vector<InputQueues<Packet>> inputs;
    std::vector<Ring<Packet>> outputs;
    std::vector<Cycle> interfaces_in;  // busy until; as many for each as it may pass packets at a time
    std::vector<Cycle> links_in;       // with a speed-up: the last flit on its way from outside is in
    std::vector<OutputInterface> interfaces_out;
    std::vector<std::uint16_t> turns;  // output interfaces, granted longest ago first
    std::uint64_t arrivals = 0;
    std::size_t waiting = 0;  // packets in input queues
    QueueSet occupied;
    void archive(Archive& archive) {
      auto& [inputs_, outputs_, interfaces_in_, links_in_, interfaces_out_, turns_, arrivals_, waiting_,
             occupied_] = *this;
      // What waits is counted, and the outputs that hold something are marked.
      archive(set_anew(inputs_, outputs_), at_rest(waiting_), at_rest(occupied_), interfaces_in_, links_in_,
              interfaces_out_, turns_, arrivals_);
    }
  };

  unsigned choose(unsigned out, Cycle now) const;
  bool may_go(unsigned out, unsigned input, Cycle now) const;
  bool grant_once(Cycle now);
  Cycle find_next_grant(Cycle now) const;
  // Which of the places of the input's interface is free first.
  std::size_t place_of(unsigned input) const {
    if (shape_.input_speedup == 1) return interface_of_input_[input];
    const std::size_t first = std::size_t{interface_of_input_[input]} * shape_.input_speedup;
    std::size_t best = first;
    for (std::size_t place = first + 1; place < first + shape_.input_speedup; ++place) {
      if (state_.interfaces_in[place] < state_.interfaces_in[best]) best = place;
    }
    return best;
  }
  void grant(unsigned out, unsigned input, Cycle now);
  void show_head(unsigned input, unsigned queue);
  // The queue at each input whose head may go through this output interface.
  unsigned queue_to(unsigned out) const { return queues_ == 1 ? 0 : out; }
  const Packet& head_to(unsigned out, unsigned input) const {
    return state_.inputs[input].front(queue_to(out));
  }

  const Shape shape_;
  std::vector<std::uint16_t> interface_of_input_, interface_of_output_;
  const unsigned queues_;  // of each input
  State state_;
  Cycle next_grant_ = kUnknown;  // before it nothing can be granted; a grant, an arrival and a place ask anew
  std::vector<std::uint64_t> flits_;     // per output interface
  std::vector<std::uint64_t> flits_in_;  // per input interface
};

}  // namespace weft::crossbar

#endif
