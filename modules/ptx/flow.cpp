#include "ptx/flow.h"

#include <algorithm>
#include <utility>

#include "ptx/dominators.h"

namespace weft::ptx {
namespace {

bool leaves(const Instruction& i) {
  return i.is_exit() || i.op == Opcode::kReturn;
}
bool ends_block(const Instruction& i) {
  return i.is_branch() || i.op == Opcode::kBrx || leaves(i);
}

void make_blocks(const Draft& draft, FlowGraph& flow) {
  const auto size = static_cast<Pc>(draft.code.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = leader[size] = true;
  for (Pc pc = 0; pc < size; ++pc) {
    const Instruction& i = draft.code[pc].fixed;
    if (i.is_branch()) leader[i.target] = true;
    if (i.op == Opcode::kBrx) {
      for (const Pc target : draft.tables[i.target]) leader[target] = true;
    }
    if (ends_block(i)) leader[pc + 1] = true;
  }
  flow.block_of.resize(size);
  for (Pc pc = 0; pc < size; ++pc) {
    if (leader[pc]) flow.blocks.emplace_back().first = pc;
    flow.block_of[pc] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
    flow.blocks.back().last = pc;
  }
  const auto exit = static_cast<std::uint32_t>(flow.blocks.size());
  std::vector<std::uint32_t> successor_of(exit + 1, exit);  // by block: the last one that it was listed for
  for (std::uint32_t b = 0; b < exit; ++b) {
    BasicBlock& block = flow.blocks[b];
    const Instruction& last = draft.code[block.last].fixed;
    const bool falls_through = !ends_block(last) || last.guard >= 0;
    if (falls_through) block.successors.push_back(b + 1);
    if (last.is_branch()) {
      const std::uint32_t target = flow.block_of[last.target];
      if (block.successors.empty() || block.successors[0] != target) block.successors.push_back(target);
    } else if (last.op == Opcode::kBrx) {
      if (falls_through) successor_of[b + 1] = b;
      for (const Pc place : draft.tables[last.target]) {
        const std::uint32_t target = flow.block_of[place];
        if (std::exchange(successor_of[target], b) != b) block.successors.push_back(target);
      }
    } else if (leaves(last)) {
      block.successors.push_back(exit);
    }
  }
}

// Marks what reaches `from` by edges of `predecessors`.
void mark_reaching(const std::vector<std::vector<std::uint32_t>>& predecessors, std::uint32_t from,
                   std::vector<bool>& marked) {
  std::vector<std::uint32_t> work{from};
  marked[from] = true;
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    for (const std::uint32_t p : predecessors[block]) {
      if (!marked[p]) {
        marked[p] = true;
        work.push_back(p);
      }
    }
  }
}

// The blocks that get an edge to the virtual exit so that every block reaches it.
std::vector<std::uint32_t> endless_blocks(const FlowGraph& flow) {
  const auto exit = static_cast<std::uint32_t>(flow.blocks.size());
  std::vector<std::vector<std::uint32_t>> predecessors(exit + 1);
  for (std::uint32_t b = 0; b < exit; ++b) {
    for (const std::uint32_t s : flow.blocks[b].successors) predecessors[s].push_back(b);
  }
  std::vector<bool> reaches(exit + 1, false);
  mark_reaching(predecessors, exit, reaches);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t b = exit; b-- > 0;) {
    if (reaches[b]) continue;
    chosen.push_back(b);
    mark_reaching(predecessors, b, reaches);
  }
  return chosen;
}

// In a device function threads that end do not keep the others from meeting again: ways that never return
// count as if they led to the return, which is the last block.
void find_post_dominators(const Draft& draft, FlowGraph& flow) {
  const auto exit = static_cast<std::uint32_t>(flow.blocks.size());
  const bool is_function = draft.code.back().fixed.op == Opcode::kReturn;
  const std::uint32_t last = is_function ? exit - 1 : exit;
  std::vector<GraphEdge> reversed;
  for (std::uint32_t b = 0; b < exit; ++b) {
    for (const std::uint32_t s : flow.blocks[b].successors)
      reversed.emplace_back(s == exit && b != last ? last : s, b);
  }
  for (const std::uint32_t b : endless_blocks(flow)) reversed.emplace_back(b == last ? exit : last, b);
  const std::vector<std::uint32_t> dominators = immediate_dominators(reversed, exit + 1, exit);
  for (std::uint32_t b = 0; b < exit; ++b) flow.blocks[b].post_dominator = dominators[b];
}

// Reverse post-order visits every block after its dominators.
void order_blocks(FlowGraph& flow) {
  const std::size_t exit = flow.blocks.size();
  std::vector<bool> seen(exit, false);
  std::vector<std::pair<std::uint32_t, std::size_t>> path;  // block, next successor
  const auto visit_from = [&](std::uint32_t root, std::vector<std::uint32_t>& finished) {
    seen[root] = true;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [block, next] = path.back();
      if (next == flow.blocks[block].successors.size()) {
        finished.push_back(block);
        path.pop_back();
        continue;
      }
      const std::uint32_t s = flow.blocks[block].successors[next++];
      if (s != exit && !seen[s]) {
        seen[s] = true;
        path.emplace_back(s, 0);
      }
    }
  };
  std::vector<std::uint32_t>& order = flow.reverse_post_order;
  visit_from(0, order);
  flow.dominance_order.assign(order.rbegin(), order.rend());
  const std::vector<bool> reachable = seen;
  for (std::uint32_t b = 0; b < exit; ++b) {
    if (!reachable[b]) flow.dominance_order.push_back(b);
    if (!seen[b]) visit_from(b, order);
  }
  std::reverse(order.begin(), order.end());
}

}  // namespace

FlowGraph build_flow(const Draft& draft) {
  FlowGraph flow;
  make_blocks(draft, flow);
  find_post_dominators(draft, flow);
  order_blocks(flow);
  return flow;
}

}  // namespace weft::ptx
