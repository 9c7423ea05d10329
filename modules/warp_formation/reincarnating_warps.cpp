#include "warp_formation/reincarnating_warps.h"

#include <algorithm>

#include "weft/common/popcount.h"
#include "weft/warp_formation/likely_convergence.h"

namespace weft::warp_formation {
namespace {

unsigned rows_of(std::uint32_t threads, unsigned width) {
  return (threads + width - 1) / width;
}

}  // namespace

ReincarnatingWarps::ReincarnatingWarps(const ReincarnationTables& config, bool likely, Reconvergence rule,
                                       const Geometry& geometry)
    : config_(config),
      likely_(likely),
      rule_(rule),
      geometry_(geometry),
      lanes_(geometry.lanes, geometry.home),
      // A warp has at least one thread, and those of a row that its block does not fill are never used.
      warps_(std::size_t{rows_of(geometry.threads, geometry.lanes)} * geometry.lanes),
      first_(geometry.schedulers),
      ready_lookup_(config.ready_lookup, config.lookup_depart),
      waiting_lookup_(config.waiting_lookup, config.lookup_depart),
      barriers_(config, geometry.lanes, likely),
      table_(static_cast<unsigned>(std::min<std::size_t>(warps_.size(), ContextSet::kMaxContexts))),
      warp_of_context_(table_.size(), kNone),
      warp_of_issue_(geometry.max_issues, kNone),
      capacity_(rows_of(geometry.threads, geometry.lanes)),
      search_after_commit_(config.barrier_latency -
                           (config.barrier_search == CommitStep::kWriteBack ? 1 : 0)),
      search_before_revival_(config.barrier_latency - 1) {
  free_warps_.reserve(warps_.size());
  free_contexts_.reserve(table_.size());
  paths_.reserve(kMaxLanes);
  for (auto& pool : first_) pool.reserve(config.first_level);
  landings_.resize(std::size_t{geometry.chunks} * kChunk);
  barriers_.hold_rows(landings_.size() / lanes_.width());
  ReincarnatingWarps::reset();
}

void ReincarnatingWarps::attach(const ptx::Program& program, const SmView& sm) {
  program_ = &program;
  sm_ = &sm;
  barriers_.attach(program.code.size(), [this](ptx::Pc pc) { return ends(pc); });
  if (!likely_) return;
  points_ = likely_convergence_points(program, rule_);
  ways_ = WaysToPoints(program, points_, rule_);
}

bool ReincarnatingWarps::can_launch(const Block& block) const {
  return rows_ + rows_of(block.threads, lanes_.width()) <= capacity_;
}

void ReincarnatingWarps::launch(const Block& block) {
  const std::size_t end =
      std::size_t{block.first_chunk} * kChunk + (block.threads + kChunk - 1) / kChunk * kChunk;
  if (landings_.size() < end) landings_.resize(end);
  barriers_.hold_rows(landings_.size() / lanes_.width());
  const unsigned rows = rows_of(block.threads, lanes_.width());
  const unsigned first = block.first_chunk * kChunk / lanes_.width();
  rows_ += rows;
  progress_ = 0;
  for (unsigned r = 0; r < rows; ++r) {
    LaneSet threads;
    const unsigned count = std::min(lanes_.width(), block.threads - r * lanes_.width());
    threads.mask = lanes_.first(first + r, count);
    threads.row.fill(static_cast<std::uint16_t>(first + r));
    to_second_level(create(0, 0, block.slot, threads, threads.mask));
  }
}

void ReincarnatingWarps::retire(const Block& block) {
  rows_ -= rows_of(block.threads, lanes_.width());
}

void ReincarnatingWarps::reset() {
  std::fill(warps_.begin(), warps_.end(), Warp());
  free_warps_.clear();
  for (std::size_t w = warps_.size(); w-- > 0;) free_warps_.push_back(static_cast<Index>(w));
  threads_in_ = {};
  warps_in_ = {};
  ready_ = committed_ = returning_ = reviving_ = revived_ = parked_ = stalled_ = {};
  for (auto& pool : first_) pool.clear();
  ready_lookup_.reset();
  waiting_lookup_.reset();
  barriers_.reset();
  free_contexts_.clear();
  for (unsigned c = table_.size(); c-- > 0;) {
    table_.set(c, ptx::kNoPc);
    warp_of_context_[c] = kNone;
    free_contexts_.push_back(static_cast<Index>(c));
  }
  changed_.clear();
  at_issue_ = memory_wait_is_news_ = false;
  immediate_ = kNoIssue;
  rows_ = 0;
  progress_ = 0;
  now_ = further_ = ports_taken_ = 0;
  lookup_committed_ = false;
  counters_ = {};
}

// When no thread is left: which places the next warps get.
void ReincarnatingWarps::archive(Archive& archive) {
  archive(at_rest(rows_), at_rest(ready_), at_rest(committed_), at_rest(returning_), at_rest(reviving_),
          at_rest(revived_), at_rest(parked_), at_rest(stalled_), ready_lookup_, waiting_lookup_, barriers_,
          free_warps_, free_contexts_, table_, changed_, now_, at_rest(further_), ports_taken_,
          at_rest(lookup_committed_), immediate_, at_issue_);
  for (auto& pool : first_) archive(at_rest(pool));
}

// --- warps -------------------------------------------------------------------------------------------------

// A warp of the threads of `threads` in `lanes`; it is in no table yet.
ReincarnatingWarps::Index ReincarnatingWarps::create(ptx::Pc pc, std::uint16_t depth, std::uint16_t slot,
                                                     const LaneSet& threads, std::uint32_t lanes) {
  const Index w = free_warps_.back();
  free_warps_.pop_back();
  Warp& warp = warps_[w];
  warp.pc = pc;
  warp.depth = depth;
  warp.slot = slot;
  warp.groups_known = warp.merged = warp.landed = warp.scattered = false;
  warp.pending = 0;
  warp.progress = progress_;
  warp.threads.mask = 0;
  warp.threads.take(threads, lanes);
  return w;
}

void ReincarnatingWarps::release(Index w) {
  take_context(w);
  enter(w, State::kFree);
  free_warps_.push_back(w);
}

void ReincarnatingWarps::enter(Index w, State state) {
  Warp& warp = warps_[w];
  const auto threads = warp.threads.count();
  const auto count = [&](State s, std::uint32_t warps, std::uint32_t sign) {
    if (s == State::kFree) return;
    threads_in_[static_cast<std::size_t>(s)] += threads * sign;
    warps_in_[static_cast<std::size_t>(s)] += warps * sign;
  };
  count(warp.state, 1, UINT32_MAX);  // minus one
  warp.state = state;
  count(state, 1, 1);
  if (state == State::kReady || state == State::kReturning || state == State::kBarrier ||
      state == State::kSync) {
    const std::uint64_t held =
        warps_.size() - free_warps_.size() - ready_lookup_.size() - waiting_lookup_.size();
    if (held > counters_.second_level_peak) counters_.second_level_peak = held;
    if (held > config_.second_level && state == State::kReady) ++counters_.spills;
  }
}

// Threads leave the warp.
void ReincarnatingWarps::lose(Index w, std::uint32_t lanes) {
  Warp& warp = warps_[w];
  if (warp.state != State::kFree) {
    threads_in_[static_cast<std::size_t>(warp.state)] -= count_of(lanes);
  }
  warp.threads.mask &= ~lanes;
  warp.groups_known = false;
}

void ReincarnatingWarps::push(List& list, Index w) {
  warps_[w].next = kNone;
  warps_[w].previous = list.tail;
  (list.tail == kNone ? list.head : warps_[list.tail].next) = w;
  list.tail = w;
  ++list.size;
}

void ReincarnatingWarps::drop(List& list, Index w) {
  const Warp& warp = warps_[w];
  (warp.previous == kNone ? list.head : warps_[warp.previous].next) = warp.next;
  (warp.next == kNone ? list.tail : warps_[warp.next].previous) = warp.previous;
  --list.size;
}

void ReincarnatingWarps::give_context(Index w) {
  Warp& warp = warps_[w];
  if (warp.context == kNone) {
    if (free_contexts_.empty()) return;
    warp.context = free_contexts_.back();
    free_contexts_.pop_back();
    warp_of_context_[warp.context] = w;
  }
  table_.set(warp.context, warp.pc);
  changed_.add(warp.context);
}

void ReincarnatingWarps::take_context(Index w) {
  Warp& warp = warps_[w];
  if (warp.context == kNone) return;
  table_.set(warp.context, ptx::kNoPc);
  warp_of_context_[warp.context] = kNone;
  free_contexts_.push_back(warp.context);
  warp.context = kNone;
}

// --- an instruction's way ----------------------------------------------------------------------------------

void ReincarnatingWarps::issued(IssueId id, const Issue& issue) {
  const Index w = warp_of_context_[issue.context];
  Warp& warp = warps_[w];
  for (auto& pool : first_) {
    const auto found = std::find(pool.begin(), pool.end(), w);
    if (found != pool.end()) {
      pool.erase(found);
      break;
    }
  }
  if (warp.state != State::kLookup) ++counters_.second_level.reads;
  enter(w, State::kInFlight);
  warp_of_issue_[id] = w;
  warp.issue = id;
  warp.pending = warp.threads.mask;
  ++warp.progress;
  warp.landed = warp.scattered = warp.merged = false;
  const ptx::Instruction& in = program_->code[issue.pc];
  const bool waits = in.is_control() || in.is_warp_primitive();
  immediate_ = geometry_.barrel || waits ? kNoIssue : id;
}

void ReincarnatingWarps::memory_issued(IssueId id) {
  const Index w = warp_of_issue_[id];
  if (!geometry_.barrel || program_->code[warps_[w].pc].space == ptx::Space::kShared) return;
  wait_for_memory(w);
}

// To the Waiting-Lookup, merged with a warp there if one fits (HARP 4.2.1).
void ReincarnatingWarps::wait_for_memory(Index w) {
  ++counters_.first_to_waiting;
  if (merge_waiting(w)) return;
  if (waiting_lookup_.full() && config_.lookup_overflow == LookupOverflow::kEvict &&
      config_.waiting_lookup != 0) {
    ++counters_.evictions;
    const Index oldest = waiting_lookup_.warp(waiting_lookup_.order().front());
    const bool ready = warps_[oldest].state == State::kLookupDone;
    leave_tables(oldest);
    if (ready) {
      to_second_level(oldest);
    } else {
      enter(oldest, State::kWaiting);
      if (!geometry_.barrel) push(stalled_, oldest);
    }
  }
  if (waiting_lookup_.full()) {
    ++counters_.waiting_bypasses;
    enter(w, State::kWaiting);
    if (!geometry_.barrel) push(stalled_, w);
    return;
  }
  warps_[w].lookup_slot = static_cast<std::uint8_t>(waiting_lookup_.insert(w, now_));
  enter(w, State::kLookupWait);
}

bool ReincarnatingWarps::merge_waiting(Index w) {
  Warp& warp = warps_[w];
  if (warp.threads.mask == lanes_.all()) return false;
  waiting_lookup_.searched();
  for (const std::uint16_t slot : waiting_lookup_.order()) {
    const Index o = waiting_lookup_.warp(slot);
    Warp& other = warps_[o];
    if (other.state != State::kLookupWait || other.pc != warp.pc || other.depth != warp.depth ||
        other.slot != warp.slot || (other.threads.mask & warp.threads.mask) != 0)
      continue;
    ++counters_.waiting_merges;
    counters_.waiting_merged_threads += warp.threads.count();
    threads_in_[static_cast<std::size_t>(other.state)] += warp.threads.count();
    other.threads.take(warp.threads, warp.threads.mask);
    other.progress = std::min(other.progress, warp.progress);
    other.groups_known = false;
    if (geometry_.barrel) {
      other.pending |= warp.pending;
      other.merged = true;
      warp_of_issue_[warp.issue] = o;
    } else {
      give_context(o);  // it offers more threads now
    }
    waiting_lookup_.merged(slot);
    release(w);
    return true;
  }
  return false;
}

}  // namespace weft::warp_formation
