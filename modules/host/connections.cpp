#include "host/connections.h"

namespace weft::host {

void Unbound::before_end_of_elaboration() {
  auto& to_host = connections_.host_socket.get_base_port();
  auto& to_memory = connections_.dma_socket.get_base_port();
  connections_.host_is_unbound = to_host.bind_count() == 0;
  connections_.dma_is_unbound = to_memory.bind_count() == 0;
  if (connections_.host_is_unbound) to_host.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  if (connections_.dma_is_unbound) to_memory.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

tlm::tlm_sync_enum Unbound::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                            sc_core::sc_time&) {
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
}

void Unbound::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

bool Unbound::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& region) {
  region.init();
  return false;
}

}  // namespace weft::host
