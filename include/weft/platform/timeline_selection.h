// What a timeline of a GPU shows, and when (vcd/TIMELINE.md).
//
//   TimelineSelection third;
//   third.first_launch = third.last_launch = 3;
//   third.sms = {{0, 1}};
//   gpu.recordings().write_timeline("third.perfetto-trace", third);
#ifndef WEFT_PLATFORM_TIMELINE_SELECTION_H
#define WEFT_PLATFORM_TIMELINE_SELECTION_H

#include <cstdint>
#include <utility>
#include <vector>

#include "weft/platform/time_window.h"

namespace weft {

struct TimelineSelection : TimeWindow {
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // both ends included
  std::vector<Range> sms{};                               // empty: all
  // Core cycles between two looks at what is shown as a counter.
  std::uint64_t interval = 100;
  // Of the file, at most: then it ends.
  std::uint64_t most_bytes = 256'000'000;
};

}  // namespace weft

#endif
