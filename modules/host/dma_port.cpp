#include "host/dma_port.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace weft::host {

using sc_core::sc_time;

DmaPort::DmaPort(sc_core::sc_module_name name, const Config& config, unsigned initiators,
                 Connections& connections)
    : sc_module(name),
      targets("target", initiators),
      connections_(connections),
      socket_(connections.dma_socket),
      transport_(config.dma_transport),
      tolerant_(config.tolerant),
      pace_(work_event_),
      inputs_(bus::EventTargetPort::on_all(targets, *this, pace_)),
      outside_(socket_, *this, pace_),
      waiting_(initiators) {
  SC_METHOD(work);
  sensitive << work_event_;
  dont_initialize();
}

void DmaPort::start_of_simulation() {
  if (transport_ == Transport::kLoose && bound()) {
    sc_core::sc_spawn([this] { run_blocking(); }, sc_core::sc_gen_unique_name("blocking"));
  }
}

bus::Verdict DmaPort::request(unsigned input, Payload& payload, sc_time, sc_time& delay) {
  if (!bound()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return bus::Verdict::kCompleted;
  }
  if (transport_ == Transport::kLoose) {
    blocking_.push_back({&payload, input});
    blocking_event_.notify(delay);
    return bus::Verdict::kTaken;
  }
  if (outside_.busy() || !waiting_.empty()) {
    waiting_.push(input);
    return bus::Verdict::kWithheld;
  }
  in_call_ = true;
  const bool ended = send(payload, input);
  in_call_ = false;
  return ended ? bus::Verdict::kTaken : bus::Verdict::kWithheld;
}

// Whether the outside has ended the request at once.
bool DmaPort::send(Payload& payload, unsigned input) {
  open_.push_back({&payload, input});
  outside_.send(payload);
  return !outside_.busy();
}

bool DmaPort::response(unsigned, Payload& payload, sc_time ready) {
  if (!in_call_ && hand_on(payload, ready)) return true;
  pace_.wake_at(ready);
  return false;
}

// The response goes to whoever sent the request, if its time has come and the response before it has ended.
bool DmaPort::hand_on(Payload& payload, const sc_time& ready) {
  const auto open =
      std::find_if(open_.begin(), open_.end(), [&](const Open& other) { return other.payload == &payload; });
  if (open == open_.end()) return true;  // a target that responds twice
  bus::EventTargetPort& input = *inputs_[open->input];
  const sc_time& now = sc_core::sc_time_stamp();
  if (ready > now || !input.usable(now)) return false;
  open_.erase(open);
  end_request(input, payload);
  tolerate(payload);
  input.respond(payload);
  return true;
}

void DmaPort::work() {
  while (const bus::EventInitiatorPort::Withheld* response = outside_.withheld()) {
    if (!hand_on(*response->payload, response->ready)) {
      if (response->ready > sc_core::sc_time_stamp()) pace_.wake_at(response->ready);
      break;
    }
    outside_.end_response();
  }
  if (outside_.busy()) return;
  // The last one sent, if the outside has ended it by a call.
  if (!open_.empty()) end_request(*inputs_[open_.back().input], *open_.back().payload);
  while (!outside_.busy() && !waiting_.empty()) {
    const unsigned input = waiting_.front();
    waiting_.pop();
    Payload& payload = *inputs_[input]->withheld()->payload;
    if (send(payload, input)) end_request(*inputs_[input], payload);
  }
}

// Unless it has ended.
void DmaPort::end_request(bus::EventTargetPort& input, const Payload& payload) {
  if (input.withheld() != nullptr && input.withheld()->payload == &payload) input.end_request();
}

// Loosely timed: one transaction after the other, each for as long as its target says.
void DmaPort::run_blocking() {
  for (;;) {
    while (blocking_.empty()) sc_core::wait(blocking_event_);
    const Open open = blocking_.front();
    sc_time delay = sc_core::SC_ZERO_TIME;
    transport(*open.payload, delay);
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    blocking_.pop_front();
    inputs_[open.input]->respond(*open.payload);
    while (inputs_[open.input]->busy()) sc_core::wait(work_event_);
  }
}

// As a transaction of its own, which began here: the other one is an approximately timed one.
void DmaPort::transport(Payload& payload, sc_time& delay) {
  Payload& loose = copies_.copy_of(payload);
  socket_->b_transport(loose, delay);
  tolerate(loose);
  if (loose.is_read() && loose.is_response_ok())
    std::memcpy(payload.get_data_ptr(), loose.get_data_ptr(), loose.get_data_length());
  payload.set_dmi_allowed(loose.is_dmi_allowed());
  payload.set_response_status(loose.get_response_status());
  loose.release();
}

void DmaPort::tolerate(Payload& payload) {
  if (!tolerant_ || payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) return;
  warn_of_status_(std::string(socket_.name()) + ": a target sets no response status; it is taken as success");
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// In the process of an initiator that waits for it itself.
void DmaPort::blocking(unsigned, Payload& payload, sc_time& delay) {
  if (bound()) {
    socket_->b_transport(payload, delay);
    tolerate(payload);
  } else {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

bool DmaPort::dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) {
  return bound() && socket_->get_direct_mem_ptr(payload, region);
}

unsigned DmaPort::debug(unsigned, Payload& payload) {
  return bound() ? socket_->transport_dbg(payload) : 0;
}

// Of the bus master, of kernels and of a carve-out together.
void DmaPort::probes(const Probes::Scope& scope) const {
  scope.signal("transactions", Probes::kCountBits,
               [this](std::uint64_t) { return open_.size() + blocking_.size(); });
  scope.signal("waiting", Probes::kCountBits, [this](std::uint64_t) { return waiting_.size(); });
}

void DmaPort::invalidate(unsigned, sc_dt::uint64 begin, sc_dt::uint64 end) {
  for (auto& target : targets) {
    if (target.get_base_port().size() != 0) target->invalidate_direct_mem_ptr(begin, end);
  }
}

}  // namespace weft::host
