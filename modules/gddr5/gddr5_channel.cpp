#include "gddr5/gddr5_channel.h"

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "common/payload_data.h"

namespace weft::gddr5 {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

void Gddr5Channel::Config::describe(config::Visitor& v) {
  scheduler.describe(v);
  v.integer("extra_latency", extra_latency, {0, 10'000}, "cycles",
            "delay between a request's arrival and the queue");
  v.integer("response_queue", response_queue, {1, 4096}, "requests",
            "responses that can wait for each L2 bank, those under way included");
  v.integer("atomic_interval", atomic_interval, {0, 1000}, "cycles",
            "cycles per lane of an atomic that reaches the channel (machines without L2)");
}

void Gddr5Channel::Config::check(const std::string& where) const {
  scheduler.check(where);
}

Gddr5Channel::Gddr5Channel(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
                           MemoryImage& image, const AddressMap& map, unsigned channel, unsigned ports)
    : sc_module(name),
      sockets("socket", ports),
      config_(config),
      domain_(domain),
      image_(image),
      map_(map),
      channel_(channel),
      index_(domain.add(*this)),
      places_(config.scheduler.queue_size + config.extra_latency),
      scheduler_(config.scheduler, map.banks(), ports),
      ports_(ports),
      flights_(places_ + ports * (config.response_queue + 2)),
      arrivals_(places_),
      blocked_(ports) {
  if (config.scheduler.timing.burst_bytes() > map.chunk_bytes()) {
    throw InputError(this->name(), "a burst of " + std::to_string(config.scheduler.timing.burst_bytes()) +
                                       " bytes is larger than the interleave of " +
                                       std::to_string(map.chunk_bytes()));
  }
  for (unsigned port = 0; port < ports; ++port) {
    sockets[port].register_nb_transport_fw(this, &Gddr5Channel::forward, static_cast<int>(port));
    sockets[port].register_b_transport(this, &Gddr5Channel::blocking, static_cast<int>(port));
    sockets[port].register_get_direct_mem_ptr(this, &Gddr5Channel::dmi, static_cast<int>(port));
    sockets[port].register_transport_dbg(this, &Gddr5Channel::debug, static_cast<int>(port));
    ports_[port].responses.reserve(config.response_queue);
  }
  free_flights_.reserve(flights_.size());
  reset();
}

void Gddr5Channel::reset() {
  for (Flight& flight : flights_) {
    if (flight.payload != nullptr) flight.payload->release();
    flight.payload = nullptr;
  }
  for (Port& port : ports_) {
    if (port.responding != nullptr) port.responding->release();
    port.responding = nullptr;
    port.responses.clear();
    port.reserved = 0;
    port.gate = HopGate{};
  }
  free_flights_.clear();
  for (std::size_t i = flights_.size(); i > 0; --i)
    free_flights_.push_back(static_cast<std::uint32_t>(i - 1));
  arrivals_.clear();
  blocked_.clear();
  waiting_ = 0;
  scheduler_.reset(domain_.current_edge());
}

tlm::tlm_response_status Gddr5Channel::check_request(const Payload& payload) const {
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (bytes == 0 || payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (!image_.contains(address, bytes)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

unsigned Gddr5Channel::bursts_of(const Payload& payload) const {
  const std::uint64_t burst = config_.scheduler.timing.burst_bytes();
  const std::uint64_t offset = payload.get_address() % burst;
  return static_cast<unsigned>((offset + payload.get_data_length() + burst - 1) / burst);
}

tlm_sync_enum Gddr5Channel::forward(int index, Payload& payload, tlm_phase& phase, sc_time& delay) {
  const auto port = static_cast<unsigned>(index);
  const Cycle usable = delay == sc_core::SC_ZERO_TIME
                           ? domain_.next_edge()
                           : domain_.first_edge_after(sc_core::sc_time_stamp() + delay);
  if (phase == tlm::END_RESP) {
    end_response(ports_[port], usable);
    domain_.wake_at(index_, usable);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;

  tlm::tlm_response_status status = check_request(payload);
  if (status == tlm::TLM_OK_RESPONSE) {
    if (!map_.within_chunk(payload.get_address(), payload.get_data_length())) {
      status = tlm::TLM_BURST_ERROR_RESPONSE;
    } else if (map_.route(payload.get_address()).channel != channel_) {
      status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    } else if (waiting_ == places_ && blocked_.full()) {
      status = tlm::TLM_GENERIC_ERROR_RESPONSE;  // a second request before END_REQ breaks the exclusion rule
    }
  }
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return tlm::TLM_COMPLETED;
  }

  payload.acquire();
  const std::uint32_t flight = free_flights_.back();
  free_flights_.pop_back();
  flights_[flight] = {&payload, port, usable - 1, usable};
  if (waiting_ == places_) {
    ++blocked_requests_;
    blocked_.push(flight);
    return tlm::TLM_ACCEPTED;
  }
  accept(flight, usable);
  domain_.wake_at(index_, usable + config_.extra_latency);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Gddr5Channel::accept(std::uint32_t flight, Cycle ready) {
  flights_[flight].ready = ready + config_.extra_latency;
  arrivals_.push(flight);
  ++waiting_;
}

// Responses first: a place that they free can be promised to a request at the same edge.
Cycle Gddr5Channel::step(Cycle now) {
  for (Port& port : ports_) respond(port, now);
  take_arrivals(now);
  schedule(now);
  admit_blocked(now);
  return next_work(now);
}

void Gddr5Channel::take_arrivals(Cycle now) {
  while (!arrivals_.empty() && !scheduler_.full() && flights_[arrivals_.front()].ready <= now) {
    const std::uint32_t handle = arrivals_.front();
    arrivals_.pop();
    const Flight& flight = flights_[handle];
    const Payload& payload = *flight.payload;
    const TransactionOrigin* origin = origin_of(payload);
    const bool atomic = origin != nullptr && origin->kind == AccessKind::kAtomic;
    const AddressMap::Place place = map_.place(payload.get_address());
    BankScheduler::Request request;
    request.handle = handle;
    request.gate = flight.port;
    request.bank = place.bank;
    request.row = place.row;
    request.bursts = bursts_of(payload);
    // An atomic reads the row; its lanes then keep the bank busy, the write of the results included.
    request.write = payload.is_write() && !atomic;
    request.occupy = atomic ? origin->atomic_lanes * config_.atomic_interval : 0;
    scheduler_.push(request, now);
  }
}

void Gddr5Channel::schedule(Cycle now) {
  BankScheduler::Finished finished;
  std::uint32_t started;
  const bool done = scheduler_.step(now, finished, started);
  if (started != BankScheduler::kNoGate) {
    Port& port = ports_[started];
    if (++port.reserved == config_.response_queue) scheduler_.set_gate(started, false);
  }
  if (!done) return;

  --waiting_;
  const Flight& flight = flights_[finished.handle];
  Payload& payload = *flight.payload;
  const TransactionOrigin* origin = origin_of(payload);
  // Here and not at the response, so that foreign accesses to one address take effect in the order of
  // service.
  if (origin == nullptr) move_data(payload, image_.data() + payload.get_address());
  if (origin != nullptr && origin->kind == AccessKind::kAtomic) ++atomics_;
  if (payload.is_read()) {
    ++reads_;
    bytes_read_ += payload.get_data_length();
    read_latency_ += finished.done - flight.arrived;
  } else {
    ++writes_;
    bytes_written_ += payload.get_data_length();
  }
  std::vector<Response>& responses = ports_[flight.port].responses;
  const auto place = std::upper_bound(responses.begin(), responses.end(), finished.done,
                                      [](Cycle at, const Response& other) { return at < other.done; });
  responses.insert(place, {finished.handle, finished.done});
}

void Gddr5Channel::admit_blocked(Cycle now) {
  while (!blocked_.empty() && waiting_ < places_ && flights_[blocked_.front()].ready <= now) {
    const std::uint32_t flight = blocked_.front();
    blocked_.pop();
    accept(flight, now + 1);
    tlm_phase phase = tlm::END_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    sockets[flights_[flight].port]->nb_transport_bw(*flights_[flight].payload, phase, delay);
  }
}

void Gddr5Channel::respond(Port& port, Cycle now) {
  if (port.responses.empty() || port.responses.front().done > now || !port.gate.usable(now)) return;
  const std::uint32_t handle = port.responses.front().flight;
  port.responses.erase(port.responses.begin());
  Flight& flight = flights_[handle];
  --port.reserved;
  scheduler_.set_gate(flight.port, true);
  port.responding = flight.payload;
  port.gate.close();
  flight.payload = nullptr;
  free_flights_.push_back(handle);

  port.responding->set_response_status(tlm::TLM_OK_RESPONSE);
  tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm_sync_enum result = sockets[flight.port]->nb_transport_bw(*port.responding, phase, delay);
  if (result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    end_response(port, delay == sc_core::SC_ZERO_TIME
                           ? now + 1
                           : domain_.first_edge_after(sc_core::sc_time_stamp() + delay));
  }
}

void Gddr5Channel::end_response(Port& port, Cycle usable_from) {
  if (port.responding == nullptr) return;
  port.responding->release();
  port.responding = nullptr;
  port.gate.open(usable_from);
}

Cycle Gddr5Channel::next_work(Cycle now) const {
  Cycle next = scheduler_.next(now);
  for (const Port& port : ports_) {
    if (port.responses.empty() || port.gate.closed()) continue;
    next = std::min(next, std::max(port.responses.front().done, port.gate.usable_from()));
  }
  if (!arrivals_.empty() && !scheduler_.full()) next = std::min(next, flights_[arrivals_.front()].ready);
  if (!blocked_.empty() && waiting_ < places_) next = std::min(next, flights_[blocked_.front()].ready);
  return next;
}

// Loosely timed: the latency of a lone request to a closed bank, without regard to the queue.
void Gddr5Channel::blocking(int, Payload& payload, sc_time& delay) {
  const tlm::tlm_response_status status = check_request(payload);
  if (status == tlm::TLM_OK_RESPONSE) {
    if (origin_of(payload) == nullptr) move_data(payload, image_.data() + payload.get_address());
    const Timing& timing = config_.scheduler.timing;
    const Cycle cycles =
        config_.extra_latency + timing.rcd + timing.cl + bursts_of(payload) * timing.column_gap_same_group();
    delay += domain_.time_of(cycles);
  }
  payload.set_response_status(status);
}

bool Gddr5Channel::dmi(int, Payload& payload, tlm::tlm_dmi& region) {
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
  return true;
}

unsigned Gddr5Channel::debug(int, Payload& payload) {
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

void Gddr5Channel::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".reads", "requests", "reads served", reads_);
  registry.counter(prefix + ".writes", "requests", "writes served", writes_);
  registry.counter(prefix + ".atomics", "requests", "atomics among them (machines without L2)", atomics_);
  registry.counter(prefix + ".bytes_read", "bytes", "bytes of the reads", bytes_read_);
  registry.counter(prefix + ".bytes_written", "bytes", "bytes of the writes", bytes_written_);
  registry.counter(prefix + ".read_latency", "cycles", "from a read's arrival to its last data, summed",
                   read_latency_);
  registry.counter(prefix + ".blocked", "requests", "requests whose END_REQ was withheld", blocked_requests_);
  scheduler_.bind(registry, prefix);
}

}  // namespace weft::gddr5
