// The configuration of HARP and CROWN: one structure, two sets of defaults.
#include "common/config_origins.h"
#include "common/error.h"
#include "warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

ReincarnationConfig ReincarnationConfig::crown() {
  ReincarnationConfig config;
  config.barrier_ways = 8;                          // CROWN slides 49 and 64
  config.lookup_overflow = LookupOverflow::kEvict;  // slide 52: "Eviction"
  return config;
}

void ReincarnationConfig::describe(config::Visitor& v) {
  v.integer("first_level", first_level, {1, 64}, "warps", "ready warps that one scheduler chooses from");
  v.integer("second_level", second_level, {1, 4096}, "warps",
            "warps outside of the lookup tables; more are held all the same, and counted as spills");
  v.integer("ready_lookup", ready_lookup, {0, 64}, "warps",
            "freshly diverged warps that wait for threads to merge with; 0: none");
  v.integer("waiting_lookup", waiting_lookup, {0, 64}, "warps",
            "warps that wait for memory and meanwhile take in threads of the same load; 0: none");
  v.integer("lookup_threshold", lookup_threshold, {1, 512}, "warps",
            "a warp leaves the Ready-Lookup when the Second-Level has fewer ready warps");
  config::choice(v, "lookup_depart", lookup_depart,
                 {{"slot", LookupDepart::kSlot},
                  {"fifo_insert", LookupDepart::kFifoInsert},
                  {"fifo_refresh", LookupDepart::kFifoRefresh}},
                 "which warp leaves the Ready-Lookup: of the lowest slot, the oldest, or the one that "
                 "longest took no threads in");
  config::choice(v, "lookup_overflow", lookup_overflow,
                 {{"bypass", LookupOverflow::kBypass}, {"evict", LookupOverflow::kEvict}},
                 "Waiting-Lookup full: the newcomer waits outside, or the oldest makes room");
  v.integer("barrier_entries", barrier_entries, {0, 4096}, "entries",
            "re-convergence barriers; a multiple of barrier_ways; 0: threads never reconverge");
  v.integer("barrier_ways", barrier_ways, {1, 4096}, "entries",
            "barriers of a set; a thread's row modulo the sets chooses its set");
  v.integer("barrier_latency", barrier_latency, {1, 8}, "cycles",
            "search of the barriers at commit, pipelined (the paper: 1, 2, 4)");
  config::choice(v, "barrier_span", barrier_span,
                 {{"linked", BarrierSpan::kLinked}, {"split", BarrierSpan::kSplit}},
                 "entries that one divergence opens in several sets: reincarnate together, or each alone");
  config::choice(v, "barrier_join", barrier_join,
                 {{"same_commit", BarrierJoin::kSameCommit}, {"any", BarrierJoin::kAny}},
                 "a diverging thread enters entries of the same divergence only, or any with an equal "
                 "reconvergence point and room in its lane");
}

void ReincarnationConfig::check(const std::string& where) const {
  if (barrier_entries % barrier_ways != 0) {
    throw config::RuleError(where + "/barrier_entries", {where + "/barrier_ways"},
                            "found " + std::to_string(barrier_entries) +
                                ", allowed are multiples of barrier_ways = " + std::to_string(barrier_ways));
  }
}

}  // namespace weft::warp_formation
