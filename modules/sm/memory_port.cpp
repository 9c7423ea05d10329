#include "sm/memory_port.h"

namespace weft::sm {

MemoryPort::MemoryPort(tlm::tlm_initiator_socket<32>& socket, std::uint64_t answers,
                       const bus::EdgePace& pace, Listener& listener)
    : listener_(listener), port_(socket, *this, pace), state_(answers) {}

bool MemoryPort::response(unsigned, Payload& payload, Cycle ready) {
  if (state_.answers.full()) return false;
  take(payload, ready);
  return true;
}

void MemoryPort::take(Payload& payload, Cycle ready) {
  if (listener_.memory_answered(payload)) {
    const TransactionOrigin& origin = *origin_of(payload);
    state_.answers.push({origin.tag, payload.get_address(), ready, origin.issued_ps, origin.stages});
  }
  payload.release();
}

void MemoryPort::take_answer(Cycle now) {
  state_.answers.pop();
  if (port_.withheld() == nullptr) return;
  take(*port_.withheld()->payload, now + 1);
  port_.end_response();
}

void MemoryPort::reset() {
  port_.reset();
  state_ = State(state_.answers.capacity());  // transactions under way were dropped by all who had them
}

}  // namespace weft::sm
