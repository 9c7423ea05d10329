// The checks of a run as one observer: `--check memory`, `--check race`, `--check warp`, or several of them.
//
//   check::Checks checks({true, false, 16}, kDeviceBase, bytes);
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
#include "check/memory_checker.h"
#include "check/race_checker.h"
#include "check/report.h"

namespace weft::check {

struct Options {
  bool memory = false, race = false;
  std::uint64_t reports = 16;  // different places after which a launch ends; at least 1
  bool warp = false;
  bool any() const { return memory || race || warp; }
};
// The checks of these names. Throws InputError for another name, and for 0 reports.
Options options_of(const std::vector<std::string>& names, std::uint64_t reports);

class Checks final : public sm::AccessObserver {
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
  const std::vector<Report>& reports() const { return log_.reports(); }
  // As after construction.
  void reset();

  void kernel_started(const sm::Kernel& kernel, unsigned sms) override;
  void block_started(unsigned sm, const sm::ResidentBlock& block) override;
  std::uint32_t access(const sm::ObservedAccess& access) override;
  void shuffle_from_outside(const sm::ObservedShuffle& shuffle) override;
  void result_written(unsigned sm, const sm::ResidentBlock& block, unsigned chunk, unsigned lane,
                      std::uint64_t offset, std::uint64_t bytes) override;
  const std::string& stop_reason() const override { return log_.stop_reason(); }
  void barrier_arrived(unsigned sm, const sm::ResidentBlock& block, unsigned barrier, unsigned chunk,
                       std::uint32_t mask, bool waits) override;
  void barrier_released(unsigned sm, const sm::ResidentBlock& block, unsigned barrier, bool whole) override;
  void warp_synchronised(unsigned sm, const sm::ResidentBlock& block, unsigned chunk,
                         std::uint32_t mask) override;

 private:
  AllocationLog allocations_;
  ReportLog log_;
  std::optional<MemoryChecker> memory_;
  std::optional<RaceChecker> race_;
  const bool warp_;
};

}  // namespace weft::check

#endif
