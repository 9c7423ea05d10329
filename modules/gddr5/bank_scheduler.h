// The command scheduler of one GDDR5 channel: which command goes out at which cycle. Free of SystemC.
//
// Requests wait in a finite queue, in a list per bank. Each bank works on one request at a time: precharge
// and activate if its row is not open, then one column command per burst. One command leaves per cycle;
// column commands go before row commands, older requests before younger ones.
//
// fr_fcfs: a free bank takes its oldest request that hits the open row, else its oldest; a bank that has not
// begun a request yet changes to a younger one that hits. row_hit_limit bounds how many in a row may overtake
// an older one. fcfs: requests are handed to their banks strictly in order of arrival; a request whose bank
// is busy stops those behind it.
#ifndef WEFT_GDDR5_BANK_SCHEDULER_H
#define WEFT_GDDR5_BANK_SCHEDULER_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/config_visitor.h"
#include "common/statistics.h"
#include "gddr5/timing.h"

namespace weft::gddr5 {

enum class Policy : std::uint8_t { kFcfs, kFrFcfs };

class BankScheduler {
 public:
  using Edge = std::uint64_t;
  static constexpr Edge kNever = ~Edge{0};

  struct Config {
    std::uint64_t queue_size = 64;
    Policy policy = Policy::kFrFcfs;
    std::uint64_t row_hit_limit = 0;
    std::uint64_t bank_groups = 4;
    Timing timing;

    void describe(config::Visitor& v);
    void check(const std::string& where) const;
  };

  struct Request {
    std::uint32_t handle = 0;  // the owner's
    std::uint32_t gate = 0;    // index of the response gate it needs
    unsigned bank = 0;
    std::uint64_t row = 0;
    unsigned bursts = 1;
    bool write = false;
    std::uint64_t occupy = 0;  // cycles that the bank stays busy after the last burst (atomics)
  };

  // The last column command of a request went out; its data has moved at `done`.
  struct Finished {
    std::uint32_t handle;
    Edge done;
  };

  BankScheduler(const Config& config, unsigned banks, unsigned gates);

  bool full() const { return queued_ == requests_.size(); }
  bool empty() const { return queued_ == 0; }
  std::size_t queued() const { return queued_; }
  // Not when full.
  void push(const Request& request, Edge now);

  // A request whose gate is shut may not send its first column command: there is no room for its response.
  void set_gate(std::uint32_t gate, bool open) { gates_[gate] = open; }

  // Does the refreshes due up to `now` and sends at most one command. True if a request finished; *started
  // tells which gate a request passed, or kNoGate.
  static constexpr std::uint32_t kNoGate = ~std::uint32_t{0};
  bool step(Edge now, Finished& finished, std::uint32_t& started);
  // After a step at `now`: the next edge at which `step` would do something, if nothing is pushed and no gate
  // opens before.
  Edge next(Edge now) const;

  // Nothing queued, all rows closed, refresh due one interval after `now`.
  void reset(Edge now);
  void bind(statistics::Registry& registry, const std::string& prefix);

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  static constexpr unsigned kNoBank = ~0u;

  struct Entry {
    Request request;
    std::uint64_t order = 0;
    bool committed = false;  // a command was sent for it
    bool opened = false;     // its first column command was sent
    std::uint16_t next = kNone;
    std::uint16_t previous = kNone;
  };
  struct Bank {
    std::uint64_t row = 0;
    bool open = false;
    Edge activate = 0;  // earliest next command of each kind
    Edge precharge = 0;
    Edge column = 0;
    std::uint16_t first = kNone;  // waiting requests, oldest first; the current one is not among them
    std::uint16_t last = kNone;
    std::uint16_t current = kNone;
    std::uint64_t overtakes = 0;  // row hits served since the oldest waiting request was passed over
  };
  enum class Command : std::uint8_t { kActivate, kPrecharge, kColumn };

  void append(Bank& bank, std::uint16_t index);
  void unlink(Bank& bank, std::uint16_t index);
  void choose();
  void choose_in_order();
  void choose_row_hits(Bank& bank);
  void make_current(Bank& bank, std::uint16_t index);
  void put_back(Bank& bank);
  Command command_of(const Bank& bank) const;
  Edge earliest(unsigned index, Command command) const;
  Edge floor_of(Command command) const;
  std::uint64_t order_of(unsigned bank) const { return requests_[banks_[bank].current].order; }
  void consider(Command command, Edge now, unsigned& best) const;
  void classify(unsigned index);
  void commit(Entry& entry, Command command);
  void send_row_command(Bank& bank, Command command, Edge now);
  Edge send_column(unsigned index, Edge now);
  void refresh(Edge now);
  void refresh_at(Edge due);
  void count_queue(Edge now);

  const Timing timing_;
  const Policy policy_;
  const std::uint64_t row_hit_limit_;
  const unsigned groups_;

  std::vector<Entry> requests_;
  std::vector<std::uint16_t> free_;
  std::vector<Bank> banks_;
  std::vector<char> gates_;
  std::vector<Edge> group_column_;        // per bank group
  std::array<std::uint64_t, 3> wants_{};  // by Command: banks whose current request needs it next
  std::uint64_t idle_ = 0;                // banks with waiting requests and no current one
  std::uint16_t order_head_ = 0;          // fcfs: ring of entries not yet handed to their bank
  std::uint16_t order_count_ = 0;
  std::vector<std::uint16_t> order_;
  std::size_t queued_ = 0;
  std::uint64_t arrivals_ = 0;
  Edge activate_ = 0;  // earliest next command of the channel
  Edge read_ = 0;
  Edge write_ = 0;
  Edge refresh_due_ = 0;
  Edge counted_ = 0;

  std::uint64_t activates_ = 0;
  std::uint64_t precharges_ = 0;
  std::uint64_t row_hits_ = 0;
  std::uint64_t row_misses_ = 0;
  std::uint64_t row_conflicts_ = 0;
  std::uint64_t refreshes_ = 0;
  std::uint64_t data_cycles_ = 0;
  std::uint64_t occupancy_ = 0;    // queued requests, summed over cycles
  std::uint64_t busy_cycles_ = 0;  // cycles with at least one request queued
  std::uint64_t most_queued_ = 0;
};

}  // namespace weft::gddr5

#endif
