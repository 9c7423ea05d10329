// One direction of a crossbar: input queues, arbitration, output queues. Free of SystemC.
//
// Inputs and outputs are queues; several of them may share a network interface, which moves one flit per
// cycle. A packet of n flits that is granted at edge g keeps its input and output interface busy for n cycles
// and can leave the output queue at edge g + n - 1 + router_latency. A grant needs a place in the output
// queue, which is taken at once. At each edge every free output interface grants at most one packet among the
// heads of the input queues.
#ifndef WEFT_CROSSBAR_PACKET_NETWORK_H
#define WEFT_CROSSBAR_PACKET_NETWORK_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/clock_domain.h"
#include "common/ring.h"

namespace weft::crossbar {

enum class Arbitration : std::uint8_t { kRoundRobin, kOldest };

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
    Arbitration arbitration = Arbitration::kRoundRobin;
  };

  explicit PacketNetwork(const Shape& shape);

  bool input_full(unsigned input) const { return inputs_[input].queue.full(); }
  // Not when the input is full.
  void push(unsigned input, void* content, unsigned output, unsigned flits, Cycle ready);

  // Grants packets at edge `now`.
  void arbitrate(Cycle now);

  // The output queues that hold packets, one bit each.
  std::uint64_t occupied() const { return occupied_; }
  // The head of an output queue that is not empty.
  const Packet& head(unsigned output) const { return outputs_[output].front(); }
  void pop(unsigned output) {
    outputs_[output].pop();
    if (outputs_[output].empty()) occupied_ &= ~(std::uint64_t{1} << output);
  }

  // The next edge after `now` at which a packet could be granted, if nothing arrives and no output queue is
  // popped.
  Cycle next_grant(Cycle now) const;

  // Drops all packets.
  void reset();

  // Flits that went through an output interface: statistics.
  std::uint64_t& flits(unsigned output_interface) { return interfaces_out_[output_interface].flits; }
  // Whether a packet is on its way: arriving, going through an interface, or in the router.
  bool transmits(Cycle now) const {
    const auto busy = [now](const OutputInterface& out) { return out.busy_until > now; };
    const auto leaving = [now](const Ring<Packet>& out) { return !out.empty() && out.front().ready > now; };
    const auto arriving = [now](const Input& in) {
      return !in.queue.empty() && in.queue.front().ready > now;
    };
    return std::any_of(interfaces_out_.begin(), interfaces_out_.end(), busy) ||
           std::any_of(outputs_.begin(), outputs_.end(), leaving) ||
           std::any_of(inputs_.begin(), inputs_.end(), arriving);
  }
  unsigned output_interfaces() const { return static_cast<unsigned>(interfaces_out_.size()); }

 private:
  static constexpr unsigned kNone = ~0u;

  struct Input {
    Ring<Packet> queue;
    unsigned interface = 0;
  };
  struct OutputInterface {
    std::uint64_t candidates = 0;  // inputs whose head goes to one of this interface's outputs
    Cycle busy_until = 0;
    unsigned last = 0;  // the input granted last
    std::uint64_t flits = 0;
  };

  unsigned choose(unsigned out, Cycle now) const;
  bool may_go(unsigned input, Cycle now) const;
  void grant(unsigned out, unsigned input, Cycle now);
  void show_head(unsigned input);

  const Shape shape_;
  std::vector<Input> inputs_;
  std::vector<Ring<Packet>> outputs_;
  std::vector<Cycle> interfaces_in_;  // busy until
  std::vector<OutputInterface> interfaces_out_;
  std::vector<std::uint8_t> interface_of_output_;
  std::vector<std::uint8_t> turns_;  // output interfaces, granted longest ago first
  std::uint64_t arrivals_ = 0;
  std::size_t waiting_ = 0;  // packets in input queues
  std::uint64_t occupied_ = 0;
};

}  // namespace weft::crossbar

#endif
