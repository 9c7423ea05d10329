// Which hops of the GPU are observed, and by what (hop_observer.h); without TLM.
#ifndef WEFT_PLATFORM_HOP_OBSERVATION_H
#define WEFT_PLATFORM_HOP_OBSERVATION_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace weft {

class HopObserver;

// hop_sm0, hop_sm1, ...         SM to crossbar; addresses are offsets into device memory
// hop_l2_0, hop_l2_1, ...       crossbar to L2 bank
// hop_dram0, hop_dram1, ...     L2 bank (without L2: crossbar) to memory channel
// hop_host                      host interface to crossbar
// hop_system                    crossbar to the port to system memory; addresses are system memory's
// hop_carve_out_0, ...          in place of hop_dram, where device memory lies in system memory
struct Hop {
  std::string name;
  std::uint64_t memory_bytes = 0;  // behind it; 0: not known
};

// Called during construction of the GPU. nullptr: not on this hop.
using HopObserverFactory = std::function<std::unique_ptr<HopObserver>(const Hop&)>;

// Which hops: a name in which * stands for any characters, ? for one and [...] for one of several.
struct HopObservation {
  std::string hops;
  HopObserverFactory make;
  bool data = true;  // they look at what transactions carry
};

}  // namespace weft

#endif
