// Issue: from a scheme's offer to an instruction in flight.
#include <algorithm>

#include "sm/sm.h"

namespace weft::sm {

using warp_formation::Issue;
using warp_formation::Outcome;
using warp_formation::Stall;

Stall Sm::issue(Cycle now, Domain& domain, unsigned scheduler) {
  Stall result = Stall::kEmpty;
  for (std::uint64_t width = 0; width < config_.issue_width; ++width) {
    Issue offer;
    const Stall stall = domain.unit->pick(scheduler, ~0u, offer);
    if (stall != Stall::kNone) return width == 0 ? stall : result;
    start(now, domain, scheduler, offer);
    if (stopped_) return Stall::kEmpty;
    result = Stall::kNone;
  }
  return result;
}

void Sm::start(Cycle now, Domain& domain, unsigned scheduler, const Issue& issue) {
  const std::uint16_t id = free_ids_.back();
  free_ids_.pop_back();
  InFlight& flight = in_flight_[id];
  const Operation& op = kernel_->operations[issue.pc];
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
  ++slot_references_[flight.slot];
  const unsigned active_beats = count(issue);
  if (instruction_counts_ != nullptr) count_instruction(flight, active_beats);
  if (oracle_.enabled()) oracle_.executed(issue.pc, issue.slot, issue.groups);
  if (spin_.active()) {
    for (const auto& group : issue.groups) spin_.issued(group);
  }
  if (kTracing && trace_ != nullptr) {
    if (scheduler + domain.first_scheduler == 0) trace_->pc = issue.pc;
    for (const auto& group : issue.groups) {
      trace_->active_lanes += static_cast<std::uint32_t>(__builtin_popcount(group.mask));
    }
  }
  const Cycle occupancy = units_.start(now, domain.first_scheduler + scheduler, op, issue.beats);
  if (!issue.more_follow) consume(domain, issue);
  domain.unit->issued(id, issue);
  domain.unit->decoded(id);
  switch (op.instruction->unit) {
    case ptx::Unit::kMemory:
      return start_memory(now, id, occupancy);
    case ptx::Unit::kControl:
      return start_control(now, id, occupancy);
    case ptx::Unit::kWarp:
      return start_warp(now, id, occupancy);
    default:
      return start_arithmetic(now, id, occupancy);
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

// Returns the SIMD cycles in which a lane is active.
unsigned Sm::count(const Issue& issue) {
  unsigned threads = 0, beats = 0;
  std::uint64_t compact_beats = 0;
  const auto width = static_cast<unsigned>(config_.simd_width);
  const std::uint32_t segment = width == 32 ? ~0u : (1u << width) - 1;
  for (const auto& group : issue.groups) {
    threads += static_cast<unsigned>(__builtin_popcount(group.mask));
    if (!group.spread) {
      compact_beats |= std::uint64_t{1} << (group.beat % 64);
      continue;
    }
    for (std::uint32_t rest = group.mask; rest != 0; rest = width == 32 ? 0 : rest >> width) {
      beats += (rest & segment) != 0 ? 1 : 0;
    }
  }
  ++counters_.warp_instructions;
  counters_.thread_instructions += threads;
  beats += static_cast<unsigned>(__builtin_popcountll(compact_beats));
  counters_.active_beats += beats;
  counters_.active_lanes += threads;
  return beats;
}

void Sm::start_arithmetic(Cycle now, std::uint16_t id, Cycle occupancy) {
  InFlight& flight = in_flight_[id];
  const Operation& op = *flight.op;
  executor_.arithmetic(op, {flight.groups.data(), flight.group_count}, now);
  finish_arithmetic(now, id, occupancy);
}

// The results are in the registers; what follows is when they may be used.
void Sm::finish_arithmetic(Cycle now, std::uint16_t id, Cycle occupancy) {
  InFlight& flight = in_flight_[id];
  const Operation& op = *flight.op;
  const Cycle done = now + config_.pipeline_depth + op.latency - 1 + occupancy - 1;
  flight.references = 1;
  if (barrel_) {
    wheel_.add(now, done, {Event::Kind::kResolve, id, 0, 0});
    return;
  }
  const ptx::Instruction& in = *op.instruction;
  if (in.write_count != 0) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      registers_.mark(flight.groups[g].chunk, flight.executing[g], in.writes.data(), in.write_count, false);
    }
  }
  wheel_.add(now, done, {Event::Kind::kWriteBack, id, 0, 0});
  resolve_all(id);
}

void Sm::start_memory(Cycle now, std::uint16_t id, Cycle occupancy) {
  InFlight& flight = in_flight_[id];
  const ptx::Instruction& in = *flight.op->instruction;
  const ResidentBlock& block = slots_[flight.slot];
  if (!executor_.memory(*flight.op, flight.pc, {flight.groups.data(), flight.group_count}, block)) {
    return fault(executor_.fault());
  }
  if (observer_ != nullptr) {
    for (unsigned g = 0; g < flight.group_count; ++g) flight.executing[g] &= ~executor_.refused(g);
  }
  counters_.spill_instructions += in.spill ? 1 : 0;
  const bool any = executor_.access_count() != 0;
  const bool copies = in.op == ptx::Opcode::kCopyAsync;
  if (copies) start_copies(id);
  const bool waits = any && in.is_load();
  flight.references = any ? 1 : 0;
  flight.waits = waits;
  flight.earliest = now + config_.pipeline_depth + occupancy - 1;
  if (any) memory_.accept(id, in, executor_.accesses(), executor_.access_count(), waits || copies);
  if (waits) {
    for (unsigned g = 0; g < flight.group_count && !barrel_; ++g) {
      registers_.mark(flight.groups[g].chunk, flight.executing[g], in.writes.data(), in.write_count, true);
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

void Sm::start_control(Cycle now, std::uint16_t id, Cycle occupancy) {
  InFlight& flight = in_flight_[id];
  flight.references = 1;
  const ptx::Opcode op = flight.op->instruction->op;
  if (op == ptx::Opcode::kCall) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      executor_.link(*flight.op, flight.pc, flight.groups[g].chunk, flight.executing[g]);
    }
  } else if (op == ptx::Opcode::kSystem) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      const bool done = executor_.system(*flight.op, flight.pc, flight.groups[g].chunk, flight.executing[g],
                                         slots_[flight.slot]);
      if (!done) return fault(executor_.fault());
    }
  } else if (op == ptx::Opcode::kCopyWait) {
    domains_[flight.domain].unit->memory_issued(id);
  } else if (op == ptx::Opcode::kCopyCommit) {
    for (unsigned g = 0; g < flight.group_count; ++g)
      copies_.commit(flight.groups[g].chunk, flight.executing[g]);
  }
  const Cycle latency = barrel_ ? config_.pipeline_depth : config_.branch_latency;
  wheel_.add(now, now + latency + occupancy - 1, {Event::Kind::kResolve, id, 0, 0});
}

// Every thread of the issue goes on with the next instruction.
void Sm::resolve_all(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  Outcome outcome;
  outcome.next_pc = flight.pc + 1;
  outcome.depth = flight.depth;
  outcome.groups = {flight.groups.data(), flight.group_count};
  outcome.whole = true;
  domains_[flight.domain].unit->resolved(id, {&outcome, 1});
}

}  // namespace weft::sm
