// An initiator of system memory for a process that waits for each of its accesses: the kernels that run
// without timing.
//
//   const tlm::tlm_response_status status = master.access(tlm::TLM_READ_COMMAND, address, data, bytes);
//
// Its transactions take turns with the others of dma_socket, and none crosses a multiple of `burst_bytes`.
#ifndef WEFT_HOST_WAITING_MASTER_H
#define WEFT_HOST_WAITING_MASTER_H

#include <cstdint>
#include <systemc>
#include <tlm>

#include "bus/initiator_port.h"
#include "host/payload_pool.h"

namespace weft::host {

class WaitingMaster final : public sc_core::sc_module, private bus::EventInitiatorPort::Listener {
 public:
  using Socket =
      tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  Socket socket{"socket"};

  WaitingMaster(sc_core::sc_module_name name, std::uint64_t burst_bytes);

  // From an SC_THREAD, which waits for the response; not while another one does. The first error, if any.
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                  unsigned bytes);
  // No transaction is under way.
  bool idle() const { return open_ == nullptr; }

 private:
  bool response(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time ready) override;
  tlm::tlm_response_status transact(const tlm::tlm_generic_payload& form);

  const std::uint64_t burst_bytes_;
  sc_core::sc_event event_;
  bus::EventInitiatorPort port_;
  PayloadPool pool_;
  const tlm::tlm_generic_payload* open_ = nullptr;
  sc_core::sc_time ready_;  // of the response
};

}  // namespace weft::host

#endif
