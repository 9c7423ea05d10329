#include "common/memory_transaction.h"

namespace weft {

TransactionPool::~TransactionPool() {
  // A payload deletes its extensions, and with them its origin.
  for (tlm::tlm_generic_payload* payload : all_) delete payload;
}

tlm::tlm_generic_payload& TransactionPool::acquire(tlm::tlm_command command, std::uint64_t address,
                                                   unsigned char* data, unsigned bytes) {
  if (idle_.empty()) {
    auto* payload = new tlm::tlm_generic_payload(this);
    payload->set_extension(new TransactionOrigin);
    all_.push_back(payload);
    idle_.reserve(all_.capacity());  // `free` then never allocates
    idle_.push_back(payload);
  }
  tlm::tlm_generic_payload& payload = *idle_.back();
  idle_.pop_back();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.acquire();
  return payload;
}

void TransactionPool::free(tlm::tlm_generic_payload* payload) {
  payload->reset();  // drops extensions that others attached for the transaction's life
  payload->set_command(tlm::TLM_IGNORE_COMMAND);
  payload->set_address(0);
  payload->set_data_ptr(nullptr);
  payload->set_data_length(0);
  payload->set_streaming_width(0);
  payload->set_byte_enable_ptr(nullptr);
  payload->set_byte_enable_length(0);
  payload->set_dmi_allowed(false);
  payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  *payload->get_extension<TransactionOrigin>() = TransactionOrigin{};
  idle_.push_back(payload);
}

}  // namespace weft
