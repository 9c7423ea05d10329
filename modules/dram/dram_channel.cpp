#include "dram/dram_channel.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "bus/payload_data.h"
#include "weft/common/error.h"

namespace weft::dram {

using sc_core::sc_time;

void ChannelConfig::describe(config::Visitor& v) {
  scheduler.describe(v);
  v.integer("extra_latency", extra_latency, {0, 10'000}, "cycles",
            "delay between a request's arrival and the queue");
  v.integer("response_queue", response_queue, {1, 4096}, "requests",
            "responses that can wait for each L2 bank, those under way included");
  v.integer("atomic_interval", atomic_interval, {0, 1000}, "cycles",
            "cycles per lane of an atomic that reaches the channel (machines without L2)");
}

void ChannelConfig::check(const std::string& where) const {
  scheduler.check(where);
}

DramChannel::State::State(const ChannelConfig& config, std::size_t places, std::size_t ports)
    : ports(ports, Port(config.response_queue)),
      flights(places + ports * (config.response_queue + 2)),
      free_flights(flights.size()),
      arrivals(places),
      blocked(ports) {
  std::iota(free_flights.rbegin(), free_flights.rend(), 0u);
}

DramChannel::DramChannel(sc_core::sc_module_name name, const ChannelConfig& config, ClockDomain& domain,
                         memory::MemoryImage& image, const memory::ChannelMap& map, unsigned channel,
                         unsigned ports)
    : sc_module(name),
      sockets("socket", ports),
      config_(config),
      domain_(domain),
      image_(image),
      map_(map),
      channel_(channel),
      index_(domain.add(*this)),
      places_(config.scheduler.places() + config.extra_latency),
      burst_(config.scheduler.timing.burst_bytes()),
      hops_(bus::TargetPort::on_all(sockets, *this, {domain, index_})),
      scheduler_(config.scheduler, map.banks(), ports),
      state_(config, places_, ports) {
  if (config.scheduler.timing.burst_bytes() > map.chunk_bytes()) {
    throw InputError(this->name(), "a burst of " + std::to_string(config.scheduler.timing.burst_bytes()) +
                                       " bytes is larger than the interleave of " +
                                       std::to_string(map.chunk_bytes()));
  }
  reset();
}

void DramChannel::reset() {
  for (const Flight& flight : state_.flights) {
    if (flight.payload != nullptr) flight.payload->release();
  }
  for (const auto& hop : hops_) hop->reset();
  scheduler_.reset(domain_.current_edge());
  state_ = State(config_, places_, hops_.size());
}

void DramChannel::archive(Archive& archive) {
  archive(state_, scheduler_);
  for (const auto& hop : hops_) archive(*hop);
}

tlm::tlm_response_status DramChannel::check_request(const Payload& payload) const {
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (bytes == 0 || payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (!image_.contains(address, bytes)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

unsigned DramChannel::bursts_of(const Payload& payload) const {
  const std::uint64_t bytes = burst_.remainder(payload.get_address()) + payload.get_data_length();
  return static_cast<unsigned>(burst_.quotient(bytes + burst_.divisor() - 1));
}

bus::Verdict DramChannel::request(unsigned port, Payload& payload, Cycle ready, sc_time&) {
  tlm::tlm_response_status status = check_request(payload);
  if (status == tlm::TLM_OK_RESPONSE) {
    if (!map_.within_chunk(payload.get_address(), payload.get_data_length())) {
      status = tlm::TLM_BURST_ERROR_RESPONSE;
    } else if (map_.route(payload.get_address()).channel != channel_) {
      status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }
  }
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return bus::Verdict::kCompleted;
  }
  if (state_.waiting == places_) {
    ++blocked_requests_;
    state_.blocked.push(port);
    return bus::Verdict::kWithheld;
  }
  accept(port, payload, ready - 1, ready);
  domain_.wake_at(index_, ready + config_.extra_latency);
  return bus::Verdict::kTaken;
}

void DramChannel::accept(unsigned port, Payload& payload, Cycle arrived, Cycle ready) {
  const std::uint32_t flight = state_.free_flights.back();
  state_.free_flights.pop_back();
  const TransactionOrigin* const origin = origin_of(payload);
  const bool atomic = origin != nullptr && origin->kind == AccessKind::kAtomic;
  state_.flights[flight] = {
      &payload, port, arrived, ready + config_.extra_latency, atomic, payload.is_write() && !atomic};
  state_.arrivals.push(flight);
  ++state_.waiting;
}

// Responses first: a place that they free can be promised to a request at the same edge.
Cycle DramChannel::step(Cycle now) {
  if (state_.first_done <= now) respond(now);
  take_arrivals(now);
  schedule(now);
  admit_blocked(now);
  return next_work(now);
}

void DramChannel::take_arrivals(Cycle now) {
  while (next_arrival() <= now) {
    const std::uint32_t handle = state_.arrivals.front();
    state_.arrivals.pop();
    const Flight& flight = state_.flights[handle];
    const Payload& payload = *flight.payload;
    const memory::ChannelMap::Place place = map_.place(payload.get_address());
    BankScheduler::Request request;
    request.handle = handle;
    request.gate = flight.port;
    request.bank = place.bank;
    request.row = place.row;
    request.first_burst = burst_.quotient(place.column);
    request.bursts = bursts_of(payload);
    request.write = flight.write;
    // The lanes of an atomic keep the bank busy after the read, the write of the results included.
    request.occupy = flight.atomic ? origin_of(payload)->atomic_lanes * config_.atomic_interval : 0;
    scheduler_.push(request, now);
  }
}

void DramChannel::schedule(Cycle now) {
  BankScheduler::Finished finished;
  std::uint32_t started;
  const bool done = scheduler_.step(now, finished, started);
  if (started != BankScheduler::kNoGate) {
    Port& port = state_.ports[started];
    if (++port.reserved == config_.response_queue) scheduler_.set_gate(started, false);
  }
  if (!done) return;

  --state_.waiting;
  const Flight& flight = state_.flights[finished.handle];
  Payload& payload = *flight.payload;
  const TransactionOrigin* origin = origin_of(payload);
  // Here and not at the response, so that foreign accesses to one address take effect in the order of
  // service.
  if (origin == nullptr) move_data(payload, image_.data() + payload.get_address());
  if (flight.atomic) ++atomics_;
  if (payload.is_read()) {
    ++reads_;
    bytes_read_ += payload.get_data_length();
    read_latency_ += finished.done - flight.arrived;
  } else {
    ++writes_;
    bytes_written_ += payload.get_data_length();
  }
  insert(state_.ports[flight.port].responses, {finished.handle, finished.done});
  state_.first_done = std::min(state_.first_done, finished.done);
}

// Behind those that are done no later: nearly always all of them.
void DramChannel::insert(Ring<Response>& responses, const Response& response) {
  responses.push(response);
  for (std::size_t place = responses.size() - 1; place != 0; --place) {
    Response &before = responses.at(place - 1), &behind = responses.at(place);
    if (before.done <= behind.done) return;
    std::swap(before, behind);
  }
}

void DramChannel::admit_blocked(Cycle now) {
  while (!state_.blocked.empty() && state_.waiting < places_) {
    const unsigned port = state_.blocked.front();
    const bus::TargetPort::Withheld request = *hops_[port]->withheld();
    if (request.ready > now) return;
    state_.blocked.pop();
    accept(port, *request.payload, request.ready - 1, now + 1);
    hops_[port]->end_request();
  }
}

void DramChannel::respond(Cycle now) {
  state_.first_done = kNever;
  for (unsigned index = 0; index < state_.ports.size(); ++index) {
    const Port& port = state_.ports[index];
    if (!port.responses.empty() && port.responses.front().done <= now && hops_[index]->usable(now))
      send_response(index);
    if (!port.responses.empty()) state_.first_done = std::min(state_.first_done, port.responses.front().done);
  }
}

void DramChannel::send_response(unsigned port) {
  Port& own = state_.ports[port];
  const std::uint32_t handle = own.responses.front().flight;
  own.responses.pop();
  Flight& flight = state_.flights[handle];
  --own.reserved;
  scheduler_.set_gate(flight.port, true);
  Payload& payload = *flight.payload;
  flight.payload = nullptr;
  state_.free_flights.push_back(handle);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  const TransactionOrigin* const origin = origin_of(payload);
  if (origin != nullptr && origin->carries && payload.is_read())
    std::memcpy(payload.get_data_ptr(), image_.data() + payload.get_address(), payload.get_data_length());
  hops_[port]->respond(payload);
}

Cycle DramChannel::next_work(Cycle now) const {
  Cycle next = std::min(scheduler_.next(now), next_arrival());
  for (std::size_t i = 0; state_.first_done < next && i < state_.ports.size(); ++i) {
    if (state_.ports[i].responses.empty() || hops_[i]->busy()) continue;
    next = std::min(next, std::max(state_.ports[i].responses.front().done, hops_[i]->usable_from()));
  }
  if (!state_.blocked.empty() && state_.waiting < places_)
    next = std::min(next, hops_[state_.blocked.front()]->withheld()->ready);
  return next;
}

// Loosely timed: the latency of a lone request to a closed bank, without regard to the queue.
void DramChannel::blocking(unsigned, Payload& payload, sc_time& delay) {
  const tlm::tlm_response_status status = check_request(payload);
  if (status == tlm::TLM_OK_RESPONSE) {
    if (origin_of(payload) == nullptr) move_data(payload, image_.data() + payload.get_address());
    delay += lone_time(payload);
  }
  payload.set_response_status(status);
}

// Of a row that is closed, when nothing else is under way.
sc_time DramChannel::lone_time(const Payload& payload) const {
  const Timing& timing = config_.scheduler.timing;
  return domain_.time_of(config_.extra_latency + timing.rcd + timing.cl +
                         bursts_of(payload) * timing.column_gap_same_group());
}

bool DramChannel::dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) {
  region.init();
  if (!image_.contains(payload.get_address(), 1)) {
    region.allow_none();
    region.set_start_address(image_.bytes());
    return false;
  }
  region.allow_read_write();
  region.set_dmi_ptr(image_.data());
  region.set_start_address(0);
  region.set_end_address(image_.bytes() - 1);
  const WordAccess word(payload.get_address());
  region.set_read_latency(lone_time(word));
  region.set_write_latency(lone_time(word));
  return true;
}

unsigned DramChannel::debug(unsigned, Payload& payload) {
  const std::uint64_t address = payload.get_address();
  if (address >= image_.bytes()) return 0;
  const auto bytes =
      static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), image_.bytes() - address));
  // The data of Weft's own payloads lie in the image themselves: memmove.
  if (payload.is_read()) {
    std::memmove(payload.get_data_ptr(), image_.data() + address, bytes);
  } else if (payload.is_write()) {
    std::memmove(image_.data() + address, payload.get_data_ptr(), bytes);
  } else {
    return 0;
  }
  return bytes;
}

// Rows show as closed from the time of a refresh on, which a channel that sleeps does later.
void DramChannel::probes(const Probes::Scope& all) const {
  const Probes::Scope scope = all.with([this] {
    return 2 * domain_.activity(index_) + (scheduler_.refresh_is_due(domain_.current_edge()) ? 1 : 0);
  });
  scope.signal("queue", Probes::kCountBits, [this](Cycle) { return queued(); });
  scope.signal("responses", Probes::kCountBits, [this](Cycle) {
    std::uint64_t responses = 0;
    for (const Port& port : state_.ports) responses += port.responses.size();
    return responses;
  });
  for (unsigned bank = 0; bank < scheduler_.banks(); ++bank) {
    const Probes::Scope own = scope.scope("bank", bank);
    own.signal("row", Probes::kNumberBits, [this, bank](Cycle) {
      const std::uint64_t row = scheduler_.open_row(bank, domain_.current_edge());
      return row != BankScheduler::kNoRow ? row : Probes::kUndriven;
    });
    own.signal("queue", Probes::kCountBits, [this, bank](Cycle) { return scheduler_.queued(bank); });
  }
}

void DramChannel::bind(statistics::Group& group) {
  group.counter("reads", units::kRequests, "reads served", reads_);
  group.counter("writes", units::kRequests, "writes served", writes_);
  group.counter("atomics", units::kRequests, "atomics served (machines without L2)", atomics_);
  group.counter("bytes_read", units::kBytes, "bytes of the reads", bytes_read_);
  group.counter("bytes_written", units::kBytes, "bytes of the writes", bytes_written_);
  group.counter("read_latency", units::kCycles,
                "cycles from the arrival of a read to its last data, summed over reads", read_latency_);
  group.counter("blocked", units::kRequests, "requests whose END_REQ was withheld", blocked_requests_);
  scheduler_.bind(group);
}

}  // namespace weft::dram
