// The way out to system memory: transactions of several initiators take turns on one socket, whose target may
// know approximately timed transport or loosely timed only.
//
// Payloads go through as they are, with the bytes where their initiator keeps them. While a request is open
// outside, END_REQ of the others' is withheld; the initiator that waited longest goes next. With b_transport
// one transaction is under way at a time.
#ifndef WEFT_HOST_DMA_PORT_H
#define WEFT_HOST_DMA_PORT_H

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/ring.h"
#include "host/config.h"

namespace weft::host {

class DmaPort : public sc_core::sc_module {
 public:
  using Target = tlm_utils::passthrough_target_socket_tagged_optional<DmaPort>;
  using Socket = tlm_utils::simple_initiator_socket_optional<DmaPort>;
  SC_HAS_PROCESS(DmaPort);

  sc_core::sc_vector<Target> targets;
  Socket socket;

  DmaPort(sc_core::sc_module_name name, Transport transport, unsigned initiators);

  // Whether there is something outside; without, every request gets an address error.
  bool bound() const { return socket.get_base_port().size() != 0; }

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Open {
    Payload* payload = nullptr;
    int input = 0;
    bool ended_outside = false;  // answered by TLM_COMPLETED
  };

  void start_of_simulation() override;
  tlm::tlm_sync_enum forward(int input, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void pass_blocking(int input, Payload& payload, sc_core::sc_time& delay);
  bool dmi(int input, Payload& payload, tlm::tlm_dmi& region);
  unsigned debug(int input, Payload& payload);
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end);
  tlm::tlm_sync_enum end_response(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void begin_next();
  void send_waiting(const Open& next);
  void answer(const Open& open, bool ended_outside, sc_core::sc_time& delay);
  void request_ended(const Payload& payload, const sc_core::sc_time& delay);
  void run_blocking();
  Open* find(const Payload& payload);
  void forget(const Payload& payload);

  const Transport transport_;
  std::vector<Open> open_;               // from BEGIN_REQ to the end of the response; few
  Ring<Open> waiting_;                   // END_REQ withheld; at most one per initiator
  std::deque<Open> blocking_;            // for run_blocking
  const Payload* requesting_ = nullptr;  // outside
  sc_core::sc_event next_, blocking_event_, ended_event_;
};

}  // namespace weft::host

#endif
