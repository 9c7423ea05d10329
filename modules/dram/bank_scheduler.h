// The command scheduler of one DRAM channel: which command goes out at which cycle. Free of SystemC.
//
// Requests wait in a finite queue, in a list per bank. Each bank works on one request at a time: precharge
// and activate if its row is not open, then one column command per burst. One command leaves per cycle;
// column commands go before row commands, older requests before younger ones.
//
// Which request a bank works on, and how long its row stays open, are parts that the configuration names
// (weft/dram/request_order.h).
#ifndef WEFT_DRAM_BANK_SCHEDULER_H
#define WEFT_DRAM_BANK_SCHEDULER_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weft/common/archive.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"
#include "weft/dram/dram_config.h"
#include "weft/dram/request_order.h"
#include "weft/dram/timing.h"

namespace weft::dram {

class BankScheduler {
 public:
  using Edge = std::uint64_t;
  static constexpr Edge kNever = ~Edge{0};

  using Request = BankRequest;

  // The last column command of a request went out; its data has moved at `done`.
  struct Finished {
    std::uint32_t handle;
    Edge done;
  };

  BankScheduler(const SchedulerConfig& config, unsigned banks, unsigned gates);

  bool full() const { return state_.queued == state_.requests.size(); }
  bool empty() const { return state_.queued == 0; }
  std::size_t queued() const { return state_.queued; }
  // Not when full.
  void push(const Request& request, Edge now);

  // A request whose gate is shut may not send its first column command: there is no room for its response.
  void set_gate(std::uint32_t gate, bool open) { state_.gates[gate] = open; }

  // Does the refreshes due up to `now` and sends at most one command. True if a request finished; *started
  // tells which gate a request passed, or kNoGate.
  static constexpr std::uint32_t kNoGate = ~std::uint32_t{0};
  bool step(Edge now, Finished& finished, std::uint32_t& started);
  // After a step at `now`: the next edge at which `step` would do something, if nothing is pushed and no gate
  // opens before.
  Edge next(Edge now) const;

  // Of a bank after the step at `now`: the requests that wait for it or are served, and the row that is open.
  unsigned banks() const { return static_cast<unsigned>(state_.banks.size()); }
  std::size_t queued(unsigned bank) const;
  static constexpr std::uint64_t kNoRow = ~std::uint64_t{0};
  std::uint64_t open_row(unsigned bank, Edge now) const {
    return state_.banks[bank].open && !refresh_is_due(now) ? state_.banks[bank].row : kNoRow;
  }
  // A scheduler that sleeps does a refresh when it wakes.
  bool refresh_is_due(Edge now) const { return now >= state_.refresh_due; }

  // Nothing queued, all rows closed, refresh due one interval after `now`.
  void reset(Edge now);
  void archive(Archive& archive) { archive(state_); }
  void bind(statistics::Group& group);

 private:
  static constexpr std::uint16_t kNone = QueuedRequest::kNone;
  static constexpr unsigned kNoBank = ~0u;

  using Entry = QueuedRequest;
  struct Bank {
    std::uint64_t row = 0;
    bool open = false;
    Edge activate = 0;  // earliest next command of each kind
    Edge precharge = 0;
    Edge column = 0;
    std::uint16_t first = kNone;  // waiting requests, oldest first; the current one is not among them
    std::uint16_t last = kNone;
    std::uint16_t current = kNone;
    std::uint64_t overtakes = 0;  // requests served since the oldest waiting request was passed over
    void archive(Archive& archive) {
      auto& [row_, open_, activate_, precharge_, column_, first_, last_, current_, overtakes_] = *this;
      archive(row_, open_, activate_, precharge_, column_, first_, last_, current_, overtakes_);
    }
  };
  struct State {
    State(std::size_t queue_size, std::size_t banks, std::size_t gates, std::size_t groups);
    std::vector<Entry> requests;
    std::vector<std::uint16_t> free;
    std::vector<Bank> banks;
    std::vector<char> gates;
    std::vector<Edge> group_column;        // per bank group
    std::array<std::uint64_t, 3> wants{};  // by Command: banks whose current request needs it next
    std::uint64_t idle = 0;                // banks with waiting requests and no current one
    std::uint16_t order_head = 0;          // in order: ring of entries not yet handed to their bank
    std::uint16_t order_count = 0;
    std::vector<std::uint16_t> order;
    std::size_t queued = 0;
    std::uint64_t arrivals = 0;
    Edge activate = 0;  // earliest next command of the channel
    Edge read = 0;
    Edge write = 0;
    Edge refresh_due = 0;
    Edge counted = 0;  // up to this edge occupancy is counted
    Edge rests = 0;    // from this edge on no command keeps the channel or a bank from the next
    void archive(Archive& archive) {
      auto& [requests_, free_, banks_, gates_, group_column_, wants_, idle_, order_head_, order_count_,
             order_, queued_, arrivals_, activate_, read_, write_, refresh_due_, counted_, rests_] = *this;
      archive(set_anew(requests_), at_rest(queued_), free_, banks_, gates_, group_column_, at_rest(wants_[0]),
              at_rest(wants_[1]), at_rest(wants_[2]), at_rest(idle_), order_head_, at_rest(order_count_),
              order_, arrivals_, activate_, read_, write_, refresh_due_, counted_, rests_);
    }
  };
  enum class Command : std::uint8_t { kActivate, kPrecharge, kColumn };

  void append(Bank& bank, std::uint16_t index);
  void unlink(Bank& bank, std::uint16_t index);
  void choose();
  void choose_in_order();
  void choose_for(Bank& bank);
  bool hits(const Bank& bank, const Request& request) const { return bank.open && bank.row == request.row; }
  WaitingRequests waiting_for(const Bank& bank) const {
    return {state_.requests, bank.first, bank.open, bank.row, bank.overtakes};
  }
  void make_current(Bank& bank, std::uint16_t index);
  void put_back(Bank& bank);
  Command command_of(const Bank& bank) const;
  Edge earliest(unsigned index, Command command) const;
  Edge floor_of(Command command) const;
  std::uint64_t order_of(unsigned bank) const { return state_.requests[state_.banks[bank].current].order; }
  void consider(Command command, Edge now, unsigned& best) const;
  void classify(unsigned index);
  void commit(Entry& entry, Command command);
  void send_row_command(Bank& bank, Command command, Edge now);
  bool row_is_wanted(unsigned index) const;
  void close_row(Bank& bank);
  Edge send_column(unsigned index, Edge now);
  void refresh(Edge now);
  void refresh_at(Edge due);
  void count_queue(Edge now);

  const Timing timing_;
  const std::unique_ptr<RequestOrder> order_;
  const bool in_order_;
  const std::unique_ptr<PagePolicy> page_policy_;
  const bool always_open_;
  const unsigned groups_;

  State state_;

  std::uint64_t activates_ = 0;
  std::vector<std::uint64_t> bank_activates_;  // by bank
  std::uint64_t precharges_ = 0;
  std::uint64_t row_hits_ = 0;
  std::uint64_t row_misses_ = 0;
  std::uint64_t row_conflicts_ = 0;
  std::uint64_t refreshes_ = 0;
  std::uint64_t data_cycles_ = 0;
  std::uint64_t occupancy_ = 0;    // queued requests, summed over cycles
  std::uint64_t busy_cycles_ = 0;  // cycles with at least one request queued
  std::uint64_t active_cycles_ = 0;
  std::uint64_t most_queued_ = 0;
};

}  // namespace weft::dram

#endif
