// The table of derived values: a row each. Their order is that of stats.json and of the tables.
#include "measures/measures.h"

namespace weft::measures {
namespace {

constexpr statistics::Unit kPerCycle{"thread instructions per cycle"}, kPerRequest{"threads per request"};
constexpr const char *kOracle = "sm.observe.lane_oracle", *kStalled = "sm.observe.stalled_threads";

// Threads in the cycles in which no lane of their scheduler domain was active.
constexpr Terms kAllStalled = {kStalledInPipeline, kStalledReady, kStalledBarrier, kStalledReconvergence,
                               kStalledInactive};

constexpr Definition kRows[] = {
    Definition("ipc", "IPC", kPerCycle,
               "Thread instructions issued per core cycle in which a launch ran, over all SMs.")
        .ratio({kThreadInstructions}, {kCycles})
        .with_digits(2)
        .in_summary("", "thread instructions issued per core cycle")
        .in_comparison(Subject::kTime, "IPC", "instructions of threads issued per core cycle, over all SMs"),
    // [HARP eq. 2]
    Definition("lane_activity", "lane activity", units::kRatio,
               "Share of the lanes that are active, in the beats with an active lane.")
        .ratio({kActiveLanes}, {kActiveBeats}, {kLanes})
        .in_comparison(Subject::kThreads, "lanes",
                       "share of the lanes that are active, in the cycles with an active lane"),
    // The mean over warp instructions of active threads / warp size, if all warps are of one size [ST Fig.
    // 4]. If the scheme issues several instructions as one, it weighs as many.
    Definition("simd_efficiency", "SIMD efficiency", units::kRatio,
               "Threads of the issued instructions, over the places for threads in their warps.")
        .ratio({kThreadInstructions}, {kThreadPlaces})
        .only_in(kTotals | kComparison)
        .in_comparison(Subject::kThreads, "SIMD eff",
                       "share of a warp's threads that are active, in the mean issued instruction"),
    // [DWR III]
    Definition("idle_share", "idle share", units::kRatio,
               "Share of the cycles of schedulers with threads in which no warp was ready and no beat of an "
               "issue was under way.")
        .ratio({kNoReadyCycles}, {kHeldCycles})
        .in_summary("idle: no ready warp", "share of the scheduler cycles with threads")
        .in_comparison(Subject::kCost, "idle",
                       "share of the scheduler cycles with threads but no ready warp and no beat under way"),
    Definition("idle_share_blocked", "idle share with memory-blocked cycles", units::kRatio,
               "The idle share, plus the cycles in which the ready warps waited for the load-store unit.")
        .ratio({kNoReadyCycles, kMemoryBlockedCycles}, {kHeldCycles})
        .in_summary("  + memory-blocked", "")
        .in_comparison(Subject::kCost, "blocked",
                       "idle, plus the share in which the ready warps waited for the load-store unit"),
    Definition("idle_share_k", "K", units::kRatio,
               "K is 1 minus the beats with an active lane over the beats that schedulers with threads could "
               "have had.")
        .one_minus_ratio({kActiveBeats}, {kHeldCycles}, {kBeatsInACycle})
        .in_summary("  K", "= 1 - beats with an active lane / scheduler cycles with threads")
        .in_comparison(Subject::kCost, "K", "1 - beats with an active lane / scheduler cycles with threads"),
    // [HARP eq. 1]
    Definition("depth_utilisation", "depth utilisation", units::kRatio,
               "Share of the cycles of schedulers with threads in which a lane was active.")
        .ratio({kLaneCycles}, {kHeldCycles})
        .in_summary("", "share of the scheduler cycles with threads that have an active lane")
        .in_comparison(Subject::kThreads, "depth",
                       "share of the scheduler cycles with threads in which a lane was active"),
    // [DWR eq. 1]
    Definition("coalescing_rate", "coalescing rate", kPerRequest,
               "Memory accesses of threads per data request that enters the crossbar.")
        .ratio({kMemoryThreads}, {kDataRequests})
        .with_digits(2)
        .in_comparison(Subject::kThreads, "coalesce",
                       "memory accesses of threads per request that enters the crossbar"),
    // [HARP 3.2]
    Definition("oracle_lane_activity", "lane activity of the oracle", units::kRatio,
               "The lane activity that no regrouping of threads can exceed.")
        .ratio({kOracleExecutions}, {kOracleIssues}, {kLanes})
        .counted_with(kOracle)
        .only_in(kComparison)
        .in_comparison(Subject::kThreads, "oracle",
                       "the lane activity that no regrouping of threads can exceed"),
    // [HARP Fig. 14]
    Definition("stalled_share", "threads stalled by divergence", units::kRatio,
               "Share of the threads in cycles without an active lane that divergence holds back: they wait "
               "for reconvergence or are on a path that does not run.")
        .ratio({kStalledReconvergence, kStalledInactive}, kAllStalled)
        .counted_with(kStalled)
        .only_in(kComparison)
        .in_comparison(Subject::kThreads, "stalled",
                       "share of the threads in cycles without an active lane that divergence holds back"),
    Definition("stalled_of_launched", "threads stalled by divergence, of those launched", units::kRatio,
               "The threads that divergence holds back, over all threads of resident blocks in all cycles.")
        .ratio({kStalledReconvergence, kStalledInactive}, {kLaunchedThreadCycles})
        .counted_with(kStalled)
        .only_in(kComparison)
        .in_comparison(Subject::kThreads, "launched",
                       "stalled threads / threads of resident blocks in all cycles"),
    Definition("stalled_reconvergence", "threads that wait for reconvergence", units::kRatio,
               "Share of the threads in cycles without an active lane that wait for others of their warp or "
               "block.")
        .ratio({kStalledReconvergence}, kAllStalled)
        .counted_with(kStalled)
        .only_in(kComparison),
    Definition("stalled_inactive", "threads inactive on a diverged path", units::kRatio,
               "Share of the threads in cycles without an active lane that are on a path that does not run.")
        .ratio({kStalledInactive}, kAllStalled)
        .counted_with(kStalled)
        .only_in(kComparison),
    Definition("stalled_barrier", "threads at a block barrier", units::kRatio,
               "Share of the threads in cycles without an active lane that wait at a barrier of their block.")
        .ratio({kStalledBarrier}, kAllStalled)
        .counted_with(kStalled)
        .only_in(kComparison)
        .in_comparison(Subject::kThreads, "barrier",
                       "share of the threads in cycles without an active lane that wait at a block barrier"),
    Definition("scalar_share", "executed instructions that are scalar", units::kRatio,
               "Share of the warp instructions issued that are scalar.")
        .ratio({kScalarInstructions}, {kWarpInstructions})
        .counted_with("scalarization.kind")
        .only_in(kOnRequest),
    Definition("threads_per_request", "threads per coalesced request", kPerRequest,
               "Memory accesses of threads per request that the coalescer makes, before the caches.")
        .ratio({kMemoryThreads}, {kCoalescedRequests})
        .with_digits(2)
        .only_in(kOnRequest),
    Definition("l1i_hit_rate", "L1 instruction hit rate", units::kRatio,
               "Share of the accesses of the L1 instruction caches that found their line.")
        .ratio({kL1iHits}, {kL1iAccesses})
        .only_in(kOnRequest),
    Definition("l1d_hit_rate", "L1 data hit rate", units::kRatio,
               "Share of the accesses of the L1 data caches that found their line.")
        .ratio({kL1dHits}, {kL1dAccesses})
        .only_in(kOnRequest),
    Definition("l1c_hit_rate", "L1 constant hit rate", units::kRatio,
               "Share of the accesses of the L1 constant caches that found their line.")
        .ratio({kL1cHits}, {kL1cAccesses})
        .only_in(kOnRequest),
    Definition("l1t_hit_rate", "L1 texture hit rate", units::kRatio,
               "Share of the accesses of the L1 texture caches that found their line.")
        .ratio({kL1tHits}, {kL1tAccesses})
        .only_in(kOnRequest),
    Definition("l2_hit_rate", "L2 hit rate", units::kRatio,
               "Share of the accesses of the L2 that found their line.")
        .ratio({kL2Hits}, {kL2Accesses})
        .only_in(kOnRequest),
    Definition("dram_efficiency", "DRAM efficiency", units::kRatio,
               "Share of the cycles in which memory channels had work that moved data.")
        .ratio({kDramDataCycles}, {kDramActiveCycles})
        .only_in(kOnRequest),
};

}  // namespace

Rows rows() {
  return kRows;
}

}  // namespace weft::measures
