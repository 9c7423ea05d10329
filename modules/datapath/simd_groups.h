// The units of the `spatial` datapath: SIMD groups that do all arithmetic but that of the special-function
// units. What such a set of units has to offer, the other one (sub_core_units.h) has too.
#ifndef WEFT_DATAPATH_SIMD_GROUPS_H
#define WEFT_DATAPATH_SIMD_GROUPS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "datapath/datapath.h"

namespace weft::datapath {

// A unit that an issue takes, by its number in the set, and for how long.
struct TakenUnit {
  std::size_t unit = 0;
  Cycle cycles = 1;
};

inline Cycle first_free(const Cycle* units, std::size_t count, Cycle now) {
  Cycle first = kNever;
  for (std::size_t i = 0; i < count; ++i) {
    if (units[i] <= now) return now;
    first = std::min(first, units[i]);
  }
  return first;
}
inline std::size_t free_one(const Cycle* units, std::size_t count, Cycle now) {
  std::size_t free = 0;
  while (free < count && units[free] > now) ++free;
  return free;
}
// `until`: of the unit that is taken.
inline void take(Cycle& until, std::uint64_t& busy, Cycle now, Cycle cycles) {
  const Cycle from = std::max(until, now);
  if (now + cycles <= from) return;  // it shares the unit with one that keeps it as long
  busy += now + cycles - from;
  until = now + cycles;
}

class SimdGroups {
 public:
  explicit SimdGroups(const Datapath::Setting& setting)
      : sfu_width_(setting.machine.sfu_width),
        bound_(setting.machine.bind_groups),
        simd_(setting.machine.simd_groups, 0),
        sfu_(setting.machine.sfu_groups, 0),
        simd_busy_(simd_.size(), 0),
        sfu_busy_(sfu_.size(), 0) {}

  void reset() {
    std::fill(simd_.begin(), simd_.end(), 0);
    std::fill(sfu_.begin(), sfu_.end(), 0);
  }

  // Whether it takes the way to the load-store unit, and none of these units.
  static bool goes_to_memory(const Demand& demand) { return demand.unit == ptx::Unit::kMemory; }
  // What instructions that begin together in one cycle may share, by kind of unit.
  static constexpr unsigned kKinds = 2;
  static unsigned kind_of(const Demand& demand) { return demand.unit == ptx::Unit::kSfu ? 1 : 0; }
  static bool has_lanes(const Demand& demand) { return !goes_to_memory(demand); }

  // The first cycle from `now` on at which a unit of the instruction is free.
  Cycle free(Cycle now, unsigned scheduler, const Demand& demand) const {
    if (demand.unit == ptx::Unit::kSfu) return first_free(sfu_.data(), sfu_.size(), now);
    if (bound_) return std::max(now, simd_[scheduler % simd_.size()]);
    return first_free(simd_.data(), simd_.size(), now);
  }
  // The issue takes one, or `shared`, which another issue of this cycle has taken. `places`: lanes that its
  // beats have.
  TakenUnit take(Cycle now, unsigned scheduler, const Demand& demand, unsigned beats, unsigned places,
                 const std::size_t* shared) {
    TakenUnit taken;
    if (demand.unit == ptx::Unit::kSfu) {
      taken.cycles = Cycle{std::max(1u, places / sfu_width_)} * demand.interval;
      taken.unit = shared != nullptr ? *shared : free_one(sfu_.data(), sfu_.size(), now);
      datapath::take(sfu_[taken.unit], sfu_busy_[taken.unit], now, taken.cycles);
      return taken;
    }
    taken.cycles = Cycle{beats} * (demand.instruction->is_control() ? 1u : demand.interval);
    taken.unit = shared != nullptr ? *shared
                 : bound_          ? scheduler % simd_.size()
                                   : free_one(simd_.data(), simd_.size(), now);
    datapath::take(simd_[taken.unit], simd_busy_[taken.unit], now, taken.cycles);
    return taken;
  }
  // From the issue to the cycle in which the results can be used: the first beat's when `depth` - 1 stages
  // and its latency are over, the others' as they follow.
  static Cycle end(unsigned /*beats*/, Cycle taken, Cycle depth, Cycle latency) {
    return taken - 1 + depth + latency - 1;
  }
  // The first cycle after `now` at which one of them becomes free, or `next`, if that is earlier.
  Cycle next_free(Cycle now, Cycle next) const {
    for (const Cycle until : simd_) next = until > now ? std::min(next, until) : next;
    for (const Cycle until : sfu_) next = until > now ? std::min(next, until) : next;
    return next;
  }

  void bind(statistics::Group& group) {
    const auto each = [&group](const char* kind, const char* meaning, std::vector<std::uint64_t>& busy) {
      for (std::size_t i = 0; i < busy.size(); ++i)
        group.group(kind, static_cast<unsigned>(i)).counter("busy_cycles", units::kCycles, meaning, busy[i]);
    };
    each("simd_group", "cycles for which instructions took the SIMD group", simd_busy_);
    each("sfu_group", "cycles for which instructions took the special-function units", sfu_busy_);
  }

 private:
  const unsigned sfu_width_;
  const bool bound_;               // scheduler i issues to SIMD group i only
  std::vector<Cycle> simd_, sfu_;  // taken until
  std::vector<std::uint64_t> simd_busy_, sfu_busy_;
};

}  // namespace weft::datapath

#endif
