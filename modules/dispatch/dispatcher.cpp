#include "dispatch/dispatcher.h"

namespace weft::dispatch {

Dispatcher::Dispatcher(ClockDomain& clock, std::vector<BlockTarget*> targets)
    : clock_(clock), targets_(std::move(targets)), index_(clock.add(*this)) {}

void Dispatcher::start(const Dim3& grid) {
  grid_ = grid;
  total_ = std::uint64_t{grid[0]} * grid[1] * grid[2];
  placed_ = retired_ = 0;
  next_target_ = 0;
  active_ = true;
}

void Dispatcher::reset() {
  active_ = false;
  due_ = kNever;
  total_ = placed_ = retired_ = 0;
}

Dim3 Dispatcher::block_index(std::uint64_t number) const {
  return {static_cast<std::uint32_t>(number % grid_[0]),
          static_cast<std::uint32_t>(number / grid_[0] % grid_[1]),
          static_cast<std::uint32_t>(number / grid_[0] / grid_[1])};
}

Cycle Dispatcher::step(Cycle now) {
  if (now < due_) return due_;
  due_ = kNever;
  const Cycle next = work(now);
  due_ = std::min(due_, next);
  return due_;
}

Cycle Dispatcher::work(Cycle now) {
  if (active_ && retired_ == total_ && hooks_.drained()) {
    active_ = false;
    hooks_.finished(now);
  }
  if (!active_ && !hooks_.begin(now)) return kNever;
  if (placed_ == total_) return kNever;
  bool placed = false;
  const std::size_t first = next_target_;
  for (std::size_t i = 0; i < targets_.size() && placed_ < total_; ++i) {
    const std::size_t t = (first + i) % targets_.size();
    if (!targets_[t]->can_launch()) continue;
    targets_[t]->launch_block(block_index(placed_++));
    next_target_ = (t + 1) % targets_.size();
    placed = true;
  }
  return placed && placed_ < total_ ? now + 1 : kNever;  // `block_retired` wakes us when there is room again
}

}  // namespace weft::dispatch
