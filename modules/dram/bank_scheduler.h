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
// With `write_drain` reads and writes wait apart, and the channel serves one kind at a time. A request that
// overlaps an older one of the other kind waits with that one, so accesses to one place stay in order.
//
// Which request a bank works on, and how long its row stays open, are parts that the configuration names
// (weft/dram/request_order.h).
#ifndef WEFT_DRAM_BANK_SCHEDULER_H
#define WEFT_DRAM_BANK_SCHEDULER_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dram/request_lists.h"
#include "dram/write_drain.h"
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

  // No place for a read, or for a write.
  bool full(bool write) const {
    if (!drain_.on()) return state_.queued == state_.requests.size();
    return write ? drain_.full() : state_.queued - drain_.writes() == queue_size_;
  }
  bool empty() const { return state_.queued == 0; }
  std::size_t queued() const { return state_.queued; }
  // Not when full for a request of its kind.
  void push(const Request& request, Edge now);

  // A request whose gate is shut may not send its first column command: there is no room for its response.
  void set_gate(std::uint32_t gate, bool open) { state_.gates[gate] = open; }

  // Does the refreshes due up to `now` and sends at most one command, or one of each kind. True if a request
  // finished; *started tells which gate a request passed, or kNoGate.
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
  void archive(Archive& archive) { archive(state_, drain_); }
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
    Edge read = 0;
    Edge write = 0;
    std::array<RequestList, 2> waiting;  // without the current one; by kind (WriteDrainControl)
    std::uint16_t current = kNone;
    std::uint64_t overtakes = 0;  // requests served since the oldest waiting request was passed over
    void archive(Archive& archive) {
      auto& [row_, open_, activate_, precharge_, read_, write_, waiting_, current_, overtakes_] = *this;
      archive(row_, open_, activate_, precharge_, read_, write_, waiting_[0], waiting_[1], current_,
              overtakes_);
    }
  };
  // Earliest next commands of a bank group, or of a pseudo-channel.
  struct Gates {
    Edge activate = 0, read = 0, write = 0;
    void archive(Archive& archive) {
      auto& [activate_, read_, write_] = *this;
      archive(activate_, read_, write_);
    }
  };
  struct PseudoChannel {
    Gates gates;
    std::array<Edge, 4> windows{};  // ends of the windows that the last four activates have begun
    std::uint8_t oldest = 0;        // of them
    void archive(Archive& archive) {
      auto& [gates_, windows_, oldest_] = *this;
      archive(gates_, windows_[0], windows_[1], windows_[2], windows_[3], oldest_);
    }
  };
  struct Place {  // of a bank
    std::uint8_t pseudo_channel = 0;
    std::uint16_t group = 0;  // among those of all pseudo-channels
  };
  struct State {
    State(std::size_t queue_size, std::size_t banks, std::size_t gates, std::size_t groups,
          std::size_t pseudo_channels);
    RequestPlaces requests;
    std::vector<Bank> banks;
    std::vector<char> gates;
    std::vector<Gates> groups;  // bank groups
    std::vector<PseudoChannel> channels;
    std::array<std::uint64_t, 3> wants{};  // by Command: banks whose current request needs it next
    std::uint64_t idle = 0;                // banks with waiting requests and no current one
    std::uint16_t order_head = 0;          // in order: ring of entries not yet handed to their bank
    std::uint16_t order_count = 0;
    std::vector<std::uint16_t> order;
    std::size_t queued = 0;
    Edge row_bus = 0;  // an activate has the bus for row commands before this edge
    Edge refresh_due = 0;
    unsigned refresh_bank = 0;    // the next one, where banks are refreshed one after the other
    std::uint64_t data_rest = 0;  // data cycles of pseudo-channels that do not make one of the channel yet
    Edge counted = 0;             // up to this edge occupancy is counted
    Edge rests = 0;               // from this edge on no command keeps the channel or a bank from the next
    void archive(Archive& archive) {
      auto& [requests_, banks_, gates_, groups_, channels_, wants_, idle_, order_head_, order_count_, order_,
             queued_, row_bus_, refresh_due_, refresh_bank_, data_rest_, counted_, rests_] = *this;
      archive(requests_, at_rest(queued_), banks_, gates_, groups_, channels_, at_rest(wants_[0]),
              at_rest(wants_[1]), at_rest(wants_[2]), at_rest(idle_), order_head_, at_rest(order_count_),
              order_, row_bus_, refresh_due_, refresh_bank_, data_rest_, counted_, rests_);
    }
  };
  enum class Command : std::uint8_t { kActivate, kPrecharge, kColumn };

  static unsigned kind_of(const Entry& entry) { return entry.drained ? 1 : 0; }
  static RequestList& list_of(Bank& bank, const Entry& entry) { return bank.waiting[kind_of(entry)]; }
  // Requests of the bank that may be served now.
  const RequestList& served(const Bank& bank) const { return bank.waiting[drain_.served()]; }
  bool waits_with_writes(const Bank& bank, const Request& request) const;
  const Entry* overlapped(const Bank& bank, const Request& request) const;
  void choose_kind();
  void choose();
  void choose_in_order();
  void choose_for(Bank& bank);
  bool hits(const Bank& bank, const Request& request) const { return bank.open && bank.row == request.row; }
  WaitingRequests waiting_for(const Bank& bank, const RequestList& waiting) const {
    return {state_.requests.all(), waiting.first, bank.open, bank.row, bank.overtakes};
  }
  void make_current(Bank& bank, std::uint16_t index);
  void put_back(Bank& bank);
  Command command_of(const Bank& bank) const;
  Edge earliest(unsigned index, Command command) const;
  // No command of this kind can go before this edge, whatever its bank.
  Edge floor_of(Command command) const {
    if (!simple_) return floor_of_all(command);
    const Gates& gates = state_.channels.front().gates;
    if (command == Command::kColumn) return std::min(gates.read, gates.write);
    return command == Command::kActivate ? gates.activate : 0;
  }
  Edge floor_of_all(Command command) const;
  std::uint64_t order_of(unsigned bank) const { return state_.requests[state_.banks[bank].current].order; }
  void consider(Command command, Edge now, unsigned& best) const;
  void classify(unsigned index);
  void begin(Entry& entry);
  void commit(Entry& entry, Command command);
  bool serve_column(unsigned index, Edge now, Finished& finished, std::uint32_t& started);
  void serve_row(Edge now);
  void precharge(Bank& bank, Edge now);
  void activate(unsigned index, Edge begin);
  // An activate of several cycles takes effect in its last one.
  Edge begin_of_activate(Edge effect) const {
    return effect > activate_ahead_ ? effect - activate_ahead_ : 0;
  }
  const Gates& channel_of(unsigned bank) const { return state_.channels[places_[bank].pseudo_channel].gates; }
  const Gates& group_of(unsigned bank) const { return state_.groups[places_[bank].group]; }
  bool row_is_wanted(unsigned index) const;
  void close_row(Bank& bank);
  Edge send_column(unsigned index, Edge now);
  void refresh(Edge now);
  void refresh_at(Edge due);
  void refresh_all(Edge due);
  void refresh_one(Edge due);
  bool per_bank() const { return refresh_ == Refresh::kPerBank; }
  void count_queue(Edge now);
  void count_data();

  const Timing timing_;
  const std::unique_ptr<RequestOrder> order_;
  const bool in_order_;
  const std::uint64_t queue_size_;
  const std::unique_ptr<PagePolicy> page_policy_;
  const bool always_open_;
  const std::vector<Place> places_;  // of the banks
  const bool dual_command_;
  const Edge activate_ahead_;
  const bool simple_;  // no pseudo-channels, and activates of one cycle
  const Refresh refresh_;
  const Edge refresh_interval_;

  State state_;
  WriteDrainControl drain_;

  std::uint64_t activates_ = 0;
  std::vector<std::uint64_t> bank_activates_;  // by bank
  std::uint64_t precharges_ = 0;
  std::uint64_t row_hits_ = 0;
  std::uint64_t row_misses_ = 0;
  std::uint64_t row_conflicts_ = 0;
  std::uint64_t refreshes_ = 0;
  std::uint64_t bank_refreshes_ = 0;
  std::uint64_t data_cycles_ = 0;
  std::uint64_t occupancy_ = 0;    // queued requests, summed over cycles
  std::uint64_t busy_cycles_ = 0;  // cycles with at least one request queued
  std::uint64_t active_cycles_ = 0;
  std::uint64_t most_queued_ = 0;
};

}  // namespace weft::dram

#endif
