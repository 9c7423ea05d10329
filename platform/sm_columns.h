// Totals and tables of SMs: columns of counters, found once in the tree of statistics, and the derived values
// that modules/measures makes of them.
#ifndef WEFT_PLATFORM_SM_COLUMNS_H
#define WEFT_PLATFORM_SM_COLUMNS_H

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "common/statistics_table.h"
#include "measures/sources.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft {

// The columns, in their order. Those of the buckets follow, in the order of warp_formation::Stall, then,
// where they are, the counters of the SM's groups `scalar` (scalarization), `lanes` (lanes are observed) and
// `stalled` (stalled threads are): "scalar_", "lanes_" or "stalled_" and the name.
enum class SmColumn : std::uint8_t {
  kThreadInstructions,
  kExecutedThreadInstructions,
  kWarpInstructions,
  kActiveBeats,
  kActiveLanes,
  kBlocks,
  kThreads,
  kMemoryThreads,
  kDataRequests,
  kWriteBytes,
  kL1dAccesses,
  kL1dHits,
  kSharedAccesses,
  kSharedConflictCycles,
  kHeldCycles,
  kLaneCycles,
  kNoReadyCycles,
  kMemoryBlockedCycles,
  kBuckets
};

// Each sums over all of these SMs (their groups in the tree). Behind them, where it is counted
// (sm.observe.lanes), what lanes that run warps of their own did.
statistics::Columns sm_columns(const std::vector<const statistics::Group*>& sms);

// Beats of the datapath: how many threads one can run, and how many of a scheduler a cycle can have (one of
// each of its lanes, where lanes run warps of their own). `warp_width` is WarpFormation::warp_width.
struct Beats {
  std::uint64_t lanes = 32, in_a_cycle = 1, warp_width = 0;
};

// Of a snapshot of these columns, or of the difference of two.
class SmValues {
 public:
  explicit SmValues(const statistics::Snapshot& values) : values_(values) {}

  std::uint64_t operator[](SmColumn column) const { return values_[static_cast<std::size_t>(column)]; }
  std::uint64_t bucket(warp_formation::Stall stall) const {
    return values_[static_cast<std::size_t>(SmColumn::kBuckets) + static_cast<std::size_t>(stall)];
  }
  // All buckets together.
  std::uint64_t scheduler_cycles() const;
  // Places for threads in the instructions issued. If warps have no common width, those of the beats with an
  // active lane.
  std::uint64_t thread_places(const Beats& beats) const {
    return beats.warp_width != 0 ? (*this)[SmColumn::kWarpInstructions] * beats.warp_width
                                 : (*this)[SmColumn::kActiveBeats] * beats.lanes;
  }
  // What derived values need besides counters.
  measures::Run run(std::uint64_t cycles, const Beats& beats) const;

 private:
  friend class SmShares;
  const statistics::Snapshot& values_;
};

// The derived values of rows of a CSV file, found among its columns once.
class SmShares {
 public:
  explicit SmShares(const statistics::Columns& columns);

  // Without a comma at either end: "ipc,lane_activity,...".
  std::string names() const;
  void write(std::ostream& out, const SmValues& values, std::uint64_t cycles, const Beats& beats) const;

 private:
  measures::Readings readings_;
};

}  // namespace weft

#endif
