#include "warp_formation/variable_warps.h"

#include <algorithm>
#include <utility>

namespace weft::warp_formation {
VariableWarps::VariableWarps(const VariableWarpsOptions& options, const CommonConfig& config,
                             const Geometry& geometry)
    : config_(config),
      options_(options),
      rules_{options.order, config.reconvergence},
      geometry_(geometry),
      size_(static_cast<unsigned>(config.warp_size)),
      slice_(std::min({static_cast<unsigned>(options.slice), geometry.lanes, size_})),
      slices_(std::min({geometry.lanes, size_, kChunk}) / slice_),
      warps_(std::max(1u, std::min(geometry.threads / size_, ContextSet::kMaxContexts))),
      contexts_(std::min(warps() * slices_, ContextSet::kMaxContexts)),
      words_((contexts_ + 63) / 64),
      pattern_(slices_, 0),
      slice_warps_(std::size_t{warps()} * slices_, SbrWarp(size_ / slices_)),
      gangs_(slice_warps_.size()),
      schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config, contexts_)),
      gang_at_(contexts_, kNone),
      lanes_at_(contexts_, 0),
      gang_of_(geometry.max_issues, 0),
      table_(contexts_) {
  for (unsigned t = 0; t < std::min(size_, kChunk); ++t) pattern_[t / slice_ % slices_] |= 1u << t;
  VariableWarps::reset();
}

void VariableWarps::attach(const ptx::Program& program, const SmView& sm) {
  program_ = &program;
  sm_ = &sm;
}

void VariableWarps::reset() {
  for (auto& warp : warps_) warp = Warp();
  for (auto& slice : slice_warps_) slice = SbrWarp(size_ / slices_);
  for (auto& gang : gangs_) gang = Gang();
  for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, contexts_);
  for (unsigned c = 0; c < contexts_; ++c) {
    gang_at_[c] = kNone;
    table_.set(c, ptx::kNoPc);
    if (!is_own(c)) schedulers_[c % schedulers_.size()].free.add(c);
  }
  changed_.clear();
  live_ = 0;
  stack_statistics_ = {};
  statistics_ = {};
  statistics_.issues_by_size.assign(slices_ + 1, 0);
}

void VariableWarps::archive(Archive& archive) {
  archive(at_rest(live_), set_anew(changed_), table_);
  archive_each(archive, schedulers_);
}

void VariableWarps::launch(const Block& block) {
  const unsigned count = warps_of(block);
  unsigned w = 0;
  for (unsigned number = 0; number < count; ++number, ++w) {
    while (warps_[w].live) ++w;
    start(w, block, number);
  }
}

void VariableWarps::start(unsigned w, const Block& block, unsigned number) {
  Warp& warp = warps_[w];
  const WarpMask all = warp.take_place(block, number, size_, geometry_.lanes);
  warp.live = true;
  warp.lanes = static_cast<std::uint8_t>(warp.shift % geometry_.lanes / slice_);
  warp.gangs = warp.queued = 0;
  warp.ready = warp.deep = 0;
  Slices members = 0;
  for (unsigned k = 0; k < slices_; ++k) {
    WarpMask mask = all;
    for (auto& word : mask.words) word &= pattern_[k];
    SbrWarp& own = slice(w, k);
    own.start(block, number, size_, geometry_.lanes);
    own.stack.start(0, mask);
    own.live = !mask.empty();
    members |= static_cast<Slices>(own.live) << k;
  }
  ++live_;
  stack_statistics_.deepest_stack = std::max<std::uint64_t>(stack_statistics_.deepest_stack, 1);
  Scheduler& s = scheduler_of(w);
  s.policy.arrived(w);
  s.beside.arrived(w);
  const Index g = form(w, members, {});
  show(g);
  make_ready(g);
}

void VariableWarps::end(unsigned w) {
  warps_[w].live = false;
  --live_;
  scheduler_of(w).policy.left(w);
  scheduler_of(w).beside.left(w);
}

// --- which gang issues -------------------------------------------------------------------------------------

void VariableWarps::fill(Issue& issue, unsigned context) const {
  const Gang& gang = gangs_[gang_at_[context]];
  const Warp& warp = warps_[warp_of(gang_at_[context])];
  issue.pc = gang.at.pc;
  issue.depth = gang.at.depth;
  issue.context = static_cast<std::uint16_t>(context);
  issue.slot = warp.slot;
  issue.rows = warp.rows;
  issue.groups = {gang.groups.data(), gang.group_count};
}

// What the SM knows of a context that changed may be about other threads.
ContextSet VariableWarps::candidates(const Scheduler& s) const {
  ContextSet found;
  for (unsigned w = 0; w < words_; ++w) {
    const std::uint64_t word = s.eligible.word(w);
    if (word == 0) continue;
    const std::uint64_t waiting = sm_->waiting_for_unit().word(w) | sm_->waiting_for_memory_unit().word(w) |
                                  sm_->waiting_for_memory().word(w) | sm_->waiting_for_arithmetic().word(w) |
                                  sm_->waiting_for_fetch().word(w);
    found.set_word(w, word & (~waiting | changed_.word(w)));
  }
  return found;
}

Stall VariableWarps::pick(unsigned scheduler, Issue& issue) {
  Scheduler& s = schedulers_[scheduler];
  s.taken = 0;
  if (!s.to_part.empty()) split_by_memory(s);
  Stall stall = pick_one(s, scheduler, issue);
  if (stall != Stall::kNone && !s.to_part.empty() && split_by_memory(s))
    stall = pick_one(s, scheduler, issue);
  if (stall == Stall::kNone) return stall;
  return s.worse_of(worse_of_waiting(s.eligible, *sm_, stall, words_), geometry_.barrel);
}

Stall VariableWarps::pick_one(Scheduler& s, unsigned scheduler, Issue& issue) {
  const ContextSet found = candidates(s);
  if (found.empty()) return Stall::kEmpty;
  const auto attempt = [&](unsigned context) {
    fill(issue, context);
    return judge(s, issue, sm_->ready(scheduler, issue));
  };
  return s.policy.wants_far() ? s.policy.pick(found, attempt, far_of(s)) : s.policy.pick(found, attempt);
}

// The SM has judged an offer. A context stays changed until the SM has said that its threads wait, or knows
// of nobody there who does.
Stall VariableWarps::judge(Scheduler& s, const Issue& issue, Stall stall) {
  const bool waits = stall == Stall::kMemory || stall == Stall::kDependence;
  if (waits ||
      !(sm_->waiting_for_memory().has(issue.context) || sm_->waiting_for_arithmetic().has(issue.context)))
    changed_.remove(issue.context);
  if (stall == Stall::kMemory && options_.memory == GangMemory::kImpatient) s.to_part.add(issue.context);
  return stall;
}

// Gangs whose slices of the lanes are free, in the configured order.
Stall VariableWarps::pick_beside(unsigned scheduler, Issue& issue) {
  Scheduler& s = schedulers_[scheduler];
  const unsigned lanes = issues_at_once();
  const Slices all = lanes >= 32 ? ~Slices{0} : (Slices{1} << lanes) - 1;
  if (s.taken == all) return Stall::kEmpty;
  ContextSet found = candidates(s);
  for (unsigned w = 0; w < words_; ++w) {
    std::uint64_t fits = 0;
    for (std::uint64_t rest = found.word(w); rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<unsigned>(__builtin_ctzll(rest));
      fits |= static_cast<std::uint64_t>((lanes_at_[w * 64 + bit] & s.taken) == 0) << bit;
    }
    found.set_word(w, fits);
  }
  if (found.empty()) return Stall::kEmpty;
  const auto attempt = [&](unsigned context) {
    fill(issue, context);
    return judge(s, issue, sm_->ready_beside(scheduler, issue));
  };
  const Stall stall =
      s.beside.wants_far() ? s.beside.pick(found, attempt, far_of(s)) : s.beside.pick(found, attempt);
  if (stall == Stall::kNone) ++statistics_.beside_issues;
  return stall;
}

ContextSet VariableWarps::far_of(const Scheduler& s) const {
  ContextSet far = s.far;
  return far.add(sm_->waiting_for_memory());
}

void VariableWarps::issued(IssueId id, const Issue& issue) {
  const Index g = gang_at_[issue.context];
  Gang& gang = gangs_[g];
  gang_of_[id] = g;
  set_state(g, Gang::State::kInFlight);
  gang.untouched = true;
  gang.stalled = false;
  Scheduler& s = scheduler_of(warp_of(g));
  s.eligible.remove(issue.context);
  s.taken |= lanes_at_[issue.context];
  ++s.in_flight;
  ++statistics_.issues_by_size[count_of(gang.members)];
  ++statistics_.gangs.reads;
}

void VariableWarps::memory_issued(IssueId id) {
  const Index g = gang_of_[id];
  Gang& gang = gangs_[g];
  if (gang.state != Gang::State::kInFlight || gang.in_memory) return;
  gang.in_memory = true;
  Scheduler& s = scheduler_of(warp_of(g));
  ++s.in_memory;
  s.far.add(gang.context);
}

// --- what became of it -------------------------------------------------------------------------------------

void VariableWarps::land(Index g) {
  Gang& gang = gangs_[g];
  Scheduler& s = scheduler_of(warp_of(g));
  set_state(g, Gang::State::kForming);
  --s.in_flight;
  if (!gang.in_memory) return;
  gang.in_memory = false;
  --s.in_memory;
  s.far.remove(gang.context);
}

void VariableWarps::resolved(IssueId id, Outcomes outcomes) {
  const Index g = gang_of_[id];
  const Outcome& first = outcomes.data[0];
  if (outcomes.count == 1 && first.whole && first.kind == Outcome::Kind::kGo)
    return commit_together(g, first);
  for (const auto& outcome : outcomes) deposit(g, outcome);
  const Slices done = resolved_members(g);
  if (done == gangs_[g].members) {
    land(g);
    commit(g);
  } else if (done != 0 && gangs_[g].in_memory && options_.memory == GangMemory::kImpatient) {
    ++statistics_.memory_splits;
    gangs_[g].members &= ~done;
    commit(form(warp_of(g), done, gangs_[g].at));
  }
}

// Gives each slice-warp its part of an outcome.
void VariableWarps::deposit(Index g, const Outcome& outcome) {
  Gang& gang = gangs_[g];
  const unsigned w = warp_of(g);
  if (std::exchange(gang.untouched, false)) {
    each(gang.members, [&](unsigned k) { slice(w, k).unresolved = slice(w, k).stack.top().mask.count(); });
  }
  Outcome part = outcome;
  part.whole = false;
  std::array<ThreadGroup, kMaxGroups> own;
  each(gang.members, [&](unsigned k) {
    const std::uint32_t threads = pattern_[k] << warps_[w].shift;
    std::uint32_t count = 0;
    for (const auto& group : outcome.groups) {
      if ((group.mask & threads) != 0) own[count++] = {group.mask & threads, group.chunk, 0, false};
    }
    part.groups = {own.data(), count};
    if (count != 0) slice(w, k).deposit(part);
  });
}

VariableWarps::Slices VariableWarps::resolved_members(Index g) {
  Slices done = 0;
  each(gangs_[g].members,
       [&](unsigned k) { done |= static_cast<Slices>(slice(warp_of(g), k).unresolved == 0) << k; });
  return done;
}

// The common case: all threads of the gang go on at one place.
void VariableWarps::commit_together(Index g, const Outcome& outcome) {
  Gang& gang = gangs_[g];
  const unsigned w = warp_of(g);
  land(g);
  if (program_->code[gang.at.pc].is_branch()) stack_statistics_.uniform_branches += count_of(gang.members);
  const Place next{outcome.next_pc, outcome.depth};
  gang.at = next;
  if (gang.lockstep && !(next == gang.meets)) return make_ready(g);
  bool changes = false;
  each(gang.members, [&](unsigned k) {
    SbrWarp& own = slice(w, k);
    const bool popped = own.stack.advance_together(next.pc, next.depth);
    stack_statistics_.stacks.reads += popped ? 1 : 0;
    if (own.parted || (popped && own.syncs)) choose(own);
    changes = changes || popped || own.parted || own.syncs;
  });
  if (!changes) return make_ready(g);
  regroup(g);
}

// All threads of the gang's instruction are deposited.
void VariableWarps::commit(Index g) {
  Gang& gang = gangs_[g];
  const unsigned w = warp_of(g);
  each(gang.members, [&](unsigned k) {
    SbrWarp& own = slice(w, k);
    own.stack.stand(gang.at.pc, gang.at.depth);
    const bool arrived = std::exchange(own.arrived, false);
    if (!own.settle(*program_, rules_, stack_statistics_)) {
      gang.members &= ~(Slices{1} << k);
      warps_[w].deep &= ~(Slices{1} << k);
      return;
    }
    if (arrived && own.stack.depth() > 1) ++stack_statistics_.barriers_in_divergence;
    if (choose(own) && arrived) ++stack_statistics_.path_switches;
  });
  regroup(g);
}

// The slice-warp goes on with a path that can run, or stands.
bool VariableWarps::choose(SbrWarp& slice) {
  const bool runs = slice.choose(*program_, stack_statistics_);
  slice.at_barrier = !runs && slice.barriers != 0;
  slice.at_sync = !runs && !slice.at_barrier;
  return runs;
}

// --- threads that wait -------------------------------------------------------------------------------------

std::uint32_t VariableWarps::waiting_to_exit(std::uint16_t slot) const {
  std::uint32_t threads = 0;
  for (unsigned w = 0; w < warps(); ++w) {
    if (!warps_[w].live || warps_[w].slot != slot) continue;
    each(warps_[w].deep, [&](unsigned k) {
      if (slice(w, k).barriers != 0) threads += slice(w, k).ending(*program_).count();
    });
  }
  return threads;
}

std::uint32_t VariableWarps::ending(unsigned chunk) const {
  std::uint32_t threads = 0;
  for (unsigned w = 0; w < warps(); ++w) {
    const Warp& warp = warps_[w];
    if (!warp.live || !warp.covers(chunk)) continue;
    each(warp.deep, [&](unsigned k) {
      threads |= slice(w, k).ending(*program_).words[chunk - warp.first_chunk] << warp.shift;
    });
  }
  return threads;
}

std::uint32_t VariableWarps::held_back(unsigned chunk, const std::uint32_t* standing) const {
  std::uint32_t threads = 0;
  for (unsigned w = 0; w < warps(); ++w) {
    if (!warps_[w].live || !warps_[w].covers(chunk)) continue;
    each(warps_[w].deep, [&](unsigned k) { threads |= slice(w, k).held_back(chunk, standing); });
  }
  return threads;
}

void VariableWarps::barrier_released(std::uint16_t slot, unsigned barrier) {
  for (unsigned w = 0; w < warps(); ++w) {
    if (!warps_[w].live || warps_[w].slot != slot) continue;
    Slices opened = 0;
    for (unsigned k = 0; k < slices_; ++k) {
      SbrWarp& own = slice(w, k);
      // With nobody else waiting, or gone ahead, what was on top still is.
      if (own.live && own.open_barrier(barrier) && (own.at_barrier || own.at_sync)) opened |= Slices{1} << k;
    }
    if (opened != 0) release(w, opened);
  }
}

// Threads of a primitive may have waited while other paths of their slice-warp ran. Those that were parted
// follow by the lowest PC, which may be that of threads released only now.
void VariableWarps::warp_sync_released(Groups threads) {
  for (unsigned w = 0; w < warps(); ++w) {
    if (!warps_[w].live) continue;
    Slices released = 0;
    for (unsigned k = 0; k < slices_; ++k) {
      SbrWarp& own = slice(w, k);
      if (!own.live || !own.syncs) continue;
      own.release(threads, size_);
      if (own.at_barrier || own.at_sync || own.parted) released |= Slices{1} << k;
    }
    if (released != 0) release(w, released);
  }
}

WEFT_REGISTER_SCHEME(scheme<VariableWarps, VariableWarpsOptions>(
                         "variable_warps",
                         "warps that split into the slices of the lanes, several of which issue in a cycle")
                         .that_issues_beside())

}  // namespace weft::warp_formation
