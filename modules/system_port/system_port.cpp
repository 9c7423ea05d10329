#include "system_port/system_port.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace weft::system_port {

using sc_core::sc_time;

void Config::describe(config::Visitor& v) {
  v.integer("queue", queue, {1, 4096}, "requests", "requests that wait at the port");
  v.integer("outstanding", outstanding, {1, 4096}, "transactions", "transactions under way to system memory");
  v.integer("latency", latency, {1, 10'000}, "cycles",
            "interconnect cycles from arrival at the port to departure");
  config::choice(
      v, "partial_writes", partial_writes,
      {{"split", PartialWrites::kSplit}, {"byte_enables", PartialWrites::kByteEnables}},
      "how a write with gaps is sent: as a transaction for each run of bytes, or as one with byte enables");
}

SystemPort::State::State(const Config& config, std::size_t targets)
    : waiting(config.queue), blocked(targets), answers(targets, Ring<Request>(config.outstanding)) {}

SystemPort::SystemPort(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
                       unsigned target_count, CarveOut* carve_out, std::uint64_t burst_bytes)
    : sc_module(name),
      targets("target", target_count),
      system("system"),
      config_(config),
      domain_(domain),
      index_(domain.add(*this)),
      carve_out_(carve_out),
      base_(carve_out == nullptr ? 0 : carve_out->base()),
      burst_bytes_(burst_bytes),
      target_ports_(bus::TargetPort::on_all(targets, *this, {domain, index_})),
      outside_(system, *this, {domain, index_}),
      state_(config, target_count) {}

SystemPort::~SystemPort() = default;

void SystemPort::reset() {
  const auto drop = [](Ring<Request>& requests) {
    for (; !requests.empty(); requests.pop()) requests.front().payload->release();
  };
  drop(state_.waiting);
  for (auto& answers : state_.answers) drop(answers);
  for (const auto& port : target_ports_) port->reset();
  for (auto& outside : pool_) {
    if (outside->request.payload == nullptr) continue;
    keep_data(*outside);
    outside->request.payload->release();
    forget(*outside);
  }
  state_ = State(config_, target_ports_.size());
}

bool SystemPort::quiet() const {
  return state_.under_way == 0 && state_.waiting.empty() && state_.blocked.empty() &&
         std::all_of(target_ports_.begin(), target_ports_.end(),
                     [](const auto& port) { return !port->busy(); });
}

// The outside still moves the bytes of what it has taken, from and to a place that outlives the request: a
// foreign one's. Those of our own are kept already.
void SystemPort::keep_data(Outside& outside) {
  if (!outside.busy || outside.own) return;
  const unsigned char* const data = outside.get_data_ptr();
  outside.kept.assign(data, data + outside.get_data_length());
  outside.set_data_ptr(outside.kept.data());
  const unsigned char* const enables = outside.get_byte_enable_ptr();
  if (enables == nullptr) return;
  outside.kept_enables.assign(enables, enables + outside.get_byte_enable_length());
  outside.set_byte_enable_ptr(outside.kept_enables.data());
}

bool SystemPort::is_atomic(const Payload& payload) {
  const TransactionOrigin* origin = origin_of(payload);
  return origin != nullptr && origin->kind == AccessKind::kAtomic;
}

// System memory itself says what it refuses.
tlm::tlm_response_status SystemPort::check_request(const Payload& payload) const {
  if (carve_out_ == nullptr) return tlm::TLM_OK_RESPONSE;
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const bool inside = carve_out_->image().contains(payload.get_address(), payload.get_data_length());
  return inside ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

// ---- the targets

bus::Verdict SystemPort::request(unsigned target, Payload& payload, Cycle ready, sc_time&) {
  const tlm::tlm_response_status status = check_request(payload);
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return bus::Verdict::kCompleted;
  }
  domain_.wake_at(index_, ready);
  if (state_.waiting.full()) {
    state_.blocked.push(target);
    ++stalls_;
    return bus::Verdict::kWithheld;
  }
  state_.waiting.push({&payload, target, ready + config_.latency - 1});
  return bus::Verdict::kTaken;
}

// Loosely timed: as long as the outside takes.
void SystemPort::blocking(unsigned, Payload& payload, sc_time& delay) {
  const tlm::tlm_response_status status = check_request(payload);
  if (status != tlm::TLM_OK_RESPONSE) return payload.set_response_status(status);
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (carve_out_ != nullptr) carve_out_->exchange(address, bytes);
  payload.set_address(base_ + address);
  transport(payload, delay);
  payload.set_address(address);
  if (carve_out_ != nullptr) carve_out_->exchange(address, bytes);
  delay += domain_.time_of(config_.latency);
}

// As it is, or as transactions of a burst at most, one after the other. The first error is the payload's.
void SystemPort::transport(Payload& payload, sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (up_to_burst(address, bytes) == bytes || payload.get_streaming_width() < bytes) {
    count(payload.is_write(), bytes);
    system->b_transport(payload, delay);
    return;
  }
  const unsigned char* const enables = payload.get_byte_enable_ptr();
  std::vector<unsigned char> part_enables;
  for (unsigned done = 0; done < bytes;) {
    const auto length = static_cast<unsigned>(up_to_burst(address + done, bytes - done));
    Payload part;
    part.set_command(payload.get_command());
    part.set_address(address + done);
    part.set_data_ptr(payload.get_data_ptr() + done);
    part.set_data_length(length);
    part.set_streaming_width(length);
    if (enables != nullptr) {
      part_enables.resize(length);
      for (unsigned i = 0; i < length; ++i)
        part_enables[i] = enables[(done + i) % payload.get_byte_enable_length()];
      part.set_byte_enable_ptr(part_enables.data());
      part.set_byte_enable_length(length);
    }
    count(part.is_write(), length);
    system->b_transport(part, delay);
    payload.set_response_status(part.get_response_status());
    payload.set_dmi_allowed(part.is_dmi_allowed());
    if (!part.is_response_ok()) return;
    done += length;
  }
}

// How many of these bytes lie before the next multiple of a burst.
std::uint64_t SystemPort::up_to_burst(std::uint64_t address, std::uint64_t bytes) const {
  return std::min(bytes, burst_bytes_ - address % burst_bytes_);
}

// What lies behind may change without the GPU's knowledge, and the GPU's image is not all that it has.
bool SystemPort::dmi(unsigned, Payload&, tlm::tlm_dmi& region) {
  region.init();
  region.allow_none();
  return false;
}

unsigned SystemPort::debug(unsigned, Payload& payload) {
  if (carve_out_ == nullptr) return system->transport_dbg(payload);
  const std::uint64_t address = payload.get_address();
  if (address >= carve_out_->bytes() || (!payload.is_read() && !payload.is_write())) return 0;
  const std::uint64_t left = carve_out_->bytes() - address;
  const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), left));
  carve_out_->move(payload.is_write(), address, payload.get_data_ptr(), bytes);
  return bytes;
}

// ---- the outside

bool SystemPort::response(unsigned, Payload& payload, Cycle ready) {
  auto* const outside = dynamic_cast<Outside*>(&payload);
  if (outside != nullptr && outside->open) answered(*outside, ready);  // else a target that responds twice
  return true;
}

void SystemPort::invalidate(unsigned, sc_dt::uint64 first, sc_dt::uint64 last) {
  if (on_invalidate) on_invalidate(first, last);
}

Cycle SystemPort::step(Cycle now) {
  for (unsigned i = 0; i < state_.answers.size(); ++i) respond(i, now);
  issue(now);
  admit(now);
  return next_work(now);
}

void SystemPort::respond(unsigned target, Cycle now) {
  Ring<Request>& answers = state_.answers[target];
  if (answers.empty() || answers.front().ready > now || !target_ports_[target]->usable(now)) return;
  Payload& payload = *answers.front().payload;
  answers.pop();
  --state_.under_way;
  target_ports_[target]->respond(payload);
}

void SystemPort::issue(Cycle now) {
  if (!outside_.usable(now) || open_ == config_.outstanding) return;
  if (state_.exclusive != nullptr) return go_on(now);
  if (state_.waiting.empty() || state_.waiting.front().ready > now || state_.under_way == config_.outstanding)
    return;
  const Request request = state_.waiting.front();
  const bool atomic = is_atomic(*request.payload);
  if (atomic && state_.under_way != 0) return;
  Outside& outside = take_idle();
  take_part(outside, atomic);
  ++state_.under_way;
  if (atomic) {
    state_.exclusive = &outside;
    state_.writes = state_.goes_on = false;
    ++atomics_;
  }
  send(outside, request.payload->is_write() && !atomic ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
}

// The next burst of an atomic.
void SystemPort::go_on(Cycle now) {
  if (!state_.goes_on || state_.goes_on_from > now) return;
  Outside& next = state_.exclusive->busy ? take_idle() : *state_.exclusive;
  state_.goes_on = false;
  if (&next != state_.exclusive) {
    next.request = state_.exclusive->request;
    next.first = state_.exclusive->first;
    next.bytes = state_.exclusive->bytes;
    next.moved = state_.exclusive->moved;
    next.kept = state_.exclusive->kept;
    forget(*state_.exclusive);
    state_.exclusive = &next;
  }
  if (state_.writes && next.moved == 0) apply(next);
  send(next, state_.writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
}

// The first request that waits, or its next part; with the last one it leaves the queue. Each part holds the
// request.
void SystemPort::take_part(Outside& outside, bool atomic) {
  const Request request = state_.waiting.front();
  Payload& payload = *request.payload;
  const unsigned length = payload.get_data_length();
  outside.request = request;
  outside.first = state_.sent;
  outside.bytes = length - state_.sent;
  outside.moved = 0;
  TransactionOrigin* const origin = origin_of(payload);
  if (origin != nullptr) {
    ++origin->parts;
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    const auto enabled_from = [&](unsigned from) {
      if (enables == nullptr) return from;
      return static_cast<unsigned>(std::find(enables + from, enables + length, TLM_BYTE_ENABLED) - enables);
    };
    if (config_.partial_writes == PartialWrites::kSplit) outside.first = enabled_from(state_.sent);
    unsigned end = part_end(payload, outside.first, atomic);
    // A burst in which nothing is enabled is left out.
    while (end < length && enabled_from(outside.first) >= end) {
      outside.first = end;
      end = part_end(payload, outside.first, atomic);
    }
    outside.bytes = end - outside.first;
    if (enabled_from(end) < length) {
      state_.sent = end;
      payload.acquire();
      return;
    }
  }
  state_.sent = 0;
  state_.waiting.pop();
}

// Of a part that begins at byte `first` of a request of our own: the end of the burst, or before it that of
// the enabled bytes. An atomic stays whole: its elements may be longer than a burst.
unsigned SystemPort::part_end(const Payload& payload, unsigned first, bool atomic) const {
  const unsigned length = payload.get_data_length();
  const unsigned char* const enables = payload.get_byte_enable_ptr();
  unsigned end = length;
  if (!atomic) {
    const std::uint64_t address = base_ + payload.get_address() + first;
    end = first + static_cast<unsigned>(up_to_burst(address, length - first));
  }
  if (enables == nullptr || config_.partial_writes != PartialWrites::kSplit) return end;
  return static_cast<unsigned>(std::find(enables + first, enables + end, TLM_BYTE_DISABLED) - enables);
}

SystemPort::Outside& SystemPort::take_idle() {
  if (idle_.empty()) {
    pool_.push_back(std::make_unique<Outside>(static_cast<tlm::tlm_mm_interface*>(this)));
    idle_.reserve(pool_.size());
    return *pool_.back();
  }
  Outside& outside = *idle_.back();
  idle_.pop_back();
  return outside;
}

// Between the two halves of an atomic: its bytes are no transaction's then.
void SystemPort::apply(Outside& outside) {
  const Payload& request = *outside.request.payload;
  const TransactionOrigin& origin = *origin_of(request);
  if (origin.atomic == nullptr) return;
  origin.atomic->apply(origin.access, request.get_address() + outside.first, outside.kept.data(),
                       outside.bytes);
}

// It serves no request any more.
void SystemPort::forget(Outside& outside) {
  outside.request = {};
  if (!outside.busy) idle_.push_back(&outside);
}

void SystemPort::prepare(Outside& outside, tlm::tlm_command command) {
  const Payload& request = *outside.request.payload;
  const std::uint64_t address = request.get_address() + outside.first + outside.moved;
  unsigned bytes = outside.bytes - outside.moved;
  if (&outside == state_.exclusive) bytes = static_cast<unsigned>(up_to_burst(base_ + address, bytes));
  outside.own = origin_of(request) != nullptr;
  outside.at = address;
  outside.set_command(command);
  outside.set_address(base_ + address);
  outside.set_data_ptr(request.get_data_ptr());
  outside.set_data_length(bytes);
  outside.set_streaming_width(outside.own ? bytes : request.get_streaming_width());
  set_enables(outside, command == tlm::TLM_WRITE_COMMAND);
  outside.set_dmi_allowed(false);
  outside.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (carve_out_ != nullptr) carve_out_->exchange(address, bytes);
  if (outside.own) outside.set_data_ptr(own_data(outside));
}

// A foreign request's, or a copy of our own for what writes.
void SystemPort::set_enables(Outside& outside, bool write) {
  Payload& request = *outside.request.payload;
  unsigned char* enables = request.get_byte_enable_ptr();
  unsigned length = enables == nullptr ? 0 : request.get_byte_enable_length();
  if (outside.own && (!write || config_.partial_writes == PartialWrites::kSplit)) {
    enables = nullptr;
    length = 0;
  } else if (outside.own && enables != nullptr) {
    enables += outside.first + outside.moved;
    length = outside.get_data_length();
    outside.kept_enables.assign(enables, enables + length);
    enables = outside.kept_enables.data();
  }
  outside.set_byte_enable_ptr(enables);
  outside.set_byte_enable_length(length);
}

// What a transaction of our own has as its data outside: a copy that outlives the request.
unsigned char* SystemPort::own_data(Outside& outside) {
  const Payload& request = *outside.request.payload;
  // What an atomic has read already, and writes back.
  const bool was_read = &outside == state_.exclusive && (outside.is_write() || outside.moved != 0);
  if (carve_out_ != nullptr || !was_read) {
    const unsigned char* const bytes =
        (carve_out_ != nullptr ? carve_out_->image().data() + request.get_address()
                               : request.get_data_ptr()) +
        outside.first;
    outside.kept.assign(bytes, bytes + outside.bytes);
  }
  return outside.kept.data() + outside.moved;
}

void SystemPort::send(Outside& outside, tlm::tlm_command command) {
  prepare(outside, command);
  Payload& payload = outside;
  payload.acquire();
  outside.busy = outside.open = true;
  ++open_;
  count(command == tlm::TLM_WRITE_COMMAND, payload.get_data_length());
  outside_.send(payload);
}

void SystemPort::count(bool write, unsigned bytes) {
  ++(write ? writes_ : reads_);
  (write ? write_bytes_ : read_bytes_) += bytes;
}

void SystemPort::landed(const Outside& outside) {
  if (!outside.own) return carve_out_->exchange(outside.at, outside.get_data_length());
  if (outside.is_write()) carve_out_->landed(outside.at, outside.get_data_ptr(), outside.get_data_length());
}

// Whether no part of the request is left. An error of any part is the request's.
bool SystemPort::finish_part(const Request& request, tlm::tlm_response_status status) {
  Payload& payload = *request.payload;
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE || status <= 0)
    payload.set_response_status(status);
  TransactionOrigin* const origin = origin_of(payload);
  if (origin == nullptr) return true;
  const bool is_waiting = state_.sent != 0 && state_.waiting.front().payload == &payload;
  if (--origin->parts == 0 && !is_waiting) return true;
  --state_.under_way;
  payload.release();
  return false;
}

// A read that carries its bytes gets them.
void SystemPort::fill(const Outside& outside) {
  Payload& request = *outside.request.payload;
  if (!request.is_read() || !origin_of(request)->carries) return;
  std::memcpy(request.get_data_ptr() + outside.first + outside.moved, outside.get_data_ptr(),
              outside.get_data_length());
}

void SystemPort::answered(Outside& outside, Cycle ready) {
  const Request request = outside.request;
  const tlm::tlm_response_status status = outside.get_response_status();
  outside.open = false;
  --open_;
  if (carve_out_ != nullptr && status > 0) landed(outside);
  if (request.payload != nullptr && status > 0 && outside.own) fill(outside);
  if (outside.own && outside.is_write() && status > 0 && on_written) on_written(base_ + outside.at, outside);
  const bool goes_on = &outside == state_.exclusive && status > 0 && move_on(outside, ready);
  outside.release();  // may make it idle
  if (request.payload == nullptr) return;
  if (status <= 0) ++errors_;
  if (goes_on) return;
  if (&outside == state_.exclusive) state_.exclusive = nullptr;
  forget(outside);
  if (!finish_part(request, status)) return;
  state_.answers[request.target].push({request.payload, request.target, ready});
}

// A burst of an atomic is done. False: it was the last one.
bool SystemPort::move_on(Outside& outside, Cycle ready) {
  outside.moved += outside.get_data_length();
  if (outside.moved == outside.bytes) {
    if (state_.writes) return false;
    state_.writes = true;
    outside.moved = 0;
  }
  state_.goes_on = true;
  state_.goes_on_from = ready;
  return true;
}

void SystemPort::free(Payload* payload) {
  payload->reset();
  auto& outside = static_cast<Outside&>(*payload);
  outside.busy = false;
  if (outside.request.payload == nullptr) idle_.push_back(&outside);
}

void SystemPort::admit(Cycle now) {
  while (!state_.blocked.empty() && !state_.waiting.full()) {
    const unsigned target = state_.blocked.front();
    state_.blocked.pop();
    bus::TargetPort& port = *target_ports_[target];
    const bus::TargetPort::Withheld request = *port.withheld();
    state_.waiting.push({request.payload, target, std::max(request.ready + config_.latency - 1, now + 1)});
    port.end_request();
  }
}

Cycle SystemPort::next_work(Cycle now) const {
  Cycle next = kNever;
  const auto at = [&](Cycle edge) { next = std::min(next, std::max(edge, now + 1)); };
  for (std::size_t i = 0; i < state_.answers.size(); ++i) {
    if (!state_.answers[i].empty() && !target_ports_[i]->busy())
      at(std::max(state_.answers[i].front().ready, target_ports_[i]->usable_from()));
  }
  if (!outside_.busy() && open_ != config_.outstanding) {
    if (state_.goes_on) {
      at(std::max(state_.goes_on_from, outside_.usable_from()));
    } else if (state_.exclusive == nullptr && !state_.waiting.empty() &&
               state_.under_way != config_.outstanding) {
      at(std::max(state_.waiting.front().ready, outside_.usable_from()));
    }
  }
  if (!state_.blocked.empty() && !state_.waiting.full()) at(now + 1);
  return next;
}

void SystemPort::probes(const Probes::Scope& scope) const {
  scope.signal("waiting", Probes::kCountBits, [this](Cycle) { return state_.waiting.size(); });
  scope.signal("under_way", Probes::kCountBits, [this](Cycle) { return state_.under_way; });
  scope.signal("answers", Probes::kCountBits, [this](Cycle) {
    std::uint64_t answers = 0;
    for (const Ring<Request>& of_target : state_.answers) answers += of_target.size();
    return answers;
  });
}

void SystemPort::bind(statistics::Group& group) {
  group.counter("reads", units::kTransactions, "reads of system memory", reads_);
  group.counter("writes", units::kTransactions, "writes to system memory", writes_);
  group.counter("atomics", units::kRequests, "atomics, each a read and a write", atomics_);
  group.counter("read_bytes", units::kBytes, "bytes read", read_bytes_);
  group.counter("write_bytes", units::kBytes, "bytes written", write_bytes_);
  group.counter("errors", units::kTransactions, "error responses", errors_);
  group.counter("stalls", units::kRequests, "requests whose END_REQ was withheld", stalls_);
}

}  // namespace weft::system_port
