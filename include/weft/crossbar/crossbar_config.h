// Configuration of the interconnect between SMs and memory.
#ifndef WEFT_CROSSBAR_CROSSBAR_CONFIG_H
#define WEFT_CROSSBAR_CROSSBAR_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::crossbar {

enum class Arbitration : std::uint8_t { kRoundRobin, kOldest, kAscending };

struct Config {
  std::uint64_t flit_bytes = 32;
  std::uint64_t response_flit_bytes = 0;    // 0: flit_bytes
  std::uint64_t response_sector_bytes = 0;  // 0: a response is one packet
  bool read_reply_header = true;
  bool write_acknowledgements = true;
  std::uint64_t input_queue = 8;
  std::uint64_t output_queue = 8;
  std::uint64_t sms_per_interface = 1;
  std::uint64_t input_speedup = 1;
  bool virtual_output_queues = false;
  std::uint64_t router_latency = 4;
  Arbitration arbitration = Arbitration::kRoundRobin;

  void describe(config::Visitor& v);
  void check(const std::string& where) const;
  std::uint64_t bytes_per_response_flit() const {
    return response_flit_bytes == 0 ? flit_bytes : response_flit_bytes;
  }
};

}  // namespace weft::crossbar

#endif
