// The keys of convergence_barriers.
#ifndef WEFT_WARP_FORMATION_CONVERGENCE_OPTIONS_H
#define WEFT_WARP_FORMATION_CONVERGENCE_OPTIONS_H

#include <cstdint>

#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// Which path of a warp runs first of those that part at a branch.
enum class PathOrder : std::uint8_t { kFewerThreads, kMoreThreads, kLowerPc };
// Where the compiler places barriers (ptx/convergence.h).
enum class BarrierPlaces : std::uint8_t { kMerges, kPostDominators };
// Which loops the threads leave their barriers in, if others wait for them.
enum class YieldingLoops : std::uint8_t { kPolling, kAll };
enum class BarrierCost : std::uint8_t { kNone, kIssueSlot };

struct ConvergenceOptions final : OptionsOf<ConvergenceOptions> {
  PathOrder order = PathOrder::kFewerThreads;
  BarrierPlaces places = BarrierPlaces::kMerges;
  YieldingLoops yield_in = YieldingLoops::kPolling;
  std::uint64_t yield_after = 1;
  std::uint64_t registers = 16;
  BarrierCost cost = BarrierCost::kNone;

  void describe(config::Visitor& v) override {
    config::choice(v, "order", order,
                   {{"fewer_threads_first", PathOrder::kFewerThreads},
                    {"more_threads_first", PathOrder::kMoreThreads},
                    {"lower_pc_first", PathOrder::kLowerPc}},
                   "which path of a divergent branch runs first");
    config::choice(v, "places", places,
                   {{"merges", BarrierPlaces::kMerges}, {"post_dominators", BarrierPlaces::kPostDominators}},
                   "where threads wait for each other: where several ways meet, as ptxas does, or only at "
                   "immediate post-dominators");
    config::choice(v, "yield_in", yield_in,
                   {{"polling_loops", YieldingLoops::kPolling}, {"all_loops", YieldingLoops::kAll}},
                   "loops in which threads let others of their warp go on: those that wait for what other "
                   "threads store, as ptxas does, or all");
    v.integer("yield_after", yield_after, {0, 1'000'000}, "turns",
              "threads that others wait for let these go on after so many turns of a loop; 0: never, as code "
              "for targets below sm_70");
    v.integer("registers", registers, {1, 1'000}, "registers",
              "barriers of a warp that are kept in registers; more are counted as spills");
    config::choice(v, "cost", cost, {{"none", BarrierCost::kNone}, {"issue_slot", BarrierCost::kIssueSlot}},
                   "what joining, leaving or waiting at a barrier takes");
  }
  void randomise(Random& random) override {
    order = static_cast<PathOrder>(random() % 3);
    places = static_cast<BarrierPlaces>(random() % 2);
    yield_in = static_cast<YieldingLoops>(random() % 2);
    yield_after = random() % 4;
    registers = 1 + random() % 16;
    cost = static_cast<BarrierCost>(random() % 2);
  }
};

}  // namespace weft::warp_formation

#endif
