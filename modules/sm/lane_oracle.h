// The lane activity that no regrouping of threads can exceed [HARP 3.2]: per block and instruction,
// executions of different threads share an issue whatever their order, but a thread keeps its lane. The
// issues of an instruction are at least the executions on its busiest lane.
#ifndef WEFT_SM_LANE_ORACLE_H
#define WEFT_SM_LANE_ORACLE_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/common/statistics.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class LaneOracle {
 public:
  LaneOracle(bool enabled, unsigned lanes) : enabled_(enabled), lanes_(lanes) {}

  bool enabled() const { return enabled_; }
  void start_kernel(std::size_t instructions, unsigned slots) {
    if (!enabled_) return;
    instructions_ = instructions;
    counts_.assign(instructions * lanes_ * slots, 0);
  }
  void executed(ptx::Pc pc, unsigned slot, warp_formation::Groups groups) {
    std::uint32_t* counts = of(slot) + std::size_t{pc} * lanes_;
    for (const auto& group : groups) {
      for (std::uint32_t rest = group.mask; rest != 0; rest &= rest - 1)
        ++counts[static_cast<unsigned>(__builtin_ctz(rest)) % lanes_];
    }
  }
  void retired(unsigned slot) {
    std::uint32_t* counts = of(slot);
    for (std::size_t pc = 0; pc < instructions_; ++pc, counts += lanes_) {
      std::uint32_t most = 0;
      for (unsigned lane = 0; lane < lanes_; ++lane) {
        executions_ += counts[lane];
        most = std::max(most, counts[lane]);
      }
      issues_ += most;
      std::fill_n(counts, lanes_, 0u);
    }
  }
  std::uint64_t executions() const { return executions_; }
  std::uint64_t issues() const { return issues_; }

  void bind(statistics::Group& group) {
    if (!enabled_) return;
    group.counter("executions", units::kInstructions, "instructions executed by threads of retired blocks",
                  executions_);
    group.counter(
        "issues", units::kCycles,
        "fewest SIMD cycles for these executions: executions on the busiest lane of each instruction",
        issues_);
    group.ratio("lane_activity", units::kRatio,
                "share of active lanes if executions took only these SIMD cycles",
                {{&executions_}, {&issues_}, static_cast<double>(lanes_), statistics::kNothing});
  }

 private:
  std::uint32_t* of(unsigned slot) { return counts_.data() + slot * instructions_ * lanes_; }

  const bool enabled_;
  const unsigned lanes_;
  std::size_t instructions_ = 0;
  std::vector<std::uint32_t> counts_;  // [slot][pc][lane]
  std::uint64_t executions_ = 0, issues_ = 0;
};

}  // namespace weft::sm

#endif
