// The keys of HARP and CROWN, their rules, and values for tests.
#include "warp_formation/reincarnating_options.h"

#include "common/config_origins.h"
#include "weft/common/error.h"
#include "weft/warp_formation/lanes.h"

namespace weft::warp_formation {

CrownOptions::CrownOptions() {
  barrier_ways = 8;                          // CROWN slides 49 and 64
  barrier_layout = BarrierLayout::kWhole;    // slide 49: one row for all lanes
  lookup_overflow = LookupOverflow::kEvict;  // slide 52: "Eviction"
}

void ReincarnationTables::describe(config::Visitor& v) {
  v.integer("first_level", first_level, {1, 64}, "warps", "ready warps that one scheduler chooses from");
  v.integer("second_level", second_level, {1, 4096}, "warps",
            "warps outside of the lookup tables; further warps are held, too, and counted as spills");
  v.integer("ready_lookup", ready_lookup, {0, 64}, "warps",
            "freshly diverged warps that wait for threads to merge with; 0: none");
  v.integer("waiting_lookup", waiting_lookup, {0, 64}, "warps",
            "warps that wait for memory and merge with threads of the same load; 0: none");
  v.integer("lookup_threshold", lookup_threshold, {1, 512}, "warps",
            "a warp leaves the Ready-Lookup when the Second-Level has fewer ready warps");
  config::choice(v, "lookup_depart", lookup_depart,
                 {{"slot", LookupDepart::kSlot},
                  {"fifo_insert", LookupDepart::kFifoInsert},
                  {"fifo_refresh", LookupDepart::kFifoRefresh}},
                 "which warp leaves the Ready-Lookup: that in the lowest slot, the oldest, or the one whose "
                 "last merge is the oldest");
  config::choice(v, "lookup_overflow", lookup_overflow,
                 {{"bypass", LookupOverflow::kBypass}, {"evict", LookupOverflow::kEvict}},
                 "full Waiting-Lookup: the new warp waits outside, or the oldest warp is evicted");
  v.integer("barrier_entries", barrier_entries, {0, 4096}, "entries",
            "re-convergence barriers; a multiple of barrier_ways; 0: threads never reconverge");
  v.integer("barrier_ways", barrier_ways, {1, 4096}, "entries",
            "barriers of a set; a thread's row modulo the sets chooses its set");
  v.integer("barrier_latency", barrier_latency, {1, 8}, "cycles",
            "search of the barriers at commit, pipelined (the paper: 1, 2, 4)");
  v.integer("barrier_banks", barrier_banks, {0, kMaxLanes}, "banks",
            "banks of the barriers, among which the lanes are divided (lane modulo banks); 0: one per lane");
  v.integer("barrier_ports", barrier_ports, {1, kMaxLanes}, "ports",
            "sets that one bank of the barriers searches in a cycle; a commit whose threads are in more sets "
            "takes further cycles");
  const auto step = [&v](const char* name, CommitStep& value, const char* meaning) {
    config::choice(v, name, value,
                   {{"write_back", CommitStep::kWriteBack}, {"own_cycle", CommitStep::kOwnCycle}}, meaning);
  };
  step("barrier_search", barrier_search,
       "first cycle of the search of the barriers: that of write-back, as in the paper, or one cycle later");
  step("waiting_departure", waiting_departure,
       "a warp leaves the Waiting-Lookup in the cycle in which its data is written, or in the next cycle");
  config::choice(v, "priority", priority,
                 {{"oldest", WarpPriority::kOldest},
                  {"lowest_pc", WarpPriority::kLowestPc},
                  {"laggard", WarpPriority::kLaggard}},
                 "priority of ready warps, from the Second-Level and at issue: the oldest, the lowest PC, or "
                 "the fewest instructions issued by its threads");
  config::choice(v, "barrier_span", barrier_span,
                 {{"linked", BarrierSpan::kLinked}, {"split", BarrierSpan::kSplit}},
                 "entries that one divergence opens in several sets: reincarnate together, or each alone");
  config::choice(v, "barrier_join", barrier_join,
                 {{"same_commit", BarrierJoin::kSameCommit}, {"any", BarrierJoin::kAny}},
                 "a diverging thread enters entries of the same divergence only, or any with an equal "
                 "reconvergence point and room in its lane");
  config::choice(v, "barrier_layout", barrier_layout,
                 {{"lanes", BarrierLayout::kLanes}, {"whole", BarrierLayout::kWhole}},
                 "arrays of the barriers, for `weft area` only: one per lane and one of reconvergence "
                 "points, or one of whole rows");
}

void ReincarnationTables::check(const std::string& where) const {
  if (barrier_entries % barrier_ways != 0) {
    throw config::RuleError(where + "/barrier_entries", {where + "/barrier_ways"},
                            "found " + std::to_string(barrier_entries) +
                                "; allowed: multiples of barrier_ways = " + std::to_string(barrier_ways));
  }
}

void ReincarnationTables::randomise(Random& random) {
  first_level = 1 + random() % 8;
  second_level = 1 + random() % 64;
  ready_lookup = random() % 9;
  waiting_lookup = random() % 9;
  lookup_threshold = 1 + random() % 4;
  lookup_depart = static_cast<LookupDepart>(random() % 3);
  lookup_overflow = static_cast<LookupOverflow>(random() % 2);
  barrier_ways = 1 + random() % 8;
  barrier_entries = barrier_ways * (random() % 17);
  barrier_latency = 1 + random() % 4;
  barrier_span = static_cast<BarrierSpan>(random() % 2);
  barrier_join = static_cast<BarrierJoin>(random() % 2);
  barrier_search = static_cast<CommitStep>(random() % 2);
  waiting_departure = static_cast<CommitStep>(random() % 2);
  barrier_layout = static_cast<BarrierLayout>(random() % 2);
  priority = static_cast<WarpPriority>(random() % 3);
  barrier_banks = random() % 5;
  barrier_ports = 1 + random() % 3;
}

}  // namespace weft::warp_formation
