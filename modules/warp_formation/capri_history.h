// What the warps of a block's entry did at a branch, until all of them have passed it: would compaction have
// made fewer warps of them? Private to capri.cpp.
#ifndef WEFT_WARP_FORMATION_CAPRI_HISTORY_H
#define WEFT_WARP_FORMATION_CAPRI_HISTORY_H

#include <array>
#include <cstdint>

#include "warp_formation/block_paths.h"
#include "warp_formation/commit_record.h"
#include "weft/warp_formation/contexts.h"

namespace weft::warp_formation {

// Warps that the compactor makes of these threads: as many as the fullest lane needs, `rows` of its threads
// to a warp.
inline unsigned compacted_warps(const BlockMask& threads, unsigned first_chunk, const LanePermuter& home,
                                unsigned lanes, unsigned rows) {
  // Counters of all lanes at once: bit l of plane p is bit p of lane l's counter.
  std::array<std::uint32_t, 11> planes{};
  const std::uint32_t row = lanes == kChunk ? ~0u : (1u << lanes) - 1;
  for (std::size_t chunk = 0; chunk < threads.words.size(); ++chunk) {
    std::uint32_t word = home(first_chunk + static_cast<unsigned>(chunk), threads.words[chunk]);
    for (; word != 0; word = lanes == kChunk ? 0 : word >> lanes) {
      std::uint32_t carry = word & row;
      for (std::size_t p = 0; carry != 0; ++p) {
        const std::uint32_t sum = planes[p] ^ carry;
        carry &= planes[p];
        planes[p] = sum;
      }
    }
  }
  std::uint32_t fullest = row;
  unsigned most = 0;
  for (std::size_t p = planes.size(); p-- > 0;) {
    if ((fullest & planes[p]) == 0) continue;
    fullest &= planes[p];
    most |= 1u << p;
  }
  return (most + rows - 1) / rows;
}

struct BranchHistory {
  bool open = false;
  bool predicted = false;  // adequate, for the warp that came first
  bool parted = false;     // the threads of a warp did
  ptx::Pc branch = ptx::kNoPc;
  unsigned uncompacted = 0;  // warps that a stack per warp issues: each of a warp's paths is one
  ContextSet passed;         // warps
  BlockPaths paths;

  void start(ptx::Pc pc, bool adequate) {
    open = true;
    predicted = adequate;
    parted = false;
    branch = pc;
    uncompacted = 0;
    passed.clear();
    paths.clear();
  }
  void add(unsigned context, const CommitRecord& record, unsigned first_chunk) {
    passed.add(context);
    parted = parted || record.paths().size() > 1;
    uncompacted += static_cast<unsigned>(record.paths().size());
    add_paths(paths, record, first_chunk);
  }
  bool adequate(unsigned first_chunk, const LanePermuter& home, unsigned lanes, unsigned rows) const {
    unsigned compacted = 0;
    for (const auto& path : paths) compacted += compacted_warps(path.mask, first_chunk, home, lanes, rows);
    return compacted < uncompacted;
  }
};

}  // namespace weft::warp_formation

#endif
