// What the SM tells about itself when asked: stalled threads, the lane oracle, spinning threads.
#include <sstream>

#include "sm/sm.h"

namespace weft::sm {

// The categories of HARP Fig. 5 and CROWN slide 63. What waits for an operand is ready here but for a result
// that is under way, so it counts as in the pipeline under the scoreboard.
void Sm::count_stalled(Cycle cycles) {
  const warp_formation::Census& census = idle_census_;
  stalled_.cycles += cycles;
  stalled_.in_pipeline += cycles * (census.issued + (barrel_ ? 0 : census.ready));
  stalled_.ready += cycles * ((barrel_ ? census.ready : 0) + census.queued);
  stalled_.barrier += cycles * census.barrier;
  stalled_.reconvergence += cycles * (census.reconvergence + census.lat_barrier + census.warp_sync);
  stalled_.inactive += cycles * (census.inactive_path + census.lookup);
}

void Sm::bind_observations(statistics::Registry& registry, const std::string& prefix) {
  oracle_.bind(registry, prefix + ".oracle");
  if (!config_.observe.stalled_threads) return;
  const auto counter = [&](const char* name, const char* unit, const char* meaning, std::uint64_t& value) {
    registry.counter(prefix + ".stalled." + name, unit, meaning, value);
  };
  counter("cycles", "cycles", "cycles in which no scheduler issued; the others are summed over them",
          stalled_.cycles);
  counter("in_pipeline", "threads", "threads with an instruction under way or waiting for its result",
          stalled_.in_pipeline);
  counter("ready", "threads", "threads that could run or are queued for commit or compaction",
          stalled_.ready);
  counter("barrier", "threads", "threads at a block barrier", stalled_.barrier);
  counter("reconvergence", "threads", "threads that wait for others of their warp or block",
          stalled_.reconvergence);
  counter("inactive", "threads", "threads on a path that does not run, or in a lookup table",
          stalled_.inactive);
}

// Threads of a branch part where its guard holds for some of them only; those of instructions with a target
// each (calls through registers, returns, indexed branches) where they are resolved.
void Sm::count_instruction(const InFlight& flight, unsigned active_beats) {
  InstructionCounts& counts = instruction_counts_[flight.pc];
  std::uint32_t threads = 0, executed = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    threads += static_cast<std::uint32_t>(__builtin_popcount(flight.groups[g].mask));
    executed += static_cast<std::uint32_t>(__builtin_popcount(flight.executing[g]));
  }
  ++counts.issues;
  counts.threads += threads;
  counts.places += warp_width() != 0 ? warp_width() : active_beats * config_.simd_width;
  counts.executed += executed;
  if (flight.op->instruction->is_branch() && executed != 0 && executed != threads) ++counts.parted;
}

void Sm::observe_spinning(bool on) {
  if (!on || !running_) return spin_.stop();
  spin_.start(kernel_->occupancy.blocks * kernel_->chunks_per_block);
}

Sm::Spinning Sm::spinning() const {
  Spinning result;
  result.threads = spin_.verdict();
  for (const InFlight& flight : in_flight_) {
    if (flight.references == 0) continue;
    for (unsigned g = 0; g < flight.group_count; ++g)
      result.busy = result.busy || spin_.silent(flight.groups[g]);
  }
  if (result.threads.spinning == 0) return result;
  std::ostringstream text;
  for (const auto& block : slots_) {
    const unsigned first = block.first_chunk * RegisterFile::kLanes;
    if (!block.live || result.threads.position < first || result.threads.position >= first + block.threads)
      continue;
    text << "thread " << result.threads.position - first << " of block (" << block.index[0] << ","
         << block.index[1] << "," << block.index[2] << ") at pc " << result.threads.pc << " ("
         << kernel_->program.place(result.threads.pc) << ")";
  }
  result.example = text.str();
  return result;
}

}  // namespace weft::sm
