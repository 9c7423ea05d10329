#include "runtime/cuda/core/selection.h"

namespace weft::cuda {

Selection::Selection(const Settings& settings)
    : first_(settings.first_launch), last_(settings.last_launch), in_regions_(settings.profiler_region) {}

bool Selection::times_next_launch() const {
  if (in_regions_) return inside_;
  return last_ == 0 || (launches_ + 1 >= first_ && launches_ + 1 <= last_);
}

bool Selection::times_copies() const {
  if (in_regions_) return inside_;
  return last_ == 0 || (launches_ >= first_ && launches_ < last_);
}

void Selection::launched() {
  if (times_next_launch()) ++timed_;
  ++launches_;
}

void Selection::region(bool begins) {
  inside_ = begins;
  entered_ = entered_ || begins;
}

std::string Selection::option() const {
  if (in_regions_) return "--region profiler";
  const std::string first = std::to_string(first_);
  return "--launches " + (first_ == last_ ? first : first + "-" + std::to_string(last_));
}

std::string Selection::summary() const {
  if (!is_some()) return "";
  const std::string all = std::to_string(launches_) + (launches_ == 1 ? " launch" : " launches");
  if (timed_ != 0) {
    return std::to_string(timed_) + " of " + all + (timed_ == 1 ? " was" : " were") + " timed (" + option() +
           "); the others ran without timing";
  }
  return "none of " + all + " was timed (" + option() + ")" +
         (in_regions_ && !entered_ ? ": the program never called cudaProfilerStart" : "");
}

}  // namespace weft::cuda
