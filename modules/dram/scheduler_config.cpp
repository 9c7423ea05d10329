// Keys of a channel's scheduler and its devices, and which values go together.
#include <string>

#include "weft/dram/dram_config.h"

namespace weft::dram {

void SchedulerConfig::describe(config::Visitor& v) {
  v.integer("queue_size", queue_size, {1, 4096}, "requests", "requests that the scheduler chooses from");
  config::group(v, "write_drain", write_drain, "writes wait apart from reads, and are served in groups");
  order.describe(v, "scheduler", "which waiting request is served next");
  page_policy.describe(v, "page_policy", "how long a row stays open");
  config::choice(v, "refresh", refresh, {{"all_banks", Refresh::kAllBanks}, {"per_bank", Refresh::kPerBank}},
                 "what a refresh stops: all banks, every t_refi for t_rfc; or one bank after the other, each "
                 "every t_refi for t_rfcpb");
  describe_device(v);
  v.integer("devices", timing.devices, {1, 64}, "devices", "devices side by side in a channel");
}

void WriteDrain::describe(config::Visitor& v) {
  v.integer("queue", queue, {0, 4096}, "requests",
            "places for writes, beside the queue_size places for reads; 0: one queue for both");
  v.integer("high", high, {1, 4095}, "requests",
            "writes are served when more of them than this wait, or when no read waits");
  v.integer("low", low, {1, 4095}, "requests",
            "reads are served again when fewer writes than this wait and a read waits");
}

void SchedulerConfig::describe_device(config::Visitor& v) {
  v.integer("bank_groups", bank_groups, {1, 64}, "groups",
            "bank groups of a pseudo-channel ((bank / pseudo_channels) mod groups); 1: none");
  v.integer(
      "pseudo_channels", pseudo_channels, {1, 4}, "channels",
      "parts of the channel (bank mod pseudo_channels) that have a data bus and timings each, and share "
      "the command bus");
  v.boolean("dual_command", dual_command,
            "a row command (activate, precharge) and a column command (read, write) can go out in one cycle");
  v.integer("activate_cycles", activate_cycles, {1, 8}, "cycles",
            "cycles of the command bus (for row commands) that an activate takes; its timings count from the "
            "last of them");
  timing.describe(v);
}

void SchedulerConfig::check(const std::string& where) const {
  timing.check(where);
  if (write_drain.on() && (write_drain.low > write_drain.high || write_drain.high >= write_drain.queue)) {
    throw config::RuleError(
        where + "/write_drain",
        {where + "/write_drain/queue", where + "/write_drain/high", where + "/write_drain/low"},
        "found low " + std::to_string(write_drain.low) + ", high " + std::to_string(write_drain.high) +
            ", queue " + std::to_string(write_drain.queue) + "; allowed: low <= high < queue");
  }
  if (write_drain.on() && order.make({1})->in_order()) {
    throw config::RuleError(where + "/write_drain/queue", {where + "/scheduler"},
                            "found " + std::to_string(write_drain.queue) +
                                "; allowed: 0 with a scheduler that serves requests in order of arrival");
  }
  if (refresh == Refresh::kPerBank && timing.refi != 0 && timing.rfcpb == 0) {
    throw config::RuleError(where + "/refresh", {where + "/t_rfcpb"},
                            "found per_bank with t_rfcpb = 0; allowed with t_rfcpb of at least 1");
  }
}

}  // namespace weft::dram
