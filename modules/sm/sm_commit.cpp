// Commit: results written, branches resolved, threads at barriers, exits.
#include <algorithm>

#include "sm/sm.h"
#include "weft/common/popcount.h"

namespace weft::sm {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

void Sm::handle(Cycle, const Event& event) {
  InFlight& flight = in_flight_[event.issue];
  switch (event.kind) {
    case Event::Kind::kWriteBack:
      write_back(event);
      break;
    case Event::Kind::kResolve:
      if (flight.op->instruction->is_control()) {
        resolve_control(event.issue);
      } else if (flight.waits) {
        if (flight.op->instruction->is_warp_primitive()) {
          arrive_at_gathering(event.issue);
        } else {
          resolve_idle_threads(event.issue);
        }
      } else {
        resolve_all(event.issue);
      }
      break;
    case Event::Kind::kReturn:
      go_on(event.issue, {event.mask, static_cast<std::uint16_t>(event.which), 0, false});
      break;
  }
  release(event.issue);
}

// Results of some threads of the issue, or of all, are there.
void Sm::write_back(const Event& event) {
  const InFlight& flight = in_flight_[event.issue];
  const ptx::Instruction& in = *flight.op->instruction;
  if (in.write_count == 0) return;
  for (std::uint32_t rest = event.which; rest != 0; rest &= rest - 1) {
    const auto g = static_cast<unsigned>(__builtin_ctz(rest));
    registers_.clear(flight.groups[g].chunk, flight.written(g) & event.mask, in.writes.data(),
                     in.write_count);
    domains_[flight.domain].written(flight.groups[g].chunk);
  }
}

void Sm::tell(std::uint16_t id) {
  resolved(id, outcomes_.outcomes());
}

// Some threads of the issue go on with the next instruction.
void Sm::go_on(std::uint16_t id, const ThreadGroup& group) {
  const InFlight& flight = in_flight_[id];
  Outcome outcome;
  outcome.next_pc = flight.pc + 1;
  outcome.depth = flight.depth;
  outcome.groups = {&group, 1};
  resolved(id, {&outcome, 1});
}

// Barrel: threads of a load whose guard did not hold go on; the others follow as their data return.
void Sm::resolve_idle_threads(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  outcomes_.clear();
  outcomes_.begin(Outcome::Kind::kGo, flight.pc + 1, flight.depth);
  for (unsigned g = 0; g < flight.group_count; ++g)
    outcomes_.add({0, flight.groups[g].chunk, 0, false}, flight.passing(g));
  if (outcomes_.outcomes().count != 0) tell(id);
}

void Sm::resolve_control(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  const ptx::Instruction& in = *flight.op->instruction;
  if (in.is_barrier()) return resolve_barrier(id);
  if (in.op == ptx::Opcode::kCopyWait) return wait_for_copies(id);
  if (has_targets(in)) return resolve_targets(id);
  // Threads whose guard holds do what the instruction says, the others fall through.
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
  if (doing != 0 && in.is_branch() && in.target <= flight.pc) observers_.tell(&SmObserver::went_back, flight);
  tell(id);
  if (doing != 0 && in.is_exit()) exit_threads(flight);
}

void Sm::exit_threads(const InFlight& flight) {
  execute::ResidentBlock& block = state_.blocks[flight.slot];
  std::uint32_t threads = 0;
  bool freed = false;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    synchroniser_.exited(flight.groups[g].chunk, flight.executing[g]);
    freed = datapath_->exited(flight.groups[g].chunk, flight.executing[g]) || freed;
    threads += count_of(flight.executing[g]);
  }
  block.live_threads -= threads;
  counters_.threads_retired += threads;
  if (block.live_threads != 0) synchroniser_.open_barriers(block);
  if (freed) listener_.registers_freed(index_);
}

// A block leaves when its threads have exited and nothing of them is in flight any more.
void Sm::retire_if_done(std::uint16_t slot) {
  execute::ResidentBlock& block = state_.blocks[slot];
  if (!block.live || block.live_threads != 0 || state_.references[slot] != 0) return;
  domains_[block.domain].unit->retire({slot, block.first_chunk, block.threads});
  datapath_->release({slot, block.first_chunk, block.threads});
  account_.resident(block.domain, -static_cast<std::int64_t>(block.threads), state_.now);
  block.live = false;
  observers_.tell(&SmObserver::retired, slot);
  ++counters_.blocks_retired;
  listener_.block_retired(index_);
}

void Sm::release(std::uint16_t id) {
  const std::uint16_t slot = in_flight_[id].slot;
  if (!in_flight_.release(id)) return;
  --state_.references[slot];
  retire_if_done(slot);
}

void Sm::memory_returned(std::uint16_t issue, unsigned chunk, std::uint32_t mask) {
  InFlight& flight = in_flight_[issue];
  if (flight.op->instruction->op == ptx::Opcode::kCopyAsync) {
    copies_.finish(issue, flight, chunk, mask);
    return copies_.resume([this](std::uint16_t waiter) {
      if (!resume_after_copies(waiter)) return false;
      release(waiter);
      return true;
    });
  }
  if (flight.scalar()) {  // what one thread has loaded is all its warp's
    mask = barrel_ ? flight.executing[0] : flight.warp;
    // Of system memory, it may have come only now.
    if (system_.opened() != 0) observers_.tell(&SmObserver::executed, flight);
  }
  observers_.tell(&SmObserver::arrived, flight, chunk, mask);
  if (!barrel_) {
    const ptx::Instruction& in = *flight.op->instruction;
    registers_.clear(chunk, mask, in.writes.data(), in.write_count);
    domains_[flight.domain].written(chunk);
    return;
  }
  const Event event{Event::Kind::kReturn, issue, static_cast<std::uint16_t>(chunk), mask};
  ++flight.references;
  if (flight.earliest > state_.now) {
    wheel_.add(state_.now, flight.earliest, event);
  } else {
    handle(state_.now, event);
  }
}

void Sm::memory_finished(std::uint16_t issue) {
  if (in_flight_[issue].op->instruction->is_load()) observers_.tell(&SmObserver::returned, issue, state_.now);
  release(issue);
}

void Sm::fault(const Fault& fault) {
  state_.stopped = true;
  listener_.faulted(index_, fault);
}

}  // namespace weft::sm
