// Units of their own for integers, single precision, double precision and special functions, as GPUs have
// them since Volta: a few of a kind for each scheduler, or one for several schedulers.
#ifndef WEFT_DATAPATH_SUB_CORE_UNITS_H
#define WEFT_DATAPATH_SUB_CORE_UNITS_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "datapath/datapath.h"
#include "datapath/simd_groups.h"

namespace weft::datapath {

// Members as those of SimdGroups.
class SubCoreUnits {
 public:
  using Unit = Units::Unit;

  explicit SubCoreUnits(const Datapath::Setting& setting) : schedulers_(setting.machine.schedulers) {
    std::size_t first = 0;
    for (std::size_t k = 0; k < Units::kKinds; ++k) {
      const Units::Lanes& lanes = setting.config.units.lanes[k];
      kinds_[k] = {first, static_cast<unsigned>(lanes.count), static_cast<unsigned>(lanes.width)};
      first += lanes.count;
    }
    until_.assign(first, 0);
    busy_.assign(first, 0);
  }

  void reset() { std::fill(until_.begin(), until_.end(), 0); }

  static bool goes_to_memory(const Demand& demand) {
    return demand.unit == ptx::Unit::kMemory || demand.sub_core_unit == Unit::kLoadStore;
  }
  static constexpr unsigned kKinds = Units::kKinds + 1;  // the last: of either of two
  static unsigned kind_of(const Demand& demand) { return static_cast<unsigned>(demand.sub_core_unit); }
  static bool has_lanes(const Demand& demand) {
    return demand.unit != ptx::Unit::kMemory && static_cast<unsigned>(demand.sub_core_unit) < kKinds;
  }

  Cycle free(Cycle now, unsigned scheduler, const Demand& demand) const {
    if (!has_lanes(demand)) return now;
    if (demand.sub_core_unit != Unit::kFp32OrInt32) return free_of(now, scheduler, demand.sub_core_unit);
    const Cycle single = free_of(now, scheduler, Unit::kFp32);
    return single == now ? now : std::min(single, free_of(now, scheduler, Unit::kInt32));
  }
  TakenUnit take(Cycle now, unsigned scheduler, const Demand& demand, unsigned beats, unsigned places,
                 const std::size_t* shared) {
    TakenUnit taken;
    if (!has_lanes(demand)) return taken;
    Unit unit = demand.sub_core_unit;
    if (unit == Unit::kFp32OrInt32)
      unit = free_of(now, scheduler, Unit::kFp32) == now ? Unit::kFp32 : Unit::kInt32;
    const Kind& kind = kinds_[static_cast<unsigned>(unit)];
    taken.cycles = demand.instruction->is_control() ? beats : cycles_of(places, kind.width, demand.interval);
    taken.unit = shared != nullptr ? *shared : first_of(now, scheduler, kind);
    datapath::take(until_[taken.unit], busy_[taken.unit], now, taken.cycles);
    return taken;
  }
  // A row holds the entrance of its unit for its cycles there, and then has a stage at least before it.
  static Cycle end(unsigned beats, Cycle taken, Cycle depth, Cycle latency) {
    const Cycle row = std::max<Cycle>(1, taken / std::max(1u, beats));
    return taken - row + depth - 1 + std::max(latency, row);
  }
  Cycle next_free(Cycle now, Cycle next) const {
    for (const Cycle until : until_) next = until > now ? std::min(next, until) : next;
    return next;
  }

  void bind(statistics::Group& group) {
    static constexpr std::array<const char*, Units::kKinds> kNames = {"int32_unit", "fp32_unit", "fp64_unit",
                                                                      "sfu_unit"};
    for (std::size_t k = 0; k < Units::kKinds; ++k) {
      for (unsigned i = 0; i < kinds_[k].count; ++i) {
        group.group(kNames[k], i)
            .counter("busy_cycles", units::kCycles, "cycles for which instructions took the unit",
                     busy_[kinds_[k].first + i]);
      }
    }
  }

 private:
  struct Kind {
    std::size_t first = 0;  // of its units among all
    unsigned count = 0, width = 0;
  };

  static Cycle cycles_of(unsigned places, unsigned width, std::uint16_t interval) {
    return Cycle{std::max(1u, places / width)} * interval;
  }
  // Unit i serves scheduler i modulo the units, or the schedulers i, i + n, ... have several.
  template <class Visit>
  void each(unsigned scheduler, const Kind& kind, Visit&& visit) const {
    if (kind.count <= schedulers_) {
      visit(kind.first + scheduler % kind.count);
      return;
    }
    for (unsigned i = scheduler; i < kind.count; i += schedulers_) visit(kind.first + i);
  }
  Cycle free_of(Cycle now, unsigned scheduler, Unit unit) const {
    Cycle first = kNever;
    each(scheduler, kinds_[static_cast<unsigned>(unit)],
         [&](std::size_t i) { first = std::min(first, std::max(now, until_[i])); });
    return first;
  }
  std::size_t first_of(Cycle now, unsigned scheduler, const Kind& kind) const {
    std::size_t chosen = kind.first + scheduler % kind.count;
    bool found = false;
    each(scheduler, kind, [&](std::size_t i) {
      if (found || until_[i] > now) return;
      chosen = i;
      found = true;
    });
    return chosen;
  }

  const unsigned schedulers_;
  std::array<Kind, Units::kKinds> kinds_;
  std::vector<Cycle> until_;  // taken until
  std::vector<std::uint64_t> busy_;
};

}  // namespace weft::datapath

#endif
