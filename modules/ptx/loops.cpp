#include "ptx/loops.h"

#include "ptx/dominators.h"

namespace weft::ptx {
namespace {

std::vector<bool> reachable_blocks(const FlowGraph& flow) {
  std::vector<bool> seen(flow.blocks.size(), false);
  std::vector<std::uint32_t> work{0};
  seen[0] = true;
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    for (const std::uint32_t s : flow.blocks[block].successors) {
      if (s == flow.blocks.size() || seen[s]) continue;
      seen[s] = true;
      work.push_back(s);
    }
  }
  return seen;
}

}  // namespace

std::vector<GraphEdge> Loops::edges_of(const FlowGraph& flow, const std::vector<bool>& reachable) {
  std::vector<GraphEdge> edges;
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    if (!reachable[b]) continue;
    for (const std::uint32_t s : flow.blocks[b].successors) {
      if (s != flow.blocks.size()) edges.emplace_back(b, s);
    }
  }
  return edges;
}

Loops::Loops(const FlowGraph& flow)
    : reachable_(reachable_blocks(flow)),
      predecessors_(edges_of(flow, reachable_), static_cast<std::uint32_t>(flow.blocks.size()),
                    Neighbours::kBackward),
      dominator_(immediate_dominators(edges_of(flow, reachable_),
                                      static_cast<std::uint32_t>(flow.blocks.size()), 0)),
      forest_(number_blocks(flow), predecessors_,
              [this](std::uint32_t header, std::uint32_t block) { return dominates(header, block); }) {}

const std::vector<std::uint32_t>& Loops::number_blocks(const FlowGraph& flow) {
  const std::size_t count = flow.blocks.size();
  order_.resize(count);
  depth_.assign(count, 0);
  size_.assign(count, 1);
  number_.assign(count, 0);
  const auto& order = flow.dominance_order;
  for (std::uint32_t i = 0; i < count; ++i) {
    order_[order[i]] = i;
    if (i != 0) depth_[order[i]] = depth_[dominator_[order[i]]] + 1;
  }
  for (std::size_t i = count; i-- > 1;) size_[dominator_[order[i]]] += size_[order[i]];
  std::vector<std::uint32_t> next(count, 0);  // free number below a block
  next[0] = 1;
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint32_t b = order[i];
    number_[b] = next[dominator_[b]];
    next[dominator_[b]] += size_[b];
    next[b] = number_[b] + 1;
  }
  return order;
}

std::uint32_t Loops::common_dominator(std::uint32_t a, std::uint32_t b) const {
  while (!dominates(a, b)) a = dominator_[a];
  return a;
}

}  // namespace weft::ptx
