#include "system_port/system_port.h"

#include <algorithm>
#include <memory>

namespace weft::system_port {

using sc_core::sc_time;

void SystemPort::Config::describe(config::Visitor& v) {
  v.integer("queue", queue, {1, 4096}, "requests", "requests that wait at the port");
  v.integer("outstanding", outstanding, {1, 4096}, "transactions", "transactions under way to system memory");
  v.integer("latency", latency, {1, 10'000}, "cycles",
            "interconnect cycles from arrival at the port to departure");
}

SystemPort::SystemPort(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
                       unsigned target_count, CarveOut* carve_out)
    : sc_module(name),
      targets("target", target_count),
      system("system"),
      config_(config),
      domain_(domain),
      index_(domain.add(*this)),
      carve_out_(carve_out),
      base_(carve_out == nullptr ? 0 : carve_out->base()),
      waiting_(config.queue),
      blocked_(target_count),
      sides_(target_count) {
  for (unsigned i = 0; i < target_count; ++i) {
    targets[i].register_nb_transport_fw(this, &SystemPort::forward, static_cast<int>(i));
    targets[i].register_b_transport(this, &SystemPort::blocking, static_cast<int>(i));
    targets[i].register_get_direct_mem_ptr(this, &SystemPort::dmi, static_cast<int>(i));
    targets[i].register_transport_dbg(this, &SystemPort::debug, static_cast<int>(i));
    sides_[i].answers = Ring<Request>(config.outstanding);
  }
  system.register_nb_transport_bw(this, &SystemPort::backward);
  system.register_invalidate_direct_mem_ptr(this, &SystemPort::invalidate);
  for (std::uint64_t i = 0; i < config.outstanding; ++i) {
    pool_.push_back(std::make_unique<Outside>(static_cast<tlm::tlm_mm_interface*>(this)));
    idle_.push_back(pool_.back().get());
  }
}

SystemPort::~SystemPort() = default;

void SystemPort::reset() {
  const auto drop = [](Ring<Request>& requests) {
    while (!requests.empty()) {
      requests.front().payload->release();
      requests.pop();
    }
  };
  drop(waiting_);
  drop(blocked_);
  for (Side& side : sides_) {
    drop(side.answers);
    if (side.responding != nullptr) side.responding->release();
    side.responding = nullptr;
    side.gate = {};
  }
  for (auto& outside : pool_) {
    if (outside->request.payload == nullptr) continue;
    keep_data(*outside);
    outside->request.payload->release();
    forget(*outside);
  }
  exclusive_ = nullptr;
  write_back_ = false;
  under_way_ = 0;
}

bool SystemPort::quiet() const {
  return under_way_ == 0 && waiting_.empty() && blocked_.empty() &&
         std::all_of(sides_.begin(), sides_.end(),
                     [](const Side& side) { return side.responding == nullptr; });
}

// The outside still moves the bytes of what it has taken, from and to a place that outlives the request. With
// direct access the data are the memory's own; those of device memory that are carried are kept already.
void SystemPort::keep_data(Outside& outside) {
  const TransactionOrigin* const origin = origin_of(*outside.request.payload);
  if (!outside.busy || (origin != nullptr && !origin->moves_data)) return;
  const unsigned char* const data = outside.get_data_ptr();
  outside.kept.assign(data, data + outside.get_data_length());
  outside.set_data_ptr(outside.kept.data());
  const unsigned char* const enables = outside.get_byte_enable_ptr();
  if (enables == nullptr) return;
  outside.kept_enables.assign(enables, enables + outside.get_byte_enable_length());
  outside.set_byte_enable_ptr(outside.kept_enables.data());
}

Cycle SystemPort::edge_of(const sc_time& delay) const {
  return delay == sc_core::SC_ZERO_TIME ? domain_.next_edge()
                                        : domain_.first_edge_after(sc_core::sc_time_stamp() + delay);
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

tlm::tlm_sync_enum SystemPort::forward(int target, Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
  const auto from = static_cast<unsigned>(target);
  const Cycle usable = edge_of(delay);
  domain_.wake_at(index_, usable);
  if (phase == tlm::END_RESP) {
    end_response(sides_[from], usable);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  tlm::tlm_response_status status = check_request(payload);
  // A second request before END_REQ breaks the exclusion rule.
  if (blocked_.full()) status = tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  const Request request{&payload, from, usable + config_.latency - 1};
  if (waiting_.full()) {
    blocked_.push(request);
    ++stalls_;
    return tlm::TLM_ACCEPTED;
  }
  waiting_.push(request);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// Loosely timed: as long as the outside takes.
void SystemPort::blocking(int, Payload& payload, sc_time& delay) {
  const tlm::tlm_response_status status = check_request(payload);
  if (status != tlm::TLM_OK_RESPONSE) return payload.set_response_status(status);
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (carries_bytes()) carve_out_->exchange(address, bytes);
  payload.set_address(base_ + address);
  system->b_transport(payload, delay);
  payload.set_address(address);
  if (carries_bytes()) carve_out_->exchange(address, bytes);
  delay += domain_.time_of(config_.latency);
}

bool SystemPort::dmi(int, Payload& payload, tlm::tlm_dmi& region) {
  region.init();
  const bool granted =
      carve_out_ != nullptr && carve_out_->direct() && carve_out_->image().contains(payload.get_address(), 1);
  if (!granted) {
    region.allow_none();
    return false;
  }
  region.allow_read_write();
  region.set_dmi_ptr(carve_out_->image().data());
  region.set_start_address(0);
  region.set_end_address(carve_out_->bytes() - 1);
  return true;
}

unsigned SystemPort::debug(int, Payload& payload) {
  if (carve_out_ == nullptr) return system->transport_dbg(payload);
  const std::uint64_t address = payload.get_address();
  if (address >= carve_out_->bytes() || (!payload.is_read() && !payload.is_write())) return 0;
  const std::uint64_t left = carve_out_->bytes() - address;
  const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), left));
  carve_out_->move(payload.is_write(), address, payload.get_data_ptr(), bytes);
  return bytes;
}

void SystemPort::withdraw_access() {
  if (carve_out_ == nullptr) return;
  for (auto& outside : pool_) {
    if (!outside->busy || !outside->own) continue;
    const unsigned char* const data = outside->get_data_ptr();
    outside->kept.assign(data, data + outside->get_data_length());
    outside->set_data_ptr(outside->kept.data());
  }
  for (auto& target : targets) target->invalidate_direct_mem_ptr(0, carve_out_->bytes() - 1);
}

// ---- the outside

tlm::tlm_sync_enum SystemPort::backward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
  const Cycle usable = edge_of(delay);
  domain_.wake_at(index_, usable);
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (requesting_ == &payload) {  // BEGIN_RESP implies END_REQ
    requesting_ = nullptr;
    request_gate_.open(usable);
  }
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  auto* const outside = dynamic_cast<Outside*>(&payload);
  if (outside != nullptr) answered(*outside, usable);
  return tlm::TLM_COMPLETED;
}

void SystemPort::invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
  if (on_invalidate) on_invalidate(first, last);
}

Cycle SystemPort::step(Cycle now) {
  for (unsigned i = 0; i < sides_.size(); ++i) respond(i, now);
  issue(now);
  admit(now);
  return next_work(now);
}

void SystemPort::respond(unsigned target, Cycle now) {
  Side& side = sides_[target];
  if (side.answers.empty() || side.answers.front().ready > now || !side.gate.usable(now)) return;
  Payload& payload = *side.answers.front().payload;
  side.answers.pop();
  --under_way_;
  side.responding = &payload;
  side.gate.close();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum result = targets[target]->nb_transport_bw(payload, phase, delay);
  if (result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    end_response(side, edge_of(delay));
  }
}

void SystemPort::end_response(Side& side, Cycle usable_from) {
  if (side.responding == nullptr) return;
  side.responding->release();
  side.responding = nullptr;
  side.gate.open(usable_from);
}

void SystemPort::issue(Cycle now) {
  if (!request_gate_.usable(now)) return;
  if (exclusive_ != nullptr) {
    if (!write_back_ || write_back_from_ > now) return;
    Outside* const next = exclusive_->busy ? take_idle() : exclusive_;
    if (next == nullptr) return;
    write_back_ = false;
    if (next != exclusive_) {
      next->request = exclusive_->request;
      forget(*exclusive_);
      exclusive_ = next;
    }
    send(*exclusive_, tlm::TLM_WRITE_COMMAND);
    return;
  }
  if (waiting_.empty() || waiting_.front().ready > now || under_way_ == config_.outstanding) return;
  const Request request = waiting_.front();
  const bool atomic = is_atomic(*request.payload);
  if (atomic && under_way_ != 0) return;
  Outside* const outside = take_idle();
  if (outside == nullptr) return;  // the outside has not let go of them
  waiting_.pop();
  outside->request = request;
  ++under_way_;
  if (atomic) {
    exclusive_ = outside;
    ++atomics_;
  }
  send(*outside, request.payload->is_write() && !atomic ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
}

SystemPort::Outside* SystemPort::take_idle() {
  if (idle_.empty()) return nullptr;
  Outside* const outside = idle_.back();
  idle_.pop_back();
  return outside;
}

// It serves no request any more.
void SystemPort::forget(Outside& outside) {
  outside.request = {};
  if (!outside.busy) idle_.push_back(&outside);
}

void SystemPort::prepare(Outside& outside, tlm::tlm_command command) {
  const Payload& request = *outside.request.payload;
  const std::uint64_t address = request.get_address();
  const unsigned bytes = request.get_data_length();
  outside.own = origin_of(request) != nullptr;
  outside.set_command(command);
  outside.set_address(base_ + address);
  outside.set_data_ptr(request.get_data_ptr());
  outside.set_data_length(bytes);
  outside.set_streaming_width(outside.own ? bytes : request.get_streaming_width());
  outside.set_byte_enable_ptr(outside.own ? nullptr : request.get_byte_enable_ptr());
  outside.set_byte_enable_length(outside.own ? 0 : request.get_byte_enable_length());
  outside.set_dmi_allowed(false);
  outside.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (!carries_bytes()) return;
  carve_out_->exchange(address, bytes);
  if (!outside.own) return;
  const unsigned char* const data = carve_out_->image().data() + address;
  outside.kept.assign(data, data + bytes);
  outside.set_data_ptr(outside.kept.data());
}

void SystemPort::send(Outside& outside, tlm::tlm_command command) {
  prepare(outside, command);
  Payload& payload = outside;
  payload.acquire();
  outside.busy = true;
  const bool write = command == tlm::TLM_WRITE_COMMAND;
  ++(write ? writes_ : reads_);
  (write ? write_bytes_ : read_bytes_) += payload.get_data_length();

  requesting_ = &payload;
  request_gate_.close();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum result = system->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) return;
  const Cycle usable = edge_of(delay);
  if (requesting_ == &payload) {
    requesting_ = nullptr;
    request_gate_.open(usable);
  }
  if (result == tlm::TLM_UPDATED && phase == tlm::END_REQ) return;
  if (result == tlm::TLM_UPDATED) {  // BEGIN_RESP
    phase = tlm::END_RESP;
    sc_time end = delay;
    system->nb_transport_fw(payload, phase, end);
  }
  answered(outside, usable);
}

void SystemPort::landed(const Outside& outside) {
  const std::uint64_t offset = outside.get_address() - base_;
  if (!outside.own) return carve_out_->exchange(offset, outside.get_data_length());
  if (outside.is_write()) carve_out_->landed(offset, outside.get_data_ptr(), outside.get_data_length());
}

void SystemPort::answered(Outside& outside, Cycle ready) {
  const Request request = outside.request;
  const tlm::tlm_response_status status = outside.get_response_status();
  const bool first_half = &outside == exclusive_ && outside.is_read();
  if (carries_bytes() && status > 0) landed(outside);
  outside.release();  // may make it idle
  if (request.payload == nullptr) return;
  if (status <= 0) ++errors_;
  if (first_half && status > 0) {
    const TransactionOrigin& origin = *origin_of(*request.payload);
    if (origin.atomic != nullptr) origin.atomic->apply(origin.access);
    write_back_ = true;
    write_back_from_ = ready;
    return;
  }
  if (&outside == exclusive_) exclusive_ = nullptr;
  forget(outside);
  request.payload->set_response_status(status);
  sides_[request.target].answers.push({request.payload, request.target, ready});
}

void SystemPort::free(Payload* payload) {
  payload->reset();
  auto& outside = static_cast<Outside&>(*payload);
  outside.busy = false;
  if (outside.request.payload == nullptr) idle_.push_back(&outside);
  domain_.wake(index_);
}

void SystemPort::admit(Cycle now) {
  while (!blocked_.empty() && !waiting_.full()) {
    Request request = blocked_.front();
    blocked_.pop();
    request.ready = std::max(request.ready, now + 1);
    waiting_.push(request);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    targets[request.target]->nb_transport_bw(*request.payload, phase, delay);
  }
}

Cycle SystemPort::next_work(Cycle now) const {
  Cycle next = kNever;
  const auto at = [&](Cycle edge) { next = std::min(next, std::max(edge, now + 1)); };
  for (const Side& side : sides_) {
    if (!side.answers.empty() && !side.gate.closed())
      at(std::max(side.answers.front().ready, side.gate.usable_from()));
  }
  if (!request_gate_.closed()) {
    if (write_back_) {
      at(std::max(write_back_from_, request_gate_.usable_from()));
    } else if (exclusive_ == nullptr && !waiting_.empty() && under_way_ != config_.outstanding) {
      at(std::max(waiting_.front().ready, request_gate_.usable_from()));
    }
  }
  if (!blocked_.empty() && !waiting_.full()) at(now + 1);
  return next;
}

void SystemPort::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".reads", "transactions", "reads of system memory", reads_);
  registry.counter(prefix + ".writes", "transactions", "writes to system memory", writes_);
  registry.counter(prefix + ".atomics", "requests", "atomics, each a read and a write", atomics_);
  registry.counter(prefix + ".read_bytes", "bytes", "bytes read", read_bytes_);
  registry.counter(prefix + ".write_bytes", "bytes", "bytes written", write_bytes_);
  registry.counter(prefix + ".errors", "transactions", "error responses", errors_);
  registry.counter(prefix + ".stalls", "requests", "requests whose END_REQ was withheld", stalls_);
}

}  // namespace weft::system_port
