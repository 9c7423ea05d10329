// Loops of a flow graph, and dominators.
//
// LoopForest finds the loops of a function, and which of them are within others. What counts as a loop is up
// to the caller:
//
// - Loops (convergence.h): a loop has one header, which dominates what leads back to it. Edges that lead back
//   to a block that does not dominate them (loops with several entries) make no loop.
// - rank_blocks (frontiers.h): each edge that leads back makes a loop. The header is the first block of the
//   loop in the order.
#ifndef WEFT_PTX_LOOPS_H
#define WEFT_PTX_LOOPS_H

#include <vector>

#include "ptx/flow.h"
#include "ptx/neighbours.h"

namespace weft::ptx {

class LoopForest {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // `order`: the blocks in reverse post-order. `may_hold(header, block)`: whether the loop of the header may
  // have the block, if that leads to the header.
  template <class MayHold>
  LoopForest(const std::vector<std::uint32_t>& order, const Neighbours& predecessors, MayHold&& may_hold) {
    find(order, predecessors, may_hold);
    number(order);
  }

  bool is_header(std::uint32_t block) const { return is_header_[block]; }
  // The innermost loop that holds the block, by its header; kNone.
  std::uint32_t loop_of(std::uint32_t block) const { return is_header_[block] ? block : around_[block]; }
  // The loop around the loop of a header; kNone.
  std::uint32_t around(std::uint32_t header) const { return around_[header]; }
  bool holds(std::uint32_t header, std::uint32_t block) const {
    const std::uint32_t loop = loop_of(block);
    return loop != kNone && number_[header] <= number_[loop] &&
           number_[loop] < number_[header] + size_[header];
  }
  // The outermost loop that holds `block` and not `other`; kNone.
  std::uint32_t outermost_without(std::uint32_t block, std::uint32_t other) const {
    std::uint32_t found = kNone;
    for (std::uint32_t loop = loop_of(block); loop != kNone && !holds(loop, other); loop = around_[loop])
      found = loop;
    return found;
  }

 private:
  // Inner loops first: what belongs to one stands for it when the loops around it are searched.
  template <class MayHold>
  void find(const std::vector<std::uint32_t>& order, const Neighbours& predecessors, MayHold& may_hold) {
    const std::size_t count = order.size();
    is_header_.assign(count, false);
    around_.assign(count, kNone);
    std::vector<std::uint32_t> stands_for(count);  // towards the outermost loop found so far
    for (std::uint32_t b = 0; b < count; ++b) stands_for[b] = b;
    const auto outermost = [&](std::uint32_t b) {
      while (stands_for[b] != b) b = stands_for[b] = stands_for[stands_for[b]];
      return b;
    };
    std::vector<std::uint32_t> work;
    std::vector<std::vector<std::uint32_t>> others(
        count);  // by header: blocks that lead past it into its loop
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const std::uint32_t header = *i;
      for (const std::uint32_t p : predecessors[header]) {
        if (!may_hold(header, p)) continue;
        is_header_[header] = true;
        work.push_back(p);
      }
      while (!work.empty()) {
        const std::uint32_t block = outermost(work.back());
        work.pop_back();
        if (block == header) continue;
        if (!may_hold(header, block)) {
          others[header].push_back(block);
          continue;
        }
        around_[block] = header;
        stands_for[block] = header;
        for (const std::uint32_t p : predecessors[block]) work.push_back(p);
        work.insert(work.end(), others[block].begin(), others[block].end());
      }
    }
  }
  // A loop has the numbers of those in it behind its own.
  void number(const std::vector<std::uint32_t>& order) {
    const std::size_t count = order.size();
    size_.assign(count, 1);
    number_.assign(count, 0);
    for (auto b = order.rbegin(); b != order.rend(); ++b) {
      if (is_header_[*b] && around_[*b] != kNone) size_[around_[*b]] += size_[*b];
    }
    std::vector<std::uint32_t> next(count, 0);  // free number in a loop
    std::uint32_t free = 0;
    for (const std::uint32_t b : order) {
      if (!is_header_[b]) continue;
      std::uint32_t& from = around_[b] == kNone ? free : next[around_[b]];
      number_[b] = from;
      from += size_[b];
      next[b] = number_[b] + 1;
    }
  }

  std::vector<bool> is_header_;
  std::vector<std::uint32_t> around_;         // the innermost loop that holds a block, other than its own
  std::vector<std::uint32_t> number_, size_;  // by header: pre-order and size of its part of the forest
};

// Dominators, and loops with one entry.
class Loops {
 public:
  explicit Loops(const FlowGraph& flow);

  // A block of code that no thread reaches has no predecessors, and belongs to no loop.
  Neighbours::Range predecessors(std::uint32_t block) const { return predecessors_[block]; }
  bool is_reachable(std::uint32_t block) const { return reachable_[block]; }
  std::uint32_t immediate_dominator(std::uint32_t block) const { return dominator_[block]; }
  // How many blocks dominate it.
  std::uint32_t depth(std::uint32_t block) const { return depth_[block]; }
  bool dominates(std::uint32_t a, std::uint32_t b) const {
    return number_[a] <= number_[b] && number_[b] < number_[a] + size_[a];
  }
  // The closest block that dominates both.
  std::uint32_t common_dominator(std::uint32_t a, std::uint32_t b) const;
  // Whether an edge leads back to a block that comes before its begin, in a loop of either kind.
  bool leads_back(std::uint32_t from, std::uint32_t to) const { return order_[from] >= order_[to]; }

  // The innermost loop that holds the block, by its header; kNone.
  static constexpr std::uint32_t kNone = LoopForest::kNone;
  std::uint32_t loop_of(std::uint32_t block) const { return forest_.loop_of(block); }
  std::uint32_t around(std::uint32_t header) const { return forest_.around(header); }
  bool holds(std::uint32_t header, std::uint32_t block) const { return forest_.holds(header, block); }
  std::uint32_t outermost_without(std::uint32_t block, std::uint32_t other) const {
    return forest_.outermost_without(block, other);
  }

 private:
  // Returns the order.
  const std::vector<std::uint32_t>& number_blocks(const FlowGraph& flow);
  static std::vector<GraphEdge> edges_of(const FlowGraph& flow, const std::vector<bool>& reachable);

  std::vector<bool> reachable_;
  Neighbours predecessors_;
  std::vector<std::uint32_t> dominator_, depth_;
  std::vector<std::uint32_t> order_;          // reverse post-order
  std::vector<std::uint32_t> number_, size_;  // pre-order and size of its part of the tree of dominators
  LoopForest forest_;
};

}  // namespace weft::ptx

#endif
