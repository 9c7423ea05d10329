// What the checks have found: one report per kernel and PC, with how often it happened.
#ifndef WEFT_CHECK_REPORT_H
#define WEFT_CHECK_REPORT_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "execute/access_observer.h"
#include "weft/check/check.h"

namespace weft::check {

class ReportLog {
 public:
  // A launch ends when `most` different places have been reported.
  explicit ReportLog(std::uint64_t most) : most_(most) {}

  // `text` is asked for only if the place is new. `comparison`: with another run, whose reports are apart
  // from those of the same instruction by itself.
  void add(const std::string& kind, const std::string& kernel, ptx::Pc pc,
           const std::function<std::string()>& text, bool comparison = false);
  const std::vector<Report>& reports() const { return reports_; }
  const std::string& stop_reason() const { return stop_reason_; }
  void clear();

 private:
  const std::uint64_t most_;
  std::vector<Report> reports_;
  std::map<std::tuple<std::string, ptx::Pc, bool>, std::size_t> places_;
  std::string stop_reason_;
};

// "kernel: thread (1,0,0) of block (0,0,0), pc 7, file.cu:12 (kernel.ptx:40:3): store of 4 bytes"
std::string describe(const execute::ObservedAccess& access, unsigned lane);
// "kernel: thread (0,0,0) of block (0,0,0), pc 7, file.cu:12 (kernel.ptx:40:3): shfl reads lane 16 of its
// warp, which has exited ..."
std::string describe(const execute::ObservedShuffle& shuffle, unsigned lane);
// "kernel: thread (0,0,0) of block (0,0,0), pc 7, file.cu:12 (kernel.ptx:40:3): shfl with member mask
// 0xffffffff executes without 0xfffff000 ..."
std::string describe(const execute::ObservedAbsence& absence, unsigned lane);
// "kernel: thread (1,0,0) of block (0,0,0), pc 7, file.cu:12 (kernel.ptx:40:3): "
std::string place(const execute::ObservedInstruction& instruction, unsigned lane);
std::string describe(const execute::ObservedArrival& arrival, unsigned lane);
std::string thread_name(const execute::Kernel& kernel, std::uint64_t block, std::uint32_t thread);
std::string verb_of(const ptx::Instruction& in);
// Number of the lane's thread in its block, and of its block in the grid.
std::uint32_t thread_of(const execute::ObservedAccess& access, unsigned lane);
std::uint64_t block_of(const execute::Kernel& kernel, const execute::ResidentBlock& block);
std::uint64_t number_in(const dispatch::Dim3& grid, const dispatch::Dim3& index);

}  // namespace weft::check

#endif
