#include "warp_formation/lone_warp.h"

namespace weft::warp_formation {

void LoneWarp::start(const TbcWarp& warp, const BlockStack::Entry& entry, unsigned first_chunk,
                     std::uint64_t generation, const ptx::Program& program, const StackRules& rules) {
  generation_ = generation;
  first_chunk_ = first_chunk;
  branch_ = warp.record.pc();
  branch_depth_ = warp.depth;
  turned_ = false;
  whole_ = warp.packed;
  counted_depth_ = 1;
  threads_ = BlockMask();
  for (const ThreadGroup& group : warp.packed.groups())
    threads_.words[group.chunk - first_chunk] |= group.mask;
  stack_.start(entry, threads_);
  go(warp, program, rules);
}

void LoneWarp::go(const TbcWarp& warp, const ptx::Program& program, const StackRules& rules) {
  if (warp.record.paths().empty()) return;
  for (const Place& place : warp.record.paths()) look_for_turn(place.pc, place.depth);
  add_paths(paths_, warp.record, first_chunk_);
  follow(stack_, paths_, {warp.record.pc(), warp.depth}, program, rules);
}

bool LoneWarp::settle(const BlockMask& waiting) {
  for (;;) {
    stack_.settle();
    if (stack_.empty()) return false;
    const BlockStack::Entry& top = stack_.top();
    if (top.mask.intersects(waiting)) return false;
    if (!stack_.reconverges(top.pc, top.depth)) return true;
    stack_.pop();
  }
}

BlockMask LoneWarp::take_arrived() {
  BlockMask left, arrived = threads_;
  for (const BlockStack::Entry& entry : stack_.entries()) {
    if (entry.level == 0) left |= entry.mask;
  }
  arrived.remove(left);
  threads_ = left;
  return arrived;
}

void LoneWarp::count(Census& census, const BlockMask& waiting, const BlockMask& at_barriers) const {
  each_entry(stack_, [&](const BlockStack::Entry& entry, BlockMask threads, bool leaf) {
    if (&entry == &stack_.top()) return;
    BlockMask held = threads;
    const unsigned all_held = (held &= waiting).count();
    const unsigned at_barrier = (held &= at_barriers).count();
    census.barrier += at_barrier;
    census.warp_sync += all_held - at_barrier;
    (leaf ? census.inactive_path : census.reconvergence) += threads.remove(waiting).count();
  });
}

void LoneWarp::describe(std::ostream& out, const ptx::Program& program) const {
  each_entry(stack_, [&](const BlockStack::Entry& entry, const BlockMask&, bool) {
    out << "      its own " << (&entry == &stack_.top() ? "path on top" : "path below") << " at pc "
        << entry.pc << " (" << program.place(entry.pc) << "), " << entry.mask.count() << " threads";
    if (entry.rpc != ptx::kNoPc) out << ", reconverges at pc " << entry.rpc;
    out << "\n";
  });
}

}  // namespace weft::warp_formation
