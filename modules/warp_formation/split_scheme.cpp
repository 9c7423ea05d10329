#include "warp_formation/split_scheme.h"

#include <algorithm>
#include <utility>

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
  kept_.reserve(rules.frontier);
  SplitScheme::reset();
}

void SplitScheme::attach(const ptx::Program& program, const SmView& sm) {
  program_ = &program;
  sm_ = &sm;
  if (rules_.frontier != 0) rank(program);
  if (rules_.divided == 0) return;
  block_length_.assign(program.code.size(), 0);
  for (const ptx::BasicBlock& block : program.blocks) {
    for (ptx::Pc pc = block.first; pc <= block.last; ++pc) block_length_[pc] = block.last + 1 - pc;
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
  asks_again_ = false;
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
  const std::uint64_t divisions = statistics_.memory_divisions;
  if (rules_.memory == MemorySplits::kAggressive && divide_waiting(s, scheduler, issue)) return Stall::kNone;
  const auto attempt = [&](unsigned context) {
    fill(issue, context);
    return judged(issue, sm_->ready(scheduler, issue));
  };
  const Stall stall = candidates.empty()     ? Stall::kEmpty
                      : s.policy.wants_far() ? s.policy.pick(candidates, attempt, far_of(s))
                                             : s.policy.pick(candidates, attempt);
  if (stall == Stall::kNone) return stall;
  if (rules_.memory != MemorySplits::kNone && divide_waiting(s, scheduler, issue)) return Stall::kNone;
  asks_again_ = asks_again_ || statistics_.memory_divisions != divisions || may_divide_later(s);
  return s.worse_of(worse_of_waiting(s.eligible, *sm_, stall, words_), geometry_.barrel);
}

// What the SM knows of a context may be about other threads: until it has said that these wait, or knows of
// nobody there who does, it is asked.
Stall SplitScheme::judged(const Issue& issue, Stall stall) {
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
  begun_ = c.warp;
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
  if (rules_.frontier != 0) return parting;
  if (in.op != ptx::Opcode::kReturn) parting.meet = reconvergence_point(in, config_.reconvergence);
  parting.depth = s.depth;
  parting.at_a_time = rules_.at_a_time;
  if (rules_.divided == 0 || parting.meet == ptx::kNoPc || block_length_[parting.meet] > rules_.short_block)
    return parting;
  const bool divides = has_room(warp, places);
  ++(divides ? statistics_.branch_divisions : statistics_.full);
  return divides ? WarpSplits::Parting() : parting;
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
  if (rules_.frontier != 0 && splits.count() > 1) keep_first(warp);
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
  asks_again_ = false;
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
  if (asks_again_ || !news_.empty()) return now + 1;
  return due_ == kNoEvent ? kNoEvent : std::max(due_, now + 1);
}

}  // namespace weft::warp_formation
