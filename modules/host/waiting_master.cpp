#include "host/waiting_master.h"

#include <algorithm>
#include <cstring>

namespace weft::host {

WaitingMaster::WaitingMaster(sc_core::sc_module_name name, std::uint64_t burst_bytes)
    : sc_module(name), burst_bytes_(burst_bytes), port_(socket, *this, bus::EventPace(event_)) {}

tlm::tlm_response_status WaitingMaster::access(tlm::tlm_command command, std::uint64_t address,
                                               unsigned char* data, unsigned bytes) {
  tlm::tlm_generic_payload form;
  form.set_command(command);
  for (unsigned done = 0; done < bytes; done += form.get_data_length()) {
    const std::uint64_t left = burst_bytes_ - (address + done) % burst_bytes_;
    const auto part = static_cast<unsigned>(std::min<std::uint64_t>(bytes - done, left));
    form.set_address(address + done);
    form.set_data_ptr(data + done);
    form.set_data_length(part);
    form.set_streaming_width(part);
    const tlm::tlm_response_status status = transact(form);
    if (status != tlm::TLM_OK_RESPONSE) return status;
  }
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status WaitingMaster::transact(const tlm::tlm_generic_payload& form) {
  tlm::tlm_generic_payload& payload = pool_.copy_of(form);
  open_ = &payload;
  port_.send(payload);
  while (open_ != nullptr) sc_core::wait(event_);
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  if (ready_ > now) sc_core::wait(ready_ - now);
  const tlm::tlm_response_status status = payload.get_response_status();
  if (status == tlm::TLM_OK_RESPONSE && form.is_read())
    std::memcpy(form.get_data_ptr(), payload.get_data_ptr(), form.get_data_length());
  payload.release();
  return status;
}

bool WaitingMaster::response(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time ready) {
  if (&payload != open_) return true;  // a target that responds twice
  open_ = nullptr;
  ready_ = ready;
  event_.notify(sc_core::SC_ZERO_TIME);
  return true;
}

}  // namespace weft::host
