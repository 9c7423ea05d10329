// What totals and tables say of SMs: columns of counters, found once in the tree of statistics, and the
// shares and rates that are made of them.
#ifndef WEFT_PLATFORM_SM_COLUMNS_H
#define WEFT_PLATFORM_SM_COLUMNS_H

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "common/statistics_table.h"
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
// each of its lanes, where lanes run warps of their own).
struct Beats {
  std::uint64_t lanes = 32, in_a_cycle = 1;
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
  // Places for threads in the instructions issued. `warp_width` is WarpFormation::warp_width; if that is 0,
  // those of the beats with an active lane.
  std::uint64_t thread_places(std::uint64_t warp_width, std::uint64_t lanes) const {
    return warp_width != 0 ? (*this)[SmColumn::kWarpInstructions] * warp_width
                           : (*this)[SmColumn::kActiveBeats] * lanes;
  }

  // 0 of nothing.
  double ipc(std::uint64_t cycles) const;           // thread instructions per core cycle
  double lane_activity(std::uint64_t lanes) const;  // active lanes / (beats with an active lane x lanes)
  // Shares of the cycles of schedulers that held threads.
  double idle_share() const;                      // no ready warp, and no beat of an issue under way
  double idle_share_blocked() const;              // the same, or the ready warps wait for the load-store unit
  double idle_share_k(const Beats& beats) const;  // 1 - beats with an active lane / those of these cycles
  double depth_utilisation() const;               // a lane is active
  double coalescing_rate() const;                 // memory thread instructions / data requests

 private:
  double held() const { return static_cast<double>((*this)[SmColumn::kHeldCycles]); }

  const statistics::Snapshot& values_;
};

// The cells of these shares in a row of a CSV file, without a comma at either end: "ipc,lane_activity,...".
std::string share_names();
void write_shares(std::ostream& out, const SmValues& values, std::uint64_t cycles, const Beats& beats);

}  // namespace weft

#endif
