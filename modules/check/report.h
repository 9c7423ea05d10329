// What the checks have found: one report per kernel and PC, with how often it happened.
#ifndef WEFT_CHECK_REPORT_H
#define WEFT_CHECK_REPORT_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sm/access_observer.h"

namespace weft::check {

struct Report {
  std::string kind;    // "out of bounds", "race" ...
  std::string kernel;  // its name
  ptx::Pc pc = 0;
  std::string text;         // thread, PC, source line, access, allocation
  std::uint64_t count = 1;  // accesses of threads; the text is about the first
};

class ReportLog {
 public:
  // A launch ends when `most` different places have been reported.
  explicit ReportLog(std::uint64_t most) : most_(most) {}

  // `text` is asked for only if the place is new.
  void add(const std::string& kind, const std::string& kernel, ptx::Pc pc,
           const std::function<std::string()>& text);
  const std::vector<Report>& reports() const { return reports_; }
  const std::string& stop_reason() const { return stop_reason_; }
  void clear();

 private:
  const std::uint64_t most_;
  std::vector<Report> reports_;
  std::map<std::pair<std::string, ptx::Pc>, std::size_t> places_;
  std::string stop_reason_;
};

// "kernel: thread (1,0,0) of block (0,0,0), pc 7, file.cu:12 (kernel.ptx:40:3): store of 4 bytes"
std::string describe(const sm::ObservedAccess& access, unsigned lane);
// "kernel: thread (0,0,0) of block (0,0,0), pc 7, file.cu:12 (kernel.ptx:40:3): shfl reads lane 16 of its
// warp, which has exited ..."
std::string describe(const sm::ObservedShuffle& shuffle, unsigned lane);
std::string thread_name(const sm::Kernel& kernel, std::uint64_t block, std::uint32_t thread);
std::string verb_of(const ptx::Instruction& in);
// Number of the lane's thread in its block, and of its block in the grid.
std::uint32_t thread_of(const sm::ObservedAccess& access, unsigned lane);
std::uint64_t block_of(const sm::Kernel& kernel, const sm::ResidentBlock& block);
std::uint64_t number_in(const dispatch::Dim3& grid, const dispatch::Dim3& index);

}  // namespace weft::check

#endif
