// Tells threads that spin from threads that work, for the watchdog.
//
// Over a span of cycles it remembers, per thread, the registers with which the thread first took a backward
// branch. A thread that comes back to that branch with the same registers again and again spins: it reads
// memory that nobody changes. When every thread that issued anything spins, nothing will ever change.
#ifndef WEFT_SM_OBSERVERS_SPIN_OBSERVER_H
#define WEFT_SM_OBSERVERS_SPIN_OBSERVER_H

#include <cstdint>
#include <string>
#include <vector>

#include "sm/sm.h"
#include "sm/sm_observer.h"

namespace weft::sm {

class SpinObserver final : public SmObserver {
 public:
  explicit SpinObserver(Sm& sm) : sm_(sm) {}

  // A span begins, if the SM has a kernel.
  void start();
  void stop();

  struct Verdict {
    unsigned issued = 0;      // threads that issued something
    unsigned spinning = 0;    // of them, those that only repeat themselves
    ptx::Pc pc = ptx::kNoPc;  // the branch of one that spins
    unsigned position = 0;    // ... and which
  };
  Verdict verdict() const;
  // Whether an instruction from before the span is still in flight.
  bool is_busy() const;
  // Where the thread of the verdict stands, in words.
  std::string place_of(const Verdict& verdict) const;

  void kernel_started(const KernelStart& /*start*/) override { active_ = false; }
  void reset() override { active_ = false; }
  void issued(const Issue& issue) override;
  void went_back(const InFlight& flight) override;

 private:
  // So many turns with the same registers are no accident of the first ones.
  static constexpr std::uint8_t kEnough = 4;
  struct Thread {
    std::uint64_t state = 0;
    ptx::Pc pc = ptx::kNoPc;
    std::uint8_t visits = 0;
    bool changed = false;
  };
  Sm& sm_;
  std::vector<Thread> threads_;        // by position
  std::vector<std::uint32_t> issued_;  // by chunk
  bool active_ = false, attached_ = false;
};

}  // namespace weft::sm

#endif
