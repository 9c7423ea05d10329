// Records what the threads of every launch write (thread_writes.h), and why a launch may come out otherwise
// if its threads run in another order, as they do where scalarization makes some of them faster: atomics that
// return what they found, clocks, the number of the SM, who executes together; and whatever else the checks
// of memory, races and shuffles find, which run beside it.
#ifndef WEFT_CHECK_WRITE_RECORDER_H
#define WEFT_CHECK_WRITE_RECORDER_H

#include <cstdio>
#include <string>
#include <vector>

#include "check/allocation_log.h"
#include "check/report.h"
#include "check/thread_writes.h"

namespace weft::check {

class WriteRecorder {
 public:
  WriteRecorder(std::FILE* file, const ReportLog& log) : file_(file), log_(log) {}

  void kernel_started(const execute::Kernel& kernel);
  void starts(const execute::ObservedInstruction& o);
  void done(const execute::ObservedInstruction& o);
  // `memory`: what lies at address `base`.
  void kernel_ended(const AllocationLog& allocations, const unsigned char* memory, std::uint64_t base);

 private:
  std::string found_last() const;

  std::FILE* const file_;
  const ReportLog& log_;
  const ptx::Program* program_ = nullptr;  // of the launch
  LaunchWrites launch_;
  std::uint64_t reports_before_ = 0;
};

}  // namespace weft::check

#endif
