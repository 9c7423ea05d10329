// The command scheduler of one DRAM channel: which command goes out at which cycle. Free of SystemC.
//
// Requests wait in a finite queue, in a list per bank. Each bank works on one request at a time: precharge
// and activate if its row is not open, then one column command per burst. One command leaves per cycle, or
// one column and one row command (dual_command); column commands go before row commands, older requests
// before younger ones.
//
// A channel may consist of pseudo-channels (HBM2): each has a data bus, bank groups and timings of its own;
// the queue and the command bus are common. Bank b belongs to pseudo-channel b mod pseudo_channels, and there
// to bank group (b / pseudo_channels) mod bank_groups.
//
// BankQueues decides which request a bank works on. CommandTimes knows the open rows, and when which command
// may leave. The scheduler keeps what each bank with a request needs next (`plan`), and looks at these banks
// alone. It does nothing before the edge at which the first of these commands may leave.
#ifndef WEFT_DRAM_BANK_SCHEDULER_H
#define WEFT_DRAM_BANK_SCHEDULER_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dram/bank_queues.h"
#include "dram/command_times.h"
#include "dram/refresh_timer.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/dram/dram_config.h"
#include "weft/dram/request_order.h"

namespace weft::dram {

class BankScheduler {
 public:
  using Edge = dram::Edge;
  static constexpr Edge kNever = kNoEdge;

  using Request = BankRequest;

  // The last column command of a request went out; its data has moved at `done`.
  struct Finished {
    std::uint32_t handle;
    Edge done;
  };

  BankScheduler(const SchedulerConfig& config, unsigned banks, unsigned gates);

  // No place for a read, or for a write.
  bool full(bool write) const { return queues_.full(write); }
  bool empty() const { return queues_.empty(); }
  std::size_t queued() const { return queues_.queued(); }
  // Not when full for a request of its kind.
  void push(const Request& request, Edge now);

  // A request whose gate is shut may not send its first column command: there is no room for its response.
  void set_gate(std::uint32_t gate, bool open) {
    if ((state_.gates[gate] != 0) != open) turn_gate(gate, open);
  }

  // Does the refreshes due up to `now` and sends at most one command, or one of each kind. True if a request
  // finished; *started tells which gate a request passed, or kNoGate.
  static constexpr std::uint32_t kNoGate = ~std::uint32_t{0};
  bool step(Edge now, Finished& finished, std::uint32_t& started) {
    started = kNoGate;
    return due_ <= now && act(now, finished, started);
  }
  // After a step at `now`: the next edge at which `step` would do something, if nothing is pushed and no gate
  // opens before. Not after it, if a gate was shut since the step.
  Edge next(Edge now) const { return std::max(due_, now + 1); }

  // Of a bank after the step at `now`: the requests that wait for it or are served, and the row that is open.
  unsigned banks() const { return times_.banks(); }
  std::size_t queued(unsigned bank) const { return queues_.queued(bank); }
  static constexpr std::uint64_t kNoRow = ~std::uint64_t{0};
  std::uint64_t open_row(unsigned bank, Edge now) const {
    return times_.open(bank) && !refresh_is_due(now) ? times_.row(bank) : kNoRow;
  }
  // A scheduler that sleeps does a refresh when it wakes.
  bool refresh_is_due(Edge now) const { return now >= refresh_.due(); }

  // Nothing queued, all rows closed, refresh due one interval after `now`.
  void reset(Edge now);
  void archive(Archive& archive) { archive(state_, times_, refresh_, queues_); }
  void bind(statistics::Group& group);

 private:
  static constexpr unsigned kNoBank = ~0u;

  // Of a bank that has a request: when the bank itself can get the request's next command.
  struct Plan {
    Edge from = 0;
    std::uint64_t order = 0;  // of the request
  };
  struct State {
    State(std::size_t banks, std::size_t gates) : plans(banks), gates(gates, 1) {}
    std::vector<Plan> plans;
    std::array<std::uint64_t, kCommands.size()>
        wants{};                  // by Command: the banks that need it next, a bit each
    std::uint64_t held = 0;       // banks that need a column command, before a gate that is shut
    std::vector<char> gates;      // open?
    std::uint64_t data_rest = 0;  // data cycles of pseudo-channels that do not make one of the channel yet
    Edge counted = 0;             // up to this edge occupancy is counted
    void archive(Archive& archive) {
      auto& [plans_, wants_, held_, gates_, data_rest_, counted_] = *this;
      archive(set_anew(plans_), gates_, data_rest_, counted_, at_rest(held_));
      for (std::uint64_t& banks : wants_) archive(at_rest(banks));
    }
  };

  std::uint64_t& wants(Command command) { return state_.wants[static_cast<std::size_t>(command)]; }
  std::uint64_t wants(Command command) const { return state_.wants[static_cast<std::size_t>(command)]; }
  void turn_gate(std::uint32_t gate, bool open);
  bool act(Edge now, Finished& finished, std::uint32_t& started);
  void choose() {
    queues_.choose();
    plan_each(queues_.take_changed());
  }
  void plan(unsigned bank);
  void plan_each(std::uint64_t banks);
  unsigned oldest(Command command, Edge now, unsigned best) const;
  Edge soonest(Edge now) const;
  bool serve_column(unsigned bank, Edge now, Finished& finished, std::uint32_t& started);
  void finish(unsigned bank, Edge now);
  void serve_row(Edge now);
  void count_queue(Edge now);
  void count_data();

  const std::unique_ptr<PagePolicy> page_policy_;
  const bool always_open_;
  const unsigned burst_cycles_, pseudo_channels_;

  CommandTimes times_;
  RefreshTimer refresh_;
  BankQueues queues_;
  State state_;
  Edge due_ = kNever;  // nothing changes before this edge; derived from the state after each step

  std::uint64_t row_hits_ = 0;
  std::uint64_t row_misses_ = 0;
  std::uint64_t row_conflicts_ = 0;
  std::uint64_t data_cycles_ = 0;
  std::uint64_t occupancy_ = 0;    // queued requests, summed over cycles
  std::uint64_t busy_cycles_ = 0;  // cycles with at least one request queued
  std::uint64_t active_cycles_ = 0;
  std::uint64_t most_queued_ = 0;
};

}  // namespace weft::dram

#endif
