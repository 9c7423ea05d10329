// Which hops of the GPU are observed, and by what (hop_observer.h), or whose target is replaced; without TLM.
#ifndef WEFT_PLATFORM_HOP_OBSERVATION_H
#define WEFT_PLATFORM_HOP_OBSERVATION_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace weft {

class HopObserver;

// Device memory is interleaved over hops to L2 banks and to memory: chunk c of it lies behind hop number
// c mod `parts`. `local` counts the bytes behind one hop from 0 on, without gaps, as a controller of its own
// sees them; `global` is the inverse.
struct HopAddresses {
  std::uint64_t base = 0;         // the first byte; 0 for device memory
  std::uint64_t chunk_bytes = 0;  // 0: everything lies behind this hop
  std::uint64_t parts = 1;
  std::uint64_t part = 0;  // this hop's number

  // Whether the bytes lie behind this hop, all in one chunk. False for 0 bytes.
  bool within(std::uint64_t address, std::uint64_t bytes) const {
    if (address < base || bytes == 0) return false;
    const std::uint64_t offset = address - base;
    if (chunk_bytes == 0) return true;
    return bytes <= chunk_bytes && offset % chunk_bytes + bytes <= chunk_bytes &&
           offset / chunk_bytes % parts == part;
  }
  std::uint64_t local(std::uint64_t address) const {
    const std::uint64_t offset = address - base;
    return chunk_bytes == 0 ? offset : offset / chunk_bytes / parts * chunk_bytes + offset % chunk_bytes;
  }
  std::uint64_t global(std::uint64_t local) const {
    if (chunk_bytes == 0) return base + local;
    return base + (local / chunk_bytes * parts + part) * chunk_bytes + local % chunk_bytes;
  }
};

// hop_sm0, hop_sm1, ...         SM to crossbar; addresses are offsets into device memory
// hop_l2_0, hop_l2_1, ...       crossbar to L2 bank
// hop_dram0, hop_dram1, ...     L2 bank (without L2: crossbar) to memory channel
// hop_host                      host interface to crossbar
// hop_system                    crossbar to the port to system memory; addresses are system memory's
// hop_carve_out_0, ...          in place of hop_dram, where device memory lies in system memory
struct Hop {
  std::string name;
  std::uint64_t memory_bytes = 0;  // behind all hops of its kind together; 0: not known
  HopAddresses addresses = {};     // which of them are behind this one
};

// Called during construction of the GPU. nullptr: not on this hop.
using HopObserverFactory = std::function<std::unique_ptr<HopObserver>(const Hop&)>;

// Which hops: a name in which * stands for any characters, ? for one and [...] for one of several.
struct HopObservation {
  std::string hops;
  HopObserverFactory make;
  bool data = true;       // they look at what transactions carry
  bool replaces = false;  // they take the place of the hop's target (hop_observer.h)
};

}  // namespace weft

#endif
