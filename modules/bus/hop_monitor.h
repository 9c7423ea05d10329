// Stands on a hop and checks the TLM-2.0 base protocol there: every phase of every transaction, in zero time.
//
//   initiator.socket.bind(monitor.target);
//   monitor.initiator.bind(target.socket);
//   ...
//   monitor.check_complete();                  // at the end: nothing open, bytes out equal bytes in
//   EXPECT_TRUE(monitor.violations().empty());
//
// The monitor changes nothing and can stay on a hop for good; it costs a table lookup and a comparison of the
// data per call. Its rules are in hop_checks.h.
#ifndef WEFT_BUS_HOP_MONITOR_H
#define WEFT_BUS_HOP_MONITOR_H

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>
#include <tlm>

#include "bus/hop_checks.h"

namespace weft {

template <unsigned kBusWidth>
class BasicHopMonitor final : public sc_core::sc_module, public HopChecks {
 public:
  tlm_utils::passthrough_target_socket<BasicHopMonitor, kBusWidth> target;
  tlm_utils::simple_initiator_socket<BasicHopMonitor, kBusWidth> initiator;

  explicit BasicHopMonitor(sc_core::sc_module_name name)
      : sc_module(name), HopChecks(sc_module::name()), target("target"), initiator("initiator") {
    target.register_nb_transport_fw(this, &BasicHopMonitor::forward);
    target.register_b_transport(this, &BasicHopMonitor::blocking);
    target.register_get_direct_mem_ptr(this, &BasicHopMonitor::dmi);
    target.register_transport_dbg(this, &BasicHopMonitor::debug);
    initiator.register_nb_transport_bw(this, &BasicHopMonitor::backward);
    initiator.register_invalidate_direct_mem_ptr(this, &BasicHopMonitor::invalidate);
  }

 private:
  using Time = sc_core::sc_time;

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, Time& delay) {
    return HopChecks::forward(payload, phase, delay);
  }
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, Time& delay) {
    return HopChecks::backward(payload, phase, delay);
  }
  void blocking(Payload& payload, Time& delay) { HopChecks::blocking(payload, delay); }
  bool dmi(Payload& payload, tlm::tlm_dmi& region) { return HopChecks::dmi(payload, region); }
  unsigned debug(Payload& payload) { return HopChecks::debug(payload); }
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) { target->invalidate_direct_mem_ptr(begin, end); }

  tlm::tlm_sync_enum pass_forward(Payload& payload, tlm::tlm_phase& phase, Time& delay) override {
    return initiator->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum pass_backward(Payload& payload, tlm::tlm_phase& phase, Time& delay) override {
    return target->nb_transport_bw(payload, phase, delay);
  }
  void pass_blocking(Payload& payload, Time& delay) override { initiator->b_transport(payload, delay); }
  bool pass_dmi(Payload& payload, tlm::tlm_dmi& region) override {
    return initiator->get_direct_mem_ptr(payload, region);
  }
  unsigned pass_debug(Payload& payload) override { return initiator->transport_dbg(payload); }
};

using HopMonitor = BasicHopMonitor<32>;

}  // namespace weft

#endif
