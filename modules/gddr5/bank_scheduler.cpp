#include "gddr5/bank_scheduler.h"

#include <algorithm>

namespace weft::gddr5 {
namespace {

unsigned lowest_bit(std::uint64_t mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

void at_least(BankScheduler::Edge& edge, BankScheduler::Edge low) {
  edge = std::max(edge, low);
}

}  // namespace

void BankScheduler::Config::describe(config::Visitor& v) {
  v.integer("queue_size", queue_size, {1, 4096}, "requests", "requests that the scheduler chooses from");
  config::choice(v, "scheduler", policy, {{"fcfs", Policy::kFcfs}, {"fr_fcfs", Policy::kFrFcfs}},
                 "order of service: of arrival, or row hits first");
  v.integer("row_hit_limit", row_hit_limit, {0, 1'000'000}, "requests",
            "row hits that may overtake an older request of their bank, one after the other; 0: any number");
  v.integer("bank_groups", bank_groups, {1, 64}, "groups", "bank groups (bank mod groups); 1: none");
  timing.describe(v);
}

void BankScheduler::Config::check(const std::string& where) const {
  timing.check(where);
}

BankScheduler::BankScheduler(const Config& config, unsigned banks, unsigned gates)
    : timing_(config.timing),
      policy_(config.policy),
      row_hit_limit_(config.row_hit_limit),
      groups_(static_cast<unsigned>(config.bank_groups)),
      requests_(config.queue_size),
      free_(config.queue_size),
      banks_(banks),
      gates_(gates, 1),
      group_column_(config.bank_groups),
      order_(config.queue_size) {
  reset(0);
}

void BankScheduler::reset(Edge now) {
  free_.resize(requests_.size());
  for (std::size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<std::uint16_t>(free_.size() - 1 - i);
  std::fill(banks_.begin(), banks_.end(), Bank{});
  std::fill(gates_.begin(), gates_.end(), 1);
  std::fill(group_column_.begin(), group_column_.end(), 0);
  wants_.fill(0);
  idle_ = 0;
  order_head_ = order_count_ = 0;
  queued_ = 0;
  arrivals_ = 0;
  activate_ = read_ = write_ = 0;
  refresh_due_ = timing_.refi == 0 ? kNever : now + timing_.refi;
  counted_ = now;
}

void BankScheduler::push(const Request& request, Edge now) {
  count_queue(now);
  const std::uint16_t index = free_.back();
  free_.pop_back();
  Entry& entry = requests_[index];
  entry = Entry{};
  entry.request = request;
  entry.order = arrivals_++;
  most_queued_ = std::max<std::uint64_t>(most_queued_, ++queued_);
  if (policy_ == Policy::kFcfs) {
    order_[(order_head_ + order_count_++) % order_.size()] = index;
    return;
  }
  Bank& bank = banks_[request.bank];
  append(bank, index);
  // A younger request that hits the open row goes before one that would close it, unless that one has begun.
  if (bank.current != kNone && !requests_[bank.current].committed && bank.open && bank.row == request.row &&
      requests_[bank.current].request.row != bank.row) {
    put_back(bank);
  }
  if (bank.current == kNone) idle_ |= std::uint64_t{1} << request.bank;
}

void BankScheduler::append(Bank& bank, std::uint16_t index) {
  Entry& entry = requests_[index];
  entry.previous = bank.last;
  entry.next = kNone;
  (bank.last == kNone ? bank.first : requests_[bank.last].next) = index;
  bank.last = index;
}

void BankScheduler::unlink(Bank& bank, std::uint16_t index) {
  const Entry& entry = requests_[index];
  (entry.previous == kNone ? bank.first : requests_[entry.previous].next) = entry.next;
  (entry.next == kNone ? bank.last : requests_[entry.next].previous) = entry.previous;
}

// The current request goes back to its place by age.
void BankScheduler::put_back(Bank& bank) {
  const std::uint16_t index = bank.current;
  Entry& entry = requests_[index];
  bank.current = kNone;
  classify(entry.request.bank);
  std::uint16_t after = bank.first;
  while (after != kNone && requests_[after].order < entry.order) after = requests_[after].next;
  if (after == kNone) {
    append(bank, index);
    return;
  }
  entry.next = after;
  entry.previous = requests_[after].previous;
  (entry.previous == kNone ? bank.first : requests_[entry.previous].next) = index;
  requests_[after].previous = index;
}

void BankScheduler::make_current(Bank& bank, std::uint16_t index) {
  bank.current = index;
  idle_ &= ~(std::uint64_t{1} << requests_[index].request.bank);
  classify(requests_[index].request.bank);
}

// Sorts the bank by the command that it waits for; to be called whenever that may have changed.
void BankScheduler::classify(unsigned index) {
  const Bank& bank = banks_[index];
  const std::uint64_t bit = std::uint64_t{1} << index;
  for (std::uint64_t& wants : wants_) wants &= ~bit;
  if (bank.current != kNone) wants_[static_cast<std::size_t>(command_of(bank))] |= bit;
}

void BankScheduler::choose() {
  if (policy_ == Policy::kFcfs) {
    choose_in_order();
  } else {
    while (idle_ != 0) choose_row_hits(banks_[lowest_bit(idle_)]);
  }
}

void BankScheduler::choose_in_order() {
  while (order_count_ != 0) {
    const std::uint16_t index = order_[order_head_];
    Bank& bank = banks_[requests_[index].request.bank];
    if (bank.current != kNone) return;
    make_current(bank, index);
    order_head_ = static_cast<std::uint16_t>((order_head_ + 1u) % order_.size());
    --order_count_;
  }
}

void BankScheduler::choose_row_hits(Bank& bank) {
  std::uint16_t chosen = bank.first;
  if (bank.open && (row_hit_limit_ == 0 || bank.overtakes < row_hit_limit_)) {
    std::uint16_t index = bank.first;
    while (index != kNone && requests_[index].request.row != bank.row) index = requests_[index].next;
    if (index != kNone) chosen = index;
  }
  unlink(bank, chosen);
  make_current(bank, chosen);
}

BankScheduler::Command BankScheduler::command_of(const Bank& bank) const {
  if (!bank.open) return Command::kActivate;
  return bank.row == requests_[bank.current].request.row ? Command::kColumn : Command::kPrecharge;
}

BankScheduler::Edge BankScheduler::earliest(unsigned index, Command command) const {
  const Bank& bank = banks_[index];
  switch (command) {
    case Command::kActivate:
      return std::max(bank.activate, activate_);
    case Command::kPrecharge:
      return bank.precharge;
    case Command::kColumn:
      break;
  }
  const Entry& entry = requests_[bank.current];
  if (!entry.opened && gates_[entry.request.gate] == 0) return kNever;
  return std::max({bank.column, group_column_[index % groups_], entry.request.write ? write_ : read_});
}

// No command of this kind can go before this edge, whatever its bank.
BankScheduler::Edge BankScheduler::floor_of(Command command) const {
  switch (command) {
    case Command::kActivate:
      return activate_;
    case Command::kPrecharge:
      return 0;
    case Command::kColumn:
      return std::min(read_, write_);
  }
  return 0;
}

// Makes `best` the bank with the oldest request whose next command is of this kind and may go now, if that
// request is older than that of the given `best`.
void BankScheduler::consider(Command command, Edge now, unsigned& best) const {
  if (floor_of(command) > now) return;
  for (std::uint64_t left = wants_[static_cast<std::size_t>(command)]; left != 0; left &= left - 1) {
    const unsigned index = lowest_bit(left);
    if (best != kNoBank && order_of(index) > order_of(best)) continue;
    if (earliest(index, command) <= now) best = index;
  }
}

bool BankScheduler::step(Edge now, Finished& finished, std::uint32_t& started) {
  started = kNoGate;
  if (queued_ == 0) return false;
  refresh(now);
  choose();

  unsigned best = kNoBank;
  Command command = Command::kColumn;
  consider(command, now, best);
  if (best == kNoBank) {
    consider(command = Command::kPrecharge, now, best);
    const unsigned precharge = best;
    consider(Command::kActivate, now, best);
    if (best != precharge) command = Command::kActivate;
  }
  if (best == kNoBank) return false;

  Bank& bank = banks_[best];
  Entry& entry = requests_[bank.current];
  commit(entry, command);
  if (command != Command::kColumn) {
    send_row_command(bank, command, now);
    classify(best);
    return false;
  }
  if (!entry.opened) started = entry.request.gate;
  entry.opened = true;
  const Edge done = send_column(best, now);
  if (--entry.request.bursts != 0) return false;

  finished = {entry.request.handle, done + entry.request.occupy};
  if (entry.request.occupy != 0) {
    at_least(bank.column, finished.done);
    at_least(bank.precharge, finished.done);
  }
  count_queue(now);
  free_.push_back(bank.current);
  bank.current = kNone;
  classify(best);
  if (bank.first != kNone) idle_ |= std::uint64_t{1} << best;
  --queued_;
  choose();
  return true;
}

void BankScheduler::commit(Entry& entry, Command command) {
  if (entry.committed) return;
  entry.committed = true;
  Bank& bank = banks_[entry.request.bank];
  switch (command) {
    case Command::kColumn:
      ++row_hits_;
      break;
    case Command::kActivate:
      ++row_misses_;
      break;
    case Command::kPrecharge:
      ++row_conflicts_;
      break;
  }
  const bool overtakes = bank.first != kNone && requests_[bank.first].order < entry.order;
  bank.overtakes = overtakes ? bank.overtakes + 1 : 0;
}

void BankScheduler::send_row_command(Bank& bank, Command command, Edge now) {
  if (command == Command::kPrecharge) {
    bank.open = false;
    at_least(bank.activate, now + timing_.rp);
    ++precharges_;
    return;
  }
  bank.open = true;
  bank.row = requests_[bank.current].request.row;
  bank.column = now + timing_.rcd;
  bank.precharge = now + timing_.ras;
  bank.activate = now + timing_.rc;
  activate_ = now + timing_.rrd;
  ++activates_;
}

// Returns when the burst's data has moved.
BankScheduler::Edge BankScheduler::send_column(unsigned index, Edge now) {
  Bank& bank = banks_[index];
  const bool write = requests_[bank.current].request.write;
  const Edge done = now + (write ? timing_.wl : timing_.cl) + timing_.burst_cycles();
  group_column_[index % groups_] = now + timing_.column_gap_same_group();
  at_least(read_, now + (write ? timing_.write_to_read() : timing_.column_gap()));
  at_least(write_, now + (write ? timing_.column_gap() : timing_.read_to_write()));
  at_least(bank.precharge, write ? done + timing_.wr : now + timing_.rtp);
  data_cycles_ += timing_.burst_cycles();
  return done;
}

// Refreshes of an idle channel are made up for when the next request comes, so that an idle channel sleeps.
void BankScheduler::refresh(Edge now) {
  if (refresh_due_ > now) return;
  // Of a long idle time only the last two can still matter; the others find all rows closed.
  const std::uint64_t missed = (now - refresh_due_) / timing_.refi;
  if (missed > 2) {
    refresh_at(refresh_due_);
    refreshes_ += missed - 2;
    refresh_due_ += (missed - 2) * timing_.refi;
  }
  while (refresh_due_ <= now) refresh_at(refresh_due_);
}

// All banks are precharged as soon as each may be, then the channel refreshes; no command goes out meanwhile.
void BankScheduler::refresh_at(Edge due) {
  Edge start = due;
  for (Bank& bank : banks_) {
    if (bank.open) {
      bank.open = false;
      at_least(bank.activate, std::max(due, bank.precharge) + timing_.rp);
      ++precharges_;
    }
    at_least(start, bank.activate);
  }
  for (unsigned index = 0; index < banks_.size(); ++index) {
    banks_[index].activate = start + timing_.rfc;
    classify(index);
  }
  ++refreshes_;
  refresh_due_ += timing_.refi;
}

BankScheduler::Edge BankScheduler::next(Edge now) const {
  if (queued_ == 0) return kNever;
  Edge soonest = refresh_due_;
  for (Command command : {Command::kColumn, Command::kActivate, Command::kPrecharge}) {
    const Edge floor = std::max(floor_of(command), now + 1);
    for (std::uint64_t left = wants_[static_cast<std::size_t>(command)]; left != 0 && soonest > floor;
         left &= left - 1) {
      soonest = std::min(soonest, std::max(earliest(lowest_bit(left), command), floor));
    }
  }
  return std::max(soonest, now + 1);
}

void BankScheduler::count_queue(Edge now) {
  if (queued_ != 0) {
    occupancy_ += queued_ * (now - counted_);
    busy_cycles_ += now - counted_;
  }
  counted_ = now;
}

void BankScheduler::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".activates", "commands", "rows opened", activates_);
  registry.counter(prefix + ".precharges", "commands", "rows closed", precharges_);
  registry.counter(prefix + ".row_hits", "requests", "requests that found their row open", row_hits_);
  registry.counter(prefix + ".row_misses", "requests", "requests that found their bank without an open row",
                   row_misses_);
  registry.counter(prefix + ".row_conflicts", "requests", "requests that found another row open",
                   row_conflicts_);
  registry.counter(prefix + ".refreshes", "commands", "refreshes, up to the last request", refreshes_);
  registry.counter(prefix + ".data_cycles", "cycles", "cycles in which the data bus moves data",
                   data_cycles_);
  registry.counter(prefix + ".queue_cycles", "cycles", "cycles with at least one request queued",
                   busy_cycles_);
  registry.counter(prefix + ".queue_occupancy", "requests*cycles", "queued requests, summed over cycles",
                   occupancy_);
  registry.counter(prefix + ".queue_most", "requests", "most requests queued at a time", most_queued_);
  registry.derived(prefix + ".queue_average", "requests", "queued requests while any is queued", [this] {
    return busy_cycles_ == 0 ? 0.0 : static_cast<double>(occupancy_) / static_cast<double>(busy_cycles_);
  });
}

}  // namespace weft::gddr5
