#include "dram/bank_queues.h"

#include <algorithm>

namespace weft::dram {

BankQueues::BankQueues(const SchedulerConfig& config, const CommandTimes& times)
    : times_(times),
      order_(config.order.make({times.banks()})),
      in_order_(order_->in_order()),
      queue_size_(config.queue_size),
      state_(config.places(), times.banks()),
      drain_(config.write_drain) {}

void BankQueues::reset() {
  state_ = State(state_.requests.size(), state_.banks.size());
  drain_.reset();
}

bool BankQueues::push(const BankRequest& request) {
  const Index index = state_.requests.take(request);
  ++state_.queued;
  if (in_order_) {
    state_.order[(state_.order_head + state_.order_count++) % state_.order.size()] = index;
    return true;
  }
  Bank& bank = state_.banks[request.bank];
  QueuedRequest& entry = state_.requests[index];
  if (drain_.on()) {
    entry.drained = waits_with_writes(bank, request);
    drain_.came(request.write, kind_of(entry));
  }
  state_.requests.append(list_of(bank, entry), index);
  if (kind_of(entry) != drain_.served()) return true;
  if (bank.current != kNone && !begun(bank.current) &&
      order_->displaces(hits(request), hits(state_.requests[bank.current].request))) {
    put_back(request.bank);
  }
  if (bank.current == kNone) state_.free |= bit(request.bank);
  return bank.current == kNone || drain_.on();
}

bool BankQueues::waits_with_writes(const Bank& bank, const BankRequest& request) const {
  const QueuedRequest* const older = overlapped(bank, request);
  return older != nullptr ? older->drained : request.write;
}

// The youngest request of the bank for one of the same bursts. Served ones are answered in order anyway.
const QueuedRequest* BankQueues::overlapped(const Bank& bank, const BankRequest& request) const {
  const QueuedRequest* youngest = nullptr;
  const auto look_at = [&](const QueuedRequest* other) {
    if (other != nullptr && (youngest == nullptr || youngest->order < other->order)) youngest = other;
  };
  for (const RequestList& waiting : bank.waiting) look_at(state_.requests.overlapped(waiting, request));
  if (bank.current != kNone && RequestPlaces::overlap(state_.requests[bank.current].request, request))
    look_at(&state_.requests[bank.current]);
  return youngest;
}

// Requests that have not begun wait until their kind is served again. A bank that was precharged for one of
// them is free for any other.
void BankQueues::turn() {
  if (!drain_.turn()) return;
  state_.free = 0;
  for (unsigned index = 0; index < state_.banks.size(); ++index) {
    const Bank& bank = state_.banks[index];
    if (bank.current != kNone && !begun(bank.current)) put_back(index);
    if (bank.current == kNone && !served(bank).empty()) state_.free |= bit(index);
  }
}

// The current request goes back to its place by age.
void BankQueues::put_back(unsigned bank) {
  Bank& own = state_.banks[bank];
  const Index request = std::exchange(own.current, kNone);
  state_.requests.insert(list_of(own, state_.requests[request]), request);
  state_.changed |= bit(bank);
}

void BankQueues::make_current(unsigned bank, Index index) {
  state_.banks[bank].current = index;
  state_.free &= ~bit(bank);
  state_.changed |= bit(bank);
}

void BankQueues::hand_out_in_order() {
  while (state_.order_count != 0) {
    const Index index = state_.order[state_.order_head];
    const unsigned bank = state_.requests[index].request.bank;
    if (state_.banks[bank].current != kNone) return;
    make_current(bank, index);
    state_.order_head = static_cast<std::uint16_t>((state_.order_head + 1u) % state_.order.size());
    --state_.order_count;
  }
}

void BankQueues::take_next(unsigned bank) {
  Bank& own = state_.banks[bank];
  const Index chosen = order_->next(view(bank, served(own)));
  state_.requests.unlink(list_of(own, state_.requests[chosen]), chosen);
  make_current(bank, chosen);
}

bool BankQueues::advance(unsigned bank, RequestStage stage) {
  Bank& own = state_.banks[bank];
  QueuedRequest& entry = state_.requests[own.current];
  if (entry.stage >= stage) return false;
  const RequestStage before = std::exchange(entry.stage, stage);
  if (drain_.on() && before < RequestStage::kActivated && stage >= RequestStage::kActivated)
    drain_.began(kind_of(entry));
  if (before != RequestStage::kWaiting) return false;
  const RequestList& waiting = list_of(own, entry);
  const bool overtakes = !waiting.empty() && state_.requests[waiting.first].order < entry.order;
  own.overtakes = overtakes ? own.overtakes + 1 : 0;
  return true;
}

void BankQueues::finish(unsigned bank) {
  Bank& own = state_.banks[bank];
  const Index done = std::exchange(own.current, kNone);
  if (drain_.on()) drain_.finished(state_.requests[done].request.write);
  state_.requests.release(done);
  state_.changed |= bit(bank);
  if (!served(own).empty()) state_.free |= bit(bank);
  --state_.queued;
}

bool BankQueues::row_is_wanted(unsigned bank) const {
  if (!in_order_) {
    const auto& waiting = state_.banks[bank].waiting;
    return std::any_of(waiting.begin(), waiting.end(),
                       [&](const RequestList& list) { return view(bank, list).oldest_hit() != kNone; });
  }
  for (std::size_t i = 0; i < state_.order_count; ++i) {
    const BankRequest& request =
        state_.requests[state_.order[(state_.order_head + i) % state_.order.size()]].request;
    if (request.bank == bank) return hits(request);  // the next one that the bank is handed
  }
  return false;
}

std::size_t BankQueues::queued(unsigned bank) const {
  const Bank& one = state_.banks[bank];
  std::size_t count = one.current != kNone ? 1 : 0;
  for (const RequestList& waiting : one.waiting) count += state_.requests.length(waiting);
  return count;
}

}  // namespace weft::dram
