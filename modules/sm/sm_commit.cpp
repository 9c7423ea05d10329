// Commit: results written, branches resolved, threads at barriers, exits.
#include <algorithm>

#include "sm/sm.h"

namespace weft::sm {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

void Sm::handle(Cycle, const Event& event) {
  InFlight& flight = in_flight_[event.issue];
  switch (event.kind) {
    case Event::Kind::kWriteBack:
      write_back(event.issue);
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
    case Event::Kind::kReturn: {
      const ThreadGroup group{event.mask, event.chunk, 0, false};
      Outcome outcome;
      outcome.next_pc = flight.pc + 1;
      outcome.depth = flight.depth;
      outcome.groups = {&group, 1};
      domains_[flight.domain].unit->resolved(event.issue, {&outcome, 1});
      break;
    }
  }
  release(event.issue);
}

void Sm::write_back(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  const ptx::Instruction& in = *flight.op->instruction;
  if (in.write_count == 0) return;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    registers_.clear(flight.groups[g].chunk, flight.executing[g], in.writes.data(), in.write_count);
    domains_[flight.domain].written(flight.groups[g].chunk);
  }
}

// Barrel: threads of a load whose guard did not hold go on; the others follow as their data return.
void Sm::resolve_idle_threads(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  std::array<ThreadGroup, warp_formation::kMaxGroups> idle;
  unsigned count = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const std::uint32_t mask = flight.groups[g].mask & ~flight.executing[g];
    if (mask != 0) idle[count++] = {mask, flight.groups[g].chunk, 0, false};
  }
  if (count == 0) return;
  Outcome outcome;
  outcome.next_pc = flight.pc + 1;
  outcome.depth = flight.depth;
  outcome.groups = {idle.data(), count};
  domains_[flight.domain].unit->resolved(id, {&outcome, 1});
}

void Sm::resolve_control(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  const ptx::Instruction& in = *flight.op->instruction;
  if (in.is_barrier()) return resolve_barrier(id);
  if (in.op == ptx::Opcode::kCopyWait) return wait_for_copies(id);
  if (has_targets(in)) return resolve_targets(id);
  // Threads whose guard holds do what the instruction says, the others fall through.
  std::array<ThreadGroup, warp_formation::kMaxGroups> doing, passing;
  unsigned doing_count = 0, passing_count = 0;
  std::uint32_t threads = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const ThreadGroup& group = flight.groups[g];
    const std::uint32_t does = flight.executing[g];
    if (does != 0) doing[doing_count++] = {does, group.chunk, group.beat, group.spread};
    if ((group.mask & ~does) != 0)
      passing[passing_count++] = {group.mask & ~does, group.chunk, group.beat, group.spread};
    threads += static_cast<std::uint32_t>(__builtin_popcount(does));
  }
  std::array<Outcome, 2> outcomes;
  unsigned count = 0;
  if (doing_count != 0) {
    Outcome& outcome = outcomes[count++];
    outcome.depth = flight.depth;
    outcome.next_pc = flight.pc + 1;
    outcome.groups = {doing.data(), doing_count};
    if (in.is_branch()) {
      outcome.next_pc = in.target;
    } else if (in.op == ptx::Opcode::kCall) {
      outcome.next_pc = in.target;
      ++outcome.depth;
    } else if (in.is_exit()) {
      outcome.kind = Outcome::Kind::kExit;
    }
  }
  if (count == 1) outcomes[0].whole = passing_count == 0;
  if (passing_count != 0) {
    Outcome& outcome = outcomes[count++];
    outcome.whole = doing_count == 0;
    outcome.depth = flight.depth;
    outcome.next_pc = flight.pc + 1;
    outcome.groups = {passing.data(), passing_count};
  }
  if (count == 2 && in.is_branch() && in.target == flight.pc + 1) {  // both ways lead to the same place
    Outcome outcome = outcomes[0];
    outcome.groups = {flight.groups.data(), flight.group_count};
    outcome.whole = true;
    domains_[flight.domain].unit->resolved(id, {&outcome, 1});
    return;
  }
  const std::uint16_t slot = flight.slot;
  if (spin_.active() && doing_count != 0 && in.is_branch() && in.target <= flight.pc) {
    for (unsigned g = 0; g < doing_count; ++g) spin_.branched(flight.pc, doing[g], registers_);
  }
  domains_[flight.domain].unit->resolved(id, {outcomes.data(), count});
  if (doing_count != 0 && in.is_exit()) exit_threads(slot, {doing.data(), doing_count}, threads);
}

void Sm::exit_threads(std::uint16_t slot, const warp_formation::Groups& groups, std::uint32_t threads) {
  ResidentBlock& block = slots_[slot];
  for (const ThreadGroup& group : groups) live_[group.chunk] &= ~group.mask;
  block.live_threads -= threads;
  counters_.threads_retired += threads;
  if (block.live_threads != 0) test_barriers(slot);
}

// A block leaves when its threads have exited and nothing of them is in flight any more.
void Sm::retire_if_done(std::uint16_t slot) {
  ResidentBlock& block = slots_[slot];
  if (!block.live || block.live_threads != 0 || slot_references_[slot] != 0) return;
  domains_[block.domain].unit->retire({slot, block.first_chunk, block.threads});
  block.live = false;
  if (oracle_.enabled()) oracle_.retired(slot);
  ++counters_.blocks_retired;
  listener_.block_retired(index_);
}

void Sm::release(std::uint16_t id) {
  InFlight& flight = in_flight_[id];
  if (--flight.references != 0) return;
  const std::uint16_t slot = flight.slot;
  free_ids_.push_back(id);
  --slot_references_[slot];
  retire_if_done(slot);
}

void Sm::memory_probed(std::uint16_t issue, const ThreadGroup* hits, unsigned count) {
  if (in_flight_[issue].op->instruction->op == ptx::Opcode::kCopyAsync) return;  // its threads have gone on
  domains_[in_flight_[issue].domain].unit->memory_probed(issue, {hits, count});
}

void Sm::memory_returned(std::uint16_t issue, unsigned chunk, std::uint32_t mask) {
  InFlight& flight = in_flight_[issue];
  if (flight.op->instruction->op == ptx::Opcode::kCopyAsync) return copies_returned(issue, chunk, mask);
  const ThreadGroup group{mask, static_cast<std::uint16_t>(chunk), 0, false};
  domains_[flight.domain].unit->memory_returned(issue, {&group, 1});
  if (!barrel_) {
    const ptx::Instruction& in = *flight.op->instruction;
    registers_.clear(chunk, mask, in.writes.data(), in.write_count);
    domains_[flight.domain].written(chunk);
    return;
  }
  const Event event{Event::Kind::kReturn, issue, static_cast<std::uint16_t>(chunk), mask};
  ++flight.references;
  if (flight.earliest > now_) {
    wheel_.add(now_, flight.earliest, event);
  } else {
    handle(now_, event);
  }
}

void Sm::memory_finished(std::uint16_t issue) {
  release(issue);
}

void Sm::fault(const Fault& fault) {
  stopped_ = true;
  listener_.faulted(index_, fault);
}

}  // namespace weft::sm
