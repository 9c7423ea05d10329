// What waveforms show of an SM: what schedulers, lanes and warp slots do in each step, blocks, the request on
// its way to the crossbar, and what is in flight. One that sleeps issues nothing, and its lanes go on; all
// else stays as its last step left it.
#ifndef WEFT_SM_OBSERVERS_ISSUE_SIGNALS_H
#define WEFT_SM_OBSERVERS_ISSUE_SIGNALS_H

#include <cstdint>
#include <vector>

#include "common/probes.h"
#include "ptx/mnemonic.h"
#include "sm/observers/slot_waits.h"
#include "sm/sm.h"
#include "sm/sm_observer.h"

namespace weft::sm {

class IssueSignals final : public SmObserver {
 public:
  explicit IssueSignals(Sm& sm);

  // Keeps what is issued from now on, or no more. `details`: also for the signals that are details.
  void keep(bool on, bool details);
  void probes(const Probes::Scope& scope) const;

  void reset() override;
  void kernel_started(const KernelStart& start) override;
  void kernel_finished(Cycle end) override;
  void issued(const Issue& issue) override;
  void resolved(std::uint16_t id, warp_formation::Outcomes outcomes, Cycle now) override;
  void barrier_opened(std::uint16_t slot, unsigned barrier) override;
  void gathered(std::uint16_t slot, unsigned chunk, std::uint32_t threads) override;

 private:
  // What a scheduler issued in the cycle `issued_`.
  struct Scheduler {
    ptx::Pc pc = ptx::kNoPc;         // the last of several; kNoPc: nothing
    std::uint32_t active_lanes = 0;  // threads
    std::uint32_t context = 0;       // of the SM
    ptx::Mnemonic opcode{};
  };
  // What was issued last of a warp slot.
  struct Slot {
    Cycle issued = 0;
    ptx::Pc pc = ptx::kNoPc;
  };
  // What was issued last to a lane that runs warps of its own.
  struct Lane {
    Cycle until = 0;
    ptx::Pc pc = ptx::kNoPc;
    std::uint32_t context = 0;  // of the SM
  };
  void forget();
  void forget_details();
  void issued_details(const Issue& issue, Scheduler& scheduler);
  void schedulers(const Probes::Scope& scope) const;
  void lanes(const Probes::Scope& scope) const;
  void slots(const Probes::Scope& scope) const;
  void requests(const Probes::Scope& memory) const;

  Sm& sm_;
  bool attached_ = false, details_ = false;
  Cycle issued_ = 0;  // cycle of the last issue
  std::vector<Scheduler> schedulers_;
  std::vector<Lane> lanes_;
  std::vector<Slot> slots_;
  SlotWaits waits_;
};

}  // namespace weft::sm

#endif
