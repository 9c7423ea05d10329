// A warp that has passed a branch without the others of its block's entry: its threads are on paths of its
// own, kept on a stack above that entry. Private to compacting_warps.cpp.
#ifndef WEFT_WARP_FORMATION_LONE_WARP_H
#define WEFT_WARP_FORMATION_LONE_WARP_H

#include <cstdint>
#include <ostream>

#include "warp_formation/block_paths.h"
#include "warp_formation/tbc_warp.h"
#include "weft/warp_formation/lane_packing.h"
#include "weft/warp_formation/table_accesses.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class LoneWarp {
 public:
  LoneWarp(unsigned rows, const LanePermuter& home) : whole_(rows, home) { paths_.reserve(4); }

  // The threads of this warp of `entry` part at its instruction, where the record says. The block's threads
  // begin with chunk `first_chunk`; `generation` numbers the entry.
  void start(const TbcWarp& warp, const BlockStack::Entry& entry, unsigned first_chunk,
             std::uint64_t generation, const ptx::Program& program, const StackRules& rules);
  std::uint64_t generation() const { return generation_; }
  // Whether its threads will be together again soon: not if that is where its block's entry reconverges, or
  // behind a loop in which they are.
  bool comes_back_soon() const {
    const auto& entries = stack_.entries();
    return !turned_ && entries.size() > 1 && entries[1].level > entries[0].level;
  }
  const BlockStack& stack() const { return stack_; }
  const BlockMask& threads() const { return threads_; }

  void exit(const ThreadGroup& group) {
    stack_.exit(group.chunk - first_chunk_, group.mask);
    threads_.words[group.chunk - first_chunk_] &= ~group.mask;
  }
  // The running threads go where the record of the warp's instruction says.
  void go(const TbcWarp& warp, const ptx::Program& program, const StackRules& rules);
  // The same if all go on at `pc`. True: their path ends there.
  bool go_together(ptx::Pc pc, std::uint16_t depth) {
    look_for_turn(pc, depth);
    return stack_.advance_together(pc, depth);
  }
  // They go on at `pc` when those of them that wait no longer do.
  void stand(ptx::Pc pc, std::uint16_t depth) { stack_.stand(pc, depth); }

  // Ends the paths on top whose threads have arrived. False: the top path has threads that wait, or there is
  // none.
  bool settle(const BlockMask& waiting);
  // Puts another path on top; `may_leave` and `departures` as for choose_path. False: none can run.
  bool choose(const BlockMask& waiting, bool may_leave, std::uint64_t& departures) {
    return choose_path(stack_, waiting, may_leave, departures);
  }
  // The top entry is beside the scheduler, as under sbr: those below are read when it goes, and written when
  // paths part.
  void count_accesses(TableAccesses& stacks) {
    const std::size_t now = stack_.depth();
    if (now > counted_depth_) stacks.writes += now - counted_depth_ + 1;
    if (now < counted_depth_) ++stacks.reads;
    counted_depth_ = now;
  }
  // Threads that have come to the point where the block's entry reconverges, since the last call.
  BlockMask take_arrived();

  // The threads of the top path, each in its place of the warp.
  void show(PackedWarp& warp) const {
    const BlockMask& top = stack_.top().mask;
    warp.take(whole_, [&](unsigned chunk) { return top.words[chunk - first_chunk_]; });
  }
  // Those that are not on the top path.
  void count(Census& census, const BlockMask& waiting, const BlockMask& at_barriers) const;
  void describe(std::ostream& out, const ptx::Program& program) const;

 private:
  static constexpr unsigned kUsualDepth = 8;

  // Threads that go back to the branch at which they parted, or before it, are in a loop around it.
  void look_for_turn(ptx::Pc pc, std::uint16_t depth) {
    turned_ = turned_ || (pc <= branch_ && depth == branch_depth_);
  }

  BlockStack stack_{kUsualDepth};
  PackedWarp whole_;   // as the warp began: the places of its threads
  BlockMask threads_;  // that are left
  unsigned first_chunk_ = 0;
  std::size_t counted_depth_ = 0;
  std::uint64_t generation_ = 0;
  ptx::Pc branch_ = ptx::kNoPc;  // at which it left the others
  std::uint16_t branch_depth_ = 0;
  bool turned_ = false;
  BlockPaths paths_;  // scratch
};

}  // namespace weft::warp_formation

#endif
