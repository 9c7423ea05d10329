// Lanes that work together: a row of a scheme's warp is a beat, all of whose lanes work in the same cycle, or
// in as many as a narrow unit needs. A thread's lane is its position modulo the width. Units are SIMD groups
// for all arithmetic, or units of their own for each kind of it.
#include <algorithm>
#include <array>
#include <utility>

#include "common/bits.h"
#include "datapath/address_queues.h"
#include "datapath/datapath.h"
#include "datapath/lane_registers.h"
#include "datapath/operand_reads.h"
#include "datapath/register_arrays.h"
#include "datapath/simd_groups.h"
#include "datapath/sub_core_units.h"
#include "datapath/taken_lanes.h"

namespace weft::datapath {
namespace {

using warp_formation::kChunk;
using warp_formation::ThreadGroup;

// `UnitSet`: as SimdGroups.
template <class UnitSet>
class Spatial final : public Datapath {
 public:
  explicit Spatial(const Setting& setting) : Spatial(setting.config, setting.machine) {}
  Spatial(const Config& config, const Machine& machine)
      : Datapath(machine.simd_width),
        machine_(machine),
        compaction_(config.compaction),
        counts_issue_(config.guard == Guard::kIssueMask),
        swizzle_(config.compaction == Compaction::kScc ? config.swizzle_latency : 0),
        beat_(machine.simd_width == kChunk ? ~0u : (1u << machine.simd_width) - 1),
        units_(Setting{config, machine}),
        queues_(config.address_queue, machine.schedulers),
        operands_(config.operands, machine.schedulers),
        ports_(machine.schedulers, 0),
        scalar_(machine.scalar_unit ? machine.schedulers : 0, 0),
        scalar_busy_(scalar_.size(), 0),
        scalar_issues_(scalar_.size(), 0),
        registers_(config, machine, machine.sub_cores, machine.sub_cores > 1),
        held_scalars_(machine.slots, 0) {}

  void reset(Cycle now) override {
    origin_ = now;
    units_.reset();
    queues_.reset();
    operands_.reset();
    std::fill(ports_.begin(), ports_.end(), 0);
    std::fill(scalar_.begin(), scalar_.end(), 0);
    memory_ = 0;
    std::fill(held_scalars_.begin(), held_scalars_.end(), 0);
    used_scalars_ = 0;
    registers_.reset();
    for (Begun& begun : begun_) begun.at = kNever;
  }

  // --- registers: one file for all warps, and perhaps one for what a warp has once ---

  RegisterFit fit(const BlockRegisters& registers) const override {
    RegisterFit result = registers_.fit(in_file(registers));
    result.scalars_needed = scalars_of(registers);
    if (result.scalars_needed != 0) result.scalar_blocks = machine_.scalar_registers / result.scalars_needed;
    return result;
  }
  bool can_hold(unsigned slot, const BlockRegisters& registers) const override {
    return registers_.can_hold(slot, in_file(registers)) &&
           used_scalars_ + scalars_of(registers) <= machine_.scalar_registers;
  }
  void hold(const Block& block, const BlockRegisters& registers) override {
    registers_.hold(block, in_file(registers));
    held_scalars_[block.slot] = scalars_of(registers);
    used_scalars_ += held_scalars_[block.slot];
  }
  void release(const Block& block) override {
    registers_.release(block);
    used_scalars_ -= std::exchange(held_scalars_[block.slot], 0);
  }
  bool exited(unsigned chunk, std::uint32_t threads) override {
    return registers_.gives_back_at_exit() && registers_.exited(chunk, threads);
  }

  storage::Arrays arrays() const override {
    const unsigned files = machine_.sub_cores > 1 ? machine_.sub_cores : machine_.simd_groups;
    return register_arrays(files, machine_.simd_width, machine_.registers);
  }

  // --- time ---

  bool has_scalar_unit() const override { return machine_.scalar_unit; }

  Cycle earliest(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue) const override {
    if (on_scalar_unit(demand)) {
      const Cycle unit = std::max(now, scalar_[scheduler]);
      if (demand.unit != ptx::Unit::kMemory) return unit;
      return queues_.on() ? std::max(unit, queues_.free(now, scheduler)) : std::max(unit, memory_);
    }
    Cycle unit = operands_.collects() ? now : unit_free(now, scheduler, demand);
    if (operands_.on()) unit = operands_.earliest(unit, scheduler, demand, issue);
    return has_ports() ? port_free(unit, scheduler) : unit;
  }
  bool has_one_way_to_memory() const override {
    return !machine_.scalar_unit && !has_ports() && !queues_.on() && !operands_.on();
  }
  Cycle memory_free(Cycle now) const override { return std::max(now, memory_); }
  bool port_taken(Cycle now, unsigned scheduler) const override {
    return has_ports() && port_free(now, scheduler) != now;
  }

  Times start(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue,
              const std::uint32_t* executing) override {
    if (on_scalar_unit(demand)) return start_scalar(now, scheduler, demand);
    Times times;
    times.beats = issue.rows;
    unsigned places = 0;
    if (demand.instruction->scalar) {
      times.one_thread();
      places = 1;
    } else {
      if (compacts()) {
        compact(issue, executing, times);
      } else {
        count_active(issue, nullptr, times);
      }
      places = times.beats * lanes();
    }
    if (machine_.shared_port) ports_[scheduler] = std::max(ports_[scheduler], now + times.beats);
    const TakenLanes* const shared = shared_unit(now, scheduler, demand, issue);
    Cycle begin = operands_.on() ? read_operands(now, scheduler, demand, issue) : now;
    TakenUnit taken;
    if (UnitSet::goes_to_memory(demand)) {
      const bool memory = demand.unit == ptx::Unit::kMemory;
      if (!queues_.on())
        taken.cycles = Cycle{std::max(1u, places / machine_.memory_width)} * (memory ? 1u : demand.interval);
      begin = to_memory(begin, scheduler, taken.cycles);
      // To the end of the pipeline; how long the data take is memory's business.
      times.end = begin + SimdGroups::end(times.beats, taken.cycles, machine_.pipeline_depth,
                                          (memory ? 1u : demand.latency) + swizzle_);
    } else {
      taken = units_.take(begin, scheduler, demand, times.beats, places,
                          shared != nullptr ? &shared->unit : nullptr);
      times.end = demand.instruction->is_control()
                      ? begin + taken.cycles - 1 + machine_.branch_cycles
                      : begin + UnitSet::end(times.beats, taken.cycles, machine_.pipeline_depth,
                                             demand.latency + swizzle_);
    }
    if (!begun_.empty()) note(now, scheduler, demand, issue, shared != nullptr, taken.unit, times);
    // A beat has them at once, and later beats keep ahead of the load-store unit.
    times.addresses = begin + swizzle_;
    if (has_ports()) times.port = port_cycles(times.beats);
    all_ = {times.end, groups_of(issue), ~0u};  // the last beat counts for all
    times.parts = &all_;
    times.part_count = 1;
    return times;
  }

  // --- instructions that begin together ---

  void begin_together() override {
    begun_.assign(machine_.schedulers, Begun(TakenLanes(lanes(), machine_.home)));
  }
  bool fits_beside(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue) const override {
    return unit_free(now, scheduler, demand) == now || shared_unit(now, scheduler, demand, issue) != nullptr;
  }

  Cycle next_free(Cycle now) const override {
    Cycle next = memory_ > now ? memory_ : kNever;
    for (const Cycle until : scalar_) next = until > now ? std::min(next, until) : next;
    next = units_.next_free(now, next);
    if (queues_.on()) next = queues_.next_free(now, next);
    if (operands_.on()) next = operands_.next_free(now, next);
    if (!has_ports()) return next;
    for (unsigned s = 0; s < ports_.size(); ++s) {
      const Cycle port = port_free(now, s);
      if (port != now) next = std::min(next, port);
    }
    return next;
  }

  void bind(statistics::Group& group) override {
    const auto each = [&group](const char* kind, const char* meaning, std::vector<std::uint64_t>& busy) {
      for (std::size_t i = 0; i < busy.size(); ++i)
        group.group(kind, static_cast<unsigned>(i)).counter("busy_cycles", units::kCycles, meaning, busy[i]);
    };
    units_.bind(group);
    if (operands_.on()) operands_.bind(group.group("operands"));
    group.group("load_store_port")
        .counter("busy_cycles", units::kCycles,
                 "cycles for which instructions took the way to the load-store unit", memory_busy_);
    each("scalar_unit", "cycles for which instructions took the scalar unit", scalar_busy_);
    for (std::size_t i = 0; i < scalar_.size(); ++i) {
      group.group("scalar_unit", static_cast<unsigned>(i))
          .counter("issues", units::kInstructions, "instructions issued to the scalar unit",
                   scalar_issues_[i]);
    }
  }

 private:
  static std::uint64_t warps_of(const BlockRegisters& registers) {
    return (registers.threads + registers.warp_size - 1) / registers.warp_size;
  }
  // Without those that a warp has once, where they are in a file of their own. Sub-cores get 32 threads at a
  // time, whatever the scheme makes of them.
  BlockRegisters in_file(BlockRegisters registers) const {
    if (machine_.scalar_unit) registers.per_warp = 0;
    if (machine_.sub_cores > 1) {
      registers.per_warp *= std::max<std::uint64_t>(1, kChunk / registers.warp_size);
      registers.warp_size = kChunk;
    }
    return registers;
  }
  std::uint64_t scalars_of(const BlockRegisters& registers) const {
    return machine_.scalar_unit ? registers.per_warp * warps_of(registers) : 0;
  }

  bool on_scalar_unit(const Demand& demand) const {
    return machine_.scalar_unit && demand.instruction->scalar;
  }
  // From the cycle in which the last beat starts to the end.
  Cycle depth_of(const Demand& demand, Cycle latency) const {
    return demand.instruction->is_control() ? machine_.branch_cycles : machine_.pipeline_depth + latency - 1;
  }
  // The unit does one operation at a time, and no lane works. Loads and stores go the way of all.
  Times start_scalar(Cycle now, unsigned scheduler, const Demand& demand) {
    Times times;
    times.beats = times.port = 0;
    Cycle latency = demand.latency, taken = demand.instruction->is_control() ? 1 : demand.interval;
    Cycle begin = now;
    if (demand.unit == ptx::Unit::kMemory) {
      latency = taken = 1;
      begin = to_memory(now, scheduler, 1);
    }
    take(scalar_[scheduler], scalar_busy_[scheduler], now, taken);
    ++scalar_issues_[scheduler];
    times.end = begin + taken - 1 + depth_of(demand, latency);
    times.addresses = begin;
    all_ = {times.end, 1, ~0u};
    times.parts = &all_;
    times.part_count = 1;
    return times;
  }

  bool has_ports() const { return machine_.shared_port || period() != 1; }
  // The first cycle from `now` on at which the scheduler may issue something.
  Cycle port_free(Cycle now, unsigned scheduler) const {
    const Cycle from = std::max(now, ports_[scheduler]);
    if (period() == 1) return from;
    const Cycle late = (from - origin_) % period();
    return late == 0 ? from : from + period() - late;
  }
  // Of an aligned scheduler an issue takes all cycles to the next one at which it may issue.
  std::uint32_t port_cycles(std::uint32_t beats) const {
    const auto period = static_cast<std::uint32_t>(this->period());
    const std::uint32_t taken = machine_.shared_port ? std::max<std::uint32_t>(1, beats) : 1;
    return (taken + period - 1) / period * period;
  }
  Cycle unit_free(Cycle now, unsigned scheduler, const Demand& demand) const {
    if (!UnitSet::goes_to_memory(demand)) return units_.free(now, scheduler, demand);
    return queues_.on() ? queues_.free(now, scheduler) : std::max(now, memory_);
  }
  // Returns the cycle in which it leaves its collector, if it has one, for its unit.
  Cycle read_operands(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue) {
    const Cycle ready = operands_.read(now, scheduler, demand, issue);
    if (!operands_.collects()) return ready;
    const Cycle begin = unit_free(ready, scheduler, demand);
    operands_.leave(scheduler, begin);
    return begin;
  }
  // Takes the way to the load-store unit. Returns the cycle in which it begins to go.
  Cycle to_memory(Cycle now, unsigned scheduler, Cycle cycles) {
    if (queues_.on()) {
      memory_busy_ += queues_.shared_interval();
      return queues_.enter(now, scheduler);
    }
    memory_busy_ += cycles;
    memory_ = now + cycles;
    return now;
  }

  // What a scheduler has begun in a cycle.
  struct Begun {
    explicit Begun(const TakenLanes& none) : on(filled(none, std::make_index_sequence<UnitSet::kKinds>())) {}
    template <std::size_t... kNumbers>
    static std::array<TakenLanes, UnitSet::kKinds> filled(const TakenLanes& none,
                                                          std::index_sequence<kNumbers...>) {
      return {{(static_cast<void>(kNumbers), none)...}};
    }
    Cycle at = kNever;
    std::array<TakenLanes, UnitSet::kKinds> on;  // the first unit of each kind that it took
  };
  // The unit of an issue that the scheduler has begun in this cycle, if this one fits in beside it. The
  // load-store unit takes one instruction at a time.
  const TakenLanes* shared_unit(Cycle now, unsigned scheduler, const Demand& demand,
                                const Issue& issue) const {
    if (begun_.empty() || begun_[scheduler].at != now || !UnitSet::has_lanes(demand)) return nullptr;
    const TakenLanes& taken = begun_[scheduler].on[UnitSet::kind_of(demand)];
    return !taken.empty() && taken.leave_room_for(issue) ? &taken : nullptr;
  }
  void note(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue, bool shares,
            std::size_t unit, Times& times) {
    Begun& begun = begun_[scheduler];
    if (begun.at != now) {
      begun.at = now;
      for (TakenLanes& taken : begun.on) taken.clear();
    } else {
      times.port = 0;
    }
    if (!UnitSet::has_lanes(demand)) return;
    TakenLanes& taken = begun.on[UnitSet::kind_of(demand)];
    if (!shares && !taken.empty()) return;
    taken.unit = unit;
    const unsigned fresh = taken.add(issue);
    if (!shares) return;
    times.beside = true;
    times.active_beats = fresh;
  }

  static std::uint32_t groups_of(const Issue& issue) {
    return issue.groups.count >= 32 ? ~0u : (1u << issue.groups.count) - 1;
  }

  // A spread group has a beat for each part of its chunk as wide as the lanes; others share the beats of
  // their row. `counted`: by group, the threads that count; without it all of the issue.
  void count_active(const Issue& issue, const std::uint32_t* counted, Times& times) const {
    std::uint64_t rows = 0;
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const ThreadGroup& group = issue.groups.data[g];
      const std::uint32_t mask = counted == nullptr ? group.mask : counted[g];
      times.active_lanes += mask == ~0u ? kChunk : count_of(mask);
      if (!group.spread) {
        if (mask != 0) rows |= std::uint64_t{1} << (group.row % 64);
        continue;
      }
      unsigned row = group.row < issue.rows ? group.row : group.row % issue.rows;
      for (std::uint32_t rest = mask; rest != 0; rest = lanes() == kChunk ? 0 : rest >> lanes()) {
        if ((rest & beat_) != 0) {
          ++times.active_beats;
          times.lane_beats |= std::uint64_t{1} << (row % 64);
        }
        if (++row == issue.rows) row = 0;  // small warps share a chunk
      }
    }
    if (rows != 0) times.active_beats += count_of(rows);
    times.lane_beats |= rows;
  }

  bool compacts() const { return compaction_ == Compaction::kBcc || compaction_ == Compaction::kScc; }
  // The beats that are left, one after the other.
  void compact(const Issue& issue, const std::uint32_t* executing, Times& times) const {
    count_active(issue, counts_issue_ ? nullptr : executing, times);
    if (compaction_ == Compaction::kScc) times.active_beats = (times.active_lanes + lanes() - 1) / lanes();
    times.beats = std::max(1u, times.active_beats);
    times.lane_beats =
        times.active_beats >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << times.active_beats) - 1;
  }

  const Machine machine_;
  const Compaction compaction_;
  const bool counts_issue_;   // for compaction: threads whose guard does not hold, too
  const Cycle swizzle_;       // operands and results change lanes
  const std::uint32_t beat_;  // the lanes of a beat
  UnitSet units_;
  AddressQueues queues_;
  OperandReads operands_;
  Cycle memory_ = 0;          // taken until, where schedulers have no queues
  std::vector<Cycle> ports_;  // likewise, by scheduler; 0 where schedulers have no port
  Cycle origin_ = 0;          // of the periods
  std::uint64_t memory_busy_ = 0;
  // Of scalar instructions, by scheduler, where they have units of their own: taken until.
  std::vector<Cycle> scalar_;
  std::vector<std::uint64_t> scalar_busy_, scalar_issues_;
  LaneRegisters registers_;
  std::vector<std::uint64_t> held_scalars_;  // by block slot
  std::uint64_t used_scalars_ = 0;
  std::vector<Begun> begun_;  // by scheduler; empty: none begins several in a cycle
  Part all_;                  // of the last start
};

// Its units are a template's argument, so that a machine does not pay for the other one's.
PartOf<Datapath> spatial() {
  auto made =
      part<Spatial<SimdGroups>>("spatial", "SIMD groups, whose lanes run the threads of a beat together");
  made.make = [](const PartOptions*, const Datapath::Setting& setting) -> std::unique_ptr<Datapath> {
    if (setting.config.units.enabled) return std::make_unique<Spatial<SubCoreUnits>>(setting);
    return std::make_unique<Spatial<SimdGroups>>(setting);
  };
  return made;
}

}  // namespace

WEFT_REGISTER_PART(spatial())

}  // namespace weft::datapath
