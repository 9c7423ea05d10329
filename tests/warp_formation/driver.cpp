#include "warp_formation/driver.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation::test {
namespace {

template <class Visit>
void each_thread(const ThreadGroup& group, Visit&& visit) {
  for (unsigned i = 0; i < kChunk; ++i) {
    if ((group.mask >> i & 1) != 0) visit(group.chunk * kChunk + i);
  }
}

}  // namespace

Driver::Driver(const ptx::Program& program, const Config& config, const Geometry& geometry)
    : program_(program),
      geometry_(geometry),
      unit_(create(config, geometry)),
      slots_(geometry.slots),
      slot_chunks_(geometry.chunks / geometry.slots) {
  unit_->bind(tree_.group("scheme"));
  holds = [](unsigned, ptx::Pc, unsigned) { return true; };
  threads_.resize(std::size_t{geometry.chunks} * kChunk);
  for (unsigned id = geometry.max_issues; id-- > 0;) free_ids_.push_back(static_cast<IssueId>(id));
  unit_->attach(program_, *this);
}

void Driver::go_on_from(Driver& other) {
  Archive out;
  other.unit_->archive(out);
  out(other.tree_);
  Archive in(out.bytes());
  unit_->archive(in);
  in(tree_);
  in.end();
  free_ids_ = other.free_ids_;
  trace_ = other.trace_;
  visits_ = other.visits_;
  random_ = other.random_;
  now_ = other.now_;
}

std::string Driver::statistics() const {
  return tree_.sample().dump();
}

void Driver::violated(const std::string& what) const {
  throw ContractError("cycle " + std::to_string(now_) + ": " + what + "\n" + unit_->dump());
}

bool Driver::can_launch(unsigned threads) const {
  Block block;
  block.threads = threads;
  return threads <= slot_chunks_ * kChunk &&
         std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.live; }) &&
         unit_->can_launch(block);
}

std::uint16_t Driver::launch(unsigned threads) {
  std::uint16_t number = 0;
  while (slots_.at(number).live) ++number;
  Slot& slot = slots_[number];
  slot.live = true;
  slot.block = {number, static_cast<std::uint16_t>(number * slot_chunks_), threads};
  slot.live_threads = threads;
  slot.arrived = 0;
  for (unsigned t = 0; t < threads; ++t) {
    threads_.at(std::size_t{slot.block.first_chunk} * kChunk + t) = {State::kIdle, 0, number};
  }
  live_ += threads;
  unit_->launch(slot.block);
  check_census();
  return number;
}

Stall Driver::ready(unsigned scheduler, const Issue& issue) const {
  if (refuse) {
    const Stall stall = refuse(scheduler, issue);
    if (stall != Stall::kNone) return stall;
  }
  return free_ids_.empty() ? Stall::kUnitBusy : Stall::kNone;
}

// The places of an issue in its warp: row x lanes + lane.
template <class Visit>
void Driver::each_place(const Issue& issue, Visit&& visit) const {
  for (const auto& group : issue.groups) {
    each_thread(group, [&](unsigned t) {
      const unsigned row = group.row + (group.spread ? t % kChunk / geometry_.lanes : 0);
      visit(row % issue.rows * geometry_.lanes + t % geometry_.lanes);
    });
  }
}

Stall Driver::ready_beside(unsigned scheduler, const Issue& issue) const {
  bool free = true;
  each_place(issue, [&](unsigned place) { free = free && !begun_[place]; });
  return free ? ready(scheduler, issue) : Stall::kUnitBusy;
}

bool Driver::step() {
  ++now_;
  // Completions in order of issue, then tables, then issue: the order that warp_formation.h documents.
  std::vector<Part> due;
  const auto later =
      std::stable_partition(parts_.begin(), parts_.end(), [&](const Part& p) { return p.due > now_; });
  due.assign(later, parts_.end());
  parts_.erase(later, parts_.end());
  for (const Part& part : due) complete(part);
  unit_->advance(now_);
  bool any = false;
  for (unsigned s = 0; s < geometry_.schedulers; ++s) {
    Issue issue;
    if (unit_->pick(s, issue) != Stall::kNone) continue;
    if (unit_->keeps_contexts_apart() && issue.context % geometry_.schedulers != s)
      violated("scheduler " + std::to_string(s) + " picked context " + std::to_string(issue.context));
    begun_.assign(std::size_t{kMaxWarpSize} * kChunk, false);
    take(s, issue);
    any = true;
    for (unsigned n = 1; n < unit_->issues_at_once(); ++n) {
      if (unit_->pick_beside(s, issue) != Stall::kNone) break;
      if (ready_beside(s, issue) != Stall::kNone) violated("what begins beside another is on its lanes");
      take(s, issue);
    }
  }
  check_census();
  return any;
}

void Driver::run(unsigned cycles) {
  for (unsigned i = 0; i < cycles && live_ != 0; ++i) step();
  if (live_ != 0) violated(std::to_string(live_) + " threads are still live");
  if (!parts_.empty()) violated("an instruction outlives its threads");
  if (unit_->census().total() != 0) violated("the census counts threads that have exited");
  if (unit_->ready_warps() != 0) violated("a warp is ready though no thread is live");
}

void Driver::reset() {
  unit_->reset();
  tree_.reset();
  unit_->attach(program_, *this);
  std::fill(threads_.begin(), threads_.end(), Thread());
  std::fill(slots_.begin(), slots_.end(), Slot());
  parts_.clear();
  trace_.clear();
  visits_.clear();
  free_ids_.clear();
  for (unsigned id = geometry_.max_issues; id-- > 0;) free_ids_.push_back(static_cast<IssueId>(id));
  random_.seed(1);
  live_ = 0;
  now_ = 0;
}

void Driver::check_issue(const Issue& issue) const {
  if (issue.groups.count == 0) violated("an issue without threads");
  if (issue.groups.count > kMaxGroups) violated("an issue of too many groups");
  if (issue.pc >= program_.code.size()) violated("an issue outside of the program");
  if (issue.context >= unit_->contexts().size()) violated("an issue of an unknown context");
  if (unit_->contexts().pc(issue.context) != issue.pc) violated("the front end fetches something else");
  if (issue.rows == 0) violated("an issue without rows");
  std::vector<unsigned> seen;
  std::set<std::pair<unsigned, unsigned>> lanes;  // (row, home lane)
  for (const auto& group : issue.groups) {
    if (group.mask == 0) violated("an empty group");
    each_thread(group, [&](unsigned t) {
      const std::string name = "thread " + std::to_string(t);
      const unsigned row = group.row + (group.spread ? t % kChunk / geometry_.lanes : 0);
      if (!group.spread && row >= issue.rows) violated(name + " lies behind the last row");
      if (t >= threads_.size()) violated(name + " does not exist");
      const Thread& thread = threads_[t];
      if (std::find(seen.begin(), seen.end(), t) != seen.end()) violated(name + " is twice in an issue");
      seen.push_back(t);
      if (!lanes.emplace(row, t % geometry_.lanes).second)
        violated(name + " finds its lane taken in row " + std::to_string(row));
      if (thread.state != State::kIdle)
        violated(name + " is issued though it is absent, in flight or at a barrier");
      if (thread.slot != issue.slot) violated(name + " belongs to another block");
      if (thread.pc != issue.pc) {
        violated(name + " is at pc " + std::to_string(thread.pc) + ", issued at " + std::to_string(issue.pc));
      }
    });
  }
}

void Driver::take(unsigned, const Issue& issue) {
  check_issue(issue);
  each_place(issue, [&](unsigned place) { begun_[place] = true; });
  const IssueId id = free_ids_.back();
  free_ids_.pop_back();
  Record record{now_, issue.pc, issue.slot, {}, issue.rows};
  std::vector<ThreadGroup> groups(issue.groups.begin(), issue.groups.end());
  for (const auto& group : groups) {
    each_thread(group, [&](unsigned t) {
      threads_[t].state = State::kInFlight;
      record.threads.push_back(t);
    });
  }
  trace_.push_back(record);
  const bool load = program_.code[issue.pc].is_load();
  unit_->issued(id, issue);
  if (!load) {
    parts_.push_back({now_ + 1, id, true, issue.pc, groups});
    return;
  }
  unit_->memory_issued(id);
  // Every group may come back in two parts.
  std::vector<Part> parts;
  for (const auto& group : groups) {
    const auto first = static_cast<std::uint32_t>(random_()) & group.mask;
    for (const std::uint32_t mask : {first, group.mask & ~first}) {
      if (mask == 0) continue;
      ThreadGroup part = group;
      part.mask = mask;
      parts.push_back({now_ + 1 + random_() % memory_latency, id, false, issue.pc, {part}});
    }
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.due < b.due; });
  parts.back().last = true;
  parts_.insert(parts_.end(), parts.begin(), parts.end());
}

void Driver::complete(const Part& part) {
  const ptx::Instruction& in = program_.code[part.pc];
  const std::uint16_t slot =
      threads_[part.groups[0].chunk * kChunk + static_cast<unsigned>(__builtin_ctz(part.groups[0].mask))]
          .slot;

  // Threads by what becomes of them.
  std::map<std::pair<Outcome::Kind, ptx::Pc>, std::vector<ThreadGroup>> sorted;
  unsigned exited = 0, arrived = 0;
  for (const auto& group : part.groups) {
    std::map<std::pair<Outcome::Kind, ptx::Pc>, std::uint32_t> masks;
    each_thread(group, [&](unsigned t) {
      const unsigned visit = visits_[{t, part.pc}]++;
      const bool does = in.guard < 0 || holds(t, part.pc, visit);
      Outcome::Kind kind = Outcome::Kind::kGo;
      ptx::Pc next = part.pc + 1;
      if (does && in.is_branch()) next = in.target;
      if (does && in.is_exit()) kind = Outcome::Kind::kExit;
      if (does && in.is_barrier()) kind = Outcome::Kind::kBarrier;
      if (does && in.is_warp_primitive()) kind = Outcome::Kind::kWarpSync;
      if (const ptx::Pc other = jump ? jump(t, part.pc) : ptx::kNoPc; other != ptx::kNoPc) next = other;
      masks[{kind, next}] |= 1u << (t % kChunk);
      threads_[t].pc = next;
      threads_[t].state = kind == Outcome::Kind::kExit       ? State::kAbsent
                          : kind == Outcome::Kind::kBarrier  ? State::kAtBarrier
                          : kind == Outcome::Kind::kWarpSync ? State::kAtSync
                                                             : State::kIdle;
      exited += kind == Outcome::Kind::kExit;
      arrived += kind == Outcome::Kind::kBarrier;
    });
    for (const auto& [key, mask] : masks) {
      ThreadGroup copy = group;
      copy.mask = mask;
      sorted[key].push_back(copy);
    }
  }
  std::vector<Outcome> outcomes;
  for (const auto& [key, list] : sorted) {
    Outcome outcome;
    outcome.kind = key.first;
    outcome.next_pc = key.second;
    if (key.first == Outcome::Kind::kWarpSync) outcome.argument = ~0u;
    outcome.groups = {list.data(), static_cast<std::uint32_t>(list.size())};
    outcomes.push_back(outcome);
  }
  live_ -= exited;
  unit_->resolved(part.id, {outcomes.data(), static_cast<std::uint32_t>(outcomes.size())});
  if (part.last) free_ids_.push_back(part.id);

  Slot& block = slots_[slot];
  block.live_threads -= exited;
  block.arrived += arrived;
  release_barriers(slot);
  release_syncs(slot);
  if (block.live && block.live_threads == 0) {
    unit_->retire(block.block);
    block.live = false;
  }
}

void Driver::release_barriers(std::uint16_t slot) {
  Slot& block = slots_[slot];
  if (block.arrived == 0) return;
  if (block.arrived < block.live_threads && block.arrived + unit_->waiting_to_exit(slot) < block.live_threads)
    return;
  block.arrived = 0;
  for (Thread& thread : threads_) {
    if (thread.slot == slot && thread.state == State::kAtBarrier) thread.state = State::kIdle;
  }
  unit_->barrier_released(slot, 0);
}

// All threads of a chunk that have not exited, nor wait at their exit, are there.
void Driver::release_syncs(std::uint16_t slot) {
  const unsigned first = slots_[slot].block.first_chunk;
  for (unsigned chunk = first; chunk < first + slot_chunks_; ++chunk) {
    std::uint32_t waiting = 0, others = 0;
    for (unsigned i = 0; i < kChunk; ++i) {
      const State state = threads_[chunk * kChunk + i].state;
      if (state == State::kAtSync) waiting |= 1u << i;
      if (state != State::kAtSync && state != State::kAbsent) others |= 1u << i;
    }
    if (waiting == 0 || (others & ~unit_->ending(chunk)) != 0) continue;
    for (unsigned i = 0; i < kChunk; ++i) {
      if ((waiting >> i & 1) != 0) threads_[chunk * kChunk + i].state = State::kIdle;
    }
    const ThreadGroup group{waiting, static_cast<std::uint16_t>(chunk), 0, false};
    unit_->warp_sync_released({&group, 1});
  }
}

void Driver::check_census() const {
  const std::uint64_t counted = unit_->census().total();
  if (counted != live_) {
    violated("the census counts " + std::to_string(counted) + " threads, " + std::to_string(live_) +
             " are live");
  }
}

double Driver::statistic(const std::string& name) const {
  return tree_.sample().at("scheme").at(name).get<double>();
}

}  // namespace weft::warp_formation::test
