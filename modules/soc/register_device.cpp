#include "soc/register_device.h"

#include <cstring>

namespace weft::soc {

using sc_core::sc_time;

RegisterDevice::RegisterDevice(sc_core::sc_module_name name, const sc_time& latency)
    : sc_module(name), socket("socket"), latency_(latency) {
  socket.register_nb_transport_fw(this, &RegisterDevice::forward);
  socket.register_b_transport(this, &RegisterDevice::blocking);
  socket.register_transport_dbg(this, &RegisterDevice::debug);
}

tlm::tlm_response_status RegisterDevice::access(tlm::tlm_generic_payload& payload, const sc_time& at) {
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_data_length() != 4 || payload.get_streaming_width() < 4)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_address() % 4 != 0) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  std::uint32_t value = 0;
  Access result = Access::kNotAllowed;
  if (payload.is_read()) {
    result = read(payload.get_address(), value, at, false);
    if (result == Access::kDone) std::memcpy(payload.get_data_ptr(), &value, 4);
  } else if (payload.is_write()) {
    std::memcpy(&value, payload.get_data_ptr(), 4);
    result = write(payload.get_address(), value, at);
  }
  switch (result) {
    case Access::kDone:
      return tlm::TLM_OK_RESPONSE;
    case Access::kNoRegister:
      return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    default:
      return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
}

void RegisterDevice::blocking(tlm::tlm_generic_payload& payload, sc_time& delay) {
  delay += latency_;
  payload.set_response_status(access(payload, sc_core::sc_time_stamp() + delay));
}

tlm::tlm_sync_enum RegisterDevice::forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                           sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  blocking(payload, delay);
  return tlm::TLM_COMPLETED;
}

unsigned RegisterDevice::debug(tlm::tlm_generic_payload& payload) {
  // Writes would have side effects, so only reads are answered, register by register.
  if (!payload.is_read() || payload.get_address() % 4 != 0 || payload.get_data_ptr() == nullptr) return 0;
  unsigned moved = 0;
  while (moved + 4 <= payload.get_data_length()) {
    std::uint32_t value = 0;
    if (read(payload.get_address() + moved, value, sc_core::sc_time_stamp(), true) != Access::kDone) break;
    std::memcpy(payload.get_data_ptr() + moved, &value, 4);
    moved += 4;
  }
  return moved;
}

}  // namespace weft::soc
