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

std::vector<std::uint16_t> interfaces_of(unsigned queues, unsigned lone, unsigned per_interface) {
  std::vector<std::uint16_t> interfaces;
  interfaces.reserve(queues);
  for (unsigned queue = 0; queue < queues; ++queue)
    interfaces.push_back(static_cast<std::uint16_t>(interface_of(queue, queues, lone, per_interface)));
  return interfaces;
}

}  // namespace

PacketNetwork::State::State(const Shape& shape, std::size_t in, std::size_t out, std::size_t queues)
    : inputs(shape.inputs, InputQueues<Packet>(shape.input_queue, queues)),
      outputs(shape.outputs, Ring<Packet>(shape.output_queue)),
      interfaces_in(in * shape.input_speedup),
      links_in(in),
      interfaces_out(out),
      turns(out) {
  for (OutputInterface& interface : interfaces_out) interface.last = shape.inputs - 1;  // input 0 is first
  std::iota(turns.begin(), turns.end(), std::uint16_t{0});
}

PacketNetwork::PacketNetwork(const Shape& shape)
    : shape_(shape),
      interface_of_input_(interfaces_of(shape.inputs, shape.lone_inputs, shape.inputs_per_interface)),
      interface_of_output_(interfaces_of(shape.outputs, shape.lone_outputs, shape.outputs_per_interface)),
      queues_(shape.virtual_output_queues ? interface_of_output_.back() + 1u : 1u),
      state_(shape, interface_of_input_.back() + 1u, interface_of_output_.back() + 1u, queues_),
      flits_(interface_of_output_.back() + 1u),
      flits_in_(interface_of_input_.back() + 1u) {}

void PacketNetwork::reset() {
  state_ = State(shape_, state_.links_in.size(), state_.interfaces_out.size(), queues_);
  next_grant_ = kUnknown;
}

void PacketNetwork::push(unsigned input, void* content, unsigned output, unsigned flits, Cycle ready) {
  InputQueues<Packet>& waiting = state_.inputs[input];
  const unsigned queue = queue_to(interface_of_output_[output]);
  if (shape_.input_speedup != 1) {
    Cycle& link = state_.links_in[interface_of_input_[input]];
    ready = std::max(ready, link);
    link = ready + flits;
  }
  const bool first = waiting.empty(queue);
  waiting.push(queue, {content, output, flits, state_.arrivals++, ready});
  ++state_.waiting;
  if (first) show_head(input, queue);
}

void PacketNetwork::show_head(unsigned input, unsigned queue) {
  const Packet& head = state_.inputs[input].front(queue);
  state_.interfaces_out[interface_of_output_[head.output]].candidates.insert(input);
  next_grant_ = kUnknown;
}

// Outputs that want the same input interface take turns: who was granted longest ago chooses first. (A
// rotation by the cycle number would beat with the packets' length and starve some.) In ascending order they
// choose by their numbers, once per edge.
void PacketNetwork::arbitrate(Cycle now) {
  if (next_grant_ > now) return;
  // With a speed-up, the packet behind one that was granted may go at the same edge.
  const unsigned rounds = shape_.arbitration == Arbitration::kAscending ? 1 : shape_.input_speedup;
  for (unsigned round = 0; round < rounds; ++round) {
    if (state_.waiting == 0 || !grant_once(now)) return;
  }
}

// Whether anything was granted.
bool PacketNetwork::grant_once(Cycle now) {
  std::array<std::uint16_t, QueueSet::kMost> granted;
  std::size_t grants = 0;
  std::size_t kept = 0;
  bool any = false;
  const bool take_turns = shape_.arbitration != Arbitration::kAscending;
  for (const std::uint16_t out : state_.turns) {
    const OutputInterface& interface = state_.interfaces_out[out];
    unsigned input = kNone;
    if (!interface.candidates.empty() && interface.busy_until <= now) input = choose(out, now);
    if (input != kNone) {
      grant(out, input, now);
      any = true;
    }
    if (input != kNone && take_turns) {
      granted[grants++] = out;
    } else {
      state_.turns[kept++] = out;
    }
  }
  if (!any) return false;
  next_grant_ = kUnknown;
  std::copy_n(granted.begin(), grants, state_.turns.begin() + static_cast<std::ptrdiff_t>(kept));
  return true;
}

bool PacketNetwork::may_go(unsigned out, unsigned input, Cycle now) const {
  const Packet& head = head_to(out, input);
  return head.ready <= now && state_.interfaces_in[place_of(input)] <= now &&
         !state_.outputs[head.output].full();
}

// Oldest: the first to have arrived. Otherwise the first that may go behind the input granted last.
unsigned PacketNetwork::choose(unsigned out, Cycle now) const {
  const OutputInterface& interface = state_.interfaces_out[out];
  if (shape_.arbitration == Arbitration::kOldest) {
    unsigned best = kNone;
    interface.candidates.for_each([&](unsigned input) {
      if (!may_go(out, input, now)) return;
      if (best == kNone || head_to(out, input).order < head_to(out, best).order) best = input;
    });
    return best;
  }
  return interface.candidates.find_from(interface.last + 1,
                                        [&](unsigned input) { return may_go(out, input, now); });
}

void PacketNetwork::grant(unsigned out, unsigned input, Cycle now) {
  OutputInterface& interface = state_.interfaces_out[out];
  InputQueues<Packet>& waiting = state_.inputs[input];
  const unsigned queue = queue_to(out);
  Packet packet = waiting.front(queue);
  waiting.pop(queue);
  interface.candidates.erase(input);
  if (!waiting.empty(queue)) show_head(input, queue);
  interface.last = input;
  interface.busy_until = now + packet.flits;
  state_.interfaces_in[place_of(input)] = now + packet.flits;
  flits_[out] += packet.flits;
  flits_in_[interface_of_input_[input]] += packet.flits;
  packet.ready = now + packet.flits - 1 + shape_.router_latency;
  state_.outputs[packet.output].push(packet);
  --state_.waiting;
  state_.occupied.insert(packet.output);
}

Cycle PacketNetwork::next_grant(Cycle now) {
  if (next_grant_ <= now) next_grant_ = find_next_grant(now);
  return next_grant_;
}

Cycle PacketNetwork::find_next_grant(Cycle now) const {
  if (state_.waiting == 0) return kNever;
  Cycle next = kNever;
  for (unsigned out = 0; out < state_.interfaces_out.size(); ++out) {
    const OutputInterface& interface = state_.interfaces_out[out];
    if (interface.candidates.empty()) continue;
    const unsigned at_once = interface.candidates.find([&](unsigned input) {
      const Packet& head = head_to(out, input);
      if (state_.outputs[head.output].full()) return false;
      next =
          std::min(next, std::max({head.ready, state_.interfaces_in[place_of(input)], interface.busy_until}));
      return next <= now;
    });
    if (at_once != kNone) return now + 1;
  }
  return next;
}

}  // namespace weft::crossbar
