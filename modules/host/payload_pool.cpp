#include "host/payload_pool.h"

namespace weft::host {

tlm::tlm_generic_payload& PayloadPool::copy_of(const tlm::tlm_generic_payload& payload) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Pooled>());
    all_.back()->set_mm(this);
    free_.reserve(all_.size());
    free_.push_back(all_.back().get());
  }
  Pooled& copy = *free_.back();
  free_.pop_back();
  const auto bytes = [](std::vector<unsigned char>& to, const unsigned char* from, unsigned count) {
    to.assign(from, from + (from == nullptr ? 0 : count));
    return from == nullptr ? nullptr : to.data();
  };
  copy.set_command(payload.get_command());
  copy.set_address(payload.get_address());
  copy.set_data_ptr(bytes(copy.data, payload.get_data_ptr(), payload.get_data_length()));
  copy.set_data_length(payload.get_data_length());
  copy.set_streaming_width(payload.get_streaming_width());
  copy.set_byte_enable_ptr(
      bytes(copy.enables, payload.get_byte_enable_ptr(), payload.get_byte_enable_length()));
  copy.set_byte_enable_length(payload.get_byte_enable_length());
  copy.set_dmi_allowed(false);
  copy.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  copy.acquire();
  return copy;
}

void PayloadPool::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  free_.push_back(static_cast<Pooled*>(payload));
}

}  // namespace weft::host
