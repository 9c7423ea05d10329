#include "dram/bank_scheduler.h"

#include <algorithm>

namespace weft::dram {
namespace {

unsigned lowest_bit(std::uint64_t mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

}  // namespace

BankScheduler::BankScheduler(const SchedulerConfig& config, unsigned banks, unsigned gates)
    : page_policy_(config.page_policy.make({banks})),
      always_open_(page_policy_->always_open()),
      burst_cycles_(static_cast<unsigned>(config.timing.burst_cycles())),
      pseudo_channels_(static_cast<unsigned>(config.pseudo_channels)),
      times_(config, banks),
      refresh_(config, times_),
      queues_(config, times_),
      state_(banks, gates) {
  reset(0);
}

void BankScheduler::reset(Edge now) {
  times_.reset();
  refresh_.reset(now);
  queues_.reset();
  state_ = State(state_.plans.size(), state_.gates.size());
  state_.counted = now;
  due_ = kNever;
}

void BankScheduler::push(const Request& request, Edge now) {
  count_queue(now);
  if (queues_.push(request)) due_ = 0;
  most_queued_ = std::max<std::uint64_t>(most_queued_, queues_.queued());
}

void BankScheduler::turn_gate(std::uint32_t gate, bool open) {
  state_.gates[gate] = open;
  plan_each(open ? state_.held : wants(Command::kRead) | wants(Command::kWrite));
  if (open) due_ = 0;
}

// Notes what the bank needs next and when it can get that; to be called whenever either may have changed.
void BankScheduler::plan(unsigned bank) {
  const std::uint64_t bit = std::uint64_t{1} << bank;
  for (std::uint64_t& wants : state_.wants) wants &= ~bit;
  state_.held &= ~bit;
  const QueuedRequest* const entry = queues_.current(bank);
  if (entry == nullptr) return;
  const Command command = times_.needed(bank, entry->request.row, entry->request.write);
  if (is_column(command) && entry->stage < RequestStage::kTransferring &&
      state_.gates[entry->request.gate] == 0) {
    state_.held |= bit;
    return;
  }
  wants(command) |= bit;
  state_.plans[bank] = {times_.of_bank(bank, command), entry->order};
}

void BankScheduler::plan_each(std::uint64_t banks) {
  for (; banks != 0; banks &= banks - 1) plan(lowest_bit(banks));
}

bool BankScheduler::act(Edge now, Finished& finished, std::uint32_t& started) {
  if (queues_.empty()) {
    due_ = kNever;
    return false;
  }
  if (refresh_.due() <= now) {
    refresh_.refresh(now);
    for (unsigned bank = 0; bank < times_.banks(); ++bank) plan(bank);
  }
  choose();
  const unsigned best = oldest(Command::kWrite, now, oldest(Command::kRead, now, kNoBank));
  const bool column = best != kNoBank;
  const bool done = column && serve_column(best, now, finished, started);
  if (!column || times_.dual_command()) serve_row(now);
  if (queues_.takes_turns()) choose();
  due_ = soonest(now);
  return done;
}

// The bank with the oldest request whose next command is of this kind and may leave now. `best` if there is
// none, or if the request of that bank is older.
unsigned BankScheduler::oldest(Command command, Edge now, unsigned best) const {
  std::uint64_t left = wants(command);
  if (left == 0 || times_.floor(command) > now) return best;
  const Edge effect = times_.takes_effect(command, now);
  std::uint64_t order = best == kNoBank ? ~std::uint64_t{0} : state_.plans[best].order;
  for (; left != 0; left &= left - 1) {
    const unsigned bank = lowest_bit(left);
    const Plan& plan = state_.plans[bank];
    if (plan.order >= order || plan.from > effect || times_.of_shared(bank, command) > effect) continue;
    best = bank;
    order = plan.order;
  }
  return best;
}

// The first edge after `now` at which a command may leave or a refresh is due.
Edge BankScheduler::soonest(Edge now) const {
  if (queues_.empty()) return kNever;
  Edge soonest = refresh_.due();
  for (const Command command : kCommands) {
    std::uint64_t left = wants(command);
    if (left == 0) continue;
    const Edge floor = std::max(times_.floor(command), now + 1);
    for (; left != 0 && soonest > floor; left &= left - 1) {
      const unsigned bank = lowest_bit(left);
      const Edge effect = std::max(state_.plans[bank].from, times_.of_shared(bank, command));
      soonest = std::min(soonest, std::max(times_.leaves(command, effect), floor));
    }
  }
  return soonest;
}

// Sends a row command, if one may leave.
void BankScheduler::serve_row(Edge now) {
  const unsigned best = oldest(Command::kActivate, now, oldest(Command::kPrecharge, now, kNoBank));
  if (best == kNoBank) return;
  if (times_.open(best)) {
    if (queues_.advance(best, RequestStage::kPrecharged)) ++row_conflicts_;
    times_.precharge(best, now);
  } else {
    if (queues_.advance(best, RequestStage::kActivated)) ++row_misses_;
    times_.activate(best, queues_.current(best)->request.row, now);
  }
  plan(best);
}

// Sends a column command. True if its request is finished.
bool BankScheduler::serve_column(unsigned bank, Edge now, Finished& finished, std::uint32_t& started) {
  const QueuedRequest& entry = *queues_.current(bank);
  const BankRequest& request = entry.request;
  if (entry.stage != RequestStage::kTransferring) {
    started = request.gate;
    if (queues_.advance(bank, RequestStage::kTransferring)) ++row_hits_;
  }
  const Edge moved = times_.transfer(bank, request.write, now);
  count_data();
  if (!queues_.burst_sent(bank)) return false;

  finished = {request.handle, moved + request.occupy};
  if (request.occupy != 0) times_.occupy(bank, finished.done);
  finish(bank, now);
  return true;
}

void BankScheduler::finish(unsigned bank, Edge now) {
  count_queue(now);
  queues_.finish(bank);
  if (!always_open_ && page_policy_->closes(queues_.row_is_wanted(bank))) times_.close(bank);
  queues_.hand_out();
  plan_each(queues_.take_changed());
}

// Pseudo-channels share the time of the channel.
void BankScheduler::count_data() {
  if (pseudo_channels_ == 1) {
    data_cycles_ += burst_cycles_;
    return;
  }
  state_.data_rest += burst_cycles_;
  data_cycles_ += state_.data_rest / pseudo_channels_;
  state_.data_rest %= pseudo_channels_;
}

void BankScheduler::count_queue(Edge now) {
  if (!queues_.empty()) {
    occupancy_ += queues_.queued() * (now - state_.counted);
    busy_cycles_ += now - state_.counted;
    active_cycles_ += now - state_.counted;
  } else if (times_.rests() > state_.counted) {
    active_cycles_ += std::min(now, times_.rests()) - state_.counted;
  }
  state_.counted = now;
}

void BankScheduler::bind(statistics::Group& group) {
  times_.bind(group);
  group.counter("row_hits", units::kRequests, "requests that found their row open", row_hits_);
  group.counter("row_misses", units::kRequests, "requests that found their bank without an open row",
                row_misses_);
  group.counter("row_conflicts", units::kRequests, "requests that found another row open", row_conflicts_);
  refresh_.bind(group);
  queues_.bind(group);
  group.counter("data_cycles", units::kCycles, "cycles in which the data bus moves data", data_cycles_);
  group.counter("queue_cycles", units::kCycles, "cycles with at least one request queued", busy_cycles_);
  group.counter(
      "active_cycles", units::kCycles,
      "cycles with a request queued, or in which a command keeps a bank from the next one (up to the "
      "last request)",
      active_cycles_);
  group.counter("queue_occupancy", statistics::Unit("requests*cycles"), "queued requests, summed over cycles",
                occupancy_);
  group.maximum("queue_most", units::kRequests, "most requests queued at a time", most_queued_);
  group.ratio("queue_average", units::kRequests, "queued requests while any is queued",
              {{&occupancy_}, {&busy_cycles_}});
}

}  // namespace weft::dram
