#include "bus/initiator_port.h"

namespace weft::bus {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

template <class Pace>
void BasicInitiatorPort<Pace>::Listener::invalidate(unsigned, sc_dt::uint64, sc_dt::uint64) {}

template <class Pace>
BasicInitiatorPort<Pace>::BasicInitiatorPort(Socket& socket, Listener& listener, const Pace& pace,
                                             unsigned index)
    : target_(socket.get_base_port()), listener_(listener), pace_(pace), index_(index) {
  socket.get_base_export().bind(*this);
}

template <class Pace>
void BasicInitiatorPort<Pace>::send(Payload& payload) {
  state_.requesting = &payload;
  tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  switch (target_->nb_transport_fw(payload, phase, delay)) {
    case tlm::TLM_ACCEPTED:
      return;
    case tlm::TLM_UPDATED:
      end_request(payload, delay);
      if (phase == tlm::BEGIN_RESP) take_returned(payload, delay);
      return;
    case tlm::TLM_COMPLETED:
      take_completed(payload, delay);
  }
}

template <class Pace>
void BasicInitiatorPort<Pace>::end_request(const Payload& payload, const sc_time& delay) {
  if (state_.requesting != &payload) return;
  state_.requesting = nullptr;
  state_.usable_from = pace_.free(delay);
}

// Without a place for the response the request stays open: the target could complete the next one too.
template <class Pace>
void BasicInitiatorPort<Pace>::take_completed(Payload& payload, const sc_time& delay) {
  const Time ready = pace_.ready(delay);
  if (listener_.response(index_, payload, ready)) return end_request(payload, delay);
  payload.acquire();
  state_.completed = {&payload, ready};
}

// BEGIN_RESP as return value: END_RESP is a call of its own.
template <class Pace>
void BasicInitiatorPort<Pace>::take_returned(Payload& payload, sc_time& delay) {
  const Time ready = pace_.ready(delay);
  payload.acquire();  // the listener may be done with it before END_RESP
  if (!listener_.response(index_, payload, ready)) {
    state_.response = {&payload, ready};
    return;
  }
  tlm_phase phase = tlm::END_RESP;
  target_->nb_transport_fw(payload, phase, delay);
  payload.release();
}

template <class Pace>
tlm_sync_enum BasicInitiatorPort<Pace>::nb_transport_bw(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  end_request(payload, delay);  // BEGIN_RESP implies END_REQ
  const Time ready = pace_.ready(delay);
  pace_.wake_at(ready);
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  if (state_.response.payload != nullptr)
    return tlm::TLM_ACCEPTED;  // a second response breaks the exclusion rule
  const bool taken = state_.completed.payload == nullptr && listener_.response(index_, payload, ready);
  if (taken) return tlm::TLM_COMPLETED;
  payload.acquire();
  state_.response = {&payload, ready};
  return tlm::TLM_ACCEPTED;
}

template <class Pace>
void BasicInitiatorPort<Pace>::end_response() {
  if (state_.completed.payload != nullptr) {
    Payload& payload = *state_.completed.payload;
    state_.completed = {};
    end_request(payload, sc_core::SC_ZERO_TIME);
    payload.release();
    return;
  }
  Payload& payload = *state_.response.payload;
  state_.response = {};
  tlm_phase phase = tlm::END_RESP;
  sc_time delay = sc_core::SC_ZERO_TIME;
  target_->nb_transport_fw(payload, phase, delay);
  payload.release();
}

template <class Pace>
void BasicInitiatorPort<Pace>::reset() {
  for (const Withheld& withheld : {state_.response, state_.completed}) {
    if (withheld.payload != nullptr) withheld.payload->release();
  }
  state_ = {};
}

template <class Pace>
void BasicInitiatorPort<Pace>::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  listener_.invalidate(index_, first, last);
}

template class BasicInitiatorPort<EdgePace>;
template class BasicInitiatorPort<EventPace>;

}  // namespace weft::bus
