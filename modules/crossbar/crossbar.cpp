#include "crossbar/crossbar.h"

#include <algorithm>

#include "common/error.h"
#include "common/memory_transaction.h"

namespace weft::crossbar {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

namespace {

constexpr unsigned kMostPorts = 64;  // queues are named by the bits of a word

unsigned checked_ports(const char* where, const char* what, unsigned count) {
  if (count == 0 || count > kMostPorts) {
    throw InputError(where,
                     std::to_string(count) + " " + what + "; allowed are 1 to " + std::to_string(kMostPorts));
  }
  return count;
}

bool is_atomic(const tlm::tlm_generic_payload& payload) {
  const TransactionOrigin* origin = origin_of(payload);
  return origin != nullptr && origin->kind == AccessKind::kAtomic;
}

bool is_system(const tlm::tlm_generic_payload& payload) {
  const TransactionOrigin* origin = origin_of(payload);
  return origin != nullptr && origin->system;
}

std::uint64_t request_bytes(const tlm::tlm_generic_payload& payload) {
  return kHeaderBytes + (payload.is_write() || is_atomic(payload) ? payload.get_data_length() : 0);
}

std::uint64_t response_bytes(const tlm::tlm_generic_payload& payload) {
  return kHeaderBytes + (payload.is_read() || is_atomic(payload) ? payload.get_data_length() : 0);
}

PacketNetwork::Shape shape(const Crossbar::Config& config) {
  PacketNetwork::Shape shape;
  shape.input_queue = config.input_queue;
  shape.output_queue = config.output_queue;
  shape.router_latency = config.router_latency;
  shape.arbitration = config.arbitration;
  return shape;
}

PacketNetwork::Shape request_shape(const Crossbar::Config& config, unsigned sms, unsigned ports,
                                   unsigned others) {
  PacketNetwork::Shape requests = shape(config);
  requests.inputs = sms + others;
  requests.lone_inputs = others;
  requests.inputs_per_interface = static_cast<unsigned>(config.sms_per_interface);
  requests.outputs = ports;
  return requests;
}

PacketNetwork::Shape response_shape(const Crossbar::Config& config, unsigned sms, unsigned ports,
                                    unsigned others) {
  PacketNetwork::Shape responses = shape(config);
  responses.inputs = ports;
  responses.outputs = sms + others;
  responses.lone_outputs = others;
  responses.outputs_per_interface = static_cast<unsigned>(config.sms_per_interface);
  return responses;
}

// Calls visit(index) for each set bit.
template <class Visit>
void for_each_bit(std::uint64_t bits, Visit&& visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<unsigned>(__builtin_ctzll(bits)));
}

constexpr std::uint64_t bit(unsigned index) {
  return std::uint64_t{1} << index;
}

}  // namespace

void Crossbar::Config::describe(config::Visitor& v) {
  v.integer("flit_bytes", flit_bytes, {1, 4096}, "bytes", "bytes that an interface moves per cycle");
  v.integer("input_queue", input_queue, {1, 4096}, "packets",
            "packets that wait at each SM, and at each memory port");
  v.integer("output_queue", output_queue, {1, 4096}, "packets",
            "packets granted but not delivered, for each memory port and each SM");
  v.integer("sms_per_interface", sms_per_interface, {1, 64}, "SMs", "SMs that share a network interface");
  v.integer("router_latency", router_latency, {1, 10'000}, "cycles",
            "from a packet's last flit in to its delivery");
  config::choice(v, "arbitration", arbitration,
                 {{"round_robin", Arbitration::kRoundRobin}, {"oldest", Arbitration::kOldest}},
                 "which packet an output takes next");
}

// Every set of values in range is possible; the function is here so that all Configs look alike.
void Crossbar::Config::check(const std::string&) const {}

Crossbar::Crossbar(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
                   const gddr5::AddressMap& map, unsigned sms, unsigned ports, bool system_port,
                   unsigned others)
    : sc_module(name),
      sm_sockets("sm_socket", checked_ports(this->name(), "SMs and other requesters",
                                            checked_ports(this->name(), "SMs", sms) + others)),
      memory_sockets("memory_socket",
                     checked_ports(this->name(), "memory ports", ports + (system_port ? 1 : 0))),
      config_(config),
      domain_(domain),
      map_(map),
      by_channel_(ports == map.channels()),
      system_port_(system_port),
      sm_count_(sms),
      index_(domain.add(*this)),
      requests_(request_shape(config, sms, static_cast<unsigned>(memory_sockets.size()), others)),
      responses_(response_shape(config, sms, static_cast<unsigned>(memory_sockets.size()), others)),
      sms_(sms + others),
      memory_(memory_sockets.size()) {
  if (ports != map.channels() && ports != map.ports()) {
    throw InputError(this->name(), std::to_string(ports) + " memory ports; the address map has " +
                                       std::to_string(map.channels()) + " channels and " +
                                       std::to_string(map.ports()) + " L2 banks");
  }
  for (unsigned sm = 0; sm < sms + others; ++sm) {
    sm_sockets[sm].register_nb_transport_fw(this, &Crossbar::forward, static_cast<int>(sm));
    sm_sockets[sm].register_b_transport(this, &Crossbar::blocking, static_cast<int>(sm));
    sm_sockets[sm].register_get_direct_mem_ptr(this, &Crossbar::dmi, static_cast<int>(sm));
    sm_sockets[sm].register_transport_dbg(this, &Crossbar::debug, static_cast<int>(sm));
  }
  for (unsigned port = 0; port < memory_.size(); ++port) {
    memory_sockets[port].register_nb_transport_bw(this, &Crossbar::backward, static_cast<int>(port));
    memory_sockets[port].register_invalidate_direct_mem_ptr(this, &Crossbar::invalidate,
                                                            static_cast<int>(port));
  }
}

void Crossbar::reset() {
  requests_.reset();
  responses_.reset();
  for (SmSide& side : sms_) {
    if (side.responding != nullptr) side.responding->release();
    side.request = {};
    side.responding = nullptr;
    side.response_gate = {};
  }
  for (MemorySide& side : memory_) {
    side.requesting = nullptr;
    side.request_gate = {};
    side.response = {};
    side.completed = {};
  }
  blocked_requests_ = blocked_responses_ = 0;
  for (const auto& path : paths_) {
    if (path->payload == nullptr) continue;
    Payload& payload = *path->payload;
    detach_path(*path);
    payload.release();
  }
}

unsigned Crossbar::port_of(const Payload& payload) const {
  if (system_port_ && is_system(payload)) return static_cast<unsigned>(memory_.size() - 1);
  const gddr5::AddressMap::Route route = map_.route(payload.get_address());
  return by_channel_ ? route.channel : route.port;
}

Cycle Crossbar::edge_of(const sc_time& delay) const {
  return delay == sc_core::SC_ZERO_TIME ? domain_.next_edge()
                                        : domain_.first_edge_after(sc_core::sc_time_stamp() + delay);
}

unsigned Crossbar::flits(std::uint64_t bytes) const {
  return static_cast<unsigned>((bytes + config_.flit_bytes - 1) / config_.flit_bytes);
}

void Crossbar::attach_path(Payload& payload, unsigned sm) {
  if (free_paths_.empty()) {
    paths_.push_back(std::make_unique<Path>());
    free_paths_.reserve(paths_.capacity());
    free_paths_.push_back(paths_.back().get());
  }
  Path* path = free_paths_.back();
  free_paths_.pop_back();
  path->payload = &payload;
  path->sm = sm;
  path->outer = payload.set_extension(path);
}

void Crossbar::detach_path(Path& path) {
  path.payload->set_extension(path.outer);
  path.payload = nullptr;
  free_paths_.push_back(&path);
}

tlm_sync_enum Crossbar::forward(int index, Payload& payload, tlm_phase& phase, sc_time& delay) {
  const auto sm = static_cast<unsigned>(index);
  SmSide& side = sms_[sm];
  const Cycle usable = edge_of(delay);
  if (phase == tlm::END_RESP) {
    end_response(side, usable);
    domain_.wake_at(index_, usable);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  if (!map_.within_chunk(payload.get_address(), payload.get_data_length()) &&
      !(system_port_ && is_system(payload))) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  if (side.request.payload != nullptr) {  // a second request before END_REQ breaks the exclusion rule
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }

  payload.acquire();
  attach_path(payload, sm);
  domain_.wake_at(index_, usable);
  if (requests_.input_full(sm)) {
    side.request = {&payload, usable};
    blocked_requests_ |= bit(sm);
    ++request_stalls_;
    return tlm::TLM_ACCEPTED;
  }
  push_request(sm, payload, usable);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Crossbar::push_request(unsigned sm, Payload& payload, Cycle ready) {
  const std::uint64_t bytes = request_bytes(payload);
  requests_.push(sm, &payload, port_of(payload), flits(bytes), ready);
  sms_[sm].bytes_in += bytes;
  ++request_packets_;
}

tlm_sync_enum Crossbar::backward(int index, Payload& payload, tlm_phase& phase, sc_time& delay) {
  const auto port = static_cast<unsigned>(index);
  MemorySide& side = memory_[port];
  const Cycle usable = edge_of(delay);
  domain_.wake_at(index_, usable);
  if (phase == tlm::END_REQ) {
    side.requesting = nullptr;
    side.request_gate.open(usable);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP || payload.get_extension<Path>() == nullptr) return tlm::TLM_ACCEPTED;
  if (side.requesting == &payload) {  // BEGIN_RESP implies END_REQ
    side.requesting = nullptr;
    side.request_gate.open(usable);
  }
  if (responses_.input_full(port) || (blocked_responses_ & bit(port)) != 0) {
    hold_response(port, payload, usable);
    return tlm::TLM_ACCEPTED;
  }
  push_response(port, payload, usable);
  return tlm::TLM_COMPLETED;
}

void Crossbar::hold_response(unsigned port, Payload& payload, Cycle ready) {
  memory_[port].response = {&payload, ready};
  blocked_responses_ |= bit(port);
  ++response_stalls_;
}

void Crossbar::push_response(unsigned port, Payload& payload, Cycle ready) {
  const std::uint64_t bytes = response_bytes(payload);
  const Path* path = payload.get_extension<Path>();
  responses_.push(port, &payload, path->sm, flits(bytes), ready);
  memory_[port].bytes_in += bytes;
  ++response_packets_;
}

// Deliveries first: a place that they free can be granted at the same edge.
Cycle Crossbar::step(Cycle now) {
  deliver_responses(now);
  deliver_requests(now);
  responses_.arbitrate(now);
  requests_.arbitrate(now);
  admit_responses(now);
  admit_requests(now);
  return next_work(now);
}

void Crossbar::deliver_requests(Cycle now) {
  for_each_bit(requests_.occupied(), [&](unsigned port) {
    MemorySide& side = memory_[port];
    if (requests_.head(port).ready > now || !side.request_gate.usable(now)) return;
    Payload& payload = *static_cast<Payload*>(requests_.head(port).content);
    requests_.pop(port);
    side.bytes_out += request_bytes(payload);
    side.requesting = &payload;
    side.request_gate.close();
    tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm_sync_enum result = memory_sockets[port]->nb_transport_fw(payload, phase, delay);
    if (result == tlm::TLM_ACCEPTED) return;
    if (result == tlm::TLM_COMPLETED) {
      side.completed = {&payload, edge_of(delay)};
      blocked_responses_ |= bit(port);
      return;
    }
    side.requesting = nullptr;
    side.request_gate.open(edge_of(delay));
    // A response as return value is ended by a call of its own, for which admit_responses finds the time.
    if (phase == tlm::BEGIN_RESP) hold_response(port, payload, edge_of(delay));
  });
}

void Crossbar::deliver_responses(Cycle now) {
  for_each_bit(responses_.occupied(), [&](unsigned sm) {
    SmSide& side = sms_[sm];
    if (responses_.head(sm).ready > now || !side.response_gate.usable(now)) return;
    Payload& payload = *static_cast<Payload*>(responses_.head(sm).content);
    responses_.pop(sm);
    side.bytes_out += response_bytes(payload);
    side.responding = &payload;
    side.response_gate.close();
    detach_path(*payload.get_extension<Path>());
    tlm_phase phase = tlm::BEGIN_RESP;
    sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm_sync_enum result = sm_sockets[sm]->nb_transport_bw(payload, phase, delay);
    if (result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
      end_response(side, edge_of(delay));
    }
  });
}

void Crossbar::end_response(SmSide& side, Cycle usable_from) {
  if (side.responding == nullptr) return;
  side.responding->release();
  side.responding = nullptr;
  side.response_gate.open(usable_from);
}

void Crossbar::admit_requests(Cycle now) {
  for_each_bit(blocked_requests_, [&](unsigned sm) {
    SmSide& side = sms_[sm];
    if (side.request.ready > now || requests_.input_full(sm)) return;
    Payload& payload = *side.request.payload;
    side.request = {};
    blocked_requests_ &= ~bit(sm);
    push_request(sm, payload, now + 1);
    tlm_phase phase = tlm::END_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    sm_sockets[sm]->nb_transport_bw(payload, phase, delay);
  });
}

void Crossbar::admit_responses(Cycle now) {
  for_each_bit(blocked_responses_, [&](unsigned port) {
    MemorySide& side = memory_[port];
    if (side.completed.payload != nullptr && side.completed.ready <= now && !responses_.input_full(port)) {
      push_response(port, *side.completed.payload, now + 1);
      side.completed = {};
      side.requesting = nullptr;
      side.request_gate.open(now + 1);
    }
    if (side.response.payload != nullptr && side.response.ready <= now && !responses_.input_full(port)) {
      Payload& payload = *side.response.payload;
      push_response(port, payload, now + 1);
      side.response = {};
      tlm_phase phase = tlm::END_RESP;
      sc_time delay = sc_core::SC_ZERO_TIME;
      memory_sockets[port]->nb_transport_fw(payload, phase, delay);
    }
    if (side.completed.payload == nullptr && side.response.payload == nullptr)
      blocked_responses_ &= ~bit(port);
  });
}

Cycle Crossbar::next_work(Cycle now) const {
  Cycle next = std::min(requests_.next_grant(now), responses_.next_grant(now));
  const auto at = [&](Cycle edge) { next = std::min(next, std::max(edge, now + 1)); };
  for_each_bit(requests_.occupied(), [&](unsigned port) {
    const HopGate& gate = memory_[port].request_gate;
    if (!gate.closed()) at(std::max(requests_.head(port).ready, gate.usable_from()));
  });
  for_each_bit(responses_.occupied(), [&](unsigned sm) {
    const HopGate& gate = sms_[sm].response_gate;
    if (!gate.closed()) at(std::max(responses_.head(sm).ready, gate.usable_from()));
  });
  for_each_bit(blocked_requests_, [&](unsigned sm) {
    if (!requests_.input_full(sm)) at(sms_[sm].request.ready);
  });
  for_each_bit(blocked_responses_, [&](unsigned port) {
    if (responses_.input_full(port)) return;
    if (memory_[port].completed.payload != nullptr) at(memory_[port].completed.ready);
    if (memory_[port].response.payload != nullptr) at(memory_[port].response.ready);
  });
  return next;
}

// Loosely timed: both directions without contention.
void Crossbar::blocking(int, Payload& payload, sc_time& delay) {
  memory_sockets[port_of(payload)]->b_transport(payload, delay);
  const std::uint64_t cycles =
      2 * config_.router_latency + flits(request_bytes(payload)) + flits(response_bytes(payload));
  delay += domain_.time_of(cycles);
}

// Device memory is one image: whichever port the address belongs to speaks for all of it.
bool Crossbar::dmi(int, Payload& payload, tlm::tlm_dmi& region) {
  return memory_sockets[port_of(payload)]->get_direct_mem_ptr(payload, region);
}

unsigned Crossbar::debug(int, Payload& payload) {
  return memory_sockets[port_of(payload)]->transport_dbg(payload);
}

void Crossbar::invalidate(int, sc_dt::uint64 begin, sc_dt::uint64 end) {
  for (auto& socket : sm_sockets) socket->invalidate_direct_mem_ptr(begin, end);
}

void Crossbar::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".request_packets", "packets", "requests that entered", request_packets_);
  registry.counter(prefix + ".response_packets", "packets", "responses that entered", response_packets_);
  registry.counter(prefix + ".request_stalls", "packets", "requests whose END_REQ was withheld",
                   request_stalls_);
  registry.counter(prefix + ".response_stalls", "packets", "responses whose END_RESP was withheld",
                   response_stalls_);
  for (unsigned i = 0; i < sm_count_; ++i) {
    const std::string sm = prefix + ".sm" + std::to_string(i);
    registry.counter(sm + ".request_bytes", "bytes", "headers and data of this SM's requests",
                     sms_[i].bytes_in);
    registry.counter(sm + ".response_bytes", "bytes", "headers and data of this SM's responses",
                     sms_[i].bytes_out);
  }
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const bool system = system_port_ && i + 1 == memory_.size();
    const std::string port = prefix + (system ? ".system_port" : ".port" + std::to_string(i));
    registry.counter(port + ".request_bytes", "bytes", "headers and data of requests to this port",
                     memory_[i].bytes_out);
    registry.counter(port + ".response_bytes", "bytes", "headers and data of responses from this port",
                     memory_[i].bytes_in);
    registry.counter(port + ".request_flits", "flits", "flits of requests to this port",
                     requests_.flits(static_cast<unsigned>(i)));
  }
  const auto others = static_cast<unsigned>(sms_.size()) - sm_count_;
  for (unsigned i = 0; i < responses_.output_interfaces() - others; ++i) {
    registry.counter(prefix + ".interface" + std::to_string(i) + ".response_flits", "flits",
                     "flits of responses through this network interface", responses_.flits(i));
  }
}

void Crossbar::bind_other(statistics::Registry& registry, const std::string& name, unsigned other) {
  SmSide& side = sms_[sm_count_ + other];
  registry.counter(name + ".request_bytes", "bytes", "headers and data of its requests", side.bytes_in);
  registry.counter(name + ".response_bytes", "bytes", "headers and data of its responses", side.bytes_out);
}

}  // namespace weft::crossbar
