#include "dispatch/dispatcher.h"

namespace weft::dispatch {

Dispatcher::Dispatcher(ClockDomain& clock, std::vector<BlockTarget*> targets, Cycle latency)
    : clock_(clock),
      targets_(std::move(targets)),
      latency_(latency),
      index_(clock.add(*this)),
      state_(targets_.size()) {}

void Dispatcher::start(Number number, const Dim3& grid) {
  if (state_.running.empty()) state_.total = state_.retired = 0;
  Running launch;
  launch.number = number;
  launch.grid = grid;
  launch.total = std::uint64_t{grid[0]} * grid[1] * grid[2];
  state_.total += launch.total;
  state_.running.push_back(launch);
}

void Dispatcher::block_retired(unsigned target) {
  for (Running& launch : state_.running) {
    if (launch.number != state_.holds[target]) continue;
    ++launch.retired;
    if (hooks_.block) hooks_.block(target, launch.number, false);
  }
  ++state_.retired;
  poke();
}

void Dispatcher::abandon(Number number) {
  for (Running& launch : state_.running) {
    if (launch.number != number) continue;
    launch.abandoned = true;
    launch.placed = launch.total;
  }
  poke();
}

void Dispatcher::reset() {
  state_ = State(targets_.size());
}

void Dispatcher::archive(Archive& archive) {
  if (archive.writes() && state_.due != kNever) throw NotAtRest("the dispatcher was woken meanwhile");
  archive(state_);
  if (!archive.writes()) state_.due = 0;
}

Dim3 Dispatcher::block_index(const Dim3& grid, std::uint64_t number) {
  return {static_cast<std::uint32_t>(number % grid[0]),
          static_cast<std::uint32_t>(number / grid[0] % grid[1]),
          static_cast<std::uint32_t>(number / grid[0] / grid[1])};
}

Cycle Dispatcher::step(Cycle now) {
  if (now < state_.due) return state_.due;
  state_.due = kNever;
  const Cycle next = work(now);
  state_.due = std::min(state_.due, next);
  return state_.due;
}

Cycle Dispatcher::work(Cycle now) {
  finish(now);
  std::fill(state_.used.begin(), state_.used.end(), std::uint8_t{0});
  state_.placed = false;
  for (Running& launch : state_.running) place(launch, now);
  while (!unplaced() && hooks_.waiting() && (state_.running.empty() || some_target_free())) {
    const bool alone = state_.running.empty();
    hooks_.begin(now);
    state_.running.back().ready = now + latency_;
    // A launch that is alone gets all SMs at once, so that each accounts for its cycles from the beginning.
    for (std::size_t t = 0; alone && t < targets_.size(); ++t) {
      state_.holds[t] = state_.running.back().number;
      hooks_.assign(static_cast<unsigned>(t), state_.holds[t], now);
    }
    place(state_.running.back(), now);
  }
  return next_placing(now);
}

// The next edge at which a block may be placed; `block_retired` wakes us when there is room again.
Cycle Dispatcher::next_placing(Cycle now) const {
  Cycle next = state_.placed && unplaced() ? now + 1 : kNever;
  for (const Running& launch : state_.running) {
    if (launch.ready > now && launch.placed != launch.total) next = std::min(next, launch.ready);
  }
  return next;
}

void Dispatcher::finish(Cycle now) {
  for (std::size_t i = 0; i < state_.running.size();) {
    const Running& launch = state_.running[i];
    if ((launch.retired != launch.total && !launch.abandoned) || !drained(launch)) {
      ++i;
      continue;
    }
    const Number number = state_.running[i].number;
    state_.running.erase(state_.running.begin() + static_cast<std::ptrdiff_t>(i));
    hooks_.finished(number, now);
  }
}

bool Dispatcher::drained(const Running& launch) const {
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    if (state_.holds[t] == launch.number && !targets_[t]->drained()) return false;
  }
  return true;
}

bool Dispatcher::unplaced() const {
  return std::any_of(state_.running.begin(), state_.running.end(),
                     [](const Running& launch) { return launch.placed != launch.total; });
}

// The launch that the SM holds gets no further block there, and the SM has forgotten it.
bool Dispatcher::can_take(std::size_t target) const {
  if (state_.used[target] != 0) return false;
  for (const Running& launch : state_.running) {
    if (launch.number == state_.holds[target] && launch.placed != launch.total) return false;
  }
  return targets_[target]->drained();
}

bool Dispatcher::some_target_free() const {
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    if (can_take(t)) return true;
  }
  return false;
}

void Dispatcher::place(Running& launch, Cycle now) {
  if (now < launch.ready) return;
  const std::size_t first = launch.next_target;
  for (std::size_t i = 0; i < targets_.size() && launch.placed < launch.total; ++i) {
    const std::size_t t = (first + i) % targets_.size();
    if (state_.used[t] != 0) continue;
    if (state_.holds[t] != launch.number) {
      if (!can_take(t)) continue;
      state_.holds[t] = launch.number;
      hooks_.assign(static_cast<unsigned>(t), launch.number, now);
    }
    if (!targets_[t]->can_launch()) continue;
    targets_[t]->launch_block(block_index(launch.grid, launch.placed++));
    if (hooks_.block) hooks_.block(static_cast<unsigned>(t), launch.number, true);
    launch.next_target = (t + 1) % targets_.size();
    state_.used[t] = 1;
    state_.placed = true;
  }
}

}  // namespace weft::dispatch
