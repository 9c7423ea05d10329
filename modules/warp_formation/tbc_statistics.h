// What thread block compaction counts, per scheduler domain. Private to tbc.cpp.
#ifndef WEFT_WARP_FORMATION_TBC_STATISTICS_H
#define WEFT_WARP_FORMATION_TBC_STATISTICS_H

#include <algorithm>
#include <cstdint>
#include <string>

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
  TableAccesses stacks, warp_buffer;

  // `contexts`: warps that the warp buffer holds.
  void bind(statistics::Group& group, const Geometry& geometry, std::uint64_t warp_size, bool likely,
            std::uint64_t contexts) {
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
    group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits,
                  "stacks of all block slots at their deepest, and warp buffer",
                  [this, geometry, warp_size, likely, contexts] {
                    return static_cast<double>(storage_bits(geometry, warp_size, likely, contexts));
                  });
    const auto real = [](std::uint64_t value) { return [value] { return static_cast<double>(value); }; };
    stacks.bind(
        group, "stacks", [this, geometry] { return static_cast<double>(geometry.slots * deepest_stack); },
        real(entry_bits(geometry, warp_size, likely)));
    warp_buffer.bind(group, "warp_buffer", real(contexts), real(warp_bits(geometry, warp_size)));
  }

  // A stack entry: two PCs, a bit per thread, the count of warps, and with likely-convergence points a third
  // PC and the number of the entry to join, of the 2 x threads that a stack may have; a warp: PC, and per
  // place a valid bit and the thread without its lane.
  std::uint64_t storage_bits(const Geometry& geometry, std::uint64_t size, bool likely,
                             std::uint64_t contexts) const {
    return geometry.slots * deepest_stack * entry_bits(geometry, size, likely) +
           contexts * warp_bits(geometry, size);
  }
  static std::uint64_t entry_bits(const Geometry& geometry, std::uint64_t size, bool likely) {
    const std::uint64_t threads = std::min(geometry.threads, kMaxBlockThreads);
    return 64 + threads + bits_for(threads / size + 1) + (likely ? 32 + bits_for(2 * threads) : 0);
  }
  static std::uint64_t warp_bits(const Geometry& geometry, std::uint64_t size) {
    const std::uint64_t lanes = std::min<std::uint64_t>(geometry.lanes, size);
    return 32 + size * (1 + bits_for(geometry.threads) - bits_for(lanes));
  }
};

}  // namespace weft::warp_formation

#endif
