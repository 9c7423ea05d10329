// What the stages of an SM share: the kernel and its blocks, registers and their scoreboard, the datapath,
// scheduler domains, instructions in flight, counters. A stage keeps what is its own alone.
#ifndef WEFT_SM_STAGES_CORE_H
#define WEFT_SM_STAGES_CORE_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bus/clock_domain.h"
#include "datapath/datapath.h"
#include "execute/executor.h"
#include "execute/kernel.h"
#include "execute/register_file.h"
#include "execute/synchroniser.h"
#include "sm/async_copies.h"
#include "sm/cycle_account.h"
#include "sm/in_flight.h"
#include "sm/sm_observer.h"
#include "sm/stages/domain.h"
#include "weft/common/archive.h"
#include "weft/common/fault.h"
#include "weft/machine/sm_config.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

// What an SM reports to the rest of the GPU.
class SmListener {
 public:
  virtual ~SmListener() = default;
  virtual void block_retired(unsigned sm) = 0;
  virtual void registers_freed(unsigned sm) = 0;  // by warps whose block goes on
  virtual void sm_drained(unsigned sm) = 0;       // no threads and no transactions left
  virtual void faulted(unsigned sm, const Fault& fault) = 0;
};

struct Counters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0,  // threads of the issues ...
      executed_thread_instructions = 0;   // ... those of them whose guard held
  std::uint64_t active_beats = 0,
                active_lanes = 0;         // issue beats with an active lane; lanes active in them
  std::uint64_t warp_gatherings = 0;      // warp-level primitives whose threads were not all in one issue
  std::uint64_t spill_instructions = 0;   // loads and stores of spilled registers
  std::uint64_t scalar_instructions = 0,  // executed once for all threads of their issue ...
      scalar_thread_instructions = 0;     // ... for so many
  std::uint64_t scalar_beside = 0;        // issued in the cycle of an instruction on the lanes
  std::uint64_t issued_beside = 0,        // issued in the cycle of another instruction of the scheduler ...
      lanes_shared = 0;                   // ... that take lanes of its unit
  std::uint64_t threads_launched = 0, threads_retired = 0, blocks_launched = 0, blocks_retired = 0;
};

struct Core {
  static constexpr unsigned kMaxIssues = 512;  // instructions in flight

  // `name`: of the SM, in messages. `runner` runs the threads that wait for each other.
  Core(const std::string& name, unsigned number, const machine::SmConfig& c, const warp_formation::Config& f,
       double megahertz, execute::Synchroniser::Runner& runner, SmListener& l);

  void reset();
  // Forgets the kernel's threads and instructions in the middle of it. What was counted stays.
  void abandon();
  // `asks_all`: also those are asked who are known to wait, which shows that this is right.
  void start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory, Cycle first,
                    bool asks_all);
  unsigned chunks() const { return state.kernel->occupancy.resident * state.kernel->chunks_per_block; }
  bool has_block() const {
    return std::any_of(state.blocks.begin(), state.blocks.end(),
                       [](const execute::ResidentBlock& block) { return block.live; });
  }
  // The kernel that it holds; nullptr: none.
  const execute::Kernel* kernel() const { return state.running ? state.kernel : nullptr; }
  const execute::Operation& operation(ptx::Pc pc) const { return state.kernel->operations[pc]; }
  const execute::ResidentBlock& block_of(const InFlight& flight) const { return state.blocks[flight.slot]; }
  // The scheme that issued it, for a call that changes the context of its issue.
  warp_formation::WarpFormation& unit_of(const InFlight& flight) {
    return domains[flight.domain].changing(flight.context);
  }

  // Resident threads that have not exited, and by what they do.
  std::uint64_t live_threads() const;
  warp_formation::Census census() const;
  // Exits, openings of barriers and new blocks so far: what a kernel that goes on does now and then.
  std::uint64_t milestones() const {
    return counters.threads_retired + synchroniser.barriers_opened() + counters.blocks_launched;
  }
  // Whether the scheme can be kept (warp_formation::WarpFormation::archive).
  bool can_be_kept() const { return domains[0].unit->can_be_kept(); }
  // The domain with threads of a block's chunk.
  Domain& domain_of(const execute::ResidentBlock& block, unsigned chunk) {
    return domains[block.domain_of(chunk)];
  }
  // Of a lane that runs warps of its own; all of the datapath's where none does.
  unsigned lane_width() const {
    return static_cast<unsigned>(config.simd_groups * config.simd_width) /
           std::max(1u, datapath->lane_count());
  }
  // WarpFormation::warp_width of the scheme.
  unsigned warp_width() const { return domains[0].unit->warp_width(); }
  // All positions of the warp with these threads of a chunk.
  std::uint32_t warp_around(std::uint32_t threads) const {
    const auto size = static_cast<unsigned>(formation.warp_size);
    if (size >= isa::kLanes) return ~0u;
    return ((1u << size) - 1) << static_cast<unsigned>(__builtin_ctz(threads)) / size * size;
  }

  // --- the scoreboard, under which a thread has several instructions in flight ---

  // The registers that the instruction writes are pending. `loads`: they wait for memory.
  void reserve(const InFlight& flight, bool loads) {
    const ptx::Instruction& in = *flight.op->instruction;
    if (in.write_count == 0) return;
    for (unsigned g = 0; g < flight.group_count; ++g) {
      registers.mark(flight.groups[g].chunk, flight.written(g), in.writes.data(), in.write_count, loads);
    }
  }
  // ... are there, of these threads.
  void written(const InFlight& flight, unsigned chunk, std::uint32_t threads) {
    const ptx::Instruction& in = *flight.op->instruction;
    registers.clear(chunk, threads, in.writes.data(), in.write_count);
    domains[flight.domain].written(chunk);
  }

  // The simulated program did something wrong: the SM stops.
  void fault(const Fault& why) {
    state.stopped = true;
    observers.tell(&SmObserver::faulted, why);
    listener.faulted(index, why);
  }

  // What changes while kernels run and is no part with a reset of its own.
  struct State {
    explicit State(std::size_t slots) : blocks(slots), references(slots, 0) {}
    const execute::Kernel* kernel = nullptr;
    std::vector<execute::ResidentBlock> blocks;  // by slot
    std::vector<std::uint32_t> references;       // instructions in flight, by slot
    Cycle now = 0;
    Cycle barrier_turn = 0;       // from here on the barrier unit takes another warp (sm.barrier.interval)
    bool reaches_system = false;  // the kernel may: system memory
    bool running = false, stopped = false, reported_drained = true;
    bool abandoned = false;  // stopped, and waits only for what is on its way to memory
    void archive(Archive& archive) {
      auto& [kernel_, blocks_, references_, now_, turn_, system_, running_, stopped_, drained_, abandoned_] =
          *this;
      archive(set_anew(kernel_, blocks_, system_), references_, now_, turn_, at_rest(running_),
              at_rest(stopped_), drained_, at_rest(abandoned_));
    }
  };

  const unsigned index;
  const machine::SmConfig& config;
  const warp_formation::Config& formation;
  SmListener& listener;
  const bool barrel;
  SmObservers observers;
  execute::RegisterFile registers;
  execute::Executor executor;
  const std::unique_ptr<datapath::Datapath> datapath;
  const bool in_turn, forwards, scalar_unit;  // the datapath's
  std::vector<Domain> domains;
  const bool spreads_blocks;      // over the domains, which are sub-cores
  const unsigned issues_at_once;  // of a scheduler, as its scheme says
  CycleAccount account;
  State state;
  execute::Synchroniser synchroniser;
  AsyncCopies copies;
  InFlightTable in_flight;
  Counters counters;
};

}  // namespace weft::sm

#endif
