// The requests that a channel holds, and which of them each bank serves.
//
// A request waits in the list of its bank, from the oldest to the youngest. Each bank serves one request at a
// time, its current one. The configured order (weft/dram/request_order.h) decides which waiting request
// becomes the current one. An order that is strict (`in_order`) has one queue for all banks instead.
//
// With `write_drain` reads and writes wait apart, and the channel serves one kind at a time. A request that
// overlaps an older one of the other kind waits with that one, so accesses to one place stay in order.
#ifndef WEFT_DRAM_BANK_QUEUES_H
#define WEFT_DRAM_BANK_QUEUES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dram/command_times.h"
#include "dram/request_lists.h"
#include "dram/write_drain.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/dram/dram_config.h"
#include "weft/dram/request_order.h"

namespace weft::dram {

class BankQueues {
 public:
  // `times` knows the open rows.
  BankQueues(const SchedulerConfig& config, const CommandTimes& times);

  // No place for a read, or for a write.
  bool full(bool write) const {
    if (!drain_.on()) return state_.queued == state_.requests.size();
    return write ? drain_.full() : state_.queued - drain_.writes() == queue_size_;
  }
  bool empty() const { return state_.queued == 0; }
  std::size_t queued() const { return state_.queued; }
  std::size_t queued(unsigned bank) const;

  // Not when full for a request of its kind. False if `choose` would change nothing.
  bool push(const BankRequest& request);
  // Reads and writes are served in turns (write_drain).
  bool takes_turns() const { return drain_.on(); }
  // Gives requests to the banks that have none. With a write drain, the kind that is served turns first if
  // the fill levels say so.
  void choose() {
    if (drain_.on()) turn();
    hand_out();
  }

  // The request that the bank serves; nullptr: none.
  const QueuedRequest* current(unsigned bank) const {
    const Index index = state_.banks[bank].current;
    return index == kNone ? nullptr : &state_.requests[index];
  }
  // Banks that have had another current request, or none, since the last call: a bit each.
  std::uint64_t take_changed() { return std::exchange(state_.changed, 0); }

  // A command was sent for the bank's current request, which brings it to this stage. True if it was the
  // first command of the request.
  bool advance(unsigned bank, RequestStage stage);
  // A burst of the current request was sent. True if it was the last one.
  bool burst_sent(unsigned bank) { return --state_.requests[state_.banks[bank].current].request.bursts == 0; }
  // The current request is done, and leaves.
  void finish(unsigned bank);
  // After `finish`: does another request for the open row wait?
  bool row_is_wanted(unsigned bank) const;
  // Gives requests to the banks that have none, of the kind that is served.
  void hand_out() {
    if (in_order_) {
      hand_out_in_order();
    } else {
      while (state_.free != 0) take_next(static_cast<unsigned>(__builtin_ctzll(state_.free)));
    }
  }

  void reset();
  void archive(Archive& archive) { archive(state_, drain_); }
  void bind(statistics::Group& group) {
    if (drain_.on()) drain_.bind(group);
  }

 private:
  using Index = RequestPlaces::Index;
  static constexpr Index kNone = RequestPlaces::kNone;

  struct Bank {
    std::array<RequestList, 2> waiting;  // without the current one; by kind (WriteDrainControl)
    Index current = kNone;
    std::uint64_t overtakes = 0;  // requests served since the oldest waiting request was passed over
    void archive(Archive& archive) {
      auto& [waiting_, current_, overtakes_] = *this;
      archive(waiting_, current_, overtakes_);
    }
  };
  struct State {
    State(std::size_t places, std::size_t banks) : requests(places), banks(banks), order(places) {}
    RequestPlaces requests;
    std::vector<Bank> banks;
    std::size_t queued = 0;
    std::uint64_t free = 0;        // banks with waiting requests and no current one: a bit each
    std::uint64_t changed = 0;     // banks whose current request has changed
    std::uint16_t order_head = 0;  // in order: ring of requests that no bank has got yet
    std::uint16_t order_count = 0;
    std::vector<Index> order;
    void archive(Archive& archive) {
      auto& [requests_, banks_, queued_, free_, changed_, order_head_, order_count_, order_] = *this;
      archive(requests_, banks_, at_rest(queued_), at_rest(free_), set_anew(changed_), order_head_,
              at_rest(order_count_), order_);
    }
  };

  static unsigned kind_of(const QueuedRequest& entry) { return entry.drained ? 1 : 0; }
  static RequestList& list_of(Bank& bank, const QueuedRequest& entry) { return bank.waiting[kind_of(entry)]; }
  static std::uint64_t bit(unsigned bank) { return std::uint64_t{1} << bank; }
  bool begun(Index index) const { return state_.requests[index].stage >= RequestStage::kActivated; }
  bool hits(const BankRequest& request) const { return times_.hits(request.bank, request.row); }
  // Requests of the bank that may be served now.
  const RequestList& served(const Bank& bank) const { return bank.waiting[drain_.served()]; }
  WaitingRequests view(unsigned bank, const RequestList& list) const {
    return {state_.requests.all(), list.first, times_.open(bank), times_.row(bank),
            state_.banks[bank].overtakes};
  }

  bool waits_with_writes(const Bank& bank, const BankRequest& request) const;
  const QueuedRequest* overlapped(const Bank& bank, const BankRequest& request) const;
  void turn();
  void hand_out_in_order();
  void take_next(unsigned bank);
  void make_current(unsigned bank, Index index);
  void put_back(unsigned bank);

  const CommandTimes& times_;
  const std::unique_ptr<RequestOrder> order_;
  const bool in_order_;
  const std::uint64_t queue_size_;
  State state_;
  WriteDrainControl drain_;
};

}  // namespace weft::dram

#endif
