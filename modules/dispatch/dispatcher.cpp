#include "dispatch/dispatcher.h"

namespace weft::dispatch {

Dispatcher::Dispatcher(ClockDomain& clock, std::vector<BlockTarget*> targets)
    : clock_(clock),
      targets_(std::move(targets)),
      index_(clock.add(*this)),
      holds_(targets_.size(), kNobody),
      used_(targets_.size(), 0) {}

void Dispatcher::start(Number number, const Dim3& grid) {
  if (running_.empty()) total_ = retired_ = 0;
  Running launch;
  launch.number = number;
  launch.grid = grid;
  launch.total = std::uint64_t{grid[0]} * grid[1] * grid[2];
  total_ += launch.total;
  running_.push_back(launch);
}

void Dispatcher::block_retired(unsigned target) {
  for (Running& launch : running_) {
    if (launch.number == holds_[target]) ++launch.retired;
  }
  ++retired_;
  poke();
}

void Dispatcher::reset() {
  running_.clear();
  std::fill(holds_.begin(), holds_.end(), kNobody);
  due_ = kNever;
  total_ = retired_ = 0;
}

Dim3 Dispatcher::block_index(const Dim3& grid, std::uint64_t number) {
  return {static_cast<std::uint32_t>(number % grid[0]),
          static_cast<std::uint32_t>(number / grid[0] % grid[1]),
          static_cast<std::uint32_t>(number / grid[0] / grid[1])};
}

Cycle Dispatcher::step(Cycle now) {
  if (now < due_) return due_;
  due_ = kNever;
  const Cycle next = work(now);
  due_ = std::min(due_, next);
  return due_;
}

Cycle Dispatcher::work(Cycle now) {
  finish(now);
  std::fill(used_.begin(), used_.end(), std::uint8_t{0});
  placed_ = false;
  for (Running& launch : running_) place(launch, now);
  while (!unplaced() && hooks_.waiting() && (running_.empty() || some_target_free())) {
    const bool alone = running_.empty();
    hooks_.begin(now);
    // A launch that is alone gets all SMs at once, so that each accounts for its cycles from the beginning.
    for (std::size_t t = 0; alone && t < targets_.size(); ++t) {
      holds_[t] = running_.back().number;
      hooks_.assign(static_cast<unsigned>(t), holds_[t], now);
    }
    place(running_.back(), now);
  }
  return placed_ && unplaced() ? now + 1 : kNever;  // `block_retired` wakes us when there is room again
}

void Dispatcher::finish(Cycle now) {
  for (std::size_t i = 0; i < running_.size();) {
    if (running_[i].retired != running_[i].total || !drained(running_[i])) {
      ++i;
      continue;
    }
    const Number number = running_[i].number;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    hooks_.finished(number, now);
  }
}

bool Dispatcher::drained(const Running& launch) const {
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    if (holds_[t] == launch.number && !targets_[t]->drained()) return false;
  }
  return true;
}

bool Dispatcher::unplaced() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Running& launch) { return launch.placed != launch.total; });
}

// The launch that the SM holds gets no further block there, and the SM has forgotten it.
bool Dispatcher::can_take(std::size_t target) const {
  if (used_[target] != 0) return false;
  for (const Running& launch : running_) {
    if (launch.number == holds_[target] && launch.placed != launch.total) return false;
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
  const std::size_t first = launch.next_target;
  for (std::size_t i = 0; i < targets_.size() && launch.placed < launch.total; ++i) {
    const std::size_t t = (first + i) % targets_.size();
    if (used_[t] != 0) continue;
    if (holds_[t] != launch.number) {
      if (!can_take(t)) continue;
      holds_[t] = launch.number;
      hooks_.assign(static_cast<unsigned>(t), launch.number, now);
    }
    if (!targets_[t]->can_launch()) continue;
    targets_[t]->launch_block(block_index(launch.grid, launch.placed++));
    launch.next_target = (t + 1) % targets_.size();
    used_[t] = 1;
    placed_ = true;
  }
}

}  // namespace weft::dispatch
