// Warp-level primitives, which gather threads of an original warp, and waits for asynchronous copies.
#include <algorithm>
#include <sstream>

#include "common/error.h"
#include "common/hex.h"
#include "sm/sm.h"

namespace weft::sm {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

namespace {

unsigned first_lane(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_ctz(mask));
}

// Lanes among `lanes` whose word equals that of the first of them.
std::uint32_t equal_lanes(const std::uint32_t* words, std::uint32_t lanes) {
  const std::uint32_t value = words[first_lane(lanes)];
  std::uint32_t same = 0;
  for (unsigned i = 0; i < isa::kLanes; ++i) same |= static_cast<std::uint32_t>(words[i] == value) << i;
  return same & lanes;
}

}  // namespace

void Sm::check_warps(const Kernel& kernel) const {
  const ptx::Program& program = kernel.program;
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    if (!program.code[pc].needs_original_warp() || domains_[0].unit->keeps_warps()) continue;
    const bool narrow = formation_.warp_size % isa::kLanes != 0;
    throw InputError(
        program.place(pc),
        std::string(name_of(program.code[pc].op)) +
            " without .sync acts among the threads of a warp of 32 that execute together; " +
            (narrow ? "found warps of " + std::to_string(formation_.warp_size) +
                          " threads, allowed are multiples of 32"
                    : "found scheme '" + formation_.scheme + "', which regroups threads and keeps no warps") +
            "; the .sync form names its threads and works everywhere");
  }
}

// Calls visit(chunk, mask, lanes) for the executing threads of the issue that name the same mask; stops when
// it returns false.
template <class Visit>
bool Sm::each_gathering(const InFlight& flight, Visit&& visit) {
  const Operation& op = *flight.op;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint16_t chunk = flight.groups[g].chunk;
    // A chunk may be spread over several groups of the issue; its first one stands for all.
    std::uint32_t rest = 0;
    bool first = true;
    for (unsigned k = 0; k < flight.group_count; ++k) {
      if (flight.groups[k].chunk != chunk) continue;
      first = first && k >= g;
      rest |= flight.executing[k];
    }
    const std::uint32_t* masks = executor_.words_of(op.src[3], chunk);
    while (first && rest != 0) {
      const std::uint32_t lanes = masks == nullptr ? rest : equal_lanes(masks, rest);
      if (!visit(chunk, masks == nullptr ? lanes : masks[first_lane(rest)], lanes)) return false;
      rest &= ~lanes;
    }
  }
  return true;
}

// Members of the mask that are alive and will come.
std::uint32_t Sm::expected_members(unsigned domain, unsigned chunk, std::uint32_t mask,
                                   std::uint32_t arrived) const {
  const std::uint32_t alive = mask & live_[chunk];
  if ((alive & ~arrived) == 0) return alive;
  return alive & ~domains_[domain].unit->ending(chunk);
}

// If all members are in the issue it executes like arithmetic. Otherwise its threads are resolved at the end
// of the pipeline, and wait.
void Sm::start_warp(Cycle now, std::uint16_t id, Cycle occupancy) {
  InFlight& flight = in_flight_[id];
  const ResidentBlock& block = slots_[flight.slot];
  std::string wrong;
  const bool together = each_gathering(flight, [&](unsigned chunk, std::uint32_t mask, std::uint32_t lanes) {
    if ((lanes & ~mask) != 0) {
      wrong = executor_.place_name(flight.pc, chunk, first_lane(lanes & ~mask), block) + ": " +
              "the thread is not among those that it names, mask " + hex(mask);
      return false;
    }
    return (expected_members(flight.domain, chunk, mask, lanes) & ~lanes) == 0;
  });
  if (!wrong.empty()) return fault({FaultKind::kIllegalInstruction, wrong});
  if (together) {
    const bool done = each_gathering(flight, [&](unsigned chunk, std::uint32_t, std::uint32_t lanes) {
      const Participants part{flight.op, flight.pc, lanes};
      if (!executor_.across_lanes(&part, 1, chunk, block)) return false;
      synchronised(flight.slot, *flight.op, chunk, lanes);
      return true;
    });
    if (!done) return fault(executor_.fault());
    return finish_arithmetic(now, id, occupancy);
  }
  flight.waits = true;
  flight.references = 1;
  ++counters_.warp_gatherings;
  wheel_.add(now, now + config_.pipeline_depth + flight.op->latency - 1 + occupancy - 1,
             {Event::Kind::kResolve, id, 0, 0});
}

// The end of the pipeline: the executing threads wait for the other members, the others go on.
void Sm::arrive_at_gathering(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];  // kept by its reference until this event is handled
  scratch_groups_.clear();
  scratch_outcomes_.clear();
  const auto add = [&](Outcome::Kind kind, std::uint32_t argument, std::uint32_t mask, std::uint16_t chunk) {
    scratch_groups_.push_back({mask, chunk, 0, false});
    Outcome outcome;
    outcome.kind = kind;
    outcome.depth = flight.depth;
    outcome.next_pc = flight.pc + 1;
    outcome.argument = argument;
    outcome.groups = {&scratch_groups_.back(), 1};
    scratch_outcomes_.push_back(outcome);
  };
  each_gathering(flight, [&](std::uint16_t chunk, std::uint32_t mask, std::uint32_t lanes) {
    add(Outcome::Kind::kWarpSync, mask, lanes, chunk);
    return true;
  });
  const std::size_t waiting = scratch_outcomes_.size();
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint32_t passing = flight.groups[g].mask & ~flight.executing[g];
    if (passing != 0) add(Outcome::Kind::kGo, 0, passing, flight.groups[g].chunk);
  }
  domains_[flight.domain].unit->resolved(
      id, {scratch_outcomes_.data(), static_cast<std::uint32_t>(scratch_outcomes_.size())});
  for (std::size_t i = 0; i < waiting; ++i) {
    const ThreadGroup& group = scratch_groups_[i];
    const std::uint32_t mask = scratch_outcomes_[i].argument;
    const auto mismatch =
        gatherings_.arrive(flight.slot, group.chunk, flight.domain, mask, {flight.op, flight.pc, group.mask});
    if (mismatch == WarpGatherings::Mismatch::kNone) continue;
    const bool operation = mismatch == WarpGatherings::Mismatch::kOperation;
    return fault(
        {FaultKind::kIllegalInstruction,
         executor_.place_name(flight.pc, group.chunk, first_lane(group.mask), slots_[flight.slot]) + ": " +
             (operation
                  ? "other threads that mask " + hex(mask) + " names wait at a different operation"
                  : "threads that mask " + hex(mask) + " names wait for this thread with another mask") +
             "\n" + dump_gatherings()});
  }
}

// Of the primitives only bar.warp.sync orders memory.
void Sm::synchronised(std::uint16_t slot, const Operation& op, unsigned chunk, std::uint32_t lanes) {
  if (observer_ != nullptr && op.instruction->op == ptx::Opcode::kWarpBarrier)
    observer_->warp_synchronised(index_, slots_[slot], chunk, lanes);
}

// Called in every cycle in which anything happens, because a thread may come to its end in many ways.
void Sm::release_gatherings() {
  gatherings_.release_complete(
      [&](const Gathering& g) { return expected_members(g.domain, g.chunk, g.mask, g.arrived); },
      [&](const Gathering& g) {
        if (!executor_.across_lanes(g.parts.data(), g.count, g.chunk, slots_[g.slot]) && !stopped_)
          fault(executor_.fault());
        synchronised(g.slot, *g.parts[0].op, g.chunk, g.arrived);
        const ThreadGroup group{g.arrived, g.chunk, 0, false};
        domains_[g.domain].unit->warp_sync_released({&group, 1});
      });
}

std::string Sm::dump_gatherings() const {
  std::ostringstream out;
  for (const Gathering& g : gatherings_.all()) {
    const ResidentBlock& block = slots_[g.slot];
    const unsigned first = (g.chunk - block.first_chunk) * isa::kLanes;
    out << name() << ", block (" << block.index[0] << "," << block.index[1] << "," << block.index[2]
        << "), threads " << first << " to " << first + isa::kLanes - 1 << ", mask " << hex(g.mask) << ":";
    for (unsigned i = 0; i < g.count; ++i) {
      out << (i == 0 ? " " : "; ") << hex(g.parts[i].lanes) << " waits at "
          << name_of(g.parts[i].op->instruction->op) << ", pc " << g.parts[i].pc << " ("
          << kernel_->program.place(g.parts[i].pc) << ")";
    }
    out << "; " << hex(expected_members(g.domain, g.chunk, g.mask, g.arrived) & ~g.arrived)
        << " is missing\n";
  }
  return out.str();
}

void Sm::start_copies(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  for (unsigned g = 0; g < flight.group_count; ++g)
    copies_.start(id, g, flight.groups[g].chunk, flight.executing[g]);
}

void Sm::copies_returned(std::uint16_t id, unsigned chunk, std::uint32_t mask) {
  const InFlight& flight = in_flight_[id];
  for (unsigned g = 0; g < flight.group_count; ++g) {
    if (flight.groups[g].chunk == chunk) copies_.finish(id, g, chunk, mask & flight.executing[g]);
  }
  for (std::size_t i = 0; i < copy_waiters_.size();) {
    const std::uint16_t waiter = copy_waiters_[i];
    if (!resume_after_copies(waiter)) {
      ++i;
      continue;
    }
    copy_waiters_.erase(copy_waiters_.begin() + static_cast<std::ptrdiff_t>(i));
    release(waiter);
  }
}

// cp.async.wait: threads go on as their copies are there. The record of the issue keeps who still waits.
void Sm::wait_for_copies(std::uint16_t id) {
  resolve_idle_threads(id);
  if (resume_after_copies(id)) return;
  ++in_flight_[id].references;
  copy_waiters_.push_back(id);
}

// True if no thread of the wait is left.
bool Sm::resume_after_copies(std::uint16_t id) {
  InFlight& flight = in_flight_[id];
  const ptx::Instruction& in = *flight.op->instruction;
  std::array<ThreadGroup, warp_formation::kMaxGroups> ready;
  unsigned count = 0;
  bool left = false;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint16_t chunk = flight.groups[g].chunk;
    const std::uint32_t done = copies_.done(chunk, flight.executing[g], in.mode == ptx::Mode::kAll,
                                            static_cast<std::uint64_t>(in.offset));
    // Threads that have gone on are no longer of this issue.
    flight.executing[g] &= ~done;
    flight.groups[g].mask &= ~done;
    left = left || flight.executing[g] != 0;
    if (done != 0) ready[count++] = {done, chunk, 0, false};
  }
  if (count != 0) {
    Outcome outcome;
    outcome.next_pc = flight.pc + 1;
    outcome.depth = flight.depth;
    outcome.groups = {ready.data(), count};
    domains_[flight.domain].unit->memory_returned(id, outcome.groups);
    domains_[flight.domain].unit->resolved(id, {&outcome, 1});
  }
  return !left;
}

}  // namespace weft::sm
