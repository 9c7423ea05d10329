#include "crossbar/packet_network.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace weft::crossbar {
namespace {

// Interfaces are shared by `per_interface` queues each, but for the last `lone` queues.
unsigned interface_of(unsigned queue, unsigned queues, unsigned lone, unsigned per_interface) {
  const unsigned shared = queues - lone;
  return queue < shared ? queue / per_interface
                        : (shared + per_interface - 1) / per_interface + (queue - shared);
}

unsigned interfaces(unsigned queues, unsigned lone, unsigned per_interface) {
  return interface_of(queues - 1, queues, lone, per_interface) + 1;
}

}  // namespace

PacketNetwork::PacketNetwork(const Shape& shape)
    : shape_(shape),
      inputs_(shape.inputs),
      outputs_(shape.outputs, Ring<Packet>(shape.output_queue)),
      interfaces_in_(interfaces(shape.inputs, shape.lone_inputs, shape.inputs_per_interface)),
      interfaces_out_(interfaces(shape.outputs, shape.lone_outputs, shape.outputs_per_interface)),
      turns_(interfaces_out_.size()) {
  for (unsigned i = 0; i < shape.inputs; ++i) {
    inputs_[i].queue = Ring<Packet>(shape.input_queue);
    inputs_[i].interface = interface_of(i, shape.inputs, shape.lone_inputs, shape.inputs_per_interface);
  }
  for (unsigned i = 0; i < shape.outputs; ++i) {
    interface_of_output_.push_back(static_cast<std::uint8_t>(
        interface_of(i, shape.outputs, shape.lone_outputs, shape.outputs_per_interface)));
  }
  reset();
}

void PacketNetwork::reset() {
  for (Input& input : inputs_) input.queue.clear();
  for (Ring<Packet>& queue : outputs_) queue.clear();
  std::fill(interfaces_in_.begin(), interfaces_in_.end(), 0);
  for (OutputInterface& out : interfaces_out_) {
    out.candidates = 0;
    out.busy_until = 0;
    out.last = shape_.inputs - 1;  // so that input 0 is first
  }
  arrivals_ = 0;
  std::iota(turns_.begin(), turns_.end(), std::uint8_t{0});
  waiting_ = 0;
  occupied_ = 0;
}

void PacketNetwork::push(unsigned input, void* content, unsigned output, unsigned flits, Cycle ready) {
  Ring<Packet>& queue = inputs_[input].queue;
  queue.push({content, output, flits, arrivals_++, ready});
  ++waiting_;
  if (queue.size() == 1) show_head(input);
}

void PacketNetwork::show_head(unsigned input) {
  const Packet& head = inputs_[input].queue.front();
  interfaces_out_[interface_of_output_[head.output]].candidates |= std::uint64_t{1} << input;
}

// Outputs that want the same input interface take turns: who was granted longest ago chooses first. (A
// rotation by the cycle number would beat with the packets' length and starve some.)
void PacketNetwork::arbitrate(Cycle now) {
  if (waiting_ == 0) return;
  std::array<std::uint8_t, 64> granted;
  std::size_t grants = 0;
  std::size_t kept = 0;
  for (const std::uint8_t out : turns_) {
    const OutputInterface& interface = interfaces_out_[out];
    unsigned input = kNone;
    if (interface.candidates != 0 && interface.busy_until <= now) input = choose(out, now);
    if (input == kNone) {
      turns_[kept++] = out;
    } else {
      grant(out, input, now);
      granted[grants++] = out;
    }
  }
  std::copy_n(granted.begin(), grants, turns_.begin() + static_cast<std::ptrdiff_t>(kept));
}

bool PacketNetwork::may_go(unsigned input, Cycle now) const {
  const Packet& head = inputs_[input].queue.front();
  return head.ready <= now && interfaces_in_[inputs_[input].interface] <= now &&
         !outputs_[head.output].full();
}

// Round robin: the first that may go behind the input granted last. Oldest: the first to have arrived.
unsigned PacketNetwork::choose(unsigned out, Cycle now) const {
  const OutputInterface& interface = interfaces_out_[out];
  if (shape_.arbitration == Arbitration::kOldest) {
    unsigned best = kNone;
    for (std::uint64_t left = interface.candidates; left != 0; left &= left - 1) {
      const auto input = static_cast<unsigned>(__builtin_ctzll(left));
      if (!may_go(input, now)) continue;
      if (best == kNone || inputs_[input].queue.front().order < inputs_[best].queue.front().order)
        best = input;
    }
    return best;
  }
  const std::uint64_t up_to_last = (std::uint64_t{2} << interface.last) - 1;  // 2 << 63 is 0: all bits
  for (std::uint64_t part : {interface.candidates & ~up_to_last, interface.candidates & up_to_last}) {
    for (; part != 0; part &= part - 1) {
      const auto input = static_cast<unsigned>(__builtin_ctzll(part));
      if (may_go(input, now)) return input;
    }
  }
  return kNone;
}

void PacketNetwork::grant(unsigned out, unsigned input, Cycle now) {
  OutputInterface& interface = interfaces_out_[out];
  Ring<Packet>& queue = inputs_[input].queue;
  Packet packet = queue.front();
  queue.pop();
  interface.candidates &= ~(std::uint64_t{1} << input);
  if (!queue.empty()) show_head(input);
  interface.last = input;
  interface.busy_until = now + packet.flits;
  interfaces_in_[inputs_[input].interface] = now + packet.flits;
  interface.flits += packet.flits;
  packet.ready = now + packet.flits - 1 + shape_.router_latency;
  outputs_[packet.output].push(packet);
  --waiting_;
  occupied_ |= std::uint64_t{1} << packet.output;
}

Cycle PacketNetwork::next_grant(Cycle now) const {
  if (waiting_ == 0) return kNever;
  Cycle next = kNever;
  for (const OutputInterface& interface : interfaces_out_) {
    for (std::uint64_t left = interface.candidates; left != 0; left &= left - 1) {
      const auto input = static_cast<unsigned>(__builtin_ctzll(left));
      const Packet& head = inputs_[input].queue.front();
      if (outputs_[head.output].full()) continue;
      next = std::min(next,
                      std::max({head.ready, interfaces_in_[inputs_[input].interface], interface.busy_until}));
      if (next <= now) return now + 1;
    }
  }
  return next;
}

}  // namespace weft::crossbar
