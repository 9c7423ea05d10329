// Threads that wait for each other, or for asynchronous copies: what becomes of an issue there. Who is
// awaited, and when threads go on, is execute::Synchroniser's.
#include <algorithm>

#include "sm/sm.h"
#include "weft/common/error.h"

namespace weft::sm {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

void Sm::check_warps(const execute::Kernel& kernel) const {
  const ptx::Program& program = kernel.program;
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    if (!program.code[pc].needs_original_warp() || domains_[0].unit->keeps_warps()) continue;
    const bool narrow = formation_.warp_size % isa::kLanes != 0;
    throw InputError(
        program.place(pc),
        std::string(name_of(program.code[pc].op)) +
            " without .sync acts among the threads of a warp of 32 that execute together; " +
            (narrow ? "found warps of " + std::to_string(formation_.warp_size) +
                          " threads; allowed: multiples of 32"
                    : "found scheme '" + formation_.scheme + "', which regroups threads and keeps no warps") +
            "; the .sync form names its threads and works everywhere");
  }
}

std::uint32_t Sm::ending(const execute::ResidentBlock& block, unsigned chunk) const {
  return domains_[block.domain].unit->ending(chunk);
}

std::uint32_t Sm::held_back(const execute::ResidentBlock& block, unsigned chunk,
                            const std::uint32_t* standing) const {
  return domains_[block.domain].unit->held_back(chunk, standing);
}

std::uint32_t Sm::waiting_to_exit(const execute::ResidentBlock& block) const {
  return domains_[block.domain].unit->waiting_to_exit(block.slot);
}

void Sm::barrier_opened(const execute::ResidentBlock& block, unsigned barrier) {
  observers_.tell(&SmObserver::barrier_opened, block.slot, barrier);
  domains_[block.domain].unit->barrier_released(block.slot, barrier);
}

void Sm::gathered(const execute::ResidentBlock& block, unsigned chunk, std::uint32_t lanes) {
  observers_.tell(&SmObserver::gathered, block.slot, chunk, lanes);
  const ThreadGroup group{lanes, static_cast<std::uint16_t>(chunk), 0, false};
  domains_[block.domain].unit->warp_sync_released({&group, 1});
}

// The scheme is told first who waits where; then the threads arrive, and a barrier may open.
void Sm::resolve_barrier(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];  // kept by its reference until this event is handled
  const execute::ResidentBlock& block = state_.blocks[flight.slot];
  if (flight.op->instruction->barrier == ptx::BarrierKind::kArrive) {
    resolve_all(id);
  } else {
    outcomes_.clear();
    std::uint32_t named = 0;
    const auto each_number = [&](auto&& visit) {
      for (unsigned g = 0; g < flight.group_count; ++g)
        synchroniser_.each_number(
            *flight.op, flight.groups[g].chunk, flight.executing[g],
            [&](std::uint32_t number, std::uint32_t lanes) { visit(g, number, lanes); });
    };
    each_number([&](unsigned, std::uint32_t number, std::uint32_t) {
      if (number < execute::BlockBarrier::kPerBlock) named |= 1u << number;
    });
    for (std::uint32_t rest = named; rest != 0; rest &= rest - 1) {
      const auto barrier = static_cast<std::uint32_t>(__builtin_ctz(rest));
      outcomes_.begin(Outcome::Kind::kBarrier, flight.pc + 1, flight.depth, barrier);
      each_number([&](unsigned g, std::uint32_t number, std::uint32_t lanes) {
        if (number == barrier) outcomes_.add(flight.groups[g], lanes);
      });
    }
    outcomes_.begin(Outcome::Kind::kGo, flight.pc + 1, flight.depth);
    for (unsigned g = 0; g < flight.group_count; ++g) outcomes_.add(flight.groups[g], flight.passing(g));
    if (outcomes_.is_one_way()) outcomes_.mark_whole();
    if (outcomes_.outcomes().count != 0) tell(id);
  }
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const Fault wrong =
        synchroniser_.arrive({flight.op, flight.pc, flight.executing[g]}, flight.groups[g].chunk, block,
                             [](std::uint32_t /*number*/, std::uint32_t /*lanes*/) {});
    if (wrong) return fault(wrong);
  }
  synchroniser_.open_barriers(block);
}

// Calls visit(chunk, mask, lanes) for the executing threads of the issue that name the same mask; stops when
// it returns false.
template <class Visit>
bool Sm::each_gathering(const InFlight& flight, Visit&& visit) {
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint16_t chunk = flight.groups[g].chunk;
    // A chunk may be spread over several groups of the issue; its first one stands for all.
    std::uint32_t lanes = 0;
    bool first = true;
    for (unsigned k = 0; k < flight.group_count; ++k) {
      if (flight.groups[k].chunk != chunk) continue;
      first = first && k >= g;
      lanes |= flight.executing[k];
    }
    if (!first) continue;
    const bool all = synchroniser_.each_mask(
        *flight.op, chunk, lanes,
        [&](std::uint32_t mask, std::uint32_t same) { return visit(chunk, mask, same); });
    if (!all) return false;
  }
  return true;
}

// If all members are in the issue it executes like arithmetic. Otherwise its threads are resolved at the end
// of the pipeline, and wait.
void Sm::start_warp(Cycle now, std::uint16_t id, const datapath::Times& times) {
  InFlight& flight = in_flight_[id];
  order(flight);
  const execute::ResidentBlock& block = state_.blocks[flight.slot];
  Fault wrong;
  const bool together = each_gathering(flight, [&](unsigned chunk, std::uint32_t mask, std::uint32_t lanes) {
    wrong = synchroniser_.check_members({flight.op, flight.pc, lanes}, chunk, mask, block);
    return !wrong && synchroniser_.missing(block, chunk, mask, lanes) == 0;
  });
  if (wrong) return fault(wrong);
  if (together) {
    each_gathering(flight, [&](unsigned chunk, std::uint32_t, std::uint32_t lanes) {
      wrong = synchroniser_.perform({flight.op, flight.pc, lanes}, chunk, block);
      return !wrong;
    });
    if (wrong) return fault(wrong);
    return finish_arithmetic(now, id, times);
  }
  flight.waits = true;
  flight.references = 1;
  ++counters_.warp_gatherings;
  wheel_.add(now, times.end, {Event::Kind::kResolve, id, 0, 0});
}

// The end of the pipeline: the executing threads wait for the other members, the others go on.
void Sm::arrive_at_gathering(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];  // kept by its reference until this event is handled
  outcomes_.clear();
  each_gathering(flight, [&](std::uint16_t chunk, std::uint32_t mask, std::uint32_t lanes) {
    outcomes_.begin(Outcome::Kind::kWarpSync, flight.pc + 1, flight.depth, mask);
    outcomes_.add({lanes, chunk, 0, false}, lanes);
    return true;
  });
  for (unsigned g = 0; g < flight.group_count; ++g) {
    outcomes_.begin(Outcome::Kind::kGo, flight.pc + 1, flight.depth);
    outcomes_.add({0, flight.groups[g].chunk, 0, false}, flight.passing(g));
  }
  tell(id);
  Fault wrong;
  each_gathering(flight, [&](unsigned chunk, std::uint32_t mask, std::uint32_t lanes) {
    wrong = synchroniser_.gather({flight.op, flight.pc, lanes}, chunk, mask, state_.blocks[flight.slot]);
    return !wrong;
  });
  if (wrong) fault(wrong);
}

// cp.async.wait: threads go on as their copies are there. The record of the issue keeps who still waits.
void Sm::wait_for_copies(std::uint16_t id) {
  resolve_idle_threads(id);
  if (resume_after_copies(id)) return;
  ++in_flight_[id].references;
  copies_.add_waiter(id);
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
    resolved(id, {&outcome, 1});
  }
  return !left;
}

}  // namespace weft::sm
