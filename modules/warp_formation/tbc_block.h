// One block under thread block compaction: its reconvergence stack, the threads that its dissolved warps have
// left at a branch, those that wait at barriers and warp-level primitives, and those still to be compacted.
// Private to tbc and capri.
#ifndef WEFT_WARP_FORMATION_TBC_BLOCK_H
#define WEFT_WARP_FORMATION_TBC_BLOCK_H

#include <array>
#include <cstdint>
#include <ostream>
#include <vector>

#include "warp_formation/block_paths.h"
#include "warp_formation/commit_record.h"
#include "warp_formation/sbr_options.h"
#include "weft/warp_formation/lane_packing.h"
#include "weft/warp_formation/reconvergence_stack.h"
#include "weft/warp_formation/thread_mask.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class TbcBlock {
 public:
  using Stack = BlockStack;

  struct Statistics {
    std::uint64_t divergent_branches = 0, uniform_branches = 0;
    std::uint64_t lone_departures = 0;  // of threads from a reconvergence point
    std::uint64_t entries_written = 0;  // as paths part: each new one, and the one that waits for them
  };

  // All threads at PC 0, to be placed in warps.
  void start(const Block& block);
  const Block& block() const { return block_; }
  bool has_chunk(unsigned chunk) const {
    return chunk >= block_.first_chunk && chunk < block_.first_chunk + (block_.threads + kChunk - 1) / kChunk;
  }
  const Stack& stack() const { return stack_; }
  // Of a block that is gone: what its stack has counted.
  void archive(Archive& archive) { archive(stack_); }

  // What becomes of threads of the top entry.
  void exit(const ThreadGroup& group) {
    stack_.exit(word(group), group.mask);
    alone_.words[word(group)] &= ~group.mask;
  }
  void deposit(const CommitRecord& record, std::uint16_t depth);
  // Whether threads of the top entry that wait for the others at a branch, if there are any, wait at this
  // one.
  bool may_deposit(ptx::Pc branch, std::uint16_t depth) const {
    return paths_.empty() || (branch_ == branch && branch_depth_ == depth);
  }
  bool reconverges(ptx::Pc pc, std::uint16_t depth) const { return stack_.reconverges(pc, depth); }
  void reconverge(Groups threads) {
    for (const auto& group : threads) stack_.arrive(word(group), group.mask);
  }
  // The same for the likely-convergence point, if somebody may join there.
  bool at_likely_point(ptx::Pc pc, std::uint16_t depth) const { return stack_.at_likely_point(pc, depth); }
  void join_likely(Groups threads) {
    for (const auto& group : threads) stack_.join_likely(word(group), group.mask);
    stack_.count_likely_join();
  }
  void wait_at_barrier(unsigned barrier, Groups threads);
  void wait_for_warp(Groups threads) { add(syncing_, threads); }
  void release_barrier(unsigned barrier);
  void release_from_warp(const ThreadGroup& group) { syncing_.words[word(group)] &= ~group.mask; }
  // Whether any of the threads waits at a barrier or for others of its original warp.
  bool waits(Groups threads) const;
  bool anyone_waits() const { return !waiting().empty(); }
  BlockMask waiting() const {
    BlockMask all = syncing_;
    return all |= at_barriers_;
  }
  const BlockMask& at_barriers() const { return at_barriers_; }
  // Of those that wait for others of their original warp, these. `standing`: WarpFormation::held_back.
  BlockMask standing(const std::uint32_t* standing) const;

  // The threads of a warp of the top entry that waits, at `pc`, stand aside, those that wait apart from those
  // that do not: they are paths beside the top entry now.
  void stand_aside(ptx::Pc pc, std::uint16_t depth, Groups threads);

  // The threads of a warp of the top entry go on alone, on paths of their own.
  void leave(const BlockMask& threads) {
    stack_.leave(threads,
                 [this](const BlockMask& other) { return other.empty() || other.intersects(alone_); });
    alone_ |= threads;
  }
  // Such threads have come to the point where the entry that they left reconverges.
  void arrive_alone(const BlockMask& threads) {
    stack_.arrive_elsewhere(threads);
    alone_.remove(threads);
  }
  // They are together again, and the entry that they left is on top.
  void come_back(const BlockMask& threads) {
    stack_.come_back(threads);
    alone_.remove(threads);
  }
  // Their paths are paths of the block from now on.
  void take_over(const Stack& own, const BlockMask& threads) {
    stack_.take_over(own, threads);
    alone_.remove(threads);
  }

  // No warp of the top entry is left: the stack moves, and a path comes to the top that can run. True: its
  // threads are to be placed in warps; false: there is none. `likely`: likely-convergence points by PC, or
  // empty. `may_leave`: threads may go on from a reconvergence point without others.
  bool move(const ptx::Program& program, const StackRules& rules, const std::vector<ptx::Pc>& likely,
            bool may_leave, Statistics& statistics);

  // Threads that the compactor still has to place.
  unsigned unplaced() const { return unplaced_threads_; }
  // Static warps of `size` threads that have some of them.
  unsigned static_warps(unsigned size) const;
  // Packs the lowest of every lane into the warp.
  void place(PackedWarp& warp, unsigned size, unsigned lanes);

  // Threads of each chunk that wait, for others of the block, at an instruction that ends them.
  BlockMask ending(const ptx::Program& program) const;
  // WarpFormation::held_back. The block has threads of the chunk.
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const;
  // Those that are not in the warps given.
  void count(Census& census, const BlockMask& in_warps) const;
  void describe(std::ostream& out, const ptx::Program& program, unsigned warps) const;
  void add(BlockMask& mask, Groups threads) const {
    for (const auto& group : threads) mask.words[word(group)] |= group.mask;
  }

 private:
  static constexpr unsigned kBarriers = 16;
  static constexpr unsigned kUsualDepth = 32;

  unsigned word(const ThreadGroup& group) const { return group.chunk - block_.first_chunk; }

  Block block_;
  Stack stack_{kUsualDepth};
  BlockPaths paths_;             // where the threads of dissolved warps go
  ptx::Pc branch_ = ptx::kNoPc;  // at which they did
  std::uint16_t branch_depth_ = 0;
  BlockMask unplaced_;
  unsigned unplaced_threads_ = 0, first_unplaced_ = 0;  // the latter: a chunk
  BlockMask syncing_, at_barriers_;
  BlockMask alone_;  // run on stacks of their own (lone_warp.h)
  std::array<BlockMask, kBarriers> at_barrier_;
};

}  // namespace weft::warp_formation

#endif
