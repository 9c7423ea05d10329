// Configuration of the schemes that compact threads across warps: dwf and tbc.
#include "common/config_origins.h"
#include "common/error.h"
#include "warp_formation/warp_formation_config.h"

namespace weft::warp_formation {
namespace {

bool power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

// A table of `entries` in sets of `ways`: as many sets as a PC's low bits can name.
void check_table(const std::string& where, std::uint64_t entries, std::uint64_t ways) {
  if (entries % ways == 0 && power_of_two(entries / ways)) return;
  throw config::RuleError(where + "/lut_entries", {where + "/lut_ways"},
                          "found " + std::to_string(entries) + " entries of " + std::to_string(ways) +
                              " ways, allowed are entries = ways x a power of two");
}

}  // namespace

void Config::Dwf::Heap::describe(config::Visitor& v) {
  v.integer("nodes", nodes, {2, 4096}, "nodes", "PCs that the heap holds");
  v.integer("lut_entries", lut_entries, {1, 4096}, "entries", "table from PC to node");
  v.integer("lut_ways", lut_ways, {1, 4096}, "ways", "associativity of that table");
  v.integer("reads", reads, {1, 64}, "accesses", "read ports of the heap and of the table, per cycle");
  v.integer("writes", writes, {1, 64}, "accesses", "write ports of the heap and of the table, per cycle");
}

void Config::Dwf::describe(config::Visitor& v) {
  v.integer("lut_entries", lut_entries, {0, 65536}, "entries",
            "table from PC to the warp that threads may join; 0: one that never misses");
  v.integer("lut_ways", lut_ways, {1, 65536}, "ways", "associativity of that table");
  config::choice(v, "heuristic", heuristic,
                 {{"majority", DwfHeuristic::kMajority},
                  {"majority_heap", DwfHeuristic::kMajorityHeap},
                  {"minority", DwfHeuristic::kMinority},
                  {"fifo", DwfHeuristic::kFifo},
                  {"pdom_priority", DwfHeuristic::kPdomPriority},
                  {"lowest_pc", DwfHeuristic::kLowestPc}},
                 "which warp of the pool is issued next");
  v.integer("commit_bandwidth", commit_bandwidth, {1, 64}, "warps",
            "committed warps that enter the pool per cycle and scheduler");
  v.integer("starvation_limit", starvation_limit, {0, 1u << 30}, "cycles",
            "a warp that has waited longer is issued before all others; 0: never");
  config::group(v, "heap", heap, "the heap of heuristic majority_heap");
}

void Config::Dwf::check(const std::string& where) const {
  if (lut_entries != 0) check_table(where, lut_entries, lut_ways);
  check_table(where + "/heap", heap.lut_entries, heap.lut_ways);
}

void Config::Tbc::describe(config::Visitor& v) {
  config::choice(v, "order", order,
                 {{"fallthrough_first", SbrOrder::kFallthroughFirst},
                  {"taken_first", SbrOrder::kTakenFirst},
                  {"minority_first", SbrOrder::kMinorityFirst}},
                 "which path of a divergent branch runs first");
}

}  // namespace weft::warp_formation
