// A kernel launch, as the thread-block dispatcher takes it.
#ifndef WEFT_DISPATCH_LAUNCH_H
#define WEFT_DISPATCH_LAUNCH_H

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ptx/program.h"

namespace weft::dispatch {

using Dim3 = std::array<std::uint32_t, 3>;

// How a launch ended, and when. Cycles are numbers of edges of the core clock, both included.
struct LaunchOutcome {
  enum class End : std::uint8_t {
    kDone,     // all blocks have retired, and nothing of the launch is left on its way to memory
    kFaulted,  // a fault of this launch stopped the GPU
    kStopped   // stopped by the fault of another launch, as hanging, or from outside
  };
  End end = End::kDone;
  bool began = false;  // false: it was still waiting, and the times are 0
  std::uint64_t first_cycle = 0, last_cycle = 0;
  std::uint64_t begin_ps = 0, end_ps = 0;  // simulated time of these two edges
  std::string fault;                       // empty when done
  std::uint64_t cycles() const { return began ? last_cycle - first_cycle + 1 : 0; }
};

struct Launch {
  std::shared_ptr<const ptx::Program> program;
  Dim3 grid{1, 1, 1};                    // thread blocks
  Dim3 block{1, 1, 1};                   // threads
  std::vector<std::uint8_t> parameters;  // program->parameter_bytes bytes, laid out as its parameter list
  std::uint64_t dynamic_shared = 0;      // bytes
  std::uint64_t parameter_address =
      0;  // where the parameter block lies in device memory (constant cache traffic)
  std::uint64_t local_address = 0;  // device memory for local variables, 0 if the kernel has none
  // Local memory of a thread whose functions call themselves: as far as they can go (cudaLimitStackSize).
  std::uint64_t stack_bytes = 1024;
  std::uint64_t code_address = 0;  // where the instructions lie (instruction cache traffic)
  // Launches of one queue run one after the other; launches of different queues may overlap. Those that may
  // overlap need local memory of their own.
  std::uint32_t queue = 0;
  // Told once how the launch ended, at the edge at which it did; may launch further ones. Not called if the
  // GPU is reset before.
  std::function<void(const LaunchOutcome&)> done;

  std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads_per_block() const { return block[0] * block[1] * block[2]; }
};

}  // namespace weft::dispatch

#endif
