// The checks of a run as one observer: `--check memory`, `race`, `warp`, `scalar`, or several of them.
//
//   check::Checks checks({true, false, 16}, gpu.device_base(), bytes);
//   gpu.observe(&checks);
//   checks.allocated(address, bytes);      // as the host allocates, writes, frees
//   ... launches ...
//   for (const check::Report& report : checks.reports()) ...
#ifndef WEFT_CHECK_CHECKS_H
#define WEFT_CHECK_CHECKS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/allocation_log.h"
#include "check/barrier_checker.h"
#include "check/memory_checker.h"
#include "check/race_checker.h"
#include "check/report.h"
#include "check/scalar_checker.h"
#include "check/write_comparer.h"
#include "check/write_recorder.h"
#include "weft/check/check.h"

namespace weft::check {

class Checks final : public execute::AccessObserver {
 public:
  // Device memory: addresses base to base + bytes - 1.
  Checks(const Options& options, std::uint64_t base, std::uint64_t bytes);

  // Kernels may access the range from now on; it has not been written. `name`: of a variable, else empty.
  void allocated(std::uint64_t address, std::uint64_t bytes, const std::string& name = "");
  // The allocation that starts there is no more.
  void freed(std::uint64_t address);
  // A kernel has allocated the range (malloc), which `freed` ends as well.
  void allocated_by_kernel(std::uint64_t address, std::uint64_t bytes);
  // The host has written the range.
  void written(std::uint64_t address, std::uint64_t bytes);
  // The launch that was started last is done. `memory`: the device's.
  void launch_ended(const unsigned char* memory);
  // What has been found until now; what kernels have allocated and nobody has freed until now is a leak,
  // unless a launch ended before its time.
  const std::vector<Report>& reports();
  // Whether room stays free behind what kernels allocate.
  bool gaps() const { return gaps_; }
  // What has not been compared with the run without scalarization, and why.
  std::vector<std::string> not_compared() const;
  // As after construction.
  void reset();

  void kernel_started(const execute::Kernel& kernel, unsigned sms) override;
  void block_started(unsigned sm, const execute::ResidentBlock& block) override;
  std::uint32_t access(const execute::ObservedAccess& access) override;
  void shuffle_from_outside(const execute::ObservedShuffle& shuffle) override;
  void members_absent(const execute::ObservedAbsence& absence) override;
  void result_written(unsigned sm, const execute::ResidentBlock& block, unsigned chunk, unsigned lane,
                      std::uint64_t offset, std::uint64_t bytes) override;
  bool sees_instructions() const override { return scalar_.has_value() || recorder_.has_value(); }
  void instruction_starts(const execute::ObservedInstruction& instruction) override {
    if (scalar_) scalar_->starts(instruction);
    if (recorder_) recorder_->starts(instruction);
  }
  void instruction_done(const execute::ObservedInstruction& instruction) override;
  const std::string& stop_reason() const override { return log_.stop_reason(); }
  void allocates(const execute::Kernel& kernel, ptx::Pc pc) override {
    allocating_ = &kernel;
    allocating_pc_ = pc;
  }
  void ordered(const execute::ObservedOrder& order) override;
  void barrier_reached(const execute::ObservedArrival& arrival) override;
  void barrier_arrived(unsigned sm, const execute::ResidentBlock& block, unsigned barrier, unsigned chunk,
                       std::uint32_t mask, bool waits) override;
  void barrier_released(unsigned sm, const execute::ResidentBlock& block, unsigned barrier,
                        bool whole) override;
  void warp_synchronised(unsigned sm, const execute::ResidentBlock& block, unsigned chunk,
                         std::uint32_t mask) override;

 private:
  AllocationLog allocations_;
  ReportLog log_;
  std::optional<MemoryChecker> memory_;
  std::optional<RaceChecker> race_;
  std::optional<ScalarChecker> scalar_;
  std::optional<WriteRecorder> recorder_;
  std::optional<WriteComparer> comparer_;
  std::optional<BarrierChecker> barriers_;
  const bool warp_, gaps_;
  const std::uint64_t base_;
  const execute::Kernel* allocating_ = nullptr;  // who calls malloc
  ptx::Pc allocating_pc_ = 0;
  std::uint64_t launches_ = 0, done_ = 0;
  std::vector<Report> reports_;  // with leaks
};

}  // namespace weft::check

#endif
