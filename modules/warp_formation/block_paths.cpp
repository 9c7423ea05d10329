#include "warp_formation/block_paths.h"

#include <algorithm>

namespace weft::warp_formation {
namespace {

// Sorts the paths so that the one to run first comes last (it goes on top of the stack).
void sort(BlockPaths& paths, ptx::Pc branch, SbrOrder order) {
  using Path = BlockStack::Path;
  const auto fallthrough = [branch](const Path& path) { return path.pc == branch + 1; };
  std::sort(paths.begin(), paths.end(), [&](const Path& a, const Path& b) {
    if (order == SbrOrder::kMinorityFirst) {
      const unsigned first = a.mask.count(), second = b.mask.count();
      if (first != second) return first > second;
    }
    if (fallthrough(a) != fallthrough(b)) return fallthrough(a) == (order == SbrOrder::kTakenFirst);
    return a.pc > b.pc;
  });
}

// False: no path can run.
bool bring_up_path(BlockStack& stack, const BlockMask& waiting, bool may_leave, std::uint64_t& departures) {
  if (waiting.empty()) return true;
  const auto free = [&](const BlockMask& mask) { return !mask.empty() && !mask.intersects(waiting); };
  const auto partly_free = [&](BlockMask mask) { return !mask.remove(waiting).empty(); };
  // Those at a reconvergence point may have come there past a barrier, at which they wait: then the next.
  for (;;) {
    if (stack.bring_up(free)) return true;
    if (stack.bring_up(partly_free)) break;
    if (!may_leave || !stack.go_on_without()) return false;
    ++departures;
  }
  BlockMask held = stack.top().mask;
  held &= waiting;
  stack.set_aside(held, stack.top().pc, stack.top().depth,
                  [&](const BlockMask& other) { return other.intersects(waiting); });
  return true;
}

}  // namespace

bool may_part(const ptx::Instruction& instruction) {
  switch (instruction.op) {
    case ptx::Opcode::kReturn:
    case ptx::Opcode::kBrx:
      return true;
    case ptx::Opcode::kCall:
      return instruction.guard >= 0 || instruction.target == ptx::kNoPc;
    default:
      return instruction.is_branch() && instruction.guard >= 0;
  }
}

void add_paths(BlockPaths& paths, const CommitRecord& record, unsigned first_chunk) {
  for (const auto& piece : record.pieces()) {
    const Place& place = record.paths()[piece.path];
    auto path = std::find_if(paths.begin(), paths.end(), [&](const BlockStack::Path& known) {
      return known.pc == place.pc && known.depth == place.depth;
    });
    if (path == paths.end()) path = paths.insert(path, {place.pc, place.depth, {}});
    path->mask.words[piece.chunk - first_chunk] |= piece.mask;
  }
}

void follow(BlockStack& stack, BlockPaths& paths, const BranchAt& branch, const ptx::Program& program,
            const StackRules& rules) {
  sort(paths, branch.pc, rules.order);
  // A return has no reconvergence point of its own: threads that go back to different callers meet where the
  // entry did.
  const ptx::Instruction& instruction = program.code[branch.pc];
  const BlockStack::Entry& top = stack.top();
  const bool returns = instruction.op == ptx::Opcode::kReturn;
  stack.advance(paths.data(), static_cast<unsigned>(paths.size()),
                returns ? top.rpc : reconvergence_point(instruction, rules.reconvergence),
                returns ? top.rpc_depth : branch.depth, branch.likely);
  paths.clear();
}

bool choose_path(BlockStack& stack, const BlockMask& waiting, bool may_leave, std::uint64_t& departures) {
  for (;;) {
    stack.settle();
    if (stack.empty() || !bring_up_path(stack, waiting, may_leave, departures)) return false;
    // Threads may have waited right before the reconvergence point, or where `settle` lets them join others.
    const BlockStack::Entry& top = stack.top();
    const bool arrived = stack.reconverges(top.pc, top.depth);
    if (!arrived && !stack.at_likely_point(top.pc, top.depth)) return true;
    if (arrived) stack.pop();
  }
}

BlockMask ending(const BlockStack& stack, const ptx::Program& program) {
  BlockMask threads;
  each_entry(stack, [&](const BlockStack::Entry& entry, const BlockMask& fresh, bool) {
    if (&entry == &stack.top() || entry.pc == ptx::kNoPc) return;
    const ptx::Instruction& next = program.code[entry.pc];
    if (next.is_exit() && next.guard < 0) threads |= fresh;
  });
  return threads;
}

}  // namespace weft::warp_formation
