// How gangs of variable_warps split and meet, and which of them have contexts.
#include <algorithm>
#include <array>
#include <utility>

#include "warp_formation/variable_warps.h"

namespace weft::warp_formation {

// --- gangs -------------------------------------------------------------------------------------------------

// There is room: a warp has as many gangs as slice-warps at most.
VariableWarps::Index VariableWarps::form(unsigned w, Slices members, const Place& at) {
  Index g = static_cast<Index>(w * slices_);
  while (gangs_[g].state != Gang::State::kFree) ++g;
  Gang& gang = gangs_[g];
  gang = Gang();
  gang.state = Gang::State::kForming;
  gang.members = members;
  gang.at = at;
  statistics_.most_gangs = std::max<std::uint64_t>(statistics_.most_gangs, ++warps_[w].gangs);
  ++statistics_.gangs.writes;
  return g;
}

// It has no context.
void VariableWarps::disband(Index g) {
  if (gangs_[g].queued) dequeue(g);
  set_state(g, Gang::State::kFree);
  --warps_[warp_of(g)].gangs;
}

// Rebuilds what `pick` hands out, and what may end the lockstep.
void VariableWarps::show(Index g) {
  Gang& gang = gangs_[g];
  const unsigned w = warp_of(g);
  WarpMask mask;
  gang.lockstep = true;
  bool first = true;
  each(gang.members, [&](unsigned k) {
    const SbrWarp& own = slice(w, k);
    const StackEntry& top = own.stack.top();
    const Place meets{top.rpc, top.rpc_depth};
    if (std::exchange(first, false)) gang.meets = meets;
    gang.lockstep = gang.lockstep && gang.meets == meets && !own.parted && !own.syncs;
    mask |= top.mask;
    warps_[w].deep &= ~(Slices{1} << k);
    warps_[w].deep |= static_cast<Slices>(own.stack.depth() > 1) << k;
  });
  gang.group_count = warps_[w].groups_of(mask, size_, geometry_.lanes, gang.groups);
  if (gang.context == kNone) return;
  changed_.add(gang.context);
  lanes_at_[gang.context] = gang.members << warps_[w].lanes;
}

// The slice-warps of a gang that forms go on together as far as they are at one place. The tops of their
// stacks are up to date.
void VariableWarps::regroup(Index g) {
  const unsigned w = warp_of(g);
  Slices rest = gangs_[g].members;
  if (rest == 0) {
    give_up(g);
    disband(g);
    if (warps_[w].gangs == 0) end(w);
    return;
  }
  std::array<Index, kMostSlices> parts;
  unsigned count = 0;
  while (rest != 0) {
    const SbrWarp& lead = slice(w, static_cast<unsigned>(__builtin_ctz(rest)));
    const Place at{lead.stack.top().pc, lead.stack.top().depth};
    Slices same = 0;
    each(rest, [&](unsigned k) {
      const SbrWarp& own = slice(w, k);
      const bool joins = Place{own.stack.top().pc, own.stack.top().depth} == at &&
                         own.at_barrier == lead.at_barrier && own.at_sync == lead.at_sync;
      same |= static_cast<Slices>(joins) << k;
    });
    rest &= ~same;
    parts[count] = count == 0 ? g : form(w, same, at);
    gangs_[parts[count]].members = same;
    gangs_[parts[count]].at = at;
    ++count;
  }
  statistics_.control_splits += count > 1 ? 1 : 0;
  for (unsigned i = 0; i < count; ++i) {
    const SbrWarp& lead = slice(w, static_cast<unsigned>(__builtin_ctz(gangs_[parts[i]].members)));
    show(parts[i]);
    if (lead.at_barrier || lead.at_sync) {
      stand(parts[i]);
    } else {
      make_ready(parts[i]);
    }
  }
}

// The gang, which is ready or stands, is about to be regrouped.
void VariableWarps::recall(Index g) {
  Gang& gang = gangs_[g];
  Scheduler& s = scheduler_of(warp_of(g));
  each(gang.members, [&](unsigned k) { slice(warp_of(g), k).stack.stand(gang.at.pc, gang.at.depth); });
  if (gang.state == Gang::State::kStands) --(gang.at_barrier ? s.at_barrier : s.at_sync);
  set_state(g, Gang::State::kForming);
  if (gang.context == kNone) return;
  s.eligible.remove(gang.context);
  s.far.remove(gang.context);
}

// Threads of these slice-warps have been released. What is under way sees so when it lands.
void VariableWarps::release(unsigned w, Slices released) {
  for (unsigned i = 0; i < slices_ && released != 0; ++i) {
    const auto g = static_cast<Index>(w * slices_ + i);
    const Gang& gang = gangs_[g];
    const Slices own = gang.members & released;
    if (own == 0 || (gang.state != Gang::State::kReady && gang.state != Gang::State::kStands)) continue;
    released &= ~own;
    recall(g);
    each(own, [&](unsigned k) { choose(slice(w, k)); });
    regroup(g);
  }
}

void VariableWarps::stand(Index g) {
  Gang& gang = gangs_[g];
  const unsigned w = warp_of(g);
  Scheduler& s = scheduler_of(w);
  set_state(g, Gang::State::kStands);
  gang.at_barrier = slice(w, static_cast<unsigned>(__builtin_ctz(gang.members))).at_barrier;
  ++(gang.at_barrier ? s.at_barrier : s.at_sync);
  if (gang.queued) dequeue(g);
  if (gang.context == kNone) return;
  // The warp's own context keeps the instructions in its buffer, as long as no other gang wants it.
  if (!is_own(gang.context) || warps_[w].queued != 0) return give_up(g);
  table_.set(gang.context, gang.at.pc);
  s.far.add(gang.context);
}

void VariableWarps::make_ready(Index g) {
  set_ready(g);
  const unsigned w = warp_of(g);
  if (warps_[w].gangs > 1 && options_.regang == Regang::kElastic) g = meet(g);
  const Gang& gang = gangs_[g];
  if (gang.context == kNone) {
    if (!gang.queued) acquire(g);
  } else if (is_wanted(gang.context)) {
    enqueue(g);
    give_up(g);
  } else {
    table_.set(gang.context, gang.at.pc);
    scheduler_of(w).eligible.add(gang.context);
  }
}

// Ready gangs of the warp that are where this one is become one with it. Returns that one.
VariableWarps::Index VariableWarps::meet(Index g) {
  ++statistics_.gangs.searches;
  const unsigned first = warp_of(g) * slices_;
  each(warps_[warp_of(g)].ready & ~(Slices{1} << g % slices_), [&](unsigned i) {
    const auto other = static_cast<Index>(first + i);
    if (gangs_[other].at == gangs_[g].at && !waits_for_data(gangs_[other])) g = join(g, other);
  });
  return g;
}

// The one that has the warp's own context goes on, else one that has a context.
VariableWarps::Index VariableWarps::join(Index a, Index b) {
  const auto rank = [this](Index g) {
    const Gang& gang = gangs_[g];
    return gang.context == kNone ? (gang.queued ? 1 : 0) : is_own(gang.context) ? 3 : 2;
  };
  if (rank(a) < rank(b)) std::swap(a, b);
  gangs_[a].members |= gangs_[b].members;
  gangs_[a].stalled = false;
  ++statistics_.reformed;
  ++statistics_.gangs.writes;
  give_up(b);
  disband(b);
  show(a);
  return a;
}

bool VariableWarps::waits_for_data(const Gang& gang) const {
  if (options_.memory == GangMemory::kPatient) return false;
  if (gang.context == kNone || changed_.has(gang.context)) return gang.stalled;
  return sm_->waiting_for_memory().has(gang.context);
}

// Of gangs that wait for data, slice-warps that have theirs go on; they keep the context. True: some do.
bool VariableWarps::split_by_memory(Scheduler& s) {
  bool any = false;
  for (unsigned c = s.to_part.next(0); c < contexts_; c = s.to_part.next(c + 1)) {
    s.to_part.remove(c);
    const Index g = gang_at_[c];
    if (g == kNone || gangs_[g].state != Gang::State::kReady || !has_context_for(warp_of(g))) continue;
    const unsigned w = warp_of(g);
    Issue issue;
    fill(issue, c);
    Slices waiting = 0;
    for (const auto& group : issue.groups) {
      const std::uint32_t threads = sm_->waiting_threads(issue, group) >> warps_[w].shift;
      each(gangs_[g].members,
           [&](unsigned k) { waiting |= static_cast<Slices>((threads & pattern_[k]) != 0) << k; });
    }
    if (waiting == 0 || waiting == gangs_[g].members) continue;
    ++statistics_.memory_splits;
    gangs_[g].members &= ~waiting;
    show(g);
    const Index part = form(w, waiting, gangs_[g].at);
    gangs_[part].stalled = true;
    set_ready(part);
    show(part);
    acquire(part);
    any = true;
  }
  return any;
}

// --- contexts ----------------------------------------------------------------------------------------------

bool VariableWarps::has_context_for(unsigned w) const {
  const Index own = gang_at_[w];
  return own == kNone || gangs_[own].state == Gang::State::kStands ||
         !schedulers_[w % schedulers_.size()].free.empty();
}

// The gang is ready, and has none.
void VariableWarps::acquire(Index g) {
  const unsigned w = warp_of(g);
  const Index own = gang_at_[w];
  if (own != kNone && gangs_[own].state == Gang::State::kStands) give_up(own);
  if (gang_at_[w] == kNone) return give(w, g);
  const unsigned shared = scheduler_of(w).free.next(0);
  if (shared != ContextSet::kMaxContexts) return give(shared, g);
  enqueue(g);
  ++statistics_.context_waits;
}

// Whether another gang has waited for the context longer than the one that has it.
bool VariableWarps::is_wanted(unsigned context) const {
  const unsigned w = warp_of(gang_at_[context]);
  return is_own(context) ? warps_[w].queued != 0 : !schedulers_[w % schedulers_.size()].queue.empty();
}

void VariableWarps::give(unsigned context, Index g) {
  Gang& gang = gangs_[g];
  Scheduler& s = scheduler_of(warp_of(g));
  gang.context = static_cast<Index>(context);
  gang_at_[context] = g;
  if (!is_own(context)) {
    s.free.remove(context);
    s.policy.arrived(context);
    s.beside.arrived(context);
  }
  table_.set(context, gang.at.pc);
  lanes_at_[context] = gang.members << warps_[warp_of(g)].lanes;
  changed_.add(context);
  s.eligible.add(context);
}

// The gang's context, if it has one, goes to the gang that has waited longest for it, or is free.
void VariableWarps::give_up(Index g) {
  const unsigned context = gangs_[g].context;
  if (context == kNone) return;
  const unsigned w = warp_of(g);
  Scheduler& s = scheduler_of(w);
  gangs_[g].context = kNone;
  gang_at_[context] = kNone;
  s.eligible.remove(context);
  s.far.remove(context);
  s.to_part.remove(context);
  changed_.remove(context);
  table_.set(context, ptx::kNoPc);
  if (!is_own(context)) {
    s.policy.left(context);
    s.beside.left(context);
    s.free.add(context);
  }
  for (const Index other : s.queue) {
    if (is_own(context) && warp_of(other) != w) continue;
    dequeue(other);
    return give(context, other);
  }
}

void VariableWarps::enqueue(Index g) {
  scheduler_of(warp_of(g)).queue.push_back(g);
  gangs_[g].queued = true;
  ++warps_[warp_of(g)].queued;
}

void VariableWarps::dequeue(Index g) {
  std::vector<Index>& queue = scheduler_of(warp_of(g)).queue;
  queue.erase(std::find(queue.begin(), queue.end(), g));
  gangs_[g].queued = false;
  --warps_[warp_of(g)].queued;
}

}  // namespace weft::warp_formation
