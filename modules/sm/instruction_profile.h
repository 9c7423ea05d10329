// What each instruction of the kernels did, over all SMs and launches: for `weft characterize`.
//
//   sm::InstructionProfile profile;
//   gpu.profile(&profile);
//   ... launches ...
//   for (const auto& kernel : profile.kernels()) { kernel.counts[pc].threads ... }
//
// The SMs test a pointer per issue without one.
#ifndef WEFT_SM_INSTRUCTION_PROFILE_H
#define WEFT_SM_INSTRUCTION_PROFILE_H

#include <cstdint>
#include <deque>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::sm {

struct InstructionCounts {
  std::uint64_t issues = 0;    // warp instructions
  std::uint64_t threads = 0;   // active in them
  std::uint64_t places = 0;    // threads that would have fit: warps x their width
  std::uint64_t executed = 0;  // of the active ones, whose guard held: of a branch, who took it
  std::uint64_t parted = 0;    // issues after which threads went to different places
};

class InstructionProfile {
 public:
  struct OfKernel {
    const ptx::Program* program = nullptr;  // lives as long as its module
    std::vector<InstructionCounts> counts;  // by PC
  };

  // The counts of a program, by PC; room is made at its first launch and stays where it is.
  InstructionCounts* of(const ptx::Program& program) {
    for (OfKernel& kernel : kernels_) {
      if (kernel.program == &program) return kernel.counts.data();
    }
    kernels_.push_back({&program, std::vector<InstructionCounts>(program.code.size())});
    return kernels_.back().counts.data();
  }
  // In the order of their first launches.
  const std::deque<OfKernel>& kernels() const { return kernels_; }

 private:
  std::deque<OfKernel> kernels_;
};

}  // namespace weft::sm

#endif
