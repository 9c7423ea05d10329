// Which instruction the cycles of a scheduler are charged to: each cycle to one.
//
// A cycle with an issue is charged to the first instruction issued in it. The cycles since then until the
// next issue are charged, bucket by bucket, to the instruction that is issued next: it is the first one that
// could be. Cycles without threads, and those after the last issue, are charged to no instruction. So the
// sums over the instructions of a kernel, and what belongs to none, are the buckets of the cycle account. (At
// commit in place of issue, this is the attribution of B. Gottschall et al., TIP: Time-Proportional
// Instruction Profiling, MICRO 2021.)
#ifndef WEFT_SM_OBSERVERS_ISSUE_CHARGES_H
#define WEFT_SM_OBSERVERS_ISSUE_CHARGES_H

#include <cstddef>
#include <vector>

#include "bus/clock_domain.h"
#include "sm/cycle_account.h"
#include "sm/instruction_profile.h"

namespace weft::sm {

class IssueCharges {
 public:
  explicit IssueCharges(std::size_t schedulers) : schedulers_(schedulers) {}

  // A kernel begins: cycles of the account before now are nobody's.
  void start(const CycleAccount& account) {
    for (std::size_t s = 0; s < schedulers_.size(); ++s)
      schedulers_[s] = {account.buckets(s), nullptr, kNever};
  }
  // The scheduler issues an instruction with these counts in the cycle to which the account was brought.
  void issued(Cycle now, std::size_t scheduler, const CycleAccount& account, InstructionCounts& counts,
              InstructionCounts& rest) {
    Scheduler& s = schedulers_[scheduler];
    if (s.at == now) return;
    charge(s, account.buckets(scheduler), counts, rest);
    s.issuer = &counts;
    s.at = now;
  }
  // No further issue: what the account has got since the last one is charged.
  void settle(const CycleAccount& account, InstructionCounts& rest) {
    for (std::size_t s = 0; s < schedulers_.size(); ++s)
      charge(schedulers_[s], account.buckets(s), rest, rest);
  }

 private:
  struct Scheduler {
    CycleAccount::Buckets charged{};      // of the account
    InstructionCounts* issuer = nullptr;  // of the last issue
    Cycle at = kNever;                    // and its cycle
  };
  static void charge(Scheduler& s, const CycleAccount::Buckets& now, InstructionCounts& waiter,
                     InstructionCounts& rest) {
    constexpr auto kEmpty = static_cast<std::size_t>(warp_formation::Stall::kEmpty);
    for (std::size_t b = 0; b < now.size(); ++b) {
      InstructionCounts& counts = b == 0        ? (s.issuer != nullptr ? *s.issuer : rest)
                                  : b == kEmpty ? rest
                                                : waiter;
      counts.cycles[b] += now[b] - s.charged[b];
    }
    s.charged = now;
  }

  std::vector<Scheduler> schedulers_;
};

}  // namespace weft::sm

#endif
