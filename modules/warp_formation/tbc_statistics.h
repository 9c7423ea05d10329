// What thread block compaction counts, per scheduler domain. Private to tbc.cpp.
#ifndef WEFT_WARP_FORMATION_TBC_STATISTICS_H
#define WEFT_WARP_FORMATION_TBC_STATISTICS_H

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/statistics.h"
#include "warp_formation/likely_convergence.h"
#include "warp_formation/tbc_block.h"

namespace weft::warp_formation {

struct TbcStatistics {
  TbcBlock::Statistics block;
  std::uint64_t compactions = 0, compacted_warps = 0, uncompacted_warps = 0, deepest_stack = 0;
  std::uint64_t bar_in_divergence = 0, path_switches = 0;

  // `contexts`: warps that the warp buffer holds.
  void bind(statistics::Registry& registry, const std::string& prefix, const Geometry& geometry,
            const Config& config, std::uint64_t contexts) {
    const auto counter = [&](const char* name, const char* unit, const char* meaning, std::uint64_t& value) {
      registry.counter(prefix + "." + name, unit, meaning, value);
    };
    counter("divergent_branches", "branches", "branches of a block after which its threads part",
            block.divergent_branches);
    counter("uniform_branches", "branches", "branches of a block that keep its threads together",
            block.uniform_branches);
    counter("compactions", "entries", "entries of a block's stack that were compacted", compactions);
    counter("compacted_warps", "warps", "warps that the compactor made, static ones at launch included",
            compacted_warps);
    counter("uncompacted_warps", "warps",
            "static warps with threads in those entries: what a stack per warp issues", uncompacted_warps);
    counter("bar_in_divergence", "barriers",
            "arrivals of a warp at a block barrier while its block has parted", bar_in_divergence);
    counter("deepest_stack", "entries", "most entries that a block's stack held", deepest_stack);
    counter("path_switches", "switches",
            "times that a block's running path gave way as all its threads waited", path_switches);
    counter("lone_departures", "departures",
            "times that threads went on from a reconvergence point without others, which waited for them",
            block.lone_departures);
    registry.derived(prefix + ".storage_bits", "bits",
                     "stacks of all block slots at their deepest, and warp buffer",
                     [this, geometry, config, contexts] {
                       return static_cast<double>(storage_bits(geometry, config, contexts));
                     });
  }

  // A stack entry: two PCs, a bit per thread, the count of warps, and with likely-convergence points a third
  // PC and the number of the entry to join, of the 2 x threads that a stack may have; a warp: PC, and per
  // place a valid bit and the thread without its lane.
  std::uint64_t storage_bits(const Geometry& geometry, const Config& config, std::uint64_t contexts) const {
    const std::uint64_t threads = std::min(geometry.threads, kMaxBlockThreads), size = config.warp_size;
    const std::uint64_t lanes = std::min<std::uint64_t>(geometry.simd_width, size);
    const bool likely = config.likely_convergence != LikelyConvergence::kOff;
    const std::uint64_t entry =
        64 + threads + bits_for(threads / size + 1) + (likely ? 32 + bits_for(2 * threads) : 0);
    const std::uint64_t warp = 32 + size * (1 + bits_for(geometry.threads) - bits_for(lanes));
    return geometry.slots * deepest_stack * entry + contexts * warp;
  }
};

}  // namespace weft::warp_formation

#endif
