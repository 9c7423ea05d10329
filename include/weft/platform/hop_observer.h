// A module of one's own on a hop of the GPU: a protocol checker, a tracer, an ECC, a firewall; or one that
// takes the place of the hop's target.
//
//   struct Tracer final : weft::HopObserver { ... };   // a TLM module with a socket to each side
//   weft::Gpu::Options options;
//   options.observe("hop_sm*", [](const weft::Hop& hop) { return std::make_unique<Tracer>(hop.name.c_str());
//   });
//
// What the transactions of an observed hop carry stands still while they are under way, and time is what it
// is without observers, if the observer passes everything on at once. Hops that nobody observes carry no
// data.
//
// A replacement answers transactions itself, by nb_transport: a memory controller of one's own, as a model or
// as RTL (signal_hop.h).
//
//   options.replace("hop_dram*", [](const weft::Hop& hop) { return std::make_unique<Controller>(hop); });
//
// It stands behind all observers and monitors of its hop, one on a hop. `initiator_socket` leads to the
// replaced target, which serves the calls that take no time: direct access (DMI) and debug, and b_transport
// if the replacement passes it on. So the image of device memory stays where it is: instructions read and
// write it when they issue, and the replacement decides when their results may be used. A transaction that
// comes from outside the GPU (through the aperture, or a copy) has no effect yet when it arrives. The
// replacement fills the data of such a read, and writes those of such a write to the image by debug.
#ifndef WEFT_PLATFORM_HOP_OBSERVER_H
#define WEFT_PLATFORM_HOP_OBSERVER_H

#include <tlm>

#include "weft/platform/hop_observation.h"

namespace weft {

class HopObserver {
 public:
  virtual ~HopObserver() = default;
  // To the side that sends requests, and to the side that answers them.
  virtual tlm::tlm_base_target_socket<32>& target_socket() = 0;
  virtual tlm::tlm_base_initiator_socket<32>& initiator_socket() = 0;
  // The GPU is reset: what is under way is forgotten.
  virtual void reset() {}
};

}  // namespace weft

#endif
