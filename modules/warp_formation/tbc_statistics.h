// What thread block compaction counts, per scheduler domain. Private to tbc and capri.
#ifndef WEFT_WARP_FORMATION_TBC_STATISTICS_H
#define WEFT_WARP_FORMATION_TBC_STATISTICS_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "warp_formation/powers.h"
#include "warp_formation/tbc_block.h"
#include "weft/common/statistics.h"
#include "weft/warp_formation/likely_convergence.h"
#include "weft/warp_formation/table_accesses.h"

namespace weft::warp_formation {

struct TbcStatistics {
  TbcBlock::Statistics block;
  std::uint64_t compactions = 0, compacted_warps = 0, uncompacted_warps = 0, deepest_stack = 0;
  std::uint64_t bar_in_divergence = 0, path_switches = 0;
  TableAccesses stacks, warp_buffer, lone_stacks;

  // What the tables of a scheme are made for. `contexts`: warps that the warp buffer holds.
  struct Tables {
    Geometry geometry;
    std::uint64_t warp_size = 0, contexts = 0;
    bool likely = false, lone = false;

    // A stack entry: two PCs, a bit per thread, the count of warps, and with likely-convergence points a
    // third PC and the number of the entry to join, of the 2 x threads that a stack may have.
    std::uint64_t entry_bits() const {
      const std::uint64_t threads = std::min(geometry.threads, kMaxBlockThreads);
      return 2 * kPcBits + threads + bits_for(threads / warp_size + 1) +
             (likely ? kPcBits + bits_for(2 * threads) : 0);
    }
    // A warp: PC, and per place a valid bit and the thread without its lane.
    std::uint64_t warp_bits() const {
      const std::uint64_t lanes = std::min<std::uint64_t>(geometry.lanes, warp_size);
      return kPcBits + warp_size * (1 + bits_for(geometry.threads) - bits_for(lanes));
    }
    // An entry of a warp's own stack: two PCs and a bit per thread of the warp.
    std::uint64_t lone_entry_bits() const { return 2 * kPcBits + warp_size; }
    std::uint64_t bits(std::uint64_t deepest_stack) const {
      return geometry.slots * deepest_stack * entry_bits() + contexts * warp_bits() +
             (lone ? contexts * deepest_stack * lone_entry_bits() : 0);
    }
  };

  // `more_bits`: of tables that only this scheme has; `meaning` says what storage_bits counts.
  void bind(statistics::Group& group, const Tables& tables, const char* meaning,
            std::function<std::uint64_t()> more_bits) {
    group.counter("divergent_branches", units::kBranches,
                  "branches of a block after which its threads diverge", block.divergent_branches);
    group.counter("uniform_branches", units::kBranches,
                  "branches of a block after which its threads stay together", block.uniform_branches);
    group.counter("compactions", units::kEntries, "entries of a block's stack that were compacted",
                  compactions);
    group.counter("compacted_warps", units::kWarps,
                  "warps that the compactor made, static ones at launch included", compacted_warps);
    group.counter("uncompacted_warps", units::kWarps,
                  "static warps with threads in the compacted entries: what a stack per warp issues",
                  uncompacted_warps);
    group.counter("bar_in_divergence", statistics::Unit("barriers"),
                  "arrivals of a warp at a block barrier while its block has diverged", bar_in_divergence);
    group.maximum("deepest_stack", units::kEntries, "most entries that a block's stack held", deepest_stack);
    group.counter("path_switches", statistics::Unit("switches"),
                  "times that a block changed to another path because all threads of the running path waited",
                  path_switches);
    group.counter("lone_departures", statistics::Unit("departures"),
                  "times that threads left a reconvergence point without others, which waited for them",
                  block.lone_departures);
    group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits, meaning,
                  [this, tables, more = std::move(more_bits)] {
                    return static_cast<double>(tables.bits(deepest_stack) + more());
                  });
    const auto real = [](std::uint64_t value) { return [value] { return static_cast<double>(value); }; };
    stacks.bind(
        group, "stacks",
        [this, tables] { return static_cast<double>(tables.geometry.slots * deepest_stack); },
        real(tables.entry_bits()));
    warp_buffer.bind(group, "warp_buffer", real(tables.contexts), real(tables.warp_bits()));
    if (!tables.lone) return;
    lone_stacks.bind(
        group, "lone_stacks", [this, tables] { return static_cast<double>(tables.contexts * deepest_stack); },
        real(tables.lone_entry_bits()));
  }
};

}  // namespace weft::warp_formation

#endif
