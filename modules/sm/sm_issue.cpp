// Issue: from a scheme's offer to an instruction in flight.
#include <algorithm>

#include "sm/sm.h"
#include "weft/common/popcount.h"

namespace weft::sm {

using datapath::Times;
using warp_formation::Issue;
using warp_formation::Outcome;
using warp_formation::Stall;

Stall Sm::issue(Cycle now, Domain& domain, unsigned scheduler) {
  if (scalar_unit_) return issue_to_two(now, domain, scheduler);
  Stall result = Stall::kEmpty;
  for (std::uint64_t width = 0; width < config_.issue_width; ++width) {
    Issue offer;
    const Stall stall = domain.unit->pick(scheduler, offer);
    if (stall != Stall::kNone) return width == 0 ? stall : result;
    start(now, domain, scheduler, offer);
    if (state_.stopped) return Stall::kEmpty;
    result = Stall::kNone;
  }
  return result;
}

// Vector instructions as many as ever, and a scalar one beside them.
Stall Sm::issue_to_two(Cycle now, Domain& domain, unsigned scheduler) {
  Stall result = Stall::kEmpty;
  slots_.limited = true;
  slots_.left = {config_.issue_width, 1};
  for (warp_formation::ContextSet& issued : slots_.issued) issued.clear();
  for (std::uint64_t issues = 0; issues <= config_.issue_width; ++issues) {
    Issue offer;
    const Stall stall = domain.unit->pick(scheduler, offer);
    if (stall != Stall::kNone) {
      if (issues == 0) result = stall;
      break;
    }
    const bool scalar = state_.kernel->operations[offer.pc].instruction->scalar;
    --slots_.left[scalar ? 1 : 0];
    slots_.issued[scalar ? 1 : 0].add(offer.context);
    start(now, domain, scheduler, offer);
    result = Stall::kNone;
    if (state_.stopped) break;
  }
  slots_.limited = false;
  if (slots_.left[0] != config_.issue_width && slots_.left[1] == 0) ++counters_.scalar_beside;
  return state_.stopped ? Stall::kEmpty : result;
}

void Sm::start(Cycle now, Domain& domain, unsigned scheduler, const Issue& issue) {
  const std::uint16_t id = in_flight_.take();
  InFlight& flight = in_flight_[id];
  const execute::Operation& op = state_.kernel->operations[issue.pc];
  flight.op = &op;
  flight.pc = issue.pc;
  flight.depth = issue.depth;
  flight.slot = issue.slot;
  flight.domain = static_cast<std::uint16_t>(&domain - domains_.data());
  flight.group_count = static_cast<std::uint8_t>(issue.groups.count);
  flight.references = 0;
  flight.waits = false;
  std::copy(issue.groups.begin(), issue.groups.end(), flight.groups.begin());
  for (unsigned g = 0; g < flight.group_count; ++g) {
    flight.executing[g] = executor_.guarded(*op.instruction, flight.groups[g]);
  }
  flight.warp = op.instruction->scalar ? warp_around(flight.groups[0].mask) : 0;
  ++state_.references[flight.slot];
  const Times times =
      datapath_->start(now, domain.first_scheduler + scheduler, op, issue, flight.executing.data());
  ++counters_.warp_instructions;
  std::uint64_t threads = 0, passing = 0;
  for (const auto& group : issue.groups)
    threads += group.mask == ~0u ? warp_formation::kChunk : count_of(group.mask);
  for (unsigned g = 0; op.instruction->guard >= 0 && g < flight.group_count; ++g) {
    passing += count_of(flight.groups[g].mask & ~flight.executing[g]);
  }
  counters_.thread_instructions += threads;
  counters_.executed_thread_instructions += threads - passing;
  if (flight.scalar()) {
    ++counters_.scalar_instructions;
    counters_.scalar_thread_instructions += threads;
  }
  counters_.active_beats += times.active_beats;
  counters_.active_lanes += times.active_lanes;
  account_.issued(domain.first_scheduler + scheduler, times);
  observers_.tell(&SmObserver::issued,
                  SmObserver::Issue{now, id, domain.first_scheduler + scheduler,
                                    domain.first_context + issue.context, issue.partners, flight, times});
  if (!issue.more_follow) consume(domain, issue);
  domain.unit->issued(id, issue);
  switch (op.unit) {
    case ptx::Unit::kMemory:
      return start_memory(now, id, times);
    case ptx::Unit::kControl:
      return start_control(now, id, times);
    case ptx::Unit::kWarp:
      return start_warp(now, id, times);
    default:
      return start_arithmetic(now, id, times);
  }
}

// The instruction leaves the buffers. Their contexts may have changed in this cycle already (resolved and
// issued in one): they are past that.
void Sm::consume(Domain& domain, const Issue& issue) {
  warp_formation::ContextTable& contexts = domain.unit->contexts();
  front_end_.consume(domain.first_context + issue.context);
  contexts.issued(issue.context);
  for (std::uint64_t rest = issue.partners; rest != 0; rest &= rest - 1) {
    const unsigned context = issue.context + static_cast<unsigned>(__builtin_ctzll(rest));
    if (!front_end_.holds(domain.first_context + context, issue.pc)) continue;
    front_end_.consume(domain.first_context + context);
    contexts.issued(context);
  }
}

void Sm::start_arithmetic(Cycle now, std::uint16_t id, const Times& times) {
  InFlight& flight = in_flight_[id];
  const execute::Operation& op = *flight.op;
  if (flight.scalar()) {
    executor_.arithmetic_once(op, flight.groups[0], flight.warp, now);
  } else {
    executor_.arithmetic(op, {flight.groups.data(), flight.group_count}, now);
  }
  observers_.tell(&SmObserver::executed, flight);
  finish_arithmetic(now, id, times);
}

// The results are in the registers; what follows is when they may be used.
void Sm::finish_arithmetic(Cycle now, std::uint16_t id, const Times& times) {
  InFlight& flight = in_flight_[id];
  if (barrel_) {
    flight.references = 1;
    wheel_.add(now, times.end, {Event::Kind::kResolve, id, 0, 0});
    return;
  }
  if (times.forwarded) {
    // The datapath knows who may use them; what is left is that the instruction goes.
    flight.references = 1;
    wheel_.add(now, times.end, {Event::Kind::kWriteBack, id, 0, 0});
    return resolve_all(id);
  }
  const ptx::Instruction& in = *flight.op->instruction;
  if (in.write_count != 0) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      registers_.mark(flight.groups[g].chunk, flight.written(g), in.writes.data(), in.write_count, false);
    }
  }
  flight.references = static_cast<std::uint16_t>(times.part_count);
  for (const datapath::Part* part = times.parts; part != times.parts + times.part_count; ++part)
    wheel_.add(now, part->ready, {Event::Kind::kWriteBack, id, part->groups, part->lanes});
  resolve_all(id);
}

void Sm::start_memory(Cycle now, std::uint16_t id, const Times& times) {
  InFlight& flight = in_flight_[id];
  const ptx::Instruction& in = *flight.op->instruction;
  const execute::ResidentBlock& block = state_.blocks[flight.slot];
  const bool done =
      flight.scalar()
          ? executor_.memory_once(*flight.op, flight.pc, flight.groups[0], flight.warp, block)
          : executor_.memory(*flight.op, flight.pc, {flight.groups.data(), flight.group_count}, block);
  if (!done) return fault(executor_.fault());
  observers_.tell(&SmObserver::executed, flight);
  if (executor_.is_observed()) {
    for (unsigned g = 0; g < flight.group_count; ++g) flight.executing[g] &= ~executor_.refused(g);
  }
  observers_.tell(&SmObserver::accessed, flight, executor_.accesses(), executor_.access_count());
  counters_.spill_instructions += in.spill ? 1 : 0;
  const bool any = executor_.access_count() != 0;
  const bool copies = in.op == ptx::Opcode::kCopyAsync;
  if (in.acquires || in.releases) order(flight);
  system_.next_instruction();
  if (copies) copies_.start(id, flight);
  const bool waits = any && in.is_load();
  flight.references = any ? 1 : 0;
  flight.waits = waits;
  flight.earliest = times.end;
  if (any) {
    memory_.accept(id, in, flight.groups.data(), executor_.accesses(), executor_.access_count(),
                   waits || copies, times);
  }
  if (waits) {
    for (unsigned g = 0; g < flight.group_count && !barrel_; ++g) {
      registers_.mark(flight.groups[g].chunk, flight.written(g), in.writes.data(), in.write_count, true);
    }
    domains_[flight.domain].unit->memory_issued(id);
  }
  if (barrel_) {
    // Threads that do not wait for data are resolved at the end of the pipeline.
    ++flight.references;
    wheel_.add(now, flight.earliest, {Event::Kind::kResolve, id, 0, 0});
    return;
  }
  ++flight.references;  // so that the record survives the call
  resolve_all(id);
  release(id);
}

void Sm::start_control(Cycle now, std::uint16_t id, const Times& times) {
  InFlight& flight = in_flight_[id];
  flight.references = 1;
  const ptx::Opcode op = flight.op->instruction->op;
  if (flight.op->instruction->is_barrier() || op == ptx::Opcode::kMembar) order(flight);
  if (op == ptx::Opcode::kCall) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      executor_.link(*flight.op, flight.pc, flight.groups[g].chunk, flight.executing[g]);
    }
  } else if (op == ptx::Opcode::kSystem) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      const bool done = executor_.system(*flight.op, flight.pc, flight.groups[g].chunk, flight.executing[g],
                                         state_.blocks[flight.slot]);
      if (!done) return fault(executor_.fault());
    }
  } else if (op == ptx::Opcode::kCopyWait) {
    domains_[flight.domain].unit->memory_issued(id);
  } else if (op == ptx::Opcode::kCopyCommit) {
    copies_.commit(flight);
  }
  wheel_.add(now, times.end, {Event::Kind::kResolve, id, 0, 0});
}

// Every thread of the issue goes on with the next instruction.
void Sm::resolve_all(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  Outcome outcome;
  outcome.next_pc = flight.pc + 1;
  outcome.depth = flight.depth;
  outcome.groups = {flight.groups.data(), flight.group_count};
  outcome.whole = true;
  resolved(id, {&outcome, 1});
}

}  // namespace weft::sm
