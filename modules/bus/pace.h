// When the owner of a port acts on what has arrived: at the edges of a clock domain, or in a process of its
// own that an event starts.
#ifndef WEFT_BUS_PACE_H
#define WEFT_BUS_PACE_H

#include <cstddef>
#include <systemc>

#include "bus/clock_domain.h"

namespace weft::bus {

// Steps of a clock domain. What arrives at an instant may be used from the first edge strictly after it, in
// whatever order modules are stepped. The same holds for a channel that becomes free.
class EdgePace {
 public:
  using Time = Cycle;

  // `index`: the owner's place in `domain`.
  EdgePace(ClockDomain& domain, std::size_t index) : domain_(&domain), index_(index) {}

  Time ready(const sc_core::sc_time& delay) const {
    return delay == sc_core::SC_ZERO_TIME ? domain_->next_edge()
                                          : domain_->first_edge_after(sc_core::sc_time_stamp() + delay);
  }
  Time free(const sc_core::sc_time& delay) const { return ready(delay); }
  void wake_at(Time at) const { domain_->wake_at(index_, at); }

 private:
  ClockDomain* domain_;
  std::size_t index_;
};

// A process that is sensitive to `event`. What arrives may be used when its annotated delay is over; a
// channel is free again with the call that says so, because the order of calls rules it (IEEE
// 1666-2011, 15.2.6).
class EventPace {
 public:
  using Time = sc_core::sc_time;

  explicit EventPace(sc_core::sc_event& event) : event_(&event) {}

  static Time ready(const sc_core::sc_time& delay) { return sc_core::sc_time_stamp() + delay; }
  static Time free(const sc_core::sc_time&) { return sc_core::sc_time_stamp(); }
  // An event has one notification: an earlier one takes the place of a later one, so the process asks again
  // for what is left when it has run.
  void wake_at(const Time& at) const {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    event_->notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
  }

 private:
  sc_core::sc_event* event_;
};

}  // namespace weft::bus

#endif
