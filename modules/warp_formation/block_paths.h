// Paths of threads of a block: what the stack of a block under thread block compaction, and the stack of a
// warp that passes a branch alone, have in common.
#ifndef WEFT_WARP_FORMATION_BLOCK_PATHS_H
#define WEFT_WARP_FORMATION_BLOCK_PATHS_H

#include <cstdint>
#include <vector>

#include "warp_formation/commit_record.h"
#include "warp_formation/sbr_options.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/reconvergence_stack.h"
#include "weft/warp_formation/thread_mask.h"

namespace weft::warp_formation {

using BlockStack = PathStack<BlockMask>;
using BlockPaths = std::vector<BlockStack::Path>;

// Whether threads may part at this instruction. Branches with .uni are no exception: what is the same for the
// threads of a warp may differ within the block.
bool may_part(const ptx::Instruction& instruction);

// Adds where the threads of a warp go. Chunk `first_chunk` is word 0 of the masks.
void add_paths(BlockPaths& paths, const CommitRecord& record, unsigned first_chunk);

// The branch at which the top entry's threads part, at its call depth; `likely`: its likely-convergence
// point.
struct BranchAt {
  ptx::Pc pc = ptx::kNoPc;
  std::uint16_t depth = 0;
  ptx::Pc likely = ptx::kNoPc;
};
// The top entry's threads go along these paths, which are used up.
void follow(BlockStack& stack, BlockPaths& paths, const BranchAt& branch, const ptx::Program& program,
            const StackRules& rules);

// Puts a path on top none of whose threads waits. If there is none, threads leave those that wait; if all do
// and `may_leave`, those at a reconvergence point go on without them (`departures` counts it). Paths that
// have arrived at their reconvergence point end. False: no path can run, or the stack is empty.
bool choose_path(BlockStack& stack, const BlockMask& waiting, bool may_leave, std::uint64_t& departures);

// Visits the entries from the top down, with those of their threads that are in none above, and whether these
// wait for nobody there to arrive.
template <class Visit>
void each_entry(const BlockStack& stack, Visit&& visit) {
  BlockMask seen;
  const auto& entries = stack.entries();
  for (std::size_t e = entries.size(); e-- > 0;) {
    BlockMask fresh = entries[e].mask;
    fresh.remove(seen);
    seen |= entries[e].mask;
    const bool leaf = e + 1 == entries.size() || entries[e + 1].level <= entries[e].level;
    visit(entries[e], fresh, leaf && !entries[e].likely);
  }
}

// Threads below the top entry that stand at an instruction which ends them.
BlockMask ending(const BlockStack& stack, const ptx::Program& program);

}  // namespace weft::warp_formation

#endif
