// Lanes that each run a warp in time (temporal and spatio-temporal SIMT): an issue goes to the instruction
// register of its warp's lane, which takes a group of `lane_width` neighbouring places of the warp per cycle
// and skips groups without a thread.
//
// With an instruction register for each unit instead, a lane runs an arithmetic and a memory instruction at
// once, and the special-function units are the core's, which run one instruction at a time. Where results
// come all together besides, the way to the load-store unit is the core's, too: one lane of all the width is
// then the SIMD group of the spatial datapath.
#include <algorithm>
#include <array>

#include "datapath/datapath.h"
#include "datapath/lane_registers.h"
#include "datapath/lane_sharing.h"
#include "datapath/place_forwarding.h"
#include "datapath/register_arrays.h"
#include "weft/common/popcount.h"

namespace weft::datapath {
namespace {

using warp_formation::ThreadGroup;

class Temporal final : public Datapath {
 public:
  explicit Temporal(const Setting& setting) : Temporal(setting.config, setting.machine) {}
  Temporal(const Config& config, const Machine& machine)
      : Datapath(std::min(static_cast<unsigned>(config.lane_width), machine.simd_width)),
        machine_(machine),
        compacts_(config.compaction != Compaction::kNone),
        by_guard_(compacts_ && config.guard == Guard::kExecuting),
        per_unit_(config.has_registers_per_unit()),
        by_place_(config.forwarding == Forwarding::kPlace),
        locked_(config.locked),
        lane_count_(std::max(1u, machine.simd_width / lanes())),
        registers_(config, machine, lane_count_, config.locked),
        forwarding_(lanes()),
        special_functions_(lane_count_, machine.sfu_groups * machine.sfu_width),
        lane_(lane_count_),
        free_(lane_count_, 0),
        addresses_(lane_count_, 0),
        progress_(lane_count_),
        sfu_(machine.sfu_groups, 0),
        sfu_busy_(machine.sfu_groups, 0),
        parts_(warp_formation::kMaxWarpSize) {}

  void reset(Cycle /*now*/) override {
    registers_.reset();
    forwarding_.reset();
    special_functions_.reset();
    for (Lane& lane : lane_) lane.demand = nullptr;
    std::fill(free_.begin(), free_.end(), 0);
    std::fill(addresses_.begin(), addresses_.end(), 0);
    std::fill(sfu_.begin(), sfu_.end(), 0);
    memory_ = 0;
  }

  // --- registers ---

  RegisterFit fit(const BlockRegisters& registers) const override { return registers_.fit(registers); }
  bool can_hold(unsigned slot, const BlockRegisters& registers) const override {
    return registers_.can_hold(slot, registers);
  }
  void hold(const Block& block, const BlockRegisters& registers) override {
    registers_.hold(block, registers);
    if (forwards()) {
      forwarding_.hold(
          block.first_chunk + (block.threads + warp_formation::kChunk - 1) / warp_formation::kChunk,
          registers.keys);
    }
  }
  void release(const Block& block) override { registers_.release(block); }
  bool exited(unsigned chunk, std::uint32_t threads) override { return registers_.exited(chunk, threads); }
  storage::Arrays arrays() const override {
    return register_arrays(lane_count_, lanes(), machine_.registers);
  }

  // --- time ---

  bool in_turn() const override { return forwards(); }
  bool forwards() const override { return !per_unit_ || by_place_; }

  Cycle earliest(Cycle now, unsigned /*scheduler*/, const Demand& demand, const Issue& issue) const override {
    if (!takes_lane(demand)) {
      if (demand.unit != ptx::Unit::kMemory) return std::max(now, first_free(sfu_));
      return std::max(now, by_place_ ? addresses_[lane_of(issue)] : memory_);
    }
    return std::max(now, locked_ ? free_[lane_of(issue)] : first_free(free_));
  }

  Cycle operands(Cycle now, const Demand& demand, const Issue& issue,
                 const std::uint32_t* executing) const override {
    bool waits = false;
    for (const ThreadGroup& group : issue.groups) waits = waits || forwarding_.waits(now, group.chunk);
    if (!waits) return now;
    const ptx::Instruction& in = *demand.instruction;
    Order order;
    find_order(in, issue, executing, order);
    // Without forwarding place by place, all operands are read at once.
    const PlaceForwarding::Turns turns = by_place_ ? earliest_turns(demand) : PlaceForwarding::Turns{0};
    Cycle start = now;
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const ThreadGroup& group = issue.groups.data[g];
      if (!forwarding_.waits(now, group.chunk)) continue;
      const PlaceForwarding::Reader all = {group.mask, order.groups[g], turns, order.count};
      PlaceForwarding::Reader reader = all;
      if (by_guard_) reader.threads = executing[g];
      for (unsigned i = 0; i < in.read_count; ++i) {
        // To skip a thread, the lane knows its guard when it comes past it.
        start = forwarding_.start(start, group.chunk, in.reads[i],
                                  in.reads[i] == demand.guard_key ? all : reader);
      }
      for (unsigned i = 0; i < in.write_count; ++i)
        start = forwarding_.start(start, group.chunk, in.writes[i], reader);
    }
    return start;
  }

  Times start(Cycle now, unsigned /*scheduler*/, const Demand& demand, const Issue& issue,
              const std::uint32_t* executing) override {
    Order order;
    find_order(*demand.instruction, issue, executing, order);
    Times times;
    times.addresses = now;
    if (demand.instruction->scalar) {
      times.one_thread();
    } else {
      count_active(issue, executing, order, times);
    }
    if (takes_lane(demand)) {
      const unsigned lane = lane_for(now, issue);
      if (!forwards()) {
        take_register(now, lane, demand, order, times);
      } else {
        start_lane(now, lane, demand, issue, executing, order, times);
      }
      progress_[lane].note(now, step_of(demand), issue, order);
      if (demand.instruction->scalar) progress_[lane].groups[0].groups = place_of_one(issue, executing);
    } else if (!forwards()) {
      start_unit(now, demand, order, times);
    } else if (demand.unit == ptx::Unit::kMemory) {
      const unsigned lane = lane_of(issue);
      addresses_[lane] = now + order.count;
      memory_busy_ += order.count;
      start_addresses(now, lane, demand, issue, executing, order, times);
    } else {
      start_shared_special(now, demand, issue, executing, order, times);
    }
    if (!times.in_turn) {
      all_ = {times.end, issue.groups.count >= 32 ? ~0u : (1u << issue.groups.count) - 1, ~0u};
      times.parts = &all_;
      times.part_count = 1;
    }
    return times;
  }

  Cycle next_free(Cycle now) const override {
    Cycle next = memory_ > now ? memory_ : kNever;
    for (const std::vector<Cycle>* units : {&free_, &addresses_, &sfu_}) {
      for (const Cycle until : *units) next = until > now ? std::min(next, until) : next;
    }
    return next;
  }

  void bind(statistics::Group& group) override {
    for (unsigned i = 0; i < lane_count_; ++i) {
      group.group("lane", i).counter("busy_cycles", units::kCycles,
                                     "cycles for which instructions took the lane", lane_[i].busy);
    }
    for (unsigned i = 0; i < sfu_busy_.size() && per_unit_; ++i) {
      group.group("sfu_group", i)
          .counter("busy_cycles", units::kCycles,
                   "cycles for which instructions took the special-function units", sfu_busy_[i]);
    }
    if (per_unit_) {
      group.group("load_store_port")
          .counter("busy_cycles", units::kCycles,
                   "cycles for which instructions took the way to the load-store unit", memory_busy_);
    } else {
      group.group("special_functions")
          .counter("thread_instructions", units::kInstructions,
                   "threads that the lanes' special-function units worked for", sfu_threads_);
    }
  }

  // --- lanes ---

  unsigned lane_count() const override { return lane_count_; }
  unsigned lane_of(unsigned chunk, std::uint32_t threads) const override {
    return registers_.lane_of(chunk, threads);
  }
  unsigned warps_of(unsigned lane) const override { return registers_.warps_of(lane); }
  Cycle lane_free(unsigned lane) const override { return free_[lane]; }
  bool binds_warps() const override { return locked_; }
  // With an instruction register per unit, the register that counts as the lane's is that of its SP. A core
  // of ST-SIMT has two SFUs for eight lanes (Table III), SPs, SFUs and load-store units run at once (3.3),
  // and a stall of the load-store unit holds up memory instructions alone (3.4). Memory and special-function
  // instructions neither wait for the SP nor take it. So removing the locks (5.6), which says which lane a
  // warp takes, says nothing about them: an unlocked warp stays on the lane on which it ran last.
  bool takes_lane(const Demand& demand) const override {
    return !per_unit_ || (demand.unit != ptx::Unit::kMemory && demand.unit != ptx::Unit::kSfu);
  }
  unsigned place_of(unsigned number, Cycle now) const override {
    const Progress& progress = progress_[number];
    auto place = static_cast<std::uint32_t>((now - progress.since) / progress.step);
    if (lane_[number].demand != nullptr) {
      const std::vector<Cycle>& begun = special_functions_.begun(number);
      place = static_cast<std::uint32_t>(std::lower_bound(begun.begin(), begun.end(), now) - begun.begin());
    }
    const unsigned positions = std::min(registers_.warp_size(), warp_formation::kChunk);
    for (unsigned g = 0; g < progress.count; ++g) {
      const auto& [groups, row] = progress.groups[g];
      for (std::uint32_t rest = groups.bits; rest != 0; rest &= rest - 1) {
        if (groups.place(rest & (~rest + 1)) != place) continue;
        return row * lanes() + static_cast<unsigned>(__builtin_ctz(rest)) % positions;
      }
    }
    return kNoPlace;
  }

 private:
  // The places of an issue: its groups that take a cycle, one after the other.
  struct Order {
    std::array<PlaceForwarding::Groups, warp_formation::kMaxGroups> groups;  // by group of the issue
    std::uint32_t count = 1;
  };
  struct Lane {
    std::uint64_t busy = 0;
    // Of the instruction for the special-function units that it runs, or ran last: what its results are known
    // by.
    const Demand* demand = nullptr;
    Cycle started = 0;
    unsigned chunks = 0;
    struct Written {
      std::uint16_t chunk = 0;
      std::uint32_t threads = 0;
    };
    std::array<Written, warp_formation::kMaxWarpSize / warp_formation::kChunk> written{};
  };
  // Where a lane is in its instruction, for who looks on.
  struct Progress {
    Cycle since = 0, step = 1;
    unsigned count = 0;
    struct Row {
      PlaceForwarding::Groups groups{};
      std::uint32_t row = 0;
    };
    std::array<Row, warp_formation::kMaxWarpSize / warp_formation::kChunk> groups{};
    void note(Cycle now, Cycle cycles, const Issue& issue, const Order& order) {
      since = now;
      step = cycles;
      count = issue.groups.count;
      for (unsigned g = 0; g < count; ++g) groups[g] = {order.groups[g], issue.groups.data[g].row};
    }
  };

  static Cycle first_free(const std::vector<Cycle>& units) {
    return *std::min_element(units.begin(), units.end());
  }
  unsigned lane_of(const Issue& issue) const {
    return registers_.lane_of(issue.groups.data[0].chunk, issue.groups.data[0].mask);
  }
  // The lane that the issue takes; a warp that no lane holds goes on with the first that is free. There is
  // one, because `earliest` waits for it.
  unsigned lane_for(Cycle now, const Issue& issue) {
    if (locked_) return lane_of(issue);
    const auto free = std::find_if(free_.begin(), free_.end(), [now](Cycle until) { return until <= now; });
    const auto lane = static_cast<unsigned>(free - free_.begin());
    registers_.move(issue.groups.data[0].chunk, issue.groups.data[0].mask, lane);
    return lane;
  }

  void find_order(const ptx::Instruction& in, const Issue& issue, const std::uint32_t* executing,
                  Order& order) const {
    if (in.scalar) {
      // One thread, at the first place, reads and writes for whatever threads; so no group has another place.
      order.groups[0] = {};
      return;
    }
    std::uint32_t places = 0;
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const ThreadGroup& group = issue.groups.data[g];
      PlaceForwarding::Groups& own = order.groups[g];
      if (compacts_) {
        own = {forwarding_.fold(by_guard_ ? executing[g] : group.mask), places};
        places += count_of(own.bits);
      } else {
        own = {forwarding_.every_group() & warp_around(group), group.row};
      }
    }
    order.count = compacts_ ? std::max(1u, places) : issue.rows;
  }
  // The group of the thread that executes a scalar instruction.
  PlaceForwarding::Groups place_of_one(const Issue& issue, const std::uint32_t* executing) const {
    const std::uint32_t threads = executing[0] != 0 ? executing[0] : issue.groups.data[0].mask;
    return {forwarding_.fold(threads & (~threads + 1)), 0};
  }
  // Positions of the chunk that are the warp's.
  std::uint32_t warp_around(const ThreadGroup& group) const {
    const unsigned size = registers_.warp_size();
    if (size >= warp_formation::kChunk) return ~0u;
    const unsigned first =
        group.mask == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(group.mask)) / size * size;
    return ((1u << size) - 1) << first;
  }

  void count_active(const Issue& issue, const std::uint32_t* executing, const Order& order,
                    Times& times) const {
    times.beats = order.count;
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const ThreadGroup& group = issue.groups.data[g];
      const std::uint32_t threads = by_guard_ ? executing[g] : group.mask;
      const std::uint32_t groups = forwarding_.fold(threads);
      times.active_lanes += count_of(threads);
      times.active_beats += count_of(groups);
      for (std::uint32_t rest = compacts_ ? 0 : groups; rest != 0; rest &= rest - 1)
        times.lane_beats |= std::uint64_t{1} << (order.groups[g].place(rest & (~rest + 1)) % 64);
    }
    if (compacts_)
      times.lane_beats =
          times.active_beats >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << times.active_beats) - 1;
  }

  // Cycles for which a group keeps its lane.
  static Cycle step_of(const Demand& demand) {
    const ptx::Instruction& in = *demand.instruction;
    return in.is_control() || demand.unit == ptx::Unit::kMemory ? 1 : demand.interval;
  }
  // When groups read their operands, at the earliest: of the special-function units that lanes take turns at,
  // a lane may have all that there are.
  PlaceForwarding::Turns earliest_turns(const Demand& demand) const {
    const auto step = static_cast<std::uint32_t>(step_of(demand));
    if (demand.unit != ptx::Unit::kSfu) return {step};
    if (per_unit_) return special_turns(demand);
    const unsigned units = machine_.sfu_groups * machine_.sfu_width;
    return {std::max(1u, (step + units - 1) / units)};
  }
  // Of an instruction that has a group of special-function units for itself: as many groups of the lane's
  // width as it is wide, or a group in so many parts.
  PlaceForwarding::Turns special_turns(const Demand& demand) const {
    const unsigned together = std::max(1u, machine_.sfu_width / lanes());  // 32 at most
    return {special_parts() * demand.interval, static_cast<std::uint8_t>(together)};
  }
  unsigned special_parts() const { return (lanes() + machine_.sfu_width - 1) / machine_.sfu_width; }
  // From a group's cycle to its results.
  Cycle latency_of(const Demand& demand) const {
    const ptx::Instruction& in = *demand.instruction;
    if (in.is_control()) return machine_.branch_cycles;
    if (demand.unit == ptx::Unit::kMemory) return machine_.pipeline_depth;
    const Cycle latency = machine_.pipeline_depth + demand.latency - 1;
    // A thread reads what comes from the pipeline's end before it is written.
    return by_place_ ? std::max<Cycle>(1, latency - 1) : latency;
  }
  void take(unsigned lane, Cycle now, Cycle cycles) {
    free_[lane] = now + cycles;
    lane_[lane].busy += cycles;
  }

  // --- an instruction register per lane ---

  void start_lane(Cycle now, unsigned number, const Demand& demand, const Issue& issue,
                  const std::uint32_t* executing, const Order& order, Times& times) {
    const ptx::Instruction& in = *demand.instruction;
    if (demand.unit == ptx::Unit::kSfu) {
      start_special(now, number, demand, issue, executing, order);
      times.end = special_functions_.begun(number).back() + latency_of(demand);
      times.forwarded = true;
      return;
    }
    const Cycle step = step_of(demand), taken = order.count * step;
    lane_[number].demand = nullptr;
    take(number, now, taken);
    times.end = now + (by_place_ ? taken - step : taken - 1) + latency_of(demand);
    if (demand.unit == ptx::Unit::kMemory) {
      start_addresses(now, number, demand, issue, executing, order, times);
    } else if (demand.unit == ptx::Unit::kSp) {
      times.forwarded = true;
      for (unsigned g = 0; g < issue.groups.count; ++g) {
        forwarding_.note(now, issue.groups.data[g].chunk, in.writes.data(), in.write_count,
                         results(demand, written(in, issue.groups.data[g], executing[g]), order.groups[g],
                                 now, {static_cast<std::uint32_t>(step)}, times.end));
      }
    }
  }

  // A lane gives the load-store unit an address per place of its width and cycle (3.4).
  void start_addresses(Cycle now, unsigned number, const Demand& demand, const Issue& issue,
                       const std::uint32_t* executing, const Order& order, Times& times) {
    times.addresses = now + order.count - 1;
    times.end = times.addresses + latency_of(demand);
    times.in_turn = true;
    times.lane = number;
    if (demand.instruction->scalar) {
      parts_[0] = {now, executing[0] != 0 ? 1u : 0u, ~0u};
      times.parts = parts_.data();
      times.part_count = 1;
    } else {
      note_addresses(now, issue, executing, order, times);
    }
  }

  // The positions whose registers the instruction writes: a scalar one those of all its warp.
  std::uint32_t written(const ptx::Instruction& in, const ThreadGroup& group, std::uint32_t executing) const {
    return in.scalar && executing != 0 ? warp_around(group) : executing;
  }

  // `end`: where results are not forwarded place by place, when all of them are there.
  PlaceForwarding::Results results(const Demand& demand, std::uint32_t threads,
                                   const PlaceForwarding::Groups& groups, Cycle now,
                                   PlaceForwarding::Turns turns, Cycle end) const {
    PlaceForwarding::Results results;
    results.base = by_place_ ? now + latency_of(demand) : end;
    results.turns = by_place_ ? turns : PlaceForwarding::Turns{0};
    results.threads = threads;
    results.groups = groups;
    results.started = now;
    return results;
  }

  void note_addresses(Cycle now, const Issue& issue, const std::uint32_t* executing, const Order& order,
                      Times& times) {
    times.parts = parts_.data();
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const PlaceForwarding::Groups& groups = order.groups[g];
      const std::uint32_t running = forwarding_.fold(executing[g]);
      Cycle known = now + groups.first;
      for (std::uint32_t rest = groups.bits; rest != 0; rest &= rest - 1, ++known) {
        const auto first = static_cast<unsigned>(__builtin_ctz(rest));
        if ((running >> first & 1) != 0) parts_[times.part_count++] = {known, 1u << g, lane_mask() << first};
      }
    }
    if (times.part_count == 0) parts_[times.part_count++] = {times.addresses, 0, 0};
  }
  std::uint32_t lane_mask() const { return lanes() == warp_formation::kChunk ? ~0u : (1u << lanes()) - 1; }

  // The lanes take turns at the special-function units: one more instruction may delay those that run.
  void start_special(Cycle now, unsigned number, const Demand& demand, const Issue& issue,
                     const std::uint32_t* executing, const Order& order) {
    std::vector<std::uint32_t>& operations = special_functions_.come(now, number);
    operations.assign(order.count, 0);
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const bool once = demand.instruction->scalar && executing[g] != 0;
      sfu_threads_ += once ? 1 : count_of(executing[g]);
      const PlaceForwarding::Groups& groups = order.groups[g];
      for (std::uint32_t rest = groups.bits; rest != 0; rest &= rest - 1) {
        const std::uint32_t bit = rest & (~rest + 1);
        const std::uint32_t threads = compacts_ ? (by_guard_ ? executing[g] : issue.groups.data[g].mask) &
                                                      lane_mask() << __builtin_ctz(bit)
                                                : lane_mask();
        operations[groups.place(bit)] = count_of(threads);
      }
    }
    // Those without a thread that counts pass, in a cycle of their own, and an operation.
    for (std::uint32_t& count : operations)
      count = std::max(1u, count) * static_cast<std::uint32_t>(demand.interval);
    Lane& lane = lane_[number];
    free_[number] = now;
    lane.demand = &demand;
    lane.started = now;
    lane.chunks = issue.groups.count;
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const ptx::Instruction& in = *demand.instruction;
      auto& [chunk, threads] = lane.written[g];
      chunk = issue.groups.data[g].chunk;
      threads = written(in, issue.groups.data[g], executing[g]);
      forwarding_.note(now, chunk, in.writes.data(), in.write_count,
                       results(demand, threads, order.groups[g], now, {}, now));
    }
    special_functions_.start(now, number);
    for (unsigned other = 0; other < lane_count_; ++other) {
      const bool runs = lane_[other].demand != nullptr && free_[other] > now;
      if (runs || other == number) follow_special(other);
    }
  }

  // A lane's instruction for the special-function units takes as long as they say.
  void follow_special(unsigned number) {
    Lane& lane = lane_[number];
    const std::vector<Cycle>& begun = special_functions_.begun(number);
    const Cycle last = begun.back();
    lane.busy += last + 1 - free_[number];
    free_[number] = last + 1;
    PlaceForwarding::Results results;
    results.started = lane.started;
    // As if all groups were as near to the last as the nearest two are: no group is later than that.
    Cycle step = begun.size() == 1 ? 1 : kNever;
    for (std::size_t i = 1; i < begun.size(); ++i) step = std::min(step, begun[i] - begun[i - 1]);
    results.turns = {by_place_ ? static_cast<std::uint32_t>(step) : 0};
    const Cycle ready = last + latency_of(*lane.demand);
    results.base = ready - results.turns.step * (begun.size() - 1);
    const ptx::Instruction& in = *lane.demand->instruction;
    for (unsigned c = 0; c < lane.chunks; ++c) {
      results.threads = lane.written[c].threads;
      forwarding_.move(lane.written[c].chunk, in.writes.data(), in.write_count, results, ready);
    }
  }

  // --- an instruction register per unit ---

  // The special-function units run one instruction at a time, whose results come place by place.
  void start_shared_special(Cycle now, const Demand& demand, const Issue& issue,
                            const std::uint32_t* executing, const Order& order, Times& times) {
    const ptx::Instruction& in = *demand.instruction;
    PlaceForwarding::Turns turns = special_turns(demand);
    Cycle last_part = Cycle{special_parts() - 1} * demand.interval;  // from a group's first part to its last
    if (in.scalar) {
      turns = {demand.interval};
      last_part = 0;
    }
    take_special(now, turns.of(order.count - 1) + turns.step);
    times.end = now + turns.of(order.count - 1) + last_part + latency_of(demand);
    times.forwarded = true;
    for (unsigned g = 0; g < issue.groups.count; ++g) {
      const ThreadGroup& group = issue.groups.data[g];
      PlaceForwarding::Results of =
          results(demand, written(in, group, executing[g]), order.groups[g], now, turns, times.end);
      of.base += last_part;
      forwarding_.note(now, group.chunk, in.writes.data(), in.write_count, of);
    }
  }
  void take_special(Cycle now, Cycle taken) {
    const auto unit = std::find_if(sfu_.begin(), sfu_.end(), [now](Cycle until) { return until <= now; });
    *unit = now + taken;
    sfu_busy_[static_cast<std::size_t>(unit - sfu_.begin())] += taken;
  }

  // Where results come all together, units are as in the spatial datapath.

  void take_register(Cycle now, unsigned number, const Demand& demand, const Order& order, Times& times) {
    const Cycle taken = order.count * step_of(demand);
    take(number, now, taken);
    times.end = now + taken - 1 + latency_of(demand);
  }

  // ... of a unit that the lanes share.
  void start_unit(Cycle now, const Demand& demand, const Order& order, Times& times) {
    const std::uint32_t places = demand.instruction->scalar ? 1 : order.count * lanes();
    const auto cycles_on = [places](unsigned width) {
      return Cycle{std::max(1u, (places + width - 1) / width)};
    };
    Cycle taken = 0;
    if (demand.unit == ptx::Unit::kMemory) {
      taken = cycles_on(machine_.memory_width);
      memory_ = now + taken;
      memory_busy_ += taken;
    } else {
      taken = cycles_on(machine_.sfu_width) * demand.interval;
      take_special(now, taken);
    }
    times.end = now + taken - 1 + latency_of(demand);
  }

  const Machine machine_;
  const bool compacts_, by_guard_;  // by_guard_: threads whose guard does not hold take no cycle
  const bool per_unit_, by_place_, locked_;
  const unsigned lane_count_;
  LaneRegisters registers_;
  PlaceForwarding forwarding_;
  LaneSharing special_functions_;
  std::vector<Lane> lane_;
  std::vector<Cycle> free_;       // by lane: its instruction register is taken until here
  std::vector<Cycle> addresses_;  // ... and, of a register per unit, that for memory instructions
  std::vector<Progress> progress_;
  // With an instruction register per unit; taken until.
  std::vector<Cycle> sfu_;
  Cycle memory_ = 0;
  std::vector<std::uint64_t> sfu_busy_;
  std::uint64_t memory_busy_ = 0, sfu_threads_ = 0;
  Part all_;                 // of the last start
  std::vector<Part> parts_;  // likewise
};

}  // namespace

WEFT_REGISTER_PART(part<Temporal>("temporal", "lanes that each run a warp in time"))

}  // namespace weft::datapath
