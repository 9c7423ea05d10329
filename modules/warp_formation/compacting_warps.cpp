#include "warp_formation/compacting_warps.h"

#include "weft/warp_formation/likely_convergence.h"

namespace weft::warp_formation {

CompactingWarps::CompactingWarps(const Rules& rules, const CommonConfig& config, const Geometry& geometry)
    : config_(config),
      options_(rules),
      rules_{rules.order, config.reconvergence},
      geometry_(geometry),
      size_(static_cast<unsigned>(config.warp_size)),
      lanes_(std::min(geometry.lanes, static_cast<unsigned>(config.warp_size))),
      table_(std::max(1u, std::min(contexts_for(geometry.threads), ContextSet::kMaxContexts))),
      warps_(table_.size(), Warp(size_ / lanes_, geometry.home)),
      blocks_(geometry.slots),
      schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config, table_.size())),
      context_of_(geometry.max_issues, 0),
      compactions_(geometry.slots) {
  lone_.reserve(rules.lone ? table_.size() : 0);  // a copy of one would have no room for its paths
  for (unsigned c = 0; rules.lone && c < table_.size(); ++c)
    lone_.emplace_back(size_ / lanes_, geometry.home);
  clear();
}

void CompactingWarps::attach(const ptx::Program& program, const SmView& sm) {
  program_ = &program;
  sm_ = &sm;
  if (options_.likely) likely_ = likely_convergence_points(program, config_.reconvergence);
}

void CompactingWarps::launch(const Block& block) {
  Resident& b = blocks_[block.slot];
  b.live = true;
  b.contexts.clear();
  for (unsigned i = contexts_for(block.threads); i > 0; --i) {
    const unsigned context = free_.next(0);
    free_.remove(context);
    b.contexts.push_back(static_cast<std::uint16_t>(context));
  }
  static_warps_ += warps_of(block);
  b.state.start(block);
  b.warps = 0;
  b.lone_warps = 0;
  while (b.state.unplaced() != 0) compact(b, free_context(b));  // static warps need no compactor
}

void CompactingWarps::retire(const Block& block) {
  Resident& b = blocks_[block.slot];
  for (const std::uint16_t context : b.contexts) free_.add(context);
  static_warps_ -= warps_of(block);
  b.live = false;
}

void CompactingWarps::reset() {
  clear();
  statistics_ = {};
}

void CompactingWarps::advance(Cycle) {
  if (questions_ != 0) {
    for (auto& b : blocks_) {
      if (b.in_question) decide(b);
    }
  }
  if (compactions_.empty()) return;
  Resident& b = blocks_[compactions_.front()];
  const unsigned context = free_context(b);
  if (context == ContextSet::kMaxContexts) {  // warps that go alone have them all: another block's turn
    compactions_.pop();
    compactions_.push(b.state.block().slot);
    return;
  }
  compact(b, context);
  if (b.state.unplaced() == 0) compactions_.pop();
}

Stall CompactingWarps::pick(unsigned scheduler, Issue& issue) {
  Scheduler& s = schedulers_[scheduler];
  const ContextSet candidates = without_waiting(s.eligible, *sm_);
  ContextSet far = s.far;
  if (s.policy.wants_far()) far.add(sm_->waiting_for_memory());
  const auto attempt = [&](unsigned context) {
    offer(context, issue);
    return sm_->ready(scheduler, issue);
  };
  const Stall stall = s.policy.pick(candidates, attempt, far);
  if (stall == Stall::kNone) return stall;
  Stall why = s.worse_of(worse_of_waiting(s.eligible, *sm_, stall), geometry_.barrel);
  if (stuck_ != 0) why = worse(why, Stall::kReconvergence);
  if (!compactions_.empty()) why = worse(why, Stall::kScheme);
  return why;
}

void CompactingWarps::issued(IssueId id, const Issue& issue) {
  context_of_[id] = issue.context;
  Warp& warp = warps_[issue.context];
  warp.in_flight = true;
  warp.record.start(issue.context, issue, size_);
  ++statistics_.warp_buffer.reads;
  Scheduler& s = scheduler_of(issue.context);
  s.eligible.remove(issue.context);
  ++s.in_flight;
}

void CompactingWarps::memory_issued(IssueId id) {
  const unsigned context = context_of_[id];
  Warp& warp = warps_[context];
  if (!geometry_.barrel || !warp.in_flight || warp.record.in_memory()) return;
  warp.record.wait_for_memory();
  ++scheduler_of(context).in_memory;
  scheduler_of(context).far.add(context);
}

void CompactingWarps::resolved(IssueId id, Outcomes outcomes) {
  const unsigned context = context_of_[id];
  Warp& warp = warps_[context];
  TbcBlock& block = blocks_[warp.slot].state;
  for (const auto& outcome : outcomes) {
    warp.record.resolve(count_threads(outcome.groups));
    if (outcome.kind != Outcome::Kind::kExit) warp.record.go(outcome);
    switch (outcome.kind) {
      case Outcome::Kind::kExit:
        for (const auto& group : outcome.groups) {
          block.exit(group);
          warp.packed.remove(group.chunk, group.mask);
          if (warp.alone) lone_[context].exit(group);
        }
        break;
      case Outcome::Kind::kBarrier:
        block.wait_at_barrier(outcome.argument, outcome.groups);
        warp.to_barrier = true;
        break;
      case Outcome::Kind::kWarpSync:
        block.wait_for_warp(outcome.groups);
        break;
      case Outcome::Kind::kGo:
        break;
    }
  }
  if (warp.record.complete()) commit(context);
}

void CompactingWarps::barrier_released(std::uint16_t slot, unsigned barrier) {
  blocks_[slot].state.release_barrier(barrier);
  wake(blocks_[slot]);
}

void CompactingWarps::warp_sync_released(Groups threads) {
  for (const auto& group : threads) {
    for (auto& b : blocks_) {
      if (!b.live || !b.state.has_chunk(group.chunk)) continue;
      b.state.release_from_warp(group);
      wake(b);
    }
  }
}

void CompactingWarps::clear() {
  for (unsigned c = 0; c < table_.size(); ++c) {
    warps_[c] = Warp(size_ / lanes_, geometry_.home);
    table_.set(c, ptx::kNoPc);
    free_.add(c);
  }
  for (auto& b : blocks_) {
    b = Resident();
    b.contexts.reserve(table_.size());
  }
  for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, table_.size());
  compactions_.clear();
  static_warps_ = questions_ = stuck_ = lone_warps_ = 0;
}

void CompactingWarps::offer(unsigned context, Issue& issue) const {
  const Warp& warp = warps_[context];
  issue.pc = warp.pc;
  issue.depth = warp.depth;
  issue.slot = warp.slot;
  issue.context = static_cast<std::uint16_t>(context);
  issue.rows = static_cast<std::uint8_t>(std::max(1u, size_ / geometry_.lanes));
  issue.groups = warp.packed.groups();
}

// The instruction of the warp is done.
void CompactingWarps::commit(unsigned context) {
  Warp& warp = warps_[context];
  Scheduler& s = scheduler_of(context);
  warp.in_flight = false;
  --s.in_flight;
  if (warp.record.in_memory()) {
    --s.in_memory;
    s.far.remove(context);
  }
  if (warp.alone) return commit_alone(context);
  if (warp.packed.empty()) return dissolve(context);
  const CommitRecord& record = warp.record;
  Resident& b = blocks_[warp.slot];
  if (may_part(program_->code[record.pc()]) || record.paths().size() > 1) {
    if (passes(context)) return;
    b.state.deposit(record, warp.depth);
    return dissolve(context);
  }
  warp.pc = record.paths()[0].pc;
  warp.depth = record.paths()[0].depth;
  if (warp.to_barrier && b.state.stack().depth() > 1) ++statistics_.bar_in_divergence;
  if (!b.state.waits(warp.packed.groups())) return go_on(context);
  wait(context, warp.to_barrier);
  question(b);
}

void CompactingWarps::wait(unsigned context, bool at_barrier) {
  Warp& warp = warps_[context];
  Scheduler& s = scheduler_of(context);
  (at_barrier ? warp.at_barrier : warp.at_sync) = true;
  ++(at_barrier ? s.at_barrier : s.at_sync);
  s.far.add(context);
}

// The warp may issue its next instruction, unless it has arrived at the reconvergence point.
void CompactingWarps::go_on(unsigned context) {
  Warp& warp = warps_[context];
  warp.to_barrier = false;
  TbcBlock& block = blocks_[warp.slot].state;
  if (block.reconverges(warp.pc, warp.depth)) {
    block.reconverge(warp.packed.groups());
    return dissolve(context);
  }
  if (block.at_likely_point(warp.pc, warp.depth)) {
    block.join_likely(warp.packed.groups());
    return dissolve(context);
  }
  table_.set(context, warp.pc);
  scheduler_of(context).eligible.add(context);
}

// Threads of the block have been released.
void CompactingWarps::wake(Resident& b) {
  for (const std::uint16_t context : b.contexts) {
    const Warp& warp = warps_[context];
    if (!warp.live || !(warp.at_barrier || warp.at_sync)) continue;
    if (b.state.waits(warp.packed.groups())) {
      if (warp.alone) question(b);  // others of its paths may have been released
      continue;
    }
    stop_waiting(context);
    if (warp.alone) {
      run_alone(context, lone_[context].settle(b.state.waiting()));
      continue;
    }
    go_on(context);
  }
  if (b.stuck) question(b);
}

void CompactingWarps::stop_waiting(unsigned context) {
  Warp& warp = warps_[context];
  Scheduler& s = scheduler_of(context);
  if (warp.at_barrier) --s.at_barrier;
  if (warp.at_sync) --s.at_sync;
  warp.at_barrier = warp.at_sync = false;
  s.far.remove(context);
}

// The warp is no more; its threads are elsewhere.
void CompactingWarps::forget(unsigned context) {
  Warp& warp = warps_[context];
  stop_waiting(context);
  warp.live = false;
  scheduler_of(context).policy.left(context);
  table_.set(context, ptx::kNoPc);
  --blocks_[warp.slot].warps;
  ++statistics_.stacks.writes;  // the top entry's count of warps
  left(blocks_[warp.slot], context);
}

void CompactingWarps::dissolve(unsigned context) {
  forget(context);
  look_for_next_entry(blocks_[warps_[context].slot]);
}

// A warp has left the top entry: perhaps it was the last.
void CompactingWarps::look_for_next_entry(Resident& b) {
  if (b.state.anyone_waits()) return question(b);  // others may be released in this cycle
  if (b.warps != 0 || b.state.unplaced() != 0) return;
  if (b.lone_warps != 0) {
    for (const std::uint16_t context : b.contexts) {
      if (awaits(b, context)) return;
    }
  }
  next_entry(b, b.lone_warps == 0);
}

// Asks, when all events of the cycle are known, whether the block has a warp that can run.
void CompactingWarps::question(Resident& b) {
  questions_ += !b.in_question;
  b.in_question = true;
}

void CompactingWarps::decide(Resident& b) {
  b.in_question = false;
  --questions_;
  if (!b.live) return;
  if (b.lone_warps != 0) choose_alone(b);
  if (b.in_question || b.state.unplaced() != 0) return;
  bool lone_warp_runs = false;
  for (const std::uint16_t context : b.contexts) {
    const Warp& warp = warps_[context];
    if (!warp.live || warp.at_barrier || warp.at_sync) continue;
    if (!warp.alone || awaits(b, context)) return;
    lone_warp_runs = true;
  }
  if (b.warps != 0) {
    ++statistics_.path_switches;
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live || warp.alone) continue;
      b.state.stand_aside(warp.pc, warp.depth, warp.packed.groups());
      forget(context);
    }
  }
  next_entry(b, b.lone_warps == 0);
  if (!b.stuck || lone_warp_runs || b.lone_warps == 0) return;
  // Nothing of the block runs: the last resort is theirs too.
  for (const std::uint16_t context : b.contexts) {
    if (warps_[context].live) take_over(context);
  }
  next_entry(b, true);
}

// The top entry has no warps.
void CompactingWarps::next_entry(Resident& b, bool may_leave) {
  ++b.generation;
  const std::uint64_t written = statistics_.block.entries_written;
  const bool runs = b.state.move(*program_, rules_, likely_, may_leave, statistics_.block);
  statistics_.stacks.writes += statistics_.block.entries_written - written;
  statistics_.stacks.reads += runs ? 1 : 0;
  const bool stuck = !runs && !b.state.stack().empty();
  stuck_ += stuck;
  stuck_ -= b.stuck;
  b.stuck = stuck;
  statistics_.deepest_stack = std::max<std::uint64_t>(statistics_.deepest_stack, b.state.stack().depth());
  if (!runs) return;
  ++statistics_.compactions;
  statistics_.uncompacted_warps += b.state.static_warps(size_);
  compactions_.push(b.state.block().slot);
}

// A context of the block without a warp, or kMaxContexts: warps that go alone have them all. One of these
// that waits gives its own up, as it may wait for the threads to be placed.
unsigned CompactingWarps::free_context(Resident& b) {
  for (const std::uint16_t context : b.contexts) {
    const Warp& warp = warps_[context];
    if (warp.alone && (warp.at_barrier || warp.at_sync) && warp.live &&
        b.warps + b.lone_warps == b.contexts.size())
      take_over(context);
    if (!warp.live) return context;
  }
  return ContextSet::kMaxContexts;
}

// Makes one warp of the threads that are left.
void CompactingWarps::compact(Resident& b, unsigned context) {
  Warp& warp = warps_[context];
  warp.live = true;
  warp.at_barrier = warp.at_sync = warp.to_barrier = warp.alone = false;
  warp.slot = b.state.block().slot;
  warp.pc = b.state.stack().top().pc;
  warp.depth = b.state.stack().top().depth;
  b.state.place(warp.packed, size_, lanes_);
  ++b.warps;
  ++statistics_.compacted_warps;
  ++statistics_.warp_buffer.writes;
  scheduler_of(context).policy.arrived(context);
  scheduler_of(context).eligible.add(context);
  table_.set(context, warp.pc);
}

}  // namespace weft::warp_formation
