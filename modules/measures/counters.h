// The counters that derived values are made of: the name that each has in tables, and its place in
// statistics.
#ifndef WEFT_MEASURES_COUNTERS_H
#define WEFT_MEASURES_COUNTERS_H

#include <cstddef>

namespace weft::measures {

struct Counter {
  const char* column;  // its name in tables
  const char* path;    // as `weft list statistics` prints it: "sm*.scheduler*.held_cycles"; empty: see Run
  bool of_launches = true;  // launches.csv has it, if the run counts it

  constexpr bool is_of_run() const { return *path == '\0'; }
};

// Numbers of a run or of its machine, which are not in the tree of statistics.
inline constexpr Counter kCycles{"cycles", ""};                   // core cycles in which a launch ran
inline constexpr Counter kLanes{"lanes", ""};                     // threads that a beat can run
inline constexpr Counter kBeatsInACycle{"beats_in_a_cycle", ""};  // of a scheduler
inline constexpr Counter kThreadPlaces{"thread_places", ""};      // for threads, in the instructions issued
inline constexpr const Counter* kRunCounters[] = {&kCycles, &kLanes, &kBeatsInACycle, &kThreadPlaces};

// The numbers of one run, in the order of kRunCounters.
struct Run {
  double cycles = 0, lanes = 0, beats_in_a_cycle = 1, thread_places = 0;

  double operator[](std::size_t index) const {
    return index == 0 ? cycles : index == 1 ? lanes : index == 2 ? beats_in_a_cycle : thread_places;
  }
};

inline constexpr Counter kThreadInstructions{"thread_instructions", "sm*.thread_instructions"};
inline constexpr Counter kExecutedThreadInstructions{"executed_thread_instructions",
                                                     "sm*.executed_thread_instructions"};
inline constexpr Counter kWarpInstructions{"warp_instructions", "sm*.warp_instructions"};
inline constexpr Counter kActiveBeats{"active_beats", "sm*.active_beats"};
inline constexpr Counter kActiveLanes{"active_lanes", "sm*.active_lanes"};
inline constexpr Counter kBlocks{"blocks", "sm*.blocks_launched"};
inline constexpr Counter kThreads{"threads", "sm*.threads_launched"};
inline constexpr Counter kMemoryThreads{"memory_thread_instructions",
                                        "sm*.memory.memory_thread_instructions"};
inline constexpr Counter kCoalescedRequests{"coalesced_requests", "sm*.memory.coalesced_requests", false};
inline constexpr Counter kDataRequests{"data_requests", "sm*.memory.data_requests"};
inline constexpr Counter kWriteBytes{"write_bytes", "sm*.memory.write_bytes"};
inline constexpr Counter kSharedAccesses{"shared_accesses", "sm*.memory.shared_accesses"};
inline constexpr Counter kSharedConflictCycles{"shared_conflict_cycles", "sm*.memory.shared_conflict_cycles"};
inline constexpr Counter kHeldCycles{"held_cycles", "sm*.scheduler*.held_cycles"};
inline constexpr Counter kLaneCycles{"lane_cycles", "sm*.scheduler*.lane_cycles"};
inline constexpr Counter kNoReadyCycles{"no_ready_cycles", "sm*.scheduler*.no_ready_cycles"};
inline constexpr Counter kMemoryBlockedCycles{"memory_blocked_cycles",
                                              "sm*.scheduler*.memory_blocked_cycles"};
inline constexpr Counter kScalarInstructions{"scalar_instructions", "sm*.scalar.instructions"};
inline constexpr Counter kOracleExecutions{"oracle_executions", "sm*.oracle.executions", false};
inline constexpr Counter kOracleIssues{"oracle_issues", "sm*.oracle.issues", false};

// Threads in the cycles without an active lane, by what they wait for.
inline constexpr Counter kStalledInPipeline{"stalled_in_pipeline", "sm*.stalled.in_pipeline"};
inline constexpr Counter kStalledReady{"stalled_ready", "sm*.stalled.ready"};
inline constexpr Counter kStalledBarrier{"stalled_barrier", "sm*.stalled.barrier"};
inline constexpr Counter kStalledReconvergence{"stalled_reconvergence", "sm*.stalled.reconvergence"};
inline constexpr Counter kStalledInactive{"stalled_inactive", "sm*.stalled.inactive"};
inline constexpr Counter kLaunchedThreadCycles{"stalled_launched_thread_cycles",
                                               "sm*.stalled.launched_thread_cycles"};

inline constexpr Counter kL1iAccesses{"l1i_accesses", "sm*.front_end.l1i.accesses", false};
inline constexpr Counter kL1iHits{"l1i_hits", "sm*.front_end.l1i.hits", false};
inline constexpr Counter kL1dAccesses{"l1d_accesses", "sm*.memory.l1d.accesses"};
inline constexpr Counter kL1dHits{"l1d_hits", "sm*.memory.l1d.hits"};
inline constexpr Counter kL1cAccesses{"l1c_accesses", "sm*.memory.l1c.accesses", false};
inline constexpr Counter kL1cHits{"l1c_hits", "sm*.memory.l1c.hits", false};
inline constexpr Counter kL1tAccesses{"l1t_accesses", "sm*.memory.l1t.accesses", false};
inline constexpr Counter kL1tHits{"l1t_hits", "sm*.memory.l1t.hits", false};
inline constexpr Counter kL2Accesses{"l2_accesses", "l2_*.tags.accesses", false};
inline constexpr Counter kL2Hits{"l2_hits", "l2_*.tags.hits", false};
inline constexpr Counter kDramDataCycles{"dram_data_cycles", "dram*.data_cycles"};
inline constexpr Counter kDramActiveCycles{"dram_active_cycles", "dram*.active_cycles"};

}  // namespace weft::measures

#endif
