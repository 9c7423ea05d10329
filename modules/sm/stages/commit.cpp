#include "sm/stages/commit.h"

#include "weft/common/popcount.h"

namespace weft::sm {

// The results are in the registers; what follows is when they may be used.
void CommitStage::finish(Cycle now, std::uint16_t id, const datapath::Times& times) {
  InFlight& flight = core_.in_flight[id];
  if (core_.barrel) return resolve_at(now, id, times.end);
  if (times.forwarded) {
    // The datapath knows who may use them; what is left is that the instruction goes.
    flight.references = 1;
    wheel_.add(now, times.end, {Event::Kind::kWriteBack, id, 0, 0});
    return resolve_all(id);
  }
  core_.reserve(flight, false);
  flight.references = static_cast<std::uint16_t>(times.part_count);
  for (const datapath::Part* part = times.parts; part != times.parts + times.part_count; ++part)
    wheel_.add(now, part->ready, {Event::Kind::kWriteBack, id, part->groups, part->lanes});
  resolve_all(id);
}

void CommitStage::resolve_at(Cycle now, std::uint16_t id, Cycle at) {
  core_.in_flight[id].references = 1;
  wheel_.add(now, at, {Event::Kind::kResolve, id, 0, 0});
}

void CommitStage::sent(Cycle now, std::uint16_t id) {
  InFlight& flight = core_.in_flight[id];
  ++flight.references;
  if (core_.barrel) {
    // Threads that do not wait for data are resolved at the end of the pipeline.
    wheel_.add(now, flight.earliest, {Event::Kind::kResolve, id, 0, 0});
    return;
  }
  resolve_all(id);
  release(id);
}

void CommitStage::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::kWriteBack:
      write_back(event);
      break;
    case Event::Kind::kResolve:
      resolve(event.issue);
      break;
    case Event::Kind::kBarrier:
      resolve_barrier(event.issue);
      break;
    case Event::Kind::kReturn:
      go_on(event.issue, {event.mask, static_cast<std::uint16_t>(event.which), 0, false});
      break;
  }
  release(event.issue);
}

// Results of some threads of the issue, or of all, are there.
void CommitStage::write_back(const Event& event) {
  const InFlight& flight = core_.in_flight[event.issue];
  if (flight.op->instruction->write_count == 0) return;
  for (std::uint32_t rest = event.which; rest != 0; rest &= rest - 1) {
    const auto g = static_cast<unsigned>(__builtin_ctz(rest));
    core_.written(flight, flight.groups[g].chunk, flight.written(g) & event.mask);
  }
}

void CommitStage::resolve(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];
  if (flight.op->instruction->is_control()) return resolve_control(id);
  if (!flight.waits) return resolve_all(id);
  if (flight.op->instruction->is_warp_primitive()) return arrive_at_gathering(id);
  resolve_idle_threads(id);
}

void CommitStage::tell(std::uint16_t id, warp_formation::Outcomes outcomes) {
  core_.observers.tell(&SmObserver::resolved, id, outcomes, core_.state.now);
  core_.unit_of(core_.in_flight[id]).resolved(id, outcomes);
}

// Every thread of the issue goes on with the next instruction.
void CommitStage::resolve_all(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];
  Outcome outcome;
  outcome.next_pc = flight.pc + 1;
  outcome.depth = flight.depth;
  outcome.groups = flight.all();
  outcome.whole = true;
  tell(id, {&outcome, 1});
}

// Some threads of the issue go on with the next instruction.
void CommitStage::go_on(std::uint16_t id, const ThreadGroup& group) {
  const InFlight& flight = core_.in_flight[id];
  Outcome outcome;
  outcome.next_pc = flight.pc + 1;
  outcome.depth = flight.depth;
  outcome.groups = {&group, 1};
  tell(id, {&outcome, 1});
}

// Barrel: threads of a load whose guard did not hold go on; the others follow as their data return.
void CommitStage::resolve_idle_threads(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];
  outcomes_.clear();
  outcomes_.begin(Outcome::Kind::kGo, flight.pc + 1, flight.depth);
  for (unsigned g = 0; g < flight.group_count; ++g)
    outcomes_.add({0, flight.groups[g].chunk, 0, false}, flight.passing(g));
  if (outcomes_.outcomes().count != 0) tell(id);
}

void CommitStage::resolve_control(std::uint16_t id) {
  const ptx::Instruction& in = *core_.in_flight[id].op->instruction;
  if (in.is_barrier()) return take_turn_at_barrier(id);
  if (in.op == ptx::Opcode::kCopyWait) return wait_for_copies(id);
  if (has_targets(in)) return resolve_targets(id);
  resolve_branch(id);
}

// Threads whose guard holds do what the instruction says, the others fall through.
void CommitStage::resolve_branch(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];
  const ptx::Instruction& in = *flight.op->instruction;
  const Outcome::Kind kind = in.is_exit() ? Outcome::Kind::kExit : Outcome::Kind::kGo;
  const bool goes = in.is_branch() || in.op == ptx::Opcode::kCall;
  const ptx::Pc next = goes ? in.target : flight.pc + 1;
  std::uint32_t doing = 0, passing = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    doing |= flight.executing[g];
    passing |= flight.passing(g);
  }
  if (in.is_branch() && next == flight.pc + 1 && doing != 0 && passing != 0) {
    resolve_all(id);  // both ways lead to the same place
    return;
  }
  outcomes_.clear();
  outcomes_.begin(kind, next, in.op == ptx::Opcode::kCall ? flight.depth + 1u : flight.depth);
  for (unsigned g = 0; g < flight.group_count; ++g) outcomes_.add(flight.groups[g], flight.executing[g]);
  outcomes_.begin(Outcome::Kind::kGo, flight.pc + 1, flight.depth);
  for (unsigned g = 0; g < flight.group_count; ++g) outcomes_.add(flight.groups[g], flight.passing(g));
  if (doing == 0 || passing == 0) outcomes_.mark_whole();
  if (doing != 0 && in.is_branch() && in.target <= flight.pc)
    core_.observers.tell(&SmObserver::went_back, flight);
  tell(id);
  if (doing != 0 && in.is_exit()) exit_threads(flight);
}

void CommitStage::exit_threads(const InFlight& flight) {
  execute::ResidentBlock& block = core_.state.blocks[flight.slot];
  std::uint32_t threads = 0;
  bool freed = false;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    core_.synchroniser.exited(flight.groups[g].chunk, flight.executing[g]);
    freed = core_.datapath->exited(flight.groups[g].chunk, flight.executing[g]) || freed;
    threads += count_of(flight.executing[g]);
  }
  block.live_threads -= threads;
  core_.counters.threads_retired += threads;
  if (block.live_threads != 0) core_.synchroniser.open_barriers(block);
  if (freed) core_.listener.registers_freed(core_.index);
}

// A block leaves when its threads have exited and nothing of them is in flight any more.
void CommitStage::retire_if_done(std::uint16_t slot) {
  execute::ResidentBlock& block = core_.state.blocks[slot];
  if (!block.live || block.live_threads != 0 || core_.state.references[slot] != 0) return;
  for (unsigned part = 0; part < block.parts(); ++part) {
    const unsigned domain = block.domain_of_part(part);
    const warp_formation::Block own = block.part(part);
    core_.domains[domain].changing().retire(own);
    core_.account.resident(domain, -static_cast<std::int64_t>(own.threads), core_.state.now);
  }
  core_.datapath->release({slot, block.first_chunk, block.threads});
  block.live = false;
  core_.observers.tell(&SmObserver::retired, slot);
  ++core_.counters.blocks_retired;
  core_.listener.block_retired(core_.index);
}

void CommitStage::release(std::uint16_t id) {
  const std::uint16_t slot = core_.in_flight[id].slot;
  if (!core_.in_flight.release(id)) return;
  --core_.state.references[slot];
  retire_if_done(slot);
}

void CommitStage::arrived(Cycle now, std::uint16_t id, unsigned chunk, std::uint32_t threads) {
  InFlight& flight = core_.in_flight[id];
  if (flight.op->instruction->op == ptx::Opcode::kCopyAsync) {
    core_.copies.finish(id, flight, chunk, threads);
    return core_.copies.resume([this](std::uint16_t waiter) {
      if (!resume_after_copies(waiter)) return false;
      release(waiter);
      return true;
    });
  }
  core_.observers.tell(&SmObserver::arrived, flight, chunk, threads);
  if (!core_.barrel) return core_.written(flight, chunk, threads);
  const Event event{Event::Kind::kReturn, id, static_cast<std::uint16_t>(chunk), threads};
  ++flight.references;
  if (flight.earliest > now) {
    wheel_.add(now, flight.earliest, event);
  } else {
    handle(event);
  }
}

}  // namespace weft::sm
