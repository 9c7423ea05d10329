#include "crossbar/crossbar.h"

#include <algorithm>

#include "bus/memory_transaction.h"
#include "weft/common/error.h"

namespace weft::crossbar {

using sc_core::sc_time;

namespace {

unsigned checked(const char* where, const char* what, unsigned count, unsigned least, unsigned most) {
  if (count < least || count > most) {
    throw InputError(where, std::to_string(count) + " " + what + "; allowed: " + std::to_string(least) +
                                " to " + std::to_string(most));
  }
  return count;
}

bool is_atomic(const TransactionOrigin* origin) {
  return origin != nullptr && origin->kind == AccessKind::kAtomic;
}

bool is_system(const TransactionOrigin* origin) {
  return origin != nullptr && origin->system;
}

unsigned flits(std::uint64_t bytes, std::uint64_t flit_bytes) {
  return static_cast<unsigned>((bytes + flit_bytes - 1) / flit_bytes);
}

PacketNetwork::Shape shape(const Config& config) {
  PacketNetwork::Shape shape;
  shape.input_queue = config.input_queue;
  shape.output_queue = config.output_queue;
  shape.router_latency = config.router_latency;
  shape.arbitration = config.arbitration;
  shape.virtual_output_queues = config.virtual_output_queues;
  shape.input_speedup = static_cast<unsigned>(config.input_speedup);
  return shape;
}

PacketNetwork::Shape request_shape(const Config& config, unsigned sms, unsigned ports, unsigned others) {
  PacketNetwork::Shape requests = shape(config);
  requests.inputs = sms + others;
  requests.lone_inputs = others;
  requests.inputs_per_interface = static_cast<unsigned>(config.sms_per_interface);
  requests.outputs = ports;
  return requests;
}

PacketNetwork::Shape response_shape(const Config& config, unsigned sms, unsigned ports, unsigned others) {
  PacketNetwork::Shape responses = shape(config);
  responses.inputs = ports;
  responses.outputs = sms + others;
  responses.lone_outputs = others;
  responses.outputs_per_interface = static_cast<unsigned>(config.sms_per_interface);
  return responses;
}

}  // namespace

void Config::describe(config::Visitor& v) {
  v.integer("flit_bytes", flit_bytes, {1, 4096}, "bytes", "bytes that an interface moves per cycle");
  v.integer("response_flit_bytes", response_flit_bytes, {0, 4096}, "bytes",
            "bytes that an interface moves per cycle from memory to the SMs; 0: flit_bytes");
  v.integer("response_sector_bytes", response_sector_bytes, {0, 4096}, "bytes",
            "each aligned sector of this size has its own response, and each written sector its own "
            "acknowledgement; 0: one response per request");
  v.boolean("read_reply_header", read_reply_header, "a response with data also has a header");
  v.boolean("write_acknowledgements", write_acknowledgements,
            "false: no packet goes back for a write; its transaction still ends when memory has answered");
  v.integer("input_queue", input_queue, {1, 4096}, "packets",
            "packets that can wait at each SM and at each memory port");
  v.integer("output_queue", output_queue, {1, 4096}, "packets",
            "packets that can be granted but not yet delivered, for each memory port and each SM");
  v.integer("sms_per_interface", sms_per_interface, {1, Crossbar::kMostSms}, "SMs",
            "SMs that share a network interface");
  v.integer("input_speedup", input_speedup, {1, 16}, "packets",
            "outputs to which an input interface may pass packets at the same time");
  v.boolean(
      "virtual_output_queues", virtual_output_queues,
      "an input has a queue for each output interface, so that a packet whose output is busy does not stop "
      "those behind it for others");
  v.integer("router_latency", router_latency, {1, 10'000}, "cycles",
            "cycles from the arrival of a packet's last flit to its delivery");
  config::choice(v, "arbitration", arbitration,
                 {{"round_robin", Arbitration::kRoundRobin},
                  {"oldest", Arbitration::kOldest},
                  {"ascending", Arbitration::kAscending}},
                 "which packet an output sends next; ascending: round robin, and the outputs choose in the "
                 "order of their numbers");
}

// Every set of values in range is possible; the function is here so that all Configs look alike.
void Config::check(const std::string&) const {}

Crossbar::State::State(const Config& config, std::size_t sms)
    : completions(sms, Ring<Completion>(config.write_acknowledgements ? 0 : config.output_queue)) {}

Crossbar::Crossbar(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
                   const memory::ChannelMap& map, unsigned sms, unsigned ports, bool system_port,
                   unsigned others)
    : sc_module(name),
      sm_sockets("sm_socket", checked(this->name(), "SMs", sms, 1, kMostSms) +
                                  checked(this->name(), "requesters behind the SMs", others, 0, kMostOthers)),
      memory_sockets("memory_socket", checked(this->name(), "memory ports", ports + (system_port ? 1 : 0), 1,
                                              kMostMemoryPorts)),
      config_(config),
      domain_(domain),
      map_(map),
      by_channel_(ports == map.channels()),
      system_port_(system_port),
      sm_count_(sms),
      index_(domain.add(*this)),
      sm_ports_(bus::TargetPort::on_all(sm_sockets, *this, {domain, index_})),
      memory_ports_(bus::InitiatorPort::on_all(memory_sockets, *this, {domain, index_})),
      requests_(request_shape(config, sms, static_cast<unsigned>(memory_sockets.size()), others)),
      responses_(response_shape(config, sms, static_cast<unsigned>(memory_sockets.size()), others)),
      sms_(sms + others),
      memory_(memory_sockets.size()),
      state_(config, sms_.size()) {
  if (ports != map.channels() && ports != map.ports()) {
    throw InputError(this->name(), std::to_string(ports) + " memory ports; the address map has " +
                                       std::to_string(map.channels()) + " channels and " +
                                       std::to_string(map.ports()) + " L2 banks");
  }
}

void Crossbar::reset() {
  requests_.reset();
  responses_.reset();
  for (const auto& port : sm_ports_) port->reset();
  for (const auto& port : memory_ports_) port->reset();
  state_ = State(config_, sms_.size());
  for (const auto& path : paths_) {
    if (path->payload == nullptr) continue;
    Payload& payload = *path->payload;
    detach_path(*path);
    payload.release();
  }
}

void Crossbar::archive(Archive& archive) {
  archive(state_, requests_, responses_);
  for (const auto& port : sm_ports_) archive(*port);
  for (const auto& port : memory_ports_) archive(*port);
}

unsigned Crossbar::port_of(const Payload& payload, const TransactionOrigin* origin) const {
  if (system_port_ && is_system(origin)) return static_cast<unsigned>(memory_.size() - 1);
  const memory::ChannelMap::Route route = map_.route(payload.get_address());
  return by_channel_ ? route.channel : route.port;
}

std::uint64_t Crossbar::request_bytes(const Payload& payload, const TransactionOrigin* origin) const {
  return kHeaderBytes + (payload.is_write() || is_atomic(origin) ? payload.get_data_length() : 0);
}

Crossbar::Response Crossbar::response_of(const Payload& payload, const TransactionOrigin* origin) const {
  // The host's bursts are answered whole.
  const std::uint64_t sector = origin != nullptr ? config_.response_sector_bytes : 0;
  const std::uint64_t length = payload.get_data_length(), begin = payload.get_address();
  const bool whole = sector == 0 || length == 0;
  const auto packets = whole ? 1u : static_cast<unsigned>((begin + length - 1) / sector - begin / sector + 1);
  std::uint64_t bytes = 0;  // of one packet. Without a header and without data it is still one.
  if (payload.is_write() && !is_atomic(origin)) {
    bytes = config_.write_acknowledgements ? kHeaderBytes : 0;
  } else {
    const std::uint64_t data = sector == 0 ? length : sector;
    bytes = std::max<std::uint64_t>(data + (config_.read_reply_header ? kHeaderBytes : 0), 1);
  }
  return {packets * bytes, packets * flits(bytes, config_.bytes_per_response_flit())};
}

bool Crossbar::answered_by_wire(const Payload& payload, const TransactionOrigin* origin) const {
  return !config_.write_acknowledgements && payload.is_write() && !is_atomic(origin);
}

bool Crossbar::has_place_for_response(unsigned port, const Payload& payload) const {
  if (config_.write_acknowledgements) return !responses_.input_full(port);
  const Path& path = *payload.get_extension<Path>();
  return path.answered_by_wire ? !state_.completions[path.sm].full() : !responses_.input_full(port);
}

Crossbar::Path& Crossbar::attach_path(Payload& payload, unsigned sm) {
  if (free_paths_.empty()) {
    paths_.push_back(std::make_unique<Path>());
    free_paths_.reserve(paths_.capacity());
    free_paths_.push_back(paths_.back().get());
  }
  Path& path = *free_paths_.back();
  free_paths_.pop_back();
  path.payload = &payload;
  path.origin = origin_of(payload);
  path.sm = sm;
  path.request_bytes = request_bytes(payload, path.origin);
  const Response response = response_of(payload, path.origin);
  path.response_bytes = response.bytes;
  path.response_flits = response.flits;
  path.answered_by_wire = answered_by_wire(payload, path.origin);
  path.outer = payload.set_extension(&path);
  return path;
}

void Crossbar::detach_path(Path& path) {
  path.payload->set_extension(path.outer);
  path.payload = nullptr;
  free_paths_.push_back(&path);
}

bus::Verdict Crossbar::request(unsigned sm, Payload& payload, Cycle ready, sc_time&) {
  if (!map_.within_chunk(payload.get_address(), payload.get_data_length()) &&
      !(system_port_ && is_system(origin_of(payload)))) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return bus::Verdict::kCompleted;
  }
  domain_.wake_at(index_, ready);
  if (requests_.input_full(sm)) {
    state_.blocked_requests.insert(sm);
    ++request_stalls_;
    return bus::Verdict::kWithheld;
  }
  push_request(sm, payload, ready);
  return bus::Verdict::kTaken;
}

void Crossbar::push_request(unsigned sm, Payload& payload, Cycle ready) {
  Path& path = attach_path(payload, sm);
  requests_.push(sm, &path, port_of(payload, path.origin), flits(path.request_bytes, config_.flit_bytes),
                 ready);
  sms_[sm].bytes_in += path.request_bytes;
  ++request_packets_;
}

// Without a path: forgotten by a reset.
bool Crossbar::response(unsigned port, Payload& payload, Cycle ready) {
  Path* const path = payload.get_extension<Path>();
  if (path == nullptr) return true;
  if (!has_place_for_response(port, payload)) {
    state_.blocked_responses.insert(port);
    ++response_stalls_;
    return false;
  }
  push_response(port, *path, ready);
  return true;
}

void Crossbar::push_response(unsigned port, Path& path, Cycle ready) {
  stamp_answered(path);
  if (path.answered_by_wire) {
    state_.completions[path.sm].push({&path, ready});
    state_.completing.insert(path.sm);
    return;
  }
  responses_.push(port, &path, path.sm, path.response_flits, ready);
  memory_[port].bytes_in += path.response_bytes;
  ++response_packets_;
}

// For who waits for the transaction: when it was where.
void Crossbar::stamp_delivered(const Path& path) const {
  if (path.origin == nullptr) return;
  TransactionStages& stages = path.origin->stages;
  stages.delivered_ps = sc_core::sc_time_stamp().value();
  if (by_channel_) stages.fetched_ps = stages.delivered_ps;
}

void Crossbar::stamp_answered(const Path& path) const {
  if (path.origin == nullptr) return;
  TransactionStages& stages = path.origin->stages;
  stages.answered_ps = sc_core::sc_time_stamp().value();
  if (by_channel_) stages.filled_ps = stages.answered_ps;
}

// Deliveries first: a place that they free can be granted, or taken, at the same edge.
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
  requests_.occupied().for_each([&](unsigned port) {
    if (requests_.head(port).ready > now || !memory_ports_[port]->usable(now)) return;
    const Path& path = *static_cast<const Path*>(requests_.head(port).content);
    requests_.pop(port);
    memory_[port].bytes_out += path.request_bytes;
    stamp_delivered(path);
    memory_ports_[port]->send(*path.payload);
  });
}

void Crossbar::deliver_responses(Cycle now) {
  const auto deliver = [&](unsigned sm) {
    if (!sm_ports_[sm]->usable(now)) return;
    const Cycle packet = responses_.occupied().contains(sm) ? responses_.head(sm).ready : kNever;
    Ring<Completion>& completions = state_.completions[sm];
    if (!completions.empty() && completions.front().ready <= std::min(packet, now)) {
      Path& path = *completions.front().path;
      completions.pop();
      if (completions.empty()) state_.completing.erase(sm);
      respond(path);
    } else if (packet <= now) {
      Path& path = *static_cast<Path*>(responses_.head(sm).content);
      responses_.pop(sm);
      respond(path);
    }
  };
  if (state_.completing.empty()) {
    responses_.occupied().for_each(deliver);
  } else {
    (responses_.occupied() | state_.completing).for_each(deliver);
  }
}

void Crossbar::respond(Path& path) {
  const unsigned sm = path.sm;
  Payload& payload = *path.payload;
  sms_[sm].bytes_out += path.response_bytes;
  detach_path(path);
  sm_ports_[sm]->respond(payload);
}

void Crossbar::admit_requests(Cycle now) {
  state_.blocked_requests.for_each([&](unsigned sm) {
    bus::TargetPort& port = *sm_ports_[sm];
    if (port.withheld()->ready > now || requests_.input_full(sm)) return;
    state_.blocked_requests.erase(sm);
    push_request(sm, *port.withheld()->payload, now + 1);
    port.end_request();
  });
}

void Crossbar::admit_responses(Cycle now) {
  state_.blocked_responses.for_each([&](unsigned index) {
    bus::InitiatorPort& port = *memory_ports_[index];
    while (port.withheld() != nullptr) {
      Payload& payload = *port.withheld()->payload;
      if (port.withheld()->ready > now || !has_place_for_response(index, payload)) return;
      push_response(index, *payload.get_extension<Path>(), now + 1);
      port.end_response();
    }
    state_.blocked_responses.erase(index);
  });
}

Cycle Crossbar::next_work(Cycle now) {
  Cycle next = std::min(requests_.next_grant(now), responses_.next_grant(now));
  const auto at = [&](Cycle edge) { next = std::min(next, std::max(edge, now + 1)); };
  requests_.occupied().for_each([&](unsigned port) {
    const bus::InitiatorPort& side = *memory_ports_[port];
    if (!side.busy()) at(std::max(requests_.head(port).ready, side.usable_from()));
  });
  responses_.occupied().for_each([&](unsigned sm) {
    const bus::TargetPort& side = *sm_ports_[sm];
    if (!side.busy()) at(std::max(responses_.head(sm).ready, side.usable_from()));
  });
  state_.completing.for_each([&](unsigned sm) {
    const bus::TargetPort& side = *sm_ports_[sm];
    if (!side.busy()) at(std::max(state_.completions[sm].front().ready, side.usable_from()));
  });
  state_.blocked_requests.for_each([&](unsigned sm) {
    if (!requests_.input_full(sm)) at(sm_ports_[sm]->withheld()->ready);
  });
  state_.blocked_responses.for_each([&](unsigned port) {
    const auto& withheld = *memory_ports_[port]->withheld();
    if (has_place_for_response(port, *withheld.payload)) at(withheld.ready);
  });
  return next;
}

// Loosely timed: both directions, or the one that has a packet, without contention.
void Crossbar::blocking(unsigned, Payload& payload, sc_time& delay) {
  const unsigned length = payload.get_data_length();
  const bool several = length != 0 && !map_.within_chunk(payload.get_address(), length);
  if (divide_blocking_ && several && !is_system(origin_of(payload))) {
    block_by_chunk(payload, delay);
  } else {
    memory_sockets[port_of(payload, origin_of(payload))]->b_transport(payload, delay);
  }
  delay += lone_time(payload);
}

// One part after the other.
void Crossbar::block_by_chunk(Payload& payload, sc_time& delay) {
  const unsigned length = payload.get_data_length(), enables = payload.get_byte_enable_length();
  const bool enabled = payload.get_byte_enable_ptr() != nullptr && enables != 0;
  std::vector<unsigned char> of_part(enabled ? map_.chunk_bytes() : 0);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  for (unsigned done = 0; done < length && payload.is_response_ok();) {
    const std::uint64_t address = payload.get_address() + done;
    const auto bytes = static_cast<unsigned>(
        std::min<std::uint64_t>(length - done, map_.chunk_bytes() - address % map_.chunk_bytes()));
    Payload part;
    part.set_command(payload.get_command());
    part.set_address(address);
    part.set_data_ptr(payload.get_data_ptr() + done);
    part.set_data_length(bytes);
    part.set_streaming_width(bytes);
    if (enabled) {
      for (unsigned i = 0; i < bytes; ++i) of_part[i] = payload.get_byte_enable_ptr()[(done + i) % enables];
      part.set_byte_enable_ptr(of_part.data());
      part.set_byte_enable_length(bytes);
    }
    memory_sockets[port_of(part, nullptr)]->b_transport(part, delay);
    payload.set_response_status(part.get_response_status());
    done += bytes;
  }
}

sc_time Crossbar::lone_time(const Payload& payload) const {
  const TransactionOrigin* const origin = origin_of(payload);
  std::uint64_t cycles = config_.router_latency + flits(request_bytes(payload, origin), config_.flit_bytes);
  if (!answered_by_wire(payload, origin))
    cycles += config_.router_latency + response_of(payload, origin).flits;
  return domain_.time_of(cycles);
}

// Device memory is one image: whichever port the address belongs to speaks for all of it.
bool Crossbar::dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) {
  if (!memory_sockets[port_of(payload, origin_of(payload))]->get_direct_mem_ptr(payload, region))
    return false;
  WordAccess word(payload.get_address());
  region.set_read_latency(region.get_read_latency() + lone_time(word.as(tlm::TLM_READ_COMMAND)));
  region.set_write_latency(region.get_write_latency() + lone_time(word.as(tlm::TLM_WRITE_COMMAND)));
  return true;
}

unsigned Crossbar::debug(unsigned, Payload& payload) {
  return memory_sockets[port_of(payload, origin_of(payload))]->transport_dbg(payload);
}

void Crossbar::invalidate(unsigned, sc_dt::uint64 begin, sc_dt::uint64 end) {
  for (auto& socket : sm_sockets) socket->invalidate_direct_mem_ptr(begin, end);
}

void Crossbar::bind(statistics::Group& group) {
  group.counter("request_packets", units::kPackets, "requests that entered", request_packets_);
  group.counter("response_packets", units::kPackets, "responses that entered", response_packets_);
  group.counter("request_stalls", units::kPackets, "requests whose END_REQ was withheld", request_stalls_);
  group.counter("response_stalls", units::kPackets, "responses whose END_RESP was withheld",
                response_stalls_);
  for (unsigned i = 0; i < sm_count_; ++i) {
    statistics::Group& sm = group.group("sm", i);
    sm.counter("request_bytes", units::kBytes, "headers and data of this SM's requests", sms_[i].bytes_in);
    sm.counter("response_bytes", units::kBytes, "headers and data of this SM's responses", sms_[i].bytes_out);
  }
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const bool system = system_port_ && i + 1 == memory_.size();
    statistics::Group& port =
        system ? group.group("system_port") : group.group("port", static_cast<unsigned>(i));
    port.counter("request_bytes", units::kBytes, "headers and data of requests to this port",
                 memory_[i].bytes_out);
    port.counter("response_bytes", units::kBytes, "headers and data of responses from this port",
                 memory_[i].bytes_in);
    port.counter("request_flits", units::kFlits, "flits of requests to this port",
                 requests_.flits(static_cast<unsigned>(i)));
    port.counter("response_flits", units::kFlits, "flits of responses from this port",
                 responses_.flits_in(static_cast<unsigned>(i)));
  }
  const auto others = static_cast<unsigned>(sms_.size()) - sm_count_;
  for (unsigned i = 0; i < responses_.output_interfaces() - others; ++i) {
    statistics::Group& interface = group.group("interface", i);
    interface.counter("response_flits", units::kFlits, "flits of responses through this network interface",
                      responses_.flits(i));
    interface.counter("request_flits", units::kFlits, "flits of requests through this network interface",
                      requests_.flits_in(i));
  }
}

void Crossbar::probes(const Probes::Scope& all) const {
  const Probes::Scope scope = all.with([this] { return domain_.activity(index_); });
  constexpr unsigned kBits = Probes::kCountBits;
  for (unsigned i = 0; i < sms_.size(); ++i) {
    const Probes::Scope side = i < sm_count_ ? scope.scope("sm", i) : scope.scope("host", i - sm_count_);
    side.signal("requests", kBits, [this, i](Cycle) { return requests_.waiting_in(i); });
    side.signal("responses", kBits, [this, i](Cycle) { return responses_.waiting_out(i); });
  }
  for (unsigned i = 0; i < memory_.size(); ++i) {
    const bool system = system_port_ && i + 1 == memory_.size();
    const Probes::Scope port = system ? scope.scope("system_port") : scope.scope("port", i);
    port.signal("requests", kBits, [this, i](Cycle) { return requests_.waiting_out(i); });
    port.signal("responses", kBits, [this, i](Cycle) { return responses_.waiting_in(i); });
  }
}

void Crossbar::bind_other(statistics::Group& group, unsigned other) {
  Traffic& side = sms_[sm_count_ + other];
  group.counter("request_bytes", units::kBytes, "headers and data of its requests", side.bytes_in);
  group.counter("response_bytes", units::kBytes, "headers and data of its responses", side.bytes_out);
}

}  // namespace weft::crossbar
