// --check warp: threads of one warp that arrive at one block barrier from several aligned instructions.
//
// PTX ISA, 9.7.13.1: all threads of a warp execute the same bar instruction, and the same barrier with
// .aligned; machines may hang or let threads through. `barrier` without .aligned may be reached apart.
#ifndef WEFT_CHECK_BARRIER_CHECKER_H
#define WEFT_CHECK_BARRIER_CHECKER_H

#include <cstdint>
#include <vector>

#include "check/report.h"
#include "execute/access_observer.h"

namespace weft::check {

class BarrierChecker {
 public:
  explicit BarrierChecker(ReportLog& log) : log_(log) {}

  void reset() { slots_.clear(); }
  void kernel_started(const execute::Kernel& kernel, unsigned sms);
  void block_started(unsigned sm, const execute::ResidentBlock& block);
  void reached(const execute::ObservedArrival& arrival);
  void released(unsigned sm, const execute::ResidentBlock& block, unsigned barrier);

 private:
  static constexpr unsigned kBarriers = 16;
  // Who came first of a warp since the barrier opened last.
  struct First {
    ptx::Pc pc = ptx::kNoPc;
    std::uint32_t mask = 0;
  };
  // Of a slot for a block: by barrier, then by warp.
  std::vector<First>& slot_of(unsigned sm, const execute::ResidentBlock& block) {
    return slots_[sm * slots_per_sm_ + block.slot];
  }

  ReportLog& log_;
  std::vector<std::vector<First>> slots_;
  unsigned slots_per_sm_ = 0, warps_ = 0;
};

}  // namespace weft::check

#endif
