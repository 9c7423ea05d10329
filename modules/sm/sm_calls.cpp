// Control instructions whose threads may go to several places: calls through registers, returns, indexed
// branches.
#include "sm/sm.h"

namespace weft::sm {

using warp_formation::Outcome;
using warp_formation::ThreadGroup;

bool Sm::has_targets(const ptx::Instruction& in) {
  return in.op == ptx::Opcode::kReturn || in.op == ptx::Opcode::kBrx ||
         (in.op == ptx::Opcode::kCall && in.target == ptx::kNoPc);
}

// Where each executing thread goes, by group and position. False: a thread goes nowhere, and the fault is
// reported.
bool Sm::find_targets(std::uint16_t id, Targets& targets) {
  const InFlight& flight = in_flight_[id];
  for (unsigned g = 0; g < flight.group_count; ++g) {
    for (std::uint32_t rest = flight.executing[g]; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      const unsigned chunk = flight.groups[g].chunk;
      const ptx::Pc target = executor_.target(*flight.op, flight.pc, chunk, lane, slots_[flight.slot]);
      if (target == ptx::kNoPc) {
        fault(executor_.fault());
        return false;
      }
      targets[g][lane] = target;
    }
  }
  return true;
}

// One outcome for each place, in the order of its first thread; then one for threads whose guard does not
// hold.
void Sm::resolve_targets(std::uint16_t id) {
  const InFlight& flight = in_flight_[id];
  const ptx::Opcode op = flight.op->instruction->op;
  Targets targets;
  if (!find_targets(id, targets)) return;
  target_groups_.clear();
  target_outcomes_.clear();
  const auto begin = [&](ptx::Pc pc, int calls) {
    Outcome outcome;
    outcome.next_pc = pc;
    outcome.depth = static_cast<std::uint16_t>(flight.depth + calls);
    outcome.groups = {target_groups_.data() + target_groups_.size(), 0};
    target_outcomes_.push_back(outcome);
  };
  const auto add = [&](unsigned g, std::uint32_t mask) {
    if (mask == 0) return;
    const ThreadGroup& group = flight.groups[g];
    target_groups_.push_back({mask, group.chunk, group.beat, group.spread});
    ++target_outcomes_.back().groups.count;
  };
  const int calls = op == ptx::Opcode::kCall ? 1 : op == ptx::Opcode::kReturn ? -1 : 0;
  std::array<std::uint32_t, warp_formation::kMaxGroups> left = flight.executing;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    while (left[g] != 0) {
      const ptx::Pc target = targets[g][static_cast<unsigned>(__builtin_ctz(left[g]))];
      begin(target, calls);
      for (unsigned h = g; h < flight.group_count; ++h) {
        std::uint32_t same = 0;
        for (std::uint32_t rest = left[h]; rest != 0; rest &= rest - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
          same |= static_cast<std::uint32_t>(targets[h][lane] == target) << lane;
        }
        left[h] &= ~same;
        add(h, same);
      }
    }
  }
  std::uint32_t passing = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) passing |= flight.groups[g].mask & ~flight.executing[g];
  if (passing != 0) {
    begin(flight.pc + 1, 0);
    for (unsigned g = 0; g < flight.group_count; ++g) add(g, flight.groups[g].mask & ~flight.executing[g]);
  }
  if (instruction_counts_ != nullptr && target_outcomes_.size() > 1) ++instruction_counts_[flight.pc].parted;
  target_outcomes_[0].whole = target_outcomes_.size() == 1;
  domains_[flight.domain].unit->resolved(
      id, {target_outcomes_.data(), static_cast<std::uint32_t>(target_outcomes_.size())});
}

}  // namespace weft::sm
