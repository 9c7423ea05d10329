// When a waveform or a timeline of a GPU records.
#ifndef WEFT_PLATFORM_TIME_WINDOW_H
#define WEFT_PLATFORM_TIME_WINDOW_H

#include <cstdint>
#include <string>

#include "weft/common/error.h"

namespace weft {

struct TimeWindow {
  // Core cycles, both included.
  std::uint64_t first_cycle = 0, last_cycle = UINT64_MAX;
  // Launches, the first is 1: from the begin of the one until another than the last begins. 0: also what is
  // before the first.
  std::uint64_t first_launch = 0, last_launch = UINT64_MAX;

  bool is_everything() const {
    return first_cycle == 0 && last_cycle == UINT64_MAX && first_launch == 0 && last_launch == UINT64_MAX;
  }

  // Throws InputError if an end is before its start; `what` is recorded, `where` stands before the message.
  void check(const std::string& where, const std::string& what) const {
    check(where, what + " of core cycles ", first_cycle, last_cycle);
    check(where, what + " of launches ", first_launch, last_launch);
  }

 private:
  static void check(const std::string& where, const std::string& what, std::uint64_t first,
                    std::uint64_t last) {
    if (first <= last) return;
    throw InputError(where, what + std::to_string(first) + " to " + std::to_string(last) +
                                "; allowed: an end at or after the start");
  }
};

}  // namespace weft

#endif
