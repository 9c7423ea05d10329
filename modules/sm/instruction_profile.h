// What each instruction of the kernels did, over all SMs and launches: for `weft characterize`, and for
// instructions.csv (sm.observe.instructions).
//
//   sm::InstructionProfile profile;
//   gpu.recordings().profile(&profile);
//   ... launches ...
//   for (const auto& kernel : profile.kernels()) { kernel.counts[pc].threads ... }
//
// The SMs test a pointer per issue without one.
#ifndef WEFT_SM_INSTRUCTION_PROFILE_H
#define WEFT_SM_INSTRUCTION_PROFILE_H

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "execute/occupancy.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

struct InstructionCounts {
  std::uint64_t issues = 0;    // warp instructions
  std::uint64_t threads = 0;   // active in them
  std::uint64_t places = 0;    // threads that would have fit: warps x their width
  std::uint64_t executed = 0;  // of the active ones, whose guard held: of a branch, who took it
  std::uint64_t parted = 0;    // issues after which threads went to different places
  std::uint64_t active_beats = 0, active_lanes = 0;  // beats with an active lane; lanes active in them
  // As the counters of the load-store unit: accesses of threads to global and local memory, requests made of
  // them, requests that left the SM, accesses to shared memory and their extra cycles.
  std::uint64_t memory_threads = 0, coalesced_requests = 0, data_requests = 0, shared_accesses = 0,
                shared_conflict_cycles = 0;
  // Cycles of schedulers by bucket: those in which it was the first to issue, and those before, since the
  // scheduler's last issue, in which something else kept the scheduler from issuing.
  std::array<std::uint64_t, warp_formation::kStalls> cycles{};
};

class InstructionProfile {
 public:
  struct OfKernel {
    std::shared_ptr<const ptx::Program> program;
    // By PC; behind the last one, what belongs to no instruction: cycles without threads and those after a
    // scheduler's last issue, lines that are written back at the end of a kernel.
    std::vector<InstructionCounts> counts;
    // Of the launch that came last: what an SM holds, threads of a block.
    execute::Occupancy occupancy;
    std::uint32_t threads = 0;
    InstructionCounts& rest() { return counts.back(); }
  };

  // The counts of a program; room is made at its first launch and stays where it is.
  OfKernel& of(const std::shared_ptr<const ptx::Program>& program) {
    for (OfKernel& kernel : kernels_) {
      if (kernel.program == program) return kernel;
    }
    kernels_.push_back({program, std::vector<InstructionCounts>(program->code.size() + 1), {}, 0});
    return kernels_.back();
  }
  // In the order of their first launches.
  const std::deque<OfKernel>& kernels() const { return kernels_; }

 private:
  std::deque<OfKernel> kernels_;
};

}  // namespace weft::sm

#endif
