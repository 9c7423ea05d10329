#include "host/traffic.h"

namespace weft::test {

using sc_core::sc_time;

bool Traffic::run(std::function<void()> script, const sc_time& limit) {
  script_ = std::move(script);
  done_ = false;
  start_.notify(sc_core::SC_ZERO_TIME);
  const sc_time end = sc_core::sc_time_stamp() + limit;
  while (!done_ && sc_core::sc_time_stamp() < end) sc_core::sc_start(sc_time(1, sc_core::SC_US));
  return done_;
}

void Traffic::run_scripts() {
  for (;;) {
    if (done_) sc_core::wait(start_);
    script_();
    done_ = true;
  }
}

void Traffic::fill(Payload& payload, Access& access) {
  payload.access = &access;
  payload.set_command(access.command);
  payload.set_address(access.address);
  payload.set_data_ptr(access.data);
  payload.set_data_length(access.bytes);
  payload.set_streaming_width(access.streaming_width != 0 ? access.streaming_width : access.bytes);
  payload.set_byte_enable_ptr(access.enables);
  payload.set_byte_enable_length(access.enables_bytes);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

tlm::tlm_response_status Traffic::access(Access& access) {
  if (style == Style::kLoose) {
    Payload payload;
    fill(payload, access);
    sc_time delay;
    socket->b_transport(payload, delay);
    access.status = payload.get_response_status();
    access.dmi_hint = payload.is_dmi_allowed();
    sc_core::wait(delay);
    return access.status;
  }
  begin(access);
  while (open_ != 0) sc_core::wait(finished_);
  return access.status;
}

void Traffic::burst(std::vector<Access>& accesses) {
  for (Access& access : accesses) {
    if (style == Style::kLoose) {
      this->access(access);
    } else {
      begin(access);
    }
  }
  while (open_ != 0) sc_core::wait(finished_);
}

// One request is open at a time; responses may still be on their way.
void Traffic::begin(Access& access) {
  while (requesting_ != nullptr) sc_core::wait(request_ended_);
  if (idle_.empty()) {
    manager_.idle = &idle_;
    all_.push_back(new Payload);
    all_.back()->set_mm(&manager_);
    idle_.push_back(all_.back());
  }
  Payload& payload = *idle_.back();
  idle_.pop_back();
  fill(payload, access);
  payload.acquire();
  ++open_;
  requesting_ = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay;
  const auto result = socket->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) return;
  requesting_ = nullptr;
  if (result == tlm::TLM_COMPLETED) finish(payload);
}

tlm::tlm_sync_enum Traffic::backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time&) {
  auto& mine = static_cast<Payload&>(payload);
  if (requesting_ == &mine) {
    requesting_ = nullptr;
    request_ended_.notify(sc_core::SC_ZERO_TIME);
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (late_end) {
    ending_ = &mine;
    end_event_.notify(sc_time(3, sc_core::SC_NS));
    return tlm::TLM_ACCEPTED;
  }
  finish(mine);
  return tlm::TLM_COMPLETED;
}

void Traffic::end_response() {
  Payload& payload = *ending_;
  ending_ = nullptr;
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_time delay;
  socket->nb_transport_fw(payload, phase, delay);
  finish(payload);
}

void Traffic::finish(Payload& payload) {
  payload.access->status = payload.get_response_status();
  payload.access->dmi_hint = payload.is_dmi_allowed();
  payload.release();
  --open_;
  finished_.notify(sc_core::SC_ZERO_TIME);
}

std::uint32_t Traffic::read32(std::uint64_t address) {
  std::uint32_t value = 0xDEADBEEF;
  Access access;
  access.address = address;
  access.data = reinterpret_cast<unsigned char*>(&value);
  this->access(access);
  return value;
}

tlm::tlm_response_status Traffic::write32(std::uint64_t address, std::uint32_t value) {
  Access access;
  access.command = tlm::TLM_WRITE_COMMAND;
  access.address = address;
  access.data = reinterpret_cast<unsigned char*>(&value);
  return this->access(access);
}

}  // namespace weft::test
