// Who watches an SM work: instructions from issue to return, and what warp slots and schedulers wait for.
//
//   struct Issues final : sm::SmObserver { ... };
//   Issues issues;
//   sm.watch(&issues);       // from now on; nullptr: nobody. An SM without one tests a pointer
//
// All calls come within a step of the SM but for those of kernels, which come from the dispatcher's; none may
// change the SM. In a step, `stepped` is the last: until the next step nothing changes, however many cycles
// lie between, so what the SM shows then (Sm::stall, view, next_pcs) holds for all of them.
//
// A warp slot is a front-end buffer (Issue::context of all domains, numbered through). Under a scheme that
// regroups threads it holds other threads from one issue to the next.
#ifndef WEFT_SM_SM_OBSERVER_H
#define WEFT_SM_SM_OBSERVER_H

#include <cstdint>

#include "bus/clock_domain.h"
#include "execute/kernel.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class SmObserver {
 public:
  virtual ~SmObserver() = default;

  struct Issue {
    Cycle now = 0;
    std::uint16_t id = 0;        // until it is resolved and its data have returned; below Sm::kMaxIssues
    std::uint16_t slot = 0;      // of its block
    unsigned scheduler = 0;      // of the SM
    unsigned context = 0;        // warp slot of the SM
    std::uint64_t partners = 0;  // bit i: slot context + i is issued with it, as one warp
    ptx::Pc pc = 0;              // of the kernel's program
    const ptx::Instruction* instruction = nullptr;
    std::uint16_t first_chunk = 0, last_chunk = 0;  // of its threads
    std::uint32_t threads = 0, executing = 0;       // of the issue; of these, those whose guard holds
    // Where lanes run warps of their own (Datapath::lane_count): the lane, and the first cycle in which it
    // can begin another instruction. `now` or before: a unit works on it that leaves the lane free.
    unsigned lane = 0;
    Cycle lane_free = 0;
  };

  // The SM turns to a kernel, whose first cycle is `first`; it leaves it, and `end` is the first cycle after.
  virtual void kernel_started(const execute::Kernel& kernel, Cycle first) = 0;
  virtual void kernel_finished(Cycle end) = 0;

  virtual void issued(const Issue& issue) = 0;
  // What became of threads of it, as the scheme is told (WarpFormation::resolved), perhaps in parts.
  virtual void resolved(std::uint16_t id, warp_formation::Outcomes outcomes, Cycle now) = 0;
  // A load: the last of its threads has its data.
  virtual void returned(std::uint16_t id, Cycle now) = 0;
  // Threads that wait go on: of the block in the slot at this barrier; these of a chunk, which gathered.
  virtual void barrier_opened(std::uint16_t slot, unsigned barrier) = 0;
  virtual void gathered(std::uint16_t slot, unsigned chunk, std::uint32_t threads) = 0;
  virtual void stepped(Cycle now) = 0;
};

}  // namespace weft::sm

#endif
