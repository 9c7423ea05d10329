// Warps that pass branches alone: what becomes of them and of their blocks.
#include "warp_formation/compacting_warps.h"

namespace weft::warp_formation {

void CompactingWarps::go_on_alone(unsigned context) {
  Warp& warp = warps_[context];
  const CommitRecord& record = warp.record;
  if (record.paths().size() == 1) {
    warp.pc = record.paths()[0].pc;
    warp.depth = record.paths()[0].depth;
    return go_on(context);
  }
  Resident& b = blocks_[warp.slot];
  LoneWarp& lone = lone_[context];
  lone.start(warp, b.state.stack().top(), b.state.block().first_chunk, b.generation, *program_, rules_);
  b.state.leave(lone.threads());
  warp.alone = true;
  ++lone_warps_;
  ++b.lone_warps;
  --b.warps;
  run_alone(context, lone.settle(b.state.waiting()));
  if (!warp.live || !warp.alone) return;
  left(b, context);
  look_for_next_entry(b);
}

// The instruction of a warp is done that goes alone.
void CompactingWarps::commit_alone(unsigned context) {
  Warp& warp = warps_[context];
  const CommitRecord& record = warp.record;
  Resident& b = blocks_[warp.slot];
  LoneWarp& lone = lone_[context];
  if (warp.to_barrier) ++statistics_.bar_in_divergence;
  const bool awaited = awaits(b, context);
  bool moves = true;
  if (record.paths().size() != 1) {
    lone.go(warp, *program_, rules_);
  } else if (b.state.waits(warp.packed.groups())) {
    lone.stand(record.paths()[0].pc, record.paths()[0].depth);
  } else {
    moves = lone.go_together(record.paths()[0].pc, record.paths()[0].depth);
  }
  if (moves) {
    run_alone(context, lone.settle(b.state.waiting()));
  } else {  // the common case
    warp.pc = record.paths()[0].pc;
    warp.depth = record.paths()[0].depth;
    table_.set(context, warp.pc);
    scheduler_of(context).eligible.add(context);
  }
  if (!awaited || !warp.live || !warp.alone || awaits(b, context)) return;
  left(b, context);
  look_for_next_entry(b);
}

// The stack of the warp has moved; `runs`: its top path can run; if not, and `ask`, the block asks itself
// whether any can.
void CompactingWarps::run_alone(unsigned context, bool runs, bool ask) {
  Warp& warp = warps_[context];
  Resident& b = blocks_[warp.slot];
  LoneWarp& lone = lone_[context];
  warp.to_barrier = false;
  b.state.arrive_alone(lone.take_arrived());
  lone.count_accesses(statistics_.lone_stacks);
  if (lone.stack().empty()) {
    end_alone(context);
    return dissolve(context);
  }
  const BlockStack::Entry& top = lone.stack().top();
  statistics_.deepest_stack = std::max<std::uint64_t>(statistics_.deepest_stack, lone.stack().depth());
  lone.show(warp.packed);
  warp.pc = top.pc;
  warp.depth = top.depth;
  if (lone.stack().depth() == 1 && lone.generation() == b.generation) {
    b.state.come_back(lone.threads());
    end_alone(context);
  }
  if (!runs) {
    wait(context, top.mask.intersects(b.state.at_barriers()));
    if (ask) question(b);
    return;
  }
  table_.set(context, warp.pc);
  scheduler_of(context).eligible.add(context);
}

// The warp counts as one of the top entry again.
void CompactingWarps::end_alone(unsigned context) {
  Resident& b = blocks_[warps_[context].slot];
  warps_[context].alone = false;
  --lone_warps_;
  --b.lone_warps;
  ++b.warps;
}

// The paths of the warp become paths of its block.
void CompactingWarps::take_over(unsigned context) {
  blocks_[warps_[context].slot].state.take_over(lone_[context].stack(), lone_[context].threads());
  end_alone(context);
  forget(context);
}

bool CompactingWarps::awaits(const Resident& b, unsigned context) const {
  const LoneWarp& lone = lone_[context];
  return warps_[context].live && warps_[context].alone && lone.generation() == b.generation &&
         lone.comes_back_soon();
}

// Warps that wait go on with another path of theirs, if one can run: as under a stack per warp, they do not
// wait for the others of their block first.
void CompactingWarps::choose_alone(Resident& b) {
  const BlockMask waiting = b.state.waiting();
  for (const std::uint16_t context : b.contexts) {
    const Warp& warp = warps_[context];
    if (!warp.live || !warp.alone || !(warp.at_barrier || warp.at_sync)) continue;
    LoneWarp& lone = lone_[context];
    // A warp-level primitive does not wait for threads at a reconvergence point (held_back), a barrier does.
    const bool may_leave = lone.threads().intersects(b.state.at_barriers());
    const bool runs = lone.choose(waiting, may_leave, statistics_.block.lone_departures);
    statistics_.path_switches += runs ? 1 : 0;
    stop_waiting(context);
    run_alone(context, runs, false);
  }
}

}  // namespace weft::warp_formation
