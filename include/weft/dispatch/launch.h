// A kernel launch, as the thread-block dispatcher takes it.
#ifndef WEFT_DISPATCH_LAUNCH_H
#define WEFT_DISPATCH_LAUNCH_H

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/common/fault.h"
#include "weft/ptx/program.h"

namespace weft::dispatch {

using Dim3 = std::array<std::uint32_t, 3>;

// What the numbers of a launch may be on any machine, as in hardware of compute capability 3.0 and later. A
// machine's own resources come on top (execute::occupancy).
inline constexpr Dim3 kMostBlocks{0x7fffffff, 65535, 65535};  // of a grid
inline constexpr Dim3 kMostThreads{1024, 1024, 64};           // of a block
inline constexpr std::uint32_t kMostBlockThreads = 1024;      // of all its dimensions together

// How a launch ended, and when. Cycles are numbers of edges of the core clock, both included.
struct LaunchOutcome {
  enum class End : std::uint8_t {
    kDone,     // all blocks have retired, and nothing of the launch is left on its way to memory
    kFaulted,  // a fault of this launch ended it, and stopped the GPU unless the launch is contained
    kStopped   // stopped by the fault of another launch, as hanging, or from outside
  };
  End end = End::kDone;
  bool began = false;  // false: it was still waiting, and the times are 0
  std::uint64_t first_cycle = 0, last_cycle = 0;
  std::uint64_t begin_ps = 0, end_ps = 0;  // simulated time of these two edges
  Fault fault;                             // none when done
  std::uint64_t cycles() const { return began ? last_cycle - first_cycle + 1 : 0; }
};

struct Launch {
  std::shared_ptr<const ptx::Program> program;
  Dim3 grid{1, 1, 1};                    // thread blocks
  Dim3 block{1, 1, 1};                   // threads
  std::vector<std::uint8_t> parameters;  // program->parameter_bytes bytes, laid out as its parameter list
  std::uint64_t dynamic_shared = 0;      // bytes
  // Percent of an SM's largest shared memory that the kernel prefers to have as such (sm.unified_l1): a hint
  // that can only enlarge it. Negative: none.
  int preferred_shared_percent = -1;
  std::uint64_t parameter_address =
      0;  // where the parameter block lies in device memory (constant cache traffic)
  std::uint64_t local_address = 0;  // device memory for local variables, 0 if the kernel has none
  // Local memory of a thread whose functions call themselves: as far as they can go (cudaLimitStackSize).
  std::uint64_t stack_bytes = 1024;
  std::uint64_t code_address = 0;  // where the instructions lie (instruction cache traffic)
  // Launches of one queue run one after the other; launches of different queues may overlap. Those that may
  // overlap need local memory of their own.
  std::uint32_t queue = 0;
  // A fault or hang ends this launch only. Without, it ends all launches, until the GPU is reset.
  bool contained = false;
  // Told once how the launch ended, at the edge at which it did; may launch further ones. Not called if the
  // GPU is reset before.
  std::function<void(const LaunchOutcome&)> done;

  // Of a grid and a block that check() has passed: products of others may wrap around.
  std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads_per_block() const { return block[0] * block[1] * block[2]; }
};

// Throws InputError unless each dimension of the block and their product are within the limits above.
void check_block(const Launch& launch);
// The same, and that the grid is within them, that the block is what the kernel's .reqntid and .maxntid
// allow, that the stack is no larger than a thread's local memory may be, and that the parameters have the
// right size.
void check(const Launch& launch);

}  // namespace weft::dispatch

#endif
