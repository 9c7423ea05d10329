// Configuration of the way to system memory.
#ifndef WEFT_SYSTEM_PORT_SYSTEM_PORT_CONFIG_H
#define WEFT_SYSTEM_PORT_SYSTEM_PORT_CONFIG_H

#include <cstdint>

#include "weft/common/config_visitor.h"

namespace weft::system_port {

// How a write goes out that leaves some bytes between its first and its last as they are.
enum class PartialWrites : std::uint8_t {
  kSplit,       // a transaction for each run of bytes, which every target understands
  kByteEnables  // one transaction with byte enables
};

struct Config {
  std::uint64_t queue = 8;         // requests that wait
  std::uint64_t outstanding = 16;  // transactions under way outside
  std::uint64_t latency = 4;       // interconnect cycles from arrival to departure
  PartialWrites partial_writes = PartialWrites::kSplit;

  void describe(config::Visitor& v);
};

}  // namespace weft::system_port

#endif
