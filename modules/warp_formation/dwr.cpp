#include "warp_formation/dwr.h"

#include <algorithm>
#include <utility>

#include "weft/common/popcount.h"

namespace weft::warp_formation {

Dwr::Dwr(const DwrOptions& options, const Config& config, const Geometry& geometry)
    : config_(static_cast<const CommonConfig&>(config)),
      options_(options),
      rules_{config.own<SbrOptions>().order, config.reconvergence},
      geometry_(geometry),
      width_(std::max(geometry.lanes, static_cast<unsigned>(options.smallest_warp))),
      rows_(width_ / geometry.lanes),
      partners_(std::max(1u, static_cast<unsigned>(options.largest_warp) / width_)),
      most_(std::min(std::max(1u, geometry.threads / width_), ContextSet::kMaxContexts)),
      groups_((most_ + partners_ - 1) / partners_),
      table_(static_cast<unsigned>(groups_.size()) * partners_),
      warps_(table_.size(), SubWarp(width_)),
      schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config, table_.size())),
      flights_(geometry.max_issues),
      home_(std::size_t{geometry.chunks} * kChunk / width_, 0),
      ignored_(options.ilt_entries, options.ilt_ways, options.ilt_index),
      detected_(options.lat_table_entries, options.lat_table_ways, IltIndex::kInstruction),
      executing_(table_.size()) {
  fresh_.reserve(table_.size());
  released_.reserve(table_.size());
}

void Dwr::clear() {
  for (auto& group : groups_) group = Group();
  for (auto& warp : warps_) warp = SubWarp(width_);
  for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, table_.size());
  for (unsigned c = 0; c < table_.size(); ++c) table_.set(c, ptx::kNoPc);
  ignored_.clear();
  detected_.clear();
  fresh_.clear();
  executing_.clear();
  released_.clear();
  live_ = held_ = 0;
  slot_taken_ = false;
  now_ = 0;
  waiting_groups_ = 0;
  next_timeout_ = kNoEvent;
}

void Dwr::reset() {
  clear();
  kernels_.clear();
  kernel_ = nullptr;
  next_first_ = 0;
  stack_statistics_ = {};
  statistics_ = {};
}

// Sub-warps start anew with their block.
void Dwr::archive(Archive& archive) {
  archive(at_rest(live_), at_rest(held_), groups_, ignored_, detected_, next_first_, at_rest(fresh_),
          at_rest(released_), at_rest(executing_), at_rest(waiting_groups_), slot_taken_, now_, next_timeout_,
          table_, kernels_);
  archive_each(archive, schedulers_);
}

// Loads and stores [DWR IV.A]; addresses that are generic are global in what compilers make of CUDA.
bool Dwr::is_lat(const ptx::Instruction& in) const {
  if (in.op != ptx::Opcode::kLd && in.op != ptx::Opcode::kSt) return false;
  switch (in.space) {
    case ptx::Space::kGlobal:
    case ptx::Space::kLocal:
    case ptx::Space::kGeneric:
      return true;
    case ptx::Space::kParam:
      return options_.lat_spaces == LatSpaces::kGlobalLocalParam;
    default:
      return false;
  }
}

void Dwr::attach(const ptx::Program& program, const SmView& sm) {
  program_ = &program;
  sm_ = &sm;
  lat_.assign(program.code.size(), 0);
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) lat_[pc] = is_lat(program.code[pc]) ? 1 : 0;
  kernel_ = &kernels_[program.name];
  if (!options_.ilt_survives_launch) {
    ignored_.clear();
    detected_.clear();
  } else if (kernel_->ignored.size() != program.code.size()) {
    // PCs of one kernel are not those of another one: in memory their code lies at different addresses.
    kernel_->first = next_first_;
    next_first_ += static_cast<ptx::Pc>(program.code.size());
  }
  kernel_->lats = static_cast<std::uint64_t>(std::count(lat_.begin(), lat_.end(), 1));
  kernel_->ignored.resize(program.code.size());
}

// Where partners are of one block, it takes whole groups; else sub-warps of any.
bool Dwr::can_launch(const Block& block) const {
  const unsigned needed = sub_warps_of(block);
  if (options_.partners == Partnership::kId) return held_ + needed <= most_;
  const auto free = std::count_if(groups_.begin(), groups_.end(), [](const Group& g) { return g.live == 0; });
  return live_ + needed <= most_ && static_cast<unsigned>(free) >= (needed + partners_ - 1) / partners_;
}

void Dwr::launch(const Block& block) {
  const unsigned count = sub_warps_of(block);
  for (unsigned number = 0, context = 0; number < count; ++number, ++context) {
    if (options_.partners == Partnership::kId) {
      while (warps_[context].held) ++context;
      warps_[context].held = true;
      ++held_;
    } else if (number % partners_ == 0) {
      while (groups_[context / partners_].live != 0) context += partners_;
    }
    start(context, block, number);
  }
  stack_statistics_.deepest_stack = std::max<std::uint64_t>(stack_statistics_.deepest_stack, 1);
}

// Sub-warp `number` of the block begins. In a group whose others wait at a LAT barrier it is one more that
// they wait for.
void Dwr::start(unsigned context, const Block& block, unsigned number) {
  SubWarp& warp = warps_[context];
  warp.start(block, number, width_, geometry_.lanes);
  warp.at_lat = AtLat::kNo;
  home_[(block.first_chunk * kChunk) / width_ + number] = static_cast<std::uint16_t>(context);
  Group& group = group_of(context);
  group.absent &= ~bit_of(context);
  ++group.live;
  ++live_;
  scheduler_of(context).policy.arrived(context);
  offer(context);
}

// Sub-warps leave one by one, when their last thread exits; their numbers are free when the block has gone,
// so that the next one gets neighbours.
void Dwr::retire(const Block& block) {
  if (options_.partners == Partnership::kBlock) return;
  for (SubWarp& warp : warps_) {
    if (!warp.held || warp.slot != block.slot) continue;
    warp.held = false;
    --held_;
  }
}

void Dwr::advance(Cycle now) {
  now_ = now;
  slot_taken_ = false;
  for (const std::uint16_t context : fresh_) executing_.push({context, now + options_.lat_latency});
  fresh_.clear();
  while (!executing_.empty() && executing_.front().due <= now) {
    const unsigned context = executing_.front().context;
    executing_.pop();
    execute_barrier(context);
  }
  if (now >= next_timeout_) end_long_waits();
  for (const std::uint16_t context : released_)
    statistics_.lat_wait_cycles += now - warps_[context].locked_since;
  released_.clear();
}

Cycle Dwr::next_event(Cycle now) const {
  if (!fresh_.empty() || !released_.empty() || slot_taken_) return now + 1;
  Cycle next = executing_.empty() ? kNoEvent : executing_.front().due;
  for (const auto& scheduler : schedulers_) {
    if (!scheduler.slots.empty()) return now + 1;
  }
  if (waiting_groups_ != 0) next = std::min(next, next_timeout_);
  return next == kNoEvent ? next : std::max(next, now + 1);
}

Stall Dwr::pick(unsigned scheduler, Issue& issue) {
  Scheduler& s = schedulers_[scheduler];
  if (!s.slots.empty()) {  // a LAT barrier is an instruction that does nothing but take its slot
    const std::uint16_t context = s.slots.front();
    s.slots.pop();
    if (options_.ignored_lat == IgnoredLat::kCharged || !passes_ignored(context))
      executing_.push({context, now_ + options_.lat_latency});
    ++statistics_.lat_slots;
    slot_taken_ = true;
    return Stall::kScheme;
  }
  const ContextSet candidates = without_waiting(s.eligible, *sm_);
  ContextSet far = s.far;
  if (s.policy.wants_far()) far.add(sm_->waiting_for_memory());
  const auto attempt = [&](unsigned context) {
    const SubWarp& warp = warps_[context];
    const StackEntry& top = warp.stack.top();
    issue.pc = top.pc;
    issue.depth = top.depth;
    issue.context = static_cast<std::uint16_t>(context);
    issue.slot = warp.slot;
    issue.rows = static_cast<std::uint8_t>(count_of(warp.members) * rows_);
    issue.partners = warp.members & ~std::uint64_t{1};
    issue.more_follow = false;
    issue.groups = {warp.groups.data(), warp.group_count};
    return sm_->ready(scheduler, issue);
  };
  const Stall stall = s.policy.pick(candidates, attempt, far);
  if (stall == Stall::kNone) return stall;
  const Stall why = s.worse_of(worse_of_waiting(s.eligible, *sm_, stall), geometry_.barrel);
  return s.at_lat != 0 ? worse(why, Stall::kScheme) : why;
}

void Dwr::issued(IssueId id, const Issue& issue) {
  const std::uint64_t members = warps_[issue.context].members;
  flights_[id] = {issue.context, members};
  Scheduler& s = scheduler_of(issue.context);
  s.eligible.remove(issue.context);
  if (std::exchange(warps_[issue.context].learns, false)) learn(issue.pc);
  if (warps_[issue.context].at_lat == AtLat::kCombineReady) {
    ++statistics_.large_issues;
    statistics_.large_sub_warps += count_of(members);
  }
  for (std::uint64_t rest = members; rest != 0; rest &= rest - 1) {
    SubWarp& warp = warps_[issue.context + lowest(rest)];
    warp.in_flight = true;
    warp.at_lat = AtLat::kNo;
    warp.unresolved = count_of(warp.stack.top().mask.words[0]);
    ++s.in_flight;
  }
}

void Dwr::memory_issued(IssueId id) {
  const Flight& flight = flights_[id];
  Scheduler& s = scheduler_of(flight.context);
  for (std::uint64_t rest = flight.members; rest != 0; rest &= rest - 1) {
    const unsigned context = flight.context + lowest(rest);
    SubWarp& warp = warps_[context];
    if (!warp.in_flight || warp.in_memory) continue;
    warp.in_memory = true;
    ++s.in_memory;
    s.far.add(context);
  }
}

void Dwr::resolved(IssueId id, Outcomes outcomes) {
  Flight& flight = flights_[id];
  if (outcomes.count == 1 && outcomes.data[0].whole && outcomes.data[0].kind == Outcome::Kind::kGo) {
    for (std::uint64_t rest = flight.members; rest != 0; rest &= rest - 1)
      commit_together(flight.context + lowest(rest), outcomes.data[0]);
    return;
  }
  if (flight.members == 1) {
    SubWarp& warp = warps_[flight.context];
    for (const auto& outcome : outcomes) warp.deposit(outcome);
    if (warp.unresolved == 0) commit(flight.context);
    return;
  }
  for (const auto& outcome : outcomes) split(outcome);
  for (std::uint64_t rest = flight.members; rest != 0; rest &= rest - 1) {
    const unsigned context = flight.context + lowest(rest);
    if (warps_[context].unresolved != 0) continue;
    flight.members &= ~(rest & -rest);
    commit(context);
  }
}

// Gives each sub-warp of a large issue its part of an outcome.
void Dwr::split(const Outcome& outcome) {
  const std::uint32_t width_mask = width_ == kChunk ? ~0u : (1u << width_) - 1;
  Outcome part = outcome;
  part.whole = false;
  for (const auto& threads : outcome.groups) {
    for (std::uint32_t rest = threads.mask; rest != 0;) {
      const unsigned position = threads.chunk * kChunk + static_cast<unsigned>(__builtin_ctz(rest));
      SubWarp& warp = warps_[home_[position / width_]];
      const std::uint32_t mask = rest & width_mask << warp.shift;
      const ThreadGroup piece{mask, threads.chunk, 0, false};
      part.groups = {&piece, 1};
      warp.deposit(part);
      rest &= ~mask;
    }
  }
}

void Dwr::land(unsigned context) {
  SubWarp& warp = warps_[context];
  Scheduler& s = scheduler_of(context);
  warp.in_flight = false;
  --s.in_flight;
  if (!warp.in_memory) return;
  warp.in_memory = false;
  --s.in_memory;
  s.far.remove(context);
}

// The common case: all threads of the sub-warp go on at one place.
void Dwr::commit_together(unsigned context, const Outcome& outcome) {
  SubWarp& warp = warps_[context];
  land(context);
  if (program_->code[warp.stack.top().pc].is_branch()) ++stack_statistics_.uniform_branches;
  if (warp.stack.advance_together(outcome.next_pc, outcome.depth)) ++stack_statistics_.stacks.reads;
  offer(context);
}

void Dwr::commit(unsigned context) {
  SubWarp& warp = warps_[context];
  land(context);
  const bool arrived = std::exchange(warp.arrived, false);
  if (!warp.settle(*program_, rules_, stack_statistics_)) return end(context);
  if (arrived && warp.stack.depth() > 1) ++stack_statistics_.barriers_in_divergence;
  offer(context);
  if (arrived && !stands(warp)) ++stack_statistics_.path_switches;
}

// The sub-warp goes on with a path that can run, or waits.
void Dwr::offer(unsigned context) {
  SubWarp& warp = warps_[context];
  Scheduler& s = scheduler_of(context);
  const bool runs = warp.choose(*program_, stack_statistics_);
  const ptx::Pc pc = warp.stack.top().pc;
  table_.set(context, pc);
  if (!runs) {
    warp.at_barrier = warp.barriers != 0;
    warp.at_sync = !warp.at_barrier;
    ++(warp.at_barrier ? s.at_barrier : s.at_sync);
    return park(context);
  }
  warp.members = 1;
  warp.learns = false;
  warp.group_count = 1;
  warp.groups[0] = {threads_of(warp), warp.first_chunk, 0, true};
  if (lat_[pc] == 0) return s.eligible.add(context);
  if (options_.lats == LatDetection::kDynamic && !known(context)) return go_past(context);
  warp.at_lat = AtLat::kExecuting;
  ++s.at_lat;
  if (options_.lat_barrier == LatBarrier::kReal) {
    s.slots.push(static_cast<std::uint16_t>(context));
  } else if (options_.ignored_lat == IgnoredLat::kCharged || !passes_ignored(context)) {
    fresh_.push_back(static_cast<std::uint16_t>(context));
  }
}

// The sub-warp waits at a block barrier or a warp-level primitive; there its partners do not wait for it.
void Dwr::park(unsigned context) {
  scheduler_of(context).far.add(context);
  group_of(context).parked |= bit_of(context);
  reconsider(group_of(context));
}

// Threads of the sub-warp have been released: if it waited, perhaps it waits no more.
void Dwr::unpark(unsigned context) {
  SubWarp& warp = warps_[context];
  if (!stands(warp)) return;
  Scheduler& s = scheduler_of(context);
  --(warp.at_barrier ? s.at_barrier : s.at_sync);
  warp.at_barrier = warp.at_sync = false;
  s.far.remove(context);
  group_of(context).parked &= ~bit_of(context);
  offer(context);
}

void Dwr::end(unsigned context) {
  --live_;
  scheduler_of(context).policy.left(context);
  table_.set(context, ptx::kNoPc);
  Group& group = group_of(context);
  group.absent |= bit_of(context);
  --group.live;
  reconsider(group);
}

std::uint32_t Dwr::waiting_to_exit(std::uint16_t slot) const {
  std::uint32_t threads = 0;
  for (const auto& warp : warps_) {
    if (!warp.live || warp.slot != slot || warp.barriers == 0) continue;
    threads += warp.ending(*program_).count();
  }
  return threads;
}

std::uint32_t Dwr::ending(unsigned chunk) const {
  std::uint32_t threads = 0;
  for (const auto& warp : warps_) {
    if (warp.live && warp.covers(chunk)) threads |= warp.ending(*program_).words[0] << warp.shift;
  }
  return threads;
}

std::uint32_t Dwr::held_back(unsigned chunk, const std::uint32_t* standing) const {
  std::uint32_t threads = 0;
  for (const auto& warp : warps_) {
    if (warp.live && warp.covers(chunk)) threads |= warp.held_back(chunk, standing);
  }
  return threads;
}

void Dwr::barrier_released(std::uint16_t slot, unsigned barrier) {
  for (unsigned c = 0; c < warps_.size(); ++c) {
    SubWarp& warp = warps_[c];
    if (warp.live && warp.slot == slot && warp.open_barrier(barrier)) unpark(c);
  }
}

// Threads of a sync may have waited while other paths of their sub-warp ran.
void Dwr::warp_sync_released(Groups threads) {
  for (unsigned c = 0; c < warps_.size(); ++c) {
    SubWarp& warp = warps_[c];
    if (!warp.live || !warp.syncs) continue;
    warp.release(threads, width_);
    unpark(c);
  }
}

WEFT_REGISTER_SCHEME(scheme<Dwr, DwrOptions>("dwr", "dynamic warp resizing: tables per scheduler domain")
                         .with_state("lat_barrier")
                         .with_size_key("largest_warp"))

}  // namespace weft::warp_formation
