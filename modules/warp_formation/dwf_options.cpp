// The keys of dwf, their rules, and values for tests.
#include "warp_formation/dwf_options.h"

#include "common/config_origins.h"
#include "warp_formation/powers.h"
#include "warp_formation/table_rule.h"
#include "weft/common/error.h"

namespace weft::warp_formation {

void DwfOptions::Heap::describe(config::Visitor& v) {
  v.integer("nodes", nodes, {2, 4096}, "nodes", "PCs that the heap holds");
  v.integer("lut_entries", lut_entries, {1, 4096}, "entries", "table from PC to node");
  v.integer("lut_ways", lut_ways, {1, 4096}, "ways", "associativity of the table from PC to node");
  v.integer("reads", reads, {1, 64}, "accesses", "read ports of the heap and of the table, per cycle");
  v.integer("writes", writes, {1, 64}, "accesses", "write ports of the heap and of the table, per cycle");
}

void DwfOptions::describe(config::Visitor& v) {
  v.integer("lut_entries", lut_entries, {0, 65536}, "entries",
            "table from PC to the warp that threads may join; 0: one that never misses");
  v.integer("lut_ways", lut_ways, {1, 65536}, "ways", "associativity of the table from PC to warp");
  config::choice(v, "heuristic", heuristic,
                 {{"majority", DwfHeuristic::kMajority},
                  {"majority_heap", DwfHeuristic::kMajorityHeap},
                  {"minority", DwfHeuristic::kMinority},
                  {"fifo", DwfHeuristic::kFifo},
                  {"pdom_priority", DwfHeuristic::kPdomPriority},
                  {"lowest_pc", DwfHeuristic::kLowestPc}},
                 "which warp of the pool is issued next");
  v.integer("commit_bandwidth", commit_bandwidth, {1, 64}, "warps",
            "committed warps that enter the pool per scheduler and issue slot: a cycle, or with "
            "sm.issue_port=shared the beats of a warp");
  v.integer("starvation_limit", starvation_limit, {0, 1u << 30}, "cycles",
            "a warp that has waited longer is issued before all others; 0: never");
  config::group(v, "heap", heap, "the heap of heuristic majority_heap");
}

void DwfOptions::check(const std::string& where) const {
  if (lut_entries != 0) check_table(where, "lut", lut_entries, lut_ways);
  check_table(where + "/heap", "lut", heap.lut_entries, heap.lut_ways);
}

void DwfOptions::randomise(Random& random) {
  heuristic = static_cast<DwfHeuristic>(random() % 6);
  lut_ways = 1u << random() % 2;
  lut_entries = random() % 4 == 0 ? 0 : lut_ways << random() % 4;
  starvation_limit = random() % 2 * 50;
  heap = {2 + random() % 8, 4, 2, 1, 1};
}

}  // namespace weft::warp_formation
