// Where the threads of a warp are: its block, its chunks, and its rows of lanes.
#ifndef WEFT_WARP_FORMATION_WARP_PLACE_H
#define WEFT_WARP_FORMATION_WARP_PLACE_H

#include <algorithm>
#include <array>
#include <cstdint>

#include "weft/warp_formation/thread_mask.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

// The groups of an issue of one warp; those of dwr's large warps need not begin with a chunk.
using WarpGroups = std::array<ThreadGroup, kMaxWarpSize / kChunk + 1>;

struct WarpPlace {
  std::uint16_t slot = 0;
  std::uint16_t first_chunk = 0;  // chunk of the warp's thread 0
  std::uint8_t shift = 0;         // ... and its position within that chunk (warps under 32 threads)
  std::uint8_t rows = 1;
  std::uint16_t chunks = 1;  // that it has threads in
  std::uint32_t number = 0;  // of the warp in its block

  // Warp `warp_number` of the block takes its place. Returns its threads.
  WarpMask take_place(const Block& block, unsigned warp_number, unsigned size, unsigned lanes) {
    const unsigned first = warp_number * size;
    const unsigned threads = std::min(size, block.threads - first);
    slot = block.slot;
    number = warp_number;
    first_chunk = static_cast<std::uint16_t>(block.first_chunk + first / kChunk);
    shift = static_cast<std::uint8_t>(first % kChunk);
    chunks = static_cast<std::uint16_t>((threads + kChunk - 1) / kChunk);
    rows = static_cast<std::uint8_t>(std::max(1u, size / lanes));
    WarpMask mask;
    for (unsigned t = 0; t < threads; ++t) mask.words[t / 32] |= 1u << (t % 32);
    return mask;
  }

  bool covers(unsigned chunk) const { return chunk >= first_chunk && chunk < first_chunk + chunks; }
  void add_to(WarpMask& mask, const ThreadGroup& group) const {
    mask.words[group.chunk - first_chunk] |= group.mask >> shift;
  }
  // Those of `threads` that are of this warp. Neighbouring warps may have others of its chunk.
  WarpMask own_of(Groups threads, unsigned size) const {
    const std::uint32_t own = size >= kChunk ? ~0u : ((1u << size) - 1) << shift;
    WarpMask mask;
    for (const auto& group : threads) {
      if (covers(group.chunk)) add_to(mask, {group.mask & own, group.chunk, 0, false});
    }
    return mask;
  }
  // Writes the threads of `mask` as groups; returns how many.
  std::uint32_t groups_of(const WarpMask& mask, unsigned size, unsigned lanes, WarpGroups& groups) const {
    std::uint32_t count = 0;
    const unsigned words = (size + kChunk - 1) / kChunk;
    const unsigned rows_per_chunk = std::max(1u, kChunk / lanes);
    for (unsigned w = 0; w < words; ++w) {
      if (mask.words[w] == 0) continue;
      ThreadGroup& group = groups[count++];
      group.mask = mask.words[w] << shift;
      group.chunk = static_cast<std::uint16_t>(first_chunk + w);
      group.spread = true;
      group.row = static_cast<std::uint8_t>(w * rows_per_chunk);
    }
    return count;
  }
};

}  // namespace weft::warp_formation

#endif
