// Finds launches that will never end, and says in words why.
//
// Every `cycles` core cycles it looks whether the launch went on:
//
//   deadlock        nothing was issued, and no transaction of an SM moves
//   livelock        threads issue, but each of them only repeats a loop with the same registers, as it waits
//                   for memory that nobody will change; of these,
//     SIMT deadlock   threads are held back by the divergence scheme: on a path that does not run, or at a
//                     reconvergence point
//     starvation      threads could run, and are never chosen
//
// Slow is not dead: while the crossbar passes packets of the SMs on, or one takes its time, nothing hangs, be
// it that threads wait for their loads or that the stores of threads that have exited are still on their way.
//
// A span without an exit or the opening of a barrier raises the suspicion; over the next one the SMs watch
// their threads (sm/observers/spin_observer.h). Loops that count, or read a clock, are never taken for
// livelocks.
#ifndef WEFT_PLATFORM_WATCHDOG_H
#define WEFT_PLATFORM_WATCHDOG_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "bus/clock_domain.h"
#include "sm/observers/spin_observer.h"
#include "sm/sm.h"

namespace weft {

class Watchdog final : public Clocked {
 public:
  Watchdog(ClockDomain& clock, Cycle cycles, std::deque<sm::Sm>& sms)
      : clock_(clock), index_(clock.add(*this)), cycles_(cycles), sms_(sms) {
    for (auto& sm : sms) spins_.emplace_back(sm);
  }

  // Told with the reason; the launches are to be stopped. It may start the watchdog again.
  std::function<void(const std::string& what)> on_hang;
  // Asked when threads only repeat themselves; true: someone outside of the GPU may yet change the memory
  // that they read, and they do not count as hung. Nor do they, whatever the answer, if they read system
  // memory.
  std::function<bool()> may_be_helped;
  // The SMs' memory traffic so far, as a number that grows with it, and whether anything is on its way.
  struct Traffic {
    std::uint64_t bytes = 0;
    bool moves = false;
  };
  std::function<Traffic()> traffic;

  void start(Cycle now);
  void stop();
  Cycle step(Cycle now) override;

 private:
  std::string deadlock(const Traffic& memory) const;  // empty: none
  std::string judge() const;                          // empty: no livelock

  ClockDomain& clock_;
  const std::size_t index_;
  const Cycle cycles_;
  std::deque<sm::Sm>& sms_;
  std::deque<sm::SpinObserver> spins_;  // by SM
  bool active_ = false, watching_ = false;
  std::uint64_t issued_ = 0, milestones_ = 0, system_accesses_ = 0, bytes_ = 0;  // at the last look
  Cycle deadline_ = 0;
};

}  // namespace weft

#endif
