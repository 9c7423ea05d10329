// A module of one's own on a hop of the GPU: a protocol checker, a tracer, an ECC, a firewall.
//
//   struct Tracer final : weft::HopObserver { ... };   // a TLM module with a socket to each side
//   weft::Gpu::Options options;
//   options.observe("hop_sm*", [](const weft::Hop& hop) { return std::make_unique<Tracer>(hop.name.c_str());
//   });
//
// What the transactions of an observed hop carry stands still while they are under way, and time is what it
// is without observers, if the observer passes everything on at once. Hops that nobody observes carry no
// data.
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
