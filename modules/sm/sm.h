// A streaming multiprocessor: resident blocks, and the stages that run their instructions (stages/stage.h).
//
// One initiator socket to the crossbar. Blocks are placed by the dispatcher, which is told when one retires.
#ifndef WEFT_SM_SM_H
#define WEFT_SM_SM_H

#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/memory_transaction.h"
#include "dispatch/dispatcher.h"
#include "execute/kernel.h"
#include "sm/front_end.h"
#include "sm/sm_observer.h"
#include "sm/stages/commit.h"
#include "sm/stages/core.h"
#include "sm/stages/execute.h"
#include "sm/stages/issue.h"
#include "sm/stages/memory.h"
#include "sm/stages/operands.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class Sm final : public sc_core::sc_module, public Clocked, public dispatch::BlockTarget {
 public:
  using Stall = warp_formation::Stall;
  tlm::tlm_initiator_socket<32> memory_socket;

  Sm(sc_core::sc_module_name name, unsigned index, const machine::SmConfig& config,
     const warp_formation::Config& formation, ClockDomain& clock, SmListener& listener);
  ~Sm() override;

  // Throws InputError if the kernel needs warps that the scheme does not keep.
  void check_warps(const execute::Kernel& kernel) const;
  // The SM turns to a kernel, with empty caches; buckets are counted from `now` on. Nothing of the one before
  // may be left (`drained`), which finish_kernel has closed.
  void start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory,
                    std::uint64_t code_offset, std::uint64_t parameter_offset, Cycle now);
  // Counts the cycles before `end` that a sleeping SM has not counted yet, for who reads the statistics after
  // the step of the cycle before it.
  void settle(Cycle end);
  // The same for the cycle of the last step, which counts itself with the next one.
  void settle() { settle(core_.state.now + 1); }
  // The kernel is done (or abandoned): closes the account of cycles at `now`.
  void finish_kernel(Cycle now);
  // The kernel ends where it is, in the middle of its threads: from now on no instruction issues and no
  // request leaves. When all its transactions are answered, the SM is drained and holds the kernel without a
  // block.
  void abandon_kernel();
  bool can_launch() const override;
  void launch_block(const dispatch::Dim3& index) override;
  void reset();
  // Between two launches, with what the statistics do not have. Throws NotAtRest if the SM is not drained.
  void archive(Archive& archive);

  Cycle step(Cycle now) override;

  bool drained() const override;
  void bind(statistics::Group& group);
  // One line per live warp, per domain, for the watchdog.
  std::string dump() const;

  // Transactions to device memory have their bytes with them from the next launch on, for who looks at a hop.
  // Time is the same.
  void carry_data(bool carries) { carries_data_ = carries; }
  // Transactions on their way, and what the first level holds of system memory.
  MemoryStage& memory() { return memory_; }
  const MemoryStage& memory() const { return memory_; }

  // Shows accesses and barriers to `observer` from now on; nullptr: to nobody. (Instructions: AccessView.)
  void observe(execute::AccessObserver* observer) {
    core_.executor.observe(observer);
    core_.synchroniser.observe(observer);
  }
  // Shows its work to `observer` from now on (sm_observer.h), or no more.
  void attach(SmObserver& observer) {
    core_.observers.attach(observer);
    observer.attached(core_);
  }
  void detach(const SmObserver& observer) { core_.observers.detach(observer); }

  // --- what observers look at ---

  // What the stages share: kernel, blocks, registers, datapath, instructions in flight, domains, counters.
  Core& core() { return core_; }
  const Core& core() const { return core_; }
  // What the scheduler does from the last step on; kNone: it issued in that cycle.
  // Another number than before if it was stepped or woken since (ClockDomain::activity).
  std::uint64_t activity() const { return clock_.activity(clock_index_); }
  Stall stall(unsigned scheduler) const { return core_.account.last(scheduler); }
  // The domain's first scheduler could issue it in the cycle of this step.
  bool would_issue(unsigned domain, const warp_formation::Issue& offer) const {
    return issue_.would_issue(core_.domains[domain], offer);
  }

  // Of the datapath: threads that a beat can run.
  unsigned lanes() const { return core_.datapath->lanes(); }
  // Lanes that each run warps of their own.
  unsigned lane_count() const { return core_.datapath->lane_count(); }
  unsigned schedulers() const { return static_cast<unsigned>(core_.config.schedulers); }
  // Beats of one scheduler that a cycle can have: of each of its lanes where lanes run warps of their own.
  unsigned beats_in_a_cycle() const { return std::max(1u, lane_count() / schedulers()); }

 private:
  void bind_scalars(statistics::Group& group);
  void bind_thread_states(statistics::Group& group);
  std::uint8_t* direct_memory(std::uint64_t bytes);
  std::uint16_t free_slot() const;  // of a block; there is one
  // What the schedulers did in a step: one has issued; one waits for a unit, or for the load-store unit.
  struct Choices {
    bool issued = false, unit_busy = false;
  };
  [[gnu::always_inline]] Choices issue(Cycle now);
  [[gnu::always_inline]] void fetch(Cycle now);
  [[gnu::always_inline]] void end_step(Cycle now, bool issued);
  Cycle next_event(Cycle now, bool unit_busy) const;
  Cycle drain(Cycle now);

  ClockDomain& clock_;
  const std::size_t clock_index_;
  Core core_;
  // From the first to the last.
  FrontEnd fetch_;
  CommitStage commit_;
  MemoryStage memory_;
  ExecuteStage execute_;
  OperandStage operands_;
  IssueStage issue_;

  // What the kernel was started with.
  struct Start {
    execute::DeviceMemoryView memory;
    std::uint64_t code_offset = 0, parameter_offset = 0;
  };
  Start start_;
  Cycle abandoned_at_ = 0;  // what follows happens from the next cycle on, in whatever order SMs are stepped

  std::vector<std::unique_ptr<SmObserver>> own_observers_;
  bool carries_data_ = false;
};

}  // namespace weft::sm

#endif
