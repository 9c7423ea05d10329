#include "bus/target_port.h"

#include <utility>

namespace weft::bus {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

template <class Pace>
BasicTargetPort<Pace>::BasicTargetPort(Socket& socket, Listener& listener, const Pace& pace, unsigned index)
    : initiator_(socket.get_base_port()), listener_(listener), pace_(pace), index_(index) {
  socket.get_base_export().bind(*this);
}

template <class Pace>
tlm_sync_enum BasicTargetPort<Pace>::nb_transport_fw(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) return begin_request(payload, phase, delay);
  if (phase != tlm::END_RESP) return tlm::TLM_ACCEPTED;
  end_response(payload, delay);
  pace_.wake_at(pace_.ready(delay));
  return tlm::TLM_COMPLETED;
}

template <class Pace>
tlm_sync_enum BasicTargetPort<Pace>::begin_request(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (state_.request.payload != nullptr) {  // a second request before END_REQ breaks the exclusion rule
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  const Time ready = pace_.ready(delay);
  switch (listener_.request(index_, payload, ready, delay)) {
    case Verdict::kCompleted:
      return tlm::TLM_COMPLETED;
    case Verdict::kWithheld:
      payload.acquire();
      state_.request = {&payload, ready};
      return tlm::TLM_ACCEPTED;
    case Verdict::kTaken:
      break;
  }
  payload.acquire();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

template <class Pace>
void BasicTargetPort<Pace>::end_request() {
  Payload& payload = *state_.request.payload;
  state_.request = {};
  tlm_phase phase = tlm::END_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  initiator_->nb_transport_bw(payload, phase, delay);
}

template <class Pace>
void BasicTargetPort<Pace>::respond(Payload& payload) {
  state_.responding = &payload;
  tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm_sync_enum result = initiator_->nb_transport_bw(payload, phase, delay);
  if (result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    end_response(payload, delay);
  }
}

// Not of a transaction that a reset has forgotten.
template <class Pace>
void BasicTargetPort<Pace>::end_response(const Payload& payload, const sc_time& delay) {
  if (state_.responding != &payload) return;
  state_.usable_from = pace_.free(delay);
  std::exchange(state_.responding, nullptr)->release();
}

template <class Pace>
void BasicTargetPort<Pace>::reset() {
  for (Payload* payload : {state_.request.payload, state_.responding}) {
    if (payload != nullptr) payload->release();
  }
  state_ = {};
}

template <class Pace>
void BasicTargetPort<Pace>::b_transport(Payload& payload, sc_time& delay) {
  listener_.blocking(index_, payload, delay);
}

template <class Pace>
bool BasicTargetPort<Pace>::get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& region) {
  return listener_.dmi(index_, payload, region);
}

template <class Pace>
unsigned BasicTargetPort<Pace>::transport_dbg(Payload& payload) {
  if (payload.get_data_ptr() == nullptr) return 0;  // there is nowhere to move bytes from or to
  return listener_.debug(index_, payload);
}

template class BasicTargetPort<EdgePace>;
template class BasicTargetPort<EventPace>;

}  // namespace weft::bus
