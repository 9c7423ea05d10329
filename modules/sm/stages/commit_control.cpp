// Control instructions whose threads may go to several places: calls through registers, returns, indexed
// branches.
#include "sm/stages/commit.h"

namespace weft::sm {

bool CommitStage::has_targets(const ptx::Instruction& in) {
  return in.op == ptx::Opcode::kReturn || in.op == ptx::Opcode::kBrx ||
         (in.op == ptx::Opcode::kCall && in.target == ptx::kNoPc);
}

// Where each executing thread goes, by group and position. False: a thread goes nowhere, and the fault is
// reported.
bool CommitStage::find_targets(std::uint16_t id, Targets& targets) {
  const InFlight& flight = core_.in_flight[id];
  for (unsigned g = 0; g < flight.group_count; ++g) {
    for (std::uint32_t rest = flight.executing[g]; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      const unsigned chunk = flight.groups[g].chunk;
      const ptx::Pc target =
          core_.executor.target(*flight.op, flight.pc, chunk, lane, core_.block_of(flight));
      if (target == ptx::kNoPc) {
        core_.fault(core_.executor.fault());
        return false;
      }
      targets[g][lane] = target;
    }
  }
  return true;
}

// One outcome for each place, in the order of its first thread; then one for threads whose guard does not
// hold.
void CommitStage::resolve_targets(std::uint16_t id) {
  const InFlight& flight = core_.in_flight[id];
  const ptx::Opcode op = flight.op->instruction->op;
  Targets targets;
  if (!find_targets(id, targets)) return;
  outcomes_.clear();
  const int calls = op == ptx::Opcode::kCall ? 1 : op == ptx::Opcode::kReturn ? -1 : 0;
  std::array<std::uint32_t, warp_formation::kMaxGroups> left = flight.executing;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    while (left[g] != 0) {
      const ptx::Pc target = targets[g][static_cast<unsigned>(__builtin_ctz(left[g]))];
      outcomes_.begin(Outcome::Kind::kGo, target, static_cast<unsigned>(flight.depth + calls));
      for (unsigned h = g; h < flight.group_count; ++h) {
        std::uint32_t same = 0;
        for (std::uint32_t rest = left[h]; rest != 0; rest &= rest - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
          same |= static_cast<std::uint32_t>(targets[h][lane] == target) << lane;
        }
        left[h] &= ~same;
        outcomes_.add(flight.groups[h], same);
      }
    }
  }
  outcomes_.begin(Outcome::Kind::kGo, flight.pc + 1, flight.depth);
  for (unsigned g = 0; g < flight.group_count; ++g) outcomes_.add(flight.groups[g], flight.passing(g));
  const bool parts = outcomes_.outcomes().count > 1;
  if (parts) core_.observers.tell(&SmObserver::parted, flight);
  if (!parts) outcomes_.mark_whole();
  tell(id);
}

}  // namespace weft::sm
