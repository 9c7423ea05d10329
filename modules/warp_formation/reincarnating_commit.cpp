// HARP and CROWN: what becomes of the threads of an instruction (HARP 4.1, 4.2.2).
#include <algorithm>
#include <tuple>

#include "warp_formation/reincarnating_warps.h"
#include "weft/common/popcount.h"

namespace weft::warp_formation {
bool ReincarnatingWarps::Landing::before(const Landing& other) const {
  return std::tie(pc, depth, kind, argument) < std::tie(other.pc, other.depth, other.kind, other.argument);
}

void ReincarnatingWarps::resolved(IssueId id, Outcomes outcomes) {
  const Index w = warp_of_issue_[id];
  Warp& warp = warps_[w];
  at_issue_ = id == immediate_;
  progress_ = warp.progress;
  for (const auto& outcome : outcomes) {
    const Landing landing{outcome.kind, outcome.depth, outcome.next_pc, outcome.argument};
    if (outcome.whole && !warp.merged) {
      warp.landing = landing;
      warp.pending = 0;
      break;
    }
    for (const auto& group : outcome.groups) land(warp, group, landing);
  }
  if (warp.pending == 0) commit(w);
  at_issue_ = false;
}

void ReincarnatingWarps::land(Warp& warp, const ThreadGroup& group, const Landing& landing) {
  const std::uint32_t lanes = lanes_.fold(group);
  if (!warp.landed) {
    warp.landing = landing;
    warp.landed = true;
  } else if (!warp.scattered && !warp.landing.together(landing)) {
    scatter(warp);
    warp.scattered = true;
  }
  if (warp.scattered) {
    each_lane(lanes,
              [&](unsigned lane) { landings_[lanes_.position(warp.threads.row[lane], lane)] = landing; });
  }
  warp.pending &= ~lanes;
}

// Writes down for each thread what has been the same for all so far.
void ReincarnatingWarps::scatter(const Warp& warp) {
  each_lane(warp.threads.mask & ~warp.pending,
            [&](unsigned lane) { landings_[lanes_.position(warp.threads.row[lane], lane)] = warp.landing; });
}

void ReincarnatingWarps::commit(Index w) {
  Warp& warp = warps_[w];
  if (warp.scattered) {
    part(w);
  } else {
    const Landing landing = warp.landing;
    switch (landing.kind) {
      case Outcome::Kind::kGo:
        if (program_->code[warp.pc].is_branch()) ++counters_.uniform_branches;
        turn_from_points(program_->code[warp.pc], warp.threads, landing);
        arrive_or_go_on(w, landing.pc, landing.depth);
        break;
      case Outcome::Kind::kBarrier:
      case Outcome::Kind::kWarpSync:
        leave_tables(w);
        park(w, landing);
        break;
      case Outcome::Kind::kExit:
        leave_tables(w);
        barriers_.exit(warp.threads);
        release(w);
        break;
    }
  }
  revive();
}

// Not all threads of the warp do the same: some exit, or they go on at several places, or some wait.
void ReincarnatingWarps::part(Index w) {
  Warp& warp = warps_[w];
  paths_.clear();
  LaneSet exiting = warp.threads;
  exiting.mask = 0;
  each_lane(warp.threads.mask, [&](unsigned lane) {
    const Landing& landing = landings_[lanes_.position(warp.threads.row[lane], lane)];
    const std::uint32_t bit = 1u << lane;
    if (landing.kind == Outcome::Kind::kExit) {
      exiting.mask |= bit;
      return;
    }
    const auto known = std::find_if(paths_.begin(), paths_.end(),
                                    [&](const Path& path) { return path.landing.together(landing); });
    if (known != paths_.end()) {
      known->lanes |= bit;
    } else {
      paths_.push_back({landing, bit});
    }
  });
  leave_tables(w);
  if (!exiting.empty()) {
    barriers_.exit(exiting);
    lose(w, exiting.mask);
  }
  if (paths_.empty()) return release(w);
  std::sort(paths_.begin(), paths_.end(),
            [](const Path& a, const Path& b) { return a.landing.before(b.landing); });
  const ptx::Instruction& instruction = program_->code[warp.pc];
  if (paths_.size() == 1) {
    const Landing landing = paths_[0].landing;
    if (landing.kind != Outcome::Kind::kGo) return park(w, landing);
    if (instruction.is_branch()) ++counters_.uniform_branches;
    turn_from_points(instruction, warp.threads, landing);
    return arrive_or_go_on(w, landing.pc, landing.depth);
  }
  const Landing& first = paths_.front().landing;
  const Landing& last = paths_.back().landing;
  if (first.pc != last.pc || first.depth != last.depth) {
    ++counters_.divergent_branches;
    reserve(warp, instruction);
  }
  const LaneSet threads = warp.threads;
  const std::uint16_t slot = warp.slot;
  take_ports(threads);
  release(w);
  for (const Path& path : paths_) {
    LaneSet turning = threads;
    turning.mask = path.lanes;
    turn_from_points(instruction, turning, path.landing);
    take_path(path, threads, slot);
  }
}

// The threads of the warp diverge at `branch`: where they meet, and before that where they probably do.
void ReincarnatingWarps::reserve(const Warp& warp, const ptx::Instruction& branch) {
  const ReconvergenceBarriers::Place place{reconvergence_point(branch, rule_), warp.depth, warp.slot};
  if (place.rpc != ptx::kNoPc) barriers_.reserve(warp.threads, place);
  if (points_.empty() || points_[warp.pc] == ptx::kNoPc) return;
  barriers_.reserve_likely(warp.threads, {points_[warp.pc], warp.depth, warp.slot}, place);
}

// Nobody waits for threads at points to which the way does not lead that they take at a branch.
void ReincarnatingWarps::turn_from_points(const ptx::Instruction& instruction, const LaneSet& threads,
                                          const Landing& landing) {
  if (!barriers_.any_likely() || (!instruction.is_branch() && instruction.op != ptx::Opcode::kBrx)) return;
  barriers_.leave_likely(threads, [&](const ReconvergenceBarriers::Place& point) {
    return point.depth == landing.depth && !ways_.lead(landing.pc, point.rpc);
  });
}

void ReincarnatingWarps::take_path(const Path& path, const LaneSet& threads, std::uint16_t slot) {
  const Landing& to = path.landing;
  if (to.kind != Outcome::Kind::kGo) {
    return park(create(to.pc, to.depth, slot, threads, path.lanes), to);
  }
  LaneSet going = threads;
  going.mask = path.lanes;
  barriers_.searched();
  going.mask &= ~barriers_.arrive(going, {to.pc, to.depth, slot});
  if (!going.empty()) regroup(going, going.mask, to.pc, to.depth, slot);
}

// Threads that left their warp join warps of the Ready-Lookup at their PC, oldest first, as far as their
// lanes are free there; the others become one new warp (HARP 4.2.1).
void ReincarnatingWarps::regroup(const LaneSet& threads, std::uint32_t lanes, ptx::Pc pc, std::uint16_t depth,
                                 std::uint16_t slot) {
  ready_lookup_.searched();
  for (std::size_t i = 0; i < ready_lookup_.order().size() && lanes != 0; ++i) {
    const std::uint16_t place = ready_lookup_.order()[i];
    Warp& other = warps_[ready_lookup_.warp(place)];
    if (other.pc != pc || other.depth != depth || other.slot != slot) continue;
    const std::uint32_t fits = lanes & ~other.threads.mask;
    if (fits == 0) continue;
    const auto count = count_of(fits);
    ++counters_.ready_merges;
    counters_.ready_merged_threads += count;
    threads_in_[static_cast<std::size_t>(State::kLookup)] += count;
    other.threads.take(threads, fits);
    other.progress = std::min(other.progress, progress_);
    other.groups_known = false;
    lanes &= ~fits;
    ready_lookup_.merged(place);
  }
  if (lanes == 0) return;
  const Index w = create(pc, depth, slot, threads, lanes);
  if (ready_lookup_.full()) {
    ++counters_.ready_bypasses;
    return go_on(w);
  }
  warps_[w].lookup_slot = static_cast<std::uint8_t>(ready_lookup_.insert(w, at_issue_ ? now_ : kNoEvent));
  enter(w, State::kLookup);
}

// The threads of the warp that are expected at `pc` wait there; the others go on.
void ReincarnatingWarps::arrive_or_go_on(Index w, ptx::Pc pc, std::uint16_t depth) {
  Warp& warp = warps_[w];
  warp.pc = pc;
  warp.depth = depth;
  barriers_.searched();
  take_ports(warp.threads);
  if (barriers_.any_at(pc)) {
    const std::uint32_t arrived = barriers_.arrive(warp.threads, {pc, depth, warp.slot});
    if (arrived != 0) lose(w, arrived);
    if (warp.threads.empty()) {
      leave_tables(w);
      return release(w);
    }
  }
  go_on(w);
}

void ReincarnatingWarps::go_on(Index w) {
  Warp& warp = warps_[w];
  warp.landed = warp.scattered = warp.merged = false;
  if (warp.state == State::kLookupWait) {  // departs from there in `advance`
    enter(w, State::kLookupDone);
    give_context(w);
    warp.due = 0;
    if (barriers_.may_conflict()) {
      warp.due = kNoEvent;
      warp.wait = further_;
      lookup_committed_ = true;
    }
    return;
  }
  give_context(w);
  if (at_issue_) {
    const Cycle due = searched_at_issue();
    if (due == now_ + 1) return to_second_level(w);
    enter(w, State::kReturning);
    warp.due = due;
    return push(returning_, w);
  }
  if (search_after_commit_ == 0 && !barriers_.may_conflict()) return to_second_level(w);
  enter(w, State::kReturning);
  warp.wait = search_after_commit_ + further_;
  push(committed_, w);
}

// The threads of a commit get to the barriers. If that takes further cycles, later commits wait as well.
void ReincarnatingWarps::take_ports(const LaneSet& threads) {
  const unsigned further = barriers_.further_cycles(threads);
  if (at_issue_) {
    ports_taken_ = searched_at_issue() - (config_.barrier_latency - 1) + further;
  } else {
    further_ += further;
  }
}

// The search of what commits at its issue begins with the next cycle at the earliest.
Cycle ReincarnatingWarps::searched_at_issue() const {
  return std::max(now_ + 1, ports_taken_) + config_.barrier_latency - 1;
}

// Out of the table that the warp is in, if it is one of the lookups.
void ReincarnatingWarps::leave_tables(Index w) {
  const Warp& warp = warps_[w];
  if (warp.state == State::kLookupWait || warp.state == State::kLookupDone) {
    waiting_lookup_.remove(warp.lookup_slot, now_);
    enter(w, State::kInFlight);
  } else if (warp.state == State::kLookup) {
    ready_lookup_.remove(warp.lookup_slot, now_);
    enter(w, State::kInFlight);
  }
}

void ReincarnatingWarps::park(Index w, const Landing& landing) {
  Warp& warp = warps_[w];
  warp.pc = landing.pc;
  warp.depth = landing.depth;
  warp.barrier = landing.argument;
  take_context(w);  // it may wait long, and others need the instruction buffer
  barriers_.leave_likely(warp.threads, [](const ReconvergenceBarriers::Place&) { return true; });
  if (landing.kind == Outcome::Kind::kBarrier) {
    if (barriers_.expects(warp.threads)) ++counters_.bar_in_divergence;
    enter(w, State::kBarrier);
  } else {
    enter(w, State::kSync);
  }
  push(parked_, w);
  barriers_.park(warp.threads, landing.kind == Outcome::Kind::kBarrier);
}

void ReincarnatingWarps::resume(Index w) {
  drop(parked_, w);
  progress_ = warps_[w].progress;
  barriers_.unpark(warps_[w].threads);
  arrive_or_go_on(w, warps_[w].pc, warps_[w].depth);
}

void ReincarnatingWarps::barrier_released(std::uint16_t slot, unsigned barrier) {
  const auto waits = [&](const Warp& warp) {
    return warp.state == State::kBarrier && warp.slot == slot && warp.barrier == barrier;
  };
  // First all of them: they may wait for each other where they go on.
  for (Index w = parked_.head; w != kNone; w = warps_[w].next) {
    if (waits(warps_[w])) barriers_.unpark(warps_[w].threads);
  }
  for (Index w = parked_.head, next = kNone; w != kNone; w = next) {
    next = warps_[w].next;
    if (waits(warps_[w])) resume(w);
  }
  revive();
}

// Threads of one original warp may be in several warps, and those hold threads of others: the released ones
// go on without these.
void ReincarnatingWarps::warp_sync_released(Groups threads) {
  for (Index w = parked_.head, next = kNone; w != kNone; w = next) {
    next = warps_[w].next;
    Warp& warp = warps_[w];
    if (warp.state != State::kSync) continue;
    std::uint32_t released = 0;
    for (const auto& group : threads) released |= lanes_.lanes_in(warp.threads, group);
    if (released == warp.threads.mask) {
      resume(w);
    } else if (released != 0) {
      progress_ = warp.progress;
      LaneSet going = warp.threads;
      going.mask = released;
      lose(w, released);
      barriers_.unpark(going);
      going.mask &= ~barriers_.arrive(going, {warp.pc, warp.depth, warp.slot});
      if (!going.empty()) regroup(going, going.mask, warp.pc, warp.depth, warp.slot);
    }
  }
  revive();
}

// Barriers that everyone has reached become warps again.
void ReincarnatingWarps::revive() {
  barriers_.leave_likely_in_vain();
  for (const auto& done : barriers_.completed()) {
    ++barriers_.counters().uses.reads;
    if (done.alone) {
      ++counters_.lone_departures;
    } else {
      ++counters_.reincarnations;
      counters_.reincarnated_threads += done.threads.count();
    }
    const Index w =
        create(done.place.rpc, done.place.depth, done.place.slot, done.threads, done.threads.mask);
    give_context(w);
    enter(w, State::kRevived);
    if (at_issue_) {
      warps_[w].due = searched_at_issue();
      push(warps_[w].due == now_ + 1 ? revived_ : reviving_, w);
    } else if (search_before_revival_ == 0 && !barriers_.may_conflict()) {
      push(revived_, w);
    } else {
      warps_[w].wait = search_before_revival_ + further_;
      push(committed_, w);
    }
  }
  barriers_.completed().clear();
}

bool ReincarnatingWarps::ends(ptx::Pc pc) const {
  const ptx::Instruction& next = program_->code[pc];
  return next.is_exit() && next.guard < 0;
}

std::uint32_t ReincarnatingWarps::waiting_to_exit(std::uint16_t slot) const {
  return barriers_.waiting_at(slot, [this](ptx::Pc pc) { return ends(pc); });
}

std::uint32_t ReincarnatingWarps::ending(unsigned chunk) const {
  return barriers_.waiting_in(chunk, [this](ptx::Pc pc) { return ends(pc); });
}

std::uint32_t ReincarnatingWarps::held_back(unsigned chunk, const std::uint32_t* standing) const {
  return barriers_.held_back(chunk, standing);
}

}  // namespace weft::warp_formation
