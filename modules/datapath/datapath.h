// The datapath of an SM: lanes, functional units, issue port and register file as resources in time.
//
// A scheme (modules/warp_formation) names threads in the places of its warp, row and lane of its tables, and
// the number of its rows. The datapath alone turns places into beats, lanes and cycles. It computes nothing;
// what instructions do is modules/execute. An SM has one, and calls it so:
//
//   datapath.can_hold(slot, registers), hold(block, registers), release(block)   a block comes and goes
//   datapath.earliest(now, scheduler, demand, issue) == now                the issue may start
//   datapath.operands(now, demand, issue, executing) == now                ... if the datapath forwards
//   results times = datapath.start(now, scheduler, demand, issue, executing)       ... and starts
//   datapath.next_free(now)                                                when to look again
//
// To add a kind: a file with its class that ends in WEFT_REGISTER_PART(...) (weft/common/parts.h), and a line
// in CMakeLists.txt.
#ifndef WEFT_DATAPATH_DATAPATH_H
#define WEFT_DATAPATH_DATAPATH_H

#include <cstdint>
#include <memory>
#include <vector>

#include "weft/common/parts.h"
#include "weft/common/statistics.h"
#include "weft/common/storage.h"
#include "weft/datapath/datapath_config.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::datapath {

using warp_formation::Block;
using warp_formation::Cycle;
using warp_formation::Issue;
inline constexpr Cycle kNever = UINT64_MAX;

// The SM around it, from the keys of `sm`.
struct Machine {
  unsigned schedulers = 1, slots = 8;  // slots: of blocks
  unsigned warps = 64;                 // that are resident at most
  unsigned simd_groups = 1, simd_width = 32;
  unsigned sfu_groups = 1, sfu_width = 8;
  unsigned memory_width = 32;
  warp_formation::LanePermuter home;  // on which lane of its row a thread runs
  bool bind_groups = false;
  bool shared_port = false;  // an issue keeps its scheduler from any other for a cycle per row
  Cycle pipeline_depth = 6;
  Cycle branch_cycles = 2;  // issue of a branch of one beat to its resolution
  std::uint64_t registers = 32768, register_allocation_unit = 64;
  // Instructions with one value for a warp have a unit per scheduler and a register file of their own.
  bool scalar_unit = false;
  std::uint64_t scalar_registers = 0;
  // Parts of the registers: the warps of a block, of 32 threads, go to them in turn.
  unsigned sub_cores = 1;
};

// What an instruction asks of the datapath. Fixed when its kernel is decoded.
struct Demand {
  const ptx::Instruction* instruction = nullptr;
  std::uint16_t latency = 1, interval = 1;
  ptx::Unit unit = ptx::Unit::kSp;                 // on which the machine runs it
  Units::Unit sub_core_unit = Units::Unit::kNone;  // ... where sub-cores have units of their own
  std::int32_t guard_key = -1;                     // scoreboard key of the guard's predicate
};

// Threads of an issue whose results can be used from the same cycle on.
struct Part {
  Cycle ready = 0;
  std::uint32_t groups = 0;  // bit g: threads of the issue's group g are among them ...
  std::uint32_t lanes = 0;   // ... those at these positions of their chunk
};

// An issue in time. `parts` is valid until the next start.
struct Times {
  Cycle end = 0;                   // the last result can be used, the last thread's next PC is known
  Cycle addresses = 0;             // memory: the last address is known; memory's work begins a cycle later
  std::uint32_t active_beats = 0;  // cycles in which a lane is active, beside those of issues before it
  std::uint32_t active_lanes = 0;  // summed over them
  std::uint32_t beats = 1;         // with or without an active lane, one a cycle from the issue on ...
  std::uint64_t lane_beats = 0;    // ... bit b: beat b (modulo 64) has one
  bool beside = false;             // it shares beats of an issue before it, which are not counted again
  std::uint32_t port = 1;          // cycles for which the scheduler can issue nothing else
  std::uint32_t part_count = 0;
  // Together: all threads of the issue. With `in_turn`: the threads that execute, and `ready` is the cycle in
  // which their addresses are known.
  const Part* parts = nullptr;
  bool in_turn = false;    // a memory instruction whose addresses come group by group
  bool forwarded = false;  // `operands` knows when the results may be used: the scoreboard need not
  std::uint32_t lane = 0;  // that works on it, of `lane_count`

  // A beat in which one lane works.
  void one_thread() {
    active_beats = active_lanes = beats = 1;
    lane_beats = 1;
  }
};

// Registers of a block: of each thread, whose warps are allocated one by one.
struct BlockRegisters {
  std::uint64_t threads = 0, per_thread = 0, warp_size = 32;
  std::uint32_t keys = 0;      // scoreboard keys of the program
  std::uint64_t per_warp = 0;  // beside those of its threads: registers that each warp has once
};
struct RegisterFit {
  std::uint64_t blocks = 0;    // that an empty register file holds
  std::uint64_t needed = 0;    // `sm.registers` with which one fits
  std::uint64_t resident = 0;  // blocks that may be there where warps give back theirs; 0: as `blocks`
  // Where registers of warps are in a file of their own: blocks that it holds when it is empty, and its
  // registers with which one fits.
  std::uint64_t scalar_blocks = UINT64_MAX, scalars_needed = 0;
  // Where each lane has a slice of its own: what the largest warp needs of one, what it has, and how many
  // there are.
  std::uint64_t warp = 0, slice = 0, slices = 1;
};

class Datapath {
 public:
  using Kind = Datapath;
  static constexpr const char* kKind = "datapath";
  struct Setting {
    const Config& config;
    const Machine& machine;
  };

  virtual ~Datapath() = default;
  // As constructed: no block is resident, nothing is in flight. Cycles are counted from `now` on (`align`).
  virtual void reset(Cycle now) = 0;
  // From now on schedulers issue at multiples of so many cycles only.
  void align(Cycle period) { period_ = period; }

  // Lanes of a row of the schemes' tables (Geometry::lanes), and of a beat.
  unsigned lanes() const { return lanes_; }

  // --- registers ---

  virtual RegisterFit fit(const BlockRegisters& registers) const = 0;
  // Whether a block may come to the slot, beside the blocks that it holds.
  virtual bool can_hold(unsigned slot, const BlockRegisters& registers) const = 0;
  virtual void hold(const Block& block, const BlockRegisters& registers) = 0;
  virtual void release(const Block& block) = 0;
  // These threads of the chunk, of one warp, have exited. True: registers have become free.
  virtual bool exited(unsigned /*chunk*/, std::uint32_t /*threads*/) { return false; }

  // --- time ---

  // The first cycle from `now` on at which the issue may start, if nothing else starts before; `now`: it may.
  virtual Cycle earliest(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue) const = 0;
  // Whether scalar instructions have an issue slot of their own, in a cycle in which a vector instruction of
  // another warp is issued.
  virtual bool has_scalar_unit() const { return false; }
  // Whether the datapath itself knows when operands are there, for what it started as `forwarded`.
  virtual bool forwards() const { return false; }
  // The first cycle from `now` on at which the issue may start as far as these operands go. `executing`: by
  // group, the threads whose guard holds.
  virtual Cycle operands(Cycle now, const Demand& /*demand*/, const Issue& /*issue*/,
                         const std::uint32_t* /*executing*/) const {
    return now;
  }
  // Whether loads and stores wait for nothing of the datapath but one way to the load-store unit, whatever
  // their scheduler; then the first cycle from `now` on at which that is free.
  virtual bool has_one_way_to_memory() const { return false; }
  virtual Cycle memory_free(Cycle now) const { return now; }
  // Whether the scheduler cannot issue now, whatever the instruction.
  virtual bool port_taken(Cycle /*now*/, unsigned /*scheduler*/) const { return false; }
  // It starts; `earliest` is `now`. `executing`: by group of the issue, the threads whose guard holds. A
  // scalar instruction has the threads for which it executes once: one group, of one warp.
  virtual Times start(Cycle now, unsigned scheduler, const Demand& demand, const Issue& issue,
                      const std::uint32_t* executing) = 0;
  // How long its units were taken, for statistics.
  virtual void bind(statistics::Group& group) { static_cast<void>(group); }

  // --- instructions of a scheduler that begin in one cycle, each in lanes of its own ---

  // From now on a scheduler may begin several in a cycle: the first when `earliest` says so, others when
  // `fits_beside` does, all by `start`.
  virtual void begin_together() {}
  // Whether the issue may begin in this cycle, beside those that its scheduler has begun in it: on a unit
  // that is free, or on the unit of one of these, in lanes that they leave free in each of its beats.
  virtual bool fits_beside(Cycle /*now*/, unsigned /*scheduler*/, const Demand& /*demand*/,
                           const Issue& /*issue*/) const {
    return false;
  }

  // The first cycle after `now` at which something that is taken becomes free, or kNever.
  virtual Cycle next_free(Cycle now) const = 0;
  // Its registers, for `weft area`.
  virtual storage::Arrays arrays() const { return {}; }

  // --- lanes that each run warps of their own; a datapath whose lanes work together has none ---

  virtual unsigned lane_count() const { return 0; }
  // Each runs one instruction at a time, which keeps it for a cycle per group: what a warp waits for is its
  // lane, whatever the unit.
  virtual bool in_turn() const { return false; }
  // The lane of the resident warp with these threads of the chunk.
  virtual unsigned lane_of(unsigned /*chunk*/, std::uint32_t /*threads*/) const { return 0; }
  virtual unsigned warps_of(unsigned /*lane*/) const { return 0; }  // resident, that have not exited
  // The first cycle in which the lane can begin another instruction.
  virtual Cycle lane_free(unsigned /*lane*/) const { return 0; }
  // A warp runs on its lane only, or else on any that is free, the lowest first.
  virtual bool binds_warps() const { return true; }
  // Whether the instruction keeps a lane, or only a unit that all lanes share: then it waits for no lane, and
  // its warp stays where it is.
  virtual bool takes_lane(const Demand& /*demand*/) const { return true; }
  // For waveforms: the first place in its warp of the group of threads that the lane works on in this cycle,
  // in which it is not free; kNoPlace: it works on none.
  static constexpr unsigned kNoPlace = UINT32_MAX;
  virtual unsigned place_of(unsigned /*lane*/, Cycle /*now*/) const { return kNoPlace; }

 protected:
  explicit Datapath(unsigned lanes) : lanes_(lanes) {}
  Cycle period() const { return period_; }

 private:
  const unsigned lanes_;
  Cycle period_ = 1;
};

// Throws InputError that lists the known names.
std::unique_ptr<Datapath> create(const Config& config, const Machine& machine);

}  // namespace weft::datapath

#endif
