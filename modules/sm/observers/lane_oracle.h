// The lane activity that no regrouping of threads can exceed [HARP 3.2]: per block and instruction,
// executions of different threads share an issue whatever their order, but a thread keeps its lane. The
// issues of an instruction are at least the executions on its busiest lane.
#ifndef WEFT_SM_OBSERVERS_LANE_ORACLE_H
#define WEFT_SM_OBSERVERS_LANE_ORACLE_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sm/sm_observer.h"

namespace weft::sm {

class LaneOracle final : public SmObserver {
 public:
  // `home`: on which lane of its row a thread runs.
  LaneOracle(unsigned lanes, unsigned slots, const warp_formation::LanePermuter& home)
      : home_(home), lanes_(lanes), slots_(slots) {}

  void kernel_started(const KernelStart& start) override {
    instructions_ = start.kernel.program.code.size();
    counts_.assign(instructions_ * lanes_ * slots_, 0);
  }
  void issued(const Issue& issue) override {
    std::uint32_t* counts = of(issue.flight.slot) + std::size_t{issue.flight.pc} * lanes_;
    for (const auto& group : issue.flight.all()) {
      for (std::uint32_t rest = home_(group.chunk, group.mask); rest != 0; rest &= rest - 1)
        ++counts[static_cast<unsigned>(__builtin_ctz(rest)) % lanes_];
    }
  }
  void retired(std::uint16_t slot) override {
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

  void bind(statistics::Group& sm) override {
    statistics::Group& group = sm.group("oracle");
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

  const warp_formation::LanePermuter home_;
  const unsigned lanes_, slots_;
  std::size_t instructions_ = 0;
  std::vector<std::uint32_t> counts_;  // [slot][pc][lane]
  std::uint64_t executions_ = 0, issues_ = 0;
};

}  // namespace weft::sm

#endif
