#include "bus/memory_transaction.h"

namespace weft {

TransactionPool::~TransactionPool() {
  // A payload deletes its extensions, and with them its origin.
  for (Pooled* payload : all_) delete payload;
}

TransactionPool::Pooled& TransactionPool::take(tlm::tlm_command command, std::uint64_t address,
                                               unsigned bytes) {
  if (idle_.empty()) {
    auto* made = new Pooled(this);
    made->set_extension(new TransactionOrigin);
    all_.push_back(made);
    idle_.reserve(all_.capacity());  // `free` then never allocates
    idle_.push_back(made);
  }
  Pooled& payload = *idle_.back();
  idle_.pop_back();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.acquire();
  return payload;
}

tlm::tlm_generic_payload& TransactionPool::acquire(tlm::tlm_command command, std::uint64_t address,
                                                   unsigned bytes) {
  Pooled& payload = take(command, address, bytes);
  if (payload.bytes.size() < bytes) payload.bytes.resize(bytes);
  payload.set_data_ptr(payload.bytes.data());
  return payload;
}

tlm::tlm_generic_payload& TransactionPool::acquire(tlm::tlm_command command, std::uint64_t address,
                                                   unsigned char* data, unsigned bytes) {
  Pooled& payload = take(command, address, bytes);
  payload.set_data_ptr(data);
  return payload;
}

void TransactionPool::enable(tlm::tlm_generic_payload& payload, const unsigned char* enables) {
  auto& pooled = static_cast<Pooled&>(payload);
  pooled.enables.assign(enables, enables + payload.get_data_length());
  payload.set_byte_enable_ptr(pooled.enables.data());
  payload.set_byte_enable_length(payload.get_data_length());
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
  payload->set_gp_option(tlm::TLM_MIN_PAYLOAD);
  payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  *payload->get_extension<TransactionOrigin>() = TransactionOrigin{};
  idle_.push_back(static_cast<Pooled*>(payload));
}

}  // namespace weft
