// Which launches of a program are timed: all; those of a range of numbers (--launches); or those that it
// makes between cudaProfilerStart and cudaProfilerStop (--region profiler). The others run without timing,
// with the same results. Copies and fills take simulated time from the call of the first timed launch to that
// of the last one, or within the region.
#ifndef WEFT_RUNTIME_CUDA_CORE_SELECTION_H
#define WEFT_RUNTIME_CUDA_CORE_SELECTION_H

#include <cstdint>
#include <string>

#include "runtime/cuda/core/settings.h"

namespace weft::cuda {

class Selection {
 public:
  Selection() = default;
  explicit Selection(const Settings& settings);

  bool is_some() const { return last_ != 0 || in_regions_; }  // else all
  bool times_next_launch() const;
  bool times_copies() const;
  void launched();
  void region(bool begins);

  std::uint64_t launches() const { return launches_; }  // so far, of the program
  std::uint64_t timed() const { return timed_; }
  std::string option() const;   // "--launches 3-5"
  std::string summary() const;  // a line that says what was timed; empty: all

 private:
  std::uint64_t first_ = 1, last_ = 0;  // from 1 on; 0: no range
  bool in_regions_ = false, inside_ = false, entered_ = false;
  std::uint64_t launches_ = 0, timed_ = 0;
};

}  // namespace weft::cuda

#endif
