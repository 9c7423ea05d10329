// Counts what each instruction of an SM's kernels does, in an InstructionProfile.
#ifndef WEFT_SM_OBSERVERS_INSTRUCTION_RECORDER_H
#define WEFT_SM_OBSERVERS_INSTRUCTION_RECORDER_H

#include <array>

#include "sm/instruction_profile.h"
#include "sm/observers/issue_charges.h"
#include "sm/sm.h"
#include "sm/sm_observer.h"

namespace weft::sm {

class InstructionRecorder final : public SmObserver {
 public:
  explicit InstructionRecorder(Sm& sm) : sm_(sm), charges_(sm.schedulers()) {}

  // Counts the launches from now on in `profile`, which outlives them; nullptr: does not.
  void count_in(InstructionProfile* profile);
  // Charges the cycles counted so far to instructions, as if none were issued any more: for who reads the
  // profile, or before a reset.
  void charge_cycles();

  void kernel_started(const KernelStart& start) override;
  void kernel_finished(Cycle /*end*/) override { charge_cycles(); }
  void issued(const Issue& issue) override;
  void requested(std::uint16_t id, const Requests& requests) override;
  void sent(std::uint16_t id, std::uint64_t requests) override;
  void wrote_back() override;
  void parted(const InFlight& flight) override;

 private:
  Sm& sm_;
  bool attached_ = false;
  InstructionProfile* profile_ = nullptr;
  InstructionProfile::OfKernel* kernel_ = nullptr;  // of the SM's; nullptr: it is not counted
  IssueCharges charges_;
  std::array<InstructionCounts*, Core::kMaxIssues> of_{};  // the instruction in flight
};

}  // namespace weft::sm

#endif
