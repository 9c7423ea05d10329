#include "check/sync_clock.h"

#include <algorithm>

namespace weft::check {
namespace {

template <class Visit>
void each(unsigned word, std::uint32_t mask, Visit visit) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    visit(word * 32 + static_cast<std::uint32_t>(__builtin_ctz(rest)));
  }
}

}  // namespace

void SyncClock::start(std::uint32_t threads) {
  threads_ = threads;
  own_.assign(threads, 1);
  base_.assign(threads, 0);
  extra_.clear();
  for (Barrier& barrier : barriers_) {
    barrier.waiting = {};
    barrier.waiting_count = 0;
    barrier.joined.clear();
  }
}

// What the thread knows, and what it has done itself.
void SyncClock::join(std::vector<Clock>& into, std::uint32_t thread) const {
  into.resize(threads_, 0);
  for (std::uint32_t other = 0; other < threads_; ++other) {
    into[other] = std::max(into[other], other == thread ? own_[thread] : known(thread, other));
  }
}

std::vector<SyncClock::Clock> SyncClock::all_known(std::uint32_t thread) const {
  std::vector<Clock> clocks(threads_);
  for (std::uint32_t other = 0; other < threads_; ++other) clocks[other] = known(thread, other);
  return clocks;
}

void SyncClock::learn(std::uint32_t thread, const std::vector<Clock>& joined) {
  if (extra_.empty()) extra_.assign(std::size_t{threads_} * threads_, 0);
  Clock* row = extra_.data() + std::size_t{thread} * threads_;
  for (std::uint32_t other = 0; other < threads_; ++other) row[other] = std::max(row[other], joined[other]);
}

void SyncClock::arrive(unsigned barrier, unsigned word, std::uint32_t mask, bool waits) {
  Barrier& b = barriers_[barrier];
  if (waits) {
    b.waiting[word] |= mask;
    b.waiting_count += static_cast<std::uint32_t>(__builtin_popcount(mask));
    return;
  }
  // What the thread does from here on is not covered by its arrival.
  each(word, mask, [&](std::uint32_t thread) {
    join(b.joined, thread);
    ++own_[thread];
  });
}

void SyncClock::release(unsigned barrier, bool whole) {
  Barrier& b = barriers_[barrier];
  if (whole || b.waiting_count == threads_) {
    base_ = own_;
    for (Clock& clock : own_) ++clock;
  } else {
    scratch_ = b.joined;
    scratch_.resize(threads_, 0);
    const auto each_waiting = [&](auto visit) {
      for (unsigned word = 0; word < b.waiting.size(); ++word) each(word, b.waiting[word], visit);
    };
    each_waiting([&](std::uint32_t thread) { join(scratch_, thread); });
    each_waiting([&](std::uint32_t thread) {
      learn(thread, scratch_);
      ++own_[thread];
    });
  }
  b.waiting = {};
  b.waiting_count = 0;
  b.joined.clear();
}

void SyncClock::synchronise(unsigned word, std::uint32_t mask) {
  scratch_.assign(threads_, 0);
  each(word, mask, [&](std::uint32_t thread) { join(scratch_, thread); });
  each(word, mask, [&](std::uint32_t thread) {
    learn(thread, scratch_);
    ++own_[thread];
  });
}

}  // namespace weft::check
