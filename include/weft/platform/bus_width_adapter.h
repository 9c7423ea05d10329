// Joins sockets of different bus widths: an initiator of one and a target of the other.
//
//   weft::BusWidthAdapter<64, 32> wide("wide");
//   cpu.socket.bind(wide.target);               // tlm_initiator_socket<64>
//   wide.initiator.bind(gpu.host_socket);       // tlm_target_socket<32>
//
// A payload's data are bytes in the order of their addresses, whatever the width, on a host of the byte order
// of what it models (IEEE 1666-2011, 14.18), which is little endian here. So all calls go through as they
// are, both ways, in no time.
#ifndef WEFT_PLATFORM_BUS_WIDTH_ADAPTER_H
#define WEFT_PLATFORM_BUS_WIDTH_ADAPTER_H

#include <systemc>
#include <tlm>

namespace weft {

template <unsigned kFrom, unsigned kTo>
class BusWidthAdapter final : public sc_core::sc_module,
                              private tlm::tlm_fw_transport_if<>,
                              private tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_target_socket<kFrom> target;
  tlm::tlm_initiator_socket<kTo> initiator;

  explicit BusWidthAdapter(sc_core::sc_module_name name)
      : sc_module(name), target("target"), initiator("initiator") {
    target.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    initiator.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }

 private:
  using Payload = tlm::tlm_generic_payload;

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return initiator->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return target->nb_transport_bw(payload, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    initiator->b_transport(payload, delay);
  }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& region) override {
    return initiator->get_direct_mem_ptr(payload, region);
  }
  unsigned transport_dbg(Payload& payload) override { return initiator->transport_dbg(payload); }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    target->invalidate_direct_mem_ptr(first, last);
  }
};

}  // namespace weft

#endif
