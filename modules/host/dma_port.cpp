#include "host/dma_port.h"

#include <algorithm>

namespace weft::host {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

DmaPort::DmaPort(sc_core::sc_module_name name, Transport transport, unsigned initiators)
    : sc_module(name),
      targets("target", initiators),
      socket("socket"),
      transport_(transport),
      waiting_(initiators) {
  for (unsigned i = 0; i < initiators; ++i) {
    targets[i].register_nb_transport_fw(this, &DmaPort::forward, static_cast<int>(i));
    targets[i].register_b_transport(this, &DmaPort::pass_blocking, static_cast<int>(i));
    targets[i].register_get_direct_mem_ptr(this, &DmaPort::dmi, static_cast<int>(i));
    targets[i].register_transport_dbg(this, &DmaPort::debug, static_cast<int>(i));
  }
  socket.register_nb_transport_bw(this, &DmaPort::backward);
  socket.register_invalidate_direct_mem_ptr(this, &DmaPort::invalidate);
  SC_METHOD(begin_next);
  sensitive << next_;
  dont_initialize();
}

void DmaPort::start_of_simulation() {
  if (transport_ == Transport::kLoose && bound()) {
    sc_core::sc_spawn([this] { run_blocking(); }, sc_core::sc_gen_unique_name("blocking"));
  }
}

tlm_sync_enum DmaPort::forward(int input, Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::END_RESP) return end_response(payload, phase, delay);
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  if (!bound()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  const Open request{&payload, input, false};
  if (transport_ == Transport::kLoose) {
    payload.acquire();
    blocking_.push_back(request);
    blocking_event_.notify(delay);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  if (requesting_ != nullptr || !waiting_.empty()) {
    if (waiting_.full()) {  // a second request before END_REQ breaks the exclusion rule
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    waiting_.push(request);
    return tlm::TLM_ACCEPTED;
  }
  open_.push_back(request);
  requesting_ = &payload;
  const tlm_sync_enum result = socket->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) return result;
  request_ended(payload, delay);
  if (result == tlm::TLM_COMPLETED) forget(payload);
  return result;
}

void DmaPort::request_ended(const Payload& payload, const sc_time& delay) {
  if (requesting_ != &payload) return;
  requesting_ = nullptr;
  if (!waiting_.empty()) next_.notify(delay);
}

// A process of its own: an initiator must not hear of its request in the middle of another's call.
void DmaPort::begin_next() {
  if (requesting_ != nullptr || waiting_.empty()) return;
  const Open next = waiting_.front();
  waiting_.pop();
  send_waiting(next);
  next.payload->release();
}

void DmaPort::send_waiting(const Open& next) {
  Payload& payload = *next.payload;
  open_.push_back(next);
  requesting_ = &payload;
  tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm_sync_enum result = socket->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) return;
  request_ended(payload, delay);
  if (result == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    targets[static_cast<std::size_t>(next.input)]->nb_transport_bw(payload, phase, delay);
  } else {
    answer(next, result == tlm::TLM_COMPLETED, delay);
  }
}

// Hands on a response that came as a return value, as a call. `ended_outside`: nobody outside expects
// END_RESP.
void DmaPort::answer(const Open& open, bool ended_outside, sc_time& delay) {
  Payload& payload = *open.payload;
  if (Open* entry = find(payload)) entry->ended_outside = ended_outside;
  tlm_phase phase = tlm::BEGIN_RESP;
  const tlm_sync_enum result =
      targets[static_cast<std::size_t>(open.input)]->nb_transport_bw(payload, phase, delay);
  if (result != tlm::TLM_COMPLETED && !(result == tlm::TLM_UPDATED && phase == tlm::END_RESP)) return;
  phase = tlm::END_RESP;
  end_response(payload, phase, delay);
}

tlm_sync_enum DmaPort::end_response(Payload& payload, tlm_phase& phase, sc_time& delay) {
  const Open* open = find(payload);
  const bool ended_outside = open == nullptr || open->ended_outside;
  forget(payload);
  ended_event_.notify(delay);
  return ended_outside ? tlm::TLM_COMPLETED : socket->nb_transport_fw(payload, phase, delay);
}

tlm_sync_enum DmaPort::backward(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const Open* open = find(payload);
  if (open == nullptr) return tlm::TLM_ACCEPTED;
  const auto input = static_cast<std::size_t>(open->input);
  const bool response = phase == tlm::BEGIN_RESP;
  request_ended(payload, delay);  // BEGIN_RESP implies END_REQ
  const tlm_sync_enum result = targets[input]->nb_transport_bw(payload, phase, delay);
  const bool ended = result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP);
  if (response && ended) forget(payload);
  return result;
}

// Loosely timed: one transaction after the other, each for as long as its target says.
void DmaPort::run_blocking() {
  for (;;) {
    while (blocking_.empty()) sc_core::wait(blocking_event_);
    const Open open = blocking_.front();
    blocking_.pop_front();
    sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(*open.payload, delay);
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    open_.push_back(open);
    delay = sc_core::SC_ZERO_TIME;
    answer(open, true, delay);
    while (find(*open.payload) != nullptr) sc_core::wait(ended_event_);
    open.payload->release();
  }
}

// In the process of an initiator that waits for it itself.
void DmaPort::pass_blocking(int, Payload& payload, sc_time& delay) {
  if (bound()) {
    socket->b_transport(payload, delay);
  } else {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

DmaPort::Open* DmaPort::find(const Payload& payload) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.payload == &payload; });
  return found == open_.end() ? nullptr : &*found;
}

void DmaPort::forget(const Payload& payload) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.payload == &payload; });
  if (found == open_.end()) return;
  *found = open_.back();
  open_.pop_back();
}

bool DmaPort::dmi(int, Payload& payload, tlm::tlm_dmi& region) {
  return bound() && socket->get_direct_mem_ptr(payload, region);
}

unsigned DmaPort::debug(int, Payload& payload) {
  return bound() ? socket->transport_dbg(payload) : 0;
}

void DmaPort::invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) {
  for (auto& target : targets) {
    if (target.get_base_port().size() != 0) target->invalidate_direct_mem_ptr(begin, end);
  }
}

}  // namespace weft::host
