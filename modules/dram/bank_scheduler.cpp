#include "dram/bank_scheduler.h"

#include <algorithm>

namespace weft::dram {
namespace {

unsigned lowest_bit(std::uint64_t mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

void at_least(BankScheduler::Edge& edge, BankScheduler::Edge low) {
  edge = std::max(edge, low);
}

template <class Place>
std::vector<Place> places_of(const SchedulerConfig& config, unsigned banks) {
  std::vector<Place> places(banks);
  const auto channels = static_cast<unsigned>(config.pseudo_channels);
  const auto groups = static_cast<unsigned>(config.bank_groups);
  for (unsigned bank = 0; bank < banks; ++bank) {
    places[bank].pseudo_channel = static_cast<std::uint8_t>(bank % channels);
    places[bank].group = static_cast<std::uint16_t>(bank % channels * groups + bank / channels % groups);
  }
  return places;
}

}  // namespace

BankScheduler::BankScheduler(const SchedulerConfig& config, unsigned banks, unsigned gates)
    : timing_(config.timing),
      order_(config.order.make({banks})),
      in_order_(order_->in_order()),
      queue_size_(config.queue_size),
      page_policy_(config.page_policy.make({banks})),
      always_open_(page_policy_->always_open()),
      places_(places_of<Place>(config, banks)),
      dual_command_(config.dual_command),
      activate_ahead_(config.activate_cycles - 1),
      simple_(config.pseudo_channels == 1 && config.activate_cycles == 1),
      refresh_(config.refresh),
      refresh_interval_(per_bank() ? std::max<Edge>(timing_.refi / banks, 1) : timing_.refi),
      state_(config.places(), banks, gates, config.bank_groups * config.pseudo_channels,
             config.pseudo_channels),
      drain_(config.write_drain),
      bank_activates_(banks, 0) {
  reset(0);
}

BankScheduler::State::State(std::size_t queue_size, std::size_t banks, std::size_t gates, std::size_t groups,
                            std::size_t pseudo_channels)
    : requests(queue_size),
      banks(banks),
      gates(gates, 1),
      groups(groups),
      channels(pseudo_channels),
      order(queue_size) {}

void BankScheduler::reset(Edge now) {
  state_ = State(state_.requests.size(), state_.banks.size(), state_.gates.size(), state_.groups.size(),
                 state_.channels.size());
  drain_.reset();
  state_.refresh_due = timing_.refi == 0 ? kNever : now + refresh_interval_;
  state_.counted = now;
}

void BankScheduler::push(const Request& request, Edge now) {
  count_queue(now);
  const std::uint16_t index = state_.requests.take(request);
  most_queued_ = std::max<std::uint64_t>(most_queued_, ++state_.queued);
  if (in_order_) {
    state_.order[(state_.order_head + state_.order_count++) % state_.order.size()] = index;
    return;
  }
  Bank& bank = state_.banks[request.bank];
  Entry& entry = state_.requests[index];
  if (drain_.on()) {
    entry.drained = waits_with_writes(bank, request);
    drain_.came(request.write, kind_of(entry));
  }
  state_.requests.append(list_of(bank, entry), index);
  if (kind_of(entry) != drain_.served()) return;
  if (bank.current != kNone && !state_.requests[bank.current].begun &&
      order_->displaces(hits(bank, request), hits(bank, state_.requests[bank.current].request))) {
    put_back(bank);
  }
  if (bank.current == kNone) state_.idle |= std::uint64_t{1} << request.bank;
}

bool BankScheduler::waits_with_writes(const Bank& bank, const Request& request) const {
  const Entry* const older = overlapped(bank, request);
  return older != nullptr ? older->drained : request.write;
}

// The youngest request of the bank for one of the same bursts. Served ones are answered in order anyway.
const QueuedRequest* BankScheduler::overlapped(const Bank& bank, const Request& request) const {
  const Entry* youngest = nullptr;
  const auto look_at = [&](const Entry* other) {
    if (other != nullptr && (youngest == nullptr || youngest->order < other->order)) youngest = other;
  };
  for (const RequestList& waiting : bank.waiting) look_at(state_.requests.overlapped(waiting, request));
  if (bank.current != kNone && RequestPlaces::overlap(state_.requests[bank.current].request, request))
    look_at(&state_.requests[bank.current]);
  return youngest;
}

// Requests that have not begun wait until their kind is served again. A bank that was precharged for one of
// them is free for any other.
void BankScheduler::choose_kind() {
  if (!drain_.turn()) return;
  state_.idle = 0;
  for (unsigned index = 0; index < state_.banks.size(); ++index) {
    Bank& bank = state_.banks[index];
    if (bank.current != kNone && !state_.requests[bank.current].begun) put_back(bank);
    if (bank.current == kNone && !served(bank).empty()) state_.idle |= std::uint64_t{1} << index;
  }
}

// The current request goes back to its place by age.
void BankScheduler::put_back(Bank& bank) {
  const std::uint16_t index = bank.current;
  const Entry& entry = state_.requests[index];
  bank.current = kNone;
  classify(entry.request.bank);
  state_.requests.insert(list_of(bank, entry), index);
}

void BankScheduler::make_current(Bank& bank, std::uint16_t index) {
  bank.current = index;
  state_.idle &= ~(std::uint64_t{1} << state_.requests[index].request.bank);
  classify(state_.requests[index].request.bank);
}

// Sorts the bank by the command that it waits for; to be called whenever that may have changed.
void BankScheduler::classify(unsigned index) {
  const Bank& bank = state_.banks[index];
  const std::uint64_t bit = std::uint64_t{1} << index;
  for (std::uint64_t& wants : state_.wants) wants &= ~bit;
  if (bank.current != kNone) state_.wants[static_cast<std::size_t>(command_of(bank))] |= bit;
}

void BankScheduler::choose() {
  if (in_order_) {
    choose_in_order();
  } else {
    while (state_.idle != 0) choose_for(state_.banks[lowest_bit(state_.idle)]);
  }
}

void BankScheduler::choose_in_order() {
  while (state_.order_count != 0) {
    const std::uint16_t index = state_.order[state_.order_head];
    Bank& bank = state_.banks[state_.requests[index].request.bank];
    if (bank.current != kNone) return;
    make_current(bank, index);
    state_.order_head = static_cast<std::uint16_t>((state_.order_head + 1u) % state_.order.size());
    --state_.order_count;
  }
}

void BankScheduler::choose_for(Bank& bank) {
  const std::uint16_t chosen = order_->next(waiting_for(bank, served(bank)));
  state_.requests.unlink(list_of(bank, state_.requests[chosen]), chosen);
  make_current(bank, chosen);
}

BankScheduler::Command BankScheduler::command_of(const Bank& bank) const {
  if (!bank.open) return Command::kActivate;
  return bank.row == state_.requests[bank.current].request.row ? Command::kColumn : Command::kPrecharge;
}

BankScheduler::Edge BankScheduler::earliest(unsigned index, Command command) const {
  const Bank& bank = state_.banks[index];
  switch (command) {
    case Command::kActivate:
      return begin_of_activate(
          std::max({bank.activate, group_of(index).activate, channel_of(index).activate}));
    case Command::kPrecharge:
      return bank.precharge;
    case Command::kColumn:
      break;
  }
  const Entry& entry = state_.requests[bank.current];
  if (!entry.opened && state_.gates[entry.request.gate] == 0) return kNever;
  const Gates &group = group_of(index), &channel = channel_of(index);
  return entry.request.write ? std::max({bank.write, group.write, channel.write})
                             : std::max({bank.read, group.read, channel.read});
}

BankScheduler::Edge BankScheduler::floor_of_all(Command command) const {
  if (command == Command::kPrecharge) return state_.row_bus;
  Edge floor = kNever;
  for (const PseudoChannel& channel : state_.channels) {
    const Gates& gates = channel.gates;
    floor =
        std::min(floor, command == Command::kActivate ? gates.activate : std::min(gates.read, gates.write));
  }
  if (command == Command::kActivate) return std::max(begin_of_activate(floor), state_.row_bus);
  return dual_command_ ? floor : std::max(floor, state_.row_bus);
}

// Makes `best` the bank with the oldest request whose next command is of this kind and may go now, if that
// request is older than that of the given `best`.
void BankScheduler::consider(Command command, Edge now, unsigned& best) const {
  if (floor_of(command) > now) return;
  for (std::uint64_t left = state_.wants[static_cast<std::size_t>(command)]; left != 0; left &= left - 1) {
    const unsigned index = lowest_bit(left);
    if (best != kNoBank && order_of(index) > order_of(best)) continue;
    if (earliest(index, command) <= now) best = index;
  }
}

bool BankScheduler::step(Edge now, Finished& finished, std::uint32_t& started) {
  started = kNoGate;
  if (state_.queued == 0) return false;
  refresh(now);
  if (drain_.on()) choose_kind();
  choose();

  unsigned best = kNoBank;
  consider(Command::kColumn, now, best);
  const bool column = best != kNoBank;
  const bool done = column && serve_column(best, now, finished, started);
  if (!column || dual_command_) serve_row(now);
  if (drain_.on()) {
    choose_kind();
    choose();
  }
  return done;
}

void BankScheduler::serve_row(Edge now) {
  unsigned best = kNoBank;
  consider(Command::kPrecharge, now, best);
  const unsigned precharged = best;
  consider(Command::kActivate, now, best);
  if (best == kNoBank) return;
  Bank& bank = state_.banks[best];
  Entry& entry = state_.requests[bank.current];
  if (best == precharged) {
    commit(entry, Command::kPrecharge);
    precharge(bank, now);
  } else {
    commit(entry, Command::kActivate);
    activate(best, now);
  }
  classify(best);
}

// True if its request is finished.
bool BankScheduler::serve_column(unsigned index, Edge now, Finished& finished, std::uint32_t& started) {
  Bank& bank = state_.banks[index];
  Entry& entry = state_.requests[bank.current];
  commit(entry, Command::kColumn);
  if (!entry.opened) started = entry.request.gate;
  entry.opened = true;
  const Edge done = send_column(index, now);
  if (--entry.request.bursts != 0) return false;

  finished = {entry.request.handle, done + entry.request.occupy};
  if (entry.request.occupy != 0) {
    at_least(bank.read, finished.done);
    at_least(bank.write, finished.done);
    at_least(bank.precharge, finished.done);
  }
  count_queue(now);
  if (drain_.on()) drain_.finished(entry.request.write);
  state_.requests.release(bank.current);
  bank.current = kNone;
  if (!always_open_ && page_policy_->closes(row_is_wanted(index))) close_row(bank);
  classify(index);
  if (!served(bank).empty()) state_.idle |= std::uint64_t{1} << index;
  --state_.queued;
  choose();
  return true;
}

// From here on the request is finished whatever kind is served.
void BankScheduler::begin(Entry& entry) {
  if (entry.begun) return;
  entry.begun = true;
  if (drain_.on()) drain_.began(kind_of(entry));
}

void BankScheduler::commit(Entry& entry, Command command) {
  if (command != Command::kPrecharge) begin(entry);
  if (entry.committed) return;
  entry.committed = true;
  Bank& bank = state_.banks[entry.request.bank];
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
  const RequestList& waiting = list_of(bank, entry);
  const bool overtakes = !waiting.empty() && state_.requests[waiting.first].order < entry.order;
  bank.overtakes = overtakes ? bank.overtakes + 1 : 0;
}

void BankScheduler::precharge(Bank& bank, Edge now) {
  bank.open = false;
  at_least(bank.activate, now + timing_.rp);
  at_least(state_.rests, now + timing_.rp);
  ++precharges_;
}

void BankScheduler::activate(unsigned index, Edge begin) {
  const Edge now = begin + activate_ahead_;
  state_.row_bus = now + 1;
  Bank& bank = state_.banks[index];
  bank.open = true;
  bank.row = state_.requests[bank.current].request.row;
  bank.read = now + timing_.rcd;
  bank.write = now + timing_.activate_to_write();
  bank.precharge = now + timing_.ras;
  bank.activate = now + timing_.rc;
  state_.groups[places_[index].group].activate = now + timing_.activate_gap_same_group();
  // The fifth activate waits for the end of the window that the first of the last four began.
  PseudoChannel& channel = state_.channels[places_[index].pseudo_channel];
  channel.windows[channel.oldest] = now + timing_.faw;
  channel.oldest = (channel.oldest + 1) & 3;
  channel.gates.activate = std::max(now + timing_.rrd, channel.windows[channel.oldest]);
  at_least(state_.rests, bank.activate);
  ++activates_;
  ++bank_activates_[index];
}

// Does another request for the open row wait?
bool BankScheduler::row_is_wanted(unsigned index) const {
  const Bank& bank = state_.banks[index];
  if (!in_order_) {
    return std::any_of(bank.waiting.begin(), bank.waiting.end(), [&](const RequestList& waiting) {
      return waiting_for(bank, waiting).oldest_hit() != kNone;
    });
  }
  for (std::size_t i = 0; i < state_.order_count; ++i) {
    const Request& request =
        state_.requests[state_.order[(state_.order_head + i) % state_.order.size()]].request;
    if (request.bank == index) return hits(bank, request);  // the next one that the bank is handed
  }
  return false;
}

// Auto-precharge: as soon as the bank may be precharged, without a command of its own.
void BankScheduler::close_row(Bank& bank) {
  bank.open = false;
  at_least(bank.activate, bank.precharge + timing_.rp);
  at_least(state_.rests, bank.activate);
  ++precharges_;
}

// Returns when the burst's data has moved.
BankScheduler::Edge BankScheduler::send_column(unsigned index, Edge now) {
  Bank& bank = state_.banks[index];
  const bool write = state_.requests[bank.current].request.write;
  const Edge done = now + (write ? timing_.wl : timing_.cl) + timing_.burst_cycles();
  Gates& group = state_.groups[places_[index].group];
  group.read = now + (write ? timing_.write_to_read_same_group() : timing_.column_gap_same_group());
  group.write = now + timing_.column_gap_same_group();
  Gates& channel = state_.channels[places_[index].pseudo_channel].gates;
  at_least(channel.read, now + (write ? timing_.write_to_read() : timing_.column_gap()));
  at_least(channel.write, now + (write ? timing_.column_gap() : timing_.read_to_write()));
  at_least(bank.precharge, write ? done + timing_.wr : now + timing_.rtp);
  at_least(state_.rests, std::max(channel.read, channel.write));
  count_data();
  return done;
}

// Pseudo-channels share the time of the channel.
void BankScheduler::count_data() {
  const std::size_t channels = state_.channels.size();
  if (channels == 1) {
    data_cycles_ += timing_.burst_cycles();
    return;
  }
  state_.data_rest += timing_.burst_cycles();
  data_cycles_ += state_.data_rest / channels;
  state_.data_rest %= channels;
}

// Refreshes of an idle channel are made up for when the next request comes, so that an idle channel sleeps.
void BankScheduler::refresh(Edge now) {
  if (state_.refresh_due > now) return;
  // Of a long idle time only the last two of each bank can still matter; the others find all rows closed.
  const std::uint64_t round = per_bank() ? state_.banks.size() : 1;
  const std::uint64_t rounds = (now - state_.refresh_due) / refresh_interval_ / round;
  if (rounds > 2) {
    for (std::uint64_t i = 0; i < round; ++i) refresh_at(state_.refresh_due);
    const std::uint64_t skipped = per_bank() ? rounds - 3 : rounds - 2;
    refreshes_ += skipped;
    bank_refreshes_ += per_bank() ? skipped * round : 0;
    state_.refresh_due += skipped * round * refresh_interval_;
  }
  while (state_.refresh_due <= now) refresh_at(state_.refresh_due);
}

void BankScheduler::refresh_at(Edge due) {
  if (per_bank()) {
    refresh_one(due);
  } else {
    refresh_all(due);
  }
  state_.refresh_due += refresh_interval_;
}

// The bank is precharged as soon as it may be, then it refreshes. A round over all banks counts as a refresh.
void BankScheduler::refresh_one(Edge due) {
  const unsigned index = state_.refresh_bank;
  Bank& bank = state_.banks[index];
  if (bank.open) {
    bank.open = false;
    at_least(bank.activate, std::max(due, bank.precharge) + timing_.rp);
    ++precharges_;
  }
  bank.activate = std::max(due, bank.activate) + timing_.rfcpb;
  classify(index);
  ++bank_refreshes_;
  state_.refresh_bank = index + 1 == state_.banks.size() ? 0 : index + 1;
  if (state_.refresh_bank == 0) ++refreshes_;
}

// All banks are precharged as soon as each may be, then the channel refreshes; no command goes out meanwhile.
void BankScheduler::refresh_all(Edge due) {
  Edge start = due;
  for (Bank& bank : state_.banks) {
    if (bank.open) {
      bank.open = false;
      at_least(bank.activate, std::max(due, bank.precharge) + timing_.rp);
      ++precharges_;
    }
    at_least(start, bank.activate);
  }
  for (unsigned index = 0; index < state_.banks.size(); ++index) {
    state_.banks[index].activate = start + timing_.rfc;
    classify(index);
  }
  ++refreshes_;
}

BankScheduler::Edge BankScheduler::next(Edge now) const {
  if (state_.queued == 0) return kNever;
  Edge soonest = state_.refresh_due;
  for (Command command : {Command::kColumn, Command::kActivate, Command::kPrecharge}) {
    const Edge floor = std::max(floor_of(command), now + 1);
    for (std::uint64_t left = state_.wants[static_cast<std::size_t>(command)]; left != 0 && soonest > floor;
         left &= left - 1) {
      soonest = std::min(soonest, std::max(earliest(lowest_bit(left), command), floor));
    }
  }
  return std::max(soonest, now + 1);
}

std::size_t BankScheduler::queued(unsigned bank) const {
  const Bank& one = state_.banks[bank];
  std::size_t count = one.current != kNone ? 1 : 0;
  for (const RequestList& waiting : one.waiting) count += state_.requests.length(waiting);
  return count;
}

void BankScheduler::count_queue(Edge now) {
  if (state_.queued != 0) {
    occupancy_ += state_.queued * (now - state_.counted);
    busy_cycles_ += now - state_.counted;
    active_cycles_ += now - state_.counted;
  } else if (state_.rests > state_.counted) {
    active_cycles_ += std::min(now, state_.rests) - state_.counted;
  }
  state_.counted = now;
}

void BankScheduler::bind(statistics::Group& group) {
  group.counter("activates", units::kCommands, "rows opened", activates_);
  group.histogram("bank_activates", units::kCommands, "rows opened, by bank", bank_activates_);
  group.counter("precharges", units::kCommands, "rows closed", precharges_);
  group.counter("row_hits", units::kRequests, "requests that found their row open", row_hits_);
  group.counter("row_misses", units::kRequests, "requests that found their bank without an open row",
                row_misses_);
  group.counter("row_conflicts", units::kRequests, "requests that found another row open", row_conflicts_);
  group.counter("refreshes", units::kCommands, "refreshes, up to the last request", refreshes_);
  if (per_bank())
    group.counter("bank_refreshes", units::kCommands, "refreshes of one bank each, up to the last request",
                  bank_refreshes_);
  if (drain_.on()) drain_.bind(group);
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
