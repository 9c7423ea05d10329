// What an SM did with its cycles: each cycle of each scheduler is in one bucket, beside it whether a lane was
// active and a beat under way, and where it is asked for, what threads waited for in the cycles without an
// active lane.
//
// An SM that sleeps stays as its last step left it, but for the beats of its last issues. So does a scheduler
// that is not asked (domain.h). The cycle in which it was asked and those after it are counted together, when
// it is asked again.
#ifndef WEFT_SM_CYCLE_ACCOUNT_H
#define WEFT_SM_CYCLE_ACCOUNT_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bus/clock_domain.h"
#include "common/bits.h"
#include "datapath/datapath.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class CycleAccount {
 public:
  using Stall = warp_formation::Stall;
  // Cycles of one scheduler by what it did: [0] issued, else by Stall.
  using Buckets = std::array<std::uint64_t, warp_formation::kStalls>;

  // Threads by what they wait for: the categories of HARP Fig. 5 and CROWN slides 59 and 63. What waits for
  // an operand is ready but for a result that is under way, so it counts as in the pipeline under the
  // scoreboard.
  struct ThreadStates {
    std::uint64_t in_pipeline = 0, ready = 0, barrier = 0, reconvergence = 0, inactive = 0;
  };
  static ThreadStates states_of(const warp_formation::Census& census, bool barrel) {
    return {census.issued + (barrel ? 0 : census.ready), (barrel ? census.ready : 0) + census.queued,
            census.barrier, census.reconvergence + census.held_by_scheme() + census.warp_sync,
            census.inactive_path + census.lookup};
  }

  // `stalled_threads`: whether what threads wait for is summed. `barrel`: which threads count as ready.
  CycleAccount(std::size_t schedulers, std::size_t schedulers_per_domain, bool stalled_threads, bool barrel)
      : schedulers_(schedulers),
        domains_(schedulers / schedulers_per_domain),
        per_domain_(schedulers_per_domain),
        observes_(stalled_threads),
        barrel_(barrel) {}

  // A kernel begins at `now`: cycles before are nobody's.
  void start(Cycle now);
  // All cycles before `now` were spent as the last step ended.
  void bring_to(Cycle now) {
    if (observes_ && now > until_) advance_domains(now - until_);
    until_ = std::max(until_, now);
    for (std::size_t s = 0; s < schedulers_.size(); ++s) bring_to(now, s);
  }
  // Those of one scheduler. Not if censuses are taken: they are of all schedulers at one time.
  void bring_to(Cycle now, std::size_t scheduler) {
    Scheduler& s = schedulers_[scheduler];
    if (now <= s.until) return;
    advance(s, now - s.until);
    s.until = now;
  }
  // What the scheduler, which was brought to this step, does in it.
  void set(std::size_t scheduler, Stall stall) { schedulers_[scheduler].last = stall; }
  Stall last(std::size_t scheduler) const { return schedulers_[scheduler].last; }
  // What holds up the load-store unit for whom ready warps wait, from this step on: a number below kHolds.
  // Schedulers for which they wait have been brought to it.
  static constexpr unsigned kHolds = 7;
  void hold(unsigned by) { hold_ = by; }
  // It issues in this step, the cycle to which it was brought.
  void issued(std::size_t scheduler, const datapath::Times& times) {
    Scheduler& s = schedulers_[scheduler];
    s.lanes |= times.lane_beats;
    s.beats_until = std::max(s.beats_until, s.until + times.beats);
    s.port_cycles += times.port;
  }

  // Whether it wants censuses at all.
  bool takes_censuses() const { return observes_; }
  // Whether the step that ends has to give a census of the domain: a cycle without an active lane may follow
  // before the next step. `issued`: that is in the next cycle.
  bool wants_census(std::size_t domain, bool issued) const {
    return observes_ && (!issued || (lanes_of(domain) & 1) == 0);
  }
  void take_census(std::size_t domain, const warp_formation::Census& census) {
    domains_[domain].census = census;
  }
  // Threads of the domain's resident blocks from cycle `from` on.
  void resident(std::size_t domain, std::int64_t more, Cycle from) {
    bring_to(from);
    domains_[domain].resident += static_cast<std::uint64_t>(more);
  }

  const Buckets& buckets(std::size_t scheduler) const { return schedulers_[scheduler].buckets; }
  void bind(statistics::Group& group);
  void bind_stalled(statistics::Group& group);
  // As after construction.
  void reset();
  // Between two kernels. `start` sets the rest anew; the counters are in the statistics.
  void archive(Archive& archive) { archive(hold_); }

 private:
  // What each cycle needs is in one line of the host's caches, and one bucket in another.
  struct alignas(64) Scheduler {
    Cycle until = 0;          // cycles before are accounted for
    std::uint64_t lanes = 0;  // bit i: a lane is active in cycle until + i
    Cycle beats_until = 0;    // beats of its issues, with threads or without, are under way until here
    Stall last = Stall::kEmpty;
    std::uint64_t held = 0, lane_cycles = 0, no_ready = 0, memory_blocked = 0;
    Buckets buckets{};
    std::uint64_t port_cycles = 0;
  };
  struct Domain {
    warp_formation::Census census;  // at the end of the last step that wanted one
    std::uint64_t resident = 0;
  };
  // Threads by what they waited for, summed over cycles without an active lane.
  struct Stalled {
    std::uint64_t cycles = 0;
    ThreadStates threads;
    std::uint64_t resident = 0;  // summed over all cycles
  };
  // Those of the next `cycles` cycles in which a lane is active.
  static Cycle active(std::uint64_t lanes, Cycle cycles) {
    if (lanes == 0) return 0;
    if (cycles == 1) return lanes & 1;
    return count_of(cycles >= 64 ? lanes : lanes & ((std::uint64_t{1} << cycles) - 1));
  }
  void advance(Scheduler& s, Cycle cycles) {
    s.buckets[static_cast<unsigned>(s.last)] += cycles;
    if (s.lanes != 0) {
      s.lane_cycles += active(s.lanes, cycles);
      s.lanes = cycles >= 64 ? 0 : s.lanes >> cycles;
    }
    if (s.last == Stall::kEmpty) return;
    s.held += cycles;
    if (s.last != Stall::kNone && s.last != Stall::kUnitBusy) count_idle(s, cycles);
  }
  // In a cycle without an issue, a beat of an earlier one keeps the scheduler from being idle.
  void count_idle(Scheduler& s, Cycle cycles) {
    const Cycle beats = s.beats_until > s.until ? std::min(s.beats_until - s.until, cycles) : 0;
    if (s.last == Stall::kMemoryBusy) {
      memory_busy_[hold_] += cycles;
      s.memory_blocked += cycles - beats;
    } else {
      s.no_ready += cycles - beats;
    }
  }
  void advance_domains(Cycle cycles);
  std::uint64_t lanes_of(std::size_t domain) const {
    std::uint64_t lanes = 0;
    for (std::size_t s = domain * per_domain_; s < (domain + 1) * per_domain_; ++s)
      lanes |= schedulers_[s].lanes;
    return lanes;
  }
  void count_stalled(const warp_formation::Census& census, Cycle cycles);

  std::vector<Scheduler> schedulers_;
  std::vector<Domain> domains_;
  const std::size_t per_domain_;
  const bool observes_, barrel_;
  Cycle until_ = 0;  // cycles before are accounted for in censuses
  unsigned hold_ = 0;
  std::array<std::uint64_t, kHolds>
      memory_busy_{};  // of all schedulers: what the load-store unit was held up by
  Stalled stalled_;
};

}  // namespace weft::sm

#endif
