// Configuration of the GPU's host side.
#ifndef WEFT_HOST_CONFIG_H
#define WEFT_HOST_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::host {

// How dma_socket calls its target. kApproximate: nb_transport_fw, several transactions under way. kLoose:
// b_transport, one after the other; for targets that know nothing else.
enum class Transport : std::uint8_t { kApproximate, kLoose };

struct Config {
  std::uint64_t queues = 4;
  std::uint64_t register_cycles = 4;
  std::uint64_t requests = 8;
  std::uint64_t burst_bytes = 128;
  std::uint64_t outstanding = 16;
  std::uint64_t dma_slots = 16;
  std::uint64_t poll_cycles = 200;
  Transport dma_transport = Transport::kApproximate;
  bool tolerant = false;
  bool functional = false;

  void describe(config::Visitor& v);
  // Throws InputError unless burst_bytes is a power of two.
  void check(const std::string& where) const;
};

}  // namespace weft::host

#endif
