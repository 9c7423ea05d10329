#ifndef WEFT_RUNTIME_HOST_LINK_H
#define WEFT_RUNTIME_HOST_LINK_H

namespace weft::runtime {

// The link between a GPU and the host's memory.
// The defaults are of the order of PCI Express 4.0 with 16 lanes.
struct HostLink {
  double latency_ns = 600;
  double bytes_per_ns = 24;
};

}  // namespace weft::runtime

#endif
