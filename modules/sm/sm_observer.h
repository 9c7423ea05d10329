// Who watches an SM work: what instructions do from issue to commit, and when threads go on.
//
//   struct Issues final : sm::SmObserver {
//     void issued(const Issue& issue) override { ... }
//   };
//   Issues issues;
//   sm.attach(issues);       // from now on, until sm.detach(issues)
//
// An observer overrides what it wants to know, and needs one file; `observers/` has those of Weft. An SM
// without observers tests for an empty list at each event.
//
// All calls come within a step of the SM, but for those of kernels, which come from the dispatcher's, and
// `counted`, which comes from who reads statistics. None may change the SM, attach or detach. In a step,
// `stepped` is the last: until the next step nothing changes, however many cycles lie between, so what the SM
// shows then (Sm::stall, core) holds for all of them.
//
// A warp slot is a front-end buffer (Issue::context of all domains, numbered through). Under a scheme that
// regroups threads it holds other threads from one issue to the next.
#ifndef WEFT_SM_SM_OBSERVER_H
#define WEFT_SM_SM_OBSERVER_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "datapath/datapath.h"
#include "execute/access_record.h"
#include "execute/kernel.h"
#include "sm/in_flight.h"
#include "weft/common/fault.h"
#include "weft/common/statistics.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

struct Core;

class SmObserver {
 public:
  virtual ~SmObserver() = default;

  struct KernelStart {
    const execute::Kernel& kernel;
    Cycle first;      // cycle of it
    unsigned chunks;  // of threads that the SM has room for
  };
  struct Issue {
    Cycle now;
    std::uint16_t id;        // until it is resolved and its data have returned; below Core::kMaxIssues
    unsigned scheduler;      // of the SM
    unsigned context;        // warp slot of the SM
    std::uint64_t partners;  // bit i: slot context + i is issued with it, as one warp
    const InFlight& flight;  // the instruction and its threads
    const datapath::Times& times;
  };
  // What the load-store unit makes of an instruction's accesses.
  struct Requests {
    std::uint64_t threads, coalesced, shared_accesses, shared_conflict_cycles;
  };

  // It watches an SM from now on: the parts that the stages share, until the SM's end.
  virtual void attached(Core& /*core*/) {}
  // The SM turns to a kernel; it leaves it, and `end` is the first cycle after.
  virtual void kernel_started(const KernelStart& /*start*/) {}
  virtual void kernel_finished(Cycle /*end*/) {}
  // All cycles before `end` are to be in the statistics.
  virtual void counted(Cycle /*end*/) {}
  // As after construction.
  virtual void reset() {}

  // The schedulers are about to choose.
  virtual void choosing(Cycle /*now*/) {}
  // An instruction is issued; its operands have not been read yet.
  virtual void issued(const Issue& /*issue*/) {}
  // Its results are in the registers, or those of a load from system memory. Not of control instructions.
  virtual void executed(const InFlight& /*flight*/) {}
  // A memory instruction has made these accesses.
  virtual void accessed(const InFlight& /*flight*/, const execute::LaneAccess* /*accesses*/,
                        unsigned /*count*/) {}
  // The load-store unit has taken them; so many of its requests leave the SM now; a line that no instruction
  // asks for does.
  virtual void requested(std::uint16_t /*id*/, const Requests& /*requests*/) {}
  virtual void sent(std::uint16_t /*id*/, std::uint64_t /*requests*/) {}
  virtual void wrote_back() {}
  // Threads of a load have their data; the last of them has.
  virtual void arrived(const InFlight& /*flight*/, unsigned /*chunk*/, std::uint32_t /*threads*/) {}
  virtual void returned(std::uint16_t /*id*/, Cycle /*now*/) {}
  // What became of threads of an issue, as the scheme is told (WarpFormation::resolved), perhaps in parts.
  virtual void resolved(std::uint16_t /*id*/, warp_formation::Outcomes /*outcomes*/, Cycle /*now*/) {}
  // Threads of an instruction that has a target for each of them go to different places.
  virtual void parted(const InFlight& /*flight*/) {}
  // Threads of a branch go back, or to it again.
  virtual void went_back(const InFlight& /*flight*/) {}
  // Threads that wait go on: of the block in the slot at this barrier; these of a chunk, which gathered.
  virtual void barrier_opened(std::uint16_t /*slot*/, unsigned /*barrier*/) {}
  virtual void gathered(std::uint16_t /*slot*/, unsigned /*chunk*/, std::uint32_t /*threads*/) {}
  // The simulated program did something wrong; nothing more happens in this step.
  virtual void faulted(const Fault& /*why*/) {}
  // The block in the slot leaves.
  virtual void retired(std::uint16_t /*slot*/) {}
  // `issued`: an instruction was, in this step.
  virtual void stepped(Cycle /*now*/, bool /*issued*/) {}

  // Of an observer that the SM makes itself: its statistics.
  virtual void bind(statistics::Group& /*sm*/) {}
};

// In the order in which they came.
class SmObservers {
 public:
  void attach(SmObserver& observer) { observers_.push_back(&observer); }
  void detach(const SmObserver& observer) {
    observers_.erase(std::remove(observers_.begin(), observers_.end(), &observer), observers_.end());
  }
  bool any() const { return !observers_.empty(); }
  //   observers.tell(&SmObserver::wrote_back);
  template <class... Parameters, class... Arguments>
  void tell(void (SmObserver::*event)(Parameters...), const Arguments&... arguments) const {
    for (SmObserver* observer : observers_) (observer->*event)(arguments...);
  }

 private:
  std::vector<SmObserver*> observers_;
};

}  // namespace weft::sm

#endif
