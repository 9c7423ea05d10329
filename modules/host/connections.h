// The GPU's sockets and ports, as a platform sees and binds them. They have the place of their owner in the
// hierarchy of SystemC: those of weft::Gpu are "gpu.host_socket" and so on.
//
// The sockets have the types that everybody uses, so that any bus can bind them. SystemC demands that such
// sockets are bound. `Unbound` therefore stands at those which the platform has left unbound.
#ifndef WEFT_HOST_CONNECTIONS_H
#define WEFT_HOST_CONNECTIONS_H

#include <cstddef>
#include <systemc>
#include <tlm>

namespace weft::host {

struct Connections {
  using HostSocket = tlm::tlm_target_socket<>;
  using DmaSocket = tlm::tlm_initiator_socket<>;
  using InterruptPort =
      sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  using ResetPort = sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  explicit Connections(std::size_t queues) : queue_irq("queue_irq", queues) {}

  HostSocket host_socket{"host_socket"};
  DmaSocket dma_socket{"dma_socket"};
  InterruptPort irq{"irq"};                     // level: IRQ_STATUS & IRQ_ENABLE
  sc_core::sc_vector<InterruptPort> queue_irq;  // the same of each queue
  ResetPort reset_in{"reset_in"};               // level, active high; the GPU is reset at its rise

  // Whether the platform has bound the sockets.
  bool host_bound() const { return !host_is_unbound && host_socket.get_base_port().size() != 0; }
  bool dma_bound() const { return !dma_is_unbound && dma_socket.get_base_port().size() != 0; }
  // `Unbound` stands there.
  bool host_is_unbound = false, dma_is_unbound = false;
};

// Binds what is unbound when the platform has had its last chance, and answers what comes nevertheless. To be
// constructed in before_end_of_elaboration: SystemC then calls this module's own after all others'.
class Unbound final : public sc_core::sc_module,
                      private tlm::tlm_fw_transport_if<>,
                      private tlm::tlm_bw_transport_if<> {
 public:
  Unbound(sc_core::sc_module_name name, Connections& connections)
      : sc_module(name), connections_(connections) {}

 private:
  void before_end_of_elaboration() override;

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& region) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  Connections& connections_;
};

}  // namespace weft::host

#endif
