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

// Writes wait in places of their own. The channel serves reads until more than `high` writes wait, or no read
// does. It then serves writes until fewer than `low` are left and a read waits.
struct WriteDrain {
  std::uint64_t queue = 0;  // places for writes; 0: reads and writes share one queue
  std::uint64_t high = 25, low = 7;
  bool on() const { return queue != 0; }
  void describe(config::Visitor& v);
};

struct SchedulerConfig {
  std::uint64_t queue_size = 64;
  WriteDrain write_drain;
  PartChoice<RequestOrder> order{"fr_fcfs"};
  PartChoice<PagePolicy> page_policy{"open"};
  Refresh refresh = Refresh::kAllBanks;
  std::uint64_t bank_groups = 4;      // of a pseudo-channel
  std::uint64_t pseudo_channels = 1;  // parts of the channel with a data bus each, and commands in common
  bool dual_command = false;          // a row command and a column command per cycle
  std::uint64_t activate_cycles = 1;  // of the command bus that an activate takes
  Timing timing;

  void describe(config::Visitor& v);
  // Requests that can wait in the scheduler.
  std::uint64_t places() const { return queue_size + write_drain.queue; }
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
