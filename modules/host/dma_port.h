// The way out to system memory: transactions of several initiators take turns on one socket, whose target may
// know approximately timed transport or loosely timed only.
//
// Payloads go through as they are, with the bytes where their initiator keeps them. With b_transport a copy
// of payload and bytes goes out, one at a time; it has a memory manager, so that a target may keep it beyond
// the call (`acquire`). While a request is open outside, END_REQ of the others' is withheld; the initiator
// that waited longest goes next.
#ifndef WEFT_HOST_DMA_PORT_H
#define WEFT_HOST_DMA_PORT_H

#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/initiator_port.h"
#include "bus/target_port.h"
#include "common/probes.h"
#include "common/ring.h"
#include "host/connections.h"
#include "host/payload_pool.h"
#include "host/warn_once.h"
#include "weft/host/config.h"

namespace weft::host {

class DmaPort : public sc_core::sc_module,
                private bus::EventTargetPort::Listener,
                private bus::EventInitiatorPort::Listener {
 public:
  using Target = tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  SC_HAS_PROCESS(DmaPort);

  sc_core::sc_vector<Target> targets;

  // Sends through `connections.dma_socket`.
  DmaPort(sc_core::sc_module_name name, const Config& config, unsigned initiators, Connections& connections);

  // Whether there is something outside; without, every request gets an address error.
  bool bound() const { return connections_.dma_bound(); }
  void probes(const Probes::Scope& scope) const;

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Open {
    Payload* payload = nullptr;
    unsigned input = 0;
  };

  void start_of_simulation() override;
  bus::Verdict request(unsigned input, Payload& payload, sc_core::sc_time ready,
                       sc_core::sc_time& delay) override;
  void blocking(unsigned input, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned input, Payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned input, Payload& payload) override;
  bool response(unsigned, Payload& payload, sc_core::sc_time ready) override;
  void invalidate(unsigned, sc_dt::uint64 begin, sc_dt::uint64 end) override;

  void work();
  bool send(Payload& payload, unsigned input);
  bool hand_on(Payload& payload, const sc_core::sc_time& ready);
  static void end_request(bus::EventTargetPort& input, const Payload& payload);
  void run_blocking();
  void transport(Payload& payload, sc_core::sc_time& delay);
  void tolerate(Payload& payload);

  Connections& connections_;
  Connections::DmaSocket& socket_;
  const Transport transport_;
  const bool tolerant_;
  sc_core::sc_event work_event_, blocking_event_;
  const bus::EventPace pace_;
  const std::vector<std::unique_ptr<bus::EventTargetPort>> inputs_;
  bus::EventInitiatorPort outside_;
  std::vector<Open> open_;     // sent outside and not answered, in this order; few
  Ring<unsigned> waiting_;     // inputs whose request is withheld and not sent yet
  std::deque<Open> blocking_;  // for run_blocking; the first is under way
  PayloadPool copies_;         // what run_blocking sends
  WarnOnce warn_of_status_;
  bool in_call_ = false;  // of an initiator, which must not hear of its request in the middle of it
};

}  // namespace weft::host

#endif
