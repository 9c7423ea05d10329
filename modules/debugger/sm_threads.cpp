#include "debugger/sm_threads.h"

#include <algorithm>

namespace weft::debugger {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

void SmThreads::kernel_started(const KernelStart& start) {
  next_.assign(std::size_t{start.chunks} * kLanes, 0);
  calls_.assign(start.kernel.program.functions.empty() ? 0 : next_.size(), {});
  first_ids_.assign(start.kernel.occupancy.resident, 0);
  events_.kernel_started(*this, start.kernel);
}

void SmThreads::set(unsigned chunk, std::uint32_t mask, ptx::Pc pc) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    next_[chunk * kLanes + static_cast<unsigned>(__builtin_ctz(rest))] = pc;
}

// Where the threads go is known to others when the instruction is resolved. Until then it follows from its
// operands, which do not change.
void SmThreads::expect(const sm::InFlight& flight) {
  const ptx::Instruction& in = *flight.op->instruction;
  const bool each = in.op == ptx::Opcode::kReturn || in.op == ptx::Opcode::kBrx ||
                    (in.op == ptx::Opcode::kCall && in.target == ptx::kNoPc);
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const ThreadGroup& group = flight.groups[g];
    const std::uint32_t executing = flight.executing[g];
    set(group.chunk, group.mask & ~executing, flight.pc + 1);
    if (in.is_exit()) {
      set(group.chunk, executing, kEnded);
    } else if (in.is_branch() || (in.op == ptx::Opcode::kCall && !each)) {
      set(group.chunk, executing, in.target);
    } else if (!each) {
      set(group.chunk, executing, flight.pc + 1);
    } else {
      for (std::uint32_t rest = executing; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
        const ptx::Pc target =
            core_->executor.target(*flight.op, flight.pc, group.chunk, lane, core_->block_of(flight));
        set(group.chunk, 1u << lane, target == ptx::kNoPc ? flight.pc : target);
      }
    }
  }
}

void SmThreads::follow_calls(const sm::InFlight& flight) {
  const ptx::Opcode op = flight.op->instruction->op;
  if (op != ptx::Opcode::kCall && op != ptx::Opcode::kReturn) return;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    for (std::uint32_t rest = flight.executing[g]; rest != 0; rest &= rest - 1) {
      auto& calls = calls_[flight.groups[g].chunk * kLanes + static_cast<unsigned>(__builtin_ctz(rest))];
      if (op == ptx::Opcode::kCall) {
        calls.push_back(flight.pc + 1);
      } else if (!calls.empty()) {
        calls.pop_back();
      }
    }
  }
}

void SmThreads::issued(const Issue& issue) {
  if (!events_.wanted()) return;
  for (const ThreadGroup& group : issue.flight.all()) set(group.chunk, group.mask, issue.flight.pc);
  events_.issuing(*this, issue.flight);
  expect(issue.flight);
  if (!calls_.empty()) follow_calls(issue.flight);
}

void SmThreads::accessed(const sm::InFlight& flight, const execute::LaneAccess* accesses, unsigned count) {
  if (events_.wanted()) events_.accessed(*this, flight, accesses, count);
}

// A scheme may let threads of a branch go to where the branch does not.
void SmThreads::resolved(std::uint16_t /*id*/, warp_formation::Outcomes outcomes, Cycle /*now*/) {
  if (!events_.wanted()) return;
  for (const Outcome& outcome : outcomes) {
    const bool ends = outcome.kind == Outcome::Kind::kExit;
    for (const ThreadGroup& group : outcome.groups)
      set(group.chunk, group.mask, ends ? kEnded : outcome.next_pc);
  }
}

// The next block in the slot begins at the first instruction.
void SmThreads::retired(std::uint16_t slot) {
  const execute::Kernel* const held = kernel();
  if (held == nullptr) return;
  first_ids_[slot] = 0;
  const auto first = std::size_t{slot} * held->chunks_per_block * kLanes;
  const std::size_t count = std::size_t{held->chunks_per_block} * kLanes;
  std::fill_n(next_.begin() + static_cast<std::ptrdiff_t>(first), count, 0);
  for (std::size_t i = 0; !calls_.empty() && i < count; ++i) calls_[first + i].clear();
}

void SmThreads::faulted(const Fault& why) {
  if (events_.wanted()) events_.faulted(*this, why);
}

void SmThreads::stepped(Cycle /*now*/, bool /*issued*/) {
  if (events_.wanted()) events_.stepped(*this);
}

}  // namespace weft::debugger
