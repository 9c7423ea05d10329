// Configuration of a DRAM channel and its command scheduler.
#ifndef WEFT_DRAM_DRAM_CONFIG_H
#define WEFT_DRAM_DRAM_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"
#include "weft/dram/request_order.h"
#include "weft/dram/timing.h"

namespace weft::dram {

// Who is refreshed at a time: all banks, every t_refi, or one bank after the other, each every t_refi.
enum class Refresh : std::uint8_t { kAllBanks, kPerBank };

struct SchedulerConfig {
  std::uint64_t queue_size = 64;
  PartChoice<RequestOrder> order{"fr_fcfs"};
  PartChoice<PagePolicy> page_policy{"open"};
  Refresh refresh = Refresh::kAllBanks;
  std::uint64_t bank_groups = 4;      // of a pseudo-channel
  std::uint64_t pseudo_channels = 1;  // parts of the channel with a data bus each, and commands in common
  bool dual_command = false;          // a row command and a column command per cycle
  std::uint64_t activate_cycles = 1;  // of the command bus that an activate takes
  Timing timing;

  void describe(config::Visitor& v);
  // What a DRAM standard gives (weft/dram/standard.h).
  void describe_device(config::Visitor& v);
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

}  // namespace weft::dram

#endif
