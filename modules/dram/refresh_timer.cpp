#include "dram/refresh_timer.h"

#include <algorithm>

namespace weft::dram {

RefreshTimer::RefreshTimer(const SchedulerConfig& config, CommandTimes& times)
    : times_(times),
      per_bank_(config.refresh == Refresh::kPerBank),
      interval_(per_bank_ && config.timing.refi != 0 ? std::max<Edge>(config.timing.refi / times.banks(), 1)
                                                     : config.timing.refi) {}

void RefreshTimer::reset(Edge now) {
  state_ = State();
  state_.due = interval_ == 0 ? kNoEdge : now + interval_;
}

void RefreshTimer::refresh(Edge now) {
  if (state_.due > now) return;
  // Of a long idle time only the last two of each bank can still matter; the others find all rows closed.
  const std::uint64_t round = per_bank_ ? times_.banks() : 1;
  const std::uint64_t rounds = (now - state_.due) / interval_ / round;
  if (rounds > 2) {
    for (std::uint64_t i = 0; i < round; ++i) refresh_next();
    const std::uint64_t skipped = per_bank_ ? rounds - 3 : rounds - 2;
    refreshes_ += skipped;
    bank_refreshes_ += per_bank_ ? skipped * round : 0;
    state_.due += skipped * round * interval_;
  }
  while (state_.due <= now) refresh_next();
}

// A round over all banks counts as a refresh.
void RefreshTimer::refresh_next() {
  if (per_bank_) {
    times_.refresh(state_.bank, state_.due);
    ++bank_refreshes_;
    state_.bank = state_.bank + 1 == times_.banks() ? 0 : state_.bank + 1;
    if (state_.bank == 0) ++refreshes_;
  } else {
    times_.refresh_all(state_.due);
    ++refreshes_;
  }
  state_.due += interval_;
}

void RefreshTimer::bind(statistics::Group& group) {
  group.counter("refreshes", units::kCommands, "refreshes, up to the last request", refreshes_);
  if (per_bank_)
    group.counter("bank_refreshes", units::kCommands, "refreshes of one bank each, up to the last request",
                  bank_refreshes_);
}

}  // namespace weft::dram
