#include "sm/stages/issue.h"

#include <algorithm>

namespace weft::sm {

using warp_formation::Issue;
using warp_formation::Stall;

template <bool kSetsAside>
inline Stall IssueStage::waits(const Domain& domain, const execute::Operation& op, const Issue& offer) const {
  const ptx::Instruction& in = *op.instruction;
  if (!core_.barrel) {
    for (const auto& group : offer.groups) {
      const auto* const keys = op.keys.data();
      if (!core_.registers.pending(group.chunk, group.mask, keys, op.key_count)) continue;
      const bool loads = core_.registers.pending_load(group.chunk, group.mask, keys, op.key_count);
      const Stall stall = loads ? Stall::kMemory : Stall::kDependence;
      if constexpr (kSetsAside) domain.wait(offer.context, group.chunk, stall);
      return stall;
    }
  }
  if (core_.state.reaches_system && (in.unit == ptx::Unit::kMemory || in.releases)) {
    const unsigned held = memory_.held_group(in, offer);
    if (held != offer.groups.count) {
      if constexpr (kSetsAside) domain.wait(offer.context, offer.groups.data[held].chunk, Stall::kMemory);
      return Stall::kMemory;
    }
  }
  return Stall::kNone;
}

template <bool kSetsAside>
inline Stall IssueStage::ready(const Domain& domain, unsigned scheduler, const Issue& offer) const {
  if (!buffers_.holds(domain.first_context + offer.context, offer.pc)) return Stall::kFetch;
  const execute::Operation& op = core_.operation(offer.pc);
  if (slots_.limited && !slots_.allow(op.instruction->scalar, offer.context)) return Stall::kUnitBusy;
  const Stall stall = waits<kSetsAside>(domain, op, offer);
  if (stall != Stall::kNone) return stall;
  const Cycle now = core_.state.now;
  if (core_.forwards) {
    const Cycle there = operands(op, offer);
    if (there > now) {
      if constexpr (kSetsAside) domain.wait_until(offer.context, Stall::kDependence, now, there);
      return Stall::kDependence;
    }
  }
  const unsigned of_sm = domain.first_scheduler + scheduler;
  Cycle start = core_.datapath->earliest(now, of_sm, op, offer);
  if (core_.in_turn && start > now) {
    if constexpr (kSetsAside) domain.wait_until(offer.context, Stall::kUnitBusy, now, start);
    return Stall::kUnitBusy;
  }
  if (op.unit == ptx::Unit::kMemory && !memory_.can_accept()) start = std::max(start, now + 1);
  if (start > now) {
    if (core_.datapath->port_taken(now, of_sm)) return Stall::kUnitBusy;
    if constexpr (kSetsAside) domain.wait_for_unit(offer.context, op.unit, start);
    return op.unit == ptx::Unit::kMemory ? Stall::kMemoryBusy : Stall::kUnitBusy;
  }
  return core_.in_flight.full() ? Stall::kUnitBusy : Stall::kNone;
}

Stall IssueStage::ready_beside(const Domain& domain, unsigned scheduler, const Issue& offer) const {
  if (!buffers_.holds(domain.first_context + offer.context, offer.pc)) return Stall::kFetch;
  const execute::Operation& op = core_.operation(offer.pc);
  const Stall stall = waits<true>(domain, op, offer);
  if (stall != Stall::kNone) return stall;
  if (op.unit == ptx::Unit::kMemory && !memory_.can_accept()) return Stall::kMemoryBusy;
  const bool fits =
      core_.datapath->fits_beside(core_.state.now, domain.first_scheduler + scheduler, op, offer);
  return fits && !core_.in_flight.full() ? Stall::kNone : Stall::kUnitBusy;
}

Stall Domain::ready(unsigned scheduler, const Issue& offer) const {
  return issue->ready<true>(*this, scheduler, offer);
}

Stall Domain::ready_beside(unsigned scheduler, const Issue& offer) const {
  return issue->ready_beside(*this, scheduler, offer);
}

std::uint32_t Domain::waiting_threads(const Issue& offer, const warp_formation::ThreadGroup& group) const {
  return issue->waiting_threads(offer.pc, group);
}

std::uint32_t IssueStage::waiting_threads(ptx::Pc pc, const warp_formation::ThreadGroup& group) const {
  const execute::Operation& op = core_.operation(pc);
  return core_.registers.pending_threads(group.chunk, group.mask, op.keys.data(), op.key_count);
}

bool IssueStage::would_issue(const Domain& domain, const Issue& offer) const {
  return ready<false>(domain, 0, offer) == Stall::kNone;
}

// When what the datapath forwards is there for the offer.
Cycle IssueStage::operands(const execute::Operation& op, const Issue& offer) const {
  std::array<std::uint32_t, warp_formation::kMaxGroups> executing;
  for (unsigned g = 0; g < offer.groups.count; ++g)
    executing[g] = core_.executor.guarded(*op.instruction, offer.groups.data[g]);
  return core_.datapath->operands(core_.state.now, op, offer, executing.data());
}

Stall IssueStage::issue(Cycle now, Domain& domain, unsigned scheduler) {
  Stall result = Stall::kEmpty;
  for (std::uint64_t width = 0; width < core_.config.issue_width; ++width) {
    Issue offer;
    const auto choose = [&] { return domain.unit->pick(scheduler, offer); };
    const Cycle free =
        domain.has_parked() ? core_.datapath->memory_free(memory_.can_accept() ? now : now + 1) : now;
    const Stall stall = free > now ? domain.choose_while_taken(free, choose) : choose();
    if (stall != Stall::kNone) return width == 0 ? stall : result;
    start(now, domain, scheduler, offer);
    if (core_.issues_at_once > 1 && !core_.state.stopped) issue_beside(now, domain, scheduler);
    if (core_.state.stopped) return Stall::kEmpty;
    result = Stall::kNone;
  }
  return result;
}

// Others that begin in the same cycle.
void IssueStage::issue_beside(Cycle now, Domain& domain, unsigned scheduler) {
  for (unsigned others = 1; others < core_.issues_at_once && !core_.state.stopped; ++others) {
    Issue offer;
    if (domain.unit->pick_beside(scheduler, offer) != Stall::kNone) return;
    ++core_.counters.issued_beside;
    start(now, domain, scheduler, offer);
  }
}

// Vector instructions as many as ever, and a scalar one beside them.
Stall IssueStage::issue_to_two(Cycle now, Domain& domain, unsigned scheduler) {
  const std::uint64_t width = core_.config.issue_width;
  Stall result = Stall::kEmpty;
  slots_.limited = true;
  slots_.left = {width, 1};
  for (warp_formation::ContextSet& issued : slots_.issued) issued.clear();
  for (std::uint64_t issues = 0; issues <= width; ++issues) {
    Issue offer;
    const Stall stall = domain.unit->pick(scheduler, offer);
    if (stall != Stall::kNone) {
      if (issues == 0) result = stall;
      break;
    }
    const bool scalar = core_.operation(offer.pc).instruction->scalar;
    --slots_.left[scalar ? 1 : 0];
    slots_.issued[scalar ? 1 : 0].add(offer.context);
    start(now, domain, scheduler, offer);
    result = Stall::kNone;
    if (core_.state.stopped) break;
  }
  slots_.limited = false;
  if (slots_.left[0] != width && slots_.left[1] == 0) ++core_.counters.scalar_beside;
  return core_.state.stopped ? Stall::kEmpty : result;
}

// The record keeps the offer's threads: the scheme's own may change as soon as it is told of the issue.
void IssueStage::start(Cycle now, Domain& domain, unsigned scheduler, Issue& offer) {
  const std::uint16_t id = core_.in_flight.take();
  InFlight& flight = core_.in_flight[id];
  flight.op = &core_.operation(offer.pc);
  flight.pc = offer.pc;
  flight.depth = offer.depth;
  flight.slot = offer.slot;
  flight.domain = static_cast<std::uint16_t>(&domain - core_.domains.data());
  flight.context = offer.context;
  flight.group_count = static_cast<std::uint8_t>(offer.groups.count);
  flight.references = 0;
  flight.waits = false;
  std::copy(offer.groups.begin(), offer.groups.end(), flight.groups.begin());
  offer.groups = flight.all();
  ++core_.state.references[flight.slot];
  ++core_.counters.warp_instructions;
  if (!offer.more_follow) consume(domain, offer);
  domain.changing(offer.context).issued(id, offer);
  next_.take(now, id, domain.first_scheduler + scheduler, offer);
}

// The instruction leaves the buffers. Their contexts may have changed in this cycle already (resolved and
// issued in one): they are past that.
void IssueStage::consume(Domain& domain, const Issue& offer) {
  warp_formation::ContextTable& contexts = domain.unit->contexts();
  buffers_.consume(domain.first_context + offer.context);
  contexts.issued(offer.context);
  for (std::uint64_t rest = offer.partners; rest != 0; rest &= rest - 1) {
    const unsigned context = offer.context + static_cast<unsigned>(__builtin_ctzll(rest));
    if (!buffers_.holds(domain.first_context + context, offer.pc)) continue;
    buffers_.consume(domain.first_context + context);
    contexts.issued(context);
  }
}

}  // namespace weft::sm
