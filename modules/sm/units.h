// The functional units of an SM as resources in time: which can start an instruction, and until when they are
// taken.
#ifndef WEFT_SM_UNITS_H
#define WEFT_SM_UNITS_H

#include <algorithm>
#include <vector>

#include "common/clock_domain.h"
#include "sm/kernel.h"
#include "sm/sm_config.h"

namespace weft::sm {

class Units {
 public:
  explicit Units(const Config& config)
      : config_(config), simd_(config.simd_groups, 0), sfu_(config.sfu_groups, 0) {}

  void reset() {
    std::fill(simd_.begin(), simd_.end(), 0);
    std::fill(sfu_.begin(), sfu_.end(), 0);
    memory_ = 0;
  }

  bool can_start(Cycle now, unsigned scheduler, ptx::Unit unit) const {
    switch (unit) {
      case ptx::Unit::kMemory:
        return memory_ <= now;
      case ptx::Unit::kSfu:
        return find(sfu_, now, scheduler, false) != nullptr;
      default:
        return find(simd_, now, scheduler, config_.bind_groups) != nullptr;
    }
  }

  // Takes the unit for an instruction of `beats` SIMD cycles; returns how many cycles it occupies the unit.
  // Precondition: can_start.
  Cycle start(Cycle now, unsigned scheduler, const Operation& op, unsigned beats) {
    const std::uint64_t slots = beats * config_.simd_width;
    switch (op.instruction->unit) {
      case ptx::Unit::kMemory: {
        const Cycle cycles = std::max<Cycle>(1, slots / config_.memory_width);
        memory_ = now + cycles;
        return cycles;
      }
      case ptx::Unit::kSfu: {
        const Cycle cycles = std::max<Cycle>(1, slots / config_.sfu_width) * op.interval;
        *find(sfu_, now, scheduler, false) = now + cycles;
        return cycles;
      }
      default: {
        const Cycle cycles = Cycle{beats} * (op.instruction->is_control() ? 1 : op.interval);
        *find(simd_, now, scheduler, config_.bind_groups) = now + cycles;
        return cycles;
      }
    }
  }

  // The first cycle after `now` at which a unit that is taken becomes free, or kNever.
  Cycle next_free(Cycle now) const {
    Cycle next = memory_ > now ? memory_ : kNever;
    for (const Cycle until : simd_) next = until > now ? std::min(next, until) : next;
    for (const Cycle until : sfu_) next = until > now ? std::min(next, until) : next;
    return next;
  }

 private:
  // A free unit, or nullptr; the scheduler's own one if units are bound to schedulers.
  template <class Vector>
  static auto find(Vector& units, Cycle now, unsigned scheduler, bool bound) -> decltype(units.data()) {
    if (bound) {
      auto* own = &units[scheduler % units.size()];
      return *own <= now ? own : nullptr;
    }
    for (auto& until : units) {
      if (until <= now) return &until;
    }
    return nullptr;
  }

  const Config& config_;
  std::vector<Cycle> simd_, sfu_;  // taken until
  Cycle memory_ = 0;
};

}  // namespace weft::sm

#endif
