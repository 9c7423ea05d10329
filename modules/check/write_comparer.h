// Compares what the threads of a run with scalarization write, and what memory holds after each launch, with
// what a WriteRecorder has recorded of the same run without it. The first difference of a thread is reported
// with the thread, the register and its line in the PTX.
#ifndef WEFT_CHECK_WRITE_COMPARER_H
#define WEFT_CHECK_WRITE_COMPARER_H

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "check/allocation_log.h"
#include "check/report.h"
#include "check/thread_writes.h"

namespace weft::check {

class WriteComparer {
 public:
  // `text`: the PTX, to name registers; may be empty.
  WriteComparer(std::FILE* file, const std::string& text, ReportLog& log);

  void kernel_started(const execute::Kernel& kernel, const AllocationLog& allocations);
  void done(const execute::ObservedInstruction& o);
  void kernel_ended(const AllocationLog& allocations, const unsigned char* memory, std::uint64_t base);
  // What has not been compared, and why: a line each.
  std::vector<std::string> left_out() const;

 private:
  void compare(const execute::ObservedInstruction& o, std::uint64_t thread, unsigned lane, std::size_t result,
               const RegisterWrite& write);
  void compare_images(const AllocationLog& allocations, const unsigned char* memory, std::uint64_t base);
  void leave_out(const std::string& why);
  std::string register_name(const ptx::Instruction& in, std::size_t result) const;

  std::FILE* const file_;
  std::vector<std::string> lines_;
  ReportLog& log_;
  const execute::Kernel* kernel_ = nullptr;  // of the launch that runs
  LaunchWrites recorded_;
  bool compares_ = false;                          // the writes of this launch
  std::vector<std::uint64_t> next_;                // by thread: of its writes; kDiffers: no longer
  std::string apart_;                              // why nothing is compared any more; empty: it is
  std::map<std::string, std::uint64_t> left_out_;  // kernel and why: launches
};

}  // namespace weft::check

#endif
