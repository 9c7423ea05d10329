#include "system_port/system_port.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace weft::system_port {

using sc_core::sc_time;

void SystemPort::Config::describe(config::Visitor& v) {
  v.integer("queue", queue, {1, 4096}, "requests", "requests that wait at the port");
  v.integer("outstanding", outstanding, {1, 4096}, "transactions", "transactions under way to system memory");
  v.integer("latency", latency, {1, 10'000}, "cycles",
            "interconnect cycles from arrival at the port to departure");
}

SystemPort::SystemPort(sc_core::sc_module_name name, const Config& config, ClockDomain& domain)
    : sc_module(name),
      target("target"),
      system("system"),
      config_(config),
      domain_(domain),
      index_(domain.add(*this)),
      waiting_(config.queue),
      answers_(config.outstanding) {
  target.register_nb_transport_fw(this, &SystemPort::forward);
  system.register_nb_transport_bw(this, &SystemPort::backward);
  system.register_invalidate_direct_mem_ptr(this, &SystemPort::invalidate);
  for (std::uint64_t i = 0; i < config.outstanding; ++i)
    pool_.push_back(std::make_unique<Outside>(static_cast<tlm::tlm_mm_interface*>(this)));
}

SystemPort::~SystemPort() = default;

void SystemPort::reset() {
  while (!waiting_.empty()) {
    waiting_.front().payload->release();
    waiting_.pop();
  }
  if (blocked_.payload != nullptr) blocked_.payload->release();
  blocked_ = {};
  while (!answers_.empty()) {
    answers_.front().payload->release();
    answers_.pop();
  }
  if (responding_ != nullptr) responding_->release();
  responding_ = nullptr;
  response_gate_ = {};
  for (auto& outside : pool_) {
    if (outside->request == nullptr) continue;
    keep_data(*outside);
    outside->request->release();
    outside->request = nullptr;
  }
  exclusive_ = nullptr;
  write_back_ = false;
  under_way_ = 0;
}

// The outside still moves the bytes of what it has taken, from and to a place that outlives the request. With
// direct access the data are the memory's own.
void SystemPort::keep_data(Outside& outside) {
  Payload& payload = outside.payload;
  if (!outside.busy || !origin_of(*outside.request)->moves_data) return;
  const unsigned char* const data = payload.get_data_ptr();
  outside.kept.assign(data, data + payload.get_data_length());
  payload.set_data_ptr(outside.kept.data());
}

Cycle SystemPort::edge_of(const sc_time& delay) const {
  return delay == sc_core::SC_ZERO_TIME ? domain_.next_edge()
                                        : domain_.first_edge_after(sc_core::sc_time_stamp() + delay);
}

bool SystemPort::is_atomic(const Payload& payload) {
  const TransactionOrigin* origin = origin_of(payload);
  return origin != nullptr && origin->kind == AccessKind::kAtomic;
}

tlm::tlm_sync_enum SystemPort::forward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
  const Cycle usable = edge_of(delay);
  domain_.wake_at(index_, usable);
  if (phase == tlm::END_RESP) {
    end_response(usable);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  if (blocked_.payload != nullptr) {  // a second request before END_REQ breaks the exclusion rule
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  const Request request{&payload, usable + config_.latency - 1};
  if (waiting_.full()) {
    blocked_ = request;
    ++stalls_;
    return tlm::TLM_ACCEPTED;
  }
  waiting_.push(request);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

SystemPort::Outside* SystemPort::outside_of(const Payload& payload) {
  const auto found = std::find_if(pool_.begin(), pool_.end(),
                                  [&](const auto& outside) { return &outside->payload == &payload; });
  return found == pool_.end() ? nullptr : found->get();
}

tlm::tlm_sync_enum SystemPort::backward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
  const Cycle usable = edge_of(delay);
  domain_.wake_at(index_, usable);
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (requesting_ == &payload) {  // BEGIN_RESP implies END_REQ
    requesting_ = nullptr;
    request_gate_.open(usable);
  }
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  Outside* const outside = outside_of(payload);
  if (outside == nullptr) return tlm::TLM_COMPLETED;
  answered(*outside, usable);
  return tlm::TLM_COMPLETED;
}

void SystemPort::invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
  if (on_invalidate) on_invalidate(first, last);
}

Cycle SystemPort::step(Cycle now) {
  respond(now);
  issue(now);
  admit(now);
  return next_work(now);
}

void SystemPort::respond(Cycle now) {
  if (answers_.empty() || answers_.front().ready > now || !response_gate_.usable(now)) return;
  Payload& payload = *answers_.front().payload;
  answers_.pop();
  --under_way_;
  responding_ = &payload;
  response_gate_.close();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum result = target->nb_transport_bw(payload, phase, delay);
  if (result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    end_response(edge_of(delay));
  }
}

void SystemPort::end_response(Cycle usable_from) {
  if (responding_ == nullptr) return;
  responding_->release();
  responding_ = nullptr;
  response_gate_.open(usable_from);
}

void SystemPort::issue(Cycle now) {
  if (!request_gate_.usable(now)) return;
  if (exclusive_ != nullptr) {
    Outside* const next = idle();
    if (!write_back_ || write_back_from_ > now || next == nullptr) return;
    write_back_ = false;
    next->request = std::exchange(exclusive_->request, nullptr);
    exclusive_ = next;
    send(*exclusive_, tlm::TLM_WRITE_COMMAND);
    return;
  }
  if (waiting_.empty() || waiting_.front().ready > now || under_way_ == config_.outstanding) return;
  Payload& request = *waiting_.front().payload;
  const bool atomic = is_atomic(request);
  if (atomic && under_way_ != 0) return;
  Outside* const free_one = idle();
  if (free_one == nullptr) return;  // the outside has not let go of them
  waiting_.pop();
  Outside& outside = *free_one;
  outside.request = &request;
  ++under_way_;
  if (atomic) {
    exclusive_ = &outside;
    ++atomics_;
  }
  send(outside, request.is_write() && !atomic ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
}

SystemPort::Outside* SystemPort::idle() {
  const auto found = std::find_if(pool_.begin(), pool_.end(), [](const auto& outside) {
    return !outside->busy && outside->request == nullptr;
  });
  if (found != pool_.end()) return found->get();
  return exclusive_ != nullptr && !exclusive_->busy ? exclusive_ : nullptr;
}

void SystemPort::send(Outside& outside, tlm::tlm_command command) {
  const Payload& request = *outside.request;
  Payload& payload = outside.payload;
  const unsigned bytes = request.get_data_length();
  payload.set_command(command);
  payload.set_address(request.get_address());
  payload.set_data_ptr(request.get_data_ptr());
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload.acquire();
  outside.busy = true;
  const bool write = command == tlm::TLM_WRITE_COMMAND;
  ++(write ? writes_ : reads_);
  (write ? write_bytes_ : read_bytes_) += bytes;

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

void SystemPort::answered(Outside& outside, Cycle ready) {
  Payload* const request = outside.request;
  const tlm::tlm_response_status status = outside.payload.get_response_status();
  const bool first_half = &outside == exclusive_ && outside.payload.is_read();
  outside.payload.release();  // may make it idle
  if (request == nullptr) return;
  if (status <= 0) ++errors_;
  if (first_half && status > 0) {
    const TransactionOrigin& origin = *origin_of(*request);
    if (origin.atomic != nullptr) origin.atomic->apply(origin.access);
    write_back_ = true;
    write_back_from_ = ready;
    return;
  }
  if (&outside == exclusive_) exclusive_ = nullptr;
  outside.request = nullptr;
  request->set_response_status(status);
  answers_.push({request, ready});
}

void SystemPort::free(Payload* payload) {
  payload->reset();
  outside_of(*payload)->busy = false;
  domain_.wake(index_);
}

void SystemPort::admit(Cycle now) {
  if (blocked_.payload == nullptr || waiting_.full()) return;
  Payload& payload = *blocked_.payload;
  waiting_.push({&payload, std::max(blocked_.ready, now + 1)});
  blocked_ = {};
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  target->nb_transport_bw(payload, phase, delay);
}

Cycle SystemPort::next_work(Cycle now) const {
  Cycle next = kNever;
  const auto at = [&](Cycle edge) { next = std::min(next, std::max(edge, now + 1)); };
  if (!answers_.empty() && !response_gate_.closed())
    at(std::max(answers_.front().ready, response_gate_.usable_from()));
  if (!request_gate_.closed()) {
    if (write_back_) {
      at(std::max(write_back_from_, request_gate_.usable_from()));
    } else if (exclusive_ == nullptr && !waiting_.empty() && under_way_ != config_.outstanding) {
      at(std::max(waiting_.front().ready, request_gate_.usable_from()));
    }
  }
  if (blocked_.payload != nullptr && !waiting_.full()) at(now + 1);
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
