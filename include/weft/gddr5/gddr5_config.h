// Configuration of the GDDR5 memory: how addresses map to it, the command scheduler, the channel.
#ifndef WEFT_GDDR5_GDDR5_CONFIG_H
#define WEFT_GDDR5_GDDR5_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"
#include "weft/gddr5/request_order.h"
#include "weft/gddr5/timing.h"

namespace weft::gddr5 {

// What the names mean is in gddr5/address_map.h.
struct MapConfig {
  std::uint64_t channels = 6;
  std::uint64_t l2_banks = 1;
  std::uint64_t interleave_bytes = 256;
  std::uint64_t banks = 16;
  std::uint64_t row_bytes = 2048;
  std::uint64_t bank_interleave_bytes = 2048;
  std::uint64_t alternating_banks = 1;
  bool bank_xor = false;

  void describe(config::Visitor& v);
  // Throws InputError unless the three byte sizes are powers of two with interleave_bytes <=
  // bank_interleave_bytes <= row_bytes, alternating_banks divides banks, and banks is a power of two where
  // bank_xor asks for it.
  void check(const std::string& where) const;
};

struct SchedulerConfig {
  std::uint64_t queue_size = 64;
  PartChoice<RequestOrder> order{"fr_fcfs"};
  PartChoice<PagePolicy> page_policy{"open"};
  std::uint64_t bank_groups = 4;
  Timing timing;

  void describe(config::Visitor& v);
  void check(const std::string& where) const;
};

struct ChannelConfig {
  SchedulerConfig scheduler;
  std::uint64_t extra_latency = 0;
  std::uint64_t response_queue = 16;
  std::uint64_t atomic_interval = 1;

  void describe(config::Visitor& v);
  void check(const std::string& where) const;
};

}  // namespace weft::gddr5

#endif
