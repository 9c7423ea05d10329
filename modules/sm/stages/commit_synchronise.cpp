// Threads that wait for each other, or for asynchronous copies: what becomes of an issue there. Who is
// awaited, and when threads go on, is execute::Synchroniser's.
#include <algorithm>

#include "sm/stages/commit.h"
#include "sm/stages/gatherings.h"

namespace weft::sm {

std::uint32_t CommitStage::ending(const execute::ResidentBlock& block, unsigned chunk) const {
  return core_.domain_of(block, chunk).unit->ending(chunk);
}

std::uint32_t CommitStage::held_back(const execute::ResidentBlock& block, unsigned chunk,
                                     const std::uint32_t* standing) const {
  return core_.domain_of(block, chunk).unit->held_back(chunk, standing);
}

std::uint32_t CommitStage::waiting_to_exit(const execute::ResidentBlock& block) const {
  std::uint32_t threads = 0;
  for (unsigned part = 0; part < block.parts(); ++part)
    threads += core_.domains[block.domain_of_part(part)].unit->waiting_to_exit(block.slot);
  return threads;
}

void CommitStage::barrier_opened(const execute::ResidentBlock& block, unsigned barrier) {
  core_.observers.tell(&SmObserver::barrier_opened, block.slot, barrier);
  for (unsigned part = 0; part < block.parts(); ++part)
    core_.domains[block.domain_of_part(part)].changing().barrier_released(block.slot, barrier);
}

void CommitStage::gathered(const execute::ResidentBlock& block, unsigned chunk, std::uint32_t lanes) {
  core_.observers.tell(&SmObserver::gathered, block.slot, chunk, lanes);
  const ThreadGroup group{lanes, static_cast<std::uint16_t>(chunk), 0, false};
  core_.domain_of(block, chunk).changing().warp_sync_released({&group, 1});
}

void CommitStage::take_turn_at_barrier(std::uint16_t id) {
  const machine::SmConfig::Barrier& unit = core_.config.barrier;
  Core::State& state = core_.state;
  const Cycle turn = std::max(state.now, state.barrier_turn);
  state.barrier_turn = turn + unit.interval;
  if (turn + unit.latency == state.now) return resolve_barrier(id);
  ++core_.in_flight[id].references;
  wheel_.add(state.now, turn + unit.latency, {Event::Kind::kBarrier, id, 0, 0});
}

// The scheme is told first who waits where; then the threads arrive, and a barrier may open.
void CommitStage::resolve_barrier(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];  // kept by its reference until this event is handled
  const execute::ResidentBlock& block = core_.block_of(flight);
  if (flight.op->instruction->barrier == ptx::BarrierKind::kArrive) {
    resolve_all(id);
  } else {
    tell_who_waits(id);
  }
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const Fault wrong =
        core_.synchroniser.arrive({flight.op, flight.pc, flight.executing[g]}, flight.groups[g].chunk, block,
                                  [](std::uint32_t /*number*/, std::uint32_t /*lanes*/) {});
    if (wrong) return core_.fault(wrong);
  }
  core_.synchroniser.open_barriers(block);
}

// At which of the barriers that they name; threads whose guard does not hold go on.
void CommitStage::tell_who_waits(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];
  outcomes_.clear();
  std::uint32_t named = 0;
  const auto each_number = [&](auto&& visit) {
    for (unsigned g = 0; g < flight.group_count; ++g)
      core_.synchroniser.each_number(
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

// The end of the pipeline: the executing threads wait for the other members, the others go on.
void CommitStage::arrive_at_gathering(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];  // kept by its reference until this event is handled
  outcomes_.clear();
  each_gathering(core_.synchroniser, flight,
                 [&](std::uint16_t chunk, std::uint32_t mask, std::uint32_t lanes) {
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
  each_gathering(core_.synchroniser, flight, [&](unsigned chunk, std::uint32_t mask, std::uint32_t lanes) {
    wrong = core_.synchroniser.gather({flight.op, flight.pc, lanes}, chunk, mask, core_.block_of(flight));
    return !wrong;
  });
  if (wrong) core_.fault(wrong);
}

// Members may have gone on or exited: a thread may come to its end in many ways.
void CommitStage::release_gatherings() {
  const Fault wrong = core_.synchroniser.release_gatherings();
  if (wrong && !core_.state.stopped) core_.fault(wrong);
}

// cp.async.wait: threads go on as their copies are there. The record of the issue keeps who still waits.
void CommitStage::wait_for_copies(std::uint16_t id) {
  resolve_idle_threads(id);
  if (resume_after_copies(id)) return;
  ++core_.in_flight[id].references;
  core_.copies.add_waiter(id);
}

// True if no thread of the wait is left.
bool CommitStage::resume_after_copies(std::uint16_t id) {
  InFlight& flight = core_.in_flight[id];
  const ptx::Instruction& in = *flight.op->instruction;
  std::array<ThreadGroup, warp_formation::kMaxGroups> ready;
  unsigned count = 0;
  bool left = false;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint16_t chunk = flight.groups[g].chunk;
    const std::uint32_t done = core_.copies.done(chunk, flight.executing[g], in.mode == ptx::Mode::kAll,
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
    tell(id, {&outcome, 1});
  }
  return !left;
}

}  // namespace weft::sm
