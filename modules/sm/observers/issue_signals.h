// What waveforms show of an SM: what schedulers and lanes do in each step, blocks, and what is in flight. One
// that sleeps issues nothing, and its lanes go on; all else stays as its last step left it.
#ifndef WEFT_SM_OBSERVERS_ISSUE_SIGNALS_H
#define WEFT_SM_OBSERVERS_ISSUE_SIGNALS_H

#include <cstdint>
#include <vector>

#include "common/probes.h"
#include "sm/sm.h"
#include "sm/sm_observer.h"

namespace weft::sm {

class IssueSignals final : public SmObserver {
 public:
  explicit IssueSignals(Sm& sm);

  // Keeps what is issued from now on, or no more.
  void keep(bool on);
  void probes(const Probes::Scope& scope) const;

  void reset() override;
  void issued(const Issue& issue) override;

 private:
  // What a scheduler issued in the cycle `issued_`.
  struct Scheduler {
    ptx::Pc pc = ptx::kNoPc;         // the last of several; kNoPc: nothing
    std::uint32_t active_lanes = 0;  // threads
  };
  // What was issued last to a lane that runs warps of its own.
  struct Lane {
    Cycle until = 0;
    ptx::Pc pc = ptx::kNoPc;
    std::uint32_t context = 0;  // of the SM
  };
  void forget();

  Sm& sm_;
  bool attached_ = false;
  Cycle issued_ = 0;  // cycle of the last issue
  std::vector<Scheduler> schedulers_;
  std::vector<Lane> lanes_;
};

}  // namespace weft::sm

#endif
