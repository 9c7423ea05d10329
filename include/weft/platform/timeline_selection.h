// What a timeline of a GPU shows, and when (vcd/TIMELINE.md).
//
//   TimelineSelection third;
//   third.first_launch = third.last_launch = 3;
//   third.sms = {{0, 1}};
//   gpu.write_timeline("third.perfetto-trace", third);
#ifndef WEFT_PLATFORM_TIMELINE_SELECTION_H
#define WEFT_PLATFORM_TIMELINE_SELECTION_H

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

struct TimelineSelection {
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // both ends included
  std::vector<Range> sms{};                               // empty: all
  // Core cycles, and launches, the first is 1: as SignalSelection has them.
  std::uint64_t first_cycle = 0, last_cycle = UINT64_MAX;
  std::uint64_t first_launch = 0, last_launch = UINT64_MAX;
  // Core cycles between two looks at what is shown as a counter.
  std::uint64_t interval = 100;
  // Of the file, at most: then it ends.
  std::uint64_t most_bytes = 256'000'000;
};

}  // namespace weft

#endif
