#include "warp_formation/split_scheme.h"

#include <algorithm>
#include <sstream>

namespace weft::warp_formation {
namespace {

unsigned warps_for(const Geometry& geometry, unsigned size) {
  return std::max(1u, std::min(geometry.threads / size, ContextSet::kMaxContexts));
}

}  // namespace

SplitScheme::SplitScheme(const SplitRules& rules, const CommonConfig& config, const Geometry& geometry)
    : config_(config),
      rules_(rules),
      geometry_(geometry),
      size_(static_cast<unsigned>(config.warp_size)),
      warps_(warps_for(geometry, size_), Warp(size_)),
      contexts_(std::min(warps() + rules.shared_contexts, ContextSet::kMaxContexts)),
      words_((contexts_ + 63) / 64),
      of_context_(contexts_),
      schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config, contexts_)),
      context_of_(geometry.max_issues, 0),
      table_(contexts_) {
  places_.reserve(size_);
  news_.reserve(std::size_t{2} * warps());
  SplitScheme::reset();
}

void SplitScheme::attach(const ptx::Program& program, const SmView& sm) {
  program_ = &program;
  sm_ = &sm;
  block_length_.assign(rules_.divided == 0 ? 0 : program.code.size(), 0);
  for (const ptx::BasicBlock& block : program.blocks) {
    for (ptx::Pc pc = block.first; !block_length_.empty() && pc <= block.last; ++pc)
      block_length_[pc] = block.last + 1 - pc;
  }
}

void SplitScheme::reset() {
  for (auto& warp : warps_) warp = Warp(size_);
  for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, contexts_);
  for (unsigned c = 0; c < contexts_; ++c) {
    of_context_[c] = Context();
    table_.set(c, ptx::kNoPc);
    if (c >= warps()) schedulers_[c % schedulers_.size()].free.add(c);
  }
  changed_.clear();
  news_.clear();
  due_ = kNoEvent;
  live_ = divided_ = 0;
  statistics_ = {};
}

void SplitScheme::archive(Archive& archive) {
  archive(at_rest(live_), at_rest(divided_), at_rest(news_), set_anew(changed_), table_);
  archive_each(archive, schedulers_);
}

bool SplitScheme::can_launch(const Block& block) const {
  return warps() - live_ >= warps_of(block);
}

void SplitScheme::launch(const Block& block) {
  const unsigned count = warps_of(block);
  unsigned w = 0;
  for (unsigned number = 0; number < count; ++number, ++w) {
    while (warps_[w].live) ++w;
    start(w, block, number);
  }
}

void SplitScheme::start(unsigned w, const Block& block, unsigned number) {
  Warp& warp = warps_[w];
  warp.live = true;
  warp.parted = warp.at_barrier = warp.at_sync = false;
  warp.wanting = warp.divided = 0;
  warp.splits.start(warp.take_place(block, number, size_, geometry_.lanes));
  ++live_;
  scheduler_of(w).policy.arrived(w);
  settle(w);
}

void SplitScheme::end(unsigned w) {
  warps_[w].live = false;
  --live_;
  scheduler_of(w).policy.left(w);
}

// --- an instruction's way ----------------------------------------------------------------------------------

void SplitScheme::fill(Issue& issue, unsigned context) const {
  const Context& c = of_context_[context];
  const Warp& warp = warps_[c.warp];
  const WarpSplits::Split& split = warp.splits[c.split];
  issue.pc = split.pc;
  issue.depth = split.depth;
  issue.context = static_cast<std::uint16_t>(context);
  issue.slot = warp.slot;
  issue.rows = warp.rows;
  issue.groups = {c.groups.data(), c.group_count};
}

Stall SplitScheme::pick(unsigned scheduler, Issue& issue) {
  Scheduler& s = schedulers_[scheduler];
  ContextSet candidates = without_waiting(s.eligible, *sm_, words_);
  for (unsigned w = 0; w < words_; ++w)
    candidates.set_word(w, candidates.word(w) | (s.eligible.word(w) & changed_.word(w)));
  if (rules_.memory == MemorySplits::kAggressive && divide_waiting(s, scheduler, issue)) return Stall::kNone;
  const auto attempt = [&](unsigned context) {
    fill(issue, context);
    return ask(scheduler, issue);
  };
  const Stall stall = candidates.empty()     ? Stall::kEmpty
                      : s.policy.wants_far() ? s.policy.pick(candidates, attempt, far_of(s))
                                             : s.policy.pick(candidates, attempt);
  if (stall == Stall::kNone) return stall;
  if (rules_.memory != MemorySplits::kNone && divide_waiting(s, scheduler, issue)) return Stall::kNone;
  return s.worse_of(worse_of_waiting(s.eligible, *sm_, stall, words_), geometry_.barrel);
}

// What the SM knows of a context may be about other threads: until it has said that these wait, or knows of
// nobody there who does, it is asked.
Stall SplitScheme::ask(unsigned scheduler, const Issue& issue) {
  const Stall stall = sm_->ready(scheduler, issue);
  const bool waits = stall == Stall::kMemory || stall == Stall::kDependence;
  if (waits ||
      !(sm_->waiting_for_memory().has(issue.context) || sm_->waiting_for_arithmetic().has(issue.context)))
    changed_.remove(issue.context);
  return stall;
}

ContextSet SplitScheme::far_of(const Scheduler& s) const {
  ContextSet far = s.far;
  return far.add(sm_->waiting_for_memory());
}

void SplitScheme::issued(IssueId id, const Issue& issue) {
  context_of_[id] = issue.context;
  const Context& c = of_context_[issue.context];
  warps_[c.warp].splits.issue(c.split);
  of_context_[issue.context].judged = false;
  Scheduler& s = scheduler_of(c.warp);
  s.eligible.remove(issue.context);
  ++s.in_flight;
}

void SplitScheme::memory_issued(IssueId id) {
  Context& c = of_context_[context_of_[id]];
  if (c.split == kNone || !warps_[c.warp].splits[c.split].is(WarpSplits::State::kInFlight) || c.in_memory)
    return;
  c.in_memory = true;
  ++scheduler_of(c.warp).in_memory;
  scheduler_of(c.warp).far.add(context_of_[id]);
}

void SplitScheme::land(unsigned context) {
  Context& c = of_context_[context];
  Scheduler& s = scheduler_of(c.warp);
  --s.in_flight;
  if (!c.in_memory) return;
  c.in_memory = false;
  --s.in_memory;
  s.far.remove(context);
}

void SplitScheme::resolved(IssueId id, Outcomes outcomes) {
  const unsigned context = context_of_[id];
  const Context& c = of_context_[context];
  Warp& warp = warps_[c.warp];
  const Index split = c.split;
  const Outcome& first = outcomes.data[0];
  const bool whole = outcomes.count == 1 && first.whole && first.kind == Outcome::Kind::kGo;
  if (whole && warp.splits.passes(split, first.next_pc, first.depth)) {
    if (program_->code[warp.splits[split].pc].is_branch()) ++statistics_.uniform_branches;
    land(context);
    warp.splits.move(split, first.next_pc, first.depth);
    if (warp.splits.count() == 1 || !(rules_.merges || is_wanted(context))) {
      table_.set(context, first.next_pc);
      scheduler_of(c.warp).eligible.add(context);
      return;
    }
    return settle_after(c.warp, split);
  }
  for (const auto& outcome : outcomes) {
    WarpMask mask;
    for (const auto& group : outcome.groups) warp.add_to(mask, group);
    warp.splits.deposit(split, outcome, mask);
  }
  if (warp.splits.resolved(split)) {
    commit(context);
  } else {
    run_ahead(context);
  }
}

// All threads of the instruction know where they go on.
void SplitScheme::commit(unsigned context) {
  const Context c = of_context_[context];
  Warp& warp = warps_[c.warp];
  const ptx::Instruction& in = program_->code[warp.splits[c.split].pc];
  land(context);
  const unsigned count = warp.splits.places(c.split, places_);
  WarpSplits::Parting parts;
  if (count > 1) {
    order_paths(places_, warp.splits[c.split].pc, rules_.order);
    parts = parting(warp, c.split, count);
  }
  if (in.is_branch() && count != 0)
    ++(count > 1 ? statistics_.divergent_branches : statistics_.uniform_branches);
  warp.splits.land(c.split, parts, places_);
  if (count > 1) statistics_.splits.writes += count - 1;
  if (in.is_barrier() && count != 0 && (warp.splits.count() > 1 || !warp.splits.arrived().empty()))
    ++statistics_.barriers_in_divergence;
  settle(c.warp);
  if (in.is_barrier() && count != 0 && warp.live && !warp.at_barrier) ++statistics_.path_switches;
}

// How the paths of a branch run. A return has no reconvergence point of its own: threads that go back to
// different callers meet where their split does.
WarpSplits::Parting SplitScheme::parting(const Warp& warp, Index split, unsigned places) {
  const WarpSplits::Split& s = warp.splits[split];
  const ptx::Instruction& in = program_->code[s.pc];
  WarpSplits::Parting parting;
  if (in.op != ptx::Opcode::kReturn) parting.meet = reconvergence_point(in, config_.reconvergence);
  parting.depth = s.depth;
  parting.at_a_time = rules_.at_a_time;
  if (rules_.divided == 0 || parting.meet == ptx::kNoPc || block_length_[parting.meet] > rules_.short_block)
    return parting;
  parting.apart = has_room(warp, places);
  ++(parting.apart ? statistics_.branch_divisions : statistics_.full);
  return parting;
}

// --- what a warp does next ---------------------------------------------------------------------------------

// Something has happened to threads of the warp: which of its splits run, and in which contexts.
void SplitScheme::settle(unsigned w) {
  Warp& warp = warps_[w];
  WarpSplits& splits = warp.splits;
  for (const Index context : splits.dropped()) take_away(context);
  splits.dropped().clear();
  const WarpSplits::Traffic traffic = splits.take_traffic();
  statistics_.points.writes += traffic.made + traffic.arrivals;
  statistics_.points.reads += traffic.met;
  if (splits.count() == 0) {
    count_divided(w);
    end(w);
    return serve_others(scheduler_of(w));
  }
  if (rules_.merges && splits.count() > 1) meet(warp);
  bool runs = splits.choose();
  while (!runs && holds_others(warp)) {
    const Index point = splits.innermost_waiting();
    if (point == kNone) break;
    ++statistics_.lone_departures;
    warp.parted = true;
    splits.depart(point);
    runs = splits.choose();
  }
  if (splits.count() == 1 && splits.points() == 0) warp.parted = false;
  statistics_.most_splits = std::max<std::uint64_t>(statistics_.most_splits, splits.count());
  statistics_.most_points = std::max<std::uint64_t>(statistics_.most_points, splits.points());
  stand(w, runs);
  hand_out(w);
  count_divided(w);
  if (rules_.timeout != 0 && splits.points() != 0) note_news(w);
  serve_others(scheduler_of(w));
}

// Ready splits of a divided warp that are at one place become one.
void SplitScheme::meet(Warp& warp) {
  WarpSplits& splits = warp.splits;
  ++statistics_.splits.searches;
  for (Index i = 0; i < splits.end(); ++i) {
    if (!splits[i].is(WarpSplits::State::kReady) || still_stalled(splits[i])) continue;
    const Index mate = splits.mate(i);
    if (mate == kNone || still_stalled(splits[mate])) continue;
    const bool stays = splits[i].context != kNone;
    splits.join(stays ? mate : i, stays ? i : mate);
    ++statistics_.merges;
  }
  for (const Index context : splits.dropped()) take_away(context);
  splits.dropped().clear();
}

bool SplitScheme::still_stalled(const WarpSplits::Split& split) const {
  return split.stalled && (split.context == kNone || changed_.has(split.context) ||
                           sm_->waiting_for_memory().has(split.context));
}

// Some wait at block barriers, and nobody can run: whether others wait for nothing but these. Those that
// stand at their exit do not: a barrier counts them as gone. Once threads have gone on without others they
// must run it, since nothing else may happen that lets a barrier count them.
bool SplitScheme::holds_others(const Warp& warp) const {
  if (!warp.splits.any(WarpSplits::State::kAtBarrier)) return false;
  WarpMask others = warp.splits.arrived();
  if (others.empty()) return false;
  return warp.parted || !others.remove(warp.splits.ending(*program_)).empty();
}

void SplitScheme::stand(unsigned w, bool runs) {
  Warp& warp = warps_[w];
  Scheduler& s = scheduler_of(w);
  const bool at_barrier = !runs && warp.splits.any(WarpSplits::State::kAtBarrier);
  const bool at_sync = !runs && !at_barrier && warp.splits.any(WarpSplits::State::kAtSync);
  s.at_barrier += static_cast<unsigned>(at_barrier) - static_cast<unsigned>(warp.at_barrier);
  s.at_sync += static_cast<unsigned>(at_sync) - static_cast<unsigned>(warp.at_sync);
  warp.at_barrier = at_barrier;
  warp.at_sync = at_sync;
}

// --- contexts ----------------------------------------------------------------------------------------------

// Whether another split has waited for the context longer than the one that has it.
bool SplitScheme::is_wanted(unsigned context) const {
  const unsigned w = of_context_[context].warp;
  return context == w ? warps_[w].wanting != 0 : schedulers_[w % schedulers_.size()].wanting != 0;
}

// The split is ready again after an instruction.
void SplitScheme::settle_after(unsigned w, Index split) {
  WarpSplits::Split& s = warps_[w].splits[split];
  if (is_wanted(s.context)) {
    take_away(s.context);
    s.context = kNone;
  } else {
    table_.set(s.context, s.pc);
    scheduler_of(w).eligible.add(s.context);
  }
  settle(w);
}

// Splits of the warp that may run get contexts, those that have waited longest first.
void SplitScheme::hand_out(unsigned w) {
  Warp& warp = warps_[w];
  WarpSplits& splits = warp.splits;
  Scheduler& s = scheduler_of(w);
  unsigned wanting = 0;
  for (Index i = 0; i < splits.end(); ++i) {
    WarpSplits::Split& split = splits[i];
    const bool runs = split.is(WarpSplits::State::kReady) && split.runs;
    if (split.is(WarpSplits::State::kReady) && !runs && split.context != kNone) {
      take_away(split.context);
      split.context = kNone;
    }
    if (!runs || split.context != kNone) split.wants = 0;
    if (!runs) continue;
    if (split.context == kNone) {
      if (split.wants == 0) split.wants = ++last_want_;
      ++wanting;
    } else if (split.changed) {
      show(split.context);
    }
  }
  if (wanting != 0 && keeps_for_waiting(w)) {
    splits[of_context_[w].split].context = kNone;
    take_away(w);
  }
  for (; wanting != 0; --wanting) {
    unsigned context = w;
    if (of_context_[w].split != kNone) context = s.free.next(0);
    if (context == ContextSet::kMaxContexts) break;
    Index first = kNone;
    for (Index i = 0; i < splits.end(); ++i) {
      if (!splits[i].is(WarpSplits::State::kFree) && splits[i].wants != 0 &&
          (first == kNone || splits[i].wants < splits[first].wants))
        first = i;
    }
    give(context, w, first);
  }
  if (of_context_[w].split == kNone) keep_for_waiting(w);
  if (wanting > warp.wanting) statistics_.context_waits += wanting - warp.wanting;
  s.wanting += static_cast<unsigned>(wanting != 0) - static_cast<unsigned>(warp.wanting != 0);
  warp.wanting = static_cast<std::uint16_t>(wanting);
}

// Threads that wait at a barrier keep the warp's own context, and the instructions in its buffer, as long as
// no other split of the warp wants it.
bool SplitScheme::keeps_for_waiting(unsigned w) const {
  const Index split = of_context_[w].split;
  return split != kNone && warps_[w].splits[split].waits();
}

void SplitScheme::keep_for_waiting(unsigned w) {
  WarpSplits& splits = warps_[w].splits;
  for (Index i = 0; i < splits.end(); ++i) {
    if (!splits[i].waits() || splits[i].source != kNone) continue;
    splits[i].context = static_cast<Index>(w);
    of_context_[w].warp = static_cast<Index>(w);
    of_context_[w].split = i;
    table_.set(w, splits[i].pc);
    return;
  }
}

// Shared contexts are free that splits of other warps want.
void SplitScheme::serve_others(Scheduler& s) {
  while (s.wanting != 0 && !s.free.empty()) {
    do {
      if (++s.next_wanting >= warps()) s.next_wanting = 0;
    } while (&scheduler_of(s.next_wanting) != &s || warps_[s.next_wanting].wanting == 0);
    hand_out(s.next_wanting);
  }
}

void SplitScheme::give(unsigned context, unsigned w, Index split) {
  WarpSplits::Split& s = warps_[w].splits[split];
  s.context = static_cast<Index>(context);
  s.wants = 0;
  Context& c = of_context_[context];
  c.warp = static_cast<Index>(w);
  c.split = split;
  c.judged = false;
  if (context != w) {
    scheduler_of(w).free.remove(context);
    scheduler_of(w).policy.arrived(context);
  }
  ++statistics_.splits.reads;
  show(context);
}

void SplitScheme::take_away(unsigned context) {
  Context& c = of_context_[context];
  Scheduler& s = schedulers_[context >= warps() ? context % schedulers_.size() : c.warp % schedulers_.size()];
  s.eligible.remove(context);
  changed_.remove(context);
  table_.set(context, ptx::kNoPc);
  if (context != c.warp) {
    s.policy.left(context);
    s.free.add(context);
  }
  c.split = kNone;
}

// Rebuilds what `pick` hands out.
void SplitScheme::show(unsigned context) {
  Context& c = of_context_[context];
  Warp& warp = warps_[c.warp];
  WarpSplits::Split& split = warp.splits[c.split];
  split.changed = false;
  c.group_count = warp.groups_of(split.mask, size_, geometry_.lanes, c.groups);
  table_.set(context, split.pc);
  changed_.add(context);
  scheduler_of(c.warp).eligible.add(context);
}

// --- divided warps -----------------------------------------------------------------------------------------

// Whether one of the warp's splits may become so many that run at a time. A warp with a single one has no
// entry.
bool SplitScheme::has_room(const Warp& warp, unsigned parts) const {
  return divided_ + parts - (warp.divided != 0 ? 1 : 0) <= rules_.divided;
}

void SplitScheme::count_divided(unsigned w) {
  if (rules_.divided == 0) return;
  Warp& warp = warps_[w];
  unsigned running = 0;
  for (Index i = 0; warp.splits.count() > 1 && i < warp.splits.end(); ++i) {
    const WarpSplits::Split& split = warp.splits[i];
    if (split.waits() || (split.can_run() && split.runs)) ++running;
  }
  const unsigned divided = running > 1 ? running : 0;
  divided_ += divided - warp.divided;
  warp.divided = static_cast<std::uint16_t>(divided);
  statistics_.most_divided = std::max<std::uint64_t>(statistics_.most_divided, divided_);
}

// Barrel: some threads of a load have their data.
void SplitScheme::run_ahead(unsigned context) {
  Context& c = of_context_[context];
  if (!c.in_memory || rules_.memory == MemorySplits::kNone || rules_.memory == MemorySplits::kRevive) return;
  const bool first = !std::exchange(c.judged, true);
  if (rules_.memory == MemorySplits::kLazy && (!first || !scheduler_of(c.warp).eligible.empty())) return;
  detach(context);
}

// Those threads go on as a split of their own.
void SplitScheme::detach(unsigned context) {
  const Context& c = of_context_[context];
  WarpSplits& splits = warps_[c.warp].splits;
  if (!splits.has_landed(c.split)) return;
  if (!has_room(warps_[c.warp], 2)) return;
  const ptx::Pc next = splits[c.split].pc + 1;
  const ptx::Pc limit = limit_from(next);
  if (limit == next) return;
  ++statistics_.memory_divisions;
  const Index ahead = splits.detach(c.split);
  if (limit != ptx::kNoPc && ahead != kNone) splits.meet_at(c.split, ahead, limit);
  settle(c.warp);
}

// Where threads that run ahead from here wait for the others: before the branch that ends the block, or at
// its end. kNoPc: nowhere in particular.
ptx::Pc SplitScheme::limit_from(ptx::Pc pc) const {
  if (rules_.run_ahead == RunAhead::kBeyondBranches) return ptx::kNoPc;
  const ptx::Pc last = pc + block_length_[pc] - 1;
  return program_->code[last].is_control() ? last : last + 1;
}

// Nothing can be issued, or threads always run ahead: those do whose data have come. True: `issue` is theirs.
bool SplitScheme::divide_waiting(Scheduler& s, unsigned scheduler, Issue& issue) {
  if (geometry_.barrel) {
    if (rules_.memory != MemorySplits::kRevive) return false;
    for (unsigned c = s.far.next(0); c < contexts_; c = s.far.next(c + 1)) detach(c);
    return false;
  }
  ContextSet waiting;
  for (unsigned w = 0; w < words_; ++w)
    waiting.set_word(w, s.eligible.word(w) & sm_->waiting_for_memory().word(w));
  for (unsigned c = waiting.next(0); c < contexts_; c = waiting.next(c + 1)) {
    const bool first = !std::exchange(of_context_[c].judged, true);
    if (!first && rules_.memory == MemorySplits::kLazy) continue;
    if (!has_room(warps_[of_context_[c].warp], 2)) {
      statistics_.full += first ? 1 : 0;
      continue;
    }
    if (divide_by_operands(c, scheduler, issue)) return true;
  }
  return false;
}

// The context keeps the threads whose operands are there. True: they can be issued.
bool SplitScheme::divide_by_operands(unsigned context, unsigned scheduler, Issue& issue) {
  const Context& c = of_context_[context];
  Warp& warp = warps_[c.warp];
  fill(issue, context);
  WarpMask waiting;
  for (const auto& group : issue.groups)
    warp.add_to(waiting, {sm_->waiting_threads(issue, group), group.chunk, 0, false});
  WarpMask rest = warp.splits[c.split].mask;
  if (waiting.empty() || rest.remove(waiting).empty()) return false;
  const ptx::Pc limit = limit_from(issue.pc);
  if (limit == issue.pc) return false;
  ++statistics_.memory_divisions;
  ++statistics_.splits.writes;
  const Index part = warp.splits.divide(c.split, waiting);
  if (limit != ptx::kNoPc) warp.splits.meet_at(c.split, part, limit);
  warp.splits[part].stalled = true;
  settle(c.warp);
  if (c.split == kNone) return false;  // its threads have met others
  fill(issue, context);
  return ask(scheduler, issue) == Stall::kNone;
}

// --- threads that wait -------------------------------------------------------------------------------------

std::uint32_t SplitScheme::waiting_to_exit(std::uint16_t slot) const {
  std::uint32_t threads = 0;
  for (const auto& warp : warps_) {
    if (warp.live && warp.slot == slot && warp.splits.points() != 0 &&
        warp.splits.any(WarpSplits::State::kAtBarrier))
      threads += warp.splits.ending(*program_).count();
  }
  return threads;
}

std::uint32_t SplitScheme::ending(unsigned chunk) const {
  std::uint32_t threads = 0;
  for (const auto& warp : warps_) {
    if (warp.live && warp.covers(chunk) && warp.splits.points() != 0)
      threads |= warp.splits.ending(*program_).words[chunk - warp.first_chunk] << warp.shift;
  }
  return threads;
}

std::uint32_t SplitScheme::held_back(unsigned chunk, const std::uint32_t* standing) const {
  std::uint32_t threads = 0;
  for (const auto& warp : warps_) {
    if (!warp.live || !warp.covers(chunk) || warp.splits.points() == 0) continue;
    WarpMask own;
    for (unsigned w = 0; w < warp.chunks; ++w) own.words[w] = standing[warp.first_chunk + w] >> warp.shift;
    threads |= warp.splits.held_by(own).words[chunk - warp.first_chunk] << warp.shift;
  }
  return threads;
}

void SplitScheme::barrier_released(std::uint16_t slot, unsigned barrier) {
  for (unsigned w = 0; w < warps(); ++w) {
    Warp& warp = warps_[w];
    if (warp.live && warp.slot == slot && warp.splits.open_barrier(barrier)) settle(w);
  }
}

void SplitScheme::warp_sync_released(Groups threads) {
  for (unsigned w = 0; w < warps(); ++w) {
    Warp& warp = warps_[w];
    if (!warp.live || !warp.splits.any(WarpSplits::State::kAtSync)) continue;
    if (warp.splits.release_syncs(warp.own_of(threads, size_))) settle(w);
  }
}

// --- time --------------------------------------------------------------------------------------------------

void SplitScheme::note_news(unsigned w) {
  const auto& splits = warps_[w].splits;
  for (Index p = 1; p < splits.points_end(); ++p) {
    if (!splits.point(p).live || !splits.point(p).news) continue;
    if (std::find(news_.begin(), news_.end(), w) == news_.end()) news_.push_back(static_cast<Index>(w));
    return;
  }
}

void SplitScheme::advance(Cycle now) {
  if (rules_.timeout == 0) return;
  for (const Index w : news_) {
    WarpSplits& splits = warps_[w].splits;
    for (Index p = 1; p < splits.points_end(); ++p) {
      if (splits.point(p).live && std::exchange(splits.point(p).news, false)) splits.point(p).since = now;
    }
    due_ = std::min(due_, now + rules_.timeout);
  }
  news_.clear();
  if (now >= due_) leave_points(now);
}

// Threads that have waited too long go on without the others.
void SplitScheme::leave_points(Cycle now) {
  due_ = kNoEvent;
  for (unsigned w = 0; w < warps(); ++w) {
    Warp& warp = warps_[w];
    if (!warp.live || warp.splits.points() == 0) continue;
    bool left = false;
    for (Index p = 1; p < warp.splits.points_end(); ++p) {
      const WarpSplits::Point& point = warp.splits.point(p);
      if (!point.live || point.arrived.empty() || point.news) continue;
      if (point.since + rules_.timeout > now) {
        due_ = std::min(due_, point.since + rules_.timeout);
        continue;
      }
      ++statistics_.timeouts;
      warp.splits.depart(p);
      left = true;
    }
    if (left) settle(w);
  }
}

Cycle SplitScheme::next_event(Cycle now) const {
  if (!news_.empty()) return now + 1;
  return due_ == kNoEvent ? kNoEvent : std::max(due_, now + 1);
}

// --- reports -----------------------------------------------------------------------------------------------

Census SplitScheme::census() const {
  Census census;
  for (const auto& warp : warps_) {
    if (warp.live) warp.splits.count(census);
  }
  return census;
}

WarpFormation::Next SplitScheme::next(unsigned context, Issue& issue) const {
  const Context& c = of_context_[context];
  if (c.split == kNone || !warps_[c.warp].live) return Next::kNone;
  fill(issue, context);
  return schedulers_[c.warp % schedulers_.size()].eligible.has(context) ? Next::kOffered : Next::kHeld;
}

unsigned SplitScheme::ready_warps() const {
  unsigned n = 0;
  for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
  return n;
}

std::string SplitScheme::dump() const {
  std::ostringstream out;
  for (unsigned w = 0; w < warps(); ++w) {
    const Warp& warp = warps_[w];
    if (!warp.live) continue;
    out << "warp " << w << " (block slot " << warp.slot << ", threads " << warp.number * size_ << " to "
        << warp.number * size_ + size_ - 1 << "):"
        << (warp.at_barrier ? " waits at a block barrier"
            : warp.at_sync  ? " waits for other threads of its warp"
                            : " can run")
        << "\n";
    warp.splits.describe(out, size_, *program_);
  }
  return out.str();
}

void SplitScheme::bind(statistics::Group& group) {
  Statistics& s = statistics_;
  group.counter("divergent_branches", units::kBranches, "branches after which threads of a warp diverge",
                s.divergent_branches);
  group.counter("uniform_branches", units::kBranches, "branches after which a warp stays together",
                s.uniform_branches);
  group.counter("bar_in_divergence", statistics::Unit("barriers"),
                "arrivals at a block barrier of a warp whose threads have diverged (undefined in CUDA)",
                s.barriers_in_divergence);
  group.counter("path_switches", statistics::Unit("switches"),
                "times that other threads of a warp ran because some came to a block barrier",
                s.path_switches);
  group.counter(
      "lone_departures", statistics::Unit("departures"),
      "times that threads left a reconvergence point without others, which waited at block barriers",
      s.lone_departures);
  group.counter("context_waits", units::kEntries, "splits that could run and found no context free",
                s.context_waits);
  group.maximum("most_splits", units::kEntries, "most splits of a warp", s.most_splits);
  group.maximum("most_points", units::kEntries,
                "most reconvergence points at which a warp had threads to meet", s.most_points);
  group.gauge(
      "parted_warps", units::kWarps, "warps whose threads are in more than one split or at points", [this] {
        return count_warps([](const Warp& w) { return w.splits.points() + w.splits.count() > 1 ? 1u : 0u; });
      });
  group.gauge("splits", units::kEntries, "splits of all warps",
              [this] { return count_warps([](const Warp& w) { return w.splits.count(); }); });
  bind_tables(group);
}

}  // namespace weft::warp_formation
